/* Text in kernels: constants, and what is to be formatted at run time: a tuple of the values whose type leads to a format
 * string of Python's, "{:.3f} of {}". f-strings, str(), +, %, str.format() and str.join() make such text; print and exceptions take
 * it. */
#include <string.h>

#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_enum.h"
#include "frontend/value/kind/lower_text.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"

typedef struct Text {
    Buf format; /* literal text with doubled braces, and a field for each item */
    Operand *items;
    uint32_t count, capacity;
} Text;

bool operand_is_text(Operand operand)
{
    return operand_is_object(operand, CONSTANT_STRING) || type_is_tagged(operand.type, TUPLE_TEXT);
}

const char *operand_text_format(Operand text) { return ((const Constant *)text.type->object)->text; }

/* --- building --------------------------------------------------------------------------------------------------------- */

static void add_literal(Text *text, const char *literal)
{
    for (; *literal; literal++) {
        buf_add_bytes(&text->format, literal, 1);
        if (*literal == '{' || *literal == '}')
            buf_add_bytes(&text->format, literal, 1);
    }
}

static void add_item(Lower *l, Text *text, Operand item)
{
    text->items = arena_grow(l->arena, text->items, text->count, &text->capacity, sizeof item);
    text->items[text->count++] = item;
}

static void add_field(Lower *l, Text *text, Operand item, char conversion, const char *spec)
{
    buf_add(&text->format, "{");
    if (conversion)
        buf_printf(&text->format, "!%c", conversion);
    buf_printf(&text->format, *spec ? ":%s}" : "%s}", spec);
    add_item(l, text, item);
}

/* A constant string in a field: width and alignment are known. */
static bool add_padded(Lower *l, Text *text, const char *literal, const char *spec)
{
    TextSpec parsed;
    if (!text_read_spec(spec, &parsed) || (parsed.type && parsed.type != 's') || parsed.sign || parsed.alternate ||
        parsed.grouping || parsed.align == '=')
        return lower_fail(l, DIAG_UNSUPPORTED, arena_format(l->arena, "'%s' is no format spec of text", spec));
    Buf cut = {0};
    size_t bytes = 0, length = 0;
    for (; literal[bytes] && (parsed.precision < 0 || length < (size_t)parsed.precision); length++)
        for (bytes++; ((unsigned char)literal[bytes] & 0xC0) == 0x80;)
            bytes++;
    buf_add_bytes(&cut, literal, bytes);
    int missing = parsed.width > (int)length ? parsed.width - (int)length : 0;
    int before = parsed.align == '>' ? missing : parsed.align == '^' ? missing / 2 : 0;
    char fill[2] = {parsed.fill ? parsed.fill : ' '};
    for (int i = 0; i < before; i++)
        add_literal(text, fill);
    add_literal(text, buf_text(&cut));
    for (int i = before; i < missing; i++)
        add_literal(text, fill);
    buf_free(&cut);
    return true;
}

static bool add_value(Lower *l, Text *text, Operand value, char conversion, const char *spec);

/* "(1, 2.5)"; with names: "Point(x=1, y=2.5)". */
static bool add_tuple(Lower *l, Text *text, Operand tuple)
{
    uint32_t count = tuple.type->count;
    add_literal(text, tuple.type->names && tuple.type->name ? tuple.type->name : "");
    add_literal(text, "(");
    for (uint32_t i = 0; i < count; i++) {
        add_literal(text, i ? ", " : "");
        if (tuple.type->names)
            add_literal(text, arena_format(l->arena, "%s=", tuple.type->names[i]));
        Operand item = lower_tuple_item(l, tuple, i);
        if (!add_value(l, text, item, operand_is_text(item) ? 'r' : 0, ""))
            return false;
    }
    add_literal(text, count == 1 && !tuple.type->names ? ",)" : ")");
    return true;
}

/* cuda.threadIdx and its like as a whole. */
static bool read_triple(Lower *l, Operand value, Operand *out)
{
    Operand axes[3];
    static const char *const names[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++)
        if (!lower_attribute(l, value, names[i], &axes[i]))
            return false;
    *out = lower_make_tuple(l, axes, 3, TUPLE_DIM3);
    return true;
}

