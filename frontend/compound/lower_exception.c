/* Exceptions: raise and assert. The module's table says what the host is to raise; a
 * RAISE carries its number and the run-time values among the arguments. Where the host is not told, a raise only ends the
 * thread. */
#include <string.h>

#include "core/diagnostic/exception_record.h"
#include "frontend/compound/lower_exception.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_text.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"

/* --- making exceptions ---------------------------------------------------------------------------------------------- */

bool operand_is_exception_class(Operand operand)
{
    return operand_is_object(operand, CONSTANT_NAMESPACE) && operand.constant->is_exception;
}

bool lower_exception_call(Lower *l, Operand class, const Call *call, Operand *out)
{
    if (call->keyword_count)
        return lower_fail(l, DIAG_UNSUPPORTED, "the arguments of an exception are positional");
    *out = lower_make_tuple(l, call->arguments, call->count, TUPLE_EXCEPTION);
    Type *type = arena_copy(l->arena, out->type, sizeof *type);
    type->object = class.constant;
    out->type = type;
    return true;
}

/* --- arguments ------------------------------------------------------------------------------------------------------ */

typedef struct Raise {
    uint32_t count, slots;
    IrValue *values[EXCEPTION_SLOTS];
} Raise;

/* Adds a scalar, or the scalars of a tuple. False with a diagnostic. */
static bool add_value(Lower *l, Raise *raise, Operand value)
{
    if (type_is_plain_tuple(value.type)) {
        for (uint32_t i = 0; i < value.type->count; i++)
            if (!add_value(l, raise, lower_tuple_item(l, value, i)))
                return false;
        return true;
    }
    if (!type_is_scalar(value.type))
        return lower_fail(l, DIAG_UNSUPPORTED,
                          arena_format(l->arena, "an exception cannot take %s along; numbers and text it can",
                                       lower_describe(l, value.type)));
    raise->slots += ir_exception_slots(value.type);
    if (raise->slots > EXCEPTION_SLOTS)
        return lower_fail(
            l, DIAG_UNSUPPORTED,
            arena_format(l->arena, "an exception takes at most %d numbers of run time along", EXCEPTION_SLOTS));
    raise->values[raise->count++] = operand_ir(l, value);
    return true;
}

/* Numbers, text and tuples of them, which the host can make again from the constant. */
static bool is_plain(const Constant *constant)
{
    switch (constant->kind) {
    case CONSTANT_NONE:
    case CONSTANT_BOOL:
    case CONSTANT_INT:
    case CONSTANT_FLOAT:
    case CONSTANT_COMPLEX:
    case CONSTANT_STRING: return true;
    case CONSTANT_TUPLE:
        for (uint32_t i = 0; i < constant->count; i++)
            if (!is_plain(constant->items[i]))
                return false;
        return true;
    default: return false;
    }
}

static bool add_argument(Lower *l, Raise *raise, Operand value, IrExceptionArgument *out)
{
    bool is_text = type_is_tagged(value.type, TUPLE_TEXT);
    *out = (IrExceptionArgument){.type = value.type, .first_slot = raise->slots};
    if (!is_text && value.constant && is_plain(value.constant)) {
        *out = (IrExceptionArgument){.constant = value.constant, .type = &type_none};
        return true;
    }
    if (!is_text)
        return add_value(l, raise, value);
    out->format = operand_text_format(value);
    for (uint32_t i = 0; i < value.type->count; i++)
        if (!add_value(l, raise, lower_tuple_item(l, value, i)))
            return false;
    return true;
}

static bool add_arguments(Lower *l, Raise *raise, Operand exception, IrException *out)
{
    uint32_t count = exception.type->count;
    IrExceptionArgument *arguments = ARENA_ARRAY(l->arena, IrExceptionArgument, count + 1);
    out->class = exception.type->object;
    out->argument_count = count;
    out->arguments = arguments;
    for (uint32_t i = 0; i < count; i++)
        if (!add_argument(l, raise, lower_tuple_item(l, exception, i), &arguments[i]))
            return false;
    return true;
}

/* --- raising -------------------------------------------------------------------------------------------------------- */

bool lower_raise(Lower *l, const SsaValue *value)
{
    Raise raise = {0};
    IrException exception = {.pos = raise_place(l)};
    if (!l->frontend->request->exceptions) {
        emit_silent_raise(l);
        return true;
    }
    if (value->count == 0)
        return lower_fail(l, DIAG_UNSUPPORTED_BYTECODE, "raise without an exception", "");
    Operand raised = lower_fact(l, value->operands[0]); /* what follows `from` is not kept */
    if (operand_is_exception_class(raised))
        exception.class = raised.constant;
    else if (!type_is_tagged(raised.type, TUPLE_EXCEPTION))
        return lower_fail(
            l, DIAG_UNSUPPORTED,
            arena_format(l->arena, "%s is no exception that can be raised", lower_describe(l, raised.type)));
    else if (!add_arguments(l, &raise, raised, &exception))
        return false;
    emit_raise(l, &exception, raise.count, raise.values);
    return true;
}
