/* Types as text: IR spelling out and in, numba's spelling out, names of scalars in. */
#include <string.h>

#include "core/snapshot.h"
#include "core/base/text.h"
#include "core/type/type.h"

enum { TYPE_MAX_DEPTH = 64, TYPE_MAX_ITEMS = 1 << 16 };

static const char *const scalar_names[SCALAR_COUNT] = {
#define SCALAR(ID, NAME, TEXT, KIND, SIZE, CHARACTER) [SCALAR_##ID] = NAME,
#include "core/type/type.def"
#undef SCALAR
};

static const char *const scalar_texts[SCALAR_COUNT] = {
#define SCALAR(ID, NAME, TEXT, KIND, SIZE, CHARACTER) [SCALAR_##ID] = TEXT,
#include "core/type/type.def"
#undef SCALAR
};

/* --- IR text -------------------------------------------------------------------------------------------------- */

static void print_tuple(Buf *out, const Type *type)
{
    buf_add(out, tuple_tag_info[type->tag].text);
    if (type_has_trait(type, TRAIT_OBJECT))
        buf_printf(out, "@%p", type->object);
    bool with_names = type->names && type->tag != TUPLE_DICT;
    if (with_names) {
        buf_add(out, " ");
        text_print_name(out, type->name);
    }
    buf_add(out, "(");
    for (uint32_t i = 0; i < type->count; i++) {
        buf_add(out, i ? ", " : "");
        if (with_names) {
            text_print_name(out, type->names[i]);
            buf_add(out, ": ");
        }
        type_print(out, type->items[i]);
    }
    buf_add(out, ")");
}

static void print_record(Buf *out, const Type *type)
{
    buf_add(out, "record ");
    if (type->name)
        text_print_name(out, type->name);
    buf_printf(out, "{%u %u", type->size, type->alignment);
    for (uint32_t i = 0; i < type->count; i++) {
        buf_add(out, ", ");
        text_print_name(out, type->fields[i].name);
        buf_add(out, ": ");
        const TypeField *field = &type->fields[i];
        type_print(out, field->type);
        for (uint32_t axis = 0; axis < field->ndim; axis++)
            buf_printf(out, axis ? ", %u" : "(%u", field->shape[axis]);
        buf_printf(out, "%s @%u", field->ndim ? ")" : "", field->offset);
    }
    buf_add(out, "}");
}

/* "datetime(s)", "timedelta(10ms)" */
static void print_time(Buf *out, const Type *type)
{
    buf_add(out, type->kind == TYPE_DATETIME ? "datetime(" : "timedelta(");
    if (type->multiple != 1)
        buf_printf(out, "%u", type->multiple);
    buf_printf(out, "%s)", time_unit_name(type->unit));
}

void type_print(Buf *out, const Type *type)
{
    switch (type->kind) {
    case TYPE_NONE: buf_add(out, "none"); return;
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX: buf_add(out, scalar_texts[type->scalar]); return;
    case TYPE_DATETIME:
    case TYPE_TIMEDELTA: print_time(out, type); return;
    case TYPE_ARRAY:
        type_print(out, type->element);
        buf_printf(out, "[%u %c%s", (unsigned)type->ndim, (char)type->layout, type->read_only ? " ro" : "");
        if (type->alignment)
            buf_printf(out, " at %u", type->alignment);
        if (type->swizzle)
            buf_printf(out, " swizzle %u", type->swizzle);
        buf_add(out, "]");
        return;
    case TYPE_TUPLE: print_tuple(out, type); return;
    case TYPE_RECORD: print_record(out, type); return;
    case TYPE_CHARS: buf_printf(out, "chars(%u, %u)", type->size / type->alignment, type->alignment); return;
    case TYPE_OBJECT: buf_printf(out, "object@%p", type->object); return;
    }
}

static const Type *parse(Arena *arena, const char **text, int depth);

typedef struct ItemList {
    Arena *arena;
    TypeField *items;
    uint32_t count, capacity;
} ItemList;

static bool add_item(ItemList *list, TypeField item)
{
    if (list->count == TYPE_MAX_ITEMS)
        return false;
    list->items = arena_grow(list->arena, list->items, list->count, &list->capacity, sizeof item);
    list->items[list->count++] = item;
    return true;
}

/* Behind the opening parenthesis, up to and with the closing one. */
static bool parse_items(ItemList *list, const char **text, bool named, int depth)
{
    if (text_accept(text, ")"))
        return true;
    do {
        TypeField item = {0};
        if (named && (!(item.name = text_read_name(text, list->arena)) || !text_accept(text, ":")))
            return false;
        if (!(item.type = parse(list->arena, text, depth)) || !add_item(list, item))
            return false;
    } while (text_accept(text, ","));
    return text_accept(text, ")");
}

