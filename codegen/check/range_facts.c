/* What conditions say of a value. `if i + 1 < n:` bounds i + 1, wherever it is computed again, and i. */
#include "codegen/check/ranges.h"

enum { DEEPEST_SAME = 6, MOST_DOMINATORS = 200 };

/* --- the same value ----------------------------------------------------------------------------------------------------- */

static bool is_comparable(const IrValue *value)
{
    switch (value->op) {
    case IR_CONST:
    case IR_EXTENT:
    case IR_GET:
    case IR_CONVERT:
    case IR_BITCAST:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_FLOORDIV:
    case IR_MOD:
    case IR_SHL:
    case IR_SHR:
    case IR_AND:
    case IR_MIN:
    case IR_MAX:
    case IR_NEG:
    case IR_WRAP: return true;
    case IR_INTRINSIC:
        return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER && ir_is_repeatable(value);
    default: return false;
    }
}

static bool has_same_immediate(const IrValue *a, const IrValue *b)
{
    switch (a->op) {
    case IR_CONST: return type_is_integer(a->type) && a->integer == b->integer;
    case IR_EXTENT:
    case IR_GET: return a->index == b->index;
    case IR_INTRINSIC: return a->intrinsic == b->intrinsic;
    default: return true;
    }
}

/* Whether both have the same value wherever both have been computed. */
static bool is_same(const IrValue *a, const IrValue *b, int depth)
{
    if (a == b)
        return true;
    if (depth == 0 || a->op != b->op || !is_comparable(a) || !type_equal(a->type, b->type) ||
        a->operand_count != b->operand_count || !has_same_immediate(a, b))
        return false;
    for (uint32_t i = 0; i < a->operand_count; i++)
        if (!is_same(a->operands[i], b->operands[i], depth - 1))
            return false;
    return true;
}

/* --- one comparison ----------------------------------------------------------------------------------------------------- */

static RangeOp range_op(IrOp op)
{
    switch (op) {
    case IR_LT: return RANGE_LT;
    case IR_LE: return RANGE_LE;
    case IR_GT: return RANGE_GT;
    case IR_GE: return RANGE_GE;
    case IR_EQ: return RANGE_EQ;
    case IR_NE: return RANGE_NE;
    default: return RANGE_OP_COUNT;
    }
}

typedef struct Fact {
    IrOp op;
    const IrValue *left, *right;
    Place place; /* where it was tested */
} Fact;

/* a - b where a and b were compared. */
static uint32_t narrow_difference(Ranges *r, const IrValue *value, uint32_t node, const Fact *fact)
{
    bool is_forward =
        is_same(value->operands[0], fact->left, DEEPEST_SAME) && is_same(value->operands[1], fact->right, DEEPEST_SAME);
    bool is_backward = !is_forward && is_same(value->operands[0], fact->right, DEEPEST_SAME) &&
                       is_same(value->operands[1], fact->left, DEEPEST_SAME);
    if (!is_forward && !is_backward)
        return node;
    RangeOp op = range_op(is_forward ? fact->op : ir_mirrored(fact->op));
    return range_node(r, op, value->type, node, range_between(r, value->type, 0, 0), RANGE_NONE, 0, 0);
}

/* The comparison is of a sum or difference that the value is a part of. */
static uint32_t narrow_part(Ranges *r, const Context *context, const IrValue *value, uint32_t node, const Fact *fact)
{
    const IrValue *whole = fact->left;
    if ((whole->op != IR_ADD && whole->op != IR_SUB) || !type_equal(whole->type, value->type))
        return node;
    bool is_first = is_same(whole->operands[0], value, DEEPEST_SAME);
    if (!is_first && (whole->op == IR_SUB || !is_same(whole->operands[1], value, DEEPEST_SAME)))
        return node;
    uint32_t bound = range_of(r, context, fact->right, fact->place);
    uint32_t other = range_of(r, context, whole->operands[is_first], fact->place);
    return range_node(r, range_op(fact->op), value->type, node, bound, other, whole->op == IR_SUB ? -1 : 1, 0);
}

/* The comparison is of a quotient of the value. */
static uint32_t narrow_dividend(Ranges *r, const Context *context, const IrValue *value, uint32_t node,
                                const Fact *fact)
{
    const IrValue *quotient = fact->left;
    if (quotient->op != IR_FLOORDIV || !type_equal(quotient->type, value->type) ||
        !is_same(quotient->operands[0], value, DEEPEST_SAME))
        return node;
    uint32_t whole = range_of(r, context, quotient, fact->place);
    whole = range_node(r, range_op(fact->op), value->type, whole, range_of(r, context, fact->right, fact->place),
                       RANGE_NONE, 0, 0);
    uint32_t divisor = range_of(r, context, quotient->operands[1], fact->place);
    return range_node(r, RANGE_DIVIDED, value->type, node, divisor, whole, 0, 0);
}

static uint32_t narrow_by_fact(Ranges *r, const Context *context, const IrValue *value, uint32_t node, const Fact *fact)
{
    if (is_same(fact->left, value, DEEPEST_SAME))
        return range_node(r, range_op(fact->op), value->type, node, range_of(r, context, fact->right, fact->place),
                          RANGE_NONE, 0, 0);
    node = narrow_dividend(r, context, value, node, fact);
    return narrow_part(r, context, value, node, fact);
}

/* --- conditions ------------------------------------------------------------------------------------------------------------ */

