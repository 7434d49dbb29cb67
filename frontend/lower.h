/* Shared by the frontend's lowering files: facts about SSA values, instances of functions, and the helpers by which one
 * set of handlers serves both type inference and emission. A handler computes its result's type and "emits"; while
 * types are inferred nothing is emitted and IrValues are NULL. */
#ifndef CUJIT_FRONTEND_LOWER_H
#define CUJIT_FRONTEND_LOWER_H

#include "core/table.h"
#include "frontend/frontend.h"
#include "frontend/ssa.h"

/* What is known of a value: its type (NULL: nothing yet), its value where that is a constant, and when emitting the IR
 * value (NULL for constants until one is needed, and for what occupies no memory). */
typedef struct Operand {
    const Type *type;
    const Constant *constant;
    IrValue *ir;
    bool weak; /* made of nothing but Python's numbers, under literals='weak' */
} Operand;

typedef struct GeneratorFrame GeneratorFrame;
enum { CALL_DEPTH_LIMIT = 500 }; /* functions that call each other in a row: their inference nests on the C stack */

typedef enum InstanceState { INSTANCE_NEW, INSTANCE_RUNNING, INSTANCE_DONE } InstanceState;

/* A function for certain argument types. */
typedef struct Instance Instance;
struct Instance {
    const CodeSnapshot *code;
    const Snapshot *snapshot;
    SsaFunction *ssa;
    uint32_t parameter_count;
    const Operand *parameters; /* facts, one for each SSA parameter; constants occupy no IR parameter */
    Operand *facts; /* by SSA value */
    bool *block_reached;
    bool *edge_reached; /* [2 * block + successor] */
    uint32_t *unroll; /* by block, a for loop's test: for how many items the loop is to be written out; 0: it is not */
    bool is_unrollable; /* false once that would be too much code */
    uint64_t wanted; /* parameters whose value it needs to know: bits (constant_parameter.c) */
    bool fails; /* an expression that is reached has no type */
    Operand result; /* join of all returns; type NULL: no return reached yet */
    InstanceState state;
    bool is_recursive, is_kernel;
    bool provisional; /* rests on the result of an instance that is still being inferred */
    bool emitted;
    bool makes_cells; /* seen while inferring: memory of variables that are shared, its own or of what it calls */
    bool is_complete; /* the IR is all there */
    uint32_t memory_words; /* of 8 bytes, that its callers lend it, once it is complete */
    uint32_t cell_version; /* of the frontend when it was last inferred */
    GeneratorFrame *frame; /* of a generator, once its types are known */
    const Type *forced_result;
    IrFunc *ir;
    const char *name;
    const Instance *called_by; /* who asked for it first; NULL for the kernel */
    SourcePos called_at;
    SourcePos raise_site; /* of cujit's own functions that raise: the user's call; no function: its own places */
    Instance *next; /* another instance of the same code */
    Instance *next_pending;
};

/* One request to the frontend. */
typedef struct Frontend {
    Arena *arena;
    Diag *diag;
    const FrontendRequest *request;
    Table *instances; /* by CodeSnapshot pointer: the first of a list */
    Table *ssa; /* by CodeSnapshot pointer */
    Table *comprehensions; /* by CodeSnapshot pointer: instructions of code that was part of another */
    Table *raising; /* by CodeSnapshot pointer: whether what belongs to cujit raises (raise_site.c) */
    Table *objects; /* by identity: the constant that stands for a compile-time object */
    IrModule *module;
    Instance *pending; /* declared, not emitted yet */
    uint32_t depth; /* of nested instances */
    uint32_t instance_count;
    uint32_t cell_version; /* grows whenever the type of a shared variable does */
} Frontend;

/* Inferring or emitting one instance. */
typedef struct Lower {
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
} Lower;

/* A phi's operand for one edge, kept until the IR's blocks are linked. */
typedef struct PhiEdge {
    IrValue *phi;
    IrBlock *from;
    IrValue *value;
    struct PhiEdge *next;
} PhiEdge;

