/* Compiling and launching while the n-th request for memory fails, for each n until none is left: a diagnostic or success,
 * and afterwards the same works. The sanitizers see what is lost. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "core/base/memory.h"
#include "jit/cache/cache.h"
#include "jit_tests.h"

enum { MOST = 100000 };

static bool is_for_memory(const Diag *diag)
{
    return diag->id == DIAG_NO_MEMORY || diag->id == DIAG_DEVICE_MEMORY || diag->id == DIAG_HOST_STACK;
}

/* Does the work until no request fails, and again with all the memory there is. Where requests are many, n goes on
 * in steps. */
static void with_failures(const char *what, bool (*work)(void *data, Diag *diag), void *data)
{
    for (int for_good = 0; for_good < 2; for_good++) {
        long failures = 1, n = 1;
        for (; failures && n < MOST; n += 1 + n / 16) {
            Diag diag = {.id = DIAG_NONE};
            memory_fail_at(n, for_good);
            bool ok = work(data, &diag);
            failures = memory_failures();
            memory_fail_at(0, false);
            if (!check_that(ok || is_for_memory(&diag), __FILE__, __LINE__, what))
                fprintf(stderr, "request %ld: %s\n", n, diag.message);
            check_that(failures || ok, __FILE__, __LINE__, what);
            diag_clear(&diag);
            check_that(ok || for_good || work(data, &diag), __FILE__, __LINE__, what);
        }
        check_that(n > 2 && n < MOST, __FILE__, __LINE__, what);
    }
}

/* --- IR to code ------------------------------------------------------------------------------------------------------- */
typedef struct Source {
    const char *text;
    Target target;
} Source;

static bool compile(void *data, Diag *diag)
{
    const Source *source = data;
    char *code = jit_compile_ir(source->text, &source->target, diag);
    memory_free(code);
    return code != NULL;
}

static char *read_file(const char *folder, const char *name)
{
    static char text[1 << 16];
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
    return text;
}

static void compile_all(const char *folder, const char *const *names)
{
    for (; *names; names++) {
        Source source = {read_file(folder, *names), {.kind = TARGET_HOST}};
        if (!CHECK(*source.text))
            continue;
        with_failures(*names, compile, &source);
        source.target = (Target){.kind = TARGET_NVPTX, .gpu = target_gpu(80)};
        with_failures(*names, compile, &source);
    }
}

void test_no_memory_for_code(void)
{
    compile_all("tests/kernels/ir", (const char *const[]){"tiled_sum.ir", "helpers.ir", "control.ir", NULL});
}

/* --- specializing and launching ------------------------------------------------------------------------------------------ */
typedef struct Launch {
    const Snapshot *snapshot;
    JitFunction *function; /* kept after a failure, for the next try */
} Launch;

static bool specialize_and_launch(void *data, Diag *diag)
{
    Launch *work = data;
    float argument = 1;
    const Type *type = TYPE_OF(FLOAT32);
    RtLaunch launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .parameters = &argument};
    if (!work->function)
        work->function = jit_function_create(work->snapshot, &default_options, 7);
    if (!work->function)
        return diag_fail(diag, NULL, DIAG_NO_MEMORY, (size_t)0);
    bool ran = false;
    const JitSpecialization *found = jit_specialize(work->function, rt_device(RT_CPU, 0, diag), &type, 1, diag);
    if (!found || !jit_launch(found, &launch, NULL, &ran, diag))
        return false;
    jit_function_destroy(work->function);
    work->function = NULL;
    return ran;
}

/* Where memory is out when the image from disk has been read, the kernel is compiled all the same: of a plan's tests it has
 * those of records once. */
static void count_records(void)
{
    Arena *arena = arena_create();
    const TypeField field = {.name = "x", .type = TYPE_OF(INT64)};
    const Type *record = type_record(arena, "point", &field, 1, sizeof(int64_t), 1);
    const Type *type = type_array(arena, record, 0, LAYOUT_C, false);
    uint32_t from_disk = 0, compiled = 0;
    long failures = 1;
    for (long n = 0; failures && n < MOST; n++) {
        Diag diag = {.id = DIAG_NONE};
        JitFunction *function = jit_function_create(jit_tests_snapshot(), &default_options, 7);
        RtDevice *device = rt_device(RT_CPU, 0, &diag);
        memory_fail_at(n, false);
        const JitSpecialization *found = jit_specialize(function, device, &type, 1, &diag);
        failures = n == 0 || memory_failures();
        memory_fail_at(0, false);
        CHECK(found ? found->value_tests == 1 && found->plan.test_count == 1 : is_for_memory(&diag));
        from_disk += found && found->from_disk;
        compiled += found && !found->from_disk;
        diag_clear(&diag);
        jit_function_destroy(function);
    }
    CHECK(!failures && from_disk > 0 && compiled > 1);
    arena_destroy(arena);
}

static char *inspected;

static bool inspect(void *snapshot, Diag *diag)
{
    const Type *type = TYPE_OF(FLOAT32);
    Target host = {.kind = TARGET_HOST};
    JitFunction *function = jit_function_create(snapshot, &default_options, 7);
    if (!function)
        return diag_fail(diag, NULL, DIAG_NO_MEMORY, (size_t)0);
    size_t size;
    char *text = jit_inspect(function, &type, 1, &host, true, false, inspected, NULL, &size, diag);
    memory_free(text);
    jit_function_destroy(function);
    return text != NULL;
}

static bool parse(void *text, Diag *diag)
{
    Arena *arena = arena_try();
    JitSignature signature;
    bool ok =
        arena ? jit_parse_signature(text, arena, &signature, diag) : diag_fail(diag, NULL, DIAG_NO_MEMORY, (size_t)0);
    arena_destroy(arena);
    return ok;
}

void test_no_memory_for_a_launch(void)
{
    char folder[] = "/tmp/cujit_no_memory_XXXXXX";
    Launch launch = {.snapshot = jit_tests_snapshot()};
    setenv("CUJIT_CACHE", "0", 1);
    with_failures("launch", specialize_and_launch, &launch);
    if (CHECK(mkdtemp(folder))) { /* found on disk from the second time on */
        setenv("CUJIT_CACHE", "1", 1);
        setenv("CUJIT_CACHE_DIR", folder, 1);
        with_failures("cached launch", specialize_and_launch, &launch);
        count_records();
        char command[64];
        snprintf(command, sizeof command, "rm -r %s", folder);
        CHECK(system(command) == 0);
    }
    static char *const stages[] = {"bytecode", "cfg", "ssa", "ir", "types", "llvm", "asm"};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        inspected = stages[i];
        with_failures(inspected, inspect, (void *)jit_tests_snapshot());
    }
    with_failures("signature", parse, "void(Tuple((float32[:,::1], int64)), UniTuple(f8, 3), i4)");
}
