/* Where threads take elements that others are about to change, they wait between the two:
 *
 *     before = s[t - step] if t >= step else 0       thread_loop: slot[t] = s[t - step] if t >= step else 0
 *     cuda.syncthreads()
 *     s[t] += before                                 thread_loop: s[t] += slot[t]
 *
 * On one processor one loop does both, without the slots, if no thread comes behind one that has changed what it takes: here
 * from the last thread to the first, since each takes what belongs to one before it. Where elements behind the own one are
 * taken it is from the first to the last.
 *
 * A vector of such threads must load all that they take before it stores anything. It does where a thread's one way through
 * both bodies is that of all: no test in between, and no routine, which may have tests of its own. Else LLVM, for which each
 * thread goes one way, moves a load into the only way that needs it and joins ways of equal tests; the vector then stores in
 * one way before it loads in another. Where one test of a thread's index chooses between two ways, each way has a loop of its
 * own, over the threads above it and over those below:
 *
 *     thread_loop !down: if t >= step: s[t] += s[t - step]
 *     thread_loop !down: if t < step: s[t] += 0
 *
 * The kernel asks for that at the place: whether blocks have one row, of some length, and the elements lie on that side. Both
 * loops stay for what does not. */
#include "codegen/host/regions/front_values.h"
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum {
    MOST_VALUES = 100, /* of both bodies */
    MOST_JOINED = 32, /* loops of a kernel */
    MOST_PAIRS = 16,
    MOST_TERMS = 8,
    DEEPEST = 8,
    LEAST_ROW = 64, /* threads */
};

enum { TAKES, CHANGES, LOOPS };

/* Threads' own indices, numbers, and what all threads have alike. */
typedef struct Sum {
    const IrValue *terms[MOST_TERMS];
    int64_t times[MOST_TERMS], number;
    uint32_t count;
    int threads;
} Sum;

typedef struct Join {
    IrFunc *function;
    Arena *arena;
    const IrGraph *graph;
    IrBlock *loops[LOOPS];
    LoopBody bodies[LOOPS];
    Sum pairs[MOST_PAIRS]; /* indices of what is taken, less those of what is changed in the same array */
    uint32_t pair_count, block_count, value_count;
    int side; /* of what is taken: 1 behind the own element, -1 before it, 0: not seen so far */
    const IrValue *condition; /* by which ways are chosen; NULL: none is */
    bool is_of_high; /* it holds for the threads above, not for those below */
    const IrValue **kept; /* by IrValue.id, of slots that are not needed: what threads keep there */
    /* by id, in a copy of the bodies: */
    IrBlock **blocks;
    IrValue **values;
} Join;

/* --- whether: the loops --------------------------------------------------------------------------------------------------------- */

static bool is_plain_loop(const IrBlock *block)
{
    enum { ORDERED = IR_THREADS_UP | IR_THREADS_DOWN };
    return block->first->op == IR_THREAD_LOOP && !block->first->operand_count &&
           block->first->hint & IR_THREADS_INDEPENDENT && !(block->first->hint & ORDERED);
}

/* The loop over threads that follows, and nothing else; NULL: none does. */
static IrBlock *next_loop(const IrBlock *loop)
{
    IrBlock *block = loop->last->targets[0];
    while (block->first->op == IR_JUMP && block->predecessor_count == 1)
        block = block->first->targets[0];
    return is_plain_loop(block) && block != loop ? block : NULL;
}

static bool comes_only_from_first(const Join *join)
{
    const IrBlock *second = join->loops[CHANGES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < second->predecessor_count; i++)
        count += !join->bodies[CHANGES].is_inside[second->predecessors[i]->id];
    return count == 1 && second->last->targets[0]->first->op != IR_PHI;
}

static bool goes_on(const Join *join, int which, const IrValue *end)
{
    for (int i = 0; i < 1 + (end->op == IR_BRANCH); i++)
        if (end->targets[i] != join->loops[which] && end->targets[i]->id <= end->block->id)
            return false;
    return true;
}