/* --- operands (operand.c) ----------------------------------------------------------------------------------------- */
/* Records a failure at the value being handled. Always false. */
#define lower_fail(l, ...) diag_fail((l)->diag, &(l)->value->pos, __VA_ARGS__)
Operand lower_fact(Lower *l, const SsaValue *value);
bool lower_fact_known(Lower *l, const SsaValue *value);
Operand operand_value(const Type *type, IrValue *ir);
/* A constant as an operand: its type and, where it can be a run-time value, how. False when it cannot be used. */
bool operand_of_constant(Lower *l, const Constant *constant, Operand *out);
Operand operand_int(Lower *l, int64_t value);
Operand operand_int_typed(Lower *l, const Type *type, int64_t value);
Operand operand_bool(Lower *l, bool value);
Operand operand_float(Lower *l, const Type *type, double value);
Operand operand_none(void);
Operand operand_object(Lower *l, const Constant *constant);
/* The value in IR; constants are emitted on demand. NULL while inferring, and for what occupies no memory. */
IrValue *operand_ir(Lower *l, Operand operand);
bool operand_is_object(Operand operand, ConstantKind kind);
/* The intrinsic that the operand names, or INTRINSIC_NONE. */
IntrinsicId operand_intrinsic(Operand operand);
/* The constant integer, if it is one (bool counts). */
bool operand_const_int(Operand operand, int64_t *value);
/* Description of a type for messages, in the arena. */
const char *lower_describe(Lower *l, const Type *type);
const char *lower_describe_all(Lower *l, const Operand *operands, uint32_t count);
bool type_is_optional(const Type *type);
/* The value inside of an optional; everything else as it is. */
Operand operand_value_of(Lower *l, Operand operand);
/* Least type that holds both; NULL when there is none. */
const Type *lower_join_types(Lower *l, const Type *a, const Type *b);
/* What is known of a value that is a or b. False when they do not fit together. */
bool lower_join(Lower *l, Operand a, Operand b, Operand *out);
bool constant_equal(const Constant *a, const Constant *b);

/* --- literals='weak' (weak_literal.c) ----------------------------------------------------------------------------- */
/* Whether operands made of the constant are weak. */
bool constant_is_weak(const Lower *l, const Constant *constant);
/* What the operand counts as next to another: its type, or a float as narrow as the other's where it is weak. */
const Type *weak_type(Operand operand, Operand beside);
/* A copy of the operands, weak floats converted to the precision of those that are not weak. */
bool weaken_arguments(Lower *l, const Operand *from, uint32_t count, Operand *out);

/* --- emission (operand.c). All return NULL while inferring -------------------------------------------------------- */
/* The type as IR has it: what only the frontend knows (functions, modules) occupies nothing and has no identity. */
const Type *erased_type(Arena *arena, const Type *type);
IrValue *emit(Lower *l, IrOp op, const Type *type, uint32_t count, IrValue *const *operands);
IrValue *emit1(Lower *l, IrOp op, const Type *type, IrValue *a);
IrValue *emit2(Lower *l, IrOp op, const Type *type, IrValue *a, IrValue *b);
IrValue *emit3(Lower *l, IrOp op, const Type *type, IrValue *a, IrValue *b, IrValue *c);
IrValue *emit_int(Lower *l, const Type *type, int64_t value);
IrValue *emit_intrinsic(Lower *l, IntrinsicId id, const Type *type, uint32_t count, IrValue *const *operands);
IrValue *emit_index_op(Lower *l, IrOp op, const Type *type, IrValue *a, uint32_t index);
/* A new block, NULL while inferring. */
IrBlock *emit_block(Lower *l);
void emit_jump(Lower *l, IrBlock *to);
void emit_branch(Lower *l, IrValue *condition, IrBlock *yes, IrBlock *no);
/* States what a phi is when control comes from the block emission is in. */
void emit_phi_edge(Lower *l, IrValue *phi, IrValue *value);

