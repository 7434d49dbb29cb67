/* Which loops to write out in full: those whose index picks elements of a small array of the thread, or items of a tuple,
 * and small ones. Such an array can be in registers only when every index is known while compiling, or is one of a few that
 * are; LLVM's own threshold looks at the loop's size alone, which keeps accumulators of matrix products in memory, and is
 * lower than CUDA C's. Where a loop counts from or to what another one counts, as in `for j in range(i + 1)`, the number of
 * its trips is known once that one is written out; where its variable is doubled or halved, it is counted. */
#include "codegen/unroll.h"

#include <assert.h>
#include <string.h>

enum {
    MOST_BYTES = 1024, /* of an array: a thread has 255 registers of 4 bytes */
    DEEPEST = 8,
    MOST_LOOPS = 512, /* of a function */
    MOST_CHOICES = 16, /* of elements by one index */
    OF_CHOICE = 2, /* values that each of them adds */
};

typedef struct Interval {
    int64_t low, high;
} Interval;

/* All by place in graph->loops. */
typedef struct Unroll {
    const IrGraph *graph;
    const UnrollLimits *limits;
    Arena *arena;
    const IrValue **counters; /* the phi that counts the loop's trips; NULL: their number is not known or too large */
    int64_t *trips; /* at most */
    Interval *counted; /* what the counter may be */
    bool **needs; /* the loops that make the number of trips a constant when they are written out */
    bool *is_chosen;
    ElementChoice *choices; /* by IrValue.id: of accesses to arrays whose loops are chosen */
} Unroll;

static uint32_t place_of(const Unroll *unroll, const IrLoop *loop) { return (uint32_t)(loop - unroll->graph->loops); }

/* The loop whose trips the phi counts; NULL: none. */
static const IrLoop *counted_by(const Unroll *unroll, const IrValue *phi)
{
    const IrLoop *loop = unroll->graph->loop_of[phi->block->id];
    return loop && unroll->counters[place_of(unroll, loop)] == phi ? loop : NULL;
}

/* --- counted loops ------------------------------------------------------------------------------------------------ */

/* Whether the value is an integer known now: a constant, or an extent of an array whose shape is. */
static bool is_number(const IrValue *value, int64_t *number)
{
    if (value->op == IR_CONST && type_is_integer(value->type))
        return *number = value->integer, true;
    if (value->op != IR_EXTENT)
        return false;
    const IrValue *array = value->operands[0];
    if (array->op == IR_SUBARRAY)
        return is_number(array->operands[1 + array->operands[0]->type->ndim + value->index], number);
    *number = array->op == IR_LOCAL ? array->storage->shape[value->index] : 0;
    return array->op == IR_LOCAL;
}

enum { FARTHEST = 1 << 20 }; /* of bounds that are looked at */

static bool keep_interval(int64_t low, int64_t high, Interval *out)
{
    *out = (Interval){low, high};
    return low >= -FARTHEST && high <= FARTHEST;
}

/* What a value may be that is made of numbers and of counters, which are marked in `needs`; false: it is not, or far. */
static bool interval_of(const Unroll *unroll, const IrValue *value, int depth, bool *needs, Interval *out)
{
    int64_t number;
    Interval a, b;
    if (is_number(value, &number))
        return keep_interval(number, number, out);
    if (value->op == IR_PHI) {
        const IrLoop *loop = counted_by(unroll, value);
        if (!loop)
            return false;
        needs[place_of(unroll, loop)] = true;
        *out = unroll->counted[place_of(unroll, loop)];
        return true;
    }
    if (depth == 0 || (value->op != IR_ADD && value->op != IR_SUB) ||
        !interval_of(unroll, value->operands[0], depth - 1, needs, &a) ||
        !interval_of(unroll, value->operands[1], depth - 1, needs, &b))
        return false;
    return value->op == IR_ADD ? keep_interval(a.low + b.low, a.high + b.high, out)
                               : keep_interval(a.low - b.high, a.high - b.low, out);
}

