/* Attributes: of modules and other compile-time objects, of arrays, numbers and tuples; and method calls on values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/diagnostic/guess.h"
#include "frontend/array/lower_array.h"
#include "frontend/array/lower_iterate.h"
#include "frontend/array/lower_pointer.h"
#include "frontend/array/lower_slice.h"
#include "frontend/call/builtin/lower_builtin.h"
#include "frontend/call/builtin/lower_math.h"
#include "frontend/call/builtin/lower_method.h"
#include "frontend/call/lower_overload.h"
#include "frontend/call/resolve_name.h"
#include "frontend/compound/lower_class.h"
#include "frontend/compound/lower_record.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_enum.h"
#include "frontend/value/kind/lower_text.h"
#include "frontend/value/kind/lower_time.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"

/* Looks at the last part of a path whose first part is this. */
static void try_path(Guess *guess, const char *path, size_t length, const char *first, size_t first_length)
{
    if (length > first_length + 1 && path[first_length] == '.' && !strncmp(path, first, first_length) &&
        !memchr(path + first_length + 1, '.', length - first_length - 1))
        guess_try(guess, path + first_length + 1, length - first_length - 1);
}

/* The intrinsic of that module, or below that intrinsic, that may have been meant. */
static const char *guess_intrinsic(Lower *l, const char *module, const char *name)
{
    Guess guess = guess_begin(name);
    const char *first = strcmp(module, "np") == 0 ? "numpy" : module;
    for (int id = INTRINSIC_NONE + 1; id < INTRINSIC_COUNT; id++) {
        const IntrinsicInfo *info = &intrinsic_info[id];
        for (const char *path = info->path; path && *path; path += strspn(path, " ")) {
            size_t length = strcspn(path, " ");
            try_path(&guess, path, length, first, strlen(first));
            path += length;
        }
        if (info->numpy)
            try_path(&guess, info->numpy, strlen(info->numpy), first, strlen(first));
    }
    return guess_hint(&guess, l->arena, arena_format(l->arena, "%s.", module));
}

static bool namespace_attribute(Lower *l, const Constant *space, const char *name, Operand *out)
{
    for (uint32_t i = 0; i < space->count; i++)
        if (space->names && strcmp(space->names[i], name) == 0)
            return operand_of_constant(l, space->items[i], out);
    const char *shown = space->shown_as ? space->shown_as : space->text ? space->text : "this module";
    const char *hint = guess_intrinsic(l, shown, name);
    bool has_axes = intrinsic_by_path(arena_format(l->arena, "%s.x", shown)) != INTRINSIC_NONE;
    return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, shown, name, *hint ? hint : has_axes ? "; there are x, y and z" : "");
}

/* cuda.threadIdx + x -> the row called cuda.threadIdx.x */
static bool intrinsic_attribute(Lower *l, IntrinsicId id, const char *name, Operand *out)
{
    const char *path = intrinsic_info[id].path;
    while (*path) {
        size_t length = strcspn(path, " ");
        char full[128];
        snprintf(full, sizeof full, "%.*s.%s", (int)length, path, name);
        IntrinsicId found = intrinsic_by_path(full);
        if (found != INTRINSIC_NONE) {
            Constant *constant = ARENA_NEW(l->arena, Constant);
            constant->kind = CONSTANT_INTRINSIC;
            constant->intrinsic = found;
            constant->shown_as = arena_string(l->arena, full);
            return operand_of_constant(l, constant, out);
        }
        path += length + strspn(path + length, " ");
    }
    const char *shown = intrinsic_info[id].path;
    shown = arena_format(l->arena, "%.*s", (int)strcspn(shown, " "), shown);
    const char *hint = guess_intrinsic(l, shown, name);
    bool has_axes = intrinsic_by_path(arena_format(l->arena, "%s.x", shown)) != INTRINSIC_NONE;
    return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, shown, name, *hint ? hint : has_axes ? "; there are x, y and z" : "");
}

static bool complex_part(Lower *l, Operand number, bool imaginary, Operand *out)
{
    const Type *type = type_promote(PROMOTION_REAL, number.type, NULL);
    if (!type)
        return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, lower_describe(l, number.type), imaginary ? "imag" : "real", "");
    if (number.type->kind == TYPE_COMPLEX)
        *out = operand_value(type, emit1(l, imaginary ? IR_IMAG : IR_REAL, type, operand_ir(l, number)));
    else if (imaginary)
        *out = type->kind == TYPE_FLOAT ? operand_float(l, type, 0) : operand_int_typed(l, type, 0);
    else
        *out = number;
    return true;
}

