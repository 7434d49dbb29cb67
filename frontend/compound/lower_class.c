/* Classes of named tuples and dataclasses: a call makes one. The type of a named tuple leads to the class, through which its
 * methods are found. */
#include <string.h>

#include "frontend/compound/lower_class.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"

static bool set_field(Lower *l, const Constant *class, const char *name, Operand value, Operand *items)
{
    for (uint32_t i = 0; i < class->integer; i++)
        if (strcmp(class->names[i], name) == 0) {
            if (items[i].type)
                return lower_fail(l, DIAG_UNSUPPORTED,
                                  arena_format(l->arena, "%s got two values for field '%s'", class->text, name));
            return items[i] = value, true;
        }
    return lower_fail(l, DIAG_CALL_KEYWORD, class->text, name);
}

static bool refuse_count(Lower *l, const Constant *class, uint32_t given)
{
    uint32_t most = (uint32_t)class->integer, least = 0;
    for (uint32_t i = 0; i < most; i++)
        least += !class->items[i];
    const char *range =
        least == most ? arena_format(l->arena, "%u", most) : arena_format(l->arena, "%u to %u", least, most);
    return lower_fail(l, DIAG_CALL_ARITY, class->text, range, most == 1 ? "" : "s", (int)given);
}

static bool bind_fields(Lower *l, const Constant *class, const Call *call, Operand *items)
{
    uint32_t count = (uint32_t)class->integer, given = call->count + call->keyword_count;
    if (given > count)
        return refuse_count(l, class, given);
    for (uint32_t i = 0; i < call->count; i++)
        items[i] = call->arguments[i];
    for (uint32_t i = 0; i < call->keyword_count; i++)
        if (!set_field(l, class, call->keywords[i], call->keyword_values[i], items))
            return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!items[i].type && !class->items[i])
            return refuse_count(l, class, given);
        if (!items[i].type && !operand_of_constant(l, class->items[i], &items[i]))
            return false;
    }
    return true;
}

bool lower_class_call(Lower *l, const Constant *class, const Call *call, Operand *out)
{
    uint32_t count = (uint32_t)class->integer;
    Operand *items = ARENA_ARRAY(l->arena, Operand, count + 1);
    if (!bind_fields(l, class, call, items))
        return false;
    const Type **types = ARENA_ARRAY(l->arena, const Type *, count);
    for (uint32_t i = 0; i < count; i++) {
        const Type *stated = class->type->items[i];
        if (stated->kind != TYPE_NONE && !lower_convert(l, items[i], stated, &items[i]))
            return false;
        types[i] = items[i].type;
    }
    Type *type = (Type *)type_with_items(l->arena, class->type, types);
    if (type_is_tagged(type, TUPLE_NAMED))
        type->object = class;
    *out = lower_make_tuple(l, items, count, TUPLE_PLAIN);
    out->type = type;
    if (out->ir)
        out->ir->type = erased_type(l->arena, type);
    return true;
}

const Constant *class_method(const Type *type, const char *name)
{
    const Constant *class = type_is_tagged(type, TUPLE_NAMED) ? type->object : NULL;
    for (uint32_t i = class ? (uint32_t)class->integer : 0; class && i < class->count; i++)
        if (strcmp(class->names[i], name) == 0)
            return class->items[i];
    return NULL;
}

bool lower_class_method(Lower *l, Operand receiver, const Constant *method, const Call *call, Operand *out)
{
    Operand *arguments = ARENA_ARRAY(l->arena, Operand, call->count + 1);
    Call with_receiver = *call;
    arguments[0] = receiver;
    for (uint32_t i = 0; i < call->count; i++)
        arguments[1 + i] = call->arguments[i];
    with_receiver.arguments = arguments;
    with_receiver.count = call->count + 1;
    return lower_function_call(l, method->function, &with_receiver, out);
}

bool lower_class_property(Lower *l, Operand receiver, const Constant *property, Operand *out)
{
    return lower_class_method(l, receiver, property, &(Call){.name = property->shown_as}, out);
}
