/* Calls: what is called, binding of arguments to parameters, instances of Python functions, nested functions. */
#include <stdio.h>
#include <string.h>

#include "frontend/array/lower_iterate.h"
#include "frontend/call/constant_parameter.h"
#include "frontend/call/handlers.h"
#include "frontend/call/builtin/lower_builtin.h"
#include "frontend/call/lower_call.h"
#include "frontend/call/lower_foreign.h"
#include "frontend/call/lower_keywords.h"
#include "frontend/call/lower_overload.h"
#include "frontend/call/raise_site.h"
#include "frontend/call/resolve_name.h"
#include "frontend/compound/generator.h"
#include "frontend/compound/lower_cell.h"
#include "frontend/compound/lower_class.h"
#include "frontend/compound/lower_dict.h"
#include "frontend/compound/lower_exception.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_enum.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/operand.h"

/* --- Python functions --------------------------------------------------------------------------------------------- */

typedef struct Callee {
    const CodeSnapshot *code;
    const char *name; /* for messages */
    const Snapshot *snapshot; /* NULL: a nested function */
    uint32_t captured_count;
    const Operand *captured; /* values of the free variables */
    uint32_t default_count;
    const Operand *defaults; /* of the last positional parameters */
    const Operand *keyword_defaults; /* of a nested function: a dict, or NULL */
} Callee;

static bool bind_keyword(Lower *l, const Callee *callee, const char *name, Operand value, Operand *bound)
{
    uint32_t named = callee->code->argument_count + callee->code->keyword_only_count;
    for (uint32_t i = callee->code->positional_only_count; i < named; i++)
        if (strcmp(callee->code->local_names[i], name) == 0) {
            if (bound[i].type)
                return lower_fail(l, DIAG_UNSUPPORTED,
                                  arena_format(l->arena, "%s got two values for parameter '%s'", callee->name, name));
            bound[i] = value;
            return true;
        }
    return callee->code->has_varkeywords || lower_fail(l, DIAG_CALL_KEYWORD, callee->name, name);
}

/* The keywords that are no parameters, for **keywords. */
static Operand other_keywords(Lower *l, const CodeSnapshot *code, const Call *call)
{
    const char **names = ARENA_ARRAY(l->arena, const char *, call->keyword_count + 1);
    Operand *values = ARENA_ARRAY(l->arena, Operand, call->keyword_count + 1);
    uint32_t count = 0, named = code->argument_count + code->keyword_only_count;
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        bool is_parameter = false;
        for (uint32_t k = code->positional_only_count; k < named; k++)
            is_parameter |= strcmp(code->local_names[k], call->keywords[i]) == 0;
        if (is_parameter)
            continue;
        names[count] = call->keywords[i];
        values[count++] = call->keyword_values[i];
    }
    return lower_keywords_dict(l, names, values, count);
}

static bool bind_default(Lower *l, const Callee *callee, uint32_t parameter, Operand *bound)
{
    const CodeSnapshot *code = callee->code;
    uint32_t first = code->argument_count - callee->default_count;
    if (parameter < code->argument_count && parameter >= first) {
        *bound = callee->defaults[parameter - first];
        return true;
    }
    const Snapshot *snapshot = callee->snapshot;
    for (uint32_t i = 0; snapshot && i < snapshot->keyword_default_count; i++)
        if (strcmp(snapshot->keyword_default_names[i], code->local_names[parameter]) == 0)
            return operand_of_constant(l, snapshot->keyword_defaults[i], bound);
    const Operand *found = callee->keyword_defaults
                               ? lower_dict_default(l, *callee->keyword_defaults, code->local_names[parameter])
                               : NULL;
    if (found)
        *bound = *found;
    return found != NULL;
}

static bool refuse_count(Lower *l, const Callee *callee, uint32_t given)
{
    uint32_t most = callee->code->argument_count;
    const char *range = callee->default_count ? arena_format(l->arena, "%u to %u", most - callee->default_count, most)
                                              : arena_format(l->arena, "%u", most);
    return lower_fail(l, DIAG_CALL_ARITY, callee->name, range, most == 1 ? "" : "s", (int)given);
}

