/* literals='weak': Python's own numbers take the precision of the floats that they meet, as NumPy has it since NEP 50
 * (https://numpy.org/neps/nep-0050-scalar-promotion.html). Integers among themselves are left to promotion.def. */
#include "frontend/engine.h"
#include "frontend/value/lower_convert.h"

unsigned char weakness_of(const Lower *l, const Constant *constant)
{
    const FrontendRequest *request = l->frontend->request;
    if (!constant->is_python || !l->instance || l->instance->code->is_library)
        return 0;
    return (request->weak_literals ? WEAK_BESIDE_FLOATS : 0) | (request->weak_ints ? WEAK_BESIDE_INTS : 0);
}

/* The size of a float, or of a part of a complex number; 0 for other types. */
static uint32_t precision(const Type *type)
{
    return type->kind == TYPE_FLOAT ? type->size : type->kind == TYPE_COMPLEX ? type->size / 2 : 0;
}

/* The float of that type's precision. */
static const Type *float_of(const Type *type)
{
    if (type->kind == TYPE_FLOAT)
        return type;
    return type->size == 8 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
}

/* A weak complex number next to float16 is complex64: there is none smaller. */
static const Type *weakened(const Type *type, const Type *beside)
{
    if (!beside || precision(beside) == 0)
        return type;
    if (type->kind == TYPE_COMPLEX)
        return precision(beside) == 8 ? type : TYPE_OF(COMPLEX64);
    return float_of(beside);
}

const Type *weak_type(Operand operand, Operand beside)
{
    if (!(operand.weak & WEAK_BESIDE_FLOATS) || beside.weak || !type_is_scalar(operand.type) ||
        !type_is_scalar(beside.type))
        return operand.type;
    return weakened(operand.type, beside.type);
}

bool weaken_arguments(Lower *l, const Operand *from, uint32_t count, Operand *out)
{
    const Type *widest = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const Type *type = from[i].type;
        if (!from[i].weak && type_is_scalar(type) && precision(type))
            widest = widest ? type_promote(PROMOTION_ARITHMETIC, float_of(widest), float_of(type)) : type;
        out[i] = from[i];
    }
    for (uint32_t i = 0; i < count; i++)
        if (from[i].weak & WEAK_BESIDE_FLOATS && precision(from[i].type) && widest &&
            !lower_convert(l, from[i], weakened(from[i].type, widest), &out[i]))
            return false;
    return true;
}
