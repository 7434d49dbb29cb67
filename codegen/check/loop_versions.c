/* Loops over a range from memory, in two versions. The rows of a sparse matrix are the common case:
 *
 *     for q in range(starts[row], starts[row + 1]):          if start >= 0: the loop; no index of it counts from the end
 *         total += values[q] * x[columns[q]]          ->     else:          the loop as it is
 *
 * A start below 0 is legal in Python, values[-1] being the last element, so each access has to test for it; and what tests
 * has no address that a loop could count up. In the first version the ranges of codegen/check/ranges.h prove what the test
 * before it says. It says of start and end, too, that the variable fits 32 bits, where that is not known: of starts[row] +
 * lane, or where starts has 64 bits. */
#include "codegen/passes.h"

#include <assert.h>
#include <string.h>

#include "codegen/check/ranges.h"

enum { MOST_VALUES = 96, MOST_VERSIONS = 16, DEEPEST = 3, MOST_NODES = 1 << 12, MOST_STEP = 1 << 20 };

typedef struct Split {
    IrFunc *function;
    Arena *arena;
    const IrLoop *loop;
    IrBlock *before,
        *after; /* the only block that leads to the header from outside; where the header leaves the loop */
    IrValue *start, *bound;
    bool tests_sign; /* the start may be below 0 */
    int64_t start_most, bound_most; /* what the first version is for; INT64_MAX: whatever it is, it fits */
    IrBlock *first; /* leads into the first version */
    uint32_t count; /* of values at first */
    IrValue **copies; /* by id, of the loop's values */
    IrBlock **blocks; /* by id, of the loop's blocks */
} Split;

/* --- which loops -------------------------------------------------------------------------------------------------------- */

/* What two copies of the loop do as one does: nothing in which threads meet. */
static bool can_be_copied(const IrValue *value)
{
    switch (value->op) {
    case IR_PHI:
    case IR_LOAD:
    case IR_STORE:
    case IR_ATOMIC:
    case IR_JUMP:
    case IR_BRANCH: return true;
    default: return ir_is_repeatable(value);
    }
}

static bool is_made_of(const IrValue *value, const IrValue *variable, int depth)
{
    if (value == variable)
        return true;
    bool is_sum = value->op == IR_ADD || value->op == IR_SUB || value->op == IR_CONVERT;
    for (uint32_t i = 0; is_sum && depth && i < value->operand_count; i++)
        if (is_made_of(value->operands[i], variable, depth - 1))
            return true;
    return false;
}

/* Only the header leaves the loop, all of it can be copied, and an index of it comes from the variable. */
static bool suits(const IrGraph *graph, const IrLoop *loop, const IrInduction *counts)
{
    uint32_t values = 0;
    bool has_index = false;
    for (uint32_t i = 0; i < loop->block_count; i++) {
        IrBlock *targets[2], *block = loop->blocks[i];
        int count = ir_successors(block, targets);
        for (int k = 0; k < count; k++)
            if (i && !ir_loop_has(graph, loop, targets[k]))
                return false;
        if (!count || graph->loop_of[block->id] != loop)
            return false;
        for (const IrValue *value = block->first; value; value = value->next, values++) {
            if (!can_be_copied(value))
                return false;
            has_index |= value->op == IR_WRAP && is_made_of(value->operands[0], counts->variable, DEEPEST);
        }
    }
    return has_index && values <= MOST_VALUES;
}

/* Finds what the first version has to test; false: there is nothing, or the loop may count downwards. */
static bool find_tests(Split *split, const IrGraph *graph, Ranges *ranges, const IrInduction *counts)
{
    Place before = {split->before, NULL};
    bool can_test_bound = !ir_loop_has(graph, split->loop, counts->bound->block); /* else each trip makes it anew */
    split->start_most = split->bound_most = INT64_MAX;
    for (const Context *context = ranges->contexts; context; context = context->next) {
        if (context->function != split->function)
            continue;
        LaunchRange *found = ARENA_ARRAY(split->arena, LaunchRange, ranges->capacity);
        uint32_t start = range_of(ranges, context, counts->start, before);
        uint32_t step = range_of(ranges, context, counts->step, before);
        uint32_t bound = range_of(ranges, context, counts->bound, before);
        launch_ranges(ranges->nodes, ranges->count, NULL, found);
        if (found[step].least < 0)
            return false;
        if (found[start].most <= 0 && found[start].least < 0) /* -n, say: the first version would seldom run */
            return false;
        split->tests_sign |= found[start].least < 0;
        if (found[step].most > MOST_STEP)
            continue;
        int64_t most = INT32_MAX - (int64_t)found[step].most;
        if (found[start].most > INT32_MAX)
            split->start_most = INT32_MAX;
        /* the last trip is of one before the bound */
        if (can_test_bound && found[bound].most > most + 1 && most + 1 < split->bound_most)
            split->bound_most = most + 1;
    }
    return split->tests_sign || split->start_most != INT64_MAX || split->bound_most != INT64_MAX;
}

