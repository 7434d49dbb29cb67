/* A kernel that is one grid-stride loop, `for i in range(grid(1), n, gridsize(1))` and nothing around it that has an effect,
 * becomes one trip of it. All threads of a block then run a trip before the next one: neighbours touch neighbouring elements,
 * which vectorizes. What makes it safe to run a loop trip by trip: threads do not synchronize (the caller knows), each thread takes its own
 * trips in order, the index alone is carried from trip to trip, what comes before the loop can be computed again for
 * every trip, nothing comes after it, and a thread that has ended does not start again. */
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/passes.h"

/* Recomputing more than this for every trip would not pay. */
enum { LONGEST_PROLOGUE = 64 };

typedef struct StrideLoop {
    IrBlock *header;
    IrValue *index; /* the header's only phi */
    IrValue *start, *step; /* index is start + trip * step */
    bool cannot_overflow; /* neither of them does, trip for trip */
    bool *is_inside; /* by IrBlock.id: in the loop, header included */
} StrideLoop;

typedef struct Search {
    const IrFunc *kernel;
    Arena *arena;
    StrideLoop *loop;
    bool *is_before; /* by IrBlock.id: reached without passing the header */
} Search;

static void mark_reachable(const IrBlock *from, const IrBlock *stop, const IrBlock *skip, bool *marks, Arena *arena)
{
    uint32_t count = 0;
    const IrBlock **stack = ARENA_ARRAY(arena, const IrBlock *, from->function->block_count + 1);
    marks[from->id] = true;
    stack[count++] = from;
    while (count) {
        IrBlock *targets[2];
        const IrBlock *block = stack[--count];
        int targets_count = ir_successors(block, targets);
        for (int i = 0; i < targets_count; i++) {
            if (targets[i] == stop || targets[i] == skip || marks[targets[i]->id])
                continue;
            marks[targets[i]->id] = true;
            stack[count++] = targets[i];
        }
    }
}

static bool is_own_memory(const IrValue *value) { return value->op == IR_LOCAL || value->op == IR_CELL; }

static bool is_pure(const IrValue *value)
{
    if (value->op == IR_INTRINSIC)
        return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER;
    return ir_op_info[value->op].flags & IR_FLAG_PURE && !is_own_memory(value);
}

/* More than zero whatever the launch is. */
static bool is_positive(const IrValue *value)
{
    switch (value->op) {
    case IR_CONST: return type_is_integer(value->type) && value->integer > 0;
    case IR_INTRINSIC:
        return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER &&
               intrinsic_info[value->intrinsic].low > 0;
    case IR_CONVERT: {
        const Type *from = value->operands[0]->type;
        return type_is_integer(value->type) && type_is_integer(from) && value->type->size >= from->size &&
               is_positive(value->operands[0]);
    }
    case IR_MUL:
    case IR_ADD:
        return type_is_integer(value->type) && is_positive(value->operands[0]) && is_positive(value->operands[1]);
    default: return false;
    }
}

static bool is_invariant(const Search *search, const IrValue *value)
{
    if (search->is_before[value->block->id])
        return true;
    if (!is_pure(value) || value->op == IR_PHI)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!is_invariant(search, value->operands[i]))
            return false;
    return true;
}

/* The phi's operands: one from before the loop; the others are all one sum of the phi and an unchanging step. */
static bool read_induction(const Search *search, IrValue *phi)
{
    IrValue *start = NULL, *next = NULL;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        bool from_before = search->is_before[phi->block->predecessors[i]->id];
        IrValue **place = from_before ? &start : &next;
        if (*place && *place != phi->operands[i])
            return false;
        *place = phi->operands[i];
    }
    if (!start || !next || next->op != IR_ADD || phi->type->scalar != SCALAR_INT64)
        return false;
    IrValue *step = next->operands[0] == phi ? next->operands[1] : next->operands[0];
    if ((next->operands[0] != phi && next->operands[1] != phi) || !search->is_before[step->block->id])
        return false;
    search->loop->index = phi;
    search->loop->start = start;
    search->loop->step = step;
    return search->is_before[start->block->id] && is_positive(step);
}

/* So far from the largest int64 that one step behind it is still a number. */
static bool is_moderate(const IrValue *end)
{
    return end->op == IR_EXTENT || (end->op == IR_CONST && end->integer < (int64_t)1 << 57) ||
           (end->op == IR_CONVERT && type_is_integer(end->operands[0]->type) && end->operands[0]->type->size <= 4);
}

