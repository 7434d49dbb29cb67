/* Kernels that treat the borders of an array on the way, by clamping or wrapping an index or by asking whether it is inside,
 *
 *     column = min(max(j + dj, 0), width - 1)
 *     left = j - 1 if j > 0 else width - 1
 *     right = (j + 1) % width
 *
 * ask each thread what is so for all but a few at the ends of the grid's rows, and vectors then gather what lies side by
 * side. So a loop over threads becomes one over those for which each such index is what it seems to be (j + dj), and one for
 * the others, which goes over what is left of a row at either end:
 *
 *     thread_loop: body                     thread_loop: if t >= first and t < end: body, in which column = j + dj
 *                                           for side in 0, 1:
 *                                               thread_loop: if t is left over at this side: body
 *
 * Kernels without barriers have no such loop of their own; they get one for that, and where it will be cut into parts
 * (row_parts.c).
 *
 * A condition takes part that compares a place in the grid, or one a few elements away from it, with a small number or with
 * an extent: what it keeps out is a few threads at the grid's ends then. Threads of a loop do not depend on each other, so
 * that nobody sees their order. */
#include "codegen/host/regions/front_values.h"
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/row_parts.h"
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum {
    FARTHEST = 64, /* elements from a thread's place, and from an array's end */
    MOST_VALUES = 600,
    MOST_CONDITIONS = 32,
    MOST_SPLIT = 16, /* loops of a kernel */
    MOST_STEPS = 64, /* to read what a place is made of */
    MOST_JOINED = 4, /* phis from a condition to where it is asked */
    BITS = 58, /* of a part of a place: 64 fit into 64 bits */
};
static const int64_t behind_all = (int64_t)1 << 40; /* threads of a row */

/* place >= limit + more, or place < limit + more. */
typedef struct Condition {
    const IrValue *use, *place, *limit; /* use: what asks; limit NULL: 0 */
    bool is_lower;
    int64_t more;
} Condition;

typedef struct Search {
    IrFunc *function;
    Arena *arena;
    const IrGraph *graph;
    IrBlock *loop; /* it ends with the thread_loop; NULL: the function is what one thread does */
    IrBlock **body; /* its blocks in the graph's order */
    uint32_t count;
    bool *is_body, *is_dead; /* by IrBlock.id; dead: no thread comes there away from the borders */
    /* by IrValue.id, away from the borders: */
    const IrValue **same; /* what it is; NULL: itself */
    int8_t *truth; /* of a comparison: 1 or -1; 0: not known */
    bool *is_turned; /* of a remainder: the divisor is taken from the number once */
    Condition conditions[MOST_CONDITIONS];
    uint32_t condition_count;
} Search;

static const IrValue *away_from_borders(const Search *search, const IrValue *value)
{
    while (search->same[value->id])
        value = search->same[value->id];
    return value;
}

/* --- what a place is made of -------------------------------------------------------------------------------------------------- */

/* A sum: the thread's index, numbers, an extent, and where the block is in the grid. */
typedef struct Sum {
    const IrValue *use; /* where it is asked for */
    int steps;
    int64_t slope, number, extents;
    const IrValue *extent;
    int64_t low, high; /* what counters add */
    bool has_block, has_registers;
} Sum;

static bool is_on_axis(const IrValue *value, IntrinsicId axes, uint32_t axis)
{
    return value->op == IR_INTRINSIC && value->intrinsic == intrinsic_on_axis(axes, axis);
}

static bool is_block_register(const IrValue *value)
{
    for (uint32_t axis = 0; axis < 3; axis++)
        if (is_on_axis(value, INTRINSIC_CUDA_BLOCK_IDX, axis) || is_on_axis(value, INTRINSIC_CUDA_BLOCK_DIM, axis) ||
            is_on_axis(value, INTRINSIC_CUDA_GRID_DIM, axis))
            return true;
    return false;
}

static bool is_widened(const IrValue *value)
{
    return value->op == IR_CONVERT && value->type->kind == TYPE_INT && type_is_integer(value->operands[0]->type) &&
           (value->type->size > value->operands[0]->type->size || value->operands[0]->type->kind == TYPE_INT) &&
           value->type->size >= value->operands[0]->type->size;
}

static bool is_exact(const IrValue *value)
{
    return value->type->kind == TYPE_INT && (value->type->size == 8 || value->hint == IR_EXACT);
}

