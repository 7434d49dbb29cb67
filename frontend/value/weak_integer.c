/* ints='weak': integers of at most 32 bits are computed in 32, as CUDA C has it, where numba makes int64 of them; and an
 * integer beside a float takes the float's type. Python's own numbers take the type beside them, if they fit into it.
 * Beside uint32, int32 becomes uint32 where only the lowest bits count; quotients, comparisons, minima and maxima of the two
 * are those of int64. */
#include "frontend/engine.h"

bool ints_are_weak(const Lower *l)
{
    return l->frontend->request->weak_ints && l->instance && !l->instance->code->is_library;
}

static bool is_whole(const Type *type) { return type_is_integer(type) || type->kind == TYPE_BOOL; }

static bool is_weak(Operand operand) { return operand.weak & WEAK_BESIDE_INTS; }

/* The type of 32 bits that an integer is computed in; NULL: it has more. */
static const Type *word_of(const Type *type)
{
    if (type->kind != TYPE_BOOL && type->size > 4)
        return NULL;
    return type->kind == TYPE_UINT && type->size == 4 ? TYPE_OF(UINT32) : TYPE_OF(INT32);
}

/* Whether a weak integer is, or may be taken for, a number of the type. */
static bool fits(Operand operand, const Type *type)
{
    int64_t number;
    if (!operand_const_int(operand, &number))
        return !operand.constant;
    bool is_signed = type->kind == TYPE_INT;
    unsigned bits = type_bits(type);
    return is_signed ? number >= -(INT64_C(1) << (bits - 1)) && number < INT64_C(1) << (bits - 1)
                     : number >= 0 && number < INT64_C(1) << bits;
}

/* Of an operand beside another, which is not weak if it is. */
static const Type *word_beside(Operand operand, Operand beside)
{
    const Type *word = word_of(is_weak(operand) ? beside.type : operand.type);
    return word && is_weak(operand) && !fits(operand, word) ? NULL : word;
}

/* Of an integer with a sign and one of 32 bits without one. */
static const Type *mixed_words(PromotionId rule, Operand a, Operand b)
{
    Operand other = word_of(a.type) == TYPE_OF(UINT32) ? b : a;
    bool never_negative = other.type->kind != TYPE_INT;
    bool is_ring = rule == PROMOTION_ARITHMETIC || rule == PROMOTION_BITWISE;
    return never_negative || is_ring ? TYPE_OF(UINT32) : NULL;
}

static const Type *words(PromotionId rule, Operand a, Operand b)
{
    if ((is_weak(a) && is_weak(b)) || (a.type->kind == TYPE_BOOL && b.type->kind == TYPE_BOOL))
        return NULL;
    if (rule == PROMOTION_SHIFT && !is_weak(a)) /* by whatever count */
        return word_of(a.type);
    const Type *x = word_beside(a, b), *y = word_beside(b, a);
    if (!x || !y || rule == PROMOTION_TRUE_DIVIDE)
        return NULL;
    return x == y ? x : mixed_words(rule, a, b);
}

const Type *narrow_pair(const Lower *l, PromotionId rule, Operand a, Operand b)
{
    if (!ints_are_weak(l) || !type_is_scalar(a.type) || !type_is_scalar(b.type))
        return NULL;
    bool is_first = is_whole(a.type), is_second = is_whole(b.type);
    if (is_first && is_second)
        return words(rule, a, b);
    if (is_first == is_second || rule == PROMOTION_BITWISE || rule == PROMOTION_SHIFT)
        return NULL;
    const Type *beside = is_first ? b.type : a.type;
    return rule == PROMOTION_ORDER ? beside : type_promote(rule, beside, beside);
}

const Type *promote_pair(const Lower *l, PromotionId rule, Operand a, Operand b)
{
    const Type *narrow = narrow_pair(l, rule, a, b);
    return narrow ? narrow : type_promote(rule, weak_type(a, b), weak_type(b, a));
}

const Type *narrow_join(const Lower *l, Operand a, Operand b)
{
    if (!ints_are_weak(l) || is_weak(a) == is_weak(b) || !type_is_scalar(a.type) || !type_is_scalar(b.type))
        return NULL;
    Operand weak = is_weak(a) ? a : b, other = is_weak(a) ? b : a;
    if (!type_is_integer(weak.type) || other.type->kind == TYPE_BOOL)
        return NULL;
    bool is_word = type_is_integer(other.type) && other.type->size < 8;
    return !is_word || fits(weak, other.type) ? other.type : NULL;
}

const Type *narrow_alone(const Lower *l, Operand operand)
{
    bool is_narrow = ints_are_weak(l) && type_is_integer(operand.type) && !is_weak(operand);
    return is_narrow ? word_of(operand.type) : NULL;
}
