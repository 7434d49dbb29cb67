/* datetime64 and timedelta64: counts of a unit in an int64, the least of which is NaT. */
#ifndef CUJIT_FRONTEND_LOWER_TIME_H
#define CUJIT_FRONTEND_LOWER_TIME_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool lower_time_binary(Lower *l, int32_t operation, const char *text, Operand a, Operand b, Operand *out);
bool lower_time_compare(Lower *l, int32_t operation, const char *text, IrOp op, Operand a, Operand b, Operand *out);
bool lower_time_unary(Lower *l, SsaOp op, Operand a, Operand *out);
bool lower_time_absolute(Lower *l, Operand a, Operand *out);
/* Between units, from an integer, and to int64. */
bool lower_time_convert(Lower *l, Operand from, const Type *to, Operand *out);
bool lower_time_call(Lower *l, const Type *type, const Call *call, Operand *out);
bool lower_time_method(Lower *l, Operand time, const Call *call, Operand *out);
bool call_isnat(Lower *l, const Call *call, Operand *out);

#endif
