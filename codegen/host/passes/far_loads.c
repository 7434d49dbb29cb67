/* Loads that are the same in every trip of a loop, in front of it. A loop that all threads run alike goes around the loop over
 * them where neighbours read side by side (loop_places.c); a thread that reads elements of its own row again in each trip keeps
 * the loop inside, though it could have read them once:
 *
 *     for c in range(centers.shape[0]):              if 0 < centers.shape[0]:
 *         distance = 0                                   own[0], own[1] = points[p, 0], points[p, 1]
 *         for k in 0, 1:                             for c in range(centers.shape[0]):
 *             d = points[p, k] - centers[c, k]           distance = 0
 *             distance += d * d                          for k in 0, 1:
 *         ...                                                d = own[k] - centers[c, k]
 *
 * `own` is an array of the thread's, which lies beside those of its neighbours, or in registers. Every trip makes the load, and
 * no trip writes to memory that others see, so that it reads the same. All or nothing: as long as one load is of a far place,
 * the loop stays where it is. */
#include "codegen/host/regions/loop_places.h"
#include "codegen/passes.h"

enum {
    WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC,
    MOST_LOADS = 16,
    MOST_ELEMENTS = 32 /* of all loads */,
    MOST_VALUES = 32 /* for an element */,
    MOST_OPERANDS = 16
};

typedef struct FarLoad {
    IrValue *load;
    const IrLoop *loop; /* in front of which it is to be made */
    /* of the loop inside of it that makes it in each trip and is written out: */
    IrValue *variable; /* NULL: there is none */
    int64_t start, trips;
} FarLoad;

typedef struct FarLoads {
    LoopPlaces places;
    const IrGraph *graph;
    FarLoad loads[MOST_LOADS];
    uint32_t count;
    int64_t elements; /* of all */
} FarLoads;

static uint32_t place_of(const FarLoads *far, const IrLoop *loop) { return (uint32_t)(loop - far->graph->loops); }

/* --- whether ------------------------------------------------------------------------------------------------------------ */

/* Whether every trip comes to the block, and the loop ends where it counts only. */
static bool each_trip_has(const IrGraph *graph, const IrLoop *loop, const IrBlock *block)
{
    for (uint32_t i = 0; i < loop->latch_count; i++)
        if (!ir_dominates(graph, block, loop->latches[i]))
            return false;
    for (uint32_t i = 1; i < loop->block_count; i++) {
        IrBlock *targets[2];
        for (int k = 0, count = ir_successors(loop->blocks[i], targets); k < count; k++)
            if (!ir_loop_has(graph, loop, targets[k]))
                return false;
    }
    return true;
}

/* A loop from a number to another one, by 1, which is written out. */
static bool find_inner(const FarLoads *far, const IrLoop *loop, FarLoad *out)
{
    IrInduction found;
    if (!far->places.is_unrolled || !far->places.is_unrolled[place_of(far, loop)] ||
        !ir_induction(far->graph, loop, &found) || found.step->op != IR_CONST || found.step->integer != 1)
        return false;
    out->variable = (IrValue *)found.variable;
    out->start = found.start->integer;
    out->trips = ir_known_trips(&found);
    return out->trips > 0;
}

static bool writes_nothing(const IrLoop *loop)
{
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next) {
            const IrValue *memory = value->op == IR_STORE ? memory_of(value->operands[0]) : NULL;
            bool is_own = value->op == IR_CELL_STORE || (memory && memory->op == IR_LOCAL);
            bool calls = value->op == IR_CALL && !is_silent_function(value->callee);
            if (calls || (value->op != IR_CALL && writes_memory(value) && !is_own))
                return false;
        }
    return true;
}

/* The only block from which the loop is entered; NULL: there are more, or it also goes elsewhere. */
static IrBlock *block_before(const IrGraph *graph, const IrLoop *loop)
{
    IrBlock *before = NULL;
    for (uint32_t i = 0; i < loop->header->predecessor_count; i++) {
        IrBlock *from = loop->header->predecessors[i];
        if (ir_loop_has(graph, loop, from))
            continue;
        if (before || from->last->op != IR_JUMP)
            return NULL;
        before = from;
    }
    return before;
}