/* One operand for each SSA parameter of the callee. */
static Operand *bind(Lower *l, const Callee *callee, const Call *call, uint32_t *count)
{
    const CodeSnapshot *code = callee->code;
    uint32_t named = code->argument_count + code->keyword_only_count;
    uint32_t given = named + (code->has_varargs ? 1 : 0) + (code->has_varkeywords ? 1 : 0);
    *count = given + code->free_count;
    Operand *bound = ARENA_ARRAY(l->arena, Operand, *count + 1);
    if (call->count > code->argument_count && !code->has_varargs) {
        refuse_count(l, callee, call->count + call->keyword_count);
        return NULL;
    }
    for (uint32_t i = 0; i < call->count && i < code->argument_count; i++)
        bound[i] = call->arguments[i];
    for (uint32_t i = 0; i < call->keyword_count; i++)
        if (!bind_keyword(l, callee, call->keywords[i], call->keyword_values[i], bound))
            return NULL;
    for (uint32_t i = 0; i < named; i++)
        if (!bound[i].type && !bind_default(l, callee, i, &bound[i])) {
            if (!diag_failed(l->diag))
                refuse_count(l, callee, call->count + call->keyword_count);
            return NULL;
        }
    if (code->has_varargs) {
        uint32_t extra = call->count > code->argument_count ? call->count - code->argument_count : 0;
        bound[named] = lower_make_tuple(l, call->arguments + (extra ? code->argument_count : 0), extra, TUPLE_PLAIN);
    }
    if (code->has_varkeywords)
        bound[given - 1] = other_keywords(l, code, call);
    for (uint32_t i = 0; i < code->free_count; i++)
        bound[given + i] = callee->captured[i];
    return bound;
}

static IrValue *emit_call(Lower *l, Instance *instance, const Operand *bound, uint32_t count)
{
    IrValue *memory = NULL;
    if (instance_borrows_memory(instance) && !emit_lent_memory(l, instance, &memory))
        return NULL;
    IrFunc *ir = instance_declare(l->frontend, instance);
    IrValue **arguments = ARENA_ARRAY(l->arena, IrValue *, count + 1);
    uint32_t passed = 0;
    for (uint32_t i = 0; i < count; i++)
        if (operand_is_runtime(instance->parameters[i]))
            arguments[passed++] = operand_ir(l, bound[i]);
    if (memory)
        arguments[passed++] = memory;
    IrValue *call = emit(l, IR_CALL, ir->result, passed, arguments);
    call->callee = ir;
    return call;
}

/* What the callee knows of an argument: its type, and its value where the parameter asks for that. */
static bool pass_argument(Lower *l, const Callee *callee, uint32_t index, Operand *argument)
{
    bool is_kept = callee->snapshot && index < 64 && callee->snapshot->constant_parameters >> index & 1;
    if (is_kept && !argument->constant)
        return lower_fail(l, DIAG_CONSTANT_REQUIRED,
                          arena_format(l->arena, "'%s' of %s", callee->code->local_names[index], callee->name), "");
    if (!is_kept)
        *argument = operand_as_argument(l, *argument);
    return true;
}

/* The constant range that a comprehension or generator expression runs over: it says how many items there are. */
static bool keeps_range(const CodeSnapshot *code, Operand first)
{
    return strcmp(code->local_names[0], ".0") == 0 && first.constant && type_is_tagged(first.type, TUPLE_RANGE);
}

/* What it shares with other functions has been found to hold more since. */
static bool is_outdated(const Lower *l, const Instance *instance)
{
    return instance->state == INSTANCE_DONE && instance->cell_version != l->frontend->cell_version &&
           instance_shares_cells(instance);
}

/* The instance for these facts, inferred unless that is under way. NULL with a diagnostic. */
static Instance *instance_for(Lower *l, const CodeSnapshot *code, const Snapshot *snapshot, const Operand *facts,
                              uint32_t count)
{
    Instance *instance = instance_get(l->frontend, l->diag, code, snapshot, facts, count, raise_site(l, code));
    if (!instance)
        return NULL;
    if (!instance->called_by && instance->state == INSTANCE_NEW && l->instance && !instance->is_kernel) {
        instance->called_by = l->instance;
        instance->called_at = l->value->pos;
    }
    if (!l->emitting && (instance->state == INSTANCE_NEW || is_outdated(l, instance)))
        infer_instance(l->frontend, instance);
    return instance;
}

