/* Operators over scalars, tuples and constants: typing by promotion.def, conversion of the operands, emission. */
#ifndef CUJIT_FRONTEND_LOWER_OPERATOR_H
#define CUJIT_FRONTEND_LOWER_OPERATOR_H

#include "frontend/engine.h"

/* Numbers of operators: CPython's. */
enum {
#define BINARY(id, ...) NB_##id,
#include "core/type/operator.def"
};
enum {
#define COMPARE(id, ...) COMPARE_##id,
#include "core/type/operator.def"
};
bool lower_binary(Lower *l, int32_t number, Operand a, Operand b, Operand *out);
bool lower_compare(Lower *l, int32_t number, Operand a, Operand b, Operand *out);
bool lower_unary(Lower *l, SsaOp op, Operand a, Operand *out);
bool lower_is(Lower *l, Operand a, Operand b, bool negated, Operand *out);
/* Fails for these operand types; text: the operator. Always false. */
bool lower_refuse_operands(Lower *l, const char *text, Operand a, Operand b, const char *hint);
/* The result of a comparison of constants, or NULL when it is left to run time. */
const Constant *fold_compare(Lower *l, int32_t number, const Constant *a, const Constant *b);

#endif
