/* Making, comparing and copying types. Their text is in type_text.c, promotion in type_promotion.c. */
#include "core/type/type.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"

#define ALIGNMENT_OF(kind, size) ((kind) == TYPE_COMPLEX ? (size) / 2 : (size))

const TupleTagInfo tuple_tag_info[TUPLE_TAG_COUNT] = {
#define TUPLE_TAG(ID, TEXT, WORD, MEMBERS, TRAITS, DOC) [TUPLE_##ID] = {TEXT, WORD, MEMBERS, TRAITS},
#include "core/type/tuple_tag.def"
};

const Type type_scalars[SCALAR_COUNT] = {
#define SCALAR(ID, NAME, TEXT, KIND, SIZE, CHARACTER) \
    [SCALAR_##ID] = {.kind = KIND, .scalar = SCALAR_##ID, .size = SIZE, .alignment = ALIGNMENT_OF(KIND, SIZE)},
#include "core/type/type.def"
#undef SCALAR
};

const Type type_none = {.kind = TYPE_NONE};
const Type type_memory = {.kind = TYPE_ARRAY, .element = TYPE_OF(UINT8), .layout = LAYOUT_C};
const Type type_words = {.kind = TYPE_ARRAY, .element = TYPE_OF(INT64), .ndim = 1, .layout = LAYOUT_C};

static const Type *keep(Arena *arena, Type type) { return arena_copy(arena, &type, sizeof type); }

static const char *keep_name(Arena *arena, const char *name) { return name ? arena_string(arena, name) : NULL; }

uint32_t type_natural_alignment(const Type *type)
{
    uint32_t most = 1;
    if (type->kind == TYPE_COMPLEX)
        return type->size / 2;
    if (type_is_vector(type) || type->kind == TYPE_CHARS)
        return type->alignment;
    if (type->kind != TYPE_RECORD)
        return type->size ? type->size : 1;
    for (uint32_t i = 0; i < type->count; i++) {
        uint32_t field = type_natural_alignment(type->fields[i].type);
        most = field > most ? field : most;
    }
    return most;
}

uint32_t type_common_alignment(uint32_t a, uint32_t b)
{
    assert(a || b);
    uint32_t both = a | b;
    return both & (~both + 1u);
}

static uint32_t own_alignment(const Type *element)
{
    uint32_t natural = type_natural_alignment(element);
    return element->kind == TYPE_RECORD || element->kind == TYPE_CHARS ? type_common_alignment(natural, element->size)
                                                                       : natural;
}

uint32_t type_element_alignment(const Type *array)
{
    return array->alignment ? array->alignment : own_alignment(array->element);
}

const Type *type_array_aligned(Arena *arena, const Type *element, int ndim, ArrayLayout layout, bool read_only,
                               uint32_t alignment)
{
    assert(ndim >= 0 && ndim <= TYPE_MAX_NDIM && element);
    return keep(arena, (Type){.kind = TYPE_ARRAY,
                              .element = element,
                              .ndim = (uint8_t)ndim,
                              .layout = layout,
                              .read_only = read_only,
                              .alignment = alignment < own_alignment(element) ? alignment : 0});
}

const Type *type_array(Arena *arena, const Type *element, int ndim, ArrayLayout layout, bool read_only)
{
    return type_array_aligned(arena, element, ndim, layout, read_only, 0);
}

const Type *type_array_like(Arena *arena, const Type *array, int ndim, ArrayLayout layout)
{
    const Type *type = type_array_aligned(arena, array->element, ndim, layout, array->read_only, array->alignment);
    return type_array_swizzled(arena, type, array->swizzle);
}

const Type *type_array_swizzled(Arena *arena, const Type *array, uint8_t swizzle)
{
    if (array->swizzle == swizzle)
        return array;
    Type type = *array;
    type.swizzle = swizzle;
    return keep(arena, type);
}

static int compare_name(const void *name, const void *place)
{
    return strcmp(name, **(const char *const *const *)place);
}

/* Of places of the same name the first one comes first. */
static int compare_places(const void *a, const void *b)
{
    const char *const *first = *(const char *const *const *)a, *const *second = *(const char *const *const *)b;
    int order = strcmp(*first, *second);
    return order ? order : (first > second) - (first < second);
}

/* The tuple's items have names of their own. Thousands of fields are asked for one by one. */
static void name_items(Arena *arena, Type *tuple, const char *const *names)
{
    const char **copies = ARENA_ARRAY(arena, const char *, tuple->count);
    const char *const **places = ARENA_ARRAY(arena, const char *const *, tuple->count);
    for (uint32_t i = 0; i < tuple->count; i++) {
        copies[i] = arena_string(arena, names[i]);
        places[i] = &copies[i];
    }
    if (tuple->count)
        qsort(places, tuple->count, sizeof *places, compare_places);
    tuple->names = copies;
    tuple->by_name = places;
}

static bool own_member(const Type *tuple, const char *name, uint32_t *place)
{
    const char *const *const *found =
        *name && tuple->count ? bsearch(name, tuple->by_name, tuple->count, sizeof *tuple->by_name, compare_name)
                              : NULL;
    if (found)
        *place = (uint32_t)(*found - tuple->names);
    return found;
}

bool type_member(const Type *tuple, const char *name, uint32_t *place)
{
    assert(tuple->kind == TYPE_TUPLE && tuple->tag < TUPLE_TAG_COUNT);
    if (tuple->names)
        return own_member(tuple, name, place);
    const char *member = tuple_tag_info[tuple->tag].members;
    for (*place = 0; *place < tuple->count && *member; ++*place) {
        size_t length = strcspn(member, " ");
        if (strlen(name) == length && memcmp(name, member, length) == 0)
            return true;
        member += length;
        member += strspn(member, " ");
    }
    return false;
}

const Type *type_tuple_of_object(Arena *arena, const Type *const *items, uint32_t count, TupleTag tag,
                                 const void *object)
{
    return keep(arena, (Type){.kind = TYPE_TUPLE,
                              .tag = tag,
                              .count = count,
                              .object = object,
                              .items = arena_copy(arena, items, count * sizeof *items)});
}

const Type *type_tuple(Arena *arena, const Type *const *items, uint32_t count, TupleTag tag)
{
    return type_tuple_of_object(arena, items, count, tag, NULL);
}

const Type *type_optional(Arena *arena, const Type *value)
{
    const Type *items[] = {TYPE_OF(BOOL), value};
    return type_tuple(arena, items, 2, TUPLE_OPTIONAL);
}

uint32_t type_count_values(const Type *type, uint32_t left)
{
    if (type->kind != TYPE_TUPLE)
        return 1;
    uint32_t found = 1;
    for (uint32_t i = 0; i < type->count && found <= left; i++)
        found += type_count_values(type->items[i], left - found);
    return found;
}

static uint32_t nesting(const Type *type)
{
    uint32_t most = 0;
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++) {
        uint32_t item = 1 + nesting(type->items[i]);
        most = item > most ? item : most;
    }
    return most;
}