/* A loop that a handler emits of its own: index goes from 0 up to count. */
typedef struct Loop {
    IrBlock *header, *body, *exit;
    IrValue *index;
} Loop;

/* Emission continues in the body; loop_end closes it and continues behind the loop. No-ops while inferring. */
Loop loop_begin(Lower *l, IrValue *count);
void loop_end(Lower *l, Loop *loop);

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
/* lower_iterator.c: iterators that are values, made by iter(). Those move on when they are asked for a step. */
bool lower_iter_call(Lower *l, const Call *call, Operand *out);
bool lower_next_call(Lower *l, const Call *call, Operand *out);
bool type_is_iterator(const Type *type);
bool lower_iterator_step(Lower *l, Operand iterator, Operand *out);
/* What a call gave: an iterator of its own where it is a generator or the like that next() is asked of. */
bool lower_called_iterator(Lower *l, const SsaValue *call, Operand *out);
bool lower_range(Lower *l, const Operand *arguments, uint32_t count, Operand *out);
bool lower_length(Lower *l, Operand iterable, Operand *out);
bool lower_item_at(Lower *l, Operand iterable, Operand index, Operand *out);
/* Whether it makes its items as it goes: a range, enumerate, zip or reversed. */
bool type_is_lazy(const Type *type);
/* A tuple of all the items of what has a known number of them. */
bool lower_all_items(Lower *l, Operand iterable, Operand *out);
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
bool lower_function(Lower *l, const SsaValue *value, Operand *out);
/* What stands for a nested function among what it captures, and, in the function, itself again. */
Operand operand_self(Lower *l);
Operand operand_of_self(Lower *l, Operand parameter, const Operand *parameters);
/* lower_class.c: classes of named tuples and dataclasses. A call makes one; the methods and properties of what it made. */
bool lower_class_call(Lower *l, const Constant *class, const Call *call, Operand *out);
/* The method or property of that name, or NULL. */
const Constant *class_method(const Type *type, const char *name);
bool lower_class_property(Lower *l, Operand receiver, const Constant *property, Operand *out);
bool lower_class_method(Lower *l, Operand receiver, const Constant *method, const Call *call, Operand *out);
/* lower_call.c */
bool lower_function_call(Lower *l, const Snapshot *snapshot, const Call *call, Operand *out);
/* lower_cell.c: variables that nested functions share */
bool type_has_cell(const Type *type);
/* Whether the types of the instance depend on what other functions store. */
bool instance_shares_cells(const Instance *instance);
/* Memory for a value of that type; what is in it, and a value of exactly the type into it. */
Operand lower_make_cell(Lower *l, const Type *content);
/* Whether the cells of the instance outlive its call, so that they lie in memory of the caller. */
bool instance_borrows_memory(const Instance *instance);
/* Memory for a call of such an instance, which is emitted for that. False with a diagnostic. */
bool emit_lent_memory(Lower *l, Instance *callee, IrValue **out);
/* Finds the places of the function's own cells in the memory that it was lent, and makes what is made at the entry. */
void place_cells(Lower *l);
/* For what later trips of a loop, or a generator's user, may see: false with a diagnostic where each trip of a loop would
 * need variables of its own in it. */