static bool choose(Split *split, const IrGraph *graph, const IrLoop *loop, Ranges *ranges)
{
    IrInduction counts;
    if (loop->header->loop == IR_LOOP_UNROLL || loop->header->loop == IR_LOOP_ROLLED ||
        !ir_induction(graph, loop, &counts) || counts.comparison != IR_LT || counts.exit != 1 || counts.saturates ||
        counts.start->op == IR_CONST || counts.start->non_negative || counts.start->type->kind != TYPE_INT ||
        !suits(graph, loop, &counts))
        return false;
    split->before = NULL;
    for (uint32_t i = 0; i < loop->header->predecessor_count; i++) {
        IrBlock *from = loop->header->predecessors[i];
        if (ir_loop_has(graph, loop, from))
            continue;
        if (split->before || from->last->op != IR_JUMP)
            return false;
        split->before = from;
    }
    split->loop = loop;
    split->after = loop->header->last->targets[1];
    split->start = (IrValue *)counts.start;
    split->bound = (IrValue *)counts.bound;
    return split->before && find_tests(split, graph, ranges, &counts);
}

/* --- the copy ----------------------------------------------------------------------------------------------------------- */

static bool is_inside(const Split *split, const IrValue *value)
{
    return value->id < split->count && split->copies[value->id];
}

static IrValue *copied(const Split *split, IrValue *value)
{
    return is_inside(split, value) ? split->copies[value->id] : value;
}

static void copy_block(Split *split, const IrBlock *block)
{
    IrBlock *to = split->blocks[block->id];
    for (IrValue *value = block->first; value; value = value->next) {
        IrValue *made = ir_copy_value(to, value, value->operands);
        split->copies[value->id] = made;
        for (int i = 0; i < 2 && ir_op_info[made->op].immediate == IR_IMMEDIATE_TARGETS; i++)
            if (made->targets[i] && split->blocks[made->targets[i]->id])
                made->targets[i] = split->blocks[made->targets[i]->id];
    }
}

static void copy_loop(Split *split)
{
    uint32_t block_count = split->function->block_count;
    split->count = split->function->value_count;
    split->copies = ARENA_ARRAY(split->arena, IrValue *, split->count);
    split->blocks = ARENA_ARRAY(split->arena, IrBlock *, block_count);
    for (uint32_t i = 0; i < split->loop->block_count; i++)
        split->blocks[split->loop->blocks[i]->id] = ir_block(split->function);
    for (uint32_t i = 0; i < split->loop->block_count; i++)
        copy_block(split, split->loop->blocks[i]);
    for (uint32_t i = 0; i < split->loop->block_count; i++)
        for (IrValue *value = split->blocks[split->loop->blocks[i]->id]->first; value; value = value->next)
            for (uint32_t k = 0; k < value->operand_count; k++)
                value->operands[k] = copied(split, value->operands[k]);
}

/* Behind both versions: what is used there of the loop is one's or the other's. */
typedef struct Join {
    IrBlock *block;
    IrValue **merged; /* by id */
} Join;

static IrValue *merged(const Split *split, const Join *join, IrValue *value)
{
    if (!is_inside(split, value))
        return value;
    if (!join->merged[value->id]) {
        IrValue *phi = ir_phi(join->block, value->type, &value->pos, 2);
        phi->operands[0] = value;
        phi->operands[1] = split->copies[value->id];
        join->merged[value->id] = phi;
    }
    return join->merged[value->id];
}

static bool is_copy(const Split *split, const IrBlock *block)
{
    for (uint32_t i = 0; i < split->loop->block_count; i++)
        if (split->blocks[split->loop->blocks[i]->id] == block || split->loop->blocks[i] == block)
            return true;
    return false;
}

static void merge_uses(const Split *split, const Join *join)
{
    for (IrBlock *block = split->function->first; block; block = block->next) {
        if (block == join->block || is_copy(split, block))
            continue;
        for (IrValue *value = block->first; value; value = value->next)
            for (uint32_t i = 0; i < value->operand_count; i++)
                value->operands[i] = merged(split, join, value->operands[i]);
    }
}

static void drop_last(IrBlock *block)
{
    IrValue *before = NULL;
    for (IrValue *value = block->first; value != block->last; value = value->next)
        before = value;
    *(before ? &before->next : &block->first) = NULL;
    block->last = before;
}

/* Operands of phis follow the order of predecessors, in which blocks stand elsewhere now. */
typedef struct Edges {
    IrBlock **before; /* of a block, at first */
    uint32_t count;
} Edges;