Instance *lower_instance(Lower *l, const CodeSnapshot *code, const Snapshot *snapshot, const Operand *given,
                         const Operand *bound, uint32_t count)
{
    Operand *facts = ARENA_ARRAY(l->arena, Operand, count + 1);
    for (uint32_t i = 0; i < count; i++)
        facts[i] = (Operand){.type = bound[i].type, .constant = bound[i].constant, .weak = bound[i].weak};
    Instance *instance = instance_for(l, code, snapshot, facts, count);
    while (instance && (instance->wanted || instance->fails) && keep_constants(l, instance, given, count, facts))
        instance = instance_for(l, code, snapshot, facts, count);
    if (instance && l->emitting && !instance->block_reached[0]) { /* inference stopped before it came here */
        lower_fail(l, DIAG_CALL_DEPTH, CALL_DEPTH_LIMIT, code->source.name);
        return NULL;
    }
    if (instance && instance->provisional && !l->emitting && instance != l->instance)
        l->instance->provisional = true;
    return instance;
}

static bool call_instance(Lower *l, const Callee *callee, const Call *call, Operand *out)
{
    uint32_t count;
    Operand *bound = bind(l, callee, call, &count);
    if (!bound || (callee->code->is_library && !weaken_arguments(l, bound, count, bound)))
        return false;
    Operand *given = arena_copy(l->arena, bound, count * sizeof *bound);
    uint32_t known = callee->snapshot ? count - callee->code->free_count : count; /* captured values never change */
    for (uint32_t i = 0; i < known; i++)
        if (!(i == 0 && keeps_range(callee->code, bound[i])) && !pass_argument(l, callee, i, &bound[i]))
            return false;
    Instance *instance = lower_instance(l, callee->code, callee->snapshot, given, bound, count);
    if (!instance)
        return false;
    if (instance->ssa->is_generator)
        return lower_make_generator(l, instance, bound, count, out);
    if (instance->state == INSTANCE_RUNNING) {
        instance->is_recursive = true;
        if (!l->emitting)
            l->instance->provisional = true;
    }
    *out = instance->result;
    if (!l->emitting) {
        l->instance->makes_cells |= instance_borrows_memory(instance);
        return true;
    }
    IrValue *value = emit_call(l, instance, bound, count);
    if (!value)
        return false;
    if (!out->type) { /* an error in the callee, or it never returns and what follows is never reached */
        if (!emit_instance(l->frontend, instance))
            return false;
        if (instance->is_recursive)
            return lower_fail(l, DIAG_RECURSION_TYPE, callee->code->source.name);
        l->never_returns = true;
        *out = operand_none();
    }
    if (operand_is_runtime(*out))
        out->ir = value;
    return true;
}

static bool constants_as_operands(Lower *l, const Constant *const *constants, uint32_t count, const Operand **out)
{
    Operand *operands = ARENA_ARRAY(l->arena, Operand, count);
    *out = operands;
    for (uint32_t i = 0; i < count; i++)
        if (!operand_of_capture(l, constants[i], &operands[i]))
            return false;
    return true;
}

static bool check_callable(Lower *l, const CodeSnapshot *code)
{
    if (code->is_coroutine)
        return lower_fail(l, DIAG_UNSUPPORTED_BYTECODE, "async", "; a kernel's threads wait with cuda.syncthreads()");
    return true;
}

/* Captured constants stay constants in the callee. */
bool lower_function_call(Lower *l, const Snapshot *snapshot, const Call *call, Operand *out)
{
    const CodeSnapshot *code = snapshot->code;
    if (!check_callable(l, code))
        return false;
    Callee callee = {.code = code,
                     .name = code->is_library && call->path ? call->path : code->source.name,
                     .snapshot = snapshot,
                     .default_count = snapshot->default_count};
    const Operand *captured;
    callee.captured_count = code->free_count;
    if (!constants_as_operands(l, snapshot->free_values, code->free_count, &captured) ||
        !constants_as_operands(l, snapshot->defaults, snapshot->default_count, &callee.defaults))
        return false;
    callee.captured = captured;
    return call_instance(l, &callee, call, out);
}

/* --- nested functions --------------------------------------------------------------------------------------------- */

/* A nested function is a tuple of its defaults and captured values; its type leads to its code. */
bool lower_function(Lower *l, const SsaValue *value, Operand *out)
{
    Operand parts[3];
    uint32_t count = 0;
    for (uint32_t i = 0; i < value->count; i++)
        parts[count++] = lower_fact(l, value->operands[i]);
    *out = lower_make_tuple(l, parts, count, TUPLE_CLOSURE);
    Type *type = arena_copy(l->arena, out->type, sizeof *type);
    type->object = value->constant->code;
    type->ndim =
        (uint8_t)value->argument; /* which parts there are: 8 captured values, 2 keyword defaults, 1 defaults */
    out->type = type;
    return true;
}