static bool is_triple(Operand value)
{
    switch (operand_intrinsic(value)) {
    case INTRINSIC_CUDA_THREAD_IDX:
    case INTRINSIC_CUDA_BLOCK_IDX:
    case INTRINSIC_CUDA_BLOCK_DIM:
    case INTRINSIC_CUDA_GRID_DIM: return true;
    default: return false;
    }
}

static bool add_text(Lower *l, Text *text, Operand value, char conversion, const char *spec)
{
    if (value.type->kind == TYPE_OBJECT) {
        const char *literal = value.constant->text;
        if (conversion == 'r' || conversion == 'a') {
            const char *quote = strchr(literal, '\'') ? "\"" : "'";
            if (strpbrk(literal, "\\\n\t\r") || (strchr(literal, '\'') && strchr(literal, '"')))
                return lower_fail(l, DIAG_UNSUPPORTED, "the repr of this text cannot be made in a kernel");
            literal = arena_format(l->arena, "%s%s%s", quote, literal, quote);
        }
        return add_padded(l, text, literal, spec);
    }
    if (*spec || conversion == 'r' || conversion == 'a')
        return lower_fail(l, DIAG_UNSUPPORTED, "text that is made of run-time values cannot be formatted again");
    buf_add(&text->format, operand_text_format(value));
    for (uint32_t i = 0; i < value.type->count; i++)
        add_item(l, text, lower_tuple_item(l, value, i));
    return true;
}

/* Whole numbers are the same however they are formatted. */
static bool is_literal(Operand value, const char *spec)
{
    return !*spec && value.constant &&
           (value.constant->kind == CONSTANT_INT || value.constant->kind == CONSTANT_BOOL) &&
           !value.constant->is_unsigned;
}

static bool add_value(Lower *l, Text *text, Operand value, char conversion, const char *spec)
{
    if (is_triple(value) && !read_triple(l, value, &value))
        return false;
    if (operand_is_text(value))
        return add_text(l, text, value, conversion, spec);
    if (value.type->kind == TYPE_NONE)
        return add_padded(l, text, "None", spec);
    value = operand_number_of(l, value);
    bool is_tuple = type_has_trait(value.type, TRAIT_PRINTED);
    if (is_tuple && *spec)
        return lower_fail(l, DIAG_UNSUPPORTED, "a tuple has no format spec");
    if (is_tuple)
        return add_tuple(l, text, value);
    if (!type_is_scalar(value.type))
        return lower_fail(l, DIAG_UNSUPPORTED,
                          arena_format(l->arena, "%s has no text in a kernel%s", lower_describe(l, value.type),
                                       value.type->kind == TYPE_ARRAY ? "; its items do" : ""));
    if (!is_literal(value, spec))
        add_field(l, text, value, conversion, spec);
    else if (value.constant->kind == CONSTANT_BOOL)
        add_literal(text, value.constant->integer ? "True" : "False");
    else
        add_literal(text, arena_format(l->arena, "%lld", (long long)value.constant->integer));
    return true;
}

/* The text as an operand; a constant where nothing is left for run time. */
static Operand finish(Lower *l, Text *text)
{
    Constant *constant = ARENA_NEW(l->arena, Constant);
    constant->kind = CONSTANT_STRING;
    char *format = arena_string(l->arena, buf_text(&text->format));
    buf_free(&text->format);
    constant->text = format;
    if (text->count == 0) {
        char *to = format;
        for (const char *from = format; *from; from++) {
            *to++ = *from;
            from += (*from == '{' || *from == '}');
        }
        *to = '\0';
        return operand_object(l, constant);
    }
    Operand made = lower_make_tuple(l, text->items, text->count, TUPLE_TEXT);
    Type *type = arena_copy(l->arena, made.type, sizeof *type);
    type->object = operand_object(l, constant).constant;
    made.type = type;
    return made;
}

static bool finish_if(Lower *l, Text *text, bool ok, Operand *out)
{
    if (ok)
        *out = finish(l, text);
    else
        buf_free(&text->format);
    return ok;
}

/* --- f-strings, str(), joining ---------------------------------------------------------------------------------------- */

/* A format spec: a constant string or none. NULL with a diagnostic. */
static const char *constant_spec(Lower *l, const Operand *spec)
{
    if (!spec)
        return "";
    if (operand_is_object(*spec, CONSTANT_STRING))
        return spec->constant->text;
    lower_fail(l, DIAG_CONSTANT_REQUIRED, "a format spec", "");
    return NULL;
}