static bool are_small(const Join *join)
{
    uint32_t left = MOST_VALUES;
    for (int which = 0; which < LOOPS; which++)
        for (uint32_t i = 0; i < join->bodies[which].count; i++) {
            const IrBlock *block = join->bodies[which].blocks[i];
            if (block == join->loops[which])
                continue;
            for (const IrValue *value = block->first; value; value = value->next)
                if (!suits_any_loop(value) || !left--)
                    return false;
            if ((block->last->op != IR_JUMP && block->last->op != IR_BRANCH) || !goes_on(join, which, block->last))
                return false;
        }
    return true;
}

/* --- whether: the elements -------------------------------------------------------------------------------------------------------- */

static bool is_thread(const IrValue *value)
{
    return value->op == IR_INTRINSIC &&
           value->intrinsic == intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, value->block->function->row_axis);
}

static bool is_in(const Join *join, int which, const IrBlock *block)
{
    return block != join->loops[which] && block->id < join->block_count && join->bodies[which].is_inside[block->id];
}

static bool is_inside(const Join *join, const IrBlock *block)
{
    return is_in(join, TAKES, block) || is_in(join, CHANGES, block);
}

static bool is_same(const Join *join, const IrValue *a, const IrValue *b, int depth)
{
    if (a == b)
        return true;
    if (a->op != b->op || a->type != b->type || a->operand_count != b->operand_count || depth > DEEPEST ||
        !is_inside(join, a->block) || !is_inside(join, b->block))
        return false;
    if (a->op == IR_CONST)
        return type_is_integer(a->type) && a->integer == b->integer;
    if (a->op == IR_INTRINSIC)
        return is_thread(a) && is_thread(b);
    bool is_known = ir_is_comparison(a->op) || a->op == IR_CONVERT || a->op == IR_ADD || a->op == IR_SUB;
    for (uint32_t i = 0; i < a->operand_count && is_known; i++)
        is_known = is_same(join, a->operands[i], b->operands[i], depth + 1);
    return is_known && (a->op != IR_ADD || (a->hint == IR_SATURATES) == (b->hint == IR_SATURATES));
}

/* A sum of which the last 32 bits matter: an index that is one of shared memory, less the thread's own, fits them, whatever
 * wraps on the way. */
static bool is_part_of_sum(const Join *join, const IrValue *value)
{
    bool is_sum = value->op == IR_ADD || value->op == IR_SUB;
    return is_inside(join, value->block) && value->type->size >= 4 && value->hint != IR_SATURATES &&
           (is_sum || (value->op == IR_CONVERT && type_is_integer(value->operands[0]->type)));
}

static bool add_term(const Join *join, Sum *sum, const IrValue *value, int sign)
{
    for (uint32_t i = 0; i < sum->count; i++)
        if (is_same(join, sum->terms[i], value, 0)) {
            sum->times[i] += sign;
            return true;
        }
    if (sum->count == MOST_TERMS)
        return false;
    sum->times[sum->count] = sign;
    sum->terms[sum->count++] = value;
    return true;
}

/* Adds to the sum what the index is but for the thread's own, if all threads have that alike and it can be made in front of
 * the loops. */
static bool read_sum(const Join *join, int which, Sum *sum, const IrValue *value, int sign, int depth)
{
    const LoopBody *body = &join->bodies[which];
    if (depth > DEEPEST)
        return false;
    if (value->op == IR_CONST) {
        sum->number += sign * (int64_t)(int32_t)value->integer;
        return true;
    }
    if (is_thread(value)) {
        sum->threads += sign;
        return true;
    }
    for (uint32_t i = 0; i < value->operand_count && is_part_of_sum(join, value); i++) {
        int sign_of_part = value->op == IR_SUB && i ? -sign : sign;
        if (!read_sum(join, which, sum, value->operands[i], sign_of_part, depth + 1))
            return false;
    }
    return is_part_of_sum(join, value) || (slope_of_bits(body->is_inside, value) == 0 && is_known_before(body, value) &&
                                           add_term(join, sum, value, sign));
}

