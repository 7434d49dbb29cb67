/* Variables of loops. What such a variable may be is guessed from how trips change it (a range that rises from where it
 * starts, that falls, or that comes nearer to 0), and proven when the launch runs the plan: where what a trip makes of the
 * guess lies in the guess, all trips do. The condition of the loop bounds the other end. */
#include "codegen/check/ranges.h"

typedef enum Change { UNCHANGED, RISES, FALLS, SHRINKS, OTHERWISE } Change;

enum { MOST_STEPS = 64, SMALL = 1024 };

static Change either(Change a, Change b) { return a == UNCHANGED || a == b ? b : b == UNCHANGED ? a : OTHERWISE; }

typedef struct Search {
    const IrValue *phi;
    int steps;
    const IrValue *seen[MOST_STEPS];
    int seen_count;
    bool is_fast; /* it changes by more than small constants */
} Search;

static bool was_seen(Search *search, const IrValue *value)
{
    for (int i = 0; i < search->seen_count; i++)
        if (search->seen[i] == value)
            return true;
    if (search->seen_count < MOST_STEPS)
        search->seen[search->seen_count++] = value;
    return false;
}

/* The sign of what is added, as far as the source has it; sums without one rise. */
static Change change_by(Search *search, const IrValue *step, bool is_added)
{
    bool is_small = step->op == IR_CONST && step->type->size == 8 && step->integer >= -SMALL && step->integer <= SMALL;
    search->is_fast |= !is_small;
    bool is_negative = step->op == IR_CONST && step->integer < 0;
    return is_negative == is_added ? FALLS : RISES;
}

/* How the value comes from the phi. */
static Change change_of(Search *search, const IrValue *value)
{
    if (value == search->phi)
        return UNCHANGED;
    if (--search->steps < 0)
        return OTHERWISE;
    switch (value->op) {
    case IR_PHI: {
        Change change = UNCHANGED;
        if (was_seen(search, value))
            return UNCHANGED;
        for (uint32_t i = 0; i < value->operand_count; i++)
            change = either(change, change_of(search, value->operands[i]));
        return change;
    }
    case IR_SELECT: return either(change_of(search, value->operands[1]), change_of(search, value->operands[2]));
    case IR_ADD: {
        bool is_first = value->operands[1]->op == IR_CONST || change_of(search, value->operands[0]) != OTHERWISE;
        Change inner = change_of(search, value->operands[!is_first]);
        return either(inner, change_by(search, value->operands[is_first], true));
    }
    case IR_SUB: return either(change_of(search, value->operands[0]), change_by(search, value->operands[1], false));
    case IR_MUL:
    case IR_SHL: search->is_fast = true; return either(change_of(search, value->operands[0]), RISES);
    case IR_FLOORDIV:
    case IR_SHR:
    case IR_AND:
    case IR_MOD: return either(change_of(search, value->operands[0]), SHRINKS);
    case IR_CONVERT: return change_of(search, value->operands[0]);
    default: return OTHERWISE;
    }
}

/* *slow: 1 or -1 where no program runs long enough for the variable to rise or fall out of its 64 bits. */
static RangeOp guess(const IrValue *phi, const IrValue *const *nexts, uint32_t count, int *slow)
{
    Change change = UNCHANGED;
    bool is_fast = false;
    for (uint32_t i = 0; i < count; i++) {
        Search search = {.phi = phi, .steps = MOST_STEPS};
        change = either(change, change_of(&search, nexts[i]));
        is_fast |= search.is_fast;
    }
    *slow = is_fast ? 0 : change == RISES ? 1 : change == FALLS ? -1 : 0;
    static const RangeOp ops[] = {RANGE_SHRINKING, RANGE_RISING, RANGE_FALLING, RANGE_SHRINKING, RANGE_WHOLE};
    return ops[change];
}

/* The union of what the phi gets from inside of the loop, or from outside. */
static uint32_t united(Ranges *r, const Context *context, const IrLoop *loop, const IrValue *phi, bool inside)
{
    uint32_t node = RANGE_NONE;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        const IrBlock *from = phi->block->predecessors[i];
        if (ir_loop_has(context->graph, loop, from) != inside)
            continue;
        uint32_t one = range_of(r, context, phi->operands[i], (Place){from, phi->block});
        node = node == RANGE_NONE ? one : range_node(r, RANGE_UNION, phi->type, node, one, RANGE_NONE, 0, 0);
    }
    return node == RANGE_NONE ? range_whole(r, phi->type) : node;
}

uint32_t range_of_loop(Ranges *r, const Context *context, const IrLoop *loop, const IrValue *phi)
{
    const IrValue **nexts = ARENA_ARRAY(r->arena, const IrValue *, phi->operand_count);
    uint32_t count = 0, start = united(r, context, loop, phi, false);
    for (uint32_t i = 0; i < phi->operand_count; i++)
        if (ir_loop_has(context->graph, loop, phi->block->predecessors[i]))
            nexts[count++] = phi->operands[i];
    int slow;
    RangeOp op = guess(phi, nexts, count, &slow);
    uint32_t assumed = op == RANGE_WHOLE ? range_whole(r, phi->type)
                                         : range_node(r, op, phi->type, start, RANGE_NONE, RANGE_NONE, slow, 0);
    Assumption assumption = {.context = context, .phi = phi, .node = assumed};
    ranges_assume(r, &assumption);
    uint32_t next = united(r, context, loop, phi, true);
    ranges_forget(r);
    return range_node(r, RANGE_LOOP, phi->type, start, assumed, next, slow, 0);
}