bool lower_format(Lower *l, Operand value, int32_t conversion, const Operand *spec, Operand *out)
{
    Text text = {0};
    const char *constant = constant_spec(l, spec);
    if (!constant)
        return false;
    static const char letters[] = {0, 's', 'r', 'a'};
    return finish_if(l, &text, add_value(l, &text, value, letters[conversion & 3], constant), out);
}

bool lower_join_text(Lower *l, const Operand *parts, uint32_t count, const char *between, Operand *out)
{
    Text text = {0};
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        add_literal(&text, i ? between : "");
        ok = add_value(l, &text, parts[i], 0, "");
    }
    return finish_if(l, &text, ok, out);
}

bool call_text(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, call->intrinsic == INTRINSIC_FORMAT ? 2 : 1))
        return false;
    const Operand *spec = call->count == 2 ? &call->arguments[1] : NULL;
    return lower_format(l, call->arguments[0], call->intrinsic == INTRINSIC_REPR ? 2 : 0, spec, out);
}

/* --- text % values ------------------------------------------------------------------------------------------------------ */

/* Where '%' gets its values. */
typedef struct Values {
    Operand source;
    bool is_tuple;
    uint32_t next;
} Values;

static bool next_value(Lower *l, Values *values, Operand *out)
{
    uint32_t count = values->is_tuple ? values->source.type->count : 1;
    if (values->next >= count)
        return lower_fail(l, DIAG_UNSUPPORTED, "the format has more fields than there are values");
    *out = values->is_tuple ? lower_tuple_item(l, values->source, values->next) : values->source;
    values->next++;
    return true;
}

/* %-8.3f as Python's spec "<8.3f". *at: behind the percent sign, then behind the letter. NULL for what is none. */
static const char *percent_spec(Lower *l, const char **at, char *letter)
{
    size_t flags = strspn(*at, "-+ #0"), digits = strspn(*at + flags, "0123456789."), size = flags + digits;
    const char *number = arena_format(l->arena, "%.*s", (int)digits, *at + flags);
    bool left = memchr(*at, '-', flags), zero = memchr(*at, '0', flags) && !left;
    *letter = (*at)[size];
    if (!*letter || !strchr("diufFeEgGxXosra", *letter))
        return NULL;
    const char *sign = memchr(*at, '+', flags) ? "+" : memchr(*at, ' ', flags) ? " " : "";
    const char *align = !*number || *number == '.' ? "" : left ? "<" : zero ? "" : ">";
    *at += size + 1;
    bool is_text = strchr("sra", *letter) != NULL;
    char type[2] = {is_text ? '\0' : strchr("iu", *letter) ? 'd' : *letter};
    return arena_format(l->arena, "%s%s%s%s%s%s", align, is_text ? "" : sign,
                        memchr(*at - size - 1, '#', flags) && !is_text ? "#" : "", zero && !is_text ? "0" : "", number,
                        type);
}

static bool add_percent(Lower *l, Text *text, Values *values, const char **at)
{
    char letter;
    Operand value;
    const char *spec = percent_spec(l, at, &letter);
    if (!spec)
        return lower_fail(l, DIAG_UNSUPPORTED, "this format with % is not supported in a kernel; f-strings are");
    if (!next_value(l, values, &value))
        return false;
    if (strchr("diuxXo", letter) && type_is_scalar(value.type) && !type_is_integer(value.type) &&
        !lower_convert(l, value, TYPE_OF(INT64), &value))
        return false;
    return add_value(l, text, value, letter == 's' ? 's' : strchr("ra", letter) ? 'r' : 0, spec);
}

static bool format_percent(Lower *l, const char *format, Operand source, Operand *out)
{
    Text text = {0};
    Values values = {.source = source, .is_tuple = type_is_plain_tuple(source.type)};
    bool ok = true;
    for (const char *at = format; *at && ok;) {
        size_t plain = strcspn(at, "%");
        add_literal(&text, arena_format(l->arena, "%.*s", (int)plain, at));
        at += plain;
        if (at[0] == '%' && at[1] == '%') {
            add_literal(&text, "%");
            at += 2;
        } else if (*at++ == '%') {
            ok = add_percent(l, &text, &values, &at);
        } else {
            break;
        }
    }
    if (ok && values.is_tuple && values.next < source.type->count)
        ok = lower_fail(l, DIAG_UNSUPPORTED, "the format has fewer fields than there are values");
    return finish_if(l, &text, ok, out);
}