/* Made of registers that a block's threads have alike, and numbers. */
static bool is_of_block(Sum *sum, const IrValue *value, uint32_t axis)
{
    if (--sum->steps < 0)
        return false;
    if (is_block_register(value)) {
        sum->has_registers = true;
        sum->has_block |= is_on_axis(value, INTRINSIC_CUDA_BLOCK_IDX, axis);
        return true;
    }
    if (is_widened(value))
        return is_of_block(sum, value->operands[0], axis);
    bool is_product = value->op == IR_MUL && is_exact(value);
    return value->op == IR_CONST ||
           (is_product && is_of_block(sum, value->operands[0], axis) && is_of_block(sum, value->operands[1], axis));
}

static bool is_same_extent(const IrValue *a, const IrValue *b)
{
    return a == b ||
           (a->op == IR_EXTENT && b->op == IR_EXTENT && a->operands[0] == b->operands[0] && a->index == b->index);
}

static bool add_extent(Sum *sum, const IrValue *value, int sign)
{
    if (sum->extent && !is_same_extent(sum->extent, value))
        return false;
    sum->extent = value;
    sum->extents += sign;
    return true;
}

static bool is_number(const IrValue *value, int64_t *number)
{
    *number = value->op == IR_CONST && type_is_integer(value->type) ? value->integer : INT64_MAX;
    return *number <= FARTHEST && *number >= -FARTHEST;
}

/* What a loop's variable may be in a trip of it. */
static bool find_counter(const Search *search, const IrValue *phi, const IrBlock *use, int64_t *low, int64_t *high)
{
    IrInduction found;
    int64_t start, step, bound;
    const IrLoop *loop = search->graph->loop_of[phi->block->id];
    if (!loop || loop->header != phi->block || use == phi->block || !ir_loop_has(search->graph, loop, use) ||
        !ir_induction(search->graph, loop, &found) || found.variable != phi || found.exit != 1 ||
        !is_number(found.start, &start) || !is_number(found.step, &step) || !is_number(found.bound, &bound))
        return false;
    bool rises = found.comparison == IR_LT && step > 0, falls = found.comparison == IR_GT && step < 0;
    *low = rises ? start : bound + 1;
    *high = rises ? bound - 1 : start;
    return (rises || falls) && *low <= *high;
}

static bool add_counter(const Search *search, Sum *sum, const IrValue *phi, int sign)
{
    int64_t low, high;
    if (!find_counter(search, phi, sum->use->block, &low, &high))
        return false;
    sum->low += sign > 0 ? low : -high;
    sum->high += sign > 0 ? high : -low;
    return true;
}

static bool read_sum(const Search *search, Sum *sum, const IrValue *value, int sign)
{
    int64_t number;
    value = away_from_borders(search, value);
    if (--sum->steps < 0)
        return false;
    switch (value->op) {
    case IR_CONST:
        if (!is_number(value, &number))
            return false;
        sum->number += sign * number;
        return true;
    case IR_EXTENT: return value->operands[0]->op == IR_PARAM && add_extent(sum, value, sign);
    case IR_PARAM: return type_is_integer(value->type) && value->type->size <= 4 && add_extent(sum, value, sign);
    case IR_PHI: return add_counter(search, sum, value, sign);
    case IR_CONVERT: return is_widened(value) && read_sum(search, sum, value->operands[0], sign);
    case IR_ADD:
    case IR_SUB:
        return is_exact(value) && read_sum(search, sum, value->operands[0], sign) &&
               read_sum(search, sum, value->operands[1], value->op == IR_SUB ? -sign : sign);
    case IR_MOD:
        return search->is_turned[value->id] && read_sum(search, sum, value->operands[0], sign) &&
               read_sum(search, sum, value->operands[1], -sign);
    case IR_INTRINSIC:
        if (is_on_axis(value, INTRINSIC_CUDA_THREAD_IDX, search->function->row_axis)) {
            sum->slope += sign;
            return true;
        }
        return is_of_block(sum, value, search->function->row_axis);
    case IR_MUL: return has_bits(value, BITS) && is_of_block(sum, value, search->function->row_axis);
    default: return false;
    }
}

static bool is_near(int64_t number) { return number >= -FARTHEST && number <= FARTHEST; }

