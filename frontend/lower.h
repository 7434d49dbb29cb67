/* Shared by the frontend's lowering files: the helpers by which one set of handlers serves both type inference and emission.
 * A handler computes its result's type and "emits"; while types are inferred nothing is emitted and IrValues are NULL. */
#ifndef CUJIT_FRONTEND_LOWER_H
#define CUJIT_FRONTEND_LOWER_H

#include "frontend/infer/instance.h"

/* Inferring or emitting one instance. */
struct Lower {
    Frontend *frontend;
    Arena *arena;
    Diag *diag; /* a scratch one while inferring */
    Instance *instance;
    const SsaValue *value; /* being handled */
    bool emitting;
    Operand joined_result; /* of the returns that this pass of inference has come by */
    bool changed;
    IrBlock *block; /* emission goes here */
    bool never_returns; /* what was called last ends the thread on every path */
    IrBlock **ir_blocks; /* first IR block of each SSA block */
    IrValue *frame; /* in a generator: the frame it goes on with */
    IrValue *memory; /* what the caller lent; NULL: cells lie in the function's own memory */
    struct PhiEdge *phi_edges; /* operands of phis to be filled in at the end */
};

/* A phi's operand for one edge, kept until the IR's blocks are linked. */
typedef struct PhiEdge {
    IrValue *phi;
    IrBlock *from;
    IrValue *value;
    struct PhiEdge *next;
} PhiEdge;

/* --- conversion (lower_convert.c) --------------------------------------------------------------------------------- */
/* The operand as that type: scalars by value, arrays to a layout that is less definite, tuples item by item. */
bool lower_convert(Lower *l, Operand from, const Type *to, Operand *out);
/* Truth of an operand as a bool. */
bool lower_truth(Lower *l, Operand operand, Operand *out);
/* The smallest and largest value that an i64 or smaller integer in IR can have, as far as is plain to see. */
void lower_interval(const IrValue *value, int64_t *low, int64_t *high);

/* --- operators (lower_operator.c) --------------------------------------------------------------------------------- */
bool lower_binary(Lower *l, int32_t number, Operand a, Operand b, Operand *out);
bool lower_compare(Lower *l, int32_t number, Operand a, Operand b, Operand *out);
bool lower_unary(Lower *l, SsaOp op, Operand a, Operand *out);
bool lower_is(Lower *l, Operand a, Operand b, bool negated, Operand *out);
/* Fails for these operand types; text: the operator. Always false. */
bool lower_refuse_operands(Lower *l, const char *text, Operand a, Operand b, const char *hint);
bool lower_contains(Lower *l, Operand item, Operand container, bool negated, Operand *out);
enum {
    NB_ADD,
    NB_AND,
    NB_FLOOR_DIVIDE,
    NB_LSHIFT,
    NB_MATRIX_MULTIPLY,
    NB_MULTIPLY,
    NB_REMAINDER,
    NB_OR,
    NB_POWER,
    NB_RSHIFT,
    NB_SUBTRACT,
    NB_TRUE_DIVIDE,
    NB_XOR
};
enum { COMPARE_LT, COMPARE_LE, COMPARE_EQ, COMPARE_NE, COMPARE_GT, COMPARE_GE };
/* The result of a comparison of constants, or NULL when it is left to run time. */
const Constant *fold_compare(Lower *l, int32_t number, const Constant *a, const Constant *b);

/* Arguments of a call. */
typedef struct Call {
    IntrinsicId intrinsic;
    const char *name; /* for messages */
    const char *path; /* of a library function, as the source has it; else NULL */
    uint32_t count; /* positional */
    const Operand *arguments;
    uint32_t keyword_count;
    const char *const *keywords;
    const Operand *keyword_values;
} Call;