/* On which side of what is changed what is taken seems to be: 1 behind it, -1 before it, 0: the same. */
static int side_of(const Sum *taken_less_changed)
{
    for (uint32_t i = 0; i < taken_less_changed->count; i++)
        if (taken_less_changed->times[i])
            return taken_less_changed->times[i] < 0 ? -1 : 1;
    return (taken_less_changed->number > 0) - (taken_less_changed->number < 0);
}

/* Nothing is known of where the array is, or whose it is. */
static bool is_elsewhere(const IrValue *array)
{
    return array->op != IR_SHARED && array->op != IR_PARAM && array->op != IR_DATA;
}

static bool may_be_same(const IrValue *a, const IrValue *b)
{
    if (a->op != b->op || a->op == IR_DATA)
        return false;
    return a->op == IR_PARAM || a->storage == b->storage || (a->storage->dynamic && b->storage->dynamic);
}

static bool add_pair(Join *join, const IrValue *load, const IrValue *store)
{
    const IrValue *taken = load->operands[1], *changed = store->operands[1];
    bool is_one = load->operands[0] == store->operands[0] && load->operands[0]->op == IR_SHARED;
    Sum less = {.number = 0};
    if (!is_one || load->operands[0]->type->ndim != 1 || join->pair_count == MOST_PAIRS ||
        !read_sum(join, CHANGES, &less, changed, -1, 0) || less.threads != -1 ||
        !read_sum(join, TAKES, &less, taken, 1, 0) || less.threads != 0)
        return false;
    int side = side_of(&less);
    if (side && join->side == -side)
        return false;
    join->side = side ? side : join->side;
    join->pairs[join->pair_count++] = less;
    return true;
}

static bool add_pairs(Join *join, const IrValue *load)
{
    const LoopBody *body = &join->bodies[CHANGES];
    if (is_elsewhere(load->operands[0]))
        return false;
    for (uint32_t i = 0; i < body->count; i++)
        for (const IrValue *store = body->blocks[i]->first; store; store = store->next)
            if (store->op == IR_STORE &&
                (is_elsewhere(store->operands[0]) ||
                 (may_be_same(load->operands[0], store->operands[0]) && !add_pair(join, load, store))))
                return false;
    return true;
}

static bool find_pairs(Join *join)
{
    const LoopBody *body = &join->bodies[TAKES];
    for (uint32_t i = 0; i < body->count; i++)
        for (const IrValue *value = body->blocks[i]->first; value; value = value->next)
            if (value->op == IR_STORE || (value->op == IR_LOAD && !add_pairs(join, value)))
                return false;
    return join->pair_count > 0;
}

/* --- whether: the slots ----------------------------------------------------------------------------------------------------------- */

/* Whether all of the first loop's threads come through the block. */
static bool is_of_all(const Join *join, const IrBlock *block)
{
    const IrBlock *loop = join->loops[TAKES];
    for (uint32_t i = 0; i < loop->predecessor_count; i++)
        if (is_in(join, TAKES, loop->predecessors[i]) && !ir_dominates(join->graph, block, loop->predecessors[i]))
            return false;
    return true;
}

