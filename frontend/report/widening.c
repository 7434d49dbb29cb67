/* The performance report: where narrow floats become float64 because of what stands beside them. float64 runs at 1/2 to
 * 1/64 of the speed of float32 on GPUs, and programs rarely mean it. And where integers become int64, which GPUs make of two
 * of 32 bits. */
#include <string.h>

#include "frontend/engine.h"
#include "frontend/report/explain.h"
#include "frontend/report/widening.h"

static uint32_t precision(const Type *type)
{
    if (!type)
        return 0;
    return type->kind == TYPE_FLOAT ? type->size : type->kind == TYPE_COMPLEX ? type->size / 2 : 0;
}

static bool is_narrow(const Type *type) { return precision(type) == 2 || precision(type) == 4; }

static bool is_python_number(Operand fact)
{
    const Constant *c = fact.constant;
    return c && (c->kind == CONSTANT_FLOAT || c->kind == CONSTANT_INT) && type_is_scalar(fact.type) &&
           precision(fact.type) != 4;
}

/* What makes the result wide: a number, a variable or an expression, with its type. */
static const char *describe_cause(Lower *l, const SsaValue *value, const char *narrow)
{
    Operand fact = lower_fact(l, value);
    if (is_python_number(fact)) {
        double number = fact.constant->kind == CONSTANT_FLOAT ? fact.constant->real : (double)fact.constant->integer;
        return arena_format(l->arena, "the number %g; %s(%g) or literals='weak' would keep %s", number, narrow, number,
                            narrow);
    }
    const char *name = variable_name(l, value);
    const char *type = lower_describe(l, fact.type);
    const char *option = type_is_integer(fact.type) ? " or ints='weak'" : "";
    if (name)
        return arena_format(l->arena, "'%s', which is %s; %s(%s)%s would keep %s", name, type, narrow, name, option,
                            narrow);
    return arena_format(l->arena, "an operand that is %s%s%s", type, *option ? "; ints='weak' would keep " : "",
                        *option ? narrow : "");
}

/* What is wide only because it was widened itself is reported where that happened. */
static bool is_consequence(Lower *l, const SsaValue *cause) { return cause->op != SSA_PHI && widening(l, cause); }

/* The first operand from `first` on that is narrow, and the first that is not. */
static const char *mixed_operands(Lower *l, const SsaValue *value, uint32_t first)
{
    const SsaValue *narrow = NULL, *cause = NULL;
    for (uint32_t i = first; i < value->count; i++) {
        const Type *type = lower_fact(l, value->operands[i]).type;
        if (!type || !type_is_scalar(type))
            continue;
        if (is_narrow(type))
            narrow = narrow ? narrow : value->operands[i];
        else
            cause = cause ? cause : value->operands[i];
    }
    if (!narrow || !cause || is_consequence(l, cause))
        return NULL;
    const char *type = lower_describe(l, lower_fact(l, narrow).type);
    return arena_format(l->arena, "%s computed in float64 because of %s", type, describe_cause(l, cause, type));
}

static const char *widening_phi(Lower *l, const SsaValue *phi)
{
    const SsaValue *narrow = NULL, *cause = NULL;
    for (uint32_t i = 0; i < phi->count; i++) {
        const Type *type = lower_fact(l, phi->operands[i]).type;
        if (!type || !type_is_scalar(type) || phi->operands[i] == phi)
            continue;
        if (is_narrow(type))
            narrow = phi->operands[i];
        else
            cause = phi->operands[i];
    }
    if (!phi->name || !narrow || !cause || is_consequence(l, cause))
        return NULL;
    const char *type = lower_describe(l, lower_fact(l, narrow).type);
    return arena_format(l->arena, "'%s' is float64 though it gets %s, because of %s", phi->name, type,
                        describe_cause(l, cause, type));
}