static const Type *parse_tuple(Arena *arena, const char **text, TupleTag tag, int depth)
{
    ItemList list = {.arena = arena};
    const char *name = NULL;
    if (tag == TUPLE_NAMED && !(name = text_read_name(text, arena)))
        return NULL;
    if (!text_accept(text, "(") || !parse_items(&list, text, tag == TUPLE_NAMED, depth))
        return NULL;
    const Type **items = ARENA_ARRAY(arena, const Type *, list.count);
    const char **names = ARENA_ARRAY(arena, const char *, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        items[i] = list.items[i].type;
        names[i] = list.items[i].name;
    }
    if (tag == TUPLE_NAMED)
        return type_named_tuple(arena, name, items, names, list.count);
    if (tag == TUPLE_VECTOR) {
        const Type *vector = list.count ? type_vector(arena, items[0], list.count) : NULL;
        return vector && type_equal(vector, type_tuple(arena, items, list.count, tag)) ? vector : NULL;
    }
    return type_tuple(arena, items, list.count, tag);
}

/* The extents of an array field, if there are any: "(3, 2)". */
static bool parse_field_shape(TypeField *field, const char **text)
{
    if (!text_accept(text, "("))
        return true;
    do {
        uint64_t extent;
        if (field->ndim == TYPE_MAX_NDIM || !text_read_count(text, UINT32_MAX, &extent))
            return false;
        field->shape[field->ndim++] = (uint32_t)extent;
    } while (text_accept(text, ","));
    return text_accept(text, ")");
}

static const Type *parse_record(Arena *arena, const char **text, int depth)
{
    ItemList list = {.arena = arena};
    uint64_t size, alignment, offset;
    const char *name = text_read_name(text, arena);
    if (!text_accept(text, "{") || !text_read_count(text, UINT32_MAX, &size) ||
        !text_read_count(text, UINT32_MAX, &alignment))
        return NULL;
    while (text_accept(text, ",")) {
        TypeField field = {.name = text_read_name(text, arena)};
        if (!field.name || !text_accept(text, ":") || !(field.type = parse(arena, text, depth)) ||
            !parse_field_shape(&field, text) || !text_accept(text, "@") || !text_read_count(text, UINT32_MAX, &offset))
            return NULL;
        field.offset = (uint32_t)offset;
        if (!add_item(&list, field))
            return NULL;
    }
    if (!text_accept(text, "}"))
        return NULL;
    return type_record(arena, name, list.items, list.count, (uint32_t)size, (uint32_t)alignment);
}

static const Type *parse_time(Arena *arena, const char **text, TypeKind kind)
{
    uint64_t multiple = 1;
    TimeUnit unit;
    if (!text_accept(text, "("))
        return NULL;
    if (**text >= '0' && **text <= '9' && (!text_read_count(text, UINT32_MAX, &multiple) || !multiple))
        return NULL;
    size_t length = strcspn(*text, ")");
    if (!time_unit_by_name(*text, length, &unit))
        return NULL;
    *text += length;
    return text_accept(text, ")") ? type_time(arena, kind, unit, (uint32_t)multiple) : NULL;
}

static const Type *parse_chars(Arena *arena, const char **text)
{
    uint64_t count, width;
    bool ok = text_accept(text, "(") && text_read_count(text, UINT32_MAX / 4, &count) && text_accept(text, ",") &&
              text_read_count(text, 4, &width) && text_accept(text, ")");
    return ok && count && (width == 1 || width == 4) ? type_chars(arena, (uint32_t)count, (uint32_t)width) : NULL;
}

static const Type *parse_primary(Arena *arena, const char **text, int depth)
{
    const char *at = *text;
    text_skip_space(&at);
    if (*at == '(')
        return parse_tuple(arena, text, TUPLE_PLAIN, depth);
    if (text_accept_word(text, "none"))
        return &type_none;
    if (text_accept_word(text, "datetime"))
        return parse_time(arena, text, TYPE_DATETIME);
    if (text_accept_word(text, "timedelta"))
        return parse_time(arena, text, TYPE_TIMEDELTA);
    if (text_accept_word(text, "chars"))
        return parse_chars(arena, text);
    if (text_accept_word(text, "record"))
        return parse_record(arena, text, depth);
    for (int tag = 0; tag < TUPLE_TAG_COUNT; tag++) {
        const TupleTagInfo *info = &tuple_tag_info[tag];
        if (*info->text && !(info->traits & TRAIT_OBJECT) && text_accept_word(text, info->text))
            return parse_tuple(arena, text, (TupleTag)tag, depth);
    }
    for (int id = 0; id < SCALAR_COUNT; id++)
        if (text_accept_word(text, scalar_texts[id]))
            return &type_scalars[id];
    return NULL;
}