bool check_cell_kept(Lower *l, const Type *type);
Operand lower_cell_get(Lower *l, Operand cell);
void lower_cell_put(Lower *l, Operand cell, Operand value);
bool lower_cell(Lower *l, const SsaValue *value, Operand *out);
bool lower_cell_load(Lower *l, Operand cell, Operand *out);
bool lower_cell_store(Lower *l, const char *name, Operand cell, Operand value, Operand *out);
/* lower_dict.c: dicts of constant keys */
Operand lower_make_dict(Lower *l, const Operand *values, const char *const *keys, uint32_t count);
bool lower_dict_item(Lower *l, Operand dict, Operand index, Operand *out);
bool lower_dict_contains(Lower *l, Operand dict, Operand index, Operand *out);
bool lower_dict_merge(Lower *l, Operand a, Operand b, Operand *out);
/* f(**dict): the dict's items as keywords of the call. */
bool lower_dict_keywords(Lower *l, Operand dict, Call *call);
/* The dict of a ** parameter. */
Operand lower_keywords_dict(Lower *l, const char *const *keywords, const Operand *values, uint32_t count);
/* The value of a keyword, or NULL. */
const Operand *lower_dict_default(Lower *l, Operand dict, const char *name);
bool lower_match_class(Lower *l, Operand value, Operand class, bool captures, Operand *out);

/* lower_time.c: datetimes and timedeltas. text: the operator, for messages */
bool lower_time_binary(Lower *l, int32_t operation, const char *text, Operand a, Operand b, Operand *out);
bool lower_time_compare(Lower *l, int32_t operation, const char *text, IrOp op, Operand a, Operand b, Operand *out);
bool lower_time_unary(Lower *l, SsaOp op, Operand a, Operand *out);
bool lower_time_absolute(Lower *l, Operand a, Operand *out);
/* Between units, from an integer, and to int64. */
bool lower_time_convert(Lower *l, Operand from, const Type *to, Operand *out);
bool lower_time_call(Lower *l, const Type *type, const Call *call, Operand *out);
bool lower_time_method(Lower *l, Operand time, const Call *call, Operand *out);
bool lower_isnat_call(Lower *l, const Call *call, Operand *out);
/* lower_enum.c */
bool type_is_enum(const Type *type);
/* The number behind a member of an IntEnum; everything else as it is. */
Operand operand_number_of(Lower *l, Operand operand);
const Type *type_number_of(const Type *type);
Operand lower_enum_value(Lower *l, Operand member);
bool operand_is_enum_class(Operand operand);
bool lower_enum_by_name(Lower *l, Operand class, Operand name, Operand *out);
bool lower_enum_call(Lower *l, Operand class, const Call *call, Operand *out);
/* member: of an enum, or the constant that stands for one whose value is no number */
bool lower_enum_attribute(Lower *l, Operand member, const char *name, Operand *out);
bool lower_enum_equal(Lower *l, Operand a, Operand b, bool negated, Operand *out);
/* lower_chars.c: text of a fixed length; the other side may be a constant string */
bool is_chars(Operand operand);
bool lower_chars_equal(Lower *l, Operand a, Operand b, bool negated, Operand *out);
bool lower_store_chars(Lower *l, Operand target, Operand value);
/* lower_vector.c. text: the operator, for messages */
bool lower_vector_call(Lower *l, const Type *type, const Call *call, Operand *out);
bool lower_vector_convert(Lower *l, Operand from, const Type *to, Operand *out);
bool lower_vector_binary(Lower *l, int32_t operation, const char *text, Operand a, Operand b, Operand *out);
bool lower_vector_unary(Lower *l, SsaOp op, Operand a, Operand *out);
/* lower_text.c: text is a constant string, or a tuple (TUPLE_TEXT) of values with a format */
bool operand_is_text(Operand operand);
/* Python's format string over the items of a text that is a tuple. */
const char *operand_text_format(Operand text);
/* conversion: 0, or 1 to 3 for !s, !r and !a; spec: NULL, or a constant string. */
bool lower_format(Lower *l, Operand value, int32_t conversion, const Operand *spec, Operand *out);
/* The texts of the parts one after another, with a constant between them. */
bool lower_join_text(Lower *l, const Operand *parts, uint32_t count, const char *between, Operand *out);
bool lower_text_binary(Lower *l, int32_t number, Operand a, Operand b, Operand *out);
/* receiver.format(arguments) of a constant string. */
bool lower_text_method(Lower *l, Operand receiver, const Call *call, Operand *out);
bool lower_text_call(Lower *l, const Call *call, Operand *out);
/* A format spec of Python's: [[fill]align][sign][#][0][width][grouping][.precision][type]; 0 for what is not there,
 * precision -1. */
