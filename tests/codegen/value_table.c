/* check_values: tables of operands and results as text, run by a kernel made for the operation. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "codegen_tests.h"

enum { MAX_OPERANDS = 8, MAX_ROWS = 64 };

typedef struct Columns {
    const Type *types[MAX_OPERANDS];
    int count;                        /* with the result */
    uint8_t *data[MAX_OPERANDS];
} Columns;

static void read_types(Columns *columns, Arena *arena, const char *text)
{
    while (*text) {
        columns->types[columns->count++] = type_parse(arena, &text);
        text += *text == ' ';
    }
}

const char *operation_kernel(const char *body, const char *types)
{
    static char text[8192];
    char words[64], *place = text;
    int count = 0;
    snprintf(words, sizeof words, "%s", types);
    char *word[MAX_OPERANDS], *rest = NULL;
    for (char *next = strtok_r(words, " ", &rest); next; next = strtok_r(NULL, " ", &rest))
        word[count++] = next;
    place += sprintf(place, "kernel k(");
    for (int i = 1; i < count; i++)
        place += sprintf(place, "p%d: %s[1 C], ", i, word[i - 1]);
    place += sprintf(place, "out: %s[1 C])\nblock 0:\n  %%100: i32 = cuda.threadIdx.x\n  %%0: i64 = convert %%100\n",
                     word[count - 1]);
    for (int i = 1; i < count; i++)
        place += sprintf(place, "  %%%d: %s = load p%d[%%0]\n", i, word[i - 1], i);
    sprintf(place, "%s\n  store out[%%0], %%9\n  return\n", body);
    return text;
}

static uint16_t half_bits(double value)
{
    _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

static double half_value(const void *from)
{
    _Float16 half;
    memcpy(&half, from, sizeof half);
    return (double)half;
}

/* Reads one number of `size` bytes; returns what is behind it. */
static const char *read_float(const char *text, uint32_t size, void *out)
{
    char *end;
    double value = strtod(text, &end);
    float single = strtof(text, NULL);
    uint16_t half = half_bits(value);
    memcpy(out, size == 8 ? (void *)&value : size == 4 ? (void *)&single : (void *)&half, size);
    return end;
}

static const char *read_number(const char *text, const Type *type, void *out)
{
    char *end;
    if (type->kind == TYPE_COMPLEX) {
        text = read_float(text, type->size / 2, out);
        return read_float(text, type->size / 2, (char *)out + type->size / 2);
    }
    if (type->kind == TYPE_FLOAT)
        return read_float(text, type->size, out);
    uint64_t value = *(text += strspn(text, " ")) == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    memcpy(out, &value, type->size);
    return end;
}

static int read_rows(Columns *columns, const char *rows)
{
    int count = 0;
    for (int i = 0; i < columns->count; i++)
        columns->data[i] = calloc(MAX_ROWS, columns->types[i]->size);
    for (; *(rows += strspn(rows, " ")); count++)
        for (int i = 0; i < columns->count; i++)
            rows = read_number(rows, columns->types[i], columns->data[i] + (size_t)count * columns->types[i]->size);
    return count;
}

static double float_at(const Type *type, const uint8_t *at, uint32_t part)
{
    uint32_t size = type->kind == TYPE_COMPLEX ? type->size / 2 : type->size;
    double wide;
    float single;
    memcpy(&wide, at + part * size, size == 8 ? 8 : 0);
    memcpy(&single, at + part * size, size == 4 ? 4 : 0);
    return size == 8 ? wide : size == 4 ? (double)single : half_value(at);
}

static bool is_close(double found, double expected, double tolerance, uint32_t size)
{
    double unit = ldexp(1, -(size == 8 ? 52 : size == 4 ? 23 : 10)) * fabs(expected);
    if (isnan(expected) || isinf(expected) || expected == 0)
        return isnan(expected) ? isnan(found) != 0 : found == expected && signbit(found) == signbit(expected);
    return fabs(found - expected) <= tolerance * unit;
}

static bool is_expected(const Type *type, const uint8_t *found, const uint8_t *expected, double tolerance)
{
    if (type->kind != TYPE_FLOAT && type->kind != TYPE_COMPLEX)
        return !memcmp(found, expected, type->size);
    uint32_t parts = type->kind == TYPE_COMPLEX ? 2 : 1;
    for (uint32_t part = 0; part < parts; part++)
        if (!is_close(float_at(type, found, part), float_at(type, expected, part), tolerance, type->size / parts))
            return false;
    return true;
}

static void print_number(const Type *type, const uint8_t *at)
{
    int64_t integer = 0;
    memcpy(&integer, at, type->size < 8 ? type->size : 8);
    if (type->kind == TYPE_COMPLEX)
        fprintf(stderr, "(%.17g, %.17g) ", float_at(type, at, 0), float_at(type, at, 1));
    else if (type->kind == TYPE_FLOAT)
        fprintf(stderr, "%.17g ", float_at(type, at, 0));
    else
        fprintf(stderr, "%" PRId64 " ", integer);
}

static void compare_rows(const char *body, Columns *columns, const uint8_t *found, int rows, double tolerance)
{
    int last = columns->count - 1;
    const Type *type = columns->types[last];
    for (int row = 0; row < rows; row++) {
        size_t offset = (size_t)row * type->size;
        if (CHECK(is_expected(type, found + offset, columns->data[last] + offset, tolerance)))
            continue;
        fprintf(stderr, "%s of ", body);
        for (int i = 0; i < last; i++)
            print_number(columns->types[i], columns->data[i] + (size_t)row * columns->types[i]->size);
        fprintf(stderr, "is ");
        print_number(type, found + offset);
        fprintf(stderr, "not ");
        print_number(type, columns->data[last] + offset);
        fprintf(stderr, "\n");
    }
}

void check_values(const char *body, const char *types, const char *rows, double tolerance)
{
    Arena *arena = arena_create();
    Columns columns = {0};
    struct {
        void *data;
        int64_t extent;
    } parameters[MAX_OPERANDS];
    read_types(&columns, arena, types);
    int count = read_rows(&columns, rows), last = columns.count - 1;
    uint8_t *found = calloc(MAX_ROWS, columns.types[last]->size);
    for (int i = 0; i < columns.count; i++) {
        parameters[i].data = i == last ? found : columns.data[i];
        parameters[i].extent = MAX_ROWS;
    }
    if (run_on_host(operation_kernel(body, types), parameters, (Grid){.threads = {count}}))
        compare_rows(body, &columns, found, count, tolerance);
    for (int i = 0; i < columns.count; i++)
        free(columns.data[i]);
    free(found);
    arena_destroy(arena);
}
