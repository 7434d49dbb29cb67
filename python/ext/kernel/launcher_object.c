/* Launcher: kernel[grid, block, stream, shared]. Calling it launches: arguments are packed for the specialization of the
 * last launch; where they do not fit, their types are found out, and a specialization is looked up or compiled. */
#include "ext/kernel/launcher_object.h"

#include "core/base/likely.h"
#include "ext/argument/argument_binding.h"
#include "ext/argument/buffer_argument.h"
#include "ext/argument/launch_configuration.h"
#include "ext/argument/launch_frame.h"
#include "ext/argument/specialization.h"
#include "ext/guard.h"
#include "ext/interrupt.h"
#include "ext/kernel/copy_hint.h"
#include "ext/kernel_exception.h"
#include "ext/module_parts.h"
#include "ext/object/device_object.h"
#include "ext/object/graph_object.h"
#include "ext/object/launch_device.h"
#include "ext/object/stream_object.h"
#include "ext/observation.h"
#include "ext/raise.h"

typedef struct ExtLauncher {
    PyObject_HEAD vectorcallfunc vectorcall;
    ExtState *state;
    ExtKernel *kernel;
    PyObject *stream; /* as given: 0, a Stream, ... */
    PyObject *stream_object; /* Stream or None */
    PyObject *_Atomic callbacks; /* pre_launch_callbacks: a list, which stays; NULL: none yet */
    RtLaunch launch; /* all but parameters */
} ExtLauncher;

/* --- the launch -------------------------------------------------------------------------------------------------------- */
/* 1 is the default stream by another name. */
static bool same_stream(uint64_t a, uint64_t b) { return a == b || (a <= 1 && b <= 1); }

/* Whether another stream's work has to be done before the launch. */
static bool waits_for_others(const ExtLaunchFrame *frame, const RtStream *stream)
{
    uint64_t own = rt_stream_handle(stream);
    for (uint32_t i = 0; i < frame->stream_count; i++)
        if (!same_stream(frame->streams[i], own))
            return frame->state->waits_for_arrays;
    return false;
}

static bool wait_for_streams(const ExtLaunchFrame *frame, const RtStream *stream, Diag *diag)
{
    if (frame->wait_for_device)
        return rt_synchronize(frame->device, diag);
    uint64_t own = rt_stream_handle(stream);
    for (uint32_t i = 0; i < frame->stream_count; i++) {
        uint64_t handle = frame->streams[i];
        if (same_stream(handle, own))
            continue;
        RtStream *other = rt_stream_external(frame->device, handle, diag);
        bool ok = other && rt_stream_synchronize(frame->device, other, diag);
        rt_stream_destroy(other);
        if (!ok)
            return false;
    }
    return true;
}

/* Everything of a launch that needs no GIL. *ran: whether the arguments may have changed. */
static bool run(ExtLaunchFrame *frame, RtLaunch *launch, JitOverflows *overflows, bool *ran, Diag *diag)
{
    if (waits_for_others(frame, launch->stream) && !wait_for_streams(frame, launch->stream, diag))
        return false;
    if (!frame->array_count) {
        launch->parameters = frame->parameters;
        return jit_launch(frame->specialization, launch, overflows, ran, diag);
    }
    if (rt_graph_recorded())
        return diag_fail(diag, NULL, DIAG_CAPTURE, "a host array as an argument",
                         "cuda.to_device() makes a device array of it");
    bool launched = ext_host_arrays_copy_in(frame, launch->stream, diag);
    launch->parameters = frame->parameters;
    launched = launched && jit_launch(frame->specialization, launch, overflows, ran, diag);
    /* After an exception the arrays come back as the other threads left them. */
    *ran = *ran && (launched || diag->id == DIAG_KERNEL_EXCEPTION);
    return ext_host_arrays_copy_back(frame, launch->stream, *ran, diag) && launched;
}

/* What the program printed so far comes before what the kernel prints, which does not go through sys.stdout. */
static void flush_standard_output(void)
{
    PyObject *module = PyImport_ImportModule("sys");
    PyObject *file = module ? PyObject_GetAttrString(module, "stdout") : NULL;
    PyObject *done = file && file != Py_None ? PyObject_CallMethod(file, "flush", NULL) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(file);
    Py_XDECREF(module);
    PyErr_Clear();
}