/* Upwards below an end, or downwards above one, by a number. Returns the most trips; 0: it does not. */
static int64_t trips_of(const Unroll *unroll, const IrInduction *counts, bool *needs, Interval *counted)
{
    Interval start, end;
    int64_t step;
    bool rises = counts->comparison == IR_LT, falls = counts->comparison == IR_GT;
    if ((!rises && !falls) || counts->exit != 1 || !is_number(counts->step, &step) || step == 0 ||
        (step > 0) != rises || step > FARTHEST || step < -FARTHEST ||
        !interval_of(unroll, counts->start, DEEPEST, needs, &start) ||
        !interval_of(unroll, counts->bound, DEEPEST, needs, &end))
        return 0;
    int64_t distance = rises ? end.high - start.low : start.high - end.low, size = rises ? step : -step;
    *counted = rises ? (Interval){start.low, end.high > start.low ? end.high - 1 : start.low}
                     : (Interval){end.low < start.high ? end.low + 1 : start.high, start.high};
    int64_t trips = distance > 0 ? (distance + size - 1) / size : 0;
    return trips <= unroll->limits->trips ? trips : 0;
}

/* --- loops that double or halve ------------------------------------------------------------------------------------ */

/* A variable of the header, how each way back changes it, and the header's test of it. */
typedef struct Scaled {
    const IrValue *variable, *change, *test;
    bool first_stays;
} Scaled;

static bool has_number(const IrValue *value, const IrValue *variable)
{
    return value->operand_count == 2 && value->operands[0] == variable && value->operands[1]->op == IR_CONST &&
           type_is_integer(value->operands[1]->type);
}

/* By a number, such as `half *= 2` and `half //= 2`; the same on every way back. One number on every way in. */
static bool is_scaled(const IrGraph *graph, const IrLoop *loop, Scaled *scaled, int64_t *start)
{
    bool has_start = false;
    for (uint32_t i = 0; i < scaled->variable->operand_count; i++) {
        const IrValue *operand = scaled->variable->operands[i];
        if (ir_loop_has(graph, loop, loop->header->predecessors[i])) {
            if (scaled->change && scaled->change != operand)
                return false;
            scaled->change = operand;
        } else if (operand->op != IR_CONST || (has_start && operand->integer != *start)) {
            return false;
        } else {
            *start = operand->integer;
            has_start = true;
        }
    }
    return has_start && scaled->change && has_number(scaled->change, scaled->variable);
}

/* The test is of the variable and a number, or whether the variable is 0. */
static bool read_scaled(const IrGraph *graph, const IrLoop *loop, Scaled *scaled, int64_t *start)
{
    const IrValue *branch = loop->header->last;
    if (branch->op != IR_BRANCH)
        return false;
    const IrValue *test = scaled->test = branch->operands[0];
    scaled->first_stays = ir_loop_has(graph, loop, branch->targets[0]);
    bool is_of_number = ir_is_comparison(test->op) && has_number(test, test->operands[0]);
    if (scaled->first_stays == ir_loop_has(graph, loop, branch->targets[1]) ||
        (!is_of_number && test->op != IR_CONVERT))
        return false;
    scaled->variable = test->operands[0];
    return scaled->variable->op == IR_PHI && scaled->variable->block == loop->header &&
           type_is_integer(scaled->variable->type) && is_scaled(graph, loop, scaled, start);
}

static bool stays(const Scaled *scaled, int64_t variable)
{
    int64_t number = scaled->test->op == IR_CONVERT ? 0 : scaled->test->operands[1]->integer;
    switch (scaled->test->op) {
    case IR_LT: return (variable < number) == scaled->first_stays;
    case IR_LE: return (variable <= number) == scaled->first_stays;
    case IR_GT: return (variable > number) == scaled->first_stays;
    case IR_GE: return (variable >= number) == scaled->first_stays;
    case IR_EQ: return (variable == number) == scaled->first_stays;
    default: return (variable != number) == scaled->first_stays;
    }
}