/* A place in the grid along the rows, or one near it. */
static bool read_place(const Search *search, const IrValue *use, const IrValue *value, Sum *out)
{
    *out = (Sum){.use = use, .steps = MOST_STEPS};
    return read_sum(search, out, value, 1) && out->slope == 1 && out->has_block && is_near(out->number) &&
           is_near(out->low) && is_near(out->high);
}

/* A small number, or an extent and a small number. */
static bool read_limit(const Search *search, const IrValue *use, const IrValue *value, bool *is_lower)
{
    Sum sum = {.use = use, .steps = MOST_STEPS};
    if (!read_sum(search, &sum, value, 1) || sum.slope || sum.has_registers || sum.low || sum.high ||
        !is_near(sum.number) || sum.extents < 0 || sum.extents > 1)
        return false;
    *is_lower = sum.extents == 0;
    return true;
}

/* --- conditions --------------------------------------------------------------------------------------------------------------- */

static bool add_condition(Search *search, const Condition *condition)
{
    if (search->condition_count == MOST_CONDITIONS)
        return false;
    search->conditions[search->condition_count++] = *condition;
    return true;
}

/* Whether one operand is a place, and the other one a limit of this kind. */
static bool find_limit(const Search *search, const IrValue *value, uint32_t place, bool *is_lower)
{
    Sum sum;
    return read_place(search, value, value->operands[place], &sum) && sum.extents == 0 &&
           read_limit(search, value, value->operands[1 - place], is_lower);
}

static void read_clamp(Search *search, const IrValue *value)
{
    bool is_lower, is_max = value->op == IR_MAX;
    for (uint32_t place = 0; place < 2; place++) {
        if (!find_limit(search, value, place, &is_lower) || is_lower != is_max)
            continue;
        Condition condition = {value, value->operands[place], value->operands[1 - place], is_max, !is_max};
        if (add_condition(search, &condition))
            search->same[value->id] = value->operands[place];
        return;
    }
}

/* The number is one of the divisor's, or was before the divisor was added. */
static void read_remainder(Search *search, const IrValue *value)
{
    Sum sum;
    bool is_lower;
    const IrValue *divisor = value->operands[1];
    if (value->type->kind != TYPE_INT || value->type->size != 8 ||
        (divisor->op != IR_EXTENT && divisor->op != IR_CONVERT) ||
        !read_place(search, value, value->operands[0], &sum) || sum.extents < 0 || sum.extents > 1 ||
        !read_limit(search, value, divisor, &is_lower) || is_lower)
        return;
    const IrValue *extent = divisor->op == IR_CONVERT ? divisor->operands[0] : divisor;
    if ((sum.extents && !is_same_extent(sum.extent, extent)) || search->condition_count + 2 > MOST_CONDITIONS)
        return;
    if (sum.extents)
        search->is_turned[value->id] = true;
    else
        search->same[value->id] = value->operands[0];
    add_condition(search, &(Condition){value, value, NULL, true, 0});
    add_condition(search, &(Condition){value, value, divisor, false, 0});
}

static bool is_operand(const IrValue *value, const IrValue *of)
{
    for (uint32_t i = 0; i < of->operand_count; i++)
        if (of->operands[i] == value)
            return true;
    return false;
}

/* Whether ways or values are chosen by it, also where it is the last of `a and b and c`, a phi behind the others. Which
 * threads do anything at all is left to the bounds of the loops. */
static bool chooses(const Search *search, const IrValue *condition, int depth)
{
    const IrValue *end = condition->block->last;
    if (end->op == IR_BRANCH && end->operands[0] == condition)
        return !leads_nowhere(end->targets[0], search->loop) && !leads_nowhere(end->targets[1], search->loop);
    for (const IrValue *value = condition; value; value = value->next)
        if (value->op == IR_SELECT && value->operands[0] == condition)
            return true;
    if (end->op != IR_JUMP || end->targets[0] == search->loop || depth == MOST_JOINED)
        return false;
    for (const IrValue *phi = end->targets[0]->first; phi && phi->op == IR_PHI; phi = phi->next)
        if (is_operand(condition, phi))
            return chooses(search, phi, depth + 1);
    return false;
}