/* By which order of threads it came about. */
static void note_schedule(void)
{
    const char *schedule = getenv("CUJIT_SCHEDULE");
    PyObject *type, *value, *traceback;
    if (!schedule || !*schedule)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    char text[160];
    snprintf(text, sizeof text, "CUJIT_SCHEDULE=%.40s has the threads run in this order again", schedule);
    PyObject *done = value ? PyObject_CallMethod(value, "add_note", "s", text) : NULL;
    if (!done)
        PyErr_Clear();
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
}

/* What most launches are: on a GPU, of a kernel that does no more, with nothing to copy and nobody to wait for. It returns at
 * once and keeps the GIL. */
static bool returns_at_once(const ExtLaunchFrame *frame, const RtStream *stream)
{
    return !frame->array_count && jit_launched(frame->specialization)->is_silent &&
           !(frame->stream_count && waits_for_others(frame, stream));
}

static inline __attribute__((always_inline)) bool launch_at_once(ExtLaunchFrame *frame, RtLaunch *launch)
{
    bool ran;
    Diag diag;
    diag_clear(&diag);
    launch->parameters = frame->parameters;
    bool launched = jit_launch(frame->specialization, launch, NULL, &ran, &diag);
    bool ended = LIKELY(ext_frame_is_bare(frame)) || ext_frame_end(frame, ran);
    if (UNLIKELY(ended && !launched))
        ext_raise(&diag);
    return ended && launched;
}

/* All others: on the CPU device, with host arrays, or with something to tell. */
static OFF_LAUNCH_PATH bool launch_with_care(ExtLaunchFrame *frame, RtLaunch *launch)
{
    Diag diag;
    diag_clear(&diag);
    bool launched = false, ran = false;
    JitOverflows overflows = {0};
    launch->interrupted = ext_interrupt();
    if (jit_prints(frame->specialization))
        flush_standard_output();
    bool waits = waits_for_others(frame, launch->stream) || rt_device_kind(frame->device) == RT_CPU ||
                 jit_waits(frame->specialization);
    if (frame->array_count == 0 && !waits && jit_is_optimized(frame->specialization)) {
        launched = run(frame, launch, &overflows, &ran, &diag);
    } else if (ext_host_arrays_begin(frame)) {
        Py_BEGIN_ALLOW_THREADS launched = run(frame, launch, &overflows, &ran, &diag);
        Py_END_ALLOW_THREADS
    }
    bool ended = ext_frame_end(frame, ran);
    bool told = ext_warn_of_overflows(&overflows, diag_failed(&diag));
    if (ended && diag_failed(&diag)) {
        ext_raise(&diag);
        note_schedule();
    }
    return ext_tell_lines(frame->specialization) && ended && launched && told;
}

/* Launches a packed frame and ends it. */
static LAUNCH_PATH bool launch_frame(ExtLaunchFrame *frame, RtLaunch *launch)
{
    return LIKELY(returns_at_once(frame, launch->stream)) ? launch_at_once(frame, launch)
                                                          : launch_with_care(frame, launch);
}

/* The stream of a launcher that names none is that of the thread, if it has entered one. A stream of another library may be
 * any device's: it is the one that the kernel runs on. */
static OFF_LAUNCH_PATH bool launch_in_named_stream(const ExtLauncher *self, ExtLaunchFrame *frame)
{
    RtLaunch launch = self->launch;
    PyObject *current =
        launch.stream || self->stream_object != Py_None ? NULL : ext_current_stream(self->state, frame->device);
    if (!ext_stream_is_open(current ? current : self->stream_object))
        return ext_frame_end(frame, false), false;
    if (current) {
        launch.stream = ext_rt_stream(Py_NewRef(current));
        bool ok = launch_frame(frame, &launch);
        Py_DECREF(current);
        return ok;
    }
    if (!launch.stream || ((ExtStream *)self->stream_object)->device == frame->device)
        return launch_frame(frame, &launch);
    Diag diag = {.id = DIAG_NONE};
    launch.stream = rt_stream_external(frame->device, rt_stream_handle(self->launch.stream), &diag);
    bool ok = launch.stream ? launch_frame(frame, &launch) : (ext_raise(&diag), ext_frame_end(frame, false), false);
    rt_stream_destroy(launch.stream);
    return ok;
}