/* x in `if x:` */
static uint32_t narrow_by_truth(Ranges *r, const IrValue *value, uint32_t node, const IrValue *tested, bool holds)
{
    if (!type_is_integer(tested->type) || !is_same(tested, value, DEEPEST_SAME))
        return node;
    return range_node(r, holds ? RANGE_NE : RANGE_EQ, value->type, node, range_between(r, value->type, 0, 0),
                      RANGE_NONE, 0, 0);
}

/* Of what the source has as a constant: which operand a select takes; -1: not known. */
static int constant_choice(const IrValue *condition)
{
    const IrValue *a = condition->operand_count == 2 ? condition->operands[0] : NULL;
    const IrValue *b = a ? condition->operands[1] : NULL;
    if (!a || a->op != IR_CONST || b->op != IR_CONST || a->type->kind != TYPE_INT)
        return -1;
    return condition->op == IR_GT ? a->integer <= b->integer : condition->op == IR_LT ? a->integer >= b->integer : -1;
}

static uint32_t narrow_by_ways(Ranges *r, const Context *context, const IrValue *value, uint32_t node, Place place,
                               const IrBlock *above);

/* Whether the phi's operand on this way is known not to be so: the way is taken because it is not, or it is a constant. */
static bool is_known_not(const IrValue *phi, uint32_t way, bool holds)
{
    const IrValue *operand = phi->operands[way], *branch = phi->block->predecessors[way]->last;
    if (operand->op == IR_CONST)
        return (operand->integer != 0) != holds;
    return branch->op == IR_BRANCH && branch->operands[0] == operand && branch->targets[0] != branch->targets[1] &&
           branch->targets[holds] == phi->block;
}

/* A variable that keeps `a and b`, or `a or b` that does not hold: only one way to it makes it so, on which the last one of
 * the conditions was looked at, after the others. In a loop the ways to two of them may lead past each other, without end
 * but for the limits of depth. */
static uint32_t narrow_by_kept(Ranges *r, const Context *context, const IrValue *value, uint32_t node,
                               const IrValue *phi, bool holds)
{
    const IrGraph *graph = context->graph;
    uint32_t way = phi->operand_count;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        if (is_known_not(phi, i, holds))
            continue;
        if (way < phi->operand_count)
            return node;
        way = i;
    }
    const IrBlock *last = way < phi->operand_count ? phi->block->predecessors[way] : NULL;
    if (!last || ir_dominates(graph, phi->block, last) || !range_goes_deeper(r))
        return node;
    node = narrow_by(r, context, value, node, phi->operands[way], holds, (Place){last, NULL});
    node = narrow_by_ways(r, context, value, node, (Place){last, phi->block}, graph->dominator[phi->block->id]);
    r->depth--;
    return node;
}

uint32_t narrow_by(Ranges *r, const Context *context, const IrValue *value, uint32_t node, const IrValue *condition,
                   bool holds, Place place)
{
    bool is_bool = condition->type->kind == TYPE_BOOL;
    if (is_bool && condition->op == (holds ? IR_AND : IR_OR)) {
        node = narrow_by(r, context, value, node, condition->operands[0], holds, place);
        return narrow_by(r, context, value, node, condition->operands[1], holds, place);
    }
    if (is_bool && condition->op == IR_NOT)
        return narrow_by(r, context, value, node, condition->operands[0], !holds, place);
    if (is_bool && condition->op == IR_PHI)
        return narrow_by_kept(r, context, value, node, condition, holds);
    if (condition->op == IR_SELECT && constant_choice(condition->operands[0]) >= 0)
        return narrow_by(r, context, value, node, condition->operands[1 + constant_choice(condition->operands[0])],
                         holds, place);
    if (condition->op == IR_CONVERT)
        return narrow_by_truth(r, value, node, condition->operands[0], holds);
    if (!ir_is_comparison(condition->op) || !type_is_integer(condition->operands[0]->type))
        return node;
    Fact fact = {holds ? condition->op : ir_negated(condition->op), condition->operands[0], condition->operands[1],
                 place};
    Fact mirror = {ir_mirrored(fact.op), fact.right, fact.left, place};
    node = narrow_by_fact(r, context, value, node, &fact);
    node = narrow_by_fact(r, context, value, node, &mirror);
    return value->op == IR_SUB && type_equal(value->type, fact.left->type) ? narrow_difference(r, value, node, &fact)
                                                                           : node;
}

/* By the branch that leads from one block to the other. */
static uint32_t narrow_by_edge(Ranges *r, const Context *context, const IrValue *value, uint32_t node,
                               const IrBlock *from, const IrBlock *to)
{
    const IrValue *branch = from->last;
    if (branch->op != IR_BRANCH || branch->targets[0] == branch->targets[1])
        return node;
    return narrow_by(r, context, value, node, branch->operands[0], branch->targets[0] == to, (Place){from, NULL});
}

/* By the edge, and by those that lead to the place from below a block that dominates it; NULL: from anywhere. */
static uint32_t narrow_by_ways(Ranges *r, const Context *context, const IrValue *value, uint32_t node, Place place,
                               const IrBlock *above)
{
    int left = MOST_DOMINATORS;
    if (place.edge)
        node = narrow_by_edge(r, context, value, node, place.block, place.edge);
    for (const IrBlock *block = place.block; block && block != above && left--;
         block = context->graph->dominator[block->id])
        if (block->predecessor_count == 1)
            node = narrow_by_edge(r, context, value, node, block->predecessors[0], block);
    return node;
}

uint32_t narrow(Ranges *r, const Context *context, const IrValue *value, uint32_t node, Place place)
{
    return narrow_by_ways(r, context, value, node, place, NULL);
}