static void read_comparison(Search *search, const IrValue *value)
{
    bool is_lower;
    if (value->operands[0]->type->kind != TYPE_INT || !chooses(search, value, 0))
        return;
    for (uint32_t place = 0; place < 2; place++) {
        if (!find_limit(search, value, place, &is_lower))
            continue;
        IrOp op = place == 0 ? value->op : ir_mirrored(value->op);
        bool is_strict = op == IR_LE || op == IR_GT || ((op == IR_EQ || op == IR_NE) && is_lower);
        Condition condition = {value, value->operands[place], value->operands[1 - place], is_lower, is_strict};
        bool holds = op == IR_NE || (is_lower ? op == IR_GE || op == IR_GT : op == IR_LT || op == IR_LE);
        if (add_condition(search, &condition))
            search->truth[value->id] = holds ? 1 : -1;
        return;
    }
}

/* --- ways --------------------------------------------------------------------------------------------------------------------- */

static bool is_way(const Search *search, const IrBlock *from, const IrBlock *to)
{
    const IrValue *end = from->last;
    int truth = end->op == IR_BRANCH ? search->truth[end->operands[0]->id] : 0;
    return !search->is_dead[from->id] && (!truth || end->targets[truth < 0] == to);
}

static uint32_t count_ways(const Search *search, const IrBlock *block, uint32_t *last)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->predecessor_count; i++)
        if (is_way(search, block->predecessors[i], block)) {
            *last = i;
            count++;
        }
    return count;
}

static void read_value(Search *search, const IrValue *value, uint32_t ways, uint32_t way)
{
    switch (value->op) {
    case IR_PHI:
        if (ways == 1 && ir_dominates(search->graph, value->operands[way]->block, value->block))
            search->same[value->id] = value->operands[way];
        return;
    case IR_MIN:
    case IR_MAX:
        if (value->type->kind == TYPE_INT)
            read_clamp(search, value);
        return;
    case IR_MOD: read_remainder(search, value); return;
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
    case IR_EQ:
    case IR_NE: read_comparison(search, value); return;
    default: return;
    }
}

/* What two loops do as one does. */
static bool can_be_split(const Search *search, const IrValue *value)
{
    switch (value->op) {
    case IR_RETURN:
    case IR_NOTE: return !search->loop;
    case IR_RAISE: return !search->loop && fails_check(value->block);
    default: return suits_any_loop(value);
    }
}

/* Whether the blocks have conditions that hold away from the borders. */
static bool read_body(Search *search)
{
    uint32_t left = MOST_VALUES;
    bool has_access = false;
    for (uint32_t i = 0; i < search->count; i++)
        for (const IrValue *value = search->body[i]->first; value; value = value->next) {
            if (!can_be_split(search, value) || !left--)
                return false;
            has_access |= value->op == IR_LOAD || value->op == IR_STORE;
        }
    for (uint32_t i = 0; i < search->count && has_access; i++) {
        const IrBlock *block = search->body[i];
        uint32_t way = 0, ways = i ? count_ways(search, block, &way) : 2;
        search->is_dead[block->id] = ways == 0;
        for (const IrValue *value = block->first; value && ways; value = value->next)
            read_value(search, value, ways, way);
    }
    return search->condition_count > 0;
}

/* From where the loop's iterations begin to where they come back; of a function, all of it. */
static void list_body(Search *search)
{
    const IrGraph *graph = search->graph;
    if (search->loop) {
        search->is_body = find_loop_body(search->loop->last, search->arena).is_inside;
        search->is_body[search->loop->id] = false;
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        IrBlock *block = graph->order[i];
        search->is_body[block->id] |= !search->loop;
        if (search->is_body[block->id])
            search->body[search->count++] = block;
    }
}

static bool find_borders(Search *search)
{
    uint32_t values = search->function->value_count + 1, blocks = search->function->block_count + 1;
    search->graph = ir_graph(search->function, search->arena);
    search->body = ARENA_ARRAY(search->arena, IrBlock *, blocks);
    search->is_body = ARENA_ARRAY(search->arena, bool, blocks);
    search->is_dead = ARENA_ARRAY(search->arena, bool, blocks);
    search->same = ARENA_ARRAY(search->arena, const IrValue *, values);
    search->truth = ARENA_ARRAY(search->arena, int8_t, values);
    search->is_turned = ARENA_ARRAY(search->arena, bool, values);
    list_body(search);
    return read_body(search);
}

