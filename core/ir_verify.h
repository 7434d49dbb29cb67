/* Shared by the two halves of the verifier: ir_verify.c (functions, blocks, dominance) and ir_verify_op.c (the rule of
 * each operation). */
#ifndef CUJIT_CORE_IR_VERIFY_H
#define CUJIT_CORE_IR_VERIFY_H

#include "core/ir.h"

/* Records that the value breaks a rule: "block 1, %3 = add: ...". Always false. */
bool verify_fail(Diag *diag, const IrValue *value, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Operand count, operand types, result type and immediate of one value. Its operands are known not to be NULL. */
bool verify_operation(const IrValue *value, Diag *diag);

#endif
