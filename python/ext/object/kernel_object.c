/* KernelBase: a kernel or device function. Its snapshot is taken at the first use, so that a function can use what its
 * module defines below it; from then on it is what it was. */
#include "ext/kernel_exception.h"
#include "ext/module_parts.h"
#include "ext/object/kernel_inspection.h"
#include "ext/object/launcher_object.h"
#include "ext/raise.h"

/* --- options ------------------------------------------------------------------------------------------------------------- */
static bool read_flag(PyObject *value, bool *out)
{
    int truth = PyObject_IsTrue(value);
    *out = truth == 1;
    return truth >= 0;
}

static bool read_number(const char *name, PyObject *value, int *out)
{
    if (value != Py_None && !PyIndex_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is an integer, not %.100s", name, Py_TYPE(value)->tp_name);
        return false;
    }
    long number = value == Py_None ? 0 : PyLong_AsLong(value);
    if (PyErr_Occurred())
        return false;
    if (number < 0 || number > INT_MAX)
        PyErr_Format(PyExc_ValueError, "%s is out of range: %ld", name, number);
    *out = (int)number;
    return !PyErr_Occurred();
}

/* A percentage; None and -1: the driver chooses. */
static bool read_carveout(PyObject *value, int *out)
{
    long percent = value == Py_None ? -1 : PyLong_AsLong(value);
    if (PyErr_Occurred())
        return false;
    if (percent < -1 || percent > 100)
        PyErr_Format(PyExc_ValueError, "shared_memory_carveout %ld: expected -1 to 100", percent);
    *out = (int)percent + 1;
    return !PyErr_Occurred();
}

/* True: 3, False: 0, or a number. */
static bool read_optimization(PyObject *value, int *out)
{
    *out = value == Py_False ? 0 : 3;
    if (value == Py_None || PyBool_Check(value))
        return true;
    if (!read_number("opt", value, out))
        return false;
    if (*out > 3)
        PyErr_Format(PyExc_ValueError, "opt is True, False or a level from 0 to 3, not %d", *out);
    return *out <= 3;
}

static bool read_launch_bounds(PyObject *value, CompileOptions *options)
{
    int *const places[] = {&options->max_threads, &options->min_blocks, &options->max_cluster};
    if (value == Py_None || PyUnicode_Check(value) || !PySequence_Check(value))
        return read_number("launch_bounds", value, places[0]);
    Py_ssize_t count = PySequence_Size(value);
    if (count < 1 || count > 3) {
        PyErr_SetString(PyExc_ValueError, "launch_bounds is threads, or threads, blocks and cluster size");
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        bool ok = item && read_number("launch_bounds", item, places[i]);
        Py_XDECREF(item);
        if (!ok)
            return false;
    }
    return true;
}

/* "numba": Python's floats are float64; "weak": they take the precision of what they meet. */
static bool read_literals(PyObject *value, bool *weak)
{
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
    *weak = text && strcmp(text, "weak") == 0;
    if (*weak || (text && strcmp(text, "numba") == 0))
        return true;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "literals is 'numba' or 'weak', not %R", value);
    return false;
}

static bool add_float_flag(PyObject *word, CompileOptions *options)
{
    const char *text = PyUnicode_Check(word) ? PyUnicode_AsUTF8(word) : NULL;
    if (text && strcmp(text, "fast") == 0) {
        options->float_flags |= FLOAT_ALL;
        return options->flush_denormals = true;
    }
    for (int i = 0; text && i < FLOAT_FLAG_COUNT; i++)
        if (strcmp(text, float_flag_words[i]) == 0) {
            options->float_flags |= 1u << i;
            return true;
        }
    char words[128] = "fast";
    for (int i = 0; i < FLOAT_FLAG_COUNT; i++)
        strcat(strcat(words, ", "), float_flag_words[i]);
    PyErr_Format(PyExc_ValueError, "fastmath is True, False, or a set of these words: %s; not %R", words, word);
    return false;
}

/* True is what CUDA's -use_fast_math does; else words of float_flag.def, alone or as any iterable. */
static bool read_fastmath(PyObject *value, CompileOptions *options)
{
    bool is_fast;
    if (value == Py_None || PyBool_Check(value) || PyLong_Check(value)) {
        if (!read_flag(value == Py_None ? Py_False : value, &is_fast))
            return false;
        options->float_flags = is_fast ? FLOAT_FAST : FLOAT_EXACT;
        options->flush_denormals = is_fast;
        return true;
    }
    if (PyUnicode_Check(value))
        return add_float_flag(value, options);
    PyObject *words = PyObject_GetIter(value), *word = NULL;
    bool ok = words != NULL;
    while (ok && (word = PyIter_Next(words))) {
        ok = add_float_flag(word, options);
        Py_DECREF(word);
    }
    Py_XDECREF(words);
    return ok && !PyErr_Occurred();
}