Operand operand_bound_method(Lower *l, Operand receiver, const char *name)
{
    Constant *text = ARENA_NEW(l->arena, Constant);
    text->kind = CONSTANT_STRING;
    text->text = name;
    Operand bound = lower_make_tuple(l, &receiver, 1, TUPLE_BOUND);
    Type *type = arena_copy(l->arena, bound.type, sizeof *type);
    type->object = operand_object(l, text).constant;
    bound.type = type;
    return bound;
}

/* What to do where a tuple has no such attribute. */
static const char *tuple_hint(Lower *l, const Type *type, const char *name)
{
    bool is_public = name[0] != '_', is_argument = type_is_tagged(type, TUPLE_NAMED) && !type->object && !type->class;
    if (strcmp(name, "append") == 0 || strcmp(name, "extend") == 0 || strcmp(name, "insert") == 0)
        return ": a list of a kernel is a tuple; use cuda.local.array and a count";
    if (is_public && is_argument)
        return arena_format(l->arena,
                            ": methods are those of what kernels make themselves, such as %s(*x) of an argument x",
                            type->name);
    if (is_public && type_class(type))
        return ": kernels know its fields, methods, properties and constants, and what is registered by "
               "cujit.extending.overload_method and overload_attribute";
    return "";
}

static Operand field_names(Lower *l, const Type *type)
{
    Operand *names = ARENA_ARRAY(l->arena, Operand, type->count + 1);
    for (uint32_t i = 0; i < type->count; i++) {
        Constant *name = ARENA_NEW(l->arena, Constant);
        name->kind = CONSTANT_STRING;
        name->text = type->names[i];
        names[i] = operand_object(l, name);
    }
    return lower_make_tuple(l, names, type->count, TUPLE_PLAIN);
}

static bool tuple_attribute(Lower *l, Operand tuple, const char *name, Operand *out)
{
    uint32_t place;
    if (type_member(tuple.type, name, &place))
        return *out = lower_tuple_item(l, tuple, place), true;
    if (type_is_tagged(tuple.type, TUPLE_NAMED) && tuple.type->names && strcmp(name, "_fields") == 0)
        return *out = field_names(l, tuple.type), true;
    const Constant *method = class_method(tuple.type, name);
    if (method && method->text)
        return lower_class_property(l, tuple, method, out);
    if (method)
        return *out = operand_bound_method(l, tuple, name), true;
    if (type_is_tagged(tuple.type, TUPLE_SLICE) && strcmp(name, "indices") == 0)
        return *out = operand_bound_method(l, tuple, name), true;
    if (type_is_tagged(tuple.type, TUPLE_BOUND) && tuple.type->items[0]->kind == TYPE_ARRAY) {
        const Constant *group = tuple.type->object;
        return lower_array_group(l, lower_tuple_item(l, tuple, 0), group->text, name, out);
    }
    return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, lower_describe(l, tuple.type), name, tuple_hint(l, tuple.type, name));
}

static bool has_bits(const Type *type) { return type_is_integer(type) || type->kind == TYPE_FLOAT; }

static bool is_method(const Type *type, const char *name)
{
    if (type_is_pointer(type))
        return strcmp(name, "view") == 0;
    if (type_is_time(type))
        return strcmp(name, "view") == 0 || strcmp(name, "astype") == 0;
    if (strcmp(name, "conjugate") == 0 || strcmp(name, "astype") == 0)
        return type_is_scalar(type);
    if (strcmp(name, "is_integer") == 0 || strcmp(name, "view") == 0)
        return has_bits(type);
    uint32_t place;
    if (strcmp(name, "index") == 0 || strcmp(name, "count") == 0) /* a named tuple may have more than a tuple's own */
        return type_is_plain_tuple(type) && !type_member(type, name, &place) && !class_method(type, name);
    return type_is_integer(type) && (strcmp(name, "bit_count") == 0 || strcmp(name, "bit_length") == 0);
}

/* receiver.join(texts), which an f-string of many parts is, too. */
static bool join_texts(Lower *l, Operand receiver, const Call *call, Operand *out)
{
    Operand all;
    if (!call_arity(l, call, 1, 1) || !lower_all_items(l, call->arguments[0], &all))
        return false;
    uint32_t count = all.type->count;
    Operand *parts = ARENA_ARRAY(l->arena, Operand, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = lower_tuple_item(l, all, i);
        if (!operand_is_text(parts[i]))
            return call_refuse(l, call, "; it takes texts: str(x) is that of a number");
    }
    return lower_join_text(l, parts, count, receiver.constant->text, out);
}

typedef bool TextMethod(Lower *l, Operand receiver, const Call *call, Operand *out);