/* Of a kernel without loops over threads. */
static bool has_borders(IrFunc *kernel)
{
    Search search = {.function = kernel, .arena = arena_create()};
    bool found = find_borders(&search);
    arena_destroy(search.arena);
    return found;
}

/* --- which threads are away from the borders ------------------------------------------------------------------------------------ */

/* The place of the row's first thread, in int64, in the trips in which counters have made it least, or most. */
static IrValue *first_place(const Search *search, IrBlock *to, const IrValue *value, const IrBlock *use, bool is_most)
{
    int64_t low = 0, high = 0;
    value = away_from_borders(search, value);
    if (value->op == IR_CONST)
        return front_number(to, value->integer);
    if (!search->is_body[value->block->id])
        return front_widened(to, (IrValue *)value);
    IrValue *operands[2] = {NULL};
    bool flips = value->op == IR_SUB;
    for (uint32_t i = 0; i < value->operand_count && value->op != IR_PHI && value->op != IR_EXTENT; i++)
        operands[i] = first_place(search, to, value->operands[i], use, is_most != (flips && i));
    switch (value->op) {
    case IR_CONVERT: return operands[0];
    case IR_PHI: return find_counter(search, value, use, &low, &high) ? front_number(to, is_most ? high : low) : NULL;
    case IR_INTRINSIC:
        if (is_on_axis(value, INTRINSIC_CUDA_THREAD_IDX, search->function->row_axis))
            return front_number(to, 0);
        return front_widened(to, ir_copy_value(to, value, NULL));
    case IR_EXTENT: return ir_copy_value(to, value, value->operands);
    case IR_MOD: return front_binary(to, IR_SUB, operands[0], operands[1]);
    default: return front_binary(to, value->op, operands[0], operands[1]);
    }
}

/* The first thread away from the borders, and the one behind the last. */
typedef struct Inside {
    IrValue *first, *end;
} Inside;

static Inside find_inside(const Search *search, IrBlock *to)
{
    Inside inside = {.first = front_number(to, 0)};
    inside.end = front_number(to, behind_all);
    for (uint32_t i = 0; i < search->condition_count; i++) {
        const Condition *condition = &search->conditions[i];
        const IrBlock *use = condition->use->block;
        IrValue *limit = condition->limit ? first_place(search, to, condition->limit, use, false) : front_number(to, 0);
        IrValue *place = first_place(search, to, condition->place, use, !condition->is_lower);
        limit = front_binary(to, IR_SUB, front_binary(to, IR_ADD, limit, front_number(to, condition->more)), place);
        IrValue **bound = condition->is_lower ? &inside.first : &inside.end;
        *bound = front_binary(to, condition->is_lower ? IR_MAX : IR_MIN, *bound, limit);
    }
    return inside;
}

/* --- two loops ------------------------------------------------------------------------------------------------------------------ */

typedef struct Split {
    const Search *search;
    uint32_t block_count, value_count; /* at first */
    IrBlock **blocks; /* by IrBlock.id, of the body: the copy */
    IrValue **values; /* by IrValue.id, likewise */
    IrBlock ***before; /* by IrBlock.id: predecessors at first */
    IrBlock *head, *inside, *sides; /* before all; the loop of the copy; the loop over a row's ends */
    IrBlock *first, *first_inside; /* lead to the bodies */
    IrValue *zero;
} Split;

static void copy_body(Split *split)
{
    const Search *search = split->search;
    for (uint32_t i = 0; i < search->count; i++) {
        IrBlock *copy = ir_block(search->function);
        copy->loop = search->body[i]->loop;
        split->blocks[search->body[i]->id] = copy;
    }
    for (uint32_t i = 0; i < search->count; i++)
        for (const IrValue *value = search->body[i]->first; value; value = value->next)
            split->values[value->id] = ir_copy_value(split->blocks[search->body[i]->id], value, value->operands);
}

/* What stands for an operand in the copy. */
static IrValue *inside_of(const Split *split, const IrValue *operand)
{
    const IrValue *same = away_from_borders(split->search, operand);
    IrValue *copy = split->values[same->id];
    return copy ? copy : (IrValue *)same;
}

