/* promotion.def as lookup tables: one of rows for the rules of two operands, one for the rules of one. bfloat16 is in none
 * of them: it mixes with other numbers as float16 does. */
#include "core/type/type.h"

enum { no = -1, b, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4, f8, c8, c16 };
_Static_assert((int)c16 + 1 == (int)SCALAR_BFLOAT16 && (int)SCALAR_BFLOAT16 + 1 == (int)SCALAR_COUNT &&
                   (int)f2 == (int)SCALAR_FLOAT16,
               "promotion.def names the types of type.def in order");

enum {
    BINARY_COUNT = 0
#define PROMOTION(id, doc) +1
#define ROW(...)
#define UNARY_PROMOTION(id, doc, ...)
#include "core/type/promotion.def"
#undef PROMOTION
#undef ROW
#undef UNARY_PROMOTION
};

enum { COLUMNS = SCALAR_BFLOAT16 };

static const int8_t binary_rows[][COLUMNS] = {
#define PROMOTION(id, doc)
#define ROW(...) {__VA_ARGS__},
#define UNARY_PROMOTION(id, doc, ...)
#include "core/type/promotion.def"
#undef PROMOTION
#undef ROW
#undef UNARY_PROMOTION
};
_Static_assert(sizeof binary_rows / sizeof binary_rows[0] == (size_t)BINARY_COUNT * COLUMNS,
               "a rule of two operands has a row for each scalar type");

static const int8_t unary_rows[PROMOTION_COUNT][COLUMNS] = {
#define PROMOTION(id, doc)
#define ROW(...)
#define UNARY_PROMOTION(id, doc, ...) [PROMOTION_##id] = {__VA_ARGS__},
#include "core/type/promotion.def"
#undef PROMOTION
#undef ROW
#undef UNARY_PROMOTION
};

#define PROMOTION(id, doc)
#define ROW(...)
#define UNARY_PROMOTION(id, doc, ...) \
    _Static_assert((int)PROMOTION_##id >= (int)BINARY_COUNT, "rules of two operands come first");
#include "core/type/promotion.def"
#undef PROMOTION
#undef ROW
#undef UNARY_PROMOTION

/* bfloat16 stands where float16 would, but together they are float32: neither holds the other's numbers. */
static const Type *promote_bfloat(PromotionId rule, const Type *a, const Type *b_type)
{
    const Type *half = TYPE_OF(FLOAT16), *bfloat = TYPE_OF(BFLOAT16);
    bool mixes = b_type && (a == half || b_type == half);
    const Type *stand_in = mixes ? TYPE_OF(FLOAT32) : half;
    const Type *result = type_promote(rule, a == bfloat ? stand_in : a, b_type && b_type == bfloat ? stand_in : b_type);
    return result == half ? bfloat : result;
}

const Type *type_promote(PromotionId rule, const Type *a, const Type *b_type)
{
    bool is_binary = (int)rule < (int)BINARY_COUNT;
    if (rule >= PROMOTION_COUNT || !type_is_scalar(a) || is_binary != (b_type != NULL))
        return NULL;
    if (a == TYPE_OF(BFLOAT16) || b_type == TYPE_OF(BFLOAT16))
        return promote_bfloat(rule, a, b_type);
    if (!is_binary)
        return unary_rows[rule][a->scalar] == no ? NULL : &type_scalars[unary_rows[rule][a->scalar]];
    if (!type_is_scalar(b_type))
        return NULL;
    int result = binary_rows[rule * COLUMNS + a->scalar][b_type->scalar];
    return result == no ? NULL : &type_scalars[result];
}
