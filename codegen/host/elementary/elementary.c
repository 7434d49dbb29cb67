/* Chooses the elementary functions for the processor that runs this. cmake/Elementary.cmake says which sets there are:
 * ELEMENTARY_HAS_... is defined for each, and its file compiled for its instructions. */
#include "codegen/host/elementary/elementary.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define DECLARE(set)                                    \
    extern const ElementaryFunction elementary_##set[]; \
    extern const uint32_t elementary_count_##set;
#define TAKE(set) return *count = elementary_count_##set, elementary_##set;

#ifdef ELEMENTARY_HAS_AVX512
DECLARE(avx512)
#endif
#ifdef ELEMENTARY_HAS_AVX2
DECLARE(avx2)
#endif
#ifdef ELEMENTARY_HAS_BASELINE
DECLARE(baseline)
#endif

const ElementaryFunction *elementary_functions(uint32_t *count)
{
#ifdef ELEMENTARY_HAS_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma"))
        TAKE(avx512)
#endif
#ifdef ELEMENTARY_HAS_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        TAKE(avx2)
#endif
#ifdef ELEMENTARY_HAS_BASELINE
    TAKE(baseline)
#else
    *count = 0;
    return NULL;
#endif
}

const ElementaryFunction *find_elementary_function(const char *name)
{
    uint32_t count;
    const ElementaryFunction *functions = elementary_functions(&count);
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(functions[i].name, name))
            return &functions[i];
    return NULL;
}

/* The function that the symbol of so many lanes names, which are 1 << *width; NULL: none. */
static const ElementaryFunction *parse_symbol(const char *symbol, int *width)
{
    size_t prefix = strlen(ELEMENTARY_PREFIX);
    uint32_t count;
    const ElementaryFunction *functions = elementary_functions(&count);
    if (strncmp(symbol, ELEMENTARY_PREFIX, prefix) != 0)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(functions[i].name);
        if (strncmp(functions[i].name, symbol + prefix, length) != 0 || symbol[prefix + length] != '.')
            continue;
        for (*width = 0; *width < ELEMENTARY_WIDTHS; ++*width) {
            char lanes[8];
            snprintf(lanes, sizeof lanes, "%d", 1 << *width);
            if (!strcmp(symbol + prefix + length + 1, lanes))
                return &functions[i];
        }
    }
    return NULL;
}

const ElementaryFunction *find_elementary_symbol(const char *symbol)
{
    int width;
    const ElementaryFunction *function = parse_symbol(symbol, &width);
    return function && width == 0 ? function : NULL;
}

ElementaryCode elementary_code(const char *symbol)
{
    int width;
    const ElementaryFunction *of_lanes = parse_symbol(symbol, &width), *in_c = find_elementary_function(symbol);
    return of_lanes ? of_lanes->code[width] : in_c ? in_c->code[0] : NULL;
}