/* The variable after one more trip; -1: not looked at. */
static int64_t scale(const Scaled *scaled, int64_t variable)
{
    int64_t number = scaled->change->operands[1]->integer;
    if (number <= 0 || number > FARTHEST)
        return -1;
    switch (scaled->change->op) {
    case IR_MUL: return variable * number;
    case IR_FLOORDIV: return variable / number;
    case IR_SHL: return number < 20 ? variable << number : -1;
    case IR_SHR: return number < 20 ? variable >> number : 0;
    default: return -1;
    }
}

/* Its trips at most; 0: the loop is no such one. */
static int64_t scaled_trips(const Unroll *unroll, const IrLoop *loop, const IrValue **variable, Interval *counted)
{
    Scaled scaled = {0};
    int64_t trips = 0, now = 0;
    if (!unroll->limits->scaled || !read_scaled(unroll->graph, loop, &scaled, &now))
        return 0;
    *variable = scaled.variable;
    *counted = (Interval){now, now};
    while (now >= 0 && now <= FARTHEST && stays(&scaled, now) && trips++ < unroll->limits->trips) {
        counted->low = now < counted->low ? now : counted->low;
        counted->high = now > counted->high ? now : counted->high;
        now = scale(&scaled, now);
    }
    return now >= 0 && now <= FARTHEST && !stays(&scaled, now) && trips <= unroll->limits->trips ? trips : 0;
}

/* --- all loops ------------------------------------------------------------------------------------------------------- */

/* Outer loops come before those inside of them. */
static void find_counters(Unroll *unroll)
{
    IrInduction counts;
    for (uint32_t i = 0; i < unroll->graph->loop_count; i++) {
        unroll->needs[i] = ARENA_ARRAY(unroll->arena, bool, unroll->graph->loop_count);
        const IrLoop *loop = &unroll->graph->loops[i];
        if (ir_induction(unroll->graph, loop, &counts))
            unroll->trips[i] = trips_of(unroll, &counts, unroll->needs[i], &unroll->counted[i]);
        else
            unroll->trips[i] = scaled_trips(unroll, loop, &counts.variable, &unroll->counted[i]);
        unroll->counters[i] = unroll->trips[i] ? counts.variable : NULL;
    }
}

/* Marks a loop, and those that it needs; they are outside of it, or before it. */
static void mark(const Unroll *unroll, uint32_t loop, bool *loops)
{
    loops[loop] = true;
    for (uint32_t i = 0; i < unroll->graph->loop_count; i++)
        if (unroll->needs[loop][i] && !loops[i])
            mark(unroll, i, loops);
}

/* --- indices ------------------------------------------------------------------------------------------------------ */

static bool is_arithmetic(const IrValue *value)
{
    return ir_op_info[value->op].flags & IR_FLAG_PURE && value->operand_count > 0 && type_is_scalar(value->type) &&
           value->op != IR_INTRINSIC && value->op != IR_CALL;
}

/* Whether unrolling makes a constant of an index, or one of several constants; marks the loops for it in `loops`, by their
 * place. */
static bool becomes_constant(const Unroll *unroll, const IrValue *index, bool *loops, const IrWay *way, int depth)
{
    IrWay here = {way, index};
    switch (index->op) {
    case IR_CONST: return true;
    case IR_EXTENT:
    case IR_STRIDE: return ir_memory_of(index->operands[0])->op == IR_LOCAL;
    case IR_PHI:
        if (ir_is_on_way(way, index))
            return true;
        if (counted_by(unroll, index))
            return mark(unroll, place_of(unroll, counted_by(unroll, index)), loops), true;
        way = &here;
        break;
    case IR_SELECT: break;
    default:
        if (!is_arithmetic(index))
            return false;
        break;
    }
    bool constant = depth > 0;
    for (uint32_t i = index->op == IR_SELECT; constant && i < index->operand_count; i++)
        constant = becomes_constant(unroll, index->operands[i], loops, way, depth - 1);
    if (index->op == IR_PHI && constant) { /* which of them it is, the trips of its loop say */
        const IrLoop *loop = unroll->graph->loop_of[index->block->id];
        bool is_header = loop && loop->header == index->block;
        if (is_header && !unroll->counters[place_of(unroll, loop)])
            return false;
        if (is_header)
            mark(unroll, place_of(unroll, loop), loops);
    }
    return constant;
}

