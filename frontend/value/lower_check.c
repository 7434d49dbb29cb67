/* Raising: what ends a thread by an exception, and what Python's operators raise. Where the host is not told, a raise only
 * ends the thread. */
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"

SourcePos raise_place(const Lower *l)
{
    return l->instance->raise_site.function ? l->instance->raise_site : l->value->pos;
}

/* In a kernel that is a return. */
void emit_silent_raise(Lower *l)
{
    if (l->instance->is_kernel)
        emit(l, IR_RETURN, &type_none, 0, NULL);
    else if (l->emitting)
        ir_raise_silently(l->block, &l->value->pos);
}

void emit_raise(Lower *l, const IrException *exception, uint32_t count, IrValue *const *values)
{
    if (l->emitting)
        ir_raise(l->block, ir_add_exception(l->frontend->module, exception), &l->value->pos, count, values);
}

void emit_builtin_raise(Lower *l, const char *class)
{
    if (!l->frontend->request->exceptions) {
        emit_silent_raise(l);
        return;
    }
    Constant *constant = ARENA_NEW(l->arena, Constant);
    *constant = (Constant){.kind = CONSTANT_NAMESPACE, .is_exception = true, .text = class};
    emit_raise(l, &(IrException){.class = constant, .pos = raise_place(l)}, 0, NULL);
}

/* Functions of cujit's own follow NumPy and C, whose operators raise nothing. */
bool lower_checks(const Lower *l) { return l->frontend->request->exceptions && !l->instance->code->is_library; }

void emit_check(Lower *l, IrValue *condition, const char *class, const char *text)
{
    IrBlock *failed = emit_block(l), *passed = emit_block(l);
    if (!l->emitting)
        return;
    Constant *constants = ARENA_ARRAY(l->arena, Constant, 2);
    constants[0] = (Constant){.kind = CONSTANT_NAMESPACE, .is_exception = true, .text = class};
    constants[1] = (Constant){.kind = CONSTANT_STRING, .text = text};
    IrExceptionArgument *argument = ARENA_NEW(l->arena, IrExceptionArgument);
    *argument = (IrExceptionArgument){.constant = &constants[1], .type = &type_none};
    IrException exception = {.class = &constants[0], .argument_count = 1, .arguments = argument, .pos = raise_place(l)};
    emit_branch(l, condition, failed, passed);
    l->block = failed;
    emit_raise(l, &exception, 0, NULL);
    l->block = passed;
}

/* Check mode's exception with a format of values, i64 each, where the condition holds. name: of a variable, or NULL. */
static void emit_report(Lower *l, IrValue *condition, const char *class, const char *format, const char *name,
                        uint32_t count, IrValue *const *values)
{
    IrBlock *failed = emit_block(l), *passed = emit_block(l);
    if (!l->emitting)
        return;
    const Type **types = ARENA_ARRAY(l->arena, const Type *, count);
    for (uint32_t i = 0; i < count; i++)
        types[i] = TYPE_OF(INT64);
    Constant *constant = ARENA_NEW(l->arena, Constant);
    *constant = (Constant){.kind = CONSTANT_NAMESPACE, .is_exception = true, .text = class};
    IrExceptionArgument *argument = ARENA_NEW(l->arena, IrExceptionArgument);
    *argument = (IrExceptionArgument){.format = format, .type = type_tuple(l->arena, types, count, TUPLE_PLAIN)};
    IrException exception = {.class = constant,
                             .argument_count = 1,
                             .arguments = argument,
                             .pos = raise_place(l),
                             .is_check = true,
                             .array = name};
    emit_branch(l, condition, failed, passed);
    l->block = failed;
    emit_raise(l, &exception, count, values);
    l->block = passed;
}

void emit_unbound_check(Lower *l, IrValue *condition, const char *name)
{
    emit_report(l, condition, "UnboundLocalError",
                "cannot access local variable {variable} where it is not associated with a value", name, 0, NULL);
}

void emit_unbound_capture_check(Lower *l, IrValue *condition, const char *name)
{
    emit_report(l, condition, "NameError",
                "cannot access free variable {variable} where it is not associated with a value in enclosing scope",
                name, 0, NULL);
}

void emit_none_check(Lower *l, Operand operand)
{
    if (!l->emitting || !type_is_optional(operand.type) || !(l->frontend->request->checks & CHECKS_ALL) ||
        l->instance->code->is_library)
        return;
    IrValue *present = operand_ir(l, lower_tuple_item(l, operand, 0));
    emit_report(l, emit1(l, IR_NOT, TYPE_OF(BOOL), present), "TypeError",
                arena_format(l->arena, "None is used where %s is needed", lower_describe(l, operand.type->items[1])),
                NULL, 0, NULL);
}

bool lower_checks_bounds(const Lower *l)
{
    bool is_blamed = !l->instance->code->is_library || l->instance->raise_site.function;
    return l->emitting && l->frontend->request->checks & CHECK_BOUNDS && is_blamed;
}

void emit_bounds_check(Lower *l, IrValue *condition, const char *class, const char *format, uint32_t count,
                       IrValue *const *values)
{
    if (lower_checks_bounds(l))
        emit_report(l, condition, class, format, NULL, count, values);
}

void emit_check_or_trap(Lower *l, IrValue *condition, const char *class, const char *text)
{
    if (lower_checks(l)) {
        emit_check(l, condition, class, text);
        return;
    }
    IrBlock *failed = emit_block(l), *passed = emit_block(l);
    emit_branch(l, condition, failed, passed);
    l->block = failed;
    emit_intrinsic(l, INTRINSIC_CUDA_TRAP, &type_none, 0, NULL);
    emit_jump(l, passed);
    l->block = passed;
}

bool value_is_never_zero(const IrValue *value)
{
    int64_t low, high;
    if (value->op == IR_CONST)
        return type_is_integer(value->type) ? value->integer != 0 : value->real != 0 || value->imaginary != 0;
    if (value->type->kind != TYPE_INT)
        return false;
    lower_interval(value, &low, &high);
    return low > 0 || high < 0;
}

void emit_zero_check(Lower *l, IrValue *divisor, const char *text)
{
    if (!l->emitting || !text || !lower_checks(l) || value_is_never_zero(divisor))
        return;
    const Type *type = divisor->type;
    IrValue *zero = type_is_integer(type) ? emit_int(l, type, 0) : ir_const_float(l->block, type, 0, 0, &l->value->pos);
    emit_check(l, emit2(l, IR_EQ, TYPE_OF(BOOL), divisor, zero), "ZeroDivisionError", text);
}