static TextMethod *text_method(const char *name)
{
    static const struct {
        const char *name;
        TextMethod *lower;
    } methods[] = {{"format", lower_text_method}, {"join", join_texts}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return methods[i].lower;
    return NULL;
}

bool lower_attribute(Lower *l, Operand object, const char *name, Operand *out)
{
    const Type *type = object.type;
    bool is_own;
    bool ok = lower_overloaded_attribute(l, object, name, out, &is_own);
    if (is_own)
        return ok;
    if (operand_is_object(object, CONSTANT_OVERLOADED))
        return operand_of_constant(l, object.constant->items[0], &object) && lower_attribute(l, object, name, out);
    if (operand_is_object(object, CONSTANT_NAMESPACE))
        return namespace_attribute(l, object.constant, name, out);
    if (operand_is_object(object, CONSTANT_INTRINSIC))
        return intrinsic_attribute(l, object.constant->intrinsic, name, out);
    if (operand_is_object(object, CONSTANT_TYPE) && strcmp(name, "type") == 0)
        return *out = object, true;
    if (operand_is_object(object, CONSTANT_TYPE) && strcmp(name, "itemsize") == 0)
        return *out = operand_int(l, object.constant->type->size), true;
    if (type_is_enum(type) || operand_is_object(object, CONSTANT_ENUM))
        return lower_enum_attribute(l, object, name, out);
    const TypeField *field = is_record_array(type) ? record_field(type, name) : NULL;
    if (field)
        return lower_field(l, object, field, out);
    if (type->kind == TYPE_ARRAY)
        return is_array_method(l, name) ? (*out = operand_bound_method(l, object, name), true)
                                        : lower_array_attribute(l, object, name, out);
    if (type_is_scalar(type) && (strcmp(name, "real") == 0 || strcmp(name, "imag") == 0))
        return complex_part(l, object, name[0] == 'i', out);
    if (type_is_integer(type) && strcmp(name, "numerator") == 0)
        return *out = object, true;
    if (type_is_integer(type) && strcmp(name, "denominator") == 0)
        return *out = operand_int(l, 1), true;
    if (operand_is_object(object, CONSTANT_STRING) && text_method(name))
        return *out = operand_bound_method(l, object, name), true;
    if (is_method(type, name))
        return *out = operand_bound_method(l, object, name), true;
    if (type->kind == TYPE_TUPLE)
        return tuple_attribute(l, object, name, out);
    return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, lower_describe(l, type), name, "");
}

/* --- methods ------------------------------------------------------------------------------------------------------ */

static bool conjugate(Lower *l, Operand number, Operand *out)
{
    const Type *type = number.type;
    if (type->kind != TYPE_COMPLEX)
        return *out = number, true;
    const Type *part = type->size == 8 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
    IrValue *value = operand_ir(l, number);
    IrValue *imaginary = emit1(l, IR_NEG, part, emit1(l, IR_IMAG, part, value));
    *out = operand_value(type, emit2(l, IR_COMPLEX, type, emit1(l, IR_REAL, part, value), imaginary));
    return true;
}

/* Of the absolute value, as in Python. */
static bool bit_length(Lower *l, Operand number, Operand *out)
{
    Operand wide;
    const Type *type = number.type->kind == TYPE_UINT ? TYPE_OF(UINT64) : TYPE_OF(INT64);
    if (!lower_convert(l, number, type, &wide))
        return false;
    IrValue *value = operand_ir(l, wide);
    if (type->kind == TYPE_INT)
        value = emit1(l, IR_ABS, type, value);
    IrValue *bits = emit_int(l, type, 64), *unused = emit1(l, IR_LEADZEROS, type, value);
    value = emit2(l, IR_SUB, type, bits, unused);
    return lower_convert(l, operand_value(type, value), TYPE_OF(INT64), out);
}

/* Those of a negative number as they lie in memory, as numba counts them: masks of a warp are int32. */
static bool bit_count(Lower *l, Operand number, Operand *out)
{
    IrValue *count = emit1(l, IR_POPCOUNT, number.type, operand_ir(l, number));
    return lower_convert(l, operand_value(number.type, count), TYPE_OF(INT64), out);
}

static bool is_whole(Lower *l, Operand number, Operand *out)
{
    if (number.type->kind != TYPE_FLOAT)
        return *out = operand_bool(l, true), true;
    Operand wide, size, floored;
    if (!lower_convert(l, number, TYPE_OF(FLOAT64), &wide))
        return false;
    size = operand_value(wide.type, emit1(l, IR_ABS, wide.type, operand_ir(l, wide)));
    IrValue *value = operand_ir(l, size);
    floored = operand_value(size.type, emit_math_function(l, INTRINSIC_RINT, size.type, 1, &value));
    Operand same, finite;
    return lower_compare(l, COMPARE_EQ, floored, size, &same) &&
           lower_compare(l, COMPARE_LT, size, operand_float(l, size.type, INFINITY), &finite) &&
           lower_binary(l, NB_AND, same, finite, out);
}

