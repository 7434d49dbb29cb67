/* Mathematical functions: typing by promotion.def. */
#ifndef CUJIT_FRONTEND_LOWER_MATH_H
#define CUJIT_FRONTEND_LOWER_MATH_H

#include "frontend/engine.h"

/* Emits a math intrinsic for operands converted to `type` (float16 is computed in float32). */
IrValue *emit_math_function(Lower *l, IntrinsicId id, const Type *type, uint32_t count, IrValue *const *operands);

#endif