/* What is done to the array at hand is known when its indices are; false: it must have an address. */
static bool is_plain_use(const Unroll *unroll, const IrValue *use, uint32_t operand, bool *loops)
{
    if (use->op == IR_CALL || use->op == IR_EXTENT || use->op == IR_STRIDE)
        return true;
    if (use->op == IR_INTRINSIC && intrinsic_info[use->intrinsic].family == FAMILY_WGMMA) /* all of it, in registers */
        return true;
    if (operand != 0 || (use->op != IR_LOAD && use->op != IR_STORE && use->op != IR_SUBARRAY))
        return false;
    uint32_t last = use->op == IR_STORE ? use->operand_count - 1 : use->operand_count;
    for (uint32_t i = 1; i < last; i++)
        if (!becomes_constant(unroll, use->operands[i], loops, NULL, DEEPEST))
            return false;
    return true;
}

static void choose(const Unroll *unroll, const bool *loops)
{
    for (uint32_t i = 0; i < unroll->graph->loop_count; i++)
        unroll->is_chosen[i] |= loops[i];
}

static bool is_small(const IrValue *local)
{
    int64_t bytes = local->type->element->size;
    for (int i = 0; i < local->type->ndim && bytes <= MOST_BYTES; i++)
        bytes *= local->storage->shape[i];
    return bytes <= MOST_BYTES;
}

/* Whether the program chooses, while it runs, which of several constants the index is. */
static bool is_choice(const Unroll *unroll, const IrValue *index, int depth)
{
    if (index->op == IR_SELECT || (index->op == IR_PHI && !counted_by(unroll, index)))
        return true;
    bool is_one = false;
    for (uint32_t i = 0; index->op != IR_PHI && depth && i < index->operand_count; i++)
        is_one |= is_choice(unroll, index->operands[i], depth - 1);
    return is_one;
}

/* An access whose index on one axis is a choice, on all others not. */
static void note_choice(const Unroll *unroll, const IrValue *access)
{
    const IrValue *array = access->operands[0];
    uint32_t chosen = 0;
    if (array->op != IR_LOCAL || access->hint || (access->op != IR_LOAD && access->op != IR_STORE) ||
        !type_is_scalar(array->type->element))
        return;
    ElementChoice choice = {0};
    for (uint32_t axis = 0; axis < array->type->ndim; axis++)
        if (is_choice(unroll, access->operands[1 + axis], DEEPEST)) {
            choice = (ElementChoice){.axis = axis, .count = (uint32_t)array->storage->shape[axis]};
            chosen++;
        }
    if (chosen == 1 && choice.count > 1 && choice.count <= MOST_CHOICES)
        unroll->choices[access->id] = choice;
}

static bool is_of(const IrValue *use, uint32_t operand, const IrValue *local)
{
    const IrValue *array = use->operands[operand];
    return array && array->type->kind == TYPE_ARRAY && ir_memory_of(array) == local;
}

/* Chooses the loops by which all indices of one array of the thread become constants, if all do. */
static void choose_for_array(Unroll *unroll, const IrValue *local)
{
    bool *loops = ARENA_ARRAY(unroll->arena, bool, unroll->graph->loop_count);
    for (const IrBlock *block = unroll->graph->function->first; block; block = block->next)
        for (const IrValue *use = block->first; use; use = use->next)
            for (uint32_t i = 0; i < use->operand_count; i++)
                if (is_of(use, i, local) && !is_plain_use(unroll, use, i, loops))
                    return;
    choose(unroll, loops);
    for (const IrBlock *block = unroll->graph->function->first; block; block = block->next)
        for (const IrValue *use = block->first; use; use = use->next)
            if (use->operand_count && is_of(use, 0, local))
                note_choice(unroll, use);
}

