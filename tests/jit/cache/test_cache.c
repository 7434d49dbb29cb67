/* The specialization cache: what is found, in which order it is listed, and that threads that ask at once share one
 * compilation. The compiled function is "pass", as CPython 3.11 to 3.13 compile it. */
#include <pthread.h>

#include "check.h"
#include "jit/cache/cache.h"
#include "jit_tests.h"

enum { THREADS = 8, TYPE_COUNT = 14 };

static RtDevice *cpu(void)
{
    Diag diag = {.id = DIAG_NONE};
    return rt_device(RT_CPU, 0, &diag);
}

static void append(JitCache *cache, RtDevice *device, const Type *type)
{
    pthread_mutex_lock(&cache->compiling.mutex);
    jit_cache_append_locked(cache, jit_specialization_create(device, &type, 1));
    pthread_mutex_unlock(&cache->compiling.mutex);
}

void test_cache(void)
{
    JitCache cache;
    RtDevice *device = cpu();
    const Type *none = NULL;
    jit_cache_init(&cache);
    for (int i = 0; i < TYPE_COUNT; i++) {
        const Type *type = &type_scalars[i];
        CHECK(!jit_cache_find(&cache, device, &type, 1));
        append(&cache, device, type);
        const JitSpecialization *found = jit_cache_find(&cache, device, &type, 1);
        CHECK(found && found->types[0] == type && found->abi->size == type->size);
    }
    const Type *two[] = {TYPE_OF(INT64), TYPE_OF(INT64)};
    CHECK(!jit_cache_find(&cache, device, two, 2));
    CHECK(!jit_cache_find(&cache, device, &none, 0));
    CHECK(!jit_cache_find(&cache, NULL, two, 1));
    CHECK(cache.last == jit_cache_find(&cache, device, (const Type *[]){TYPE_OF(COMPLEX128)}, 1));
    jit_cache_destroy(&cache);
}

typedef struct Reader {
    JitCache *cache;
    bool ok;
} Reader;

/* Everything that was found once is found again, while another thread appends. */
static void *read_all(void *user)
{
    Reader *reader = user;
    JitSpecialization *seen[TYPE_COUNT] = {0};
    int missing = TYPE_COUNT;
    reader->ok = true;
    while (missing) {
        missing = 0;
        for (int i = 0; i < TYPE_COUNT; i++) {
            const Type *type = &type_scalars[i];
            JitSpecialization *found = jit_cache_find(reader->cache, NULL, &type, 1);
            reader->ok &= !seen[i] || seen[i] == found;
            seen[i] = found;
            missing += !found;
        }
    }
    return NULL;
}

void test_cache_threads(void)
{
    JitCache cache;
    jit_cache_init(&cache);
    pthread_t threads[THREADS];
    Reader readers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        readers[i] = (Reader){.cache = &cache};
        CHECK(pthread_create(&threads[i], NULL, read_all, &readers[i]) == 0);
    }
    for (int i = 0; i < TYPE_COUNT; i++)
        append(&cache, NULL, &type_scalars[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(readers[i].ok);
    }
    jit_cache_destroy(&cache);
}

/* --- def f(x): pass ------------------------------------------------------------------------------------------------- */
static const Constant none_constant = {.kind = CONSTANT_NONE};
static const Constant *const constants[] = {&none_constant};
static const char *const locals[] = {"x"};
static const uint8_t code_bytes[] = {151, 0, 100, 0, 83, 0}; /* RESUME, LOAD_CONST None, RETURN_VALUE of 3.11 */
static const SourcePos positions[3] = {{.line = 1}, {.line = 1}, {.line = 1}};
static const CodeSnapshot code = {
    .source = {.file = "f.py", .name = "f", .first_line = 1},
    .python_minor = 11,
    .bytes = code_bytes,
    .size = sizeof code_bytes,
    .positions = positions,
    .argument_count = 1,
    .local_count = 1,
    .local_names = locals,
    .constant_count = 1,
    .constants = constants,
};
static const Snapshot snapshot = {.code = &code};

const Snapshot *jit_tests_snapshot(void) { return &snapshot; }

static pthread_barrier_t barrier;

static void *specialize(void *user)
{
    Diag diag = {.id = DIAG_NONE};
    const Type *type = TYPE_OF(FLOAT32);
    pthread_barrier_wait(&barrier);
    const JitSpecialization *found = jit_specialize(user, cpu(), &type, 1, &diag);
    if (!found)
        fprintf(stderr, "%s\n", diag.message);
    return (void *)found;
}

static void count_one(const JitSpecialization *specialization, void *user)
{
    (void)specialization;
    ++*(int *)user;
}

void test_compiled_once(void)
{
    JitFunction *function = jit_function_create(&snapshot, &(CompileOptions){.opt = 1, .fmad = true}, 7);
    const Type *type = TYPE_OF(FLOAT32);
    CHECK(!jit_find(function, cpu(), &type, 1));
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_t threads[THREADS];
    void *found[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, specialize, function) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], &found[i]);
    for (int i = 0; i < THREADS; i++)
        CHECK(found[i] && found[i] == (void *)jit_find(function, cpu(), &type, 1));
    int count = 0;
    jit_each_specialization(function, count_one, &count);
    CHECK(count == 1);
    if (found[0]) {
        float argument = 1;
        Diag diag = {.id = DIAG_NONE};
        RtLaunch launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .parameters = &argument};
        bool ran = false;
        CHECK(jit_launch(found[0], &launch, NULL, &ran, &diag) && ran);
        CHECK(!jit_written(found[0])[0] && jit_device(found[0]) == cpu() && jit_kernel(found[0]));
    }
    pthread_barrier_destroy(&barrier);
    jit_function_destroy(function);
}
