/* Comparisons of two values, seen from the other side. */
#include "core/ir/ir.h"

#include <assert.h>

static const struct {
    bool is_comparison;
    IrOp mirrored, negated;
} comparisons[IR_OP_COUNT] = {
    [IR_EQ] = {true, IR_EQ, IR_NE}, [IR_NE] = {true, IR_NE, IR_EQ}, [IR_LT] = {true, IR_GT, IR_GE},
    [IR_LE] = {true, IR_GE, IR_GT}, [IR_GT] = {true, IR_LT, IR_LE}, [IR_GE] = {true, IR_LE, IR_LT},
};

bool ir_is_comparison(IrOp op) { return comparisons[op].is_comparison; }

IrOp ir_mirrored(IrOp comparison)
{
    assert(ir_is_comparison(comparison));
    return comparisons[comparison].mirrored;
}

IrOp ir_negated(IrOp comparison)
{
    assert(ir_is_comparison(comparison));
    return comparisons[comparison].negated;
}