static const Type *parse_array(Arena *arena, const char **text, const Type *element)
{
    uint64_t ndim;
    if (!text_read_count(text, TYPE_MAX_NDIM, &ndim))
        return NULL;
    ArrayLayout layout;
    if (text_accept_word(text, "C"))
        layout = LAYOUT_C;
    else if (text_accept_word(text, "F"))
        layout = LAYOUT_F;
    else if (text_accept_word(text, "A"))
        layout = LAYOUT_ANY;
    else
        return NULL;
    bool read_only = text_accept_word(text, "ro");
    uint64_t alignment = 0;
    if (text_accept_word(text, "at") && !text_read_count(text, UINT32_MAX, &alignment))
        return NULL;
    uint64_t swizzle = 0;
    if (text_accept_word(text, "swizzle") && !text_read_count(text, 128, &swizzle))
        return NULL;
    if (swizzle && swizzle != 32 && swizzle != 64 && swizzle != 128)
        return NULL;
    if (!text_accept(text, "]") || (alignment & (alignment - 1)))
        return NULL;
    const Type *type = type_array_aligned(arena, element, (int)ndim, layout, read_only, (uint32_t)alignment);
    return type_array_swizzled(arena, type, (uint8_t)swizzle);
}

static const Type *parse(Arena *arena, const char **text, int depth)
{
    if (depth >= TYPE_MAX_DEPTH)
        return NULL;
    const Type *type = parse_primary(arena, text, depth + 1);
    if (type && type_is_element(type) && text_accept(text, "["))
        type = parse_array(arena, text, type);
    return type;
}

const Type *type_parse(Arena *arena, const char **text)
{
    const char *at = *text;
    const Type *type = parse(arena, &at, 0);
    if (type)
        *text = at;
    return type;
}

/* --- for people ------------------------------------------------------------------------------------------------ */

static void describe_items(Buf *out, const Type *type)
{
    buf_add(out, "(");
    if (type_is_homogeneous(type)) {
        type_describe(out, type->items[0]);
        buf_printf(out, " x %u", type->count);
    }
    for (uint32_t i = 0; i < type->count && !type_is_homogeneous(type); i++) {
        buf_add(out, i ? ", " : "");
        type_describe(out, type->items[i]);
    }
    buf_add(out, ")");
}

static void describe_tuple(Buf *out, const Type *type)
{
    switch (type->tag) {
    case TUPLE_PLAIN:
        buf_add(out, type_is_homogeneous(type) ? "UniTuple" : "Tuple");
        describe_items(out, type);
        return;
    case TUPLE_INSTANCE:
    case TUPLE_NAMED:
        buf_add(out, type->name ? type->name : "namedtuple");
        describe_items(out, type);
        return;
    case TUPLE_VECTOR:
        type_describe(out, type->items[0]);
        buf_printf(out, "x%u", type->count);
        return;
    case TUPLE_POINTER:
        type_describe(out, type->items[0]->element);
        buf_add(out, "*");
        return;
    case TUPLE_ENUM:
    case TUPLE_INT_ENUM:
        buf_printf(out, "enum %s(", type->name);
        type_describe(out, type->items[0]);
        buf_add(out, ")");
        return;
    case TUPLE_RANGE:
        buf_add(out, "range(");
        if (type->count)
            type_describe(out, type->items[0]);
        buf_add(out, ")");
        return;
    case TUPLE_ENUMERATE:
    case TUPLE_ZIP:
    case TUPLE_REVERSED:
    case TUPLE_OPTIONAL:
        buf_printf(out, "%s(", tuple_tag_info[type->tag].word);
        for (uint32_t i = type_has_trait(type, TRAIT_HIDES_FIRST), first = i; i < type->count; i++) {
            buf_add(out, i > first ? ", " : "");
            type_describe(out, type->items[i]);
        }
        buf_add(out, ")");
        return;
    default: buf_add(out, tuple_tag_info[type->tag].word); return;
    }
}

static void describe_record(Buf *out, const Type *type)
{
    buf_add(out, "record(");
    for (uint32_t i = 0; i < type->count; i++) {
        const TypeField *field = &type->fields[i];
        buf_printf(out, "%s%s: ", i ? ", " : "", field->name ? field->name : "");
        type_describe(out, field->type);
        for (uint32_t axis = 0; axis < field->ndim; axis++)
            buf_printf(out, axis ? ", %u" : "[%u", field->shape[axis]);
        buf_add(out, field->ndim ? "]" : "");
    }
    buf_add(out, ")");
}

