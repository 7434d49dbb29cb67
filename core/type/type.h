/* Types of kernel values: scalars, arrays, tuples (and what is laid out like one), records, compile-time objects.
 * Scalars and none are static singletons; all others live in an arena. Compare with type_equal, never by pointer. */
#ifndef CUJIT_CORE_TYPE_H
#define CUJIT_CORE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/fields.h"
#include "core/diagnostic/diag.h"

enum { TYPE_MAX_NDIM = 8 };

typedef enum TypeKind {
    TYPE_NONE,      /* the type of None, and of a function that returns nothing */
    TYPE_BOOL,
    TYPE_INT,
    TYPE_UINT,
    TYPE_FLOAT,
    TYPE_COMPLEX,
    TYPE_DATETIME,  /* int64 counts of a unit since 1970; in IR: int64 */
    TYPE_TIMEDELTA, /* int64 counts of a unit; in IR: int64 */
    TYPE_ARRAY,
    TYPE_TUPLE,
    TYPE_RECORD,
    TYPE_CHARS, /* text of a fixed length, in memory only: padded with zeros; alignment: the bytes of a character */
    TYPE_OBJECT, /* known at compile time only: function, module, type, string; occupies no memory */
} TypeKind;

typedef enum ScalarId {
#define SCALAR(id, name, text, kind, size, character) SCALAR_##id,
#include "core/type/type.def"
#undef SCALAR
    SCALAR_COUNT
} ScalarId;

typedef enum TimeUnit {
#define TIME_UNIT(ID, NAME, NUMBER, FINER) TIME_UNIT_##ID,
#include "core/type/time_unit.def"
#undef TIME_UNIT
    TIME_UNIT_COUNT
} TimeUnit;

typedef enum ArrayLayout { LAYOUT_C = 'C', LAYOUT_F = 'F', LAYOUT_ANY = 'A' } ArrayLayout;

typedef enum TupleTag {
#define TUPLE_TAG(id, text, word, members, traits, doc) TUPLE_##id,
#include "core/type/tuple_tag.def"
    TUPLE_TAG_COUNT
} TupleTag;

/* What several kinds of tuples have in common. */
typedef enum TupleTrait {
    TRAIT_PLAIN = 1, /* what Python calls a tuple: indexed by places and slices, compared, joined, unpacked */
    TRAIT_SIZED = 2, /* has a len() */
    TRAIT_ITERABLE = 4, /* loops run over it */
    TRAIT_LAZY = 8, /* its items are made while a loop runs, by each loop from the first on */
    TRAIT_OF_ITERABLES = 16, /* ... of the items of those that it has */
    TRAIT_PRINTED = 32, /* has a text in kernels */
    TRAIT_OBJECT = 64, /* told apart from others by the address `object`: no text of it can be read back */
    TRAIT_CLASS = 128, /* `object` is a class of Python's */
    TRAIT_MEMBER = 256, /* member of an enum */
    TRAIT_ERASED = 512, /* a plain tuple in IR, where its kind would say nothing */
    TRAIT_HIDES_FIRST = 1024, /* what its first item is for is nobody's business */
} TupleTrait;

typedef struct TupleTagInfo {
    const char *text, *word;
    const char *members; /* names of items by which attributes find them, apart by spaces */
    unsigned traits;
} TupleTagInfo;

extern const TupleTagInfo tuple_tag_info[TUPLE_TAG_COUNT];

typedef struct Type Type;
#define TYPE_FIELD_FIELDS(FIELD)                                                                                    \
    FIELD(const char *, name, , text, )                                                                             \
    FIELD(const Type *, type, , type, ) /* a scalar or a record; of an array field the type of its elements */      \
    FIELD(uint32_t, offset, , number, ) /* bytes from the record's start */                                         \
    FIELD(uint8_t, ndim, , number, ) /* axes of an array field, else 0; its elements lie in C order without gaps */ \
    FIELD(uint32_t, shape, [TYPE_MAX_NDIM], leading, ndim)
typedef struct TypeField {
    TYPE_FIELD_FIELDS(DECLARE_FIELD)
} TypeField;