/* The header does nothing but compare: index < end, into the loop or out of it to a return. */
static bool is_counted(const Search *search)
{
    const IrBlock *header = search->loop->header;
    const IrValue *branch = header->last;
    if (branch->op != IR_BRANCH || branch->operands[0]->op != IR_LT || branch->targets[0] == branch->targets[1])
        return false;
    const IrValue *compare = branch->operands[0];
    if (compare->operands[0] != search->loop->index || !is_invariant(search, compare->operands[1]))
        return false;
    for (const IrValue *value = header->first->next; value != branch; value = value->next)
        if (value->op == IR_PHI || !is_pure(value))
            return false;
    search->loop->cannot_overflow = is_moderate(compare->operands[1]);
    return only_returns(branch->targets[1]);
}

static bool stays_inside(const Search *search)
{
    const StrideLoop *loop = search->loop;
    for (const IrBlock *block = search->kernel->first; block; block = block->next) {
        if (!loop->is_inside[block->id])
            continue;
        IrBlock *targets[2];
        int count = ir_successors(block, targets);
        for (int i = 0; i < count && block != loop->header; i++)
            if (!loop->is_inside[targets[i]->id])
                return false;
        for (const IrValue *value = block->first; value; value = value->next)
            if (is_own_memory(value) || value->op == IR_RETURN)
                return false;
    }
    return true;
}

static bool can_repeat_prologue(const Search *search)
{
    uint32_t count = 0;
    for (const IrBlock *block = search->kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; search->is_before[block->id] && value; value = value->next)
            if ((!is_pure(value) && !(ir_op_info[value->op].flags & IR_FLAG_TERMINATOR)) || ++count > LONGEST_PROLOGUE)
                return false;
    return true;
}

static bool is_stride_loop(Search *search, IrBlock *header)
{
    uint32_t count = search->kernel->block_count + 1;
    *search->loop = (StrideLoop){.header = header, .is_inside = ARENA_ARRAY(search->arena, bool, count)};
    search->is_before = ARENA_ARRAY(search->arena, bool, count);
    if (header == search->kernel->first || header->last->op != IR_BRANCH)
        return false;
    mark_reachable(search->kernel->first, header, NULL, search->is_before, search->arena);
    mark_reachable(header, header, header->last->targets[1], search->loop->is_inside, search->arena);
    for (uint32_t id = 0; id < count; id++)
        if (search->loop->is_inside[id] && search->is_before[id])
            return false;
    return read_induction(search, header->first) && is_counted(search) && stays_inside(search) &&
           can_repeat_prologue(search);
}

static bool find_stride_loop(const IrFunc *kernel, Arena *arena, StrideLoop *out)
{
    Search search = {.kernel = kernel, .arena = arena, .loop = out};
    for (IrBlock *block = kernel->first; block; block = block->next)
        if (block->first->op == IR_PHI && is_stride_loop(&search, block))
            return true;
    return false;
}

/* --- splitting ---------------------------------------------------------------------------------------------------------- */

/* The phi becomes start + trip * step, in front of which the product is put. */
static void compute_index(const StrideLoop *loop)
{
    IrBlock *header = loop->header;
    IrValue *rest = header->first->next, *last = header->last, *index = loop->index;
    const Type *type = index->type;
    header->first = header->last = NULL;
    IrValue *trip = ir_append(header, IR_TRIP, type, &index->pos, 0, NULL);
    IrValue *distance = ir_append(header, IR_MUL, type, &index->pos, 2, (IrValue *[]){trip, loop->step});
    IrValue *sum = ir_append(header, IR_ADD, type, &index->pos, 2, (IrValue *[]){loop->start, distance});
    index->op = IR_ADD;
    index->operands = sum->operands;
    index->operand_count = sum->operand_count;
    index->hint = distance->hint = loop->cannot_overflow ? IR_EXACT : IR_MAY_WRAP;
    distance->next = index;
    index->next = rest;
    header->last = last;
}

/* What led back to the header ends the trip. */
static void end_trips(const StrideLoop *loop)
{
    IrFunc *kernel = loop->header->function;
    IrBlock *end = ir_block(kernel);
    ir_append(end, IR_NEXT_TRIP, &type_none, &loop->index->pos, 0, NULL);
    for (uint32_t i = 0; i < loop->header->predecessor_count; i++) {
        IrValue *from = loop->header->predecessors[i]->last;
        for (int k = 0; k < 2 && loop->is_inside[from->block->id]; k++)
            if ((k == 0 || from->op == IR_BRANCH) && from->targets[k] == loop->header)
                from->targets[k] = end;
    }
}

void split_stride_loop(IrModule *module)
{
    enum { WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC };
    if (!module->first->is_kernel || ir_module_effects(module) & WAITS)
        return;
    Arena *arena = arena_create();
    StrideLoop loop;
    bool *raises = ARENA_ARRAY(arena, bool, module->function_count);
    ir_raising_functions(module, raises);
    if (!raises[0] && find_stride_loop(module->first, arena, &loop)) {
        end_trips(&loop);
        compute_index(&loop);
        ir_link_blocks(module->first);
        ir_renumber(module->first);
    }
    arena_destroy(arena);
}