/* Whether nobody needs the slot but the second loop, for what the first one keeps there. */
static bool is_for_second(const Join *join, const IrValue *store)
{
    const IrValue *slot = store->operands[0];
    for (const IrBlock *block = join->function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            for (uint32_t i = 0; i < value->operand_count; i++)
                if (value->operands[i] == slot &&
                    !(value->op == IR_SLOT_LOAD
                          ? is_in(join, CHANGES, block)
                          : value == store || (value->op == IR_SLOT_STORE && !is_in(join, TAKES, block) &&
                                               !is_in(join, CHANGES, block))))
                    return false;
    return true;
}

static bool find_kept(Join *join)
{
    const LoopBody *body = &join->bodies[TAKES];
    bool is_found = false;
    for (uint32_t i = 0; i < body->count; i++)
        for (const IrValue *value = body->blocks[i]->first; value; value = value->next)
            if (value->op == IR_SLOT_STORE && is_of_all(join, value->block) && is_for_second(join, value)) {
                join->kept[value->operands[0]->id] = value->operands[1];
                is_found = true;
            }
    return is_found;
}

/* --- whether: the ways ------------------------------------------------------------------------------------------------------------ */

static bool can_be_bound(const Join *join, const IrValue *value, int depth)
{
    bool can = depth < DEEPEST;
    if (!is_inside(join, value->block) || value->op == IR_CONST || is_thread(value))
        return can;
    if (!ir_is_comparison(value->op) && value->op != IR_CONVERT && value->op != IR_ADD && value->op != IR_SUB)
        return false;
    for (uint32_t i = 0; i < value->operand_count && can; i++)
        can = can_be_bound(join, value->operands[i], depth + 1);
    return can;
}

/* Whether the comparison is one that both loops begin with, which parts the threads of a row in two. */
static bool take_condition(Join *join, const IrValue *value)
{
    if (!ir_is_comparison(value->op) || value->op == IR_EQ || value->op == IR_NE || !can_be_bound(join, value, 0))
        return false;
    ScalarId scalar = value->operands[0]->type->scalar;
    const IrBlock *first = is_in(join, TAKES, value->block) ? join->loops[TAKES]->last->targets[1]
                                                            : join->loops[CHANGES]->last->targets[1];
    if (value->block != first || (scalar != SCALAR_INT32 && scalar != SCALAR_INT64))
        return false;
    int left = slope_in_thread(first, value->operands[0]), right = slope_in_thread(first, value->operands[1]);
    if (left < 0 || right < 0 || left + right != 1)
        return false;
    IrOp op = left == 1 ? value->op : ir_mirrored(value->op);
    join->is_of_high = op == IR_GE || op == IR_GT;
    join->condition = value;
    return true;
}

static bool find_condition(Join *join)
{
    for (int which = 0; which < LOOPS; which++)
        for (uint32_t i = 0; i < join->bodies[which].count; i++) {
            const IrBlock *block = join->bodies[which].blocks[i];
            if (block == join->loops[which] || block->last->op != IR_BRANCH)
                continue;
            const IrValue *condition = block->last->operands[0];
            if (condition->op != IR_CONST &&
                !(join->condition ? is_same(join, join->condition, condition, 0) : take_condition(join, condition)))
                return false;
        }
    return true;
}

/* Whether a thread does the same as each other one, where the condition chooses. */
static bool are_straight(const Join *join)
{
    for (int which = 0; which < LOOPS; which++)
        for (uint32_t i = 0; i < join->bodies[which].count; i++)
            for (const IrValue *value = join->bodies[which].blocks[i]->first; value; value = value->next)
                if (ir_is_routine(value))
                    return false;
    return true;
}

/* Threads that take their own elements may do it in any way. */
static bool find_ways(Join *join)
{
    if (find_condition(join) && are_straight(join))
        return true;
    join->condition = NULL;
    return !join->side;
}

static bool can_join(Join *join)
{
    IrBlock *second = next_loop(join->loops[TAKES]);
    if (!second)
        return false;
    join->loops[CHANGES] = second;
    for (int which = 0; which < LOOPS; which++)
        join->bodies[which] = find_loop_body(join->loops[which]->last, join->arena);
    join->graph = ir_graph(join->function, join->arena);
    join->kept = ARENA_ARRAY(join->arena, const IrValue *, join->value_count);
    return comes_only_from_first(join) && are_small(join) && find_pairs(join) && find_kept(join) && find_ways(join);
}

/* --- doing it: what is asked -------------------------------------------------------------------------------------------------------- */

/* In the last 32 bits. */
static IrValue *make_sum(const Join *join, IrBlock *to, const Sum *sum)
{
    IrValue *all = front_number(to, sum->number);
    for (uint32_t i = 0; i < sum->count; i++) {
        const LoopBody *body = &join->bodies[is_in(join, CHANGES, sum->terms[i]->block) ? CHANGES : TAKES];
        IrValue *term = front_widened(to, make_before(body, to, sum->terms[i]));
        all = front_binary(to, IR_ADD, all, front_binary(to, IR_MUL, term, front_number(to, sum->times[i])));
    }
    return ir_append(to, IR_CONVERT, TYPE_OF(INT32), NULL, 1, &all);
}

static IrValue *compare_block_dim(IrBlock *to, IrOp op, uint32_t axis, int64_t with)
{
    IrValue *threads = ir_append(to, IR_INTRINSIC, TYPE_OF(INT32), NULL, 0, NULL);
    threads->intrinsic = intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, axis);
    IrValue *wide = front_widened(to, threads);
    return front_binary(to, op, wide, front_number(to, with));
}

