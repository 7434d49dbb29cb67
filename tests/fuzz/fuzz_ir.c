/* Damaged IR texts through the reader, the verifier and the printer: a text that is read prints as one that reads the
 * same; a text that is not gives a Diag. The texts are the goldens of tests/kernels/ir; run it in the repository's root. */
#include <glob.h>

#include "core/ir/ir.h"
#include "fuzz_tools.h"

enum { INPUTS = 6000, ROOM = 1 << 16, MOST_TEXTS = 64 };

typedef struct Figures {
    uint64_t read, valid;
} Figures;

typedef struct Corpus {
    char *texts[MOST_TEXTS];
    size_t count;
} Corpus;

static char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = calloc(1, ROOM);
    size_t size = fread(text, 1, ROOM / 2, file);
    text[size] = 0;
    fclose(file);
    return text;
}

static void read_corpus(Corpus *corpus)
{
    static const char *const patterns[] = {"tests/kernels/ir/*.ir", "tests/fuzz/corpus/*.ir"};
    for (int p = 0; p < 2; p++) {
        glob_t found = {0};
        if (glob(patterns[p], 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc && corpus->count < MOST_TEXTS; i++)
                if ((corpus->texts[corpus->count] = file_text(found.gl_pathv[i])))
                    corpus->count++;
        globfree(&found);
    }
}

/* Puts a word of the text, or a line, in the place of another. */
static void exchange(char *text, size_t *size, const char *ends)
{
    const char *part[2];
    size_t length[2];
    for (int i = 0; i < 2; i++) {
        const char *at = text + fuzz_below(*size);
        at += strcspn(at, ends);
        at += strspn(at, ends);
        part[i] = at;
        length[i] = strcspn(at, ends);
    }
    char *copy = malloc(length[1] + 1);
    memcpy(copy, part[1], length[1]);
    if (*size + length[1] < ROOM - 64) {
        char *place = text + (part[0] - text);
        memmove(place + length[1], place + length[0], *size - (size_t)(place - text) - length[0]);
        memcpy(place, copy, length[1]);
        *size += length[1] - length[0];
        text[*size] = 0;
    }
    free(copy);
}

/* A token of the grammar in the place of another, or bytes damaged. */
static void damage(char *text, size_t *size)
{
    if (*size && fuzz_below(4)) {
        exchange(text, size, fuzz_below(4) ? " ,[]()=\n" : "\n");
        return;
    }
    static const char *const tokens[] = {"%0",      "%7",         "i64",      "f32",         "bool",
                                         "c128",    "block 0",    "block 9",  "phi",         "const",
                                         "load",    "store",      "jump",     "branch",      "return",
                                         "convert", "add",        "-1",       "99999999999", "1e309",
                                         "nan",     "(i64, f32)", "f32[2 C]", "f64[1 A ro]", ",",
                                         ":",       "=",          "\n",       "kernel k()",  "device d(a: i64) -> f64",
                                         "call",    "index",      "tuple"};
    if (fuzz_below(3)) {
        fuzz_damage((uint8_t *)text, size, ROOM - 64, 1);
        text[*size] = 0;
        return;
    }
    const char *token = tokens[fuzz_below(sizeof tokens / sizeof tokens[0])];
    size_t place = fuzz_below(*size + 1), length = strlen(token);
    size_t left_out = fuzz_below(2) ? 0 : fuzz_below(8);
    if (place + left_out > *size || *size + length > ROOM - 64)
        return;
    memmove(text + place + length, text + place + left_out, *size - place - left_out);
    memcpy(text + place, token, length);
    *size += length - left_out;
    text[*size] = 0;
}

static void fail(const char *what, const char *text)
{
    fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)fuzz_seed, what, text);
    abort();
}

static void check(const char *text, Arena *arena, Figures *figures)
{
    Diag diag = {0};
    IrModule *module = ir_parse(text, arena, &diag);
    if (!module) {
        if (!diag_failed(&diag))
            fail("no module and no Diag", text);
        return;
    }
    figures->read++;
    if (ir_verify(module, &diag)) {
        figures->valid++;
        ir_module_effects(module);
    } else if (!diag_failed(&diag)) {
        fail("not valid, and no Diag", text);
    }
    Buf first = {0}, second = {0};
    ir_print(&first, module, true);
    diag_clear(&diag);
    IrModule *again = ir_parse(buf_text(&first), arena, &diag);
    if (!again)
        fail(diag.message, buf_text(&first));
    ir_print(&second, again, true);
    if (strcmp(buf_text(&first), buf_text(&second)) != 0)
        fail("prints differently when read again", buf_text(&first));
    buf_free(&first);
    buf_free(&second);
}

int main(int count, char **arguments)
{
    FuzzRun run = fuzz_arguments(count, arguments, INPUTS);
    Corpus corpus = {0};
    Figures figures = {0};
    read_corpus(&corpus);
    if (!corpus.count)
        return fprintf(stderr, "no texts: run it in the repository's root\n"), 1;
    char *text = malloc(ROOM);
    for (uint64_t i = 0; i < run.inputs; i++) {
        fuzz_start(run.seed + i);
        alarm(run.seconds);
        const char *original = corpus.texts[i % corpus.count];
        size_t size = strlen(original);
        memcpy(text, original, size + 1);
        for (uint32_t changes = i < corpus.count ? 0 : 1 + fuzz_below(fuzz_below(2) ? 1 : 4); changes; changes--)
            damage(text, &size);
        char *exact = malloc(size + 1); /* reads behind its end are found */
        memcpy(exact, text, size + 1);
        Arena *arena = arena_create();
        check(exact, arena, &figures);
        arena_destroy(arena);
        free(exact);
    }
    printf("%llu inputs of %zu texts: %llu read, %llu of them valid\n", (unsigned long long)run.inputs, corpus.count,
           (unsigned long long)figures.read, (unsigned long long)figures.valid);
    for (size_t i = 0; i < corpus.count; i++)
        free(corpus.texts[i]);
    free(text);
    return 0;
}
