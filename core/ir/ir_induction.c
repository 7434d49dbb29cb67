/* Which values may be computed again, which are the same in every trip of a loop, and which loops count. */
#include "core/ir/ir_graph.h"

#include <assert.h>

enum { MOST_STEPS = 48 }; /* back through what a value is made of */

/* --- one value ----------------------------------------------------------------------------------------------------------- */

bool ir_is_repeatable(const IrValue *value)
{
    switch (value->op) {
    case IR_PHI:
    case IR_LOCAL: /* memory of its own: again would be other memory */
    case IR_CELL: return false;
    case IR_INTRINSIC: return intrinsic_info[value->intrinsic].effects == EFFECT_NONE;
    default: return ir_op_info[value->op].flags & IR_FLAG_PURE;
    }
}

bool ir_is_routine(const IrValue *value)
{
    switch (value->op) {
    case IR_DIV:
    case IR_FLOORDIV:
    case IR_MOD:
    case IR_POW:
    case IR_POWI:
    case IR_CALL: return true;
    case IR_INTRINSIC: {
        IntrinsicKind kind = intrinsic_info[value->intrinsic].kind;
        return kind == INTRINSIC_KIND_MATH || kind == INTRINSIC_KIND_LIBDEVICE;
    }
    default: return false;
    }
}

bool ir_has_effect(const IrValue *value)
{
    if (value->op == IR_INTRINSIC)
        return intrinsic_info[value->intrinsic].effects != EFFECT_NONE;
    unsigned flags = ir_op_info[value->op].flags;
    return !(flags & (IR_FLAG_PURE | IR_FLAG_READS)) || flags & IR_FLAG_WRITES;
}

/* --- one loop ------------------------------------------------------------------------------------------------------------ */

/* As deep as there are steps left. */
static bool is_the_same(const IrGraph *graph, const IrLoop *loop, const IrValue *value, int *steps)
{
    if (!ir_loop_has(graph, loop, value->block))
        return true;
    if (!ir_is_repeatable(value) || --*steps < 0)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!is_the_same(graph, loop, value->operands[i], steps))
            return false;
    return true;
}

bool ir_is_invariant(const IrGraph *graph, const IrLoop *loop, const IrValue *value)
{
    int steps = MOST_STEPS;
    return is_the_same(graph, loop, value, &steps);
}

/* What a sum adds to the variable; NULL: it is no such sum. */
static const IrValue *added_to(const IrValue *variable, const IrValue *sum)
{
    if (sum->op != IR_ADD || (sum->operands[0] != variable && sum->operands[1] != variable))
        return NULL;
    return sum->operands[sum->operands[0] == variable];
}

/* All ways in bring one value, all ways back the sum of the variable and one value. */
static bool read_variable(const IrGraph *graph, const IrLoop *loop, IrInduction *out)
{
    const IrValue *variable = out->variable;
    assert(variable->operand_count == loop->header->predecessor_count);
    for (uint32_t i = 0; i < variable->operand_count; i++) {
        bool is_back = ir_loop_has(graph, loop, loop->header->predecessors[i]);
        const IrValue *operand = variable->operands[i];
        const IrValue *found = is_back ? added_to(variable, operand) : operand;
        const IrValue **known = is_back ? &out->step : &out->start;
        if (!found || (*known && *known != found))
            return false;
        *known = found;
        out->saturates |= is_back && operand->hint == IR_SATURATES;
    }
    assert(!out->step || type_equal(out->step->type, variable->type));
    return out->start && out->step && ir_is_invariant(graph, loop, out->step);
}

static bool is_counter(const IrLoop *loop, const IrValue *value)
{
    return value->op == IR_PHI && value->block == loop->header && type_is_integer(value->type);
}

/* Which side of the test is the variable and which target leaves the loop, so that the comparison can be turned to have the
 * variable at its left and to hold where the loop goes on. */
static bool read_test(const IrGraph *graph, const IrLoop *loop, IrInduction *out)
{
    const IrValue *branch = loop->header->last;
    if (branch->op != IR_BRANCH || !ir_is_comparison(branch->operands[0]->op))
        return false;
    out->test = branch->operands[0];
    bool first_stays = ir_loop_has(graph, loop, branch->targets[0]);
    if (first_stays == ir_loop_has(graph, loop, branch->targets[1]))
        return false;
    assert(out->test->operand_count == 2);
    int side = is_counter(loop, out->test->operands[0]) ? 0 : 1;
    out->exit = first_stays;
    out->variable = out->test->operands[side];
    out->bound = out->test->operands[1 - side];
    out->comparison = side ? ir_mirrored(out->test->op) : out->test->op;
    if (!first_stays)
        out->comparison = ir_negated(out->comparison);
    return is_counter(loop, out->variable) && out->comparison != IR_EQ && ir_is_invariant(graph, loop, out->bound);
}

bool ir_induction(const IrGraph *graph, const IrLoop *loop, IrInduction *out)
{
    *out = (IrInduction){0};
    return read_test(graph, loop, out) && read_variable(graph, loop, out);
}

int64_t ir_known_trips(const IrInduction *counts)
{
    enum { MOST_TRIPS = 1 << 20 };
    if (counts->start->op != IR_CONST || counts->bound->op != IR_CONST || counts->step->op != IR_CONST ||
        counts->step->integer <= 0 || counts->comparison != IR_LT || counts->exit != 1 ||
        counts->bound->integer <= counts->start->integer)
        return 0;
    uint64_t distance = (uint64_t)counts->bound->integer - (uint64_t)counts->start->integer;
    uint64_t step = (uint64_t)counts->step->integer;
    return distance < MOST_TRIPS ? (int64_t)((distance + step - 1) / step) : 0;
}

bool ir_is_on_way(const IrWay *way, const IrValue *phi)
{
    while (way && way->phi != phi)
        way = way->before;
    return way != NULL;
}