/* Whether a block is one long row, and what is taken lies on its side of what is changed. */
static IrValue *ask(const Join *join, IrBlock *to)
{
    uint32_t row = join->function->row_axis;
    IrValue *all = compare_block_dim(to, IR_GE, row, LEAST_ROW);
    for (uint32_t axis = 0; axis < 3; axis++)
        if (axis != row && !(join->function->single_axes >> axis & 1))
            all = front_binary(to, IR_AND, all, compare_block_dim(to, IR_EQ, axis, 1));
    for (uint32_t i = 0; i < join->pair_count; i++) {
        IrValue *less = make_sum(join, to, &join->pairs[i]), *same = ir_const_int(to, TYPE_OF(INT32), 0, NULL);
        all = front_binary(to, IR_AND, all, front_binary(to, join->side < 0 ? IR_LE : IR_GE, less, same));
    }
    return all;
}

/* --- doing it: one loop of two -------------------------------------------------------------------------------------------------------- */

/* What a copy need not compute; NULL: it does. */
static IrValue *known_in_copy(const Join *join, IrBlock *to, const IrValue *value, bool holds)
{
    if (!join->condition || !is_same(join, join->condition, value, 0))
        return NULL;
    IrValue *known = ir_append(to, IR_CONST, TYPE_OF(BOOL), &value->pos, 0, NULL);
    known->integer = holds;
    return known;
}

static void copy_value(Join *join, IrBlock *to, const IrValue *value, bool holds)
{
    bool is_slot = value->op == IR_SLOT_STORE || value->op == IR_SLOT_LOAD;
    const IrValue *kept = is_slot ? join->kept[value->operands[0]->id] : NULL;
    if (kept) {
        if (value->op == IR_SLOT_LOAD)
            join->values[value->id] = is_in(join, TAKES, kept->block) ? join->values[kept->id] : (IrValue *)kept;
        return;
    }
    IrValue *known = known_in_copy(join, to, value, holds);
    join->values[value->id] = known ? known : ir_copy_value(to, value, value->operands);
}

/* In the order of the blocks, in which phis have their operands. */
static void copy_body(Join *join, int which, bool holds)
{
    uint32_t left = join->block_count;
    for (const IrBlock *block = join->function->first; left--; block = block->next)
        if (is_in(join, which, block)) {
            IrBlock *copy = join->blocks[block->id] = ir_block(join->function);
            for (const IrValue *value = block->first; value; value = value->next)
                copy_value(join, copy, value, holds);
        }
}

/* back: where threads go from the body that came back to the loop. */
static void finish_body(const Join *join, int which, IrBlock *back)
{
    for (uint32_t i = 0; i < join->bodies[which].count; i++) {
        const IrBlock *block = join->bodies[which].blocks[i];
        if (!is_in(join, which, block))
            continue;
        for (IrValue *copy = join->blocks[block->id]->first; copy; copy = copy->next) {
            for (uint32_t k = 0; k < copy->operand_count; k++)
                if (copy->operands[k]->id < join->value_count && join->values[copy->operands[k]->id])
                    copy->operands[k] = join->values[copy->operands[k]->id];
            for (int k = 0; k < 2 && ir_op_info[copy->op].immediate == IR_IMMEDIATE_TARGETS; k++)
                if (copy->targets[k])
                    copy->targets[k] =
                        copy->targets[k] == join->loops[which] ? back : join->blocks[copy->targets[k]->id];
        }
    }
}

