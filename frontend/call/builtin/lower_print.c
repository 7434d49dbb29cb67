/* print: the text of its arguments as one print of IR, whose format is printf's: what the GPU's driver can write. */
#include <string.h>

#include "frontend/call/handlers.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_text.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"

typedef struct Print {
    Buf format;
    IrValue **values;
    uint32_t count;
} Print;

static void add_literal(Print *print, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        buf_add_bytes(&print->format, text + i, 1);
        if (text[i] == '%')
            buf_add(&print->format, "%");
    }
}

/* --- directives ------------------------------------------------------------------------------------------------------- */

static bool refuse_spec(Lower *l, const char *spec, const Type *type, const char *why)
{
    return lower_fail(l, DIAG_UNSUPPORTED,
                      arena_format(l->arena, "a kernel cannot print %s with the format spec '%s'%s",
                                   lower_describe(l, type), spec, why));
}

/* "%-+#08": all of a directive before precision, length and letter. */
static void add_flags(Print *print, const TextSpec *spec)
{
    bool zero = spec->zero || spec->fill == '0';
    buf_printf(&print->format, "%%%s%s%s%s", spec->align == '<' ? "-" : "",
               spec->sign == '+'   ? "+"
               : spec->sign == ' ' ? " "
                                   : "",
               spec->alternate ? "#" : "", zero && spec->align != '<' ? "0" : "");
    if (spec->width)
        buf_printf(&print->format, "%d", spec->width);
}

static bool add_converted(Lower *l, Print *print, Operand value, const Type *type)
{
    Operand converted;
    if (!lower_convert(l, value, type, &converted))
        return false;
    print->values[print->count++] = operand_ir(l, converted);
    return true;
}

/* What printf does not do as Python does is written as text before the digits: "0o", "0x" of a zero, the sign of a uint64.
 * False where padding would have to stand before it. */
static bool take_prefix(Print *print, TextSpec *spec, bool is_uint64)
{
    char sign[2] = {is_uint64 && spec->sign != '-' ? spec->sign : '\0'};
    char base[3] = {spec->alternate ? '0' : '\0', spec->type};
    int length = (int)strlen(sign) + (int)strlen(base);
    if (length && spec->width && !spec->zero)
        return false;
    buf_printf(&print->format, "%s%s", sign, base);
    spec->width = spec->width > length ? spec->width - length : 0;
    spec->sign = *sign ? '\0' : spec->sign;
    spec->alternate = false;
    return true;
}

/* Hexadecimal and octal digits are those of the 64 bits. */
static bool add_integer(Lower *l, Print *print, Operand value, TextSpec spec, const char *text)
{
    bool is_uint64 = value.type->kind == TYPE_UINT && value.type->size == 8;
    bool is_bits = spec.type && strchr("xXo", spec.type);
    const Type *wide = is_uint64 && spec.type != 'c' ? TYPE_OF(UINT64) : TYPE_OF(INT64);
    char letter = is_bits || spec.type == 'c' ? spec.type : is_uint64 ? 'u' : 'd';
    if ((spec.alternate && is_bits) || is_uint64) {
        if (!take_prefix(print, &spec, is_uint64))
            return refuse_spec(l, text, value.type, ": only zeros can be between a prefix and the digits");
    }
    add_flags(print, &spec);
    buf_printf(&print->format, letter == 'c' ? "%c" : "ll%c", letter);
    return lower_convert(l, value, wide, &value) &&
           add_converted(l, print, value, is_bits ? TYPE_OF(UINT64) : value.type);
}

/* How many digits tell a float apart from all others of its type. */
static int exact_digits(const Type *type) { return type->size == 8 ? 17 : type->size == 4 ? 9 : 5; }

static bool add_float(Lower *l, Print *print, Operand value, const TextSpec *spec, char conversion)
{
    bool is_exact = (conversion == 'r' || conversion == 'a') && !spec->type && spec->precision < 0;
    bool is_percent = spec->type == '%';
    char letter = is_percent ? 'f' : spec->type ? spec->type : is_exact || spec->precision >= 0 ? 'g' : 'f';
    int precision = is_exact ? exact_digits(value.type) : spec->precision;
    add_flags(print, spec);
    if (precision >= 0)
        buf_printf(&print->format, ".%d", precision);
    buf_printf(&print->format, is_percent ? "%c%%%%" : "%c", letter);
    if (is_percent && !lower_binary(l, NB_MULTIPLY, value, operand_float(l, TYPE_OF(FLOAT64), 100), &value))
        return false;
    return add_converted(l, print, value, TYPE_OF(FLOAT64));
}

static bool add_complex(Lower *l, Print *print, Operand value, char conversion)
{
    const Type *part = value.type->size == 8 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
    IrValue *ir = operand_ir(l, value);
    Operand real = operand_value(part, emit1(l, IR_REAL, part, ir));
    Operand imaginary = operand_value(part, emit1(l, IR_IMAG, part, ir));
    TextSpec plain = {.precision = -1}, with_sign = {.precision = -1, .sign = '+'};
    buf_add(&print->format, "(");
    if (!add_float(l, print, real, &plain, conversion) || !add_float(l, print, imaginary, &with_sign, conversion))
        return false;
    buf_add(&print->format, "j)");
    return true;
}

