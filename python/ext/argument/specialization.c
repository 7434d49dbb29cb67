/* A kernel's snapshot, its specializations, and their lists of types. */
#include "ext/argument/specialization.h"

#include <pthread.h>
#include <unistd.h>

#include "ext/argument/implementations.h"
#include "ext/kernel_exception.h"
#include "ext/guard.h"
#include "ext/interrupt.h"
#include "ext/raise.h"
#include "ext/snapshot/function_snapshot.h"
#include "core/base/memory.h"

/* Gives the kernel all that it has from its first use on; false where another thread was faster. */
static bool publish(ExtKernel *kernel, JitFunction *function, Arena *arena, PyObject *keep_alive, uint32_t number,
                    bool has_overloads)
{
    bool is_first;
    Py_BEGIN_CRITICAL_SECTION(kernel);
    is_first = !kernel->function;
    if (is_first) {
        kernel->arena = arena;
        kernel->keep_alive = keep_alive;
        kernel->number = number;
        kernel->has_overloads = has_overloads;
        kernel->function = function; /* last: who sees it sees the rest */
    }
    Py_END_CRITICAL_SECTION();
    return is_first;
}

/* A kernel that was compiled elsewhere. */
static bool prepare_raw(ExtKernel *kernel)
{
    const ExtRawModule *raw = (const ExtRawModule *)PyTuple_GET_ITEM(kernel->raw, 0);
    const char *symbol = PyUnicode_AsUTF8(PyTuple_GET_ITEM(kernel->raw, 1));
    if (!symbol)
        return false;
    JitFunction *function = jit_raw_function_create(raw->raw, symbol, PyTuple_GET_ITEM(kernel->raw, 2) == Py_True);
    if (!function)
        return PyErr_NoMemory(), false;
    if (!publish(kernel, function, NULL, NULL, 0, false))
        jit_function_destroy(function);
    return true;
}

/* The program's end waits for code that is being optimized. */
static bool wait_at_exit(void)
{
    PyObject *module = PyImport_ImportModule("cujit._quick_start");
    Py_XDECREF(module);
    return module != NULL;
}

/* Threads may make snapshots at the same time: the first to be ready is the one. */
bool ext_kernel_prepare(ExtKernel *kernel)
{
    if (kernel->function)
        return true;
    if (kernel->raw)
        return prepare_raw(kernel);
    uint32_t number = 0;
    JitFunction *function = NULL;
    Arena *arena = ext_arena();
    PyObject *keep_alive = arena ? PyList_New(0) : NULL;
    bool has_overloads = false;
    const Snapshot *snapshot =
        keep_alive ? ext_snapshot(kernel->state, kernel->py_func, kernel, arena, keep_alive, &has_overloads) : NULL;
    if (snapshot && !kernel->function && ext_number_kernel(kernel, &number)) {
        CompileOptions options = kernel->compile_options;
        if (options.observe == OBSERVE_DEFAULT && kernel->state->observes_lines)
            options.observe = OBSERVE_LINES;
        function = jit_function_create(snapshot, &options, number);
        if (!function)
            PyErr_NoMemory();
        else if (kernel->quick_start)
            jit_start_quickly(function);
    }
    if (function && kernel->quick_start && !wait_at_exit()) {
        jit_function_destroy(function);
        function = NULL;
    }
    bool is_first = function && publish(kernel, function, arena, keep_alive, number, has_overloads);
    if (is_first)
        return true;
    jit_function_destroy(function);
    ext_forget_number(kernel->state, number);
    arena_destroy(arena);
    Py_XDECREF(keep_alive);
    return kernel->function && !PyErr_Occurred();
}

static bool warn_of_each_line(const char *category, char *text)
{
    bool ok = true;
    for (char *line = text, *end; ok && line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        ok = ext_warn(category, line);
    }
    return ok;
}

static bool warn_about_source(const JitSpecialization *specialization)
{
    const char *warnings = jit_warnings(specialization);
    if (!*warnings)
        return true;
    char *text = memory_try(strlen(warnings) + 1);
    if (!text)
        return PyErr_NoMemory(), false;
    bool ok = warn_of_each_line("CujitWarning", strcpy(text, warnings));
    memory_free(text);
    return ok;
}

/* A PerformanceWarning for each line where narrow floats become float64. */
static bool warn_about_widenings(const ExtKernel *kernel, const Type *const *types, uint32_t count)
{
    Diag diag;
    diag_clear(&diag);
    Target host = {.kind = TARGET_HOST};
    size_t size;
    char *text =
        jit_inspect(kernel->function, types, count, &host, !kernel->is_device, false, "widenings", NULL, &size, &diag);
    bool ok = warn_of_each_line("PerformanceWarning", text);
    memory_free(text);
    return ok;
}