/* --- tuples and iteration (lower_tuple.c, lower_iterate.c) -------------------------------------------------------- */
Operand lower_make_tuple(Lower *l, const Operand *items, uint32_t count, TupleTag tag);
Operand lower_tuple_item(Lower *l, Operand tuple, uint32_t index);
bool lower_tuple_index(Lower *l, Operand tuple, Operand index, Operand *out);
bool lower_unpack(Lower *l, Operand source, uint32_t index, uint32_t count, Operand *out);
/* What a loop runs over. A tuple of items that differ in type stays what it is: loops over it are unrolled. */
bool lower_iterator(Lower *l, Operand iterable, Operand *out);
/* The same items, all of one type. */
bool lower_uniform_iterator(Lower *l, Operand iterable, Operand *out);
bool lower_iter_start(Lower *l, Operand iterator, Operand *out);
bool lower_iter_step(Lower *l, Operand iterator, Operand position, Operand *out);
/* The step if `has` is true; otherwise one without an item. */
bool lower_guarded_step(Lower *l, Operand has, Operand iterator, Operand position, Operand *out);
bool lower_iter_has(Lower *l, Operand iterator, Operand position, Operand *out);
bool lower_iter_value(Lower *l, Operand iterator, Operand position, Operand *out);
bool lower_iter_next(Lower *l, Operand iterator, Operand position, Operand *out);
bool lower_length(Lower *l, Operand iterable, Operand *out);
bool lower_item_at(Lower *l, Operand iterable, Operand index, Operand *out);
/* Whether it makes its items as it goes: a range, enumerate, zip or reversed. */
bool type_is_lazy(const Type *type);
/* A tuple of all the items of what has a known number of them. */
bool lower_all_items(Lower *l, Operand iterable, Operand *out);
/* lower_iterator.c: iterators that are values, made by iter(). Those move on when they are asked for a step. */
bool lower_iter_call(Lower *l, const Call *call, Operand *out);
bool lower_next_call(Lower *l, const Call *call, Operand *out);
bool type_is_iterator(const Type *type);
bool lower_iterator_step(Lower *l, Operand iterator, Operand *out);
/* What a call gave: an iterator of its own where it is a generator or the like that next() is asked of. */
bool lower_called_iterator(Lower *l, const SsaValue *call, Operand *out);

/* --- ranges (lower_range.c) --------------------------------------------------------------------------------------- */
bool lower_range(Lower *l, const Operand *arguments, uint32_t count, Operand *out);
bool range_length(Lower *l, Operand range, Operand *out);
/* Whether the position is before the end. */
bool range_has(Lower *l, Operand range, Operand position, Operand *out);
/* Notes of a loop's value that it is not negative, where that is so. */
void range_value_sign(Lower *l, Operand range, Operand position);
bool lower_in_range(Lower *l, Operand x, Operand range, Operand *out);

/* --- arrays (lower_array.c, lower_slice.c) ------------------------------------------------------------------------ */
bool lower_subscript(Lower *l, Operand container, Operand index, Operand *out);
bool lower_store_subscript(Lower *l, Operand container, Operand index, Operand value);
/* Another array over the same memory: `offset` bytes on, axes in order or reversed. */
Operand lower_same_memory(Lower *l, Operand array, const Type *type, int64_t offset, bool reversed);
/* Stores a scalar or a record, or an array broadcast to its shape, into every element. */
bool lower_fill(Lower *l, Operand target, Operand source);
/* array += scalar or array */
bool lower_update(Lower *l, int32_t number, Operand target, Operand source, Operand *out);
bool lower_array_attribute(Lower *l, Operand array, const char *name, Operand *out);
IrValue *emit_extent(Lower *l, Operand array, uint32_t axis);
/* Indices of every axis, wrapped, for an integer or a tuple of integers; false with a diagnostic otherwise. */
bool lower_indices(Lower *l, Operand array, Operand index, IrValue **indices);
bool lower_index_value(Lower *l, Operand index, IrValue *extent, IrValue **out);
/* Whether the index selects a view rather than an element. */
bool index_is_view(Operand array, Operand index);
bool lower_view(Lower *l, Operand array, Operand index, Operand *out);

/* --- names and calls (resolve_name.c, lower_call.c, lower_builtin.c, lower_math.c, lower_cuda.c) ------------------ */
bool lower_attribute(Lower *l, Operand object, const char *name, Operand *out);
bool lower_call(Lower *l, const SsaValue *call, Operand *out);
/* The method call receiver.name(arguments). */
bool lower_method_call(Lower *l, Operand receiver, const char *name, const Call *call, Operand *out);
bool lower_function(Lower *l, const SsaValue *value, Operand *out);
/* What stands for a nested function among what it captures, and, in the function, itself again. */
Operand operand_self(Lower *l);
Operand operand_of_self(Lower *l, Operand parameter, const Operand *parameters);

#include "frontend/call/lower_calls.h"
#include "frontend/lower_kinds.h"

#endif
