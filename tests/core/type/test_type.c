/* Types: comparison, copies, text both ways, names, promotion. */
#include "check.h"
#include "core/snapshot.h"
#include "core/type/type.h"
#include "core_tests.h"

static const Type *parsed(Arena *arena, const char *text)
{
    const char *at = text;
    const Type *type = type_parse(arena, &at);
    return type && !*at ? type : NULL;
}

/* What a type was made for, its copies were, too, also where they are a part of something. */
static void test_origins(void)
{
    static const char *const texts[] = {"record R{8 4, a: f32 @0, b: i32 @4}", "datetime(10s)", "chars(5, 4)"};
    Arena *arena = arena_create(), *other = arena_create();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Type *type = (Type *)parsed(arena, texts[i]), *equal = (Type *)parsed(arena, texts[i]);
        CHECK(!type_is_known_equal(type, equal) && type_equal(type, equal) && !type_is_known_equal(type, NULL));
        type->origin = type_new_origin();
        equal->origin = type_new_origin();
        CHECK(type_is_known_equal(type, type_copy(other, type)));
        CHECK(!type_is_known_equal(type, equal) && type_equal(type, equal));
        const Type *array = type_copy(other, type_array(arena, type, 1, LAYOUT_C, false));
        CHECK(type_is_known_equal(array->element, type) && !array->origin);
    }
    arena_destroy(arena);
    arena_destroy(other);
}

/* A class with methods is neither another one with the same name and fields nor one without methods. */
static void test_classes(void)
{
    static const int first, second;
    const void *const classes[] = {NULL, &first, &second};
    enum { COUNT = sizeof classes / sizeof *classes };
    Arena *arena = arena_create();
    Type *types[COUNT];
    for (int i = 0; i < COUNT; i++) {
        types[i] = (Type *)parsed(arena, "named P(x: i64, y: i64)");
        types[i]->class = classes[i];
    }
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            CHECK(type_equal(types[i], types[j]) == (i == j));
    arena_destroy(arena);
}

void test_type(void)
{
    Arena *arena = arena_create(), *other = arena_create();
    test_origins();
    test_classes();
    CHECK(TYPE_OF(FLOAT32)->kind == TYPE_FLOAT && TYPE_OF(FLOAT32)->size == 4);
    CHECK(TYPE_OF(COMPLEX64)->alignment == 4 && TYPE_OF(COMPLEX128)->alignment == 8);
    CHECK(type_bits(TYPE_OF(BOOL)) == 1 && type_bits(TYPE_OF(INT16)) == 16);
    static const char *const texts[] = {"none",
                                        "bool",
                                        "f16",
                                        "f32[1 C]",
                                        "f32[1 A]",
                                        "f32[2 C]",
                                        "f32[1 C ro]",
                                        "f64[1 C]",
                                        "(i64, i64)",
                                        "(i64)",
                                        "()",
                                        "range(i64, i64, i64)",
                                        "slice(i64, none, none)",
                                        "named P(x: i64, y: i64)",
                                        "named P(x: i64, z: i64)",
                                        "named Q(x: i64, y: i64)",
                                        "record R{8 4, a: f32 @0, b: i32 @4}",
                                        "record R{8 4, a: f32 @0, b: i32 @0}",
                                        "record {8 4, a: f32 @0, b: i32 @4}",
                                        "record R{8 8, a: f32 @0, b: i32 @4}",
                                        "record R{8 4, a: f32(1) @0, b: i32 @4}",
                                        "record R{8 4, a: f32(1, 1) @0, b: i32 @4}",
                                        "datetime(s)",
                                        "chars(5, 1)",
                                        "chars(5, 4)",
                                        "datetime(10s)",
                                        "timedelta(s)",
                                        "timedelta(generic)",
                                        "datetime(ms)[1 A ro]",
                                        "f64[1 C at 1]",
                                        "f64[1 C at 4]"};
    enum { COUNT = sizeof texts / sizeof texts[0] };
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            const Type *a = parsed(arena, texts[i]), *b = parsed(other, texts[j]);
            if (!CHECK(a && b && type_equal(a, b) == (i == j) && (i != j || type_digest(a) == type_digest(b))))
                fprintf(stderr, "%s against %s\n", texts[i], texts[j]);
        }
    CHECK(type_digest(parsed(arena, "(i64, f64)")) != type_digest(parsed(arena, "(f64, i64)")));
    CHECK(type_digest(parsed(arena, "f64[1 C]")) != type_digest(parsed(arena, "f32[1 C]")));
    int first, second;
    const Type *object = type_object(arena, &first);
    CHECK(type_equal(object, type_copy(other, object)) && !type_equal(object, type_object(arena, &second)));
    const Type *closure = type_tuple_of_object(arena, &object, 1, TUPLE_CLOSURE, &first);
    CHECK(type_equal(closure, type_copy(other, closure)) &&
          !type_equal(closure, type_tuple_of_object(arena, &object, 1, TUPLE_CLOSURE, &second)));
    CHECK(type_is_homogeneous(parsed(arena, "(i64, i64)")) && !type_is_homogeneous(parsed(arena, "(i64, i32)")));
    CHECK(!type_is_homogeneous(parsed(arena, "()")) && !type_is_homogeneous(TYPE_OF(INT64)));
    for (int i = 0; i < COUNT; i++) {
        Arena *source = arena_create();
        const Type *copy = type_copy(other, parsed(source, texts[i]));
        arena_destroy(source);
        Buf buf = {0};
        type_print(&buf, copy);
        CHECK_TEXT(buf_text(&buf), texts[i]);
        buf_free(&buf);
    }
    arena_destroy(arena);
    arena_destroy(other);
}

