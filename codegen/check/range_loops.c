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

/* --- variables of one loop together --------------------------------------------------------------------------------------- */

/* `low` and `high` of a search, say, each of which becomes what is made of both. */
enum { MOST_TOGETHER = 4 };

typedef struct Group {
    const IrValue *phis[MOST_TOGETHER];
    uint32_t count;
    const IrValue *seen[MOST_STEPS];
    uint32_t seen_count;
    bool is_too_much;
    bool has_bits, has_extremes; /* operations on bits, or minima and maxima, are among what they are made by */
    bool has_choices; /* or what one of several branches, or none, leaves: `if distance < best: best = distance` */
} Group;

static bool has_seen(Group *group, const IrValue *value)
{
    for (uint32_t i = 0; i < group->seen_count; i++)
        if (group->seen[i] == value)
            return true;
    group->is_too_much |= group->seen_count == MOST_STEPS;
    if (!group->is_too_much)
        group->seen[group->seen_count++] = value;
    return false;
}

static void join(Group *group, const IrValue *phi)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->phis[i] == phi)
            return;
    group->is_too_much |= group->count == MOST_TOGETHER;
    if (!group->is_too_much)
        group->phis[group->count++] = phi;
}

/* Finds the phis of the header that the value is made of. */
static void find_parts(Group *group, const IrBlock *header, const IrValue *value)
{
    if (!type_is_integer(value->type) || value->op == IR_CONST || group->is_too_much || has_seen(group, value))
        return;
    if (value->op == IR_PHI && value->block == header)
        join(group, value);
    group->has_bits |= value->op == IR_XOR || value->op == IR_OR;
    group->has_extremes |= value->op == IR_MIN || value->op == IR_MAX;
    group->has_choices |= value->op == IR_SELECT || (value->op == IR_PHI && value->block != header);
    bool is_made = value->op == IR_PHI || value->op == IR_SELECT ||
                   (ir_op_info[value->op].flags & IR_FLAG_PURE && value->op != IR_INTRINSIC && value->op != IR_CALL);
    for (uint32_t i = value->op == IR_SELECT; is_made && i < value->operand_count; i++)
        find_parts(group, header, value->operands[i]);
}

/* Those that are made of each other with the phi, itself among them; false: there are too many, or they differ in type. */
static bool find_group(Group *group, const Context *context, const IrLoop *loop, const IrValue *phi)
{
    *group = (Group){.phis = {phi}, .count = 1};
    for (uint32_t k = 0; k < group->count; k++) {
        if (!type_equal(group->phis[k]->type, phi->type))
            return false;
        for (uint32_t i = 0; i < phi->operand_count; i++)
            if (ir_loop_has(context->graph, loop, phi->block->predecessors[i]))
                find_parts(group, phi->block, group->phis[k]->operands[i]);
    }
    return !group->is_too_much;
}

static uint32_t united_all(Ranges *r, const Context *context, const IrLoop *loop, const Group *group, bool inside)
{
    uint32_t node = united(r, context, loop, group->phis[0], inside);
    for (uint32_t i = 1; i < group->count; i++)
        node = range_node(r, RANGE_UNION, group->phis[0]->type, node, united(r, context, loop, group->phis[i], inside),
                          RANGE_NONE, 0, 0);
    return node;
}

/* The guess: none of them leaves what they start in, all together; or that and all words, of 32 bits. */
static uint32_t range_of_group(Ranges *r, const Context *context, const IrLoop *loop, const Group *group,
                               uint32_t words)
{
    const Type *type = group->phis[0]->type;
    uint32_t start = united_all(r, context, loop, group, false);
    if (words != RANGE_NONE)
        start = range_node(r, RANGE_UNION, type, start, words, RANGE_NONE, 0, 0);
    Assumption assumptions[MOST_TOGETHER];
    for (uint32_t i = 0; i < group->count; i++) {
        assumptions[i] = (Assumption){.context = context, .phi = group->phis[i], .node = start};
        ranges_assume(r, &assumptions[i]);
    }
    uint32_t next = united_all(r, context, loop, group, true);
    for (uint32_t i = 0; i < group->count; i++)
        ranges_forget(r);
    return range_node(r, RANGE_LOOP, type, start, start, next, 0, 0);
}

/* What is in one range and in another. */
static uint32_t both(Ranges *r, const Type *type, uint32_t one, uint32_t other)
{
    one = range_node(r, RANGE_GE, type, one, other, RANGE_NONE, 0, 0);
    return range_node(r, RANGE_LE, type, one, other, RANGE_NONE, 0, 0);
}

/* All together, and the first one alone: the others may leave 32 bits, and what it takes of them may not. */
static uint32_t range_of_group_in_words(Ranges *r, const Context *context, const IrLoop *loop, const Group *group)
{
    const Type *type = group->phis[0]->type;
    uint32_t words = range_between(r, type, INT32_MIN, INT32_MAX);
    uint32_t node = range_of_group(r, context, loop, group, words);
    if (group->count == 1)
        return node;
    const Group alone = {.phis = {group->phis[0]}, .count = 1};
    return both(r, type, node, range_of_group(r, context, loop, &alone, words));
}

/* The phi by itself: the guess is of how trips change it. */
static uint32_t range_of_one(Ranges *r, const Context *context, const IrLoop *loop, const IrValue *phi, RangeOp op,
                             int slow)
{
    uint32_t start = united(r, context, loop, phi, false);
    uint32_t assumed = op == RANGE_WHOLE ? range_whole(r, phi->type)
                                         : range_node(r, op, phi->type, start, RANGE_NONE, RANGE_NONE, slow, 0);
    Assumption assumption = {.context = context, .phi = phi, .node = assumed};
    ranges_assume(r, &assumption);
    uint32_t next = united(r, context, loop, phi, true);
    ranges_forget(r);
    return range_node(r, RANGE_LOOP, phi->type, start, assumed, next, slow, 0);
}