static inline bool launch_in_stream(const ExtLauncher *self, ExtLaunchFrame *frame)
{
    if (self->stream_object != Py_None || ext_has_entered_streams(self->state))
        return launch_in_named_stream(self, frame);
    RtLaunch launch = self->launch; /* in the default one */
    return launch_frame(frame, &launch);
}

/* Hints for GPUs, given on the CPU device too: it is where programs for GPUs are tried out. */
static bool warn_about_copies(ExtKernel *kernel, const ExtLaunchFrame *frame)
{
    return !frame->array_count || !frame->state->warns_about_copies || ext_hint_at_copies(kernel);
}

/* Of integers that do not fit their parameters. */
static bool tell_narrowed(ExtLaunchFrame *frame)
{
    bool raises = frame->kernel->compile_options.check & CHECK_OVERFLOW_RAISES;
    return !frame->narrowed || ext_warn_of_arguments(frame->narrowed, raises);
}

/* Calls what pre_launch_callbacks holds with (kernel, launcher). */
static __attribute__((noinline, cold)) bool run_callbacks(ExtLauncher *self, PyObject *callbacks)
{
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < PyList_GET_SIZE(callbacks); i++) {
        PyObject *callback = PyList_GetItemRef(callbacks, i);
        if (!callback) { /* gone since */
            ok = ext_forgive();
            break;
        }
        PyObject *result = PyObject_CallFunctionObjArgs(callback, self->kernel, self, NULL);
        Py_DECREF(callback);
        ok = result != NULL;
        Py_XDECREF(result);
    }
    return ok;
}

/* --- the launch that code is compiled for ------------------------------------------------------------------------------- */
typedef struct CurrentLaunch {
    ExtLauncher *launcher; /* NULL: none; borrowed, as are the arguments */
    PyObject *const *args;
    Py_ssize_t count;
} CurrentLaunch;

static _Thread_local CurrentLaunch current;

/* (launcher, arguments), or None outside of a compilation that a launch of this thread asks for. */
static PyObject *function_current_launch(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    if (!current.launcher)
        Py_RETURN_NONE;
    PyObject *args = PyTuple_New(current.count);
    for (Py_ssize_t i = 0; args && i < current.count; i++)
        PyTuple_SET_ITEM(args, i, Py_NewRef(current.args[i]));
    return args ? Py_BuildValue("(ON)", (PyObject *)current.launcher, args) : NULL;
}

static void count_one(const JitSpecialization *specialization, void *count)
{
    (void)specialization;
    ++*(uint32_t *)count;
}

static uint32_t count_specializations(const ExtKernel *kernel)
{
    uint32_t count = 0;
    if (kernel->function)
        jit_each_specialization(kernel->function, count_one, &count);
    return count;
}

/* Tells Python where it wants to know, while the launch is the current one. */
static bool tell_compiled(ExtKernel *kernel, uint32_t known)
{
    if (!kernel->is_watched || count_specializations(kernel) == known)
        return true;
    PyObject *done = PyObject_CallMethod((PyObject *)kernel, "_compiled_for_launch", NULL);
    Py_XDECREF(done);
    return done != NULL;
}

/* The code for the arguments; what is asked while it is chosen and compiled is told of this launch. */
static const JitSpecialization *choose(ExtLauncher *self, RtDevice *device, PyObject *const *args, Py_ssize_t count,
                                       bool *converts)
{
    CurrentLaunch before = current;
    current = (CurrentLaunch){self, args, count};
    uint32_t known = self->kernel->is_watched ? count_specializations(self->kernel) : 0;
    const JitSpecialization *found = ext_choose_specialization(self->kernel, device, args, count, converts);
    bool told = !found || tell_compiled(self->kernel, known);
    current = before;
    return told ? found : NULL;
}

static bool has_configuration_of(const RtLaunch *a, const RtLaunch *b)
{
    return a->dynamic_shared == b->dynamic_shared && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 && memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0;
}