/* Calls a method of who watches what is linked with the module's handle, in the reverse order for `unloaded`. */
static bool tell(const JitSpecialization *specialization, const char *method, bool is_last)
{
    uint32_t count;
    const LinkItem *const *links = jit_links(specialization, &count);
    for (uint32_t i = 0; i < count; i++) {
        const LinkItem *item = links[is_last ? count - 1 - i : i];
        if (!item->watcher)
            continue;
        unsigned long long handle = rt_kernel_module(jit_kernel(specialization));
        PyObject *done = PyObject_CallMethod((PyObject *)item->watcher, method, "K", handle);
        Py_XDECREF(done);
        if (!done && !is_last)
            return false;
        if (!done)
            PyErr_WriteUnraisable((PyObject *)item->watcher);
    }
    return true;
}

/* The first to have the kernel tells those who watch; where that fails, the next one does. */
static bool tell_loaded(const JitSpecialization *specialization)
{
    if (!jit_announce(specialization, true) || tell(specialization, "loaded", false))
        return true;
    jit_announce(specialization, false);
    return false;
}

static void tell_unloaded(const JitSpecialization *specialization, void *user)
{
    (void)user;
    if (jit_announce(specialization, false))
        tell(specialization, "unloaded", true);
}

void ext_kernel_unload(ExtKernel *kernel)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (kernel->function)
        jit_each_specialization(kernel->function, tell_unloaded, NULL);
    PyErr_Restore(type, value, traceback);
}

static bool warn_about_cache(void)
{
    char text[4096];
    return !jit_tell_cache_refusal(text, sizeof text) || ext_warn("CujitWarning", text);
}

/* --- compiling -------------------------------------------------------------------------------------------------------------- */

/* Kernels of compilations that an exception has ended here, and that are over now: one reference to each. */
static struct {
    pthread_mutex_t lock;
    ExtKernel *first;
} left = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Without the GIL, which such a thread may no longer take: the reference is given back when something is compiled. */
static void keep_left(void *owner)
{
    ExtKernel *kernel = owner;
    pthread_mutex_lock(&left.lock);
    if (!kernel->left_count++) {
        kernel->next_left = left.first;
        left.first = kernel;
    }
    pthread_mutex_unlock(&left.lock);
}

static void release_left(void)
{
    for (;;) {
        pthread_mutex_lock(&left.lock);
        ExtKernel *kernel = left.first;
        unsigned count = kernel ? kernel->left_count : 0;
        if (kernel) {
            left.first = kernel->next_left;
            kernel->left_count = 0;
        }
        pthread_mutex_unlock(&left.lock);
        if (!kernel)
            return;
        while (count--)
            Py_DECREF(kernel);
    }
}

typedef struct Description {
    const JitSpecialization *specialization;
    Buf types;
} Description;

static bool describe(void *data)
{
    Description *description = data;
    uint32_t count;
    const Type *const *types = jit_types(description->specialization, &count);
    jit_describe_types(&description->types, types, count);
    return true;
}

static PyObject *seconds_of_steps(const int64_t *times)
{
    PyObject *steps = PyDict_New();
    for (int i = 0; steps && i < JIT_STEP_COUNT; i++) {
        PyObject *seconds = PyFloat_FromDouble((double)times[i] * 1e-9);
        if (!seconds || PyDict_SetItemString(steps, jit_step_names[i], seconds) < 0)
            Py_CLEAR(steps);
        Py_XDECREF(seconds);
    }
    return steps;
}

/* isEnabledFor of the logger. The module's own once it is known: a borrowed reference. */
static PyObject *ask_logger(ExtState *state)
{
    PyObject *known = ext_state_known(&state->logger_hears);
    if (known)
        return known;
    PyObject *logging = PyImport_Import(state->logging_name); /* another thread may be about to import it */
    PyObject *logger = logging ? PyObject_CallMethod(logging, "getLogger", "s", "cujit") : NULL;
    PyObject *made = logger ? PyObject_GetAttrString(logger, "isEnabledFor") : NULL;
    Py_XDECREF(logger);
    Py_XDECREF(logging);
    return ext_state_publish(&state->logger_hears, made);
}

/* 1: somebody listens, -1: an exception. A program that has not imported logging listens to none. */
static int has_listener(ExtState *state)
{
    enum { LEVEL_INFO = 20 };
    if (!ext_state_known(&state->logger_hears)) {
        PyObject *logging = PyImport_GetModule(state->logging_name);
        if (!logging)
            return PyErr_Occurred() ? -1 : 0;
        Py_DECREF(logging);
    }
    PyObject *hears = ask_logger(state), *level = hears ? PyLong_FromLong(LEVEL_INFO) : NULL;
    PyObject *answer = level ? PyObject_CallOneArg(hears, level) : NULL;
    int listens = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    Py_XDECREF(level);
    return listens;
}