static void become_known(const Split *split, const IrValue *value)
{
    const Search *search = split->search;
    IrValue *copy = split->values[value->id];
    if (search->truth[value->id]) {
        copy->op = IR_CONST;
        copy->integer = search->truth[value->id] > 0;
        copy->operand_count = 0;
    } else if (search->is_turned[value->id]) {
        copy->op = IR_SUB;
        copy->hint = IR_EXACT;
    }
}

static void finish_body(const Split *split)
{
    const Search *search = split->search;
    for (uint32_t i = 0; i < search->count; i++)
        for (const IrValue *value = search->body[i]->first; value; value = value->next) {
            IrValue *copy = split->values[value->id];
            for (uint32_t k = 0; k < copy->operand_count; k++)
                copy->operands[k] = inside_of(split, copy->operands[k]);
            for (int k = 0; k < 2 && ir_op_info[copy->op].immediate == IR_IMMEDIATE_TARGETS; k++)
                if (copy->targets[k])
                    copy->targets[k] =
                        copy->targets[k] == search->loop ? split->inside : split->blocks[copy->targets[k]->id];
            become_known(split, value);
        }
}

/* Where threads from `first` on come that are before `end`; the others come back to the loop. */
static IrBlock *test_range(const Search *search, IrBlock *loop, IrValue *first, IrValue *end, IrBlock **last)
{
    IrBlock *blocks[2];
    for (int i = 0; i < 2; i++)
        blocks[i] = ir_block(search->function);
    *last = ir_block(search->function);
    IrValue *thread = ir_append(blocks[0], IR_INTRINSIC, TYPE_OF(INT32), NULL, 0, NULL);
    thread->intrinsic = intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, search->function->row_axis);
    thread = front_widened(blocks[0], thread);
    ir_branch(blocks[0], front_binary(blocks[0], IR_GE, thread, first), blocks[1], loop, NULL);
    ir_branch(blocks[1], front_binary(blocks[1], IR_LT, thread, end), *last, loop, NULL);
    return blocks[0];
}

/* Joined rows may have any length. */
static IrValue *row_end(const Search *search, IrBlock *to)
{
    if (search->function->joins_rows)
        return front_number(to, behind_all);
    IrValue *threads = ir_append(to, IR_INTRINSIC, TYPE_OF(INT32), NULL, 0, NULL);
    threads->intrinsic = intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, search->function->row_axis);
    return front_widened(to, threads);
}

/* The loop over both ends of a row, around the loop over threads as it was. Returns its counter. */
static IrValue *form_sides(Split *split, const Inside *inside, IrValue **next)
{
    const Search *search = split->search;
    IrBlock *sides = split->sides, *side = ir_block(search->function), *back = ir_block(search->function);
    IrValue *loop = search->loop->last;
    IrValue *counter = ir_phi(sides, TYPE_OF(INT64), NULL, 2);
    sides->loop = IR_LOOP_ROLLED;
    ir_branch(sides, front_binary(sides, IR_LT, counter, front_number(sides, 2)), side, loop->targets[0], NULL);
    IrValue *is_first = front_binary(side, IR_EQ, counter, split->zero);
    IrValue *behind = front_binary(side, IR_MAX, inside->first, inside->end);
    IrValue *from[3] = {is_first, split->zero, behind}, *to[3] = {is_first, inside->first, row_end(search, side)};
    IrValue *first = ir_append(side, IR_SELECT, TYPE_OF(INT64), NULL, 3, from);
    IrValue *end = ir_append(side, IR_SELECT, TYPE_OF(INT64), NULL, 3, to);
    *next = front_binary(side, IR_ADD, counter, front_number(side, 1));
    ir_branch(side, front_binary(side, IR_LT, first, end), search->loop, back, NULL);
    IrBlock *last, *body = loop->targets[1];
    loop->targets[1] = test_range(search, search->loop, first, end, &last);
    ir_jump(last, body, NULL);
    ir_jump(back, sides, NULL);
    loop->targets[0] = back;
    split->first = last;
    return counter;
}

static void form_inside(Split *split, const Inside *inside)
{
    const Search *search = split->search;
    IrBlock *back = ir_block(search->function), *last;
    IrValue *loop = ir_append(split->inside, IR_THREAD_LOOP, &type_none, &search->loop->last->pos, 0, NULL);
    loop->hint = search->loop->last->hint;
    loop->targets[0] = back;
    loop->targets[1] = test_range(search, split->inside, inside->first, inside->end, &last);
    ir_jump(last, split->blocks[search->loop->last->targets[1]->id], NULL);
    ir_jump(back, split->sides, NULL);
    split->first_inside = last;
}

