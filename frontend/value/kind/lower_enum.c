/* Members of enums: the value of a member with the identity of its class. Members of IntEnum and IntFlag are numbers
 * wherever a number is wanted. Members whose values are no numbers exist while compiling only. */
#include <string.h>

#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_enum.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"

static bool is_int_enum(const Type *type) { return type_is_tagged(type, TUPLE_INT_ENUM); }

bool type_is_enum(const Type *type) { return type_has_trait(type, TRAIT_MEMBER); }

Operand lower_enum_value(Lower *l, Operand member)
{
    Operand value;
    if (member.constant && operand_of_constant(l, member.constant->items[0], &value) &&
        lower_convert(l, value, member.type->items[0], &value))
        return value;
    member.constant = NULL;
    return lower_tuple_item(l, member, 0);
}

Operand operand_number_of(Lower *l, Operand operand)
{
    return operand.type && is_int_enum(operand.type) ? lower_enum_value(l, operand) : operand;
}

const Type *type_number_of(const Type *type) { return is_int_enum(type) ? type->items[0] : type; }

/* --- classes ------------------------------------------------------------------------------------------------------ */

bool operand_is_enum_class(Operand operand)
{
    return operand_is_object(operand, CONSTANT_NAMESPACE) && operand.constant->type &&
           type_is_enum(operand.constant->type);
}

/* Mode["ADD"] */
bool lower_enum_by_name(Lower *l, Operand class, Operand name, Operand *out)
{
    if (!operand_is_object(name, CONSTANT_STRING))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the name of a member", "");
    return lower_attribute(l, class, name.constant->text, out);
}

/* Mode(10): the member of a constant; a number of run time is taken for a member's without a check. */
bool lower_enum_call(Lower *l, Operand class, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    Operand value = operand_number_of(l, call->arguments[0]), converted;
    if (type_equal(call->arguments[0].type, class.constant->type))
        return *out = call->arguments[0], true;
    for (uint32_t i = 0; value.constant && i < class.constant->count; i++) {
        const Constant *member = class.constant->items[i], *same = NULL;
        if (member->kind == CONSTANT_ENUM)
            same = fold_compare(l, COMPARE_EQ, member->items[0], value.constant);
        if (same && same->integer)
            return operand_of_constant(l, member, out);
    }
    const Type *number = class.constant->type->items[0];
    if (value.constant || !type_is_scalar(number) || !type_is_scalar(value.type))
        return lower_fail(
            l, DIAG_CONSTANT_RANGE,
            arena_format(l->arena, "this is not the value of a member of %s", class.constant->type->name));
    if (!lower_convert(l, value, number, &converted))
        return false;
    IrValue *item = operand_ir(l, converted);
    return *out = operand_value(class.constant->type, emit(l, IR_TUPLE, class.constant->type, 1, &item)), true;
}

/* --- members ------------------------------------------------------------------------------------------------------ */

static Operand text(Lower *l, const char *value)
{
    Constant *constant = ARENA_NEW(l->arena, Constant);
    constant->kind = CONSTANT_STRING;
    constant->text = value;
    return operand_object(l, constant);
}

bool lower_enum_attribute(Lower *l, Operand member, const char *name, Operand *out)
{
    bool is_constant = member.constant != NULL;
    if (strcmp(name, "value") == 0 || strcmp(name, "_value_") == 0) {
        if (type_is_enum(member.type))
            return *out = lower_enum_value(l, member), true;
        return operand_of_constant(l, member.constant->items[0], out);
    }
    if (strcmp(name, "name") == 0 && is_constant)
        return *out = text(l, member.constant->text), true;
    if (strcmp(name, "name") == 0)
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "a member whose name is asked for", "");
    if (is_int_enum(member.type))
        return lower_attribute(l, lower_enum_value(l, member), name, out);
    const char *shown = type_is_enum(member.type) ? lower_describe(l, member.type) : "enum member";
    return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, shown, name, "; there are name and value");
}

/* Members of one class are equal when their values are; of different classes, never. */
bool lower_enum_equal(Lower *l, Operand a, Operand b, bool negated, Operand *out)
{
    bool same_class = type_is_enum(a.type) && type_is_enum(b.type) && a.type->object == b.type->object;
    if (!same_class)
        return *out = operand_bool(l, negated), true;
    Operand x = lower_enum_value(l, a), y = lower_enum_value(l, b);
    return lower_compare(l, negated ? COMPARE_NE : COMPARE_EQ, x, y, out);
}