/* Tells the logger, for the one who has it first. */
static bool log_made(const ExtKernel *kernel, const JitSpecialization *specialization)
{
    const int64_t *times = jit_take_times(specialization);
    int listens = times ? has_listener(kernel->state) : 0;
    if (listens <= 0)
        return !listens;
    Description description = {.specialization = specialization};
    PyObject *module = PyImport_ImportModule("cujit._log"), *steps = seconds_of_steps(times), *done = NULL;
    if (module && steps && ext_guard(describe, &description))
        done = PyObject_CallMethod(module, "made", "OssOO", kernel, buf_text(&description.types),
                                   rt_device_name(jit_device(specialization)),
                                   jit_from_disk(specialization) ? Py_True : Py_False, steps);
    buf_free(&description.types);
    Py_XDECREF(steps);
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done != NULL;
}

/* In the main thread, signals are heard while it waits. */
static const JitSpecialization *specialize(ExtKernel *kernel, RtDevice *device, const Type *const *types,
                                           uint32_t count, Diag *diag)
{
    const JitSpecialization *found;
    JitPatience patience = {.interrupted = ext_interrupt(), .left = keep_left, .owner = kernel};
    Py_INCREF(kernel);
    Py_BEGIN_ALLOW_THREADS found =
        patience.interrupted ? jit_specialize_patiently(kernel->function, device, types, count, &patience, diag)
                             : jit_specialize(kernel->function, device, types, count, diag);
    Py_END_ALLOW_THREADS if (found || diag->id != DIAG_INTERRUPTED) Py_DECREF(kernel);
    release_left();
    return found;
}

/* What ends the line of a terminal that may wait long; None elsewhere, NULL with an exception. */
static PyObject *begin_progress(ExtKernel *kernel)
{
    if (!isatty(STDERR_FILENO))
        Py_RETURN_NONE;
    PyObject *module = PyImport_ImportModule("cujit._progress");
    PyObject *end = module ? PyObject_CallMethod(module, "begin", "O", kernel) : NULL;
    Py_XDECREF(module);
    return end;
}

static bool end_progress(PyObject *end)
{
    PyObject *done = end == Py_None ? Py_NewRef(end) : PyObject_CallNoArgs(end);
    Py_DECREF(end);
    Py_XDECREF(done);
    return done != NULL;
}

/* Not a part of its caller, which makes the snapshot: a Diag takes 5 KB of a stack that may be small. */
static __attribute__((noinline)) const JitSpecialization *compile(ExtKernel *kernel, RtDevice *device,
                                                                  const Type *const *types, uint32_t count)
{
    const JitSpecialization *found;
    Diag diag = {.id = DIAG_NONE};
    PyObject *end = begin_progress(kernel);
    if (!end)
        return NULL;
    found = specialize(kernel, device, types, count, &diag);
    if (!end_progress(end))
        return NULL;
    if (!found)
        ext_raise(&diag);
    if (found && (!warn_about_cache() || !warn_about_source(found) ||
                  (kernel->warn_float64 && !warn_about_widenings(kernel, types, count)) || !log_made(kernel, found)))
        return NULL;
    return found;
}

const JitSpecialization *ext_kernel_specialize(ExtKernel *kernel, RtDevice *device, const Type *const *types,
                                               uint32_t count)
{
    if (!ext_kernel_prepare(kernel))
        return NULL;
    const JitSpecialization *found = jit_find(kernel->function, device, types, count);
    if (!found && !ext_choose_implementations(kernel, types, count))
        return NULL;
    if (!found)
        found = compile(kernel, device, types, count);
    return found && tell_loaded(found) ? found : NULL;
}

/* --- what is compiled ------------------------------------------------------------------------------------------------------ */
static bool is_known(const ExtCompiled *compiled, const Type *const *types, uint32_t count)
{
    for (uint32_t i = 0; i < compiled->count; i++) {
        const JitSignature *each = &compiled->signatures[i];
        uint32_t same = 0;
        while (each->count == count && same < count && type_equal(each->arguments[same], types[same]))
            same++;
        if (each->count == count && same == count)
            return true;
    }
    return false;
}

static void add_signature(const JitSpecialization *specialization, void *user)
{
    ExtCompiled *compiled = user;
    uint32_t count;
    const Type *const *types = jit_types(specialization, &count);
    if (is_known(compiled, types, count))
        return;
    if (compiled->count == compiled->capacity) {
        uint32_t capacity = compiled->capacity ? 2 * compiled->capacity : 4;
        JitSignature *grown = ARENA_ARRAY(compiled->arena, JitSignature, capacity);
        for (uint32_t i = 0; i < compiled->count; i++)
            grown[i] = compiled->signatures[i];
        compiled->signatures = grown;
        compiled->capacity = capacity;
    }
    compiled->signatures[compiled->count++] = (JitSignature){.count = count, .arguments = types};
}

typedef struct Listing {
    const ExtKernel *kernel;
    ExtCompiled *compiled;
} Listing;

static bool list(void *data)
{
    const Listing *listing = data;
    jit_each_specialization(listing->kernel->function, add_signature, listing->compiled);
    return true;
}

bool ext_compiled_signatures(const ExtKernel *kernel, ExtCompiled *compiled)
{
    Listing listing = {kernel, compiled};
    return !kernel->function || ext_guard(list, &listing);
}