static bool read_option(ExtKernel *self, const char *name, PyObject *value)
{
    CompileOptions *options = &self->compile_options;
    bool fmad;
    if (strcmp(name, "fmad") == 0) {
        bool ok = read_flag(value == Py_None ? Py_True : value, &fmad);
        options->no_fmad = !fmad;
        return ok;
    }
    const struct {
        const char *name;
        bool *place;
    } flags[] = {
        {"debug", &options->debug},
        {"lineinfo", &options->lineinfo},
        {"forceinline", &self->forceinline},
        {"noinline", &self->noinline},
        {"warn_float64", &self->warn_float64},
        {"cache", &self->tells_of_cache},
        {"exceptions", &options->exceptions},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(name, flags[i].name) == 0)
            return read_flag(value, flags[i].place);
    if (strcmp(name, "literals") == 0)
        return read_literals(value, &options->weak_literals);
    if (strcmp(name, "fastmath") == 0)
        return read_fastmath(value, options);
    if (strcmp(name, "opt") == 0)
        return read_optimization(value, &options->optimization);
    if (strcmp(name, "max_registers") == 0)
        return read_number(name, value, &options->max_registers);
    if (strcmp(name, "shared_memory_carveout") == 0)
        return read_carveout(value, &options->carveout);
    if (strcmp(name, "launch_bounds") == 0)
        return read_launch_bounds(value, options);
    PyErr_Format(PyExc_TypeError, "unknown option '%s'", name);
    return false;
}

static bool read_options(ExtKernel *self, PyObject *kwargs)
{
    self->options = PyDict_New();
    self->compile_options = (CompileOptions){.optimization = 3};
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (self->options && kwargs && PyDict_Next(kwargs, &position, &name, &value)) {
        const char *text = PyUnicode_AsUTF8(name);
        if (!text)
            return false;
        if (strcmp(text, "device") == 0) {
            if (!read_flag(value, &self->is_device))
                return false;
        } else if (strcmp(text, "function") != 0 &&
                   (!read_option(self, text, value) || PyDict_SetItem(self->options, name, value) < 0)) {
            return false;
        }
    }
    return self->options != NULL;
}

/* --- the object ----------------------------------------------------------------------------------------------------------- */
static PyObject *kernel_new(PyTypeObject *class, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    ExtState *state = ext_state_of_type(class);
    ExtKernel *self = state ? (ExtKernel *)class->tp_alloc(class, 0) : NULL;
    if (self) {
        self->state = state;
        self->py_func = Py_NewRef(Py_None);
        self->options = Py_NewRef(Py_None);
    }
    return (PyObject *)self;
}

static int kernel_init(ExtKernel *self, PyObject *args, PyObject *kwargs)
{
    PyObject *function = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (!function && PyTuple_GET_SIZE(args) == 0 && kwargs)
        function = PyDict_GetItemString(kwargs, "function");
    if (!function || !PyFunction_Check(function)) {
        PyErr_Format(PyExc_TypeError, "a kernel is made of a Python function, not of %s",
                     function ? Py_TYPE(function)->tp_name : "this");
        return -1;
    }
    if (PyFunction_Check(self->py_func)) {
        PyErr_SetString(PyExc_RuntimeError, "a kernel cannot be initialized twice");
        return -1;
    }
    Py_CLEAR(self->options);
    if (!read_options(self, kwargs)) {
        Py_XSETREF(self->options, Py_NewRef(Py_None));
        return -1;
    }
    Py_SETREF(self->py_func, Py_NewRef(function));
    return 0;
}

static int kernel_traverse(ExtKernel *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->py_func);
    Py_VISIT(self->options);
    Py_VISIT(self->keep_alive);
    Py_VISIT(self->last_launcher);
    return 0;
}

/* The function and the snapshot's objects stay: the kernel can be launched until it is freed. */
static int kernel_clear(ExtKernel *self)
{
    Py_CLEAR(self->last_launcher);
    Py_CLEAR(self->options);
    return 0;
}

static void kernel_dealloc(ExtKernel *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    kernel_clear(self);
    ext_forget_kernel(self);
    /* Unloading waits for the driver, and the driver may wait for another thread that wants the GIL. */
    Py_BEGIN_ALLOW_THREADS jit_function_destroy(self->function);
    Py_END_ALLOW_THREADS arena_destroy(self->arena);
    Py_XDECREF(self->keep_alive);
    Py_XDECREF(self->py_func);
    class->tp_free(self);
    Py_DECREF(class);
}

static bool can_launch(ExtKernel *self)
{
    if (!ext_kernel_is_ready(self))
        return false;
    return !self->is_device || ext_raise_id(DIAG_LAUNCH_DEVICE_FUNCTION, ext_kernel_name(self));
}

static PyObject *kernel_subscript(ExtKernel *self, PyObject *configuration)
{
    return can_launch(self) ? ext_launcher_create(self, configuration, true) : NULL;
}

static PyObject *kernel_quiet_launcher(ExtKernel *self, PyObject *configuration)
{
    return can_launch(self) ? ext_launcher_create(self, configuration, false) : NULL;
}

