/* Handlers of calls of cuda.*, by their files. */
#ifndef CUJIT_FRONTEND_LOWER_CUDA_H
#define CUJIT_FRONTEND_LOWER_CUDA_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool lower_cuda_call(Lower *l, const Call *call, Operand *out);
/* lower_cache_hint.c */
bool lower_cache_hint_call(Lower *l, const Call *call, Operand *out);
/* lower_atomic.c */
bool lower_atomic_call(Lower *l, const Call *call, Operand *out);
/* lower_warp.c: warp and block votes, shuffles, lane masks, nanosleep */
bool lower_is_warp_call(IntrinsicId id);
bool lower_warp_call(Lower *l, const Call *call, Operand *out);
/* lower_wide.c: cuda.wide.load and store */
bool lower_wide_call(Lower *l, const Call *call, Operand *out);
/* lower_tensor.c: tensor cores, ldmatrix, asynchronous copies */
bool lower_is_tensor_call(IntrinsicId id);
bool lower_tensor_call(Lower *l, const Call *call, Operand *out);

#endif
