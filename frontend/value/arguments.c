/* Arguments of a call, as every handler of calls asks for them; refusing them. */
#include <string.h>

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

const Operand *call_keyword(const Call *call, const char *name)
{
    for (uint32_t i = 0; i < call->keyword_count; i++)
        if (strcmp(call->keywords[i], name) == 0)
            return &call->keyword_values[i];
    return NULL;
}

const Operand *call_argument(const Call *call, uint32_t index, const char *name)
{
    return index < call->count ? &call->arguments[index] : call_keyword(call, name);
}

bool call_refuse(Lower *l, const Call *call, const char *hint)
{
    uint32_t count = call->count + call->keyword_count;
    Operand *all = ARENA_ARRAY(l->arena, Operand, count);
    for (uint32_t i = 0; i < count; i++)
        all[i] = i < call->count ? call->arguments[i] : call->keyword_values[i - call->count];
    return lower_fail(l, DIAG_TYPE_ARGUMENTS, call->name, lower_describe_all(l, all, count), hint);
}

bool call_arity(Lower *l, const Call *call, uint32_t least, uint32_t most)
{
    uint32_t given = call->count + call->keyword_count;
    if (given >= least && given <= most)
        return true;
    const char *range =
        least == most ? arena_format(l->arena, "%u", least) : arena_format(l->arena, "%u to %u", least, most);
    return lower_fail(l, DIAG_CALL_ARITY, call->name, range, most == 1 ? "" : "s", (int)given);
}

Operand operand_as_argument(Lower *l, Operand operand)
{
    if (operand.type->kind == TYPE_OBJECT || operand.type->kind == TYPE_NONE)
        return operand;
    Operand value = operand_value(operand.type, operand_ir(l, operand));
    value.weak = operand.weak;
    return value;
}

const Type *operand_dtype(Lower *l, Operand operand)
{
    if (operand_is_object(operand, CONSTANT_TYPE))
        return operand.constant->type;
    switch (operand_intrinsic(operand)) {
    case INTRINSIC_INT: return TYPE_OF(INT64);
    case INTRINSIC_FLOAT: return TYPE_OF(FLOAT64);
    case INTRINSIC_COMPLEX: return TYPE_OF(COMPLEX128);
    case INTRINSIC_BOOL: return TYPE_OF(BOOL);
    default: break;
    }
    if (!operand_is_object(operand, CONSTANT_STRING))
        return NULL;
    const Type *type = type_by_name(operand.constant->text);
    return type ? type : type_time_by_name(l->arena, operand.constant->text);
}
