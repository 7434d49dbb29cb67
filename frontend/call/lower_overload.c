/* What the program has given implementations by type: the implementation for a call's types is looked up in the request; one
 * that is not there yet is noted as a wish, and the call has no type until Python has been asked and the frontend runs
 * again (python/ext/argument/implementations.c). An implementation is called as any function is. */
#include <string.h>

#include "frontend/call/lower_overload.h"
#include "frontend/call/resolve_name.h"
#include "frontend/value/arguments.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/operand.h"

/* --- keys --------------------------------------------------------------------------------------------------------- */
/* Types by their text, but compile-time objects by what they are: constants are made anew in every compilation. */
static void add_type(Buf *key, const Type *type)
{
    if (type->kind == TYPE_OBJECT) {
        object_identity(type->object, key);
        return;
    }
    if (type->kind != TYPE_TUPLE) {
        type_print(key, type);
        return;
    }
    buf_printf(key, "%s ", tuple_tag_info[type->tag].text);
    if (type_has_trait(type, TRAIT_CLASS) || type_is_tagged(type, TUPLE_CLOSURE))
        buf_printf(key, "@%p ", type->object);
    if (type->name)
        buf_add(key, type->name);
    buf_add(key, "(");
    for (uint32_t i = 0; i < type->count; i++, buf_add(key, ","))
        add_type(key, type->items[i]);
    buf_add(key, ")");
}

static void add_value(Buf *key, const Constant *constant)
{
    switch (constant->kind) {
    case CONSTANT_BOOL:
    case CONSTANT_INT: buf_printf(key, "=%lld", (long long)constant->integer); return;
    case CONSTANT_FLOAT: buf_printf(key, "=%a", constant->real); return;
    default: return;
    }
}

/* Numbers whose value the code states. */
static bool is_literal(const WishArgument *argument)
{
    const Constant *constant = argument->constant;
    return constant && (constant->kind == CONSTANT_INT || constant->kind == CONSTANT_BOOL);
}

/* Text: what identities hold of addresses may have any bytes. */
static const char *make_key(Lower *l, const ImplementationWish *wish)
{
    Buf key = {0}, text = {0};
    buf_printf(&key, "%p %s %d %d", wish->overloads, wish->member ? wish->member : "", wish->form, wish->with_values);
    for (uint32_t i = 0; i < wish->count; i++) {
        buf_add(&key, ";");
        add_type(&key, wish->arguments[i].type);
        if (wish->with_values && wish->arguments[i].constant)
            add_value(&key, wish->arguments[i].constant);
    }
    for (uint32_t i = 0; i < wish->keyword_count; i++)
        buf_printf(&key, " %s", wish->keywords[i]);
    for (size_t i = 0; i < key.length; i++) {
        unsigned char byte = (unsigned char)key.text[i];
        buf_printf(&text, byte >= ' ' && byte < 127 && byte != '\\' ? "%c" : "\\%02x", byte);
    }
    const char *made = arena_string(l->arena, buf_text(&text));
    buf_free(&key);
    buf_free(&text);
    return made;
}

/* --- finding one ---------------------------------------------------------------------------------------------------- */
static bool has_wish(const Frontend *frontend, const char *key)
{
    for (const ImplementationWish *wish = *frontend->request->wishes; wish; wish = wish->next)
        if (strcmp(wish->key, key) == 0)
            return true;
    return false;
}

static void note_wish(Lower *l, const ImplementationWish *wish)
{
    Frontend *frontend = l->frontend;
    const ImplementationWish **wishes = frontend->request->wishes;
    if (!wishes || has_wish(frontend, wish->key))
        return;
    ImplementationWish *kept = arena_copy(l->arena, wish, sizeof *wish);
    if (frontend->last_wish)
        frontend->last_wish->next = kept;
    else
        *wishes = kept;
    frontend->last_wish = kept;
}