bool lower_text_binary(Lower *l, int32_t number, Operand a, Operand b, Operand *out)
{
    Operand both[] = {a, b};
    if (number == NB_ADD && operand_is_text(a) && operand_is_text(b))
        return lower_join_text(l, both, 2, "", out);
    if (number == NB_REMAINDER && operand_is_object(a, CONSTANT_STRING))
        return format_percent(l, a.constant->text, b, out);
    return lower_fail(l, DIAG_TYPE_OPERANDS,
                      number == NB_ADD         ? "+"
                      : number == NB_REMAINDER ? "%"
                                               : "of text",
                      lower_describe_all(l, both, 2), "; text in kernels has + and %");
}

/* --- text.format(values) -------------------------------------------------------------------------------------------------- */

/* What the name of a field means: nothing (the next value), a number, or a keyword. */
static const Operand *named_value(const Call *call, const char *name, size_t length, uint32_t *next)
{
    if (length == 0)
        return *next < call->count ? &call->arguments[(*next)++] : NULL;
    if (strspn(name, "0123456789") >= length) {
        uint32_t place = 0;
        for (size_t i = 0; i < length && place < 10000; i++)
            place = place * 10 + (uint32_t)(name[i] - '0');
        return place < call->count ? &call->arguments[place] : NULL;
    }
    for (uint32_t i = 0; i < call->keyword_count; i++)
        if (strlen(call->keywords[i]) == length && strncmp(call->keywords[i], name, length) == 0)
            return &call->keyword_values[i];
    return NULL;
}

/* "{name!r:spec}"; *at: at the brace, then behind the closing one. */
static bool add_braces(Lower *l, Text *text, const Call *call, uint32_t *next, const char **at)
{
    const char *name = *at + 1, *end = strchr(name, '}');
    size_t length = strcspn(name, "!:}");
    const Operand *value = end ? named_value(call, name, length, next) : NULL;
    if (!value)
        return lower_fail(l, DIAG_UNSUPPORTED, "a field of this format has no value");
    const char *rest = name + length;
    char conversion = *rest == '!' ? rest[1] : 0;
    rest += *rest == '!' ? 2 : 0;
    if ((*rest != ':' && *rest != '}') || (conversion && !strchr("sra", conversion)))
        return lower_fail(l, DIAG_UNSUPPORTED, "this format is not supported in a kernel");
    const char *spec = *rest == ':' ? arena_format(l->arena, "%.*s", (int)(end - rest - 1), rest + 1) : "";
    *at = end + 1;
    return add_value(l, text, *value, conversion, spec);
}

bool lower_text_method(Lower *l, Operand receiver, const Call *call, Operand *out)
{
    Text text = {0};
    uint32_t next = 0;
    bool ok = true;
    for (const char *at = receiver.constant->text; *at && ok;) {
        size_t plain = strcspn(at, "{}");
        add_literal(&text, arena_format(l->arena, "%.*s", (int)plain, at));
        at += plain;
        if (*at && at[0] == at[1]) {
            add_literal(&text, *at == '{' ? "{" : "}");
            at += 2;
        } else if (*at) {
            ok = add_braces(l, &text, call, &next, &at);
        }
    }
    return finish_if(l, &text, ok, out);
}

/* --- format specs --------------------------------------------------------------------------------------------------------- */

static int read_number(const char **at)
{
    int number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number < 100000 ? number * 10 + (**at - '0') : number;
    return number;
}

bool text_read_spec(const char *at, TextSpec *out)
{
    *out = (TextSpec){.precision = -1};
    if (at[0] && at[1] && strchr("<>=^", at[1]))
        out->fill = *at++;
    if (*at && strchr("<>=^", *at))
        out->align = *at++;
    if (*at && strchr("+- ", *at))
        out->sign = *at++;
    out->alternate = *at == '#';
    at += *at == '#';
    out->zero = *at == '0';
    at += *at == '0';
    out->width = read_number(&at);
    if (*at == ',' || *at == '_')
        out->grouping = *at++;
    if (*at == '.') {
        at++;
        if (*at < '0' || *at > '9')
            return false;
        out->precision = read_number(&at);
    }
    out->type = *at;
    return !*at || !at[1];
}