typedef struct TextSpec {
    char fill, align, sign, grouping, type;
    bool alternate, zero;
    int width, precision;
} TextSpec;
bool text_read_spec(const char *text, TextSpec *out);
/* lower_print.c */
bool lower_print_call(Lower *l, const Call *call, Operand *out);
/* lower_exception.c */
bool operand_is_exception_class(Operand operand);
/* A call of a class of exceptions. */
bool lower_exception_call(Lower *l, Operand class, const Call *call, Operand *out);
/* Ends the block by what the statement raises. */
bool lower_raise(Lower *l, const SsaValue *value);
/* Whether operators check what Python would raise. */
bool lower_checks(const Lower *l);
/* Raises a builtin exception with this text where the condition holds. Nothing while inferring. */
void emit_check(Lower *l, IrValue *condition, const char *class, const char *text);
/* Likewise; where operators check nothing, the launch fails. While emitting. */
void emit_check_or_trap(Lower *l, IrValue *condition, const char *class, const char *text);
/* Ends the thread by a builtin exception here; where the host is not told, just ends it. */
void emit_builtin_raise(Lower *l, const char *class);
/* Whether the number is known to be another than 0. */
bool value_is_never_zero(const IrValue *value);
/* ZeroDivisionError where the divisor is 0 and operators are checked. */
void emit_zero_check(Lower *l, IrValue *divisor, const char *text);
/* lower_record.c: fields of records and of arrays of records */
bool is_record_array(const Type *type);
const TypeField *record_field(const Type *array, const char *name);
/* The field that a constant integer selects from a reference to a record; NULL for anything else. */
const TypeField *record_field_at(const Type *array, Operand index);
bool lower_field(Lower *l, Operand array, const TypeField *field, Operand *out);
bool lower_store_field(Lower *l, Operand array, const TypeField *field, Operand value);
/* Copies a record from one reference's place to another's. */
bool lower_store_record(Lower *l, Operand target, Operand value);
/* lower_method.c: array.name(arguments), and array.flat[index] */
bool is_array_method(const char *name);
bool lower_array_method(Lower *l, Operand array, const Call *call, Operand *out);
bool lower_flat_item(Lower *l, Operand array, Operand index, Operand *out);
bool lower_store_flat_item(Lower *l, Operand array, Operand index, Operand value);
/* array.ctypes.name, array.flags.name */
bool lower_array_group(Lower *l, Operand array, const char *group, const char *name, Operand *out);
/* slice.indices(length) */
bool lower_slice_indices(Lower *l, Operand slice, Operand length, Operand *out);
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
bool lower_type_call(Lower *l, const Type *type, const Call *call, Operand *out);
/* The keyword's value if it was given. */
const Operand *call_keyword(const Call *call, const char *name);
/* Parameter `index`, called `name`: positional or by keyword; NULL when it was not given. */
const Operand *call_argument(const Call *call, uint32_t index, const char *name);
bool call_refuse(Lower *l, const Call *call, const char *hint);
bool call_arity(Lower *l, const Call *call, uint32_t least, uint32_t most);
/* Emits a math intrinsic for operands converted to `type` (float16 is computed in float32). */
IrValue *emit_math_function(Lower *l, IntrinsicId id, const Type *type, uint32_t count, IrValue *const *operands);

/* --- instances (instance.c, infer_types.c, emit_ir.c) ------------------------------------------------------------- */
/* The instance for these parameters and this place of its exceptions, found or new. NULL with a diagnostic. */
Instance *instance_get(Frontend *frontend, Diag *diag, const CodeSnapshot *code, const Snapshot *snapshot,
                       const Operand *parameters, uint32_t count, SourcePos raise_site);