static void note_use(Lower *l, const Implementation *implementation)
{
    Frontend *frontend = l->frontend;
    const Implementation **used = frontend->request->used;
    if (!used || !l->emitting)
        return;
    for (const Implementation *each = *used; each; each = each->next)
        if (each->key == implementation->key)
            return;
    Implementation *kept = arena_copy(l->arena, implementation, sizeof *implementation);
    kept->next = NULL;
    if (frontend->last_used)
        frontend->last_used->next = kept;
    else
        *used = kept;
    frontend->last_used = kept;
}

/* The answer to the wish; NULL with a diagnostic where nobody has given one yet. */
static const Implementation *answer(Lower *l, ImplementationWish *wish)
{
    wish->key = make_key(l, wish);
    for (const Implementation *each = l->frontend->request->implementations; each; each = each->next)
        if (strcmp(each->key, wish->key) == 0) {
            note_use(l, each);
            return each;
        }
    note_wish(l, wish);
    lower_fail(l, DIAG_TYPE_UNRESOLVED, ": an overload is not chosen yet");
    return NULL;
}

static bool has_literal(const ImplementationWish *wish)
{
    for (uint32_t i = 0; i < wish->count; i++)
        if (is_literal(&wish->arguments[i]))
            return true;
    return false;
}

/* By types alone and with the values of numbers. Types come first where the program does not ask otherwise, so that one
 * implementation serves all values. */
static const Implementation *choose(Lower *l, const Constant *overloaded, ImplementationWish *wish)
{
    bool has_choice = wish->form != OVERLOAD_ATTRIBUTE && !wish->member && has_literal(wish);
    bool prefers_values = overloaded->integer;
    wish->with_values = has_choice && prefers_values;
    const Implementation *chosen = answer(l, wish);
    if (!chosen || chosen->function || chosen->is_method || !has_choice)
        return chosen;
    ImplementationWish second = *wish;
    second.with_values = !prefers_values;
    const Implementation *other = answer(l, &second);
    return !other || other->function || other->error ? other : chosen;
}

static ImplementationWish wish_for(Lower *l, const Constant *overloaded, OverloadForm form, const Call *call)
{
    uint32_t count = call->count + call->keyword_count;
    WishArgument *arguments = ARENA_ARRAY(l->arena, WishArgument, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const Operand *operand = i < call->count ? &call->arguments[i] : &call->keyword_values[i - call->count];
        arguments[i] = (WishArgument){operand->type, operand->constant};
    }
    return (ImplementationWish){.overloads = overloaded->overloads,
                                .member = overloaded->type ? overloaded->text : NULL,
                                .form = form,
                                .count = count,
                                .arguments = arguments,
                                .keyword_count = call->keyword_count,
                                .keywords = call->keywords};
}

/* Calls the implementation where there is one. */
static bool call_chosen(Lower *l, const Constant *overloaded, OverloadForm form, const Call *call, Operand *out,
                        bool *is_own)
{
    ImplementationWish wish = wish_for(l, overloaded, form, call);
    const Implementation *chosen = choose(l, overloaded, &wish);
    *is_own = !chosen || chosen->function || chosen->error;
    if (!chosen)
        return false;
    if (chosen->error)
        return lower_fail(l, DIAG_OVERLOAD_FAILED, chosen->error);
    return chosen->function && lower_function_call(l, chosen->function, call, out);
}

/* --- functions ------------------------------------------------------------------------------------------------------ */
/* Stands for itself in Python only: kernels have its implementations. */
static bool is_stub(const Constant *otherwise)
{
    if (otherwise->kind == CONSTANT_FUNCTION)
        return !otherwise->function->code->is_library;
    return otherwise->kind == CONSTANT_UNSUPPORTED || otherwise->kind == CONSTANT_NAMESPACE;
}

static const Operand *all_arguments(Lower *l, const Call *call)
{
    Operand *all = ARENA_ARRAY(l->arena, Operand, call->count + call->keyword_count + 1);
    for (uint32_t i = 0; i < call->count + call->keyword_count; i++)
        all[i] = i < call->count ? call->arguments[i] : call->keyword_values[i - call->count];
    return all;
}