static IrValue *copy_condition(const Join *join, IrBlock *to, const IrValue *value)
{
    IrValue *operands[2] = {NULL};
    if (!is_inside(join, value->block))
        return (IrValue *)value;
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = copy_condition(join, to, value->operands[i]);
    return ir_copy_value(to, value, operands);
}

/* The loop over threads for which the condition holds, or does not; behind: where it goes on. */
static IrBlock *make_loop(Join *join, bool holds, IrBlock *behind)
{
    IrBlock *loop = ir_block(join->function), *test = join->condition ? ir_block(join->function) : NULL;
    for (uint32_t i = 0; i < join->value_count; i++)
        join->values[i] = NULL;
    copy_body(join, TAKES, holds);
    IrBlock *middle = ir_block(join->function);
    copy_body(join, CHANGES, holds);
    finish_body(join, TAKES, middle);
    finish_body(join, CHANGES, loop);
    IrBlock *body = join->blocks[join->loops[TAKES]->last->targets[1]->id];
    ir_jump(middle, join->blocks[join->loops[CHANGES]->last->targets[1]->id], NULL);
    IrValue *threads = ir_append(loop, IR_THREAD_LOOP, &type_none, &join->loops[TAKES]->last->pos, 0, NULL);
    threads->hint = IR_THREADS_INDEPENDENT | (join->side < 0 ? IR_THREADS_DOWN : IR_THREADS_UP);
    threads->targets[0] = behind;
    threads->targets[1] = test ? test : body;
    if (test)
        ir_branch(test, copy_condition(join, test, join->condition), holds ? body : loop, holds ? loop : body, NULL);
    return loop;
}

/* Behind the block that is in front of the first loop. */
static void move_before(const Join *join, IrBlock *head)
{
    IrBlock *before = join->function->first, *last = join->function->first;
    while (before->next != join->loops[TAKES])
        before = before->next;
    while (last->next != head)
        last = last->next;
    last->next = NULL;
    join->function->last = last;
    before->next = head;
    head->next = join->loops[TAKES];
}

static void enter_at(const Join *join, IrBlock *head)
{
    for (uint32_t i = 0; i < join->loops[TAKES]->predecessor_count; i++) {
        IrBlock *from = join->loops[TAKES]->predecessors[i];
        for (int k = 0; k < 2 && !is_in(join, TAKES, from); k++)
            if (from->last->targets[k] == join->loops[TAKES])
                from->last->targets[k] = head;
    }
}

static void join_both(Join *join)
{
    IrFunc *function = join->function;
    join->blocks = ARENA_ARRAY(join->arena, IrBlock *, join->block_count);
    join->values = ARENA_ARRAY(join->arena, IrValue *, join->value_count);
    IrValue *second = join->loops[CHANGES]->last;
    IrBlock *behind = ir_block(function), *first = behind;
    ir_jump(behind, second->targets[0], NULL);
    second->targets[0] = behind;
    bool is_high_last = join->side >= 0;
    if (join->condition)
        first = make_loop(join, is_high_last == join->is_of_high, behind);
    first = make_loop(join, !join->condition || is_high_last != join->is_of_high, first);
    IrBlock *head = ir_block(function);
    enter_at(join, head);
    ir_branch(head, ask(join, head), first, join->loops[TAKES], NULL);
    move_before(join, head);
    ir_link_blocks(function);
    ir_renumber(function);
}

void join_thread_loops(IrModule *module)
{
    IrBlock *loops[MOST_JOINED];
    IrFunc *kernel = module->first;
    uint32_t count = 0;
    if (!kernel->is_kernel || kernel->by_warps || kernel->by_rows || kernel->joins_rows)
        return;
    for (IrBlock *block = kernel->first; block && count < MOST_JOINED; block = block->next)
        if (is_plain_loop(block))
            loops[count++] = block;
    for (uint32_t i = 0; i < count; i++) {
        Arena *arena = arena_create();
        Join join = {.function = kernel,
                     .arena = arena,
                     .loops = {loops[i]},
                     .block_count = kernel->block_count,
                     .value_count = kernel->value_count};
        if (can_join(&join))
            join_both(&join);
        arena_destroy(arena);
    }
}