/* Whether the kernel's code is for another configuration than this. */
static bool is_for_others(const ExtLauncher *self)
{
    const ExtLauncher *bound = (const ExtLauncher *)atomic_load_explicit(&self->kernel->bound, memory_order_acquire);
    return UNLIKELY(bound && !has_configuration_of(&bound->launch, &self->launch));
}

/* Launches the kernel that Python has for the configuration. */
static __attribute__((noinline, cold)) PyObject *launch_own_kernel(ExtLauncher *self, PyObject *const *args,
                                                                   Py_ssize_t count)
{
    PyObject *launcher = PyObject_CallMethod((PyObject *)self->kernel, "_for_configuration", "O", self);
    PyObject *result = launcher ? PyObject_Vectorcall(launcher, args, (size_t)count, NULL) : NULL;
    Py_XDECREF(launcher);
    return result;
}

static void tell_mismatch(PyObject *value)
{
    const char *class = Py_TYPE(value)->tp_name;
    if (PyTuple_Check(value) && !PyTuple_CheckExact(value) && !PyObject_HasAttrString(value, "_fields"))
        PyErr_Format(
            PyExc_TypeError,
            "kernels take tuples and named tuples, and no other class that is derived from tuple, such as '%s'; "
            "tuple(...) makes a tuple of it",
            class);
    else
        PyErr_SetString(PyExc_TypeError, "the value does not fit the type that the kernel was compiled for");
}

/* Packs the arguments for the device and the specialization they need, found or compiled now. */
static __attribute__((noinline, cold)) ExtMatch pack_anew(ExtLauncher *self, ExtLaunchFrame *frame, bool is_chosen,
                                                          PyObject *const *args, Py_ssize_t count,
                                                          Py_ssize_t *failed_at)
{
    bool converts;
    ExtKernel *kernel = self->kernel;
    ExtCallee callee = {ext_kernel_name(kernel), kernel, args, count};
    frame->device = ext_device_for(self->state, &callee, frame->device, is_chosen);
    if (!frame->device)
        return EXT_ERROR;
    const JitSpecialization *found = choose(self, frame->device, args, count, &converts);
    ext_frame_forget(frame);
    if (!found || !ext_warn_of_uncounted_lines(self->state, frame->device))
        return EXT_ERROR;
    ExtMatch match = ext_frame_pack(frame, found, converts, args, failed_at);
    if (match == EXT_MISMATCH)
        tell_mismatch(args[*failed_at]);
    if (match != EXT_MATCH)
        return ext_raise_argument(kernel, *failed_at), EXT_ERROR;
    ext_remember_specialization(kernel, found, converts);
    return EXT_MATCH;
}

static inline bool fits(ExtLast last, Py_ssize_t count)
{
    return last.specialization && jit_launched(last.specialization)->count == (size_t)count;
}

/* Whether what was packed is not for the device that it was packed for: that is found out by all arguments. */
static bool is_misplaced(const ExtLaunchFrame *frame, const RtDevice *device)
{
    return (frame->elsewhere && (frame->elsewhere & ~rt_device_reach(frame->device))) ||
           (frame->device != device && !frame->at_home);
}

/* Packs for the specialization of the last launch, if it is one for this device. Where the program has named no device, the
 * last one is taken to be that of the arguments. */
static ExtMatch pack_again(ExtLaunchFrame *frame, ExtLast last, bool is_chosen, PyObject *const *args, Py_ssize_t count,
                           Py_ssize_t *failed_at)
{
    if (UNLIKELY(!fits(last, count)))
        return EXT_MISMATCH;
    RtDevice *device = frame->device, *before = jit_device(last.specialization);
    if (UNLIKELY(before != device && is_chosen))
        return EXT_MISMATCH;
    frame->device = before;
    ExtMatch match = ext_frame_pack(frame, last.specialization, last.converts, args, failed_at);
    if (LIKELY(match == EXT_MATCH && !is_misplaced(frame, device)))
        return EXT_MATCH;
    frame->device = device;
    return match == EXT_ERROR ? EXT_ERROR : EXT_MISMATCH;
}

