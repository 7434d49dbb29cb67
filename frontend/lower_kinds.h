/* Handlers by the kind of value that they handle; part of lower.h. */
#ifndef CUJIT_FRONTEND_LOWER_KINDS_H
#define CUJIT_FRONTEND_LOWER_KINDS_H

#include "frontend/lower.h"

/* lower_class.c: classes of named tuples and dataclasses. A call makes one; the methods and properties of what it made. */
bool lower_class_call(Lower *l, const Constant *class, const Call *call, Operand *out);
/* The method or property of that name, or NULL. */
const Constant *class_method(const Type *type, const char *name);
bool lower_class_property(Lower *l, Operand receiver, const Constant *property, Operand *out);
bool lower_class_method(Lower *l, Operand receiver, const Constant *method, const Call *call, Operand *out);

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

/* lower_exception.c */
bool operand_is_exception_class(Operand operand);
/* A call of a class of exceptions. */
bool lower_exception_call(Lower *l, Operand class, const Call *call, Operand *out);
/* Ends the block by what the statement raises. */
bool lower_raise(Lower *l, const SsaValue *value);
/* Ends the thread; where the host is told, by an exception without values. Nothing while inferring. */
void emit_silent_raise(Lower *l);
/* Ends the thread by the exception, whose run-time values these are. Nothing while inferring. */
void emit_raise(Lower *l, const IrException *exception, uint32_t count, IrValue *const *values);
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
bool is_array_method(const Lower *l, const char *name);
bool lower_array_method(Lower *l, Operand array, const Call *call, Operand *out);
/* array.flat */
bool type_is_flat(const Type *type);
bool lower_flat_item(Lower *l, Operand array, Operand index, Operand *out);
bool lower_store_flat_item(Lower *l, Operand array, Operand index, Operand value);
/* array.ctypes.name, array.flags.name */
bool lower_array_group(Lower *l, Operand array, const char *group, const char *name, Operand *out);
/* slice.indices(length) */
bool lower_slice_indices(Lower *l, Operand slice, Operand length, Operand *out);

#endif
