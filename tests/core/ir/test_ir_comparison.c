/* Comparisons from the other side, and what holds where they do not: by the numbers they compare. */
#include "check.h"
#include "core/ir/ir.h"
#include "core_tests.h"

static bool holds(IrOp op, int a, int b)
{
    switch (op) {
    case IR_EQ: return a == b;
    case IR_NE: return a != b;
    case IR_LT: return a < b;
    case IR_LE: return a <= b;
    case IR_GT: return a > b;
    case IR_GE: return a >= b;
    default: return CHECK(false);
    }
}

void test_ir_comparison(void)
{
    int count = 0;
    for (IrOp op = 0; op < IR_OP_COUNT; op++) {
        if (!ir_is_comparison(op))
            continue;
        count++;
        for (int a = 0; a < 3; a++) {
            CHECK(holds(op, a, 1) == holds(ir_mirrored(op), 1, a));
            CHECK(holds(op, a, 1) != holds(ir_negated(op), a, 1));
        }
    }
    CHECK(count == 6 && !ir_is_comparison(IR_MIN));
}