bool lower_overloaded_call(Lower *l, const Constant *overloaded, Call *call, Operand *out, bool *is_own)
{
    bool ok = call_chosen(l, overloaded, OVERLOAD_CALL, call, out, is_own);
    if (*is_own || !is_stub(overloaded->items[0]))
        return ok;
    *is_own = true;
    return lower_fail(l, DIAG_OVERLOAD_NONE, overloaded->text,
                      lower_describe_all(l, all_arguments(l, call), call->count + call->keyword_count), "");
}

/* --- attributes and methods ------------------------------------------------------------------------------------------ */
static const Constant *registered(const Lower *l, const char *name)
{
    const CodeSnapshot *code = l->instance ? l->instance->code : NULL;
    for (uint32_t i = 0; code && i < code->member_count; i++)
        if (strcmp(code->members[i]->text, name) == 0)
            return code->members[i];
    return NULL;
}

/* What the class of a value has beside fields: a method, a property or a constant, if anything. It is asked for as
 * implementations are, since values may be arguments of functions that never name their class. NULL for other values. */
static const Constant *of_class(Lower *l, const Type *type, const char *name)
{
    uint32_t place;
    const void *class = type_class(type);
    if (!class || type_member(type, name, &place))
        return NULL;
    Constant *constant = ARENA_NEW(l->arena, Constant);
    constant->kind = CONSTANT_OVERLOADED;
    constant->text = name;
    constant->type = type;
    constant->overloads = (void *)class;
    return constant;
}

static bool chosen_attribute(Lower *l, const Constant *overloaded, Operand object, const char *name, Operand *out,
                             bool *is_own)
{
    *is_own = false;
    if (!overloaded)
        return false;
    Call call = {.name = name, .count = 1, .arguments = &object};
    ImplementationWish wish = wish_for(l, overloaded, OVERLOAD_ATTRIBUTE, &call);
    const Implementation *chosen = choose(l, overloaded, &wish);
    *is_own = !chosen || chosen->function || chosen->error || chosen->is_method;
    if (!chosen)
        return false;
    if (chosen->error)
        return lower_fail(l, DIAG_OVERLOAD_FAILED, chosen->error);
    if (chosen->is_method)
        return *out = operand_bound_method(l, object, name), true;
    return chosen->function && lower_function_call(l, chosen->function, &call, out);
}

bool lower_overloaded_attribute(Lower *l, Operand object, const char *name, Operand *out, bool *is_own)
{
    bool ok = chosen_attribute(l, registered(l, name), object, name, out, is_own);
    return *is_own ? ok : chosen_attribute(l, of_class(l, object.type, name), object, name, out, is_own);
}

static bool chosen_method(Lower *l, const Constant *overloaded, const Call *call, Operand *out, bool *is_own)
{
    *is_own = false;
    return overloaded && call_chosen(l, overloaded, OVERLOAD_METHOD, call, out, is_own);
}

bool lower_overloaded_method(Lower *l, Operand receiver, const char *name, const Call *call, Operand *out, bool *is_own)
{
    Call with_receiver = *call;
    Operand *arguments = ARENA_ARRAY(l->arena, Operand, call->count + 1);
    arguments[0] = receiver;
    for (uint32_t i = 0; i < call->count; i++)
        arguments[1 + i] = call->arguments[i];
    with_receiver.arguments = arguments;
    with_receiver.count = call->count + 1;
    bool ok = chosen_method(l, registered(l, name), &with_receiver, out, is_own);
    return *is_own ? ok : chosen_method(l, of_class(l, receiver.type, name), &with_receiver, out, is_own);
}

bool lower_overloaded_number(Lower *l, const Type *type, const Call *call, Operand *out, bool *is_own)
{
    *is_own = false;
    if (call->count != 1 || call->keyword_count || !type_class(call->arguments[0].type))
        return false;
    const char *name = type->kind == TYPE_BOOL      ? "__bool__"
                       : type->kind == TYPE_FLOAT   ? "__float__"
                       : type->kind == TYPE_COMPLEX ? "__complex__"
                                                    : "__int__";
    return lower_overloaded_method(l, call->arguments[0], name, &(Call){.name = name}, out, is_own);
}

/* --- operators ------------------------------------------------------------------------------------------------------- */
/* An operator as Python has it: the function of module operator, the method of the left operand's class, and that of the
 * right one's, which is asked where the left has none. */
