/* Signature text -> types, and types -> key bytes and messages. The text is what numba accepts:
 *   signature: type "(" types ")" | "(" types ")" | type "," types
 *   type:      name | "(" types ")" | UniTuple(type, count) | Tuple((types)) | Array(type, ndim, "C", readonly=True) |
 *              NPDatetime("s") | type "[" axes "]"
 *   axes:      ":" for each axis; "::1" for the last axis (layout C) or the first (layout F) */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "jit/jit.h"

enum { MAX_ITEMS = 255, MAX_NESTING = 32 };

typedef struct Parser {
    const char *text, *at;
    Arena *arena;
    Diag *diag;
    int nesting;
    JitSignature *signature;
} Parser;

static const Type *parse_type(Parser *parser);

static const Type *fail(Parser *parser, const char *reason)
{
    diag_fail(parser->diag, NULL, DIAG_SIGNATURE_SYNTAX, parser->text, reason);
    return NULL;
}

static void skip_space(Parser *parser) { parser->at += strspn(parser->at, " \t\r\n"); }

static bool accept(Parser *parser, const char *token)
{
    skip_space(parser);
    size_t length = strlen(token);
    if (strncmp(parser->at, token, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static bool expect(Parser *parser, const char *token)
{
    if (accept(parser, token))
        return true;
    const char *place = *parser->at ? arena_format(parser->arena, "before '%.20s'", parser->at) : "at the end";
    fail(parser, arena_format(parser->arena, "expected '%s' %s", token, place));
    return false;
}

/* numba's names that are not NumPy's; its one-letter forms count bytes. */
static const struct {
    const char *name;
    ScalarId id;
} aliases[] = {
    {"boolean", SCALAR_BOOL},   {"bool_", SCALAR_BOOL},     {"b1", SCALAR_BOOL},
    {"i1", SCALAR_INT8},        {"i2", SCALAR_INT16},       {"i4", SCALAR_INT32},
    {"i8", SCALAR_INT64},       {"u1", SCALAR_UINT8},       {"u2", SCALAR_UINT16},
    {"u4", SCALAR_UINT32},      {"u8", SCALAR_UINT64},      {"f2", SCALAR_FLOAT16},
    {"f4", SCALAR_FLOAT32},     {"f8", SCALAR_FLOAT64},     {"c8", SCALAR_COMPLEX64},
    {"c16", SCALAR_COMPLEX128}, {"byte", SCALAR_UINT8},     {"char", SCALAR_INT8},
    {"uchar", SCALAR_UINT8},    {"short", SCALAR_INT16},    {"ushort", SCALAR_UINT16},
    {"intc", SCALAR_INT32},     {"uintc", SCALAR_UINT32},   {"int_", SCALAR_INT64},
    {"int", SCALAR_INT64},      {"uint", SCALAR_UINT64},    {"long_", SCALAR_INT64},
    {"ulong", SCALAR_UINT64},   {"longlong", SCALAR_INT64}, {"ulonglong", SCALAR_UINT64},
    {"intp", SCALAR_INT64},     {"uintp", SCALAR_UINT64},   {"ssize_t", SCALAR_INT64},
    {"size_t", SCALAR_UINT64},  {"half", SCALAR_FLOAT16},   {"float_", SCALAR_FLOAT32},
    {"double", SCALAR_FLOAT64}, {"float", SCALAR_FLOAT64},  {"complex", SCALAR_COMPLEX128},
};

static const Type *type_named(const char *name)
{
    if (strcmp(name, "void") == 0 || strcmp(name, "none") == 0 || strcmp(name, "None") == 0)
        return &type_none;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(name, aliases[i].name) == 0)
            return &type_scalars[aliases[i].id];
    return type_by_name(name);
}

/* A name with what is before its last dot dropped ("types.int32"). NULL when there is none. */
static const char *parse_name(Parser *parser)
{
    skip_space(parser);
    const char *start = parser->at, *end = start;
    for (; isalnum((unsigned char)*end) || *end == '_' || *end == '.'; end++)
        if (*end == '.')
            start = end + 1;
    parser->at = end;
    return start == end ? NULL : arena_format(parser->arena, "%.*s", (int)(end - start), start);
}

static bool parse_count(Parser *parser, uint32_t limit, uint32_t *count)
{
    skip_space(parser);
    char *end;
    unsigned long value = isdigit((unsigned char)*parser->at) ? strtoul(parser->at, &end, 10) : limit + 1ul;
    if (value > limit) {
        fail(parser, arena_format(parser->arena, "expected a number up to %u", limit));
        return false;
    }
    parser->at = end;
    *count = (uint32_t)value;
    return true;
}

/* NULL: the end of the text. */
static bool accept_close(Parser *parser, const char *close)
{
    if (close)
        return accept(parser, close);
    skip_space(parser);
    return !*parser->at;
}

/* Types apart by commas up to `close`, which is consumed; a comma may be the last. */
static bool parse_types(Parser *parser, const char *close, uint32_t *count, const Type ***types)
{
    *types = ARENA_ARRAY(parser->arena, const Type *, MAX_ITEMS);
    *count = 0;
    while (!accept_close(parser, close)) {
        if (*count && !expect(parser, ","))
            return false;
        if (*count && accept_close(parser, close))
            return true;
        if (*count == MAX_ITEMS) {
            fail(parser, "more than 255 types");
            return false;
        }
        if (!((*types)[(*count)++] = parse_type(parser)))
            return false;
    }
    return true;
}

static const Type *parse_tuple(Parser *parser)
{
    uint32_t count;
    const Type **items;
    return parse_types(parser, ")", &count, &items) ? type_tuple(parser->arena, items, count, TUPLE_PLAIN) : NULL;
}

/* After "UniTuple": "(int64, 2)", or "(int64 x 2)" as type_describe writes it. */
static const Type *parse_uniform_tuple(Parser *parser)
{
    uint32_t count;
    const Type *item = expect(parser, "(") ? parse_type(parser) : NULL;
    if (!item || (!accept(parser, "x") && !expect(parser, ",")) || !parse_count(parser, TYPE_MOST_VALUES, &count) ||
        !expect(parser, ")"))
        return NULL;
    const Type **items = ARENA_ARRAY(parser->arena, const Type *, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = item;
    const Type *tuple = type_tuple(parser->arena, items, count, TUPLE_PLAIN);
    if (type_check_size(tuple))
        return fail(parser, arena_format(parser->arena, "a tuple of more than %d values, or too many in one another",
                                         TYPE_MOST_VALUES));
    return tuple;
}

/* After "Tuple": "((int64, float64))" or "(int64, float64)". */
static const Type *parse_tuple_call(Parser *parser)
{
    if (!expect(parser, "("))
        return NULL;
    const char *start = parser->at;
    const Type *inner = accept(parser, "(") ? parse_tuple(parser) : NULL;
    if (inner && accept(parser, ")"))
        return inner;
    parser->at = start;
    return diag_failed(parser->diag) ? NULL : parse_tuple(parser);
}

static const Type *make_array(Parser *parser, const Type *element, uint32_t ndim, ArrayLayout layout, bool read_only)
{
    if (!type_is_element(element))
        return fail(parser, "arrays have numbers or records as elements");
    if (ndim > TYPE_MAX_NDIM)
        return fail(parser, arena_format(parser->arena, "arrays have at most %d dimensions", TYPE_MAX_NDIM));
    return type_array(parser->arena, element, (int)ndim, layout, read_only);
}

/* A word in quotes, or without. NULL: the end of the text, or no other quote. */
static const char *parse_word(Parser *parser)
{
    const char *quote = accept(parser, "'") ? "'" : accept(parser, "\"") ? "\"" : "";
    const char *word = parse_name(parser);
    return word && accept(parser, quote) ? word : NULL;
}

/* The keywords behind an array's layout; `aligned` says nothing here. */
static bool parse_array_options(Parser *parser, bool *read_only)
{
    while (accept(parser, ",")) {
        const char *name = parse_name(parser), *value = name && accept(parser, "=") ? parse_name(parser) : name;
        bool is_true = value && strcmp(value, "True") == 0;
        if (!is_true && (!value || strcmp(value, "False") != 0))
            return fail(parser, "expected True or False behind an array's layout");
        if (name == value || strcmp(name, "readonly") == 0)
            *read_only = is_true;
        else if (strcmp(name, "aligned") != 0)
            return fail(parser, arena_format(parser->arena, "arrays have no '%s'", name));
    }
    return true;
}

/* After "Array" or "array": "(float32, 2, 'C')", or "(float32, 2d, C)" as type_describe writes it. */
static const Type *parse_array_call(Parser *parser, bool read_only)
{
    uint32_t ndim;
    const Type *element = expect(parser, "(") ? parse_type(parser) : NULL;
    if (!element || !expect(parser, ",") || !parse_count(parser, TYPE_MAX_NDIM, &ndim))
        return NULL;
    accept(parser, "d");
    if (!expect(parser, ","))
        return NULL;
    const char *layout = parse_word(parser);
    if (!layout || strlen(layout) != 1 || !strchr("CFA", *layout))
        return fail(parser, "a layout is C, F or A");
    if (!parse_array_options(parser, &read_only) || !expect(parser, ")"))
        return NULL;
    return make_array(parser, element, ndim, (ArrayLayout)*layout, read_only);
}

/* After "[": the axes and "]". */
static const Type *parse_axes(Parser *parser, const Type *element)
{
    uint32_t ndim = 0, dense = UINT32_MAX;
    do {
        if (!expect(parser, ":"))
            return NULL;
        if (accept(parser, ":")) {
            if (dense != UINT32_MAX || !expect(parser, "1"))
                return fail(parser, "only one axis can be contiguous, written ::1");
            dense = ndim;
        }
        ndim++;
    } while (accept(parser, ","));
    if (!expect(parser, "]"))
        return NULL;
    if (dense != UINT32_MAX && dense != 0 && dense != ndim - 1)
        return fail(parser, "::1 belongs to the first or the last axis");
    ArrayLayout layout = dense == UINT32_MAX ? LAYOUT_ANY : dense == ndim - 1 ? LAYOUT_C : LAYOUT_F;
    return make_array(parser, element, ndim, layout, false);
}

/* After "CPointer": "(float32)". */
static const Type *parse_pointer(Parser *parser)
{
    const Type *element = expect(parser, "(") ? parse_type(parser) : NULL;
    if (!element || !expect(parser, ")"))
        return NULL;
    return type_is_element(element) ? type_pointer(parser->arena, element)
                                    : fail(parser, "a pointer leads to numbers or records");
}

/* After "Optional": "(float32)". */
static const Type *parse_optional(Parser *parser)
{
    const Type *value = expect(parser, "(") ? parse_type(parser) : NULL;
    if (!value || !expect(parser, ")"))
        return NULL;
    return value->kind != TYPE_NONE && !type_is_optional(value)
               ? type_optional(parser->arena, value)
               : fail(parser, "what is optional is a value of some type");
}

/* After "NPDatetime" or "NPTimedelta", for which `name` is NumPy's: "('10ms')". */
static const Type *parse_time(Parser *parser, const char *name)
{
    const char *unit = expect(parser, "(") ? parse_word(parser) : NULL;
    if (diag_failed(parser->diag) || (unit && !expect(parser, ")")))
        return NULL;
    const Type *type =
        unit ? type_time_by_name(parser->arena, arena_format(parser->arena, "%s[%s]", name, unit)) : NULL;
    return type ? type : fail(parser, "expected a unit of time, such as 'ms'");
}

static const Type *parse_named(Parser *parser)
{
    const char *name = parse_name(parser);
    if (!name)
        return fail(parser, *parser->at ? arena_format(parser->arena, "expected a type before '%.20s'", parser->at)
                                        : "expected a type at the end");
    bool read_only = strcmp(name, "readonly") == 0;
    if (read_only)
        name = parse_name(parser);
    if (name && (strcmp(name, "array") == 0 || strcmp(name, "Array") == 0))
        return parse_array_call(parser, read_only);
    if (read_only)
        return fail(parser, "expected an array type after 'readonly'");
    if (strcmp(name, "UniTuple") == 0)
        return parse_uniform_tuple(parser);
    if (strcmp(name, "Tuple") == 0)
        return parse_tuple_call(parser);
    if (strcmp(name, "CPointer") == 0)
        return parse_pointer(parser);
    if (strcmp(name, "Optional") == 0 || strcmp(name, "optional") == 0)
        return parse_optional(parser);
    if (strcmp(name, "NPDatetime") == 0 || strcmp(name, "NPTimedelta") == 0)
        return parse_time(parser, name[2] == 'D' ? "datetime64" : "timedelta64");
    if (strcmp(name, "voidptr") == 0)
        return type_pointer(parser->arena, NULL);
    const Type *type = type_named(name);
    return type ? type : fail(parser, arena_format(parser->arena, "unknown type '%s'", name));
}

static const Type *parse_type(Parser *parser)
{
    if (++parser->nesting > MAX_NESTING)
        return fail(parser, "types nest too deeply");
    const Type *type = accept(parser, "(") ? parse_tuple(parser) : parse_named(parser);
    while (type && accept(parser, "["))
        type = parse_axes(parser, type);
    parser->nesting--;
    return type;
}

static bool parse_signature(void *data)
{
    Parser *parser = data;
    JitSignature *signature = parser->signature;
    const Type **arguments, *result = NULL;
    const char *close = ")";
    if (!accept(parser, "(")) {
        result = parse_type(parser);
        if (result && accept(parser, ",")) {
            result = NULL;
            close = NULL;
            parser->at = parser->text;
        } else if (!result || !accept(parser, "("))
            return result && fail(parser, "expected argument types in parentheses");
    }
    signature->result = result;
    if (!parse_types(parser, close, &signature->count, &arguments))
        return false;
    signature->arguments = arguments;
    skip_space(parser);
    if (*parser->at)
        return fail(parser, arena_format(parser->arena, "unexpected '%.20s' after the signature", parser->at));
    return true;
}

bool jit_parse_signature(const char *text, Arena *arena, JitSignature *signature, Diag *diag)
{
    *signature = (JitSignature){0};
    Parser parser = {.text = text, .at = text, .arena = arena, .diag = diag, .signature = signature};
    return memory_guard(parse_signature, &parser, diag);
}

void jit_describe_types(Buf *text, const Type *const *types, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            buf_add(text, ", ");
        type_describe(text, types[i]);
    }
}
