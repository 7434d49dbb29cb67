/* promotion.def as lookup tables: one of rows for the rules of two operands, one for the rules of one. */
#include "core/type.h"

enum { no = -1, b, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4, f8, c8, c16 };
_Static_assert((int)c16 + 1 == (int)SCALAR_COUNT && (int)f2 == (int)SCALAR_FLOAT16,
               "promotion.def names the types of type.def in order");

enum {
    BINARY_COUNT = 0
#define PROMOTION(id, doc) +1
#define ROW(...)
#define UNARY_PROMOTION(id, doc, ...)
#include "core/promotion.def"
#undef PROMOTION
#undef ROW
#undef UNARY_PROMOTION
};

static const int8_t binary_rows[][SCALAR_COUNT] = {
#define PROMOTION(id, doc)
#define ROW(...) {__VA_ARGS__},
#define UNARY_PROMOTION(id, doc, ...)
#include "core/promotion.def"
#undef PROMOTION
#undef ROW
#undef UNARY_PROMOTION
};
_Static_assert(sizeof binary_rows / sizeof binary_rows[0] == (size_t)BINARY_COUNT * SCALAR_COUNT,
               "a rule of two operands has a row for each scalar type");

static const int8_t unary_rows[PROMOTION_COUNT][SCALAR_COUNT] = {
#define PROMOTION(id, doc)
#define ROW(...)
#define UNARY_PROMOTION(id, doc, ...) [PROMOTION_##id] = {__VA_ARGS__},
#include "core/promotion.def"
#undef PROMOTION
#undef ROW
#undef UNARY_PROMOTION
};

#define PROMOTION(id, doc)
#define ROW(...)
#define UNARY_PROMOTION(id, doc, ...) \
    _Static_assert((int)PROMOTION_##id >= (int)BINARY_COUNT, "rules of two operands come first");
#include "core/promotion.def"
#undef PROMOTION
#undef ROW
#undef UNARY_PROMOTION

const Type *type_promote(PromotionId rule, const Type *a, const Type *b_type)
{
    bool is_binary = (int)rule < (int)BINARY_COUNT;
    if (rule >= PROMOTION_COUNT || !type_is_scalar(a) || is_binary != (b_type != NULL))
        return NULL;
    if (!is_binary)
        return unary_rows[rule][a->scalar] == no ? NULL : &type_scalars[unary_rows[rule][a->scalar]];
    if (!type_is_scalar(b_type))
        return NULL;
    int result = binary_rows[rule * SCALAR_COUNT + a->scalar][b_type->scalar];
    return result == no ? NULL : &type_scalars[result];
}