/* Casts are meant; functions of the user report their own lines. */
static bool is_widening_call(Lower *l, const SsaValue *value)
{
    Operand callee = lower_fact(l, value->operands[0]);
    if (operand_is_object(callee, CONSTANT_FUNCTION))
        return callee.constant->function->code->is_library;
    IntrinsicId id = operand_intrinsic(callee);
    return id != INTRINSIC_NONE && id != INTRINSIC_FLOAT && id != INTRINSIC_COMPLEX && id != INTRINSIC_INT;
}

static bool is_wide_comparison(Lower *l, const SsaValue *value)
{
    Operand a = lower_fact(l, value->operands[0]), b = lower_fact(l, value->operands[1]);
    return precision(weak_type(a, b)) == 8 || precision(weak_type(b, a)) == 8;
}

const char *widening(Lower *l, const SsaValue *value)
{
    Operand fact = lower_fact(l, value);
    if (!fact.type || l->instance->code->is_library)
        return NULL;
    bool is_wide = precision(fact.type) == 8;
    switch (value->op) {
    case SSA_BINARY: return is_wide ? mixed_operands(l, value, 0) : NULL;
    case SSA_COMPARE: return is_wide_comparison(l, value) ? mixed_operands(l, value, 0) : NULL;
    case SSA_CALL: return is_wide && is_widening_call(l, value) ? mixed_operands(l, value, 1) : NULL;
    case SSA_PHI: return is_wide ? widening_phi(l, value) : NULL;
    default: return NULL;
    }
}

/* --- integers --------------------------------------------------------------------------------------------------------- */

static bool is_narrow_integer(Operand fact)
{
    return fact.type && type_is_integer(fact.type) && fact.type->size <= 4 && !fact.constant;
}

const char *widening_of_integers(Lower *l, const SsaValue *value)
{
    Operand fact = lower_fact(l, value);
    if (value->op != SSA_BINARY || !fact.type || !type_is_integer(fact.type) || fact.type->size < 8 ||
        l->instance->code->is_library)
        return NULL;
    const Type *narrow = NULL;
    for (uint32_t i = 0; i < 2; i++) {
        Operand operand = lower_fact(l, value->operands[i]);
        bool is_register = value->operands[i]->op == SSA_ATTRIBUTE;
        bool is_one = is_narrow_integer(operand) && !is_register;
        if (!is_one && !(operand.constant && is_python_number(operand)))
            return NULL;
        narrow = is_one && (!narrow || operand.type->size > narrow->size) ? operand.type : narrow;
    }
    if (!narrow)
        return NULL;
    return arena_format(l->arena, "%s computed in %s, as numba has it; ints='weak' would keep 32 bits",
                        lower_describe(l, narrow), lower_describe(l, fact.type));
}

/* --- the list ----------------------------------------------------------------------------------------------------------- */

static void list_one(Buf *out, Lower *l, const SsaValue *value)
{
    const char *text = widening(l, value);
    if (!text && l->frontend->request->integer_widenings)
        text = widening_of_integers(l, value);
    if (!text)
        return;
    int line = value->op == SSA_PHI ? assignment_line(l, value) : value->pos.line;
    char *entry = arena_format(l->arena, "%s:%d: %s\n", l->instance->code->source.file, line, text);
    if (!out->text || !strstr(out->text, entry))
        buf_add(out, entry);
}

void list_widenings(Buf *out, Frontend *frontend, Instance *instance)
{
    Diag scratch;
    diag_clear(&scratch);
    Lower l = {.frontend = frontend, .arena = frontend->arena, .diag = &scratch, .instance = instance};
    for (uint32_t i = 0; i < instance->ssa->block_count; i++) {
        const SsaBlock *block = &instance->ssa->blocks[i];
        if (!instance->block_reached[i])
            continue;
        for (const SsaValue *phi = block->phis; phi; phi = phi->next)
            list_one(out, &l, phi);
        for (const SsaValue *value = block->first; value; value = value->next)
            list_one(out, &l, value);
    }
}
