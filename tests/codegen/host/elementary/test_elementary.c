/* The elementary functions of this processor: a vector has the bits that its numbers have alone, at every width. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codegen/host/elementary/elementary.h"
#include "codegen_tests.h"

enum { COUNT = 2048 };

typedef struct Numbers {
    float f32[2][COUNT], one32[COUNT], many32[COUNT];
    double f64[2][COUNT], one64[COUNT], many64[COUNT];
} Numbers;

#define VECTOR(type, lanes) typedef type type##x##lanes __attribute__((vector_size(sizeof(type) * (lanes))));
#define RUN(type, lanes, ...)                                                                                       \
    VECTOR(type, lanes)                                                                                             \
    static __VA_ARGS__ void run_##type##lanes(const ElementaryFunction *row, ElementaryCode code, type(*in)[COUNT], \
                                              type *out)                                                            \
    {                                                                                                               \
        for (int i = 0; i < COUNT; i += lanes) {                                                                    \
            type##x##lanes x, y, result;                                                                            \
            memcpy(&x, &in[0][i], sizeof x);                                                                        \
            memcpy(&y, &in[1][i], sizeof y);                                                                        \
            if (row->operand_count == 1)                                                                            \
                result = ((type##x##lanes (*)(type##x##lanes))code)(x);                                             \
            else                                                                                                    \
                result = ((type##x##lanes (*)(type##x##lanes, type##x##lanes))code)(x, y);                          \
            memcpy(&out[i], &result, sizeof result);                                                                \
        }                                                                                                           \
    }

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))
#define WIDEST __attribute__((target("avx512f")))
#else
#define WIDE
#define WIDEST
#endif
RUN(float, 4)
RUN(float, 8, WIDE)
RUN(float, 16, WIDEST)
RUN(double, 2)
RUN(double, 4, WIDE)
RUN(double, 8, WIDEST)

static void run_width(const ElementaryFunction *row, int width, Numbers *n)
{
    ElementaryCode code = row->code[width];
    switch (row->is_double ? 10 + width : width) {
    case 2: run_float4(row, code, n->f32, n->many32); break;
    case 3: run_float8(row, code, n->f32, n->many32); break;
    case 4: run_float16(row, code, n->f32, n->many32); break;
    case 11: run_double2(row, code, n->f64, n->many64); break;
    case 12: run_double4(row, code, n->f64, n->many64); break;
    case 13: run_double8(row, code, n->f64, n->many64); break;
    default: CHECK(!"a width that no vector has");
    }
}

static void run_one_by_one(const ElementaryFunction *row, Numbers *n)
{
    ElementaryCode code = row->code[0];
    for (int i = 0; i < COUNT; i++) {
        if (row->is_double)
            n->one64[i] = row->operand_count == 1 ? ((double (*)(double))code)(n->f64[0][i])
                                                  : ((double (*)(double, double))code)(n->f64[0][i], n->f64[1][i]);
        else
            n->one32[i] = row->operand_count == 1 ? ((float (*)(float))code)(n->f32[0][i])
                                                  : ((float (*)(float, float))code)(n->f32[0][i], n->f32[1][i]);
    }
}

/* Every NaN is like any other. */
static bool are_same(const ElementaryFunction *row, const Numbers *n)
{
    for (int i = 0; i < COUNT; i++) {
        if (row->is_double && memcmp(&n->one64[i], &n->many64[i], 8) != 0 &&
            !(isnan(n->one64[i]) && isnan(n->many64[i])))
            return false;
        if (!row->is_double && memcmp(&n->one32[i], &n->many32[i], 4) != 0 &&
            !(isnan(n->one32[i]) && isnan(n->many32[i])))
            return false;
    }
    return true;
}

/* Any bits, numbers of common sizes, and what is special, each kind beside each. */
static void fill(Numbers *n)
{
    static const double special[] = {
        0.0,     -0.0,   1,      -1,      INFINITY,  -INFINITY,   NAN,        5e-324,     -1e-310,
        1e-40,   1e308,  1e22,   -1e22,   0.5,       -0.5,        2.5,        -3,         709.5,
        -745.2,  88.8,   -104,   3.4e38,  708.99,    709.01,      -707.99,    -708.01,    -1021.9,
        -1022.1, 1022.9, 1023.1, 1023.99, 0x1p-1022, 0x1.8p-1023, 0x1.f7ep-1, 0x1.081p+0, 0x1.fffffffffffffp+1023};
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 2; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            uint32_t half = (uint32_t)state;
            memcpy(&n->f64[k][i], &state, sizeof state);
            memcpy(&n->f32[k][i], &half, sizeof half);
            if (i % 3 == 1)
                n->f64[k][i] = (double)(int64_t)state * 0x1p-63 * 20;
            else if (i % 3 == 2)
                n->f64[k][i] = special[state % (sizeof special / sizeof special[0])];
            if (i % 3)
                n->f32[k][i] = (float)n->f64[k][i];
        }
}

void test_elementary(void)
{
    static Numbers numbers;
    uint32_t count;
    const ElementaryFunction *functions = elementary_functions(&count);
    fill(&numbers);
    for (uint32_t i = 0; i < count; i++) {
        const ElementaryFunction *row = &functions[i];
        CHECK(elementary_code(row->name) == row->code[0] && find_elementary_function(row->name) == row);
        for (int width = 1; width < ELEMENTARY_WIDTHS; width++) {
            if (!row->code[width])
                continue;
            run_one_by_one(row, &numbers);
            run_width(row, width, &numbers);
            if (!CHECK(are_same(row, &numbers)))
                fprintf(stderr, "%s of %d lanes\n", row->name, 1 << width);
        }
    }
    CHECK(!elementary_code("no such function") && !elementary_code(ELEMENTARY_PREFIX "sinf.3"));
}