static const Constant function_itself = {.kind = CONSTANT_NAMESPACE, .text = "function", .shown_as = "this function"};

Operand operand_self(Lower *l)
{
    return (Operand){.type = type_object(l->arena, &function_itself), .constant = &function_itself};
}

Operand operand_of_self(Lower *l, Operand parameter, const Operand *parameters)
{
    const CodeSnapshot *code = l->instance->code;
    if (parameter.constant != &function_itself)
        return parameter;
    Operand captured = lower_make_tuple(l, parameters + l->instance->parameter_count - code->free_count,
                                        code->free_count, TUPLE_PLAIN);
    Operand closure = lower_make_tuple(l, &captured, 1, TUPLE_CLOSURE);
    Type *type = arena_copy(l->arena, closure.type, sizeof *type);
    type->object = code;
    type->ndim = 8;
    closure.type = type;
    return closure;
}

static bool is_tuple_of(Operand tuple, uint32_t count)
{
    return tuple.type ? tuple.type->kind == TYPE_TUPLE && tuple.type->count == count : count == 0;
}

static bool call_closure(Lower *l, Operand closure, const Call *call, Operand *out)
{
    const CodeSnapshot *code = closure.type->object;
    int parts = closure.type->ndim;
    Callee callee = {.code = code, .name = code->source.name};
    if (!check_callable(l, code))
        return false;
    Operand captured = {0}, defaults = {0}, keyword_defaults = {0};
    uint32_t next = 0;
    if (parts & 8)
        captured = lower_tuple_item(l, closure, next++);
    if (parts & 2)
        keyword_defaults = lower_tuple_item(l, closure, next++);
    if (parts & 1)
        defaults = lower_tuple_item(l, closure, next++);
    callee.keyword_defaults = parts & 2 ? &keyword_defaults : NULL;
    if (!is_tuple_of(captured, code->free_count) || ((parts & 1) && defaults.type->kind != TYPE_TUPLE))
        return lower_fail(l, DIAG_BYTECODE_BROKEN, code->source.name, "it is made without its variables or defaults");
    Operand *values = ARENA_ARRAY(l->arena, Operand, code->free_count + 1);
    for (uint32_t i = 0; i < code->free_count; i++) {
        values[i] = lower_tuple_item(l, captured, i);
        if (values[i].constant == &function_itself && parts & 3)
            values[i] = closure; /* only what was called knows the defaults */
    }
    callee.captured = values;
    callee.captured_count = code->free_count;
    if (parts & 1) {
        Operand *items = ARENA_ARRAY(l->arena, Operand, defaults.type->count);
        for (uint32_t i = 0; i < defaults.type->count; i++)
            items[i] = lower_tuple_item(l, defaults, i);
        callee.defaults = items;
        callee.default_count = defaults.type->count;
    }
    return call_instance(l, &callee, call, out);
}

/* --- dispatch ----------------------------------------------------------------------------------------------------- */

static const char *intrinsic_name(Lower *l, IntrinsicId id)
{
    const char *path = intrinsic_info[id].path;
    if (strncmp(path, "builtins.", 9) == 0)
        path += 9;
    return arena_format(l->arena, "%.*s", (int)strcspn(path, " "), path);
}

/* Forms of a call that the function written in the kernel language answers for. */
static bool is_general(const Call *call)
{
    switch (call->intrinsic) {
    case INTRINSIC_MIN:
    case INTRINSIC_MAX: {
        const Type *only = call->count == 1 ? call->arguments[0].type : NULL;
        bool is_tuple = only && type_is_plain_tuple(only) && only->count > 0;
        return call->keyword_count || (only && !is_tuple && !type_is_scalar(only));
    }
    case INTRINSIC_ROUND: return call->count > 1 || call->keyword_count;
    case INTRINSIC_POW: return call->count > 2 || call->keyword_count;
    default: return false;
    }
}

static bool call_intrinsic(Lower *l, Call *call, const Snapshot *general, Operand *out)
{
    call->name = intrinsic_name(l, call->intrinsic);
    if (general && is_general(call))
        return lower_function_call(l, general, call, out);
    if (!call_place_keywords(l, call))
        return false;
    if (call->keyword_count && !handler_takes_keywords(call->intrinsic))
        return call_refuse(l, call, ": it takes no keywords");
    return lower_intrinsic_call(l, call, out);
}

