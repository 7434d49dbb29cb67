/* Handlers of calls of cuda.*. */
#ifndef CUJIT_FRONTEND_LOWER_CUDA_H
#define CUJIT_FRONTEND_LOWER_CUDA_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

#define HANDLES(id, handler) bool handler(Lower *l, const Call *call, Operand *out);
#define HANDLES_KEYWORDS(id, handler) bool handler(Lower *l, const Call *call, Operand *out);
#define HANDLES_FAMILY(family, handler) bool handler(Lower *l, const Call *call, Operand *out);
#include "frontend/call/cuda/handlers_cuda.def"
#undef HANDLES
#undef HANDLES_KEYWORDS
#undef HANDLES_FAMILY

#endif