/* raise_site.c: the place that an instance of the callee has, and that of an exception of the value being handled. */
SourcePos raise_site(Lower *l, const CodeSnapshot *callee);
SourcePos raise_place(const Lower *l);
/* The value being handled failed for want of a constant: notes the parameters of the instance that it depends on. */
void want_constants(Lower *l);
/* Gives the facts of a call the constants that the instance wants. False if there are none; then what the call depends
 * on is wanted of the instance that calls. */
bool keep_constants(Lower *l, const Instance *instance, const Operand *given, uint32_t count, Operand *facts);
/* The instance for these operands, its types inferred, called by the value being handled. given: the same with all that is
 * known of their values. NULL with a diagnostic. */
Instance *lower_instance(Lower *l, const CodeSnapshot *code, const Snapshot *snapshot, const Operand *given,
                         const Operand *bound, uint32_t count);
/* The method call receiver.name(arguments). */
bool lower_method_call(Lower *l, Operand receiver, const char *name, const Call *call, Operand *out);
/* An operand as it is passed to a function: numbers and tuples lose what is known of their value. */
Operand operand_as_argument(Lower *l, Operand operand);
SsaFunction *frontend_ssa(Frontend *frontend, const CodeSnapshot *code, Diag *diag);
/* Writes out the loops for which `unroll` asks: the instance gets an SSA of its own, of which nothing is known yet. */
bool instance_unroll(Frontend *frontend, Instance *instance);
/* Likewise: the variables (by local) live in memory that nested functions share. */
bool instance_share(Frontend *frontend, Instance *instance, const bool *shared);
/* Shares the variables of functions that outlive the trip of a loop they were made in, if there are any (loop_capture.c). */
bool share_loop_captures(Frontend *frontend, Instance *instance);
/* Infers types to a fixed point; NULL-typed facts remain where something is wrong. */
void infer_instance(Frontend *frontend, Instance *instance);
/* Emits the instance's IR function unless that is under way or done. False with a diagnostic. */
bool emit_instance(Frontend *frontend, Instance *instance);
/* Runs the handler of one SSA value (no phi, no terminator but RETURN). */
bool lower_value(Lower *l, const SsaValue *value, Operand *out);
/* Adds to a failure where the types of the value's operands come from, and from where the function is called
 * (explain.c). */
void explain_failure(Lower *l, const SsaValue *value);
/* Adds to a failure where the type of a variable comes from that is assigned on several paths. */
void explain_phi(Lower *l, const SsaValue *phi);
/* The variable that a value is assigned to, the parameter or the global that it is; NULL for other expressions. */
const char *variable_name(Lower *l, const SsaValue *value);
/* The line of an assignment that leads to the phi. */
int assignment_line(Lower *l, const SsaValue *phi);
/* Adds to a failure another return, whose result does not fit `result`. */
void explain_returns(Lower *l, const Type *result);
/* Which parameter of a kernel is its * parameter, whose items are passed one by one. */
#define NO_PARAMETER UINT32_MAX
uint32_t kernel_rest(const Instance *instance);
/* Declares the IR function of an instance; its body comes later. */
IrFunc *instance_declare(Frontend *frontend, Instance *instance);
/* Prints the types of an instance's expressions (annotate.c). */
void annotate(Buf *out, Frontend *frontend, Instance *instance);
/* Why the value computes in float64 (or complex128) although narrower floats go into it; NULL when it does not. In the
 * arena (widening.c). */
const char *widening(Lower *l, const SsaValue *value);
/* Prints every widening of an instance that belongs to the user: "file:line: text". */
void list_widenings(Buf *out, Frontend *frontend, Instance *instance);
/* Joins and orders blocks (simplify_blocks.c). */
void simplify_blocks(IrFunc *function);
/* Removes values of no effect that nothing uses. */
void prune(IrFunc *function);
/* Whether the parameter is passed at run time. */
bool operand_is_runtime(Operand operand);

#endif
