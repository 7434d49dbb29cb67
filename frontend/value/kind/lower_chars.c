/* Text of a fixed length, NumPy's S and U, in arrays and records: an element is a reference to it, which is compared with
 * other text or assigned to. Text that is constant counts as characters too. */
#include <string.h>

#include "frontend/engine.h"
#include "frontend/value/kind/lower_chars.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"

enum { MOST_CHARACTERS = 1024 };

static bool is_chars_array(const Type *type) { return type->kind == TYPE_ARRAY && type->element->kind == TYPE_CHARS; }

bool is_chars(Operand operand) { return is_chars_array(operand.type) && operand.type->ndim == 0; }

/* Characters of a reference as an array of codes, or of a constant. */
typedef struct Text {
    uint32_t count;
    Operand codes; /* references: an array of one axis; type NULL: constant */
    uint32_t constant[MOST_CHARACTERS];
} Text;

/* The next code of UTF-8 text that is known to be well formed. */
static uint32_t next_code(const unsigned char **at)
{
    uint32_t first = *(*at)++, more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    uint32_t code = more ? first & (0x3Fu >> more) : first;
    while (more--)
        code = code << 6 | (*(*at)++ & 0x3F);
    return code;
}

/* The characters as an array of integers, writable where the reference is. */
static Operand codes_of(Lower *l, Operand reference)
{
    const Type *chars = reference.type->element, *i64 = TYPE_OF(INT64);
    const Type *code = chars->alignment == 1 ? TYPE_OF(UINT8) : TYPE_OF(UINT32);
    const Type *type = type_array_aligned(l->arena, code, 1, LAYOUT_C, reference.type->read_only,
                                          type_element_alignment(reference.type));
    IrValue *count = emit_int(l, i64, chars->size / chars->alignment), *stride = emit_int(l, i64, chars->alignment);
    return operand_value(type, emit(l, IR_SUBARRAY, type, 3, (IrValue *[]){reference.ir, count, stride}));
}

static bool read_text(Lower *l, Operand operand, Text *out)
{
    out->codes.type = NULL;
    out->count = 0;
    if (is_chars(operand)) {
        out->codes = codes_of(l, operand);
        out->count = operand.type->element->size / operand.type->element->alignment;
    } else if (operand_is_object(operand, CONSTANT_STRING)) {
        const unsigned char *at = (const unsigned char *)operand.constant->text;
        while (*at && out->count < MOST_CHARACTERS)
            out->constant[out->count++] = next_code(&at);
        out->count += *at != 0;
    } else {
        return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, operand.type), "text", "");
    }
    return out->count <= MOST_CHARACTERS || lower_fail(l, DIAG_UNSUPPORTED, "text of more than 1024 characters");
}

/* Character number `index` as an int64; behind the end there are zeros. */
static Operand character(Lower *l, const Text *text, uint32_t index)
{
    Operand code = {0}, wide = {0};
    if (index >= text->count)
        return operand_int(l, 0);
    if (!text->codes.type)
        return operand_int(l, text->constant[index]);
    lower_subscript(l, text->codes, operand_int(l, index), &code);
    lower_convert(l, code, TYPE_OF(INT64), &wide);
    return wide;
}

bool lower_chars_equal(Lower *l, Operand a, Operand b, bool negated, Operand *out)
{
    Text *texts = ARENA_ARRAY(l->arena, Text, 2);
    if (!read_text(l, a, &texts[0]) || !read_text(l, b, &texts[1]))
        return false;
    uint32_t count = texts[0].count > texts[1].count ? texts[0].count : texts[1].count;
    IrValue *equal = emit_int(l, TYPE_OF(BOOL), 1);
    for (uint32_t i = 0; i < count; i++) {
        IrValue *x = operand_ir(l, character(l, &texts[0], i)), *y = operand_ir(l, character(l, &texts[1], i));
        equal = emit2(l, IR_AND, TYPE_OF(BOOL), equal, emit2(l, IR_EQ, TYPE_OF(BOOL), x, y));
    }
    *out = operand_value(TYPE_OF(BOOL), equal);
    return !negated || lower_unary(l, SSA_NOT, *out, out);
}

/* What is too long is cut off, as NumPy does it. */
bool lower_store_chars(Lower *l, Operand target, Operand value)
{
    Text *texts = ARENA_ARRAY(l->arena, Text, 2);
    if (!read_text(l, target, &texts[0]) || !read_text(l, value, &texts[1]))
        return false;
    for (uint32_t i = 0; i < texts[0].count; i++)
        if (!lower_store_subscript(l, texts[0].codes, operand_int(l, i), character(l, &texts[1], i)))
            return false;
    return true;
}