/* Whether it is known in front of the loop that there is a trip. */
static bool has_known_test(const IrGraph *graph, const IrLoop *loop)
{
    IrInduction found;
    return ir_induction(graph, loop, &found) && found.exit == 1 && !ir_loop_has(graph, loop, found.bound->block);
}

/* Of what is known in front of the loop, and of the inner one's variable. *left: values that may be made. */
static bool can_be_made(const IrGraph *graph, const FarLoad *load, const IrValue *value, int *left)
{
    if (!ir_loop_has(graph, load->loop, value->block) || value == load->variable)
        return true;
    if (!ir_is_repeatable(value) || value->operand_count > MOST_OPERANDS || --*left < 0)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!can_be_made(graph, load, value->operands[i], left))
            return false;
    return true;
}

static bool add_load(FarLoads *far, IrValue *value)
{
    const IrLoop *loop = far->graph->loop_of[value->block->id];
    const IrBlock *block = value->block;
    FarLoad *load = &far->loads[far->count];
    const IrValue *memory = memory_of(value->operands[0]);
    if (far->count == MOST_LOADS || !memory || memory->op != IR_PARAM || !type_is_real(value->type))
        return false;
    *load = (FarLoad){.load = value, .trips = 1};
    if (!far->places.is_around[place_of(far, loop)]) {
        if (!each_trip_has(far->graph, loop, block) || !find_inner(far, loop, load))
            return false;
        block = loop->header;
        loop = loop->parent;
    }
    load->loop = loop;
    far->count++;
    far->elements += load->trips;
    if (!far->places.is_around[place_of(far, loop)] || loop->parent || far->elements > MOST_ELEMENTS ||
        !each_trip_has(far->graph, loop, block) || !writes_nothing(loop) || !block_before(far->graph, loop) ||
        !has_known_test(far->graph, loop))
        return false;
    int left = MOST_VALUES;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!can_be_made(far->graph, load, value->operands[i], &left))
            return false;
    return true;
}

static bool is_in_loop_around(const FarLoads *far, const IrBlock *block)
{
    const IrLoop *loop = far->graph->loop_of[block->id];
    while (loop && !far->places.is_around[place_of(far, loop)])
        loop = loop->parent;
    return loop;
}

/* All accesses of far places in loops that would go around the threads; false: there are none, or one has to stay. */
static bool find_loads(FarLoads *far, const IrFunc *kernel)
{
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (IrValue *value = block->first; value && is_in_loop_around(far, block); value = value->next) {
            bool is_access = value->op == IR_LOAD || value->op == IR_STORE;
            if (is_access && is_far_access(value) && (value->op == IR_STORE || !add_load(far, value)))
                return false;
        }
    return far->count;
}

/* --- in front of the loop ----------------------------------------------------------------------------------------------- */

/* Takes the values from there on out of the block, for others to be appended; returns the last one. */
static IrValue *cut(IrBlock *block, const IrValue *from)
{
    IrValue *before = NULL, *last = block->last;
    for (IrValue *value = block->first; value != from; value = value->next)
        before = value;
    block->last = before;
    *(before ? &before->next : &block->first) = NULL;
    return last;
}

static void put_back(IrBlock *block, IrValue *from, IrValue *last)
{
    *(block->last ? &block->last->next : &block->first) = from;
    block->last = last;
}

static IrValue *append_number(IrBlock *block, int64_t number, const SourcePos *pos)
{
    return ir_const_int(block, TYPE_OF(INT64), number, pos);
}

/* number: the inner loop's variable. */
static IrValue *make_value(const FarLoads *far, IrBlock *to, const FarLoad *load, IrValue *value, int64_t number)
{
    if (value == load->variable)
        return ir_const_int(to, value->type, number, &value->pos);
    if (!ir_loop_has(far->graph, load->loop, value->block))
        return value;
    IrValue *operands[MOST_OPERANDS];
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = make_value(far, to, load, value->operands[i], number);
    return ir_copy_value(to, value, operands);
}