/* Launches while the thread records a graph, which keeps what the launch uses. */
static __attribute__((noinline, cold)) bool record(const ExtLauncher *self, ExtLaunchFrame *frame,
                                                   PyObject *const *args, Py_ssize_t count)
{
    PyObject *used = ext_frame_kept(frame);
    bool ok = used ? launch_in_stream(self, frame) : (ext_frame_end(frame, false), false);
    ok = ok && ext_graph_keep_launch((PyObject *)self, args, count, used);
    Py_XDECREF(used);
    return ok;
}

/* Of arguments that do not fit the specialization of the last launch or are changed for it, of arrays of the host, or into a
 * graph. match: what packing
 * has come to so far. */
static OFF_LAUNCH_PATH bool launch_others(ExtLauncher *self, ExtLaunchFrame *frame, ExtMatch match,
                                          Py_ssize_t failed_at, bool is_chosen, PyObject *const *args, Py_ssize_t count)
{
    ExtKernel *kernel = self->kernel;
    if (match == EXT_ERROR)
        ext_raise_argument(kernel, failed_at);
    PyObject *arrays = NULL; /* alive until it has run */
    if (match == EXT_MISMATCH) {
        arrays = ext_with_arrays(kernel, args, count);
        match = PyErr_Occurred() ? EXT_ERROR
                                 : pack_anew(self, frame, is_chosen, arrays ? PySequence_Fast_ITEMS(arrays) : args,
                                             count, &failed_at);
    }
    bool ok = match == EXT_MATCH && tell_narrowed(frame) && warn_about_copies(kernel, frame);
    if (!ok)
        ext_frame_end(frame, false);
    else if (rt_graph_recorded())
        ok = record(self, frame, arrays ? PySequence_Fast_ITEMS(arrays) : args, count);
    else
        ok = launch_in_stream(self, frame);
    Py_XDECREF(arrays);
    return ok;
}

