/* Handlers of calls, by what is called; part of lower.h. */
#ifndef CUJIT_FRONTEND_LOWER_CALLS_H
#define CUJIT_FRONTEND_LOWER_CALLS_H

#include "frontend/lower.h"

bool lower_type_call(Lower *l, const Type *type, const Call *call, Operand *out);
/* The keyword's value if it was given. */
const Operand *call_keyword(const Call *call, const char *name);
/* Parameter `index`, called `name`: positional or by keyword; NULL when it was not given. */
const Operand *call_argument(const Call *call, uint32_t index, const char *name);
bool call_refuse(Lower *l, const Call *call, const char *hint);
bool call_arity(Lower *l, const Call *call, uint32_t least, uint32_t most);
/* lower_keywords.c: keywords for positional parameters that the row's doc names become positional arguments. */
bool call_place_keywords(Lower *l, Call *call);
/* Emits a math intrinsic for operands converted to `type` (float16 is computed in float32). */
IrValue *emit_math_function(Lower *l, IntrinsicId id, const Type *type, uint32_t count, IrValue *const *operands);

/* lower_call.c */
bool lower_function_call(Lower *l, const Snapshot *snapshot, const Call *call, Operand *out);

/* lower_print.c */
bool lower_print_call(Lower *l, const Call *call, Operand *out);

/* The element type that an operand names (float32, np.int8, float, "f4"), or NULL. */
const Type *operand_dtype(Lower *l, Operand operand);

bool lower_builtin_call(Lower *l, const Call *call, Operand *out);
/* lower_reduce.c */
bool lower_sum_call(Lower *l, const Call *call, Operand *out);
/* How many items there are, by going through them. */
bool lower_count(Lower *l, Operand iterable, Operand *out);
/* Whether an item of the iterable equals x. */
bool lower_found(Lower *l, Operand x, Operand iterable, Operand *out);
bool lower_any_all_call(Lower *l, const Call *call, Operand *out);
bool lower_isinstance_call(Lower *l, const Call *call, Operand *out);
/* lower_device.c: CALL rows. One operand for each parameter of the row, defaults where none was given. */
enum { CALL_MAX_PARAMETERS = 8 };
bool call_bind(Lower *l, const Call *call, Operand *out);
/* The argument as the row's shape wants parameter `index`; not for x where the value may be no integer. */
bool call_shaped_argument(Lower *l, const Call *call, uint32_t index, Operand given, IrValue **out);
/* A call that is all in its row. */
bool lower_shaped_call(Lower *l, const Call *call, Operand *out);
bool lower_math_call(Lower *l, const Call *call, Operand *out);
bool lower_cuda_call(Lower *l, const Call *call, Operand *out);
/* blockIdx * blockDim + threadIdx along one axis. */
Operand lower_grid_place(Lower *l, uint32_t axis);
/* gridDim * blockDim along one axis. */
Operand lower_grid_extent(Lower *l, uint32_t axis);
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