typedef struct OperatorNames {
    const char *function, *method, *reflected;
} OperatorNames;

static const OperatorNames binary_names[] = {
#define BINARY(id, text, promotion, op, ...) [NB_##id] = {__VA_ARGS__},
#include "core/type/operator.def"
};

static const OperatorNames compare_names[] = {
#define COMPARE(id, text, op, ...) [COMPARE_##id] = {__VA_ARGS__},
#include "core/type/operator.def"
};

static OperatorNames operator_names(const SsaValue *value)
{
    switch (value->op) {
    case SSA_BINARY: return binary_names[value->argument];
    case SSA_COMPARE: return compare_names[value->argument];
    case SSA_CONTAINS: return (OperatorNames){"contains", "__contains__", NULL};
    case SSA_NEGATIVE: return (OperatorNames){"neg", "__neg__", NULL};
    case SSA_POSITIVE: return (OperatorNames){"pos", "__pos__", NULL};
    case SSA_INVERT: return (OperatorNames){"invert", "__invert__", NULL};
    case SSA_SUBSCRIPT: return (OperatorNames){"getitem", "__getitem__", NULL};
    case SSA_STORE_SUBSCRIPT: return (OperatorNames){"setitem", "__setitem__", NULL};
    default: return (OperatorNames){0};
    }
}

static bool is_own_type(Operand operand)
{
    return operand.type && (type_is_tagged(operand.type, TUPLE_INSTANCE) || type_is_tagged(operand.type, TUPLE_NAMED));
}

/* The operands in the order in which the function of module operator has them. */
static void order_operands(const SsaValue *value, const Operand *x, Operand *ordered)
{
    for (uint32_t i = 0; i < value->count && i < 3; i++)
        ordered[i] = x[i];
    if (value->op == SSA_CONTAINS) {
        ordered[0] = x[1];
        ordered[1] = x[0];
    } else if (value->op == SSA_STORE_SUBSCRIPT) {
        ordered[0] = x[1];
        ordered[1] = x[2];
        ordered[2] = x[0];
    }
}

/* By what is registered for the function of module operator, else by the operands' classes. */
static bool call_operator(Lower *l, OperatorNames names, uint32_t count, Operand *ordered, Operand *out, bool *is_own)
{
    const Constant *overloaded = registered(l, arena_format(l->arena, "operator.%s", names.function));
    Call call = {.name = names.function, .count = count, .arguments = ordered};
    bool ok = overloaded && call_chosen(l, overloaded, OVERLOAD_CALL, &call, out, is_own);
    const Constant *own = *is_own ? NULL : of_class(l, ordered[0].type, names.method);
    if (own)
        ok = call_chosen(l, own, OVERLOAD_METHOD, &call, out, is_own);
    bool is_reflected = !*is_own && names.reflected && count == 2 && !type_equal(ordered[0].type, ordered[1].type);
    own = is_reflected ? of_class(l, ordered[1].type, names.reflected) : NULL;
    Operand turned[] = {ordered[count - 1], ordered[0]};
    call.arguments = turned;
    return own ? call_chosen(l, own, OVERLOAD_METHOD, &call, out, is_own) : ok;
}

bool lower_overloaded_operator(Lower *l, const SsaValue *value, const Operand *x, Operand *out, bool *is_own)
{
    OperatorNames names = operator_names(value);
    bool has_own = false;
    *is_own = false;
    for (uint32_t i = 0; names.function && value->count <= 3 && i < value->count; i++)
        has_own |= is_own_type(x[i]);
    if (!has_own)
        return false;
    Operand *ordered = ARENA_ARRAY(l->arena, Operand, 3);
    order_operands(value, x, ordered);
    bool ok = call_operator(l, names, value->count, ordered, out, is_own);
    if (ok && value->op == SSA_CONTAINS)
        ok = lower_truth(l, *out, out) && (!value->argument || lower_unary(l, SSA_NOT, *out, out));
    if (ok && value->op == SSA_STORE_SUBSCRIPT)
        *out = operand_none();
    return ok;
}
