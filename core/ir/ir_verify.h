/* Shared by the parts of the verifier: ir_verify.c (functions, blocks, dominance), ir_verify_op.c (the rule of each
 * operation), ir_verify_intrinsic.c (the row of each intrinsic). */
#ifndef CUJIT_CORE_IR_VERIFY_H
#define CUJIT_CORE_IR_VERIFY_H

#include "core/ir/ir.h"

/* Records that the value breaks a rule: "block 1, %3 = add: ...". Always false. */
bool verify_fail(Diag *diag, const IrValue *value, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Operand count, operand types, result type and immediate of one value. Its operands are known not to be NULL. */
bool verify_operation(const IrValue *value, Diag *diag);
/* Likewise of an INTRINSIC value. */
bool verify_intrinsic(const IrValue *value, Diag *diag);

/* --- ir_expect.c: false with a Diag where it is not so ---------------------------------------------------------------- */
bool fail_type(Diag *diag, const IrValue *value, const char *what, const Type *type, const char *rule);
bool fail_operand(Diag *diag, const IrValue *value, uint32_t i, const char *rule);
bool expect_operand(Diag *diag, const IrValue *value, uint32_t i, const Type *type);
/* All operands have that type. */
bool expect_all(Diag *diag, const IrValue *value, const Type *type);
bool expect_result(Diag *diag, const IrValue *value, const Type *type);
bool expect_count(Diag *diag, const IrValue *value, uint32_t count);
/* Operands from `first` to before `end` are int64. */
bool expect_int64(Diag *diag, const IrValue *value, uint32_t first, uint32_t end);

#endif