static void check_round_trip(Arena *arena, const char *text)
{
    Buf buf = {0};
    const Type *type = parsed(arena, text);
    if (CHECK(type))
        type_print(&buf, type);
    CHECK_TEXT(buf_text(&buf), text);
    buf_free(&buf);
}

static void check_description(const Type *type, const char *expected)
{
    Buf buf = {0};
    type_describe(&buf, type);
    CHECK_TEXT(buf_text(&buf), expected);
    buf_free(&buf);
}

static void test_describe(Arena *arena)
{
    static const char *const rows[][2] = {
        {"f32", "float32"},
        {"bool", "bool"},
        {"c128", "complex128"},
        {"none", "none"},
        {"f32[2 C]", "array(float32, 2d, C)"},
        {"i64[1 A ro]", "readonly array(int64, 1d, A)"},
        {"(i64, i64, i64)", "UniTuple(int64 x 3)"},
        {"(i64, f64)", "Tuple(int64, float64)"},
        {"()", "Tuple()"},
        {"(i64)", "UniTuple(int64 x 1)"},
        {"named Point(x: f64, y: f64)", "Point(float64 x 2)"},
        {"range(i64, i64, i64)", "range(int64)"},
        {"slice(i64, none, none)", "slice"},
        {"dim3(i32, i32, i32)", "Dim3"},
        {"zip(f32[1 C], f64[1 C])", "zip(array(float32, 1d, C), array(float64, 1d, C))"},
        {"enumerate(i64, f32[1 C])", "enumerate(array(float32, 1d, C))"},
        {"optional(bool, f64)", "optional(float64)"},
        {"reversed(range(i64, i64, i64))", "reversed(range(int64))"},
        {"record P{8 4, x: f32 @0, n: i32 @4}", "record(x: float32, n: int32)"},
        {"chars(5, 1)[1 C]", "array([char x 5], 1d, C)"},
        {"vector(f32, f32)[1 C at 4]", "array(float32x2, 1d, C)"},
        {"datetime(10s)[1 C]", "array(datetime64[10s], 1d, C)"},
        {"record P{24 4, x: f32(2, 3) @0}", "record(x: float32[2, 3])"},
        {"record P{8 4, x: f32 @0, n: i32 @4}[1 C]", "array(record(x: float32, n: int32), 1d, C)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_description(parsed(arena, rows[i][0]), rows[i][1]);
    Constant constant = {.kind = CONSTANT_FUNCTION, .shown_as = "helper"};
    check_description(type_object(arena, &constant), "function 'helper'");
    constant = (Constant){.kind = CONSTANT_TYPE, .type = TYPE_OF(INT8)};
    check_description(type_object(arena, &constant), "class(int8)");
    constant = (Constant){.kind = CONSTANT_STRING};
    check_description(type_object(arena, &constant), "string");
    check_description(type_tuple_of_object(arena, NULL, 0, TUPLE_BOUND, &constant), "method");
}

/* What the rows of tuple_tag.def say of each other. */
static void test_tags(void)
{
    for (int tag = 0; tag < TUPLE_TAG_COUNT; tag++) {
        const TupleTagInfo *info = &tuple_tag_info[tag];
        for (int other = 0; other < tag; other++)
            CHECK(strcmp(info->text, tuple_tag_info[other].text) != 0);
        CHECK(!(info->traits & TRAIT_LAZY) || info->traits & TRAIT_ITERABLE);
        CHECK(!(info->traits & TRAIT_OF_ITERABLES) || info->traits & TRAIT_LAZY);
        CHECK(!(info->traits & (TRAIT_CLASS | TRAIT_MEMBER)) || info->traits & TRAIT_OBJECT);
        CHECK(!*info->text == (tag == TUPLE_PLAIN));
    }
}

/* Of thousands of names each is found without a look at all others: they lie in order, in copies, too. */
static void check_order_of_names(Arena *arena)
{
    enum { COUNT = 300 };
    char texts[COUNT][8];
    const char *names[COUNT];
    const Type *items[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "f%u", (unsigned)i * 7 % COUNT);
        names[i] = texts[i];
        items[i] = TYPE_OF(INT64);
    }
    const Type *made = type_named_tuple(arena, "Fields", items, names, COUNT);
    const Type *types[] = {made, type_copy(arena, made), type_with_items(arena, made, items),
                           type_dict(arena, items, names, COUNT)};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        for (uint32_t i = 0, place; i < COUNT; i++) {
            CHECK(type_member(types[k], names[i], &place) && place == i);
            CHECK(!i || strcmp(*types[k]->by_name[i - 1], *types[k]->by_name[i]) < 0);
            CHECK(types[k]->by_name[i] >= types[k]->names && types[k]->by_name[i] < types[k]->names + COUNT);
        }
}

static void test_members(Arena *arena)
{
    uint32_t place;
    CHECK(type_member(parsed(arena, "slice(i64, none, i64)"), "step", &place) && place == 2);
    CHECK(type_member(parsed(arena, "vector(f32, f32)"), "y", &place) && place == 1);
    CHECK(!type_member(parsed(arena, "vector(f32, f32)"), "z", &place));
    CHECK(!type_member(parsed(arena, "dim3(i32, i32, i32)"), "start", &place));
    CHECK(type_member(parsed(arena, "named Point(x: f64, yy: f64)"), "yy", &place) && place == 1);
    CHECK(!type_member(parsed(arena, "named Point(x: f64, yy: f64)"), "y", &place));
    CHECK(!type_member(parsed(arena, "(i64, i64)"), "", &place));
    check_order_of_names(arena);
    CHECK(type_is_plain_tuple(parsed(arena, "(i64, i64)")) && !type_is_plain_tuple(TYPE_OF(INT64)));
    CHECK(!type_is_plain_tuple(parsed(arena, "range(i64, i64, i64)")));
}

static void test_names(void)
{
    static const struct {
        const char *name;
        const Type *type;
    } rows[] = {
        {"i1", TYPE_OF(INT8)},
        {"i2", TYPE_OF(INT16)},
        {"i4", TYPE_OF(INT32)},
        {"i8", TYPE_OF(INT64)},
        {"u1", TYPE_OF(UINT8)},
        {"u8", TYPE_OF(UINT64)},
        {"f2", TYPE_OF(FLOAT16)},
        {"f4", TYPE_OF(FLOAT32)},
        {"f8", TYPE_OF(FLOAT64)},
        {"c8", TYPE_OF(COMPLEX64)},
        {"c16", TYPE_OF(COMPLEX128)},
        {"b1", TYPE_OF(BOOL)},
        {"boolean", TYPE_OF(BOOL)},
        {"bool_", TYPE_OF(BOOL)},
        {"intp", TYPE_OF(INT64)},
        {"uintp", TYPE_OF(UINT64)},
        {"int_", TYPE_OF(INT64)},
        {"float_", TYPE_OF(FLOAT64)},
        {"intc", TYPE_OF(INT32)},
        {"uintc", TYPE_OF(UINT32)},
        {"f32", TYPE_OF(FLOAT32)},
        {"c128", TYPE_OF(COMPLEX128)},
        {"float16", TYPE_OF(FLOAT16)},
        {"bfloat16", TYPE_OF(BFLOAT16)},
        {"", NULL},
        {"float", TYPE_OF(FLOAT64)},
        {"none", NULL},
        {"int65", NULL},
        {"Float32", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!CHECK(type_by_name(rows[i].name) == rows[i].type))
            fprintf(stderr, "%s\n", rows[i].name);
#define SCALAR(ID, NAME, TEXT, KIND, SIZE, CHARACTER) CHECK(type_by_name(NAME) == TYPE_OF(ID));
#include "core/type/type.def"
#undef SCALAR
}

void test_type_text(void)
{
    Arena *arena = arena_create();
#define SCALAR(ID, NAME, TEXT, KIND, SIZE, CHARACTER) \
    check_round_trip(arena, TEXT);                    \
    check_description(TYPE_OF(ID), NAME);
#include "core/type/type.def"
#undef SCALAR
    check_round_trip(arena, "((i64, (f32[8 F ro])), zip(f32[1 C], reversed(f64[1 A])))");
    check_round_trip(arena, "named \"a b\"(\"1\": i64, größe: (bool))");
    check_round_trip(arena, "record \"x;y\"{24 8, \"f 0\": f64 @0, s: record {4 4, v: i32 @0} @8}[2 C]");
    check_round_trip(arena, "record {34 1, p: record {8 1, x: f32 @0, y: f32 @4}(2, 2) @0, n: i8 @32}[1 A ro at 1]");
    check_round_trip(arena, "dim3(i32, i32, i32)");
    check_round_trip(arena, "f32[0 C]");
    check_round_trip(arena, "optional(bool, f64)");
    static const char *const bad[] = {"",
                                      "f33",
                                      "datetime",
                                      "datetime(x)",
                                      "chars(5, 2)",
                                      "chars(0, 1)",
                                      "vector(f32, f64)",
                                      "vector(bool, bool)",
                                      "vector()",
                                      "timedelta(0s)",
                                      "f32[",
                                      "f32[9 C]",
                                      "f32[1 X]",
                                      "f32[1 C",
                                      "f32[1 C rw]",
                                      "(i64",
                                      "(i64,",
                                      "(,)",
                                      "i8i8",
                                      "record",
                                      "record R{",
                                      "record R{4 4",
                                      "record R{4 4, x f32 @0}",
                                      "record R{4 4, x: f32}",
                                      "named (x: i64)",
                                      "named P(i64)",
                                      "object@0x1",
                                      "closure()",
                                      "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *at = bad[i];
        if (!CHECK(!type_parse(arena, &at) && at == bad[i]))
            fprintf(stderr, "%s\n", bad[i]);
    }
    test_describe(arena);
    test_names();
    test_tags();
    test_members(arena);
    arena_destroy(arena);
}

static const Type *named(const char *name) { return name ? type_by_name(name) : NULL; }

void test_type_promotion(void)
{
    /* As numba-cuda infers them. */
    static const struct {
        PromotionId rule;
        const char *a, *b, *result;
    } facts[] = {
        {PROMOTION_ARITHMETIC, "int8", "int8", "int64"},
        {PROMOTION_ARITHMETIC, "uint8", "uint8", "uint64"},
        {PROMOTION_ARITHMETIC, "uint64", "int64", "int64"},
        {PROMOTION_ARITHMETIC, "int32", "float32", "float64"},
        {PROMOTION_ARITHMETIC, "int16", "float32", "float32"},
        {PROMOTION_ARITHMETIC, "bool", "bool", "int64"},
        {PROMOTION_ARITHMETIC, "float64", "complex64", "complex128"},
        {PROMOTION_TRUE_DIVIDE, "int64", "int64", "float64"},
        {PROMOTION_TRUE_DIVIDE, "float32", "float32", "float32"},
        {PROMOTION_FLOOR_DIVIDE, "complex64", "complex64", NULL},
        {PROMOTION_FLOOR_DIVIDE, "float32", "float32", "float32"},
        {PROMOTION_MATH, "int64", NULL, "float64"},
        {PROMOTION_MATH, "float32", NULL, "float32"},
        {PROMOTION_MATH, "float16", NULL, "float16"},
        {PROMOTION_MATH, "bfloat16", NULL, "bfloat16"},
        {PROMOTION_MATH_WIDE, "bfloat16", NULL, "float32"},
        {PROMOTION_ARITHMETIC, "bfloat16", "bf16", "bfloat16"},
        {PROMOTION_ARITHMETIC, "bfloat16", "float16", "float32"},
        {PROMOTION_ARITHMETIC, "int8", "bfloat16", "bfloat16"},
        {PROMOTION_ARITHMETIC, "bfloat16", "int64", "float64"},
        {PROMOTION_ARITHMETIC, "float32", "bfloat16", "float32"},
        {PROMOTION_UNIFY, "bfloat16", "bool", "bfloat16"},
        {PROMOTION_ORDER, "bfloat16", "float16", "bool"},
        {PROMOTION_BITWISE, "bfloat16", "bfloat16", NULL},
        {PROMOTION_ORDER, "bfloat16", "complex64", NULL},
        {PROMOTION_MATH_WIDE, "float16", NULL, "float32"},
        {PROMOTION_MATH, "complex64", NULL, NULL},
        {PROMOTION_MATH_TEST, "float32", NULL, "bool"},
        {PROMOTION_REAL, "complex128", NULL, "float64"},
        {PROMOTION_REAL, "bool", NULL, NULL},
        {PROMOTION_CONJUGATE, "complex128", NULL, "complex128"},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (!CHECK(type_promote(facts[i].rule, named(facts[i].a), named(facts[i].b)) == named(facts[i].result)))
            fprintf(stderr, "%s, %s\n", facts[i].a, facts[i].b ? facts[i].b : "");
    CHECK(!type_promote(PROMOTION_ARITHMETIC, TYPE_OF(INT64), NULL));
    CHECK(!type_promote(PROMOTION_MATH, TYPE_OF(INT64), TYPE_OF(INT64)));
    CHECK(!type_promote(PROMOTION_ARITHMETIC, &type_none, TYPE_OF(INT64)));
    CHECK(!type_promote(PROMOTION_ARITHMETIC, TYPE_OF(INT64), &type_none));
    for (int rule = 0; rule < PROMOTION_COUNT; rule++) {
        int accepted = 0;
        for (int a = 0; a < SCALAR_COUNT; a++) {
            accepted += type_promote((PromotionId)rule, &type_scalars[a], NULL) != NULL;
            for (int b = 0; b < SCALAR_COUNT; b++)
                accepted += type_promote((PromotionId)rule, &type_scalars[a], &type_scalars[b]) != NULL;
        }
        CHECK(accepted > 0);
    }
}
