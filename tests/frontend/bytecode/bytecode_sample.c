#include "bytecode_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Sample {
    const char *name;
    int first_line;
    const char *code, *exception_table;   /* hexadecimal */
    const char *const *constants, *const *names, *const *locals;
} Sample;

#define STRINGS(...) \
    (const char *const[]) { __VA_ARGS__ }
#define SAMPLE(...) {__VA_ARGS__},

static const Sample samples_311[] = {
#include "bytecode_samples_py311.def"
};
static const Sample samples_312[] = {
#include "bytecode_samples_py312.def"
};
static const Sample samples_313[] = {
#include "bytecode_samples_py313.def"
};
static const Sample samples_314[] = {
#include "bytecode_samples_py314.def"
};
static const Sample samples_315[] = {
#include "bytecode_samples_py315.def"
};

static const Sample *const samples[SAMPLE_VERSIONS] = {samples_311, samples_312, samples_313, samples_314, samples_315};
const int sample_count = sizeof samples_311 / sizeof samples_311[0];

static uint8_t *bytes_of(const char *text, uint32_t *size, Arena *arena)
{
    *size = (uint32_t)strlen(text) / 2;
    uint8_t *bytes = arena_alloc(arena, *size);
    for (uint32_t i = 0; i < *size; i++) {
        unsigned byte = 0;
        sscanf(text + 2 * i, "%2x", &byte);
        bytes[i] = (uint8_t)byte;
    }
    return bytes;
}

static uint32_t count_of(const char *const *strings)
{
    uint32_t count = 0;
    while (strings[count])
        count++;
    return count;
}

static const Constant *constant_of(const char *text, Arena *arena);

/* "(a, b)" or "slice(a, b, c)", whose items are not tuples. */
static void read_items(Constant *constant, const char *text, Arena *arena)
{
    const Constant **items = ARENA_ARRAY(arena, const Constant *, strlen(text));
    constant->items = items;
    for (const char *at = strchr(text, '(') + 1; *at && *at != ')';) {
        const char *end = at + (strncmp(at, "slice(", 6) ? strcspn(at, ",)") : strcspn(at, ")") + 1);
        items[constant->count++] = constant_of(arena_format(arena, "%.*s", (int)(end - at), at), arena);
        at = end + strspn(end, ", ");
    }
}

static const Constant *constant_of(const char *text, Arena *arena)
{
    Constant *constant = ARENA_NEW(arena, Constant);
    char *end;
    double real = strtod(text, &end);
    bool is_number = *text && !*end, is_slice = !strncmp(text, "slice(", 6);
    if (!strcmp(text, "None")) {
        constant->kind = CONSTANT_NONE;
    } else if (is_number && !strchr(text, '.')) {
        constant->kind = CONSTANT_INT;
        constant->type = TYPE_OF(INT64);
        constant->integer = (int64_t)real;
    } else if (is_number) {
        constant->kind = CONSTANT_FLOAT;
        constant->type = TYPE_OF(FLOAT64);
        constant->real = real;
    } else if (is_slice || (*text == '(' && strstr(text, "slice("))) {
        constant->kind = is_slice ? CONSTANT_SLICE : CONSTANT_TUPLE;
        read_items(constant, text, arena);
    } else {
        constant->kind = CONSTANT_STRING;
        constant->text = text;
    }
    return constant;
}

static const Constant *const *constants_of(const char *const *texts, uint32_t count, Arena *arena)
{
    const Constant **constants = ARENA_ARRAY(arena, const Constant *, count);
    for (uint32_t i = 0; i < count; i++)
        constants[i] = constant_of(texts[i], arena);
    return constants;
}

CodeSnapshot *sample_code(int index, int python_minor, Arena *arena)
{
    const Sample *sample = &samples[python_minor - SAMPLE_FIRST_MINOR][index];
    CodeSnapshot *code = ARENA_NEW(arena, CodeSnapshot);
    code->source = (SourceFunction){.file = "samples.py", .name = sample->name, .first_line = sample->first_line};
    code->python_minor = python_minor;
    code->bytes = bytes_of(sample->code, &code->size, arena);
    code->exception_table = bytes_of(sample->exception_table, &code->exception_table_size, arena);
    code->constant_count = count_of(sample->constants);
    code->constants = constants_of(sample->constants, code->constant_count, arena);
    code->name_count = count_of(sample->names);
    code->names = sample->names;
    code->local_count = count_of(sample->locals);
    code->local_names = sample->locals;
    return code;
}

CodeSnapshot *code_of_bytes(const unsigned char *bytes, size_t size, int python_minor, Arena *arena)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    CodeSnapshot *code = ARENA_NEW(arena, CodeSnapshot);
    code->source = (SourceFunction){.file = "bytes.py", .name = "bytes", .first_line = 1};
    code->python_minor = python_minor;
    code->bytes = arena_copy(arena, bytes, size);
    code->size = (uint32_t)size;
    code->constant_count = code->name_count = code->local_count = 4;
    code->constants = constants_of(names, 4, arena);
    code->names = code->local_names = names;
    return code;
}
