/* Calls of functions from elsewhere: arguments become what was declared, as C would convert them, but no fraction or
 * imaginary part is dropped. How they are passed is codegen's business. */
#include "frontend/call/lower_foreign.h"

#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"

static bool refuse(Lower *l, const ForeignFunction *foreign, uint32_t index, Operand argument, const char *hint)
{
    const char *place = arena_format(l->arena, "parameter %u of %s, which is %s", index + 1, foreign->symbol,
                                     lower_describe(l, foreign->parameters[index]));
    return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, argument.type), place, hint);
}

/* A pointer, or an array whose elements lie one behind the other, of any number of axes. void* takes them all. */
static bool pass_pointer(Lower *l, const ForeignFunction *foreign, uint32_t index, Operand argument, Operand *out)
{
    const Type *to = foreign->parameters[index];
    bool takes_all = type_is_tagged(to, TUPLE_VOID_POINTER);
    if (type_is_pointer(to))
        to = to->items[0];
    if (type_is_tagged(argument.type, TUPLE_POINTER) || (takes_all && type_is_pointer(argument.type)))
        argument = lower_tuple_item(l, argument, 0);
    const Type *from = argument.type;
    if (from->kind != TYPE_ARRAY || !(takes_all || type_equal(from->element, to->element)))
        return refuse(l, foreign, index, argument, "; a pointer is taken from an array of these elements");
    if (from->layout == LAYOUT_ANY && from->ndim > 0)
        return refuse(l, foreign, index, argument, "; a pointer does not tell of gaps between elements");
    if (from->read_only && !to->read_only)
        return refuse(l, foreign, index, argument, "; the array is read-only: declare the parameter const");
    *out = argument;
    return true;
}

/* Whether a conversion would drop a fraction or an imaginary part, of items too. */
static bool drops(const Type *from, const Type *to)
{
    if (to->kind == TYPE_TUPLE && from->kind == TYPE_TUPLE && to->count == from->count) {
        for (uint32_t i = 0; i < to->count; i++)
            if (drops(from->items[i], to->items[i]))
                return true;
        return false;
    }
    return type_is_scalar(to) && to->kind != TYPE_COMPLEX &&
           !(type_is_scalar(from) && from->kind != TYPE_COMPLEX &&
             (from->kind != TYPE_FLOAT || to->kind == TYPE_FLOAT));
}

static bool pass_value(Lower *l, const ForeignFunction *foreign, uint32_t index, Operand argument, Operand *out)
{
    const Type *from = argument.type, *to = foreign->parameters[index];
    if (to->kind == TYPE_RECORD) {
        bool is_it = from->kind == TYPE_ARRAY && from->ndim == 0 && type_equal(from->element, to);
        return is_it ? (*out = argument, true)
                     : refuse(l, foreign, index, argument, "; a record of this type is taken");
    }
    return drops(from, to) ? refuse(l, foreign, index, argument, "") : lower_convert(l, argument, to, out);
}

/* A record is in memory: that of the thread, which each call of this place in the source fills anew. */
static bool record_memory(Lower *l, const Type *record, Operand *out)
{
    const Type *type = type_array(l->arena, record, 1, LAYOUT_C, false);
    IrStorage *storage = ARENA_NEW(l->arena, IrStorage);
    storage->shape[0] = 1;
    IrValue *memory = emit(l, IR_LOCAL, type, 0, NULL);
    if (memory)
        memory->storage = storage;
    return lower_subscript(l, operand_value(type, memory), operand_int(l, 0), out);
}

bool lower_foreign_call(Lower *l, const ForeignFunction *foreign, const Call *call, Operand *out)
{
    uint32_t count = foreign->parameter_count;
    if (call->keyword_count)
        return lower_fail(l, DIAG_CALL_KEYWORD, foreign->symbol, call->keywords[0]);
    if (call->count != count)
        return lower_fail(l, DIAG_CALL_ARITY, foreign->symbol, arena_format(l->arena, "%u", count),
                          count == 1 ? "" : "s", (int)call->count);
    IrValue **values = ARENA_ARRAY(l->arena, IrValue *, count + 2);
    for (uint32_t i = 0; i < count; i++) {
        Operand argument = operand_value_of(l, call->arguments[i]), passed;
        if (!(foreign->by_pointer[i] ? pass_pointer : pass_value)(l, foreign, i, argument, &passed))
            return false;
        values[i] = operand_ir(l, passed);
    }
    bool has_record = foreign->result->kind == TYPE_RECORD, is_silent = foreign->result->kind == TYPE_NONE;
    Operand record = operand_none();
    if (has_record && !record_memory(l, foreign->result, &record))
        return false;
    if (has_record)
        values[count] = record.ir;
    IrValue *value = emit(l, IR_FOREIGN, has_record ? &type_none : foreign->result, count + has_record, values);
    *out = is_silent || has_record ? record : operand_value(foreign->result, value);
    if (!value)
        return true;
    value->foreign = foreign;
    for (uint32_t i = 0; i < foreign->link_count; i++)
        ir_add_link(l->frontend->module, foreign->links[i]);
    return true;
}