DiagId type_check_size(const Type *type)
{
    if (type_count_values(type, TYPE_MOST_VALUES) > TYPE_MOST_VALUES)
        return DIAG_TUPLE_SIZE;
    return nesting(type) > TYPE_MOST_NESTING ? DIAG_TUPLE_NESTING : DIAG_NONE;
}

const Type *type_pointer(Arena *arena, const Type *element)
{
    const Type *memory = type_array(arena, element ? element : TYPE_OF(UINT8), 0, LAYOUT_C, false);
    return type_tuple(arena, &memory, 1, element ? TUPLE_POINTER : TUPLE_VOID_POINTER);
}

const Type *type_named_tuple(Arena *arena, const char *name, const Type *const *items, const char *const *names,
                             uint32_t count)
{
    Type tuple = {.kind = TYPE_TUPLE,
                  .tag = TUPLE_NAMED,
                  .count = count,
                  .items = arena_copy(arena, items, count * sizeof *items),
                  .name = keep_name(arena, name)};
    name_items(arena, &tuple, names);
    return keep(arena, tuple);
}

const Type *type_dict(Arena *arena, const Type *const *items, const char *const *keys, uint32_t count)
{
    Type dict = *type_named_tuple(arena, "dict", items, keys, count);
    dict.tag = TUPLE_DICT;
    return keep(arena, dict);
}