static bool is_tuple_of_ints(PyObject *object)
{
    bool fits = PyTuple_Check(object) && PyTuple_GET_SIZE(object) > 0;
    for (Py_ssize_t i = 0; fits && i < PyTuple_GET_SIZE(object); i++)
        fits = PyLong_Check(PyTuple_GET_ITEM(object, i));
    return fits;
}

/* kernel((blocks,), (threads,), (arguments...), stream=, shared_mem=), as CuPy's kernels are launched. */
static bool is_cupy_launch(PyObject *args)
{
    return PyTuple_GET_SIZE(args) == 3 && is_tuple_of_ints(PyTuple_GET_ITEM(args, 0)) &&
           is_tuple_of_ints(PyTuple_GET_ITEM(args, 1)) && PyTuple_Check(PyTuple_GET_ITEM(args, 2));
}

static PyObject *cupy_launch(ExtKernel *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"grid", "block", "args", "shared_mem", "stream", NULL};
    PyObject *grid, *block, *arguments, *shared = NULL, *stream = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OO", names, &grid, &block, &arguments, &shared, &stream))
        return NULL;
    PyObject *zero = PyLong_FromLong(0), *launcher = NULL, *result = NULL;
    PyObject *configuration =
        zero ? PyTuple_Pack(4, grid, block, stream && stream != Py_None ? stream : zero, shared ? shared : zero) : NULL;
    if (configuration)
        launcher = PyObject_GetItem((PyObject *)self, configuration);
    if (launcher)
        result = PyObject_Call(launcher, arguments, NULL);
    Py_XDECREF(zero);
    Py_XDECREF(configuration);
    Py_XDECREF(launcher);
    return result;
}

static PyObject *kernel_call(ExtKernel *self, PyObject *args, PyObject *kwargs)
{
    if (!ext_kernel_is_ready(self))
        return NULL;
    if (self->is_device)
        return PyObject_Call(self->py_func, args, kwargs);
    if (is_cupy_launch(args))
        return cupy_launch(self, args, kwargs);
    return ext_raise_id(DIAG_LAUNCH_UNCONFIGURED, ext_kernel_name(self), ext_kernel_name(self));
}

static PyObject *kernel_freeze(ExtKernel *self, PyObject *Py_UNUSED(ignored))
{
    self->is_frozen = true;
    self->last = NULL;
    Py_RETURN_NONE;
}

static PyMemberDef kernel_members[] = {
    {"py_func", T_OBJECT, offsetof(ExtKernel, py_func), READONLY, "The Python function."},
    {"is_device", T_BOOL, offsetof(ExtKernel, is_device), READONLY, "Whether this is a device function."},
    {"is_frozen", T_BOOL, offsetof(ExtKernel, is_frozen), READONLY, "Whether only compiled types are accepted."},
    {"options", T_OBJECT, offsetof(ExtKernel, options), READONLY, "The options, as given."},
    {0},
};

static PyMethodDef kernel_methods[] = {
    {"compile", (PyCFunction)ext_kernel_compile, METH_O, "Compiles for these argument types and the current device."},
    {"freeze", (PyCFunction)kernel_freeze, METH_NOARGS, "Accepts only the types compiled so far from now on."},
    {"quiet_launcher", (PyCFunction)kernel_quiet_launcher, METH_O,
     "self[configuration] without a hint that the grid is small."},
    {"loaded_signatures", (PyCFunction)ext_kernel_loaded_signatures, METH_NOARGS,
     "Those of signatures() that the disk cache had."},
    {"signatures", (PyCFunction)ext_kernel_signatures, METH_NOARGS, "The lists of argument types compiled so far."},
    {"result_type", (PyCFunction)ext_kernel_result_type, METH_O, "The inferred result of a device function."},
    {"inspect", (PyCFunction)(void (*)(void))ext_kernel_inspect, METH_VARARGS | METH_KEYWORDS,
     "The text of one stage: bytecode, cfg, ir, types, llvm or asm."},
    {"attribute", (PyCFunction)ext_kernel_attribute, METH_VARARGS, "A CUfunction_attribute by its number."},
    {"resident_blocks", (PyCFunction)ext_kernel_resident_blocks, METH_VARARGS,
     "How many blocks of so many threads with so many bytes of shared memory fit the device at once."},
    {"occupancy", (PyCFunction)(void (*)(void))ext_kernel_occupancy, METH_VARARGS | METH_KEYWORDS,
     "(blocks, threads) that fill the device."},
    {0},
};

static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, "A kernel or device function."},
    {Py_tp_new, kernel_new},
    {Py_tp_init, kernel_init},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_traverse, kernel_traverse},
    {Py_tp_clear, kernel_clear},
    {Py_tp_call, kernel_call},
    {Py_mp_subscript, kernel_subscript},
    {Py_tp_members, kernel_members},
    {Py_tp_methods, kernel_methods},
    {0},
};

static PyType_Spec kernel_spec = {
    .name = "cujit._core.KernelBase",
    .basicsize = sizeof(ExtKernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = kernel_slots,
};

bool ext_add_kernels(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->kernel_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &kernel_spec, NULL);
    return state->kernel_type && PyModule_AddType(module, state->kernel_type) == 0;
}