#define TYPE_FIELDS(FIELD)                                                                                            \
    FIELD(TypeKind, kind, , number, )                                                                                 \
    FIELD(ScalarId, scalar, , number, ) /* scalars */                                                                 \
    FIELD(uint32_t, size, , number, ) /* bytes in memory: scalars and records */                                      \
    /* bytes: scalars and records. Arrays: what all elements' addresses are a multiple of, else 0: as much as */      \
    /* type_element_alignment promises */                                                                             \
    FIELD(uint32_t, alignment, , number, )                                                                            \
    /* datetimes and timedeltas: what is counted, as in "10 ms" */                                                    \
    FIELD(TimeUnit, unit, , number, )                                                                                 \
    FIELD(uint32_t, multiple, , number, )                                                                             \
    /* arrays */                                                                                                      \
    FIELD(const Type *, element, , type, )                                                                            \
    FIELD(uint8_t, ndim, , number, )                                                                                  \
    FIELD(ArrayLayout, layout, , number, )                                                                            \
    FIELD(bool, read_only, , number, )                                                                                \
    FIELD(uint8_t, swizzle, ,                                                                                         \
          number, ) /* bytes of rows of shared memory in which pieces of 16 are exchanged; 0: not */                  \
    /* tuples and records */                                                                                          \
    FIELD(TupleTag, tag, , number, )                                                                                  \
    FIELD(uint32_t, count, , number, )                                                                                \
    FIELD(const Type *const *, items, , types, count) /* tuples */                                                    \
    FIELD(const char *const *, names, , texts, count) /* named tuples and dataclasses, else NULL */                   \
    /* places in names, in the order of what stands there, by which type_member() finds it: names tell it */          \
    FIELD(const char *const *const *, by_name, , none, )                                                              \
    FIELD(const char *, name, , text, ) /* the same, enums and records, else NULL */                                  \
    FIELD(const TypeField *, fields, , fields, count) /* records */                                                   \
    /* objects, closures, bound methods: identity of a compile-time value (a Constant of snapshot.h); enums and */    \
    /* dataclasses: address of the class */                                                                           \
    FIELD(const void *, object, , identity, )                                                                         \
    /* named tuples: address of the class, where it has methods; NULL: nobody asks */                                 \
    FIELD(const void *, class, , class, )                                                                             \
    /* records, texts, datetimes and timedeltas: what one was made for, which its copies were, too: types with the */ \
    /* same number are equal. 0: not known. The code depends on what the type is */                                   \
    FIELD(uint64_t, origin, , none, )
struct Type {
    TYPE_FIELDS(DECLARE_FIELD)
};

extern const Type type_scalars[SCALAR_COUNT];
extern const Type type_none;
/* The memory of a value of any type, in IR: uint8[0 C]. */
extern const Type type_memory;
/* int64[::1]: what watchers keep (core/kernel/watch_state.h). */
extern const Type type_words;

#define TYPE_OF(id) (&type_scalars[SCALAR_##id])

/* Whether they are seen to be equal at a glance; NULL is equal to nothing else. */
static inline bool type_is_known_equal(const Type *a, const Type *b)
{
    return a == b || (a && b && a->origin && a->origin == b->origin);
}
/* A number for the origin of a type that is new. */
uint64_t type_new_origin(void);