static void choose_for_pick(Unroll *unroll, const IrValue *pick)
{
    bool *loops = ARENA_ARRAY(unroll->arena, bool, unroll->graph->loop_count);
    if (becomes_constant(unroll, pick->operands[1], loops, NULL, 2))
        choose(unroll, loops);
}

/* --- size --------------------------------------------------------------------------------------------------------- */

/* By IrBlock.id: how often the block is there when the chosen loops are written out. */
static const int64_t *count_copies(const Unroll *unroll)
{
    uint32_t count = unroll->graph->function->block_count;
    int64_t *copies = ARENA_ARRAY(unroll->arena, int64_t, count);
    for (uint32_t id = 0; id < count; id++)
        copies[id] = 1;
    for (uint32_t i = 0; i < unroll->graph->loop_count; i++) {
        const IrLoop *loop = &unroll->graph->loops[i];
        for (uint32_t k = 1; unroll->is_chosen[i] && k < loop->block_count; k++)
            if (copies[loop->blocks[k]->id] <= unroll->limits->values)
                copies[loop->blocks[k]->id] *= unroll->trips[i];
        assert(copies[unroll->graph->order[0]->id] == 1); /* the entry is in no loop */
    }
    return copies;
}

static bool is_affordable(const Unroll *unroll)
{
    const int64_t *copies = count_copies(unroll);
    int64_t total = 0;
    for (uint32_t i = 0; i < unroll->graph->count; i++) {
        const IrBlock *block = unroll->graph->order[i];
        for (const IrValue *value = block->first; value && copies[block->id] > 1; value = value->next)
            total += copies[block->id] * (1 + OF_CHOICE * unroll->choices[value->id].count);
    }
    return total <= unroll->limits->values;
}

/* --- small loops ---------------------------------------------------------------------------------------------------- */

enum { OF_ROUTINE = 32, OF_KNOWN_DIVISOR = 4, DEEPEST_CALL = 4 };

static int64_t weight_of(const IrValue *value, int depth);

/* A short function is inlined. */
static int64_t weight_of_call(const IrFunc *function, int depth)
{
    int64_t weight = 0;
    if (function->lacks_body || function->assembly || depth == 0)
        return OF_ROUTINE;
    for (const IrBlock *block = function->first; block && weight < OF_ROUTINE; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            weight += weight_of(value, depth - 1);
    return weight < OF_ROUTINE ? weight : OF_ROUTINE;
}

/* Functions of math that are an instruction. */
static bool is_instruction(const IrValue *value)
{
    switch (value->op == IR_INTRINSIC ? value->intrinsic : INTRINSIC_COUNT) {
    case INTRINSIC_FLOOR:
    case INTRINSIC_CEIL:
    case INTRINSIC_TRUNC:
    case INTRINSIC_FABS:
    case INTRINSIC_FMIN:
    case INTRINSIC_FMAX: return true;
    default: return false;
    }
}

static int64_t weight_of(const IrValue *value, int depth)
{
    if (value->op == IR_CONST || value->op == IR_CONVERT || value->op == IR_PHI || value->op == IR_WRAP ||
        value->op == IR_GET || value->op == IR_TUPLE)
        return 0;
    if (value->op == IR_CALL)
        return weight_of_call(value->callee, depth);
    return ir_is_routine(value) && !is_instruction(value) ? OF_ROUTINE : 1;
}

int64_t weight_in_loop(const IrValue *value) { return weight_of(value, DEEPEST_CALL); }

/* What a value is in one trip of a loop that is written out: a division by its variable is one by a number. */
static int64_t weight_written_out(const IrValue *value, const IrValue *counter)
{
    bool divides = value->op == IR_FLOORDIV || value->op == IR_MOD;
    return divides && value->operands[1] == counter ? OF_KNOWN_DIVISOR : weight_in_loop(value);
}

/* Loops without others inside, of so few instructions that CUDA C writes them out. */
static void choose_small(Unroll *unroll)
{
    const IrGraph *graph = unroll->graph;
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        int64_t weight = 0;
        bool is_innermost = true;
        const IrLoop *loop = &graph->loops[i];
        for (uint32_t k = 0; k < loop->block_count; k++) {
            is_innermost &= graph->loop_of[loop->blocks[k]->id] == loop;
            for (const IrValue *value = loop->blocks[k]->first; value; value = value->next)
                weight += weight_written_out(value, unroll->counters[i]);
        }
        bool needs_none = !memchr(unroll->needs[i], true, graph->loop_count);
        if (unroll->counters[i] && is_innermost && needs_none && weight * unroll->trips[i] <= unroll->limits->small)
            unroll->is_chosen[i] = true;
    }
}