static void order_phis(const Split *split, const Join *join, IrBlock *block, const Edges *edges, bool of_copy)
{
    for (IrValue *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next) {
        IrValue **operands = ARENA_ARRAY(split->arena, IrValue *, phi->operand_count);
        assert(phi->operand_count == edges->count && block->predecessor_count == edges->count);
        memcpy(operands, phi->operands, phi->operand_count * sizeof *operands);
        for (uint32_t i = 0; i < edges->count; i++) {
            IrBlock *from = edges->before[i];
            if (of_copy && split->blocks[from->id])
                from = split->blocks[from->id];
            else if (block == split->loop->header && from == split->before)
                from = split->first;
            else if (block == split->after && from == split->loop->header)
                from = join->block;
            for (uint32_t k = 0; k < block->predecessor_count; k++)
                if (block->predecessors[k] == from)
                    phi->operands[k] = operands[i];
        }
    }
}

/* Phis of the join have been made for the header first, and its copy behind. */
static void order_join(const Split *split, const Join *join)
{
    const IrBlock *header = split->loop->header;
    Edges edges = {(IrBlock *[]){(IrBlock *)header, split->blocks[header->id]}, 2};
    order_phis(split, join, join->block, &edges, false);
}

static IrValue *compared(const Split *split, IrOp op, IrValue *value, int64_t number, const SourcePos *pos)
{
    IrValue *both[2] = {value, ir_const_int(split->before, value->type, number, pos)};
    return ir_append(split->before, op, TYPE_OF(BOOL), pos, 2, both);
}

static IrValue *also(const Split *split, IrValue *condition, IrValue *other, const SourcePos *pos)
{
    IrValue *both[2] = {condition, other};
    return condition ? ir_append(split->before, IR_AND, TYPE_OF(BOOL), pos, 2, both) : other;
}

static IrValue *condition_of_first(const Split *split, const SourcePos *pos)
{
    IrValue *condition = split->tests_sign ? compared(split, IR_GE, split->start, 0, pos) : NULL;
    if (split->start_most != INT64_MAX)
        condition = also(split, condition, compared(split, IR_LE, split->start, split->start_most, pos), pos);
    if (split->bound_most != INT64_MAX)
        condition = also(split, condition, compared(split, IR_LE, split->bound, split->bound_most, pos), pos);
    return condition;
}

static void split_loop(Split *split)
{
    const IrLoop *loop = split->loop;
    IrBlock *header = loop->header;
    SourcePos pos = header->last->pos;
    uint32_t before = split->function->block_count;
    Edges *edges = ARENA_ARRAY(split->arena, Edges, before);
    for (IrBlock *block = split->function->first; block; block = block->next)
        edges[block->id] = (Edges){block->predecessors, block->predecessor_count};
    copy_loop(split);
    IrBlock *copy = split->blocks[header->id];
    Join join = {ir_block(split->function), ARENA_ARRAY(split->arena, IrValue *, split->count)};
    merge_uses(split, &join);
    ir_jump(join.block, split->after, &pos);
    header->last->targets[1] = copy->last->targets[1] = join.block;
    copy->loop = IR_LOOP_ROLLED;
    drop_last(split->before);
    split->first = ir_block(split->function);
    ir_jump(split->first, header, &pos);
    ir_branch(split->before, condition_of_first(split, &pos), split->first, copy, &pos);
    ir_link_blocks(split->function);
    for (IrBlock *block = split->function->first; block; block = block->next)
        if (block->id < before)
            order_phis(split, &join, block, &edges[block->id], false);
    for (uint32_t i = 0; i < loop->block_count; i++)
        order_phis(split, &join, split->blocks[loop->blocks[i]->id], &edges[loop->blocks[i]->id], true);
    order_join(split, &join);
    ir_renumber(split->function);
}

/* --- the module ----------------------------------------------------------------------------------------------------------- */

/* The next loop of the function to split; the arena's are the graph and the ranges. */
static bool split_next(IrModule *module, IrFunc *function)
{
    Arena *arena = arena_create();
    Split split = {.function = function, .arena = arena};
    const IrGraph *graph = ir_graph(function, arena);
    Ranges *ranges = graph->loop_count ? ranges_begin(module, MOST_NODES, arena) : NULL;
    bool found = false;
    for (uint32_t i = 0; i < graph->loop_count && !found; i++)
        found = choose(&split, graph, &graph->loops[i], ranges);
    if (ranges)
        ranges_end(ranges);
    if (found)
        split_loop(&split);
    arena_destroy(arena);
    return found;
}

void split_indexed_loops(IrModule *module)
{
    int left = MOST_VERSIONS;
    if (!module->first->is_kernel || module->first_watcher)
        return;
    for (IrFunc *function = module->first; function; function = function->next)
        while (!function->lacks_body && !function->assembly && left > 0 && split_next(module, function))
            left--;
}