const Type *type_record(Arena *arena, const char *name, const TypeField *fields, uint32_t count, uint32_t size,
                        uint32_t alignment)
{
    TypeField *copies = arena_copy(arena, fields, count * sizeof *fields);
    for (uint32_t i = 0; i < count; i++)
        copies[i].name = keep_name(arena, fields[i].name);
    return keep(arena, (Type){.kind = TYPE_RECORD,
                              .size = size,
                              .alignment = alignment,
                              .count = count,
                              .fields = copies,
                              .name = keep_name(arena, name)});
}

const Type *type_chars(Arena *arena, uint32_t count, uint32_t width)
{
    return keep(arena, (Type){.kind = TYPE_CHARS, .size = count * width, .alignment = width});
}

const Type *type_with_items(Arena *arena, const Type *tuple, const Type *const *items)
{
    Type copy = *tuple;
    copy.items = arena_copy(arena, items, tuple->count * sizeof *items);
    copy.name = keep_name(arena, tuple->name);
    if (tuple->names)
        name_items(arena, &copy, tuple->names);
    return keep(arena, copy);
}

const VectorBase vector_bases[] = {
#define VECTOR(ID, NAMES) {SCALAR_##ID, NAMES},
#include "core/type/vector.def"
#undef VECTOR
};
const int vector_base_count = sizeof vector_bases / sizeof vector_bases[0];

/* Two and four lie as CUDA's do, on 16 bytes at most; three as three of their scalars. */
const Type *type_vector(Arena *arena, const Type *scalar, uint32_t count)
{
    const Type *items[VECTOR_MOST] = {scalar, scalar, scalar, scalar};
    int base = 0;
    while (base < vector_base_count && (scalar->kind > TYPE_COMPLEX || vector_bases[base].scalar != scalar->scalar))
        base++;
    if (base == vector_base_count || count < 1 || count > VECTOR_MOST)
        return NULL;
    Type *type = (Type *)type_tuple(arena, items, count, TUPLE_VECTOR);
    type->size = count * scalar->size;
    type->alignment = count == 3 ? scalar->size : type->size > 16 ? 16 : type->size;
    return type;
}

const Type *type_enum(Arena *arena, const char *name, const Type *value, TupleTag tag, const void *class)
{
    Type *type = (Type *)type_tuple_of_object(arena, &value, 1, tag, class);
    type->name = keep_name(arena, name);
    return type;
}

const Type *type_object(Arena *arena, const void *object)
{
    return keep(arena, (Type){.kind = TYPE_OBJECT, .object = object});
}

static bool equal_names(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool equal_tuples(const Type *a, const Type *b)
{
    if ((a->element || b->element) && !(a->element && b->element && type_equal(a->element, b->element)))
        return false;
    if (a->tag != b->tag || a->count != b->count || !equal_names(a->name, b->name))
        return false;
    if (!type_is_plain_tuple(a) && a->object != b->object) /* names tell named tuples apart, */
        return false;
    if (a->class != b->class) /* and classes those that have methods, from those that have none as well */
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (!type_equal(a->items[i], b->items[i]))
            return false;
        if (a->names && b->names && !equal_names(a->names[i], b->names[i]))
            return false;
    }
    return true;
}

static bool equal_records(const Type *a, const Type *b)
{
    if (a->size != b->size || a->alignment != b->alignment || a->count != b->count || !equal_names(a->name, b->name))
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const TypeField *x = &a->fields[i], *y = &b->fields[i];
        if (x->offset != y->offset || !equal_names(x->name, y->name) || !type_equal(x->type, y->type) ||
            x->ndim != y->ndim || memcmp(x->shape, y->shape, x->ndim * sizeof *x->shape) != 0)
            return false;
    }
    return true;
}