/* The call with members of IntEnums as numbers: what all but functions take. */
static void take_numbers(Lower *l, Call *call)
{
    Operand *all = ARENA_ARRAY(l->arena, Operand, call->count + call->keyword_count);
    for (uint32_t i = 0; i < call->count; i++)
        all[i] = operand_number_of(l, call->arguments[i]);
    for (uint32_t i = 0; i < call->keyword_count; i++)
        all[call->count + i] = operand_number_of(l, call->keyword_values[i]);
    call->arguments = all;
    call->keyword_values = all + call->count;
}

static bool call_operand(Lower *l, Operand callee, Call *call, Operand *out);

static bool call_overloaded(Lower *l, const Constant *overloaded, Call *call, Operand *out)
{
    Operand otherwise;
    bool is_own;
    bool ok = lower_overloaded_call(l, overloaded, call, out, &is_own);
    if (is_own)
        return ok;
    return operand_of_constant(l, overloaded->items[0], &otherwise) && call_operand(l, otherwise, call, out);
}

static bool call_operand(Lower *l, Operand callee, Call *call, Operand *out)
{
    if (operand_is_object(callee, CONSTANT_OVERLOADED))
        return call_overloaded(l, callee.constant, call, out);
    if (operand_is_enum_class(callee))
        return lower_enum_call(l, callee, call, out);
    if (operand_is_object(callee, CONSTANT_INTRINSIC) || operand_is_object(callee, CONSTANT_TYPE) ||
        operand_is_object(callee, CONSTANT_FOREIGN))
        take_numbers(l, call);
    if (operand_is_object(callee, CONSTANT_INTRINSIC)) {
        call->intrinsic = callee.constant->intrinsic;
        return call_intrinsic(l, call, callee.constant->function, out);
    }
    call->path = callee.constant ? callee.constant->shown_as : NULL;
    if (operand_is_object(callee, CONSTANT_FUNCTION))
        return lower_function_call(l, callee.constant->function, call, out);
    if (operand_is_object(callee, CONSTANT_FOREIGN))
        return lower_foreign_call(l, callee.constant->foreign, call, out);
    if (operand_is_exception_class(callee))
        return lower_exception_call(l, callee, call, out);
    if (operand_is_object(callee, CONSTANT_TYPE)) {
        call->name = lower_describe(l, callee.constant->type);
        return lower_type_call(l, callee.constant->type, call, out);
    }
    if (operand_is_object(callee, CONSTANT_CLASS))
        return lower_class_call(l, callee.constant, call, out);
    if (type_is_tagged(callee.type, TUPLE_CLOSURE))
        return call_closure(l, callee, call, out);
    if (type_is_tagged(callee.type, TUPLE_BOUND)) {
        const Constant *name = callee.type->object;
        call->name = name->text;
        return lower_method_call(l, lower_tuple_item(l, callee, 0), name->text, call, out);
    }
    const char *shown =
        callee.constant && callee.constant->shown_as ? callee.constant->shown_as : lower_describe(l, callee.type);
    return lower_fail(l, DIAG_TYPE_CALL, shown, "");
}

/* f(*items) */
static bool call_starred(Lower *l, const SsaValue *value, Operand *out)
{
    Operand items;
    if (!lower_all_items(l, lower_fact(l, value->operands[1]), &items))
        return false;
    Operand *arguments = ARENA_ARRAY(l->arena, Operand, items.type->count + 1);
    for (uint32_t i = 0; i < items.type->count; i++)
        arguments[i] = lower_tuple_item(l, items, i);
    Call call = {.count = items.type->count, .arguments = arguments};
    if (value->count == 3 && !lower_dict_keywords(l, lower_fact(l, value->operands[2]), &call))
        return false;
    return call_operand(l, operand_value_of(l, lower_fact(l, value->operands[0])), &call, out);
}

bool lower_call(Lower *l, const SsaValue *value, Operand *out)
{
    if (value->argument == 1)
        return call_starred(l, value, out);
    uint32_t given = value->count - 1;
    Operand *arguments = ARENA_ARRAY(l->arena, Operand, given + 1);
    for (uint32_t i = 0; i < given; i++)
        arguments[i] = lower_fact(l, value->operands[i + 1]);
    Call call = {.count = given - value->keyword_count,
                 .arguments = arguments,
                 .keyword_count = value->keyword_count,
                 .keywords = value->keywords,
                 .keyword_values = arguments + (given - value->keyword_count)};
    return call_operand(l, operand_value_of(l, lower_fact(l, value->operands[0])), &call, out);
}