/* Where control comes from now that came from there. */
static const IrBlock *comes_from(const Split *split, const IrBlock *from, const IrBlock *to, bool is_copy)
{
    if (from == split->search->loop)
        return !split->search->is_body[to->id] ? split->sides : is_copy ? split->first_inside : split->first;
    return is_copy ? split->blocks[from->id] : from;
}

/* The operands of phis follow the order of predecessors, which is another one now. */
static void order_phis(const Split *split, const IrBlock *block, bool is_copy)
{
    IrBlock *to = is_copy ? split->blocks[block->id] : (IrBlock *)block, **before = split->before[block->id];
    for (IrValue *phi = to->first; phi && phi->op == IR_PHI; phi = phi->next) {
        IrValue **operands = ARENA_ARRAY(split->search->arena, IrValue *, phi->operand_count);
        bool *is_taken = ARENA_ARRAY(split->search->arena, bool, phi->operand_count);
        for (uint32_t i = 0; i < phi->operand_count; i++)
            operands[i] = phi->operands[i];
        for (uint32_t i = 0; i < phi->operand_count; i++)
            for (uint32_t k = 0; k < phi->operand_count; k++)
                if (!is_taken[k] && comes_from(split, before[k], block, is_copy) == to->predecessors[i]) {
                    phi->operands[i] = operands[k];
                    is_taken[k] = true;
                    break;
                }
    }
}

static void order_all_phis(const Split *split, IrValue *counter, IrValue *next)
{
    for (const IrBlock *block = split->search->function->first; block; block = block->next)
        if (block->id < split->block_count) {
            order_phis(split, block, false);
            if (split->blocks[block->id])
                order_phis(split, block, true);
        }
    for (uint32_t i = 0; i < 2; i++)
        counter->operands[i] = split->sides->predecessors[i] == split->inside->last->targets[0] ? split->zero : next;
}

static void split_loop(const Search *search)
{
    IrFunc *function = search->function;
    Split split = {.search = search, .block_count = function->block_count, .value_count = function->value_count};
    split.blocks = ARENA_ARRAY(search->arena, IrBlock *, split.block_count + 1);
    split.values = ARENA_ARRAY(search->arena, IrValue *, split.value_count + 1);
    split.before = ARENA_ARRAY(search->arena, IrBlock **, split.block_count + 1);
    for (IrBlock *block = function->first; block; block = block->next)
        split.before[block->id] = block->predecessors;
    split.head = ir_block(function);
    split.inside = ir_block(function);
    split.sides = ir_block(function);
    for (uint32_t i = 0; i < search->loop->predecessor_count; i++) {
        IrBlock *from = search->loop->predecessors[i];
        for (int k = 0; k < 2 && !search->is_body[from->id]; k++)
            if (from->last->targets[k] == search->loop)
                from->last->targets[k] = split.head;
    }
    Inside inside = find_inside(search, split.head);
    split.zero = front_number(split.head, 0);
    ir_jump(split.head, split.inside, NULL);
    copy_body(&split);
    finish_body(&split);
    form_inside(&split, &inside);
    IrValue *next, *counter = form_sides(&split, &inside, &next);
    ir_sort_blocks(function, search->arena);
    order_all_phis(&split, counter, next);
    ir_renumber(function);
}

static void split_if_bordered(IrFunc *function, IrBlock *loop)
{
    Arena *arena = arena_create();
    Search search = {.function = function, .arena = arena, .loop = loop};
    if (find_borders(&search))
        split_loop(&search);
    arena_destroy(arena);
}

void split_row_borders(IrModule *module)
{
    IrBlock *loops[MOST_SPLIT];
    if (!module->first->is_kernel || module->first->by_warps)
        return;
    if (!has_thread_loops(module->first) && (has_borders(module->first) || has_row_parts(module->first)))
        form_for_borders(module);
    IrFunc *kernel = module->first;
    uint32_t count = list_thread_loops(kernel, loops, MOST_SPLIT);
    for (uint32_t i = 0; i < count; i++)
        split_if_bordered(kernel, loops[i]);
}
