/* The functions of elementary.def for one set of instructions: compiled once for each, with ELEMENTARY_SET its name and
 * ELEMENTARY_BYTES the size of its vectors. A loop over lanes is what the C compiler makes vector instructions of. */
#include <math.h>
#include <stddef.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "codegen/host/elementary/elementary.h"
#include "codegen/host/elementary/lane32.h"
#include "codegen/host/elementary/lane64.h"

#define VECTORS(lanes)                                                     \
    typedef float float_##lanes __attribute__((vector_size(4 * (lanes)))); \
    typedef double double_##lanes __attribute__((vector_size(8 * (lanes))));
VECTORS(2)
VECTORS(4)
VECTORS(8)
VECTORS(16)

LANE uint64_t never(double x)
{
    (void)x;
    return 0;
}

/* --- one number --------------------------------------------------------------------------------------------------------------- */

#define FLOAT_1(name, lane, rare) \
    static float name##_1(float x) { return rare((double)x) ? (name)(x) : (float)lane((double)x); }
#define DOUBLE_1(name, lane, rare) \
    static double name##_1(double x) { return rare(x) ? (name)(x) : lane(x); }
#define FLOAT_2(name, lane) \
    static float name##_1(float x, float y) { return (float)lane((double)x, (double)y); }
#define DOUBLE_2(name, lane) \
    static double name##_1(double x, double y) { return lane(x, y); }
#define DOUBLE_OFTEN_2(name, lane, usual)                                                                   \
    static __attribute__((noinline, cold)) double name##_unusual(double x, double y) { return lane(x, y); } \
    static double name##_1(double x, double y)                                                              \
    {                                                                                                       \
        double result;                                                                                      \
        return __builtin_expect(usual(x, y, &result), 1) ? result : name##_unusual(x, y);                   \
    }
#define DOUBLE_TABLES(name, lane, is_usual, narrowed, place_of, one, other) \
    static __attribute__((noinline, cold)) double name##_unusual(double x)  \
    {                                                                       \
        uint64_t place = place_of(narrowed(x)) % ENTRIES;                   \
        return any_##lane(x, (Entry){(one)[place], (other)[place]});        \
    }                                                                       \
    static double name##_1(double x)                                        \
    {                                                                       \
        uint64_t place = place_of(x) % ENTRIES;                             \
        if (__builtin_expect(!is_usual(x), 0))                              \
            return name##_unusual(x);                                       \
        return usual_##lane(x, (Entry){(one)[place], (other)[place]});      \
    }
#include "codegen/host/elementary/elementary.def"

/* --- vectors ------------------------------------------------------------------------------------------------------------------- */

#define LANES(lanes)           \
    union {                    \
        double_##lanes vector; \
        double lane[lanes];    \
    }

#define COMPUTE_1(lanes, function)    \
    LANES(lanes) result;              \
    for (int i = 0; i < (lanes); i++) \
        result.lane[i] = function(given.lane[i]);

#define REPLACE_RARE(lanes, name, rare)   \
    uint64_t any = 0;                     \
    for (int i = 0; i < (lanes); i++)     \
        any |= rare(given.lane[i]);       \
    if (__builtin_expect(any != 0, 0))    \
        for (int i = 0; i < (lanes); i++) \
            if (rare(given.lane[i]))      \
                y[i] = (name)(x[i]);

#define COMPUTE_2(lanes, function)    \
    LANES(lanes) result;              \
    for (int i = 0; i < (lanes); i++) \
        result.lane[i] = function(first.lane[i], second.lane[i]);

#define WIDENED(lanes, x) {.vector = __builtin_convertvector(x, double_##lanes)}

#define FLOAT_LANES_1(lanes, name, function, rare)                               \
    static float_##lanes name##_##lanes(float_##lanes x)                         \
    {                                                                            \
        LANES(lanes) given = WIDENED(lanes, x);                                  \
        COMPUTE_1(lanes, function)                                               \
        float_##lanes y = __builtin_convertvector(result.vector, float_##lanes); \
        REPLACE_RARE(lanes, name, rare)                                          \
        return y;                                                                \
    }

#define DOUBLE_LANES_1(lanes, name, function, rare)        \
    static double_##lanes name##_##lanes(double_##lanes x) \
    {                                                      \
        LANES(lanes) given = {.vector = x};                \
        COMPUTE_1(lanes, function)                         \
        double_##lanes y = result.vector;                  \
        REPLACE_RARE(lanes, name, rare)                    \
        return y;                                          \
    }