static bool check_spec(Lower *l, const char *text, const TextSpec *spec, const Type *type)
{
    bool is_integer = type->kind != TYPE_FLOAT;
    if (spec->grouping || spec->align == '^' || (spec->fill && spec->fill != ' ' && spec->fill != '0') ||
        (spec->fill == '0' && spec->align != '=') || (spec->align == '=' && spec->fill != '0' && !spec->zero))
        return refuse_spec(l, text, type,
                           ": there is padding with spaces on either side, and with zeros behind the sign");
    if (spec->type && !strchr(is_integer ? "dxXoceEfFgG%" : "eEfFgG%", spec->type))
        return refuse_spec(l, text, type, "");
    return !is_integer || spec->precision < 0 || !(spec->type == '\0' || strchr("dxXoc", spec->type)) ||
           refuse_spec(l, text, type, ": an integer has no precision");
}

static bool add_scalar(Lower *l, Print *print, Operand value, char conversion, const char *text)
{
    TextSpec spec;
    if (value.type->kind == TYPE_COMPLEX)
        return *text ? refuse_spec(l, text, value.type, "") : add_complex(l, print, value, conversion);
    if (!text_read_spec(text, &spec))
        return refuse_spec(l, text, value.type, "");
    if (!check_spec(l, text, &spec, value.type))
        return false;
    if (value.type->kind == TYPE_BOOL && !*text) {
        buf_add(&print->format, "%s");
        print->values[print->count++] = operand_ir(l, value);
        return true;
    }
    if (value.type->kind == TYPE_BOOL && !lower_convert(l, value, TYPE_OF(INT64), &value))
        return false;
    bool is_float = value.type->kind == TYPE_FLOAT || (spec.type && strchr("eEfFgG%", spec.type));
    return is_float ? add_float(l, print, value, &spec, conversion) : add_integer(l, print, value, spec, text);
}

/* --- the whole -------------------------------------------------------------------------------------------------------- */

/* "{!r:8.3f}"; *at: at the brace, then behind the closing one. */
static bool add_field(Lower *l, Print *print, Operand item, const char **at)
{
    const char *end = strchr(*at, '}'), *rest = *at + 1;
    char conversion = *rest == '!' ? rest[1] : 0;
    rest += *rest == '!' ? 2 : 0;
    rest += *rest == ':';
    const char *spec = arena_format(l->arena, "%.*s", (int)(end - rest), rest);
    *at = end + 1;
    return add_scalar(l, print, item, conversion, spec);
}

static bool add_text(Lower *l, Print *print, Operand text)
{
    if (text.type->kind == TYPE_OBJECT) {
        add_literal(print, text.constant->text, strlen(text.constant->text));
        return true;
    }
    uint32_t next = 0;
    print->values = ARENA_ARRAY(l->arena, IrValue *, 2 * text.type->count + 1);
    for (const char *at = operand_text_format(text); *at;) {
        size_t plain = strcspn(at, "{}");
        add_literal(print, at, plain);
        at += plain;
        if (*at && at[0] == at[1]) {
            add_literal(print, at, 1);
            at += 2;
        } else if (*at && !add_field(l, print, lower_tuple_item(l, text, next++), &at)) {
            return false;
        }
    }
    return true;
}

static bool emit_print(Lower *l, Operand text)
{
    Print print = {0};
    bool ok = add_text(l, &print, text);
    if (ok && l->emitting && print.format.length) {
        IrValue *value = emit(l, IR_PRINT, &type_none, print.count, print.values);
        value->text = arena_string(l->arena, buf_text(&print.format));
    }
    buf_free(&print.format);
    return ok;
}

/* sep, end: constant text or None. */
static bool constant_text(Lower *l, const Call *call, const char *name, const char *otherwise, const char **out)
{
    const Operand *given = call_keyword(call, name);
    *out = otherwise;
    if (!given || given->type->kind == TYPE_NONE)
        return true;
    if (!operand_is_object(*given, CONSTANT_STRING))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, arena_format(l->arena, "'%s' of print", name), "");
    *out = given->constant->text;
    return true;
}

static bool check_keywords(Lower *l, const Call *call)
{
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        const char *name = call->keywords[i];
        if (strcmp(name, "sep") == 0 || strcmp(name, "end") == 0 || strcmp(name, "flush") == 0)
            continue;
        if (strcmp(name, "file") == 0 && call->keyword_values[i].type->kind == TYPE_NONE)
            continue;
        return strcmp(name, "file") == 0 ? lower_fail(l, DIAG_UNSUPPORTED, "kernels print to standard output only")
                                         : lower_fail(l, DIAG_CALL_KEYWORD, "print", name);
    }
    return true;
}

bool call_print(Lower *l, const Call *call, Operand *out)
{
    const char *separator, *end;
    Operand line[2];
    if (!check_keywords(l, call) || !constant_text(l, call, "sep", " ", &separator) ||
        !constant_text(l, call, "end", "\n", &end))
        return false;
    Constant *last = ARENA_NEW(l->arena, Constant);
    *last = (Constant){.kind = CONSTANT_STRING, .text = end};
    line[1] = operand_object(l, last);
    *out = operand_none();
    return lower_join_text(l, call->arguments, call->count, separator, &line[0]) &&
           lower_join_text(l, line, 2, "", &line[0]) && emit_print(l, line[0]);
}