static inline bool type_is_scalar(const Type *t) { return t->kind >= TYPE_BOOL && t->kind <= TYPE_COMPLEX; }
static inline bool type_is_integer(const Type *t) { return t->kind == TYPE_INT || t->kind == TYPE_UINT; }
/* Integers that differ in their sign at most: memory with one can be read as the other. */
static inline bool type_is_same_integer(const Type *a, const Type *b)
{
    return type_is_integer(a) && type_is_integer(b) && a->size == b->size;
}
static inline bool type_is_real(const Type *t) { return t->kind >= TYPE_BOOL && t->kind <= TYPE_FLOAT; }
static inline bool type_is_time(const Type *t) { return t->kind == TYPE_DATETIME || t->kind == TYPE_TIMEDELTA; }
static inline bool type_is_tagged(const Type *t, TupleTag tag) { return t->kind == TYPE_TUPLE && t->tag == tag; }
static inline bool type_has_trait(const Type *t, TupleTrait trait)
{
    return t->kind == TYPE_TUPLE && tuple_tag_info[t->tag].traits & trait;
}
/* A record with bytes as a parameter of a kernel: an array of one, without axes. */
static inline bool type_is_record_parameter(const Type *t)
{
    return t->kind == TYPE_ARRAY && t->ndim == 0 && t->element->kind == TYPE_RECORD && t->element->size;
}
/* The class of Python whose methods a value has; NULL: none. */
static inline const void *type_class(const Type *t)
{
    return t->kind != TYPE_TUPLE ? NULL : t->tag == TUPLE_INSTANCE ? t->object : t->class;
}
static inline bool type_is_plain_tuple(const Type *t) { return type_has_trait(t, TRAIT_PLAIN); }
static inline bool type_is_pointer(const Type *t)
{
    return type_is_tagged(t, TUPLE_POINTER) || type_is_tagged(t, TUPLE_VOID_POINTER);
}
static inline bool type_is_optional(const Type *t) { return type_is_tagged(t, TUPLE_OPTIONAL); }
static inline bool type_is_vector(const Type *t) { return type_is_tagged(t, TUPLE_VECTOR); }
/* What one element access gives: no record. */
static inline bool type_is_single(const Type *t)
{
    return (t->kind >= TYPE_BOOL && t->kind <= TYPE_TIMEDELTA) || type_is_vector(t);
}
static inline bool type_is_element(const Type *t)
{
    return type_is_single(t) || t->kind == TYPE_RECORD || t->kind == TYPE_CHARS;
}
/* float16 and bfloat16: stored as such, mostly computed in float32. */
static inline bool type_is_half(const Type *t) { return t->kind == TYPE_FLOAT && t->size == 2; }
static inline uint32_t type_bits(const Type *t) { return t->kind == TYPE_BOOL ? 1 : t->size * 8; }

const Type *type_array(Arena *arena, const Type *element, int ndim, ArrayLayout layout, bool read_only);
/* An array whose elements lie at multiples of `alignment` bytes; as type_array when that is as much as the elements
 * have anyway, or 0. */
const Type *type_array_aligned(Arena *arena, const Type *element, int ndim, ArrayLayout layout, bool read_only,
                               uint32_t alignment);
/* The same array in shared memory whose rows have `swizzle` bytes, 0, 32, 64 or 128: the three bits from 16 on of an
 * element's address are xored with those from 128 on, as many of them as a row has. */
const Type *type_array_swizzled(Arena *arena, const Type *array, uint8_t swizzle);
/* Which bits of an address those are. */
static inline uint32_t type_swizzle_mask(uint8_t swizzle) { return swizzle ? swizzle - 16u : 0; }
/* An array of the same elements at the same alignment, with other axes. */
const Type *type_array_like(Arena *arena, const Type *array, int ndim, ArrayLayout layout);
enum { TYPE_MOST_VALUES = 8192, TYPE_MOST_NESTING = 64 }; /* of tuples that a program makes */
/* Values and tuples in a type, counted no further than `left`: t = (t, t) doubles them. */
uint32_t type_count_values(const Type *type, uint32_t left);
/* Whether a tuple has more values than it may, or tuples in one another: DIAG_NONE, or which diagnostic, of the limit. */
DiagId type_check_size(const Type *type);
const Type *type_tuple(Arena *arena, const Type *const *items, uint32_t count, TupleTag tag);
const Type *type_named_tuple(Arena *arena, const char *name, const Type *const *items, const char *const *names,
                             uint32_t count);
const Type *type_dict(Arena *arena, const Type *const *items, const char *const *keys, uint32_t count);
const Type *type_record(Arena *arena, const char *name, const TypeField *fields, uint32_t count, uint32_t size,
                        uint32_t alignment);
/* width: 1, NumPy's S, or 4, its U. */
const Type *type_chars(Arena *arena, uint32_t count, uint32_t width);
/* The same kind of tuple, names and all, with other items. */
const Type *type_with_items(Arena *arena, const Type *tuple, const Type *const *items);
/* count: 1 to 4. NULL where vector.def has no vectors of the scalar. */
const Type *type_vector(Arena *arena, const Type *scalar, uint32_t count);
const Type *type_enum(Arena *arena, const char *name, const Type *value, TupleTag tag, const void *class);
/* Which item an attribute of the tuple names, by its own names or those of its kind. */
bool type_member(const Type *tuple, const char *name, uint32_t *place);
/* None or a value of that type. */
const Type *type_optional(Arena *arena, const Type *value);
/* NULL for the element: void*. */
const Type *type_pointer(Arena *arena, const Type *element);
/* A tuple that carries the identity of its function, method, format or class. */
const Type *type_tuple_of_object(Arena *arena, const Type *const *items, uint32_t count, TupleTag tag,
                                 const void *object);
