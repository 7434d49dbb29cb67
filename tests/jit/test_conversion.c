/* What may be passed for what, and which declared signature arguments choose. */
#include "check.h"
#include "jit/jit.h"
#include "jit_tests.h"

static Arena *arena;

static const Type *array(const Type *element, int ndim, ArrayLayout layout)
{
    return type_array(arena, element, ndim, layout, false);
}

static void test_numbers(void)
{
    CHECK(jit_conversion_cost(TYPE_OF(INT64), TYPE_OF(INT64)) == 0);
    CHECK(jit_conversion_cost(TYPE_OF(INT64), TYPE_OF(FLOAT64)) > 0);
    CHECK(jit_conversion_cost(TYPE_OF(FLOAT64), TYPE_OF(FLOAT32)) > 0);
    CHECK(jit_conversion_cost(TYPE_OF(INT64), TYPE_OF(INT32)) > 0);
    CHECK(jit_conversion_cost(TYPE_OF(BOOL), TYPE_OF(INT32)) > 0);
    CHECK(jit_conversion_cost(TYPE_OF(INT64), TYPE_OF(BOOL)) > 0);
    CHECK(jit_conversion_cost(TYPE_OF(FLOAT64), TYPE_OF(COMPLEX64)) > 0);
    CHECK(jit_conversion_cost(TYPE_OF(FLOAT64), TYPE_OF(INT64)) < 0);
    CHECK(jit_conversion_cost(TYPE_OF(FLOAT64), TYPE_OF(BOOL)) < 0);
    CHECK(jit_conversion_cost(TYPE_OF(COMPLEX128), TYPE_OF(FLOAT64)) < 0);
    CHECK(jit_conversion_cost(TYPE_OF(INT32), TYPE_OF(INT64)) < jit_conversion_cost(TYPE_OF(INT32), TYPE_OF(FLOAT64)));
    CHECK(jit_conversion_cost(TYPE_OF(INT64), TYPE_OF(FLOAT64)) < jit_conversion_cost(TYPE_OF(INT64), TYPE_OF(INT32)));
}

static void test_arrays(void)
{
    const Type *c = array(TYPE_OF(FLOAT32), 2, LAYOUT_C), *f = array(TYPE_OF(FLOAT32), 2, LAYOUT_F);
    const Type *any = array(TYPE_OF(FLOAT32), 2, LAYOUT_ANY);
    CHECK(jit_conversion_cost(c, c) == 0);
    CHECK(jit_conversion_cost(c, any) > 0);
    CHECK(jit_conversion_cost(f, any) > 0);
    CHECK(jit_conversion_cost(any, c) < 0);
    CHECK(jit_conversion_cost(f, c) < 0);
    CHECK(jit_conversion_cost(array(TYPE_OF(FLOAT32), 1, LAYOUT_C), array(TYPE_OF(FLOAT32), 1, LAYOUT_F)) > 0);
    CHECK(jit_conversion_cost(c, array(TYPE_OF(FLOAT64), 2, LAYOUT_C)) < 0);
    CHECK(jit_conversion_cost(c, array(TYPE_OF(FLOAT32), 1, LAYOUT_C)) < 0);
    CHECK(jit_conversion_cost(c, TYPE_OF(FLOAT32)) < 0);
    CHECK(jit_conversion_cost(TYPE_OF(FLOAT32), c) < 0);
}

static void test_tuples(void)
{
    const Type *ints[] = {TYPE_OF(INT64), TYPE_OF(INT64)}, *floats[] = {TYPE_OF(FLOAT64), TYPE_OF(FLOAT64)};
    const Type *pair = type_tuple(arena, ints, 2, TUPLE_PLAIN), *single = type_tuple(arena, ints, 1, TUPLE_PLAIN);
    const Type *reals = type_tuple(arena, floats, 2, TUPLE_PLAIN);
    CHECK(jit_conversion_cost(pair, pair) == 0);
    CHECK(jit_conversion_cost(pair, reals) > 0);
    CHECK(jit_conversion_cost(reals, pair) < 0);
    CHECK(jit_conversion_cost(pair, single) < 0);
    CHECK(jit_conversion_cost(&type_none, &type_none) == 0);
    CHECK(jit_conversion_cost(&type_none, pair) < 0);
}

void test_conversion(void)
{
    arena = arena_create();
    test_numbers();
    test_arrays();
    test_tuples();
    arena_destroy(arena);
}

void test_choice(void)
{
    const Type *i32[] = {TYPE_OF(INT32)}, *i64[] = {TYPE_OF(INT64)}, *f32[] = {TYPE_OF(FLOAT32)},
               *f64[] = {TYPE_OF(FLOAT64)}, *c128[] = {TYPE_OF(COMPLEX128)};
    const JitSignature candidates[] = {
        {.count = 1, .arguments = i32}, {.count = 1, .arguments = f32}, {.count = 1, .arguments = f64}, {.count = 0}};
    int second;
    CHECK(jit_choose_signature(candidates, 4, i32, 1, &second) == 0);
    CHECK(jit_choose_signature(candidates, 4, f64, 1, &second) == 2);
    CHECK(jit_choose_signature(candidates, 4, f32, 1, &second) == 1);
    CHECK(jit_choose_signature(candidates, 4, i64, 1, &second) == 2);
    CHECK(jit_choose_signature(candidates, 4, c128, 1, &second) == -1);
    CHECK(jit_choose_signature(candidates, 4, NULL, 0, &second) == 3);
    CHECK(jit_choose_signature(candidates, 0, i64, 1, &second) == -1);
    CHECK(jit_choose_signature(candidates, 2, f64, 1, &second) == 1);
    CHECK(second == -1);
    const Type *narrow_wide[] = {TYPE_OF(FLOAT32), TYPE_OF(FLOAT64)},
               *wide_narrow[] = {TYPE_OF(FLOAT64), TYPE_OF(FLOAT32)}, *wide[] = {TYPE_OF(FLOAT64), TYPE_OF(FLOAT64)};
    const JitSignature equals[] = {{.count = 2, .arguments = narrow_wide}, {.count = 2, .arguments = wide_narrow}};
    CHECK(jit_choose_signature(equals, 2, wide, 2, &second) == 0 && second == 1);
    CHECK(jit_choose_signature(equals, 2, wide_narrow, 2, &second) == 1 && second == -1);
}