/* How often a tuple has an item, or where it has it first: -1 where it has it nowhere. */
static bool find_item(Lower *l, Operand tuple, Operand wanted, bool counts, Operand *out)
{
    const Type *i64 = TYPE_OF(INT64);
    *out = operand_int(l, counts ? 0 : -1);
    for (uint32_t i = tuple.type->count; i-- > 0;) {
        Operand same, place = operand_int(l, i);
        if (!lower_compare(l, COMPARE_EQ, lower_tuple_item(l, tuple, i), wanted, &same))
            return false;
        if (counts && !lower_binary(l, NB_ADD, *out, same, out))
            return false;
        if (!counts)
            *out = operand_value(i64, emit_of3(l, IR_SELECT, i64, same, place, *out));
    }
    if (!counts && l->emitting && lower_checks(l)) {
        IrValue *absent = emit_of2(l, IR_LT, TYPE_OF(BOOL), *out, operand_int(l, 0));
        emit_check(l, absent, "ValueError", "tuple.index(x): x not in tuple");
    }
    return true;
}

static bool view_of_pointer(Lower *l, Operand pointer, const Call *call, Operand *out)
{
    const Type *element = call_arity(l, call, 1, 1) ? operand_dtype(l, call->arguments[0]) : NULL;
    if (!element || !type_is_element(element))
        return diag_failed(l->diag) ? false : call_refuse(l, call, "; it takes the type of what lies there");
    return *out = lower_pointer_view(l, pointer, element), true;
}

/* x.astype(np.float32), which functions of whole arrays say in NumPy's words: np.float32(x). */
static bool as_type(Lower *l, Operand number, const Call *call, Operand *out)
{
    const Type *type = call->count == 1 && call->keyword_count == 0 ? operand_dtype(l, call->arguments[0]) : NULL;
    if (!type || !type_is_scalar(type))
        return diag_failed(l->diag) ? false : call_refuse(l, call, "; it takes a dtype of numbers");
    Call conversion = *call;
    conversion.arguments = &number;
    return lower_type_call(l, type, &conversion, out);
}

/* x.view(np.int32): the bits of a number, as one of that dtype. */
static bool view_of_number(Lower *l, Operand number, const Call *call, Operand *out)
{
    const Type *type = call->count == 1 && call->keyword_count == 0 ? operand_dtype(l, call->arguments[0]) : NULL;
    if (diag_failed(l->diag))
        return false;
    if (!type || !has_bits(type) || type->size != number.type->size)
        return call_refuse(l, call, "; it takes a dtype of integers or floats of the number's size");
    return lower_convert(l, number, number.type, &number) &&
           (*out = operand_value(type, emit1(l, IR_BITCAST, type, operand_ir(l, number))), true);
}

bool lower_method_call(Lower *l, Operand receiver, const char *name, const Call *call, Operand *out)
{
    bool is_own;
    bool ok = lower_overloaded_method(l, receiver, name, call, out, &is_own);
    if (is_own)
        return ok;
    if (operand_is_object(receiver, CONSTANT_STRING))
        return text_method(name)(l, receiver, call, out);
    if (receiver.type->kind == TYPE_ARRAY)
        return lower_array_method(l, receiver, call, out);
    const Constant *method = class_method(receiver.type, name);
    if (method)
        return lower_class_method(l, receiver, method, call, out);
    if (type_is_pointer(receiver.type))
        return view_of_pointer(l, receiver, call, out);
    if (type_is_tagged(receiver.type, TUPLE_SLICE))
        return call_arity(l, call, 1, 1) && lower_slice_indices(l, receiver, call->arguments[0], out);
    bool is_tuple = type_is_plain_tuple(receiver.type);
    if (is_tuple && (strcmp(name, "index") == 0 || strcmp(name, "count") == 0))
        return call_arity(l, call, 1, 1) && find_item(l, receiver, call->arguments[0], name[0] == 'c', out);
    if (type_is_time(receiver.type))
        return lower_time_method(l, receiver, call, out);
    if (type_is_scalar(receiver.type) && strcmp(name, "astype") == 0)
        return as_type(l, receiver, call, out);
    if (has_bits(receiver.type) && strcmp(name, "view") == 0)
        return view_of_number(l, receiver, call, out);
    if (type_is_scalar(receiver.type) && call->count == 0 && call->keyword_count == 0) {
        if (strcmp(name, "conjugate") == 0)
            return conjugate(l, receiver, out);
        if (strcmp(name, "is_integer") == 0)
            return is_whole(l, receiver, out);
        if (strcmp(name, "bit_count") == 0)
            return bit_count(l, receiver, out);
        if (strcmp(name, "bit_length") == 0)
            return bit_length(l, receiver, out);
    }
    return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, lower_describe(l, receiver.type), name, " that a kernel can call");
}