const Type *type_object(Arena *arena, const void *object);

/* What a GPU's loads and stores of the type ask for: every number at a multiple of its size. */
uint32_t type_natural_alignment(const Type *type);
/* What the addresses of an array's elements are multiples of. Records of an odd size leave the natural alignment after
 * the first. */
uint32_t type_element_alignment(const Type *array);
/* The largest power of two that divides both; either may be 0, which everything divides. */
uint32_t type_common_alignment(uint32_t a, uint32_t b);

/* How many registers of 8 bytes at most hold a value: one for a number, two for a complex one, an array's address and its
 * extents (and strides). Types that no IR has take none. */
uint32_t type_part_count(const Type *type);

bool type_equal(const Type *a, const Type *b);
/* The same number for types that are equal. */
uint64_t type_digest(const Type *type);
/* All items equal, and at least one. */
bool type_is_homogeneous(const Type *tuple);
/* Deep copy into another arena (objects keep their identity). */
const Type *type_copy(Arena *arena, const Type *type);

/* IR and signature-key text: "f64", "f32[2 C]", "f32[1 A ro]", "(i64, i64)". */
void type_print(Buf *out, const Type *type);
/* Reads what type_print wrote; advances *text. NULL when it is not a type. Objects cannot be read back. */
const Type *type_parse(Arena *arena, const char **text);
/* numba's spelling for messages and str(): "float64", "array(float32, 2d, C)", "UniTuple(int64 x 2)", "none". */
void type_describe(Buf *out, const Type *type);
/* The scalar called `name` ("float32", "f32", "f4", "intp", ...), or NULL. Where type.def's short names and NumPy's
 * codes differ (i8, u8), NumPy's meaning holds: 8 bytes. */
const Type *type_by_name(const char *name);

/* --- datetimes and timedeltas (type_time.c) -------------------------------------------------------------------- */
const Type *type_time(Arena *arena, TypeKind kind, TimeUnit unit, uint32_t multiple);
/* "M8[s]", "timedelta64[10ms]", "m8"; NULL for any other text. */
const Type *type_time_by_name(Arena *arena, const char *name);
/* The type of this kind whose unit holds both exactly; NULL where the units have no fixed ratio. */
const Type *type_join_times(Arena *arena, const Type *a, const Type *b, TypeKind kind);
/* How many of the finer unit `to` one `from` is; false where that is no fixed number. */
bool time_factor(TimeUnit from, TimeUnit to, int64_t *factor);
/* "s"; NumPy's number of it; and back. */
const char *time_unit_name(TimeUnit unit);
int time_unit_number(TimeUnit unit);
bool time_unit_by_name(const char *name, size_t length, TimeUnit *unit);
bool time_unit_by_number(int number, TimeUnit *unit);
/* A date and time, and the unit of the last part that is there (time_text.c). False where the text is none, or beyond int64. */
bool time_of_text(const char *text, int64_t *count, TimeUnit *unit);

/* --- vectors ------------------------------------------------------------------------------------------------- */
typedef struct VectorBase {
    ScalarId scalar;
    const char *names; /* C's, without the count, apart by spaces */
} VectorBase;

enum { VECTOR_MOST = 4 };
extern const VectorBase vector_bases[];
extern const int vector_base_count;

/* --- promotion (promotion.def; numba's observed rules) -------------------------------------------------------- */
typedef enum PromotionId {
#define PROMOTION(id, doc) PROMOTION_##id,
#define ROW(...)
#define UNARY_PROMOTION(id, doc, ...) PROMOTION_##id,
#include "core/type/promotion.def"
#undef PROMOTION
#undef ROW
#undef UNARY_PROMOTION
    PROMOTION_COUNT
} PromotionId;

/* Result type of an operation over scalars; b is NULL for unary ones. NULL when the combination is refused. */
const Type *type_promote(PromotionId rule, const Type *a, const Type *b);

#endif
