/* Calls of CALL rows: arguments go to parameters by place or by name, and each becomes what the row's shape says. Rows whose
 * operands depend on more than that have a handler of their own, which uses the same helpers. */
#include <stdlib.h>
#include <string.h>

#include "frontend/call/cuda/lower_device.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/lower_convert.h"

/* One of the names in "mask, value, width=32". */
typedef struct Parameter {
    const char *name;
    bool has_default;
    int64_t fallback;
} Parameter;

/* Reads the next one; false at the end. */
static bool next_parameter(Lower *l, const char **text, Parameter *out)
{
    size_t length = strcspn(*text, ",="), whole = strcspn(*text, ",");
    if (!length)
        return false;
    *out =
        (Parameter){.name = arena_format(l->arena, "%.*s", (int)length, *text), .has_default = (*text)[length] == '='};
    if (out->has_default)
        out->fallback = (int64_t)strtoull(*text + length + 1, NULL, 0);
    *text += whole;
    *text += strspn(*text, ", ");
    return true;
}

static bool is_parameter(Lower *l, const char *text, const char *name)
{
    Parameter parameter;
    while (next_parameter(l, &text, &parameter))
        if (strcmp(parameter.name, name) == 0)
            return true;
    return false;
}

static bool check_count(Lower *l, const Call *call)
{
    uint32_t least = 0, most = 0;
    const char *text = intrinsic_info[call->intrinsic].parameters;
    Parameter parameter;
    for (; next_parameter(l, &text, &parameter); most++)
        least += !parameter.has_default;
    return call_arity(l, call, least, most);
}

bool call_bind(Lower *l, const Call *call, Operand *out)
{
    const char *parameters = intrinsic_info[call->intrinsic].parameters, *text = parameters;
    Parameter parameter;
    if (!check_count(l, call))
        return false;
    for (uint32_t i = 0; i < call->keyword_count; i++)
        if (!is_parameter(l, parameters, call->keywords[i]))
            return lower_fail(l, DIAG_CALL_KEYWORD, call->name, call->keywords[i]);
    for (uint32_t i = 0; next_parameter(l, &text, &parameter); i++) {
        const Operand *given = call_argument(call, i, parameter.name);
        if (given)
            out[i] = *given;
        else if (parameter.has_default)
            out[i] = operand_int(l, parameter.fallback);
        else
            return call_refuse(l, call, arena_format(l->arena, "; its parameter %s is missing", parameter.name));
    }
    return true;
}

/* The type that a letter of a shape stands for; NULL where the operand decides. */
static const Type *shape_type(char shape)
{
    switch (shape) {
    case 'b': return TYPE_OF(BOOL);
    case 'i': return TYPE_OF(INT32);
    case 'u': return TYPE_OF(UINT32);
    case 'l': return TYPE_OF(INT64);
    case 'q': return TYPE_OF(UINT64);
    case 'f': return TYPE_OF(FLOAT32);
    case 'd': return TYPE_OF(FLOAT64);
    case 'n': return &type_none;
    default: return NULL;
    }
}

static bool is_own_letter(char shape) { return shape == 'v' || shape == 'w' || shape == 'x'; }

/* The type of the operands whose letter is v or x, from those that are no constants: as wide as the widest, unsigned if all
 * are. Python's integers are 64 bits wide. */
static const Type *common_type(const char *shape, char letter, const Operand *given, uint32_t count)
{
    bool is_wide = false, is_unsigned = true, is_known = false;
    for (uint32_t i = 0; i < count; i++) {
        if (shape[1 + i] != letter || given[i].constant)
            continue;
        is_known = true;
        is_wide |= given[i].type->size == 8;
        is_unsigned &= given[i].type->kind == TYPE_UINT;
    }
    is_wide = letter == 'x' && (is_wide || !is_known);
    if (is_unsigned && is_known)
        return is_wide ? TYPE_OF(UINT64) : TYPE_OF(UINT32);
    return is_wide ? TYPE_OF(INT64) : TYPE_OF(INT32);
}

/* type: of v and x. */
static bool shaped_argument(Lower *l, const Call *call, char shape, Operand given, const Type *type, IrValue **out)
{
    Operand converted;
    bool is_integer = type_is_integer(given.type) || given.type->kind == TYPE_BOOL;
    bool is_float = shape == 'f' || shape == 'd';
    if (shape == 'b') {
        if (!type_is_scalar(given.type))
            return call_refuse(l, call, "");
        return lower_truth(l, given, &converted) && (*out = operand_ir(l, converted), true);
    }
    if (is_float ? !type_is_real(given.type) : !is_integer)
        return call_refuse(l, call, is_float ? "" : "; it takes integers");
    if (shape == 'w')
        type = given.type->kind == TYPE_UINT ? TYPE_OF(UINT32) : TYPE_OF(INT32);
    return lower_convert(l, given, type, &converted) && (*out = operand_ir(l, converted), true);
}

bool call_shaped_argument(Lower *l, const Call *call, uint32_t index, Operand given, IrValue **out)
{
    char shape = intrinsic_info[call->intrinsic].shape[1 + index];
    return shaped_argument(l, call, shape, given, shape_type(shape), out);
}

/* The result of a row of w: unsigned where all operands are. */
static const Type *result_type(const char *shape, const Operand *given, uint32_t count)
{
    bool is_unsigned = true;
    if (!is_own_letter(shape[0]))
        return shape_type(shape[0]);
    if (shape[0] != 'w')
        return common_type(shape, shape[0], given, count);
    for (uint32_t i = 0; i < count; i++)
        is_unsigned &= given[i].type->kind == TYPE_UINT || given[i].constant;
    return is_unsigned ? TYPE_OF(UINT32) : TYPE_OF(INT32);
}

bool lower_shaped_call(Lower *l, const Call *call, Operand *out)
{
    const IntrinsicInfo *row = &intrinsic_info[call->intrinsic];
    Operand given[CALL_MAX_PARAMETERS];
    IrValue *operands[CALL_MAX_PARAMETERS];
    uint32_t count = (uint32_t)row->arity;
    if (!call_bind(l, call, given))
        return false;
    const Type *type = result_type(row->shape, given, count);
    for (uint32_t i = 0; i < count; i++) {
        char shape = row->shape[1 + i];
        const Type *wanted = is_own_letter(shape) ? common_type(row->shape, shape, given, count) : shape_type(shape);
        if (!shaped_argument(l, call, shape, given[i], wanted, &operands[i]))
            return false;
    }
    IrValue *value = emit_intrinsic(l, call->intrinsic, type, count, operands);
    return *out = type->kind == TYPE_NONE ? operand_none() : operand_value(type, value), true;
}