/* Whether the loops inside of it are written out, and there are some. */
static bool is_innermost_then(const Unroll *unroll, const IrLoop *loop)
{
    bool has_any = false;
    for (uint32_t k = 0; k < loop->block_count; k++) {
        const IrLoop *inner = unroll->graph->loop_of[loop->blocks[k]->id];
        if (inner != loop && !unroll->is_chosen[place_of(unroll, inner)])
            return false;
        has_any |= inner != loop;
    }
    return has_any;
}

/* Loops around others that are written out, as of a product of matrices, are too much to write out as well; but several
 * trips at a time read more at once, and count less. */
static const bool *choose_batches(const Unroll *unroll)
{
    enum { BATCH = 4, MOST_OF_BATCH = 1024 };
    const int64_t *copies = count_copies(unroll);
    bool *batches = ARENA_ARRAY(unroll->arena, bool, unroll->graph->loop_count);
    for (uint32_t i = 0; i < unroll->graph->loop_count; i++) {
        const IrLoop *loop = &unroll->graph->loops[i];
        int64_t weight = 0;
        if (!unroll->counters[i] || unroll->is_chosen[i] || unroll->trips[i] % BATCH != 0 ||
            !is_innermost_then(unroll, loop))
            continue;
        for (uint32_t k = 0; k < loop->block_count; k++)
            for (const IrValue *value = loop->blocks[k]->first; value; value = value->next)
                weight += weight_in_loop(value) * copies[loop->blocks[k]->id];
        batches[i] = weight * BATCH <= MOST_OF_BATCH;
    }
    return batches;
}

bool choose_unrolled(const IrGraph *graph, const UnrollLimits *limits, Arena *arena, UnrolledLoops *out)
{
    uint32_t count = graph->loop_count;
    *out = (UnrolledLoops){0};
    if (count == 0 || count > MOST_LOOPS)
        return false;
    Unroll unroll = {.graph = graph,
                     .limits = limits,
                     .arena = arena,
                     .counters = ARENA_ARRAY(arena, const IrValue *, count),
                     .trips = ARENA_ARRAY(arena, int64_t, count),
                     .counted = ARENA_ARRAY(arena, Interval, count),
                     .needs = ARENA_ARRAY(arena, bool *, count),
                     .is_chosen = ARENA_ARRAY(arena, bool, count),
                     .choices = ARENA_ARRAY(arena, ElementChoice, graph->function->value_count)};
    find_counters(&unroll);
    for (uint32_t i = 0; i < graph->count; i++)
        for (const IrValue *value = graph->order[i]->first; value; value = value->next)
            if (value->op == IR_LOCAL && is_small(value))
                choose_for_array(&unroll, value);
            else if (value->op == IR_PICK)
                choose_for_pick(&unroll, value);
    if (!is_affordable(&unroll)) {
        memset(unroll.is_chosen, 0, count * sizeof *unroll.is_chosen);
        memset(unroll.choices, 0, graph->function->value_count * sizeof *unroll.choices);
    }
    choose_small(&unroll);
    if (!is_affordable(&unroll))
        return false;
    *out = (UnrolledLoops){unroll.is_chosen, choose_batches(&unroll), unroll.choices};
    return true;
}

const bool *choose_unrolled_loops(const IrGraph *graph, const UnrollLimits *limits, Arena *arena)
{
    UnrolledLoops loops;
    return choose_unrolled(graph, limits, arena, &loops) ? loops.is_chosen : NULL;
}
