/* Which kernels of a GPU, that of the fake driver, need no care around a launch: most do not, and each thing that the host is told
 * of a launch needs it. */
#include <stdlib.h>

#include "check.h"
#include "jit/jit.h"
#include "jit_tests.h"

static const Constant none = {.kind = CONSTANT_NONE},
                      print = {.kind = CONSTANT_INTRINSIC, .intrinsic = INTRINSIC_PRINT};
static const Constant zero = {.kind = CONSTANT_INT, .is_python = true, .type = TYPE_OF(INT64)};
static const Constant *const constants[] = {&none, &zero}, *const globals[] = {&print};
static const char *const locals[] = {"x"}, *const names[] = {"print"};
static const SourcePos positions[32];

/* As CPython 3.11 compiles it. */
#define FUNCTION(what, ...)                                                                                 \
    static const uint8_t what##_bytes[] = {__VA_ARGS__};                                                    \
    static const CodeSnapshot what##_code = {                                                               \
        .source = {.file = "f.py", .name = #what, .first_line = 1},                                         \
        .python_minor = 11,                                                                                 \
        .bytes = what##_bytes,                                                                              \
        .size = sizeof what##_bytes,                                                                        \
        .positions = positions,                                                                             \
        .argument_count = 1,                                                                                \
        .local_count = 1,                                                                                   \
        .local_names = locals,                                                                              \
        .constant_count = 2,                                                                                \
        .constants = constants,                                                                             \
        .name_count = 1,                                                                                    \
        .names = names,                                                                                     \
        .globals = globals,                                                                                 \
    };                                                                                                      \
    _Static_assert(sizeof what##_bytes <= 2 * sizeof positions / sizeof *positions, "each has a position"); \
    static const Snapshot what = {.code = &what##_code}

#define RESUME 151, 0
#define RETURN_NONE 100, 0, 83, 0
#define LOAD_GLOBAL_PRINT 116, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define CALL_1 166, 1, 0, 0, 171, 1, 0, 0, 0, 0, 0, 0, 0, 0
#define POP 1, 0
#define LOAD_ITEM 124, 0, 100, 1, 25, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define MULTIPLY 122, 5, 0, 0
#define STORE_ITEM 124, 0, 100, 1, 60, 0, 0, 0
#define RAISE_ASSERTION_ERROR 74, 0, 130, 1

FUNCTION(prints, RESUME, LOAD_GLOBAL_PRINT, LOAD_ITEM, CALL_1, POP, RETURN_NONE);
FUNCTION(multiplies, RESUME, LOAD_ITEM, LOAD_ITEM, MULTIPLY, STORE_ITEM, RETURN_NONE);
FUNCTION(raises, RESUME, RAISE_ASSERTION_ERROR);

static void check_kernel(const Snapshot *snapshot, const CompileOptions *options, RtKind kind, bool is_silent)
{
    Diag diag = {.id = DIAG_NONE};
    Arena *arena = arena_create();
    const Type *type = type_array(arena, TYPE_OF(INT64), 1, LAYOUT_C, false);
    RtDevice *device = rt_device(kind, 0, &diag);
    JitFunction *function = jit_function_create(snapshot, options, 7);
    const JitSpecialization *found = device ? jit_specialize(function, device, &type, 1, &diag) : NULL;
    if (!CHECK(found))
        fprintf(stderr, "%s: %s\n", snapshot->code->source.name, diag.message);
    else if (!CHECK(jit_launched(found)->is_silent == is_silent))
        fprintf(stderr, "%s, debug %d, exceptions %d, check %x, observe %d, on %d\n", snapshot->code->source.name,
                options->debug, options->exceptions, options->check, options->observe, kind);
    jit_function_destroy(function);
    arena_destroy(arena);
}

void test_silent_kernels(void)
{
    const char *driver = getenv("FAKE_DRIVER");
    if (!CHECK(driver))
        return;
    setenv("CUJIT_DRIVER_LIBRARY", driver, 1);
    setenv("CUJIT_CACHE", "0", 1);
    CompileOptions raising = default_options, debug = default_options, checked = default_options,
                   seen = default_options;
    raising.exceptions = true;
    debug.debug = debug.exceptions = true;
    checked.check = CHECK_OVERFLOW_RAISES;
    checked.exceptions = true;
    seen.observe = OBSERVE_LINES;
    const Snapshot *passes = jit_tests_snapshot();
    check_kernel(passes, &default_options, RT_GPU, true);
    check_kernel(passes, &debug, RT_GPU, true);
    check_kernel(passes, &checked, RT_GPU, true);
    check_kernel(passes, &default_options, RT_CPU, false);
    check_kernel(passes, &seen, RT_GPU, true); /* the CPU device alone counts */
    check_kernel(&multiplies, &default_options, RT_GPU, true);
    check_kernel(&multiplies, &checked, RT_GPU, true);
    check_kernel(&raises, &default_options, RT_GPU, true);
    check_kernel(&raises, &raising, RT_GPU, true); /* what it raises is found later */
    check_kernel(&raises, &debug, RT_GPU, false);
    check_kernel(&prints, &default_options, RT_GPU, false);
}