/* Loads what each trip of the inner loop would, and stores it to the array. */
static void fill(const FarLoads *far, IrBlock *to, const FarLoad *load, IrValue *array)
{
    const SourcePos *pos = &load->load->pos;
    for (int64_t trip = 0; trip < load->trips; trip++) {
        IrValue *operands[TYPE_MAX_NDIM + 1];
        for (uint32_t i = 0; i < load->load->operand_count; i++)
            operands[i] = make_value(far, to, load, load->load->operands[i], load->start + trip);
        IrValue *value = ir_copy_value(to, load->load, operands);
        ir_append(to, IR_STORE, &type_none, pos, 3, (IrValue *[]){array, append_number(to, trip, pos), value});
    }
}

/* The load is one of the array. */
static void replace(const FarLoad *load, IrValue *array)
{
    IrValue *value = load->load, *last = cut(value->block, value), *index;
    if (load->variable) {
        index = load->variable;
        if (index->type != TYPE_OF(INT64))
            index = ir_append(value->block, IR_CONVERT, TYPE_OF(INT64), &value->pos, 1, &index);
        IrValue *start = append_number(value->block, load->start, &value->pos);
        index = ir_append(value->block, IR_SUB, TYPE_OF(INT64), &value->pos, 2, (IrValue *[]){index, start});
    } else {
        index = append_number(value->block, 0, &value->pos);
    }
    put_back(value->block, value, last);
    value->operands[0] = array;
    value->operands[1] = index;
    value->operand_count = 2;
}

static IrValue *append_array(IrBlock *block, const FarLoad *load)
{
    Arena *arena = block->function->module->arena;
    IrStorage *storage = ARENA_NEW(arena, IrStorage);
    storage->shape[0] = load->trips;
    const Type *type = type_array(arena, load->load->type, 1, LAYOUT_C, false);
    IrValue *array = ir_append(block, IR_LOCAL, type, &load->load->pos, 0, NULL);
    array->storage = storage;
    return array;
}

/* Two new blocks, the function's last ones, come behind the block. */
static void move_behind(IrFunc *function, IrBlock *block, IrBlock *first, IrBlock *second)
{
    IrBlock *last = function->first;
    while (last->next != first)
        last = last->next;
    last->next = NULL;
    function->last = last;
    second->next = block->next;
    block->next = first;
    if (block == last)
        function->last = second;
}

/* Those that are to be made in front of the loop. A thread that has no trip loads nothing. */
static void load_in_front(const FarLoads *far, IrFunc *kernel, const IrLoop *loop)
{
    IrBlock *before = block_before(far->graph, loop), *fills = ir_block(kernel), *after = ir_block(kernel);
    IrValue *end = before->last, *has_trip;
    IrInduction counts;
    ir_induction(far->graph, loop, &counts);
    cut(before, end);
    for (uint32_t i = 0; i < far->count; i++) {
        if (far->loads[i].loop != loop)
            continue;
        IrValue *array = append_array(before, &far->loads[i]);
        fill(far, fills, &far->loads[i], array);
        replace(&far->loads[i], array);
    }
    IrValue *ends[] = {(IrValue *)counts.start, (IrValue *)counts.bound};
    has_trip = ir_append(before, counts.comparison, TYPE_OF(BOOL), &end->pos, 2, ends);
    ir_branch(before, has_trip, fills, after, &end->pos);
    ir_jump(fills, after, &end->pos);
    ir_jump(after, loop->header, &end->pos);
    move_behind(kernel, before, fills, after);
}

void load_far_places_ahead(IrModule *module)
{
    IrFunc *kernel = module->first;
    if (!kernel->is_kernel || ir_module_effects(module) & (WAITS | EFFECT_WATCHED))
        return;
    Arena *arena = arena_create();
    FarLoads far = {0};
    if (place_loops(module, arena, &far.places) && has_loops_around(&far.places)) {
        far.graph = far.places.graph;
        bool are_found = find_loads(&far, kernel);
        for (uint32_t i = 0; are_found && i < far.graph->loop_count; i++)
            for (uint32_t k = 0; k < far.count; k++)
                if (far.loads[k].loop == &far.graph->loops[i]) {
                    load_in_front(&far, kernel, &far.graph->loops[i]);
                    break;
                }
        if (are_found) {
            ir_link_blocks(kernel);
            ir_renumber(kernel);
        }
    }
    arena_destroy(arena);
}
