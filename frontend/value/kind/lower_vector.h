/* Vectors such as float32x4: made of scalars and vectors, x to w, and arithmetic component by component. */
#ifndef CUJIT_FRONTEND_LOWER_VECTOR_H
#define CUJIT_FRONTEND_LOWER_VECTOR_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

/* lower_vector.c. text: the operator, for messages */
bool lower_vector_call(Lower *l, const Type *type, const Call *call, Operand *out);
bool lower_vector_convert(Lower *l, Operand from, const Type *to, Operand *out);
bool lower_vector_binary(Lower *l, int32_t operation, const char *text, Operand a, Operand b, Operand *out);
bool lower_vector_unary(Lower *l, SsaOp op, Operand a, Operand *out);

#endif