bool type_equal(const Type *a, const Type *b)
{
    if (type_is_known_equal(a, b))
        return true;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TYPE_NONE: return true;
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX: return a->scalar == b->scalar;
    case TYPE_DATETIME:
    case TYPE_TIMEDELTA: return a->unit == b->unit && a->multiple == b->multiple;
    case TYPE_ARRAY:
        return a->ndim == b->ndim && a->layout == b->layout && a->read_only == b->read_only &&
               a->alignment == b->alignment && a->swizzle == b->swizzle && type_equal(a->element, b->element);
    case TYPE_TUPLE: return equal_tuples(a, b);
    case TYPE_RECORD: return equal_records(a, b);
    case TYPE_CHARS: return a->size == b->size && a->alignment == b->alignment;
    case TYPE_OBJECT: return a->object == b->object;
    }
    return false;
}

uint64_t type_digest(const Type *type)
{
    uint64_t hash = hash_with(0, (uint64_t)type->kind);
    if (type_is_scalar(type))
        return hash_with(hash, (uint64_t)type->scalar);
    if (type->kind == TYPE_ARRAY)
        return hash_with(hash_with(hash, type->ndim), type_digest(type->element));
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        hash = hash_with(hash, type_digest(type->items[i]));
    return hash;
}

bool type_is_homogeneous(const Type *tuple)
{
    if (tuple->kind != TYPE_TUPLE || !tuple->count)
        return false;
    for (uint32_t i = 1; i < tuple->count; i++)
        if (!type_equal(tuple->items[0], tuple->items[i]))
            return false;
    return true;
}

uint32_t type_part_count(const Type *type)
{
    uint32_t count = 0;
    switch (type->kind) {
    case TYPE_NONE:
    case TYPE_DATETIME:
    case TYPE_TIMEDELTA:
    case TYPE_RECORD:
    case TYPE_CHARS:
    case TYPE_OBJECT: return 0;
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_FLOAT: return 1;
    case TYPE_COMPLEX: return 2;
    case TYPE_ARRAY: return 1u + type->ndim * (type->layout == LAYOUT_ANY ? 2u : 1u);
    case TYPE_TUPLE: break;
    }
    for (uint32_t i = 0; i < type->count; i++)
        count += type_part_count(type->items[i]);
    return count;
}

static const Type *copy_tuple(Arena *arena, const Type *type)
{
    const Type **items = ARENA_ARRAY(arena, const Type *, type->count);
    for (uint32_t i = 0; i < type->count; i++)
        items[i] = type_copy(arena, type->items[i]);
    return type_with_items(arena, type, items);
}

static const Type *copy_record(Arena *arena, const Type *type)
{
    TypeField *fields = arena_copy(arena, type->fields, type->count * sizeof *fields);
    for (uint32_t i = 0; i < type->count; i++)
        fields[i].type = type_copy(arena, fields[i].type);
    return type_record(arena, type->name, fields, type->count, type->size, type->alignment);
}

uint64_t type_new_origin(void)
{
    static _Atomic uint64_t last;
    return ++last;
}

static const Type *with_origin(const Type *copy, uint64_t origin)
{
    ((Type *)copy)->origin = origin;
    return copy;
}

const Type *type_copy(Arena *arena, const Type *type)
{
    switch (type->kind) {
    case TYPE_NONE: return &type_none;
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX: return &type_scalars[type->scalar];
    case TYPE_DATETIME:
    case TYPE_TIMEDELTA: return with_origin(type_time(arena, type->kind, type->unit, type->multiple), type->origin);
    case TYPE_ARRAY:
        return type_array_swizzled(arena,
                                   type_array_aligned(arena, type_copy(arena, type->element), type->ndim, type->layout,
                                                      type->read_only, type->alignment),
                                   type->swizzle);
    case TYPE_TUPLE: return copy_tuple(arena, type);
    case TYPE_RECORD: return with_origin(copy_record(arena, type), type->origin);
    case TYPE_CHARS: return with_origin(type_chars(arena, type->size / type->alignment, type->alignment), type->origin);
    case TYPE_OBJECT: return type_object(arena, type->object);
    }
    return &type_none;
}