static void describe_object(Buf *out, const Constant *constant)
{
    switch (constant ? constant->kind : CONSTANT_UNDEFINED) {
    case CONSTANT_STRING: buf_add(out, "string"); return;
    case CONSTANT_NAMESPACE: buf_add(out, "module"); break;
    case CONSTANT_INTRINSIC: buf_add(out, "function"); break;
    case CONSTANT_FUNCTION:
    case CONSTANT_FOREIGN:
    case CONSTANT_CODE: buf_add(out, "function"); break;
    case CONSTANT_ENUM: buf_add(out, "enum member"); break;
    case CONSTANT_ELLIPSIS: buf_add(out, "ellipsis"); return;
    case CONSTANT_TYPE:
        buf_add(out, "class(");
        if (constant->type)
            type_describe(out, constant->type);
        buf_add(out, ")");
        return;
    default: buf_add(out, "compile-time object"); break;
    }
    if (constant && constant->shown_as)
        buf_printf(out, " '%s'", constant->shown_as);
}

void type_describe(Buf *out, const Type *type)
{
    switch (type->kind) {
    case TYPE_NONE: buf_add(out, "none"); return;
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX: buf_add(out, scalar_names[type->scalar]); return;
    case TYPE_DATETIME:
    case TYPE_TIMEDELTA:
        buf_add(out, type->kind == TYPE_DATETIME ? "datetime64[" : "timedelta64[");
        if (type->multiple != 1)
            buf_printf(out, "%u", type->multiple);
        buf_printf(out, "%s]", time_unit_name(type->unit));
        return;
    case TYPE_ARRAY:
        buf_add(out, type->read_only ? "readonly array(" : "array(");
        type_describe(out, type->element);
        buf_printf(out, ", %ud, %c)", (unsigned)type->ndim, (char)type->layout);
        return;
    case TYPE_TUPLE: describe_tuple(out, type); return;
    case TYPE_RECORD: describe_record(out, type); return;
    case TYPE_CHARS:
        buf_printf(out, "[%s x %u]", type->alignment == 1 ? "char" : "unichr", type->size / type->alignment);
        return;
    case TYPE_OBJECT: describe_object(out, type->object); return;
    }
}

/* Spellings of numba and NumPy beside type.def's. They are looked up first: NumPy's "i8" is 8 bytes. */
static const struct {
    const char *name;
    ScalarId scalar;
} aliases[] = {
    {"b1", SCALAR_BOOL},        {"boolean", SCALAR_BOOL},
    {"bool_", SCALAR_BOOL},     {"i1", SCALAR_INT8},
    {"i2", SCALAR_INT16},       {"i4", SCALAR_INT32},
    {"i8", SCALAR_INT64},       {"u1", SCALAR_UINT8},
    {"u2", SCALAR_UINT16},      {"u4", SCALAR_UINT32},
    {"u8", SCALAR_UINT64},      {"f2", SCALAR_FLOAT16},
    {"f4", SCALAR_FLOAT32},     {"f8", SCALAR_FLOAT64},
    {"c8", SCALAR_COMPLEX64},   {"c16", SCALAR_COMPLEX128},
    {"byte", SCALAR_UINT8},     {"char", SCALAR_INT8},
    {"uchar", SCALAR_UINT8},    {"short", SCALAR_INT16},
    {"ushort", SCALAR_UINT16},  {"intc", SCALAR_INT32},
    {"uintc", SCALAR_UINT32},   {"int", SCALAR_INT64},
    {"int_", SCALAR_INT64},     {"uint", SCALAR_UINT64},
    {"uint_", SCALAR_UINT64},   {"intp", SCALAR_INT64},
    {"uintp", SCALAR_UINT64},   {"long", SCALAR_INT64},
    {"long_", SCALAR_INT64},    {"ulong", SCALAR_UINT64},
    {"longlong", SCALAR_INT64}, {"ulonglong", SCALAR_UINT64},
    {"half", SCALAR_FLOAT16},   {"single", SCALAR_FLOAT32},
    {"float", SCALAR_FLOAT64},  {"float_", SCALAR_FLOAT64},
    {"double", SCALAR_FLOAT64}, {"complex", SCALAR_COMPLEX128},
};

const Type *type_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (!strcmp(name, aliases[i].name))
            return &type_scalars[aliases[i].scalar];
    for (int id = 0; id < SCALAR_COUNT; id++)
        if (!strcmp(name, scalar_names[id]) || !strcmp(name, scalar_texts[id]))
            return &type_scalars[id];
    return NULL;
}