static LAUNCH_PATH PyObject *launch(ExtLauncher *self, ExtLast last, PyObject *const *args, Py_ssize_t count)
{
    bool is_chosen;
    RtDevice *device = ext_device_of_stream(self->state, self->stream_object, &is_chosen);
    if (UNLIKELY(!device))
        return NULL;
    PyObject *callbacks = atomic_load_explicit(&self->callbacks, memory_order_acquire);
    if (UNLIKELY(callbacks && !run_callbacks(self, callbacks)))
        return NULL;
    if (UNLIKELY(is_for_others(self)))
        return launch_own_kernel(self, args, count);
    ExtLaunchFrame frame;
    ext_frame_init(&frame, self->kernel, device);
    Py_ssize_t failed_at = 0;
    ExtMatch match = pack_again(&frame, last, is_chosen, args, count, &failed_at);
    bool is_usual = LIKELY(match == EXT_MATCH) && LIKELY(!frame.array_count) && LIKELY(!frame.narrowed) &&
                    LIKELY(!rt_graph_recorded());
    bool ok = LIKELY(is_usual) ? launch_in_stream(self, &frame)
                               : launch_others(self, &frame, match, failed_at, is_chosen, args, count);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* Of arguments with names, or fewer or more than those of the last launch. */
static OFF_LAUNCH_PATH PyObject *launch_bound(ExtLauncher *self, ExtLast last, PyObject *const *args, Py_ssize_t count,
                                              PyObject *keywords)
{
    PyObject *bound = ext_bind_arguments(self->kernel, args, count, keywords);
    if (!bound)
        return NULL;
    PyObject *result = launch(self, last, PySequence_Fast_ITEMS(bound), PyTuple_GET_SIZE(bound));
    Py_DECREF(bound);
    return result;
}

static LAUNCH_PATH PyObject *launcher_vectorcall(PyObject *callable, PyObject *const *args, size_t flags,
                                                 PyObject *keywords)
{
    ExtLauncher *self = (ExtLauncher *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    ExtLast last = ext_kernel_last(self->kernel);
    return LIKELY(!keywords && fits(last, count)) ? launch(self, last, args, count)
                                                  : launch_bound(self, last, args, count, keywords);
}

/* --- the object ------------------------------------------------------------------------------------------------------------ */
static bool is_same(const ExtLauncher *launcher, const ExtConfiguration *configuration, const RtDevice *device)
{
    const RtLaunch *launch = &launcher->launch;
    bool is_given = launcher->stream_object == Py_None || launcher->stream_object == configuration->stream;
    if (!is_given && ((ExtStream *)launcher->stream_object)->device != device)
        return false;
    return launcher->stream == configuration->stream && launch->dynamic_shared == configuration->dynamic_shared &&
           memcmp(launch->grid, configuration->grid, sizeof launch->grid) == 0 &&
           memcmp(launch->block, configuration->block, sizeof launch->block) == 0 &&
           memcmp(launch->cluster, configuration->cluster, sizeof launch->cluster) == 0;
}

static bool warn_about_size(const ExtState *state, const ExtConfiguration *configuration)
{
    uint64_t blocks = (uint64_t)configuration->grid[0] * configuration->grid[1] * configuration->grid[2];
    if (blocks >= 128 || !state->warns_about_grids)
        return true;
    char text[160];
    snprintf(text, sizeof text, "a grid of %llu blocks leaves most of a GPU idle", (unsigned long long)blocks);
    return ext_warn("PerformanceWarning", text);
}

/* The launcher that was made last, where it has this configuration. New reference. */
static ExtLauncher *last_launcher(ExtKernel *kernel, const ExtConfiguration *configuration, const RtDevice *device)
{
    ExtLauncher *last;
    Py_BEGIN_CRITICAL_SECTION(kernel);
    last = (ExtLauncher *)kernel->last_launcher;
    if (last)
        last = is_same(last, configuration, device) ? (ExtLauncher *)Py_NewRef((PyObject *)last) : NULL;
    Py_END_CRITICAL_SECTION();
    return last;
}

static void set_last_launcher(ExtKernel *kernel, ExtLauncher *launcher)
{
    PyObject *before;
    Py_BEGIN_CRITICAL_SECTION(kernel);
    before = kernel->last_launcher;
    kernel->last_launcher = Py_NewRef((PyObject *)launcher);
    Py_END_CRITICAL_SECTION();
    Py_XDECREF(before);
}

PyObject *ext_launcher_create(ExtKernel *kernel, PyObject *tuple, bool with_hints)
{
    ExtState *state = kernel->state;
    ExtConfiguration configuration;
    if (!ext_read_configuration(tuple, &configuration))
        return NULL;
    PyObject *zero = configuration.stream ? NULL : PyLong_FromLong(0);
    if (zero)
        configuration.stream = zero; /* small ints are one object each */
    ExtLauncher *self = NULL;
    RtDevice *device = ext_current_device(state);
    if (!device || (self = last_launcher(kernel, &configuration, device)))
        goto out;
    if (with_hints && !warn_about_size(state, &configuration))
        goto out;
    PyObject *stream_object = ext_given_stream(state, configuration.stream, device);
    self = stream_object ? PyObject_GC_New(ExtLauncher, state->launcher_type) : NULL;
    if (!self) {
        Py_XDECREF(stream_object);
        goto out;
    }
    self->vectorcall = launcher_vectorcall;
    self->state = state;
    self->kernel = (ExtKernel *)Py_NewRef((PyObject *)kernel);
    self->stream = Py_NewRef(configuration.stream);
    self->stream_object = stream_object;
    atomic_init(&self->callbacks, NULL);
    self->launch = (RtLaunch){.dynamic_shared = configuration.dynamic_shared, .stream = ext_rt_stream(stream_object)};
    memcpy(self->launch.grid, configuration.grid, sizeof configuration.grid);
    memcpy(self->launch.block, configuration.block, sizeof configuration.block);
    memcpy(self->launch.cluster, configuration.cluster, sizeof configuration.cluster);
    PyObject_GC_Track(self);
    set_last_launcher(kernel, self);
out:
    Py_XDECREF(zero);
    return (PyObject *)self;
}

static int launcher_traverse(ExtLauncher *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->kernel);
    Py_VISIT(self->stream);
    Py_VISIT(self->stream_object);
    Py_VISIT(self->callbacks);
    return 0;
}

/* The kernel and the stream stay: the launcher can be called until it is freed. */
static int launcher_clear(ExtLauncher *self)
{
    Py_XDECREF(atomic_exchange(&self->callbacks, NULL));
    return 0;
}

static void launcher_dealloc(ExtLauncher *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    launcher_clear(self);
    Py_XDECREF(self->kernel);
    Py_XDECREF(self->stream);
    Py_XDECREF(self->stream_object);
    PyObject_GC_Del(self);
    Py_DECREF(class);
}

static PyObject *dimensions(const uint32_t *values) { return Py_BuildValue("III", values[0], values[1], values[2]); }
static PyObject *get_grid(ExtLauncher *self, void *Py_UNUSED(closure)) { return dimensions(self->launch.grid); }
static PyObject *get_block(ExtLauncher *self, void *Py_UNUSED(closure)) { return dimensions(self->launch.block); }

static PyObject *get_cluster(ExtLauncher *self, void *Py_UNUSED(closure))
{
    return self->launch.cluster[0] ? dimensions(self->launch.cluster) : Py_NewRef(Py_None);
}

static PyObject *get_shared(ExtLauncher *self, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLong(self->launch.dynamic_shared);
}

static PyObject *get_callbacks(ExtLauncher *self, void *Py_UNUSED(closure))
{
    PyObject *made, *none = NULL;
    if (self->callbacks)
        return Py_NewRef(self->callbacks);
    if (!(made = PyList_New(0)) || atomic_compare_exchange_strong(&self->callbacks, &none, made))
        return Py_XNewRef(made);
    Py_DECREF(made); /* another thread's is the one */
    return Py_NewRef(none);
}

static PyObject *launcher_repr(ExtLauncher *self)
{
    const uint32_t *grid = self->launch.grid, *block = self->launch.block;
    const char *name = ext_kernel_name(self->kernel);
    PyObject *text = PyUnicode_FromFormat("<launch of %s: grid (%u, %u, %u), block (%u, %u, %u)", name, grid[0],
                                          grid[1], grid[2], block[0], block[1], block[2]);
    if (text && self->launch.dynamic_shared)
        PyUnicode_AppendAndDel(&text, PyUnicode_FromFormat(", %u bytes of shared memory", self->launch.dynamic_shared));
    if (text && self->stream_object != Py_None)
        PyUnicode_AppendAndDel(&text, PyUnicode_FromFormat(", %R", self->stream_object));
    if (text)
        PyUnicode_AppendAndDel(&text, PyUnicode_FromString(">"));
    return text;
}

static PyGetSetDef launcher_getset[] = {
    {"griddim", (getter)get_grid, NULL, "Blocks along x, y and z.", NULL},
    {"blockdim", (getter)get_block, NULL, "Threads of a block along x, y and z.", NULL},
    {"cluster", (getter)get_cluster, NULL, "Blocks of a cluster along x, y and z, or None.", NULL},
    {"sharedmem", (getter)get_shared, NULL, "Bytes of dynamic shared memory.", NULL},
    {"pre_launch_callbacks", (getter)get_callbacks, NULL, "Called with (kernel, launcher) before every launch.", NULL},
    {0},
};

static PyMemberDef launcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ExtLauncher, vectorcall), READONLY, NULL},
    {"kernel", T_OBJECT, offsetof(ExtLauncher, kernel), READONLY, NULL},
    {"stream", T_OBJECT, offsetof(ExtLauncher, stream), READONLY, "The stream, as given."},
    {0},
};

static PyType_Slot launcher_slots[] = {
    {Py_tp_doc, "A kernel with its launch configuration; calling it launches."},
    {Py_tp_dealloc, launcher_dealloc},
    {Py_tp_repr, launcher_repr},
    {Py_tp_traverse, launcher_traverse},
    {Py_tp_clear, launcher_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getset, launcher_getset},
    {Py_tp_members, launcher_members},
    {0},
};

static PyType_Spec launcher_spec = {
    .name = "cujit._core.Launcher",
    .basicsize = sizeof(ExtLauncher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = launcher_slots,
};

static PyMethodDef functions[] = {
    {"current_launch", function_current_launch, METH_NOARGS,
     "(launcher, arguments) while code is compiled for a launch of this thread, else None."},
    {0},
};

bool ext_add_launchers(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->launcher_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &launcher_spec, NULL);
    return state->launcher_type && PyModule_AddType(module, state->launcher_type) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}