/* --- sums ------------------------------------------------------------------------------------------------------------------ */

/* What a trip adds to the phi on the way to the value, each addition at most once; RANGE_NONE: it is not such a sum. */
static uint32_t increase(Ranges *r, const Context *context, const IrLoop *loop, const IrValue *phi,
                         const IrValue *value, int depth)
{
    if (value == phi)
        return range_between(r, phi->type, 0, 0);
    bool is_merge = value->op == IR_PHI || value->op == IR_SELECT;
    bool is_sum = value->op == IR_ADD && value->hint != IR_SATURATES;
    if (depth == 0 || !(is_merge || is_sum) || value->block == loop->header ||
        context->graph->loop_of[value->block->id] != loop)
        return RANGE_NONE;
    uint32_t node = RANGE_NONE;
    for (uint32_t i = value->op == IR_SELECT; i < value->operand_count; i++) {
        uint32_t one = increase(r, context, loop, phi, value->operands[i], depth - 1);
        if (is_sum && one != RANGE_NONE)
            return range_exact(r, RANGE_ADD, one,
                               range_of(r, context, value->operands[!i], (Place){value->block, NULL}));
        if (is_merge && one == RANGE_NONE)
            return RANGE_NONE;
        node = node == RANGE_NONE ? one : range_exact(r, RANGE_UNION, node, one);
    }
    return is_merge ? node : RANGE_NONE;
}

/* At most, in a loop that counts to an end by another variable: that has a test which bounds it. */
static uint32_t trips_of(Ranges *r, const Context *context, const IrLoop *loop, const IrValue *phi)
{
    enum { MOST_STEP = 1024 };
    IrInduction counts;
    if (!ir_induction(context->graph, loop, &counts) || counts.variable == phi || counts.comparison != IR_LT ||
        counts.exit != 1 || counts.step->op != IR_CONST || counts.step->integer < 1 ||
        counts.step->integer > MOST_STEP || counts.start->type->kind != TYPE_INT ||
        !ir_is_invariant(context->graph, loop, counts.bound))
        return RANGE_NONE;
    Place before = {counts.variable->block->predecessors[0], NULL};
    for (uint32_t i = 0; i < counts.variable->operand_count; i++)
        if (!ir_loop_has(context->graph, loop, counts.variable->block->predecessors[i]))
            before.block = counts.variable->block->predecessors[i];
    uint32_t distance = range_exact(r, RANGE_SUB, range_of(r, context, counts.bound, before),
                                    range_of(r, context, counts.start, before));
    uint32_t none = range_between(r, TYPE_OF(INT64), 0, 0);
    return range_exact(r, RANGE_UNION, none, range_exact(r, RANGE_MAX, none, distance));
}

/* Where it starts, and as often as there are trips what one of them adds; all of the type where nothing is known. */
static uint32_t range_of_sum(Ranges *r, const Context *context, const IrLoop *loop, const IrValue *phi)
{
    enum { DEEPEST = 6 };
    uint32_t trips = trips_of(r, context, loop, phi), each = RANGE_NONE;
    bool is_sum = trips != RANGE_NONE;
    Assumption anything = {.context = context, .phi = phi, .node = range_whole(r, phi->type)};
    ranges_assume(r, &anything);
    for (uint32_t i = 0; is_sum && i < phi->operand_count; i++) {
        if (!ir_loop_has(context->graph, loop, phi->block->predecessors[i]))
            continue;
        uint32_t one = increase(r, context, loop, phi, phi->operands[i], DEEPEST);
        is_sum = one != RANGE_NONE;
        each = each == RANGE_NONE ? one : range_exact(r, RANGE_UNION, each, one);
    }
    ranges_forget(r);
    if (!is_sum || each == RANGE_NONE)
        return range_whole(r, phi->type);
    uint32_t start = united(r, context, loop, phi, false);
    return range_node(r, RANGE_ADD, phi->type, start, range_exact(r, RANGE_MUL, trips, each), RANGE_NONE, 0, 0);
}

uint32_t range_of_loop(Ranges *r, const Context *context, const IrLoop *loop, const IrValue *phi)
{
    const IrValue **nexts = ARENA_ARRAY(r->arena, const IrValue *, phi->operand_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < phi->operand_count; i++)
        if (ir_loop_has(context->graph, loop, phi->block->predecessors[i]))
            nexts[count++] = phi->operands[i];
    int slow;
    Group group;
    RangeOp op = guess(phi, nexts, count, &slow);
    uint32_t one = range_of_one(r, context, loop, phi, op, slow);
    if (phi->type->size == 8 && (op == RANGE_RISING || op == RANGE_FALLING))
        return both(r, phi->type, one, range_of_sum(r, context, loop, phi));
    if (op != RANGE_WHOLE || !find_group(&group, context, loop, phi))
        return one;
    const Type *type = phi->type;
    bool is_merged = group.has_extremes || group.has_choices;
    if (group.count > 1)
        one = both(r, type, one, range_of_group(r, context, loop, &group, RANGE_NONE));
    if (type->size < 8)
        return one;
    if (group.has_bits)
        one = both(r, type, one, range_of_group(r, context, loop, &group, range_between(r, type, 0, UINT32_MAX)));
    else if (is_merged && type->kind == TYPE_INT)
        one = both(r, type, one, range_of_group_in_words(r, context, loop, &group));
    return one;
}