#define FLOAT_LANES_2(lanes, name, function)                                \
    static float_##lanes name##_##lanes(float_##lanes x, float_##lanes y)   \
    {                                                                       \
        LANES(lanes) first = WIDENED(lanes, x), second = WIDENED(lanes, y); \
        COMPUTE_2(lanes, function)                                          \
        return __builtin_convertvector(result.vector, float_##lanes);       \
    }

#define DOUBLE_LANES_2(lanes, name, function)                                \
    static double_##lanes name##_##lanes(double_##lanes x, double_##lanes y) \
    {                                                                        \
        LANES(lanes) first = {.vector = x}, second = {.vector = y};          \
        COMPUTE_2(lanes, function)                                           \
        return result.vector;                                                \
    }

/* The entries of a table at the places in the low bits of what is given: of a whole vector, where a register has 8. */
#ifdef __AVX512F__
LANE __m512d entries_8(const double *table, __m512i places)
{
    return _mm512_permutex2var_pd(_mm512_loadu_pd(table), places, _mm512_loadu_pd(table + 8));
}
LANE __m256d entries_4(const double *table, __m256i places)
{
    return _mm512_castpd512_pd256(entries_8(table, _mm512_castsi256_si512(places)));
}
LANE __m128d entries_2(const double *table, __m128i places)
{
    return _mm512_castpd512_pd128(entries_8(table, _mm512_castsi128_si512(places)));
}
#define LOOK_UP(lanes, table, places, entries) \
    entries.vector = (double_##lanes)entries_##lanes(table, (INTEGERS_##lanes)places.vector);
#define INTEGERS_8 __m512i
#define INTEGERS_4 __m256i
#define INTEGERS_2 __m128i
#else
#define LOOK_UP(lanes, table, places, entries) \
    for (int i = 0; i < (lanes); i++)          \
        entries.lane[i] = (table)[places.place[i] % ENTRIES];
#endif

#define DOUBLE_LANES_TABLES(lanes, name, function, narrowed, place_of, one, other)                  \
    static double_##lanes name##_##lanes(double_##lanes x)                                          \
    {                                                                                               \
        LANES(lanes) given = {.vector = x}, first, second, result;                                  \
        union {                                                                                     \
            double_##lanes vector;                                                                  \
            uint64_t place[lanes];                                                                  \
        } places;                                                                                   \
        for (int i = 0; i < (lanes); i++)                                                           \
            places.place[i] = place_of(narrowed(given.lane[i]));                                    \
        LOOK_UP(lanes, one, places, first)                                                          \
        LOOK_UP(lanes, other, places, second)                                                       \
        for (int i = 0; i < (lanes); i++)                                                           \
            result.lane[i] = any_##function(given.lane[i], (Entry){first.lane[i], second.lane[i]}); \
        return result.vector;                                                                       \
    }

#if ELEMENTARY_BYTES == 64
#define WIDTHS(macro, few, more, most, ...) macro(few, __VA_ARGS__) macro(more, __VA_ARGS__) macro(most, __VA_ARGS__)
#elif ELEMENTARY_BYTES == 32
#define WIDTHS(macro, few, more, most, ...) macro(few, __VA_ARGS__) macro(more, __VA_ARGS__)
#else
#define WIDTHS(macro, few, more, most, ...) macro(few, __VA_ARGS__)
#endif

#define FLOAT_1(name, lane, rare) WIDTHS(FLOAT_LANES_1, 4, 8, 16, name, lane, rare)
#define FLOAT_2(name, lane) WIDTHS(FLOAT_LANES_2, 4, 8, 16, name, lane)
#define DOUBLE_1(name, lane, rare) WIDTHS(DOUBLE_LANES_1, 2, 4, 8, name, lane, rare)
#define DOUBLE_2(name, lane) WIDTHS(DOUBLE_LANES_2, 2, 4, 8, name, lane)
#define DOUBLE_OFTEN_2(name, lane, usual) DOUBLE_2(name, lane)
#define DOUBLE_TABLES(name, lane, is_usual, narrowed, place_of, one, other) \
    WIDTHS(DOUBLE_LANES_TABLES, 2, 4, 8, name, lane, narrowed, place_of, one, other)
#include "codegen/host/elementary/elementary.def"

/* --- the table ------------------------------------------------------------------------------------------------------------------ */

#define CODE(lanes, name) [(lanes) == 2 ? 1 : (lanes) == 4 ? 2 : (lanes) == 8 ? 3 : 4] = (ElementaryCode)name##_##lanes,
#define ROW(name, is_double, count, few, more, most) \
    {#name, is_double, count, {[0] = (ElementaryCode)name##_1, WIDTHS(CODE, few, more, most, name)}},
#define FLOAT_1(name, lane, rare) ROW(name, false, 1, 4, 8, 16)
#define FLOAT_2(name, lane) ROW(name, false, 2, 4, 8, 16)
#define DOUBLE_1(name, lane, rare) ROW(name, true, 1, 2, 4, 8)
#define DOUBLE_2(name, lane) ROW(name, true, 2, 2, 4, 8)
#define DOUBLE_OFTEN_2(name, lane, usual) DOUBLE_2(name, lane)
#define DOUBLE_TABLES(name, lane, is_usual, narrowed, place_of, one, other) ROW(name, true, 1, 2, 4, 8)

extern const ElementaryFunction ELEMENTARY_SET[];
extern const uint32_t ELEMENTARY_COUNT;

const ElementaryFunction ELEMENTARY_SET[] = {
#include "codegen/host/elementary/elementary.def"
};
const uint32_t ELEMENTARY_COUNT = sizeof ELEMENTARY_SET / sizeof ELEMENTARY_SET[0];
