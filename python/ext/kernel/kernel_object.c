/* KernelBase: a kernel or device function. Its snapshot is taken at the first use, so that a function can use what its
 * module defines below it; from then on it is what it was. */
#include "ext/argument/specialization.h"
#include "ext/kernel_exception.h"
#include "ext/module_parts.h"
#include "ext/kernel/kernel_inspection.h"
#include "ext/kernel/kernel_options.h"
#include "ext/kernel/launcher_object.h"
#include "ext/raise.h"

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

/* Under the lock of the object. What it replaces is None, which whoever reads it meanwhile may keep. */
static int init_once(ExtKernel *self, PyObject *function, PyObject *keywords)
{
    if (PyFunction_Check(self->py_func)) {
        PyErr_SetString(PyExc_RuntimeError, "a kernel cannot be initialized twice");
        return -1;
    }
    PyObject *options = ext_read_options(self, keywords);
    if (!options)
        return -1;
    Py_SETREF(self->options, options);
    Py_SETREF(self->py_func, Py_NewRef(function));
    return 0;
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
    int result;
    Py_BEGIN_CRITICAL_SECTION(self);
    result = init_once(self, function, kwargs);
    Py_END_CRITICAL_SECTION();
    return result;
}

static int kernel_traverse(ExtKernel *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->py_func);
    Py_VISIT(self->options);
    Py_VISIT(self->keep_alive);
    Py_VISIT(self->links);
    Py_VISIT(self->raw);
    Py_VISIT(self->last_launcher);
    Py_VISIT(self->told_of_copies);
    Py_VISIT(self->bound);
    return 0;
}

/* The function and the snapshot's objects stay: the kernel can be launched until it is freed. */
static int kernel_clear(ExtKernel *self)
{
    Py_CLEAR(self->last_launcher);
    Py_CLEAR(self->told_of_copies);
    Py_XDECREF(atomic_exchange(&self->bound, NULL));
    Py_CLEAR(self->options);
    return 0;
}

/* Before anything that the callbacks of code from elsewhere use is cleared. */
static void kernel_finalize(ExtKernel *self) { ext_kernel_unload(self); }

static void kernel_dealloc(ExtKernel *self)
{
    if (PyObject_CallFinalizerFromDealloc((PyObject *)self) < 0)
        return;
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self->weak_references)
        PyObject_ClearWeakRefs((PyObject *)self);
    kernel_clear(self);
    ext_forget_number(self->state, self->number);
    /* Unloading waits for the driver, and the driver may wait for another thread that wants the GIL. */
    bool is_destroyed;
    Py_BEGIN_ALLOW_THREADS is_destroyed = jit_function_destroy(self->function);
    Py_END_ALLOW_THREADS if (is_destroyed)
    {
        arena_destroy(self->arena);
        Py_XDECREF(self->keep_alive);
        Py_XDECREF(self->links);
    }
    Py_XDECREF(self->raw);
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
    ext_kernel_set_last(self, (ExtLast){NULL, false});
    Py_RETURN_NONE;
}

/* Launches with another grid, block, cluster or shared memory than that launcher's are those of a kernel of their own. */
static PyObject *kernel_bind(ExtKernel *self, PyObject *launcher)
{
    PyObject *none = NULL;
    if (!PyObject_TypeCheck(launcher, self->state->launcher_type))
        return PyErr_Format(PyExc_TypeError, "expected a launcher, not %R", launcher);
    if (atomic_compare_exchange_strong(&self->bound, &none, launcher))
        Py_INCREF(launcher);
    Py_RETURN_NONE;
}

static PyObject *kernel_is_bound(ExtKernel *self, PyObject *Py_UNUSED(ignored))
{
    return PyBool_FromLong(atomic_load(&self->bound) != NULL);
}

static PyObject *kernel_watch(ExtKernel *self, PyObject *wanted)
{
    int is_wanted = PyObject_IsTrue(wanted);
    if (is_wanted < 0)
        return NULL;
    self->is_watched = is_wanted;
    Py_RETURN_NONE;
}

/* Of the snapshot: all that the function and what it may call is linked with, each once. */
static PyObject *kernel_links(ExtKernel *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *list = ext_kernel_is_ready(self) && ext_kernel_prepare(self) ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; list && self->keep_alive && i < PyList_GET_SIZE(self->keep_alive); i++) {
        PyObject *item = PyList_GET_ITEM(self->keep_alive, i);
        if (PyObject_TypeCheck(item, self->state->link_type) && PyList_Append(list, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyMemberDef kernel_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ExtKernel, weak_references), READONLY, NULL},
    {"py_func", T_OBJECT, offsetof(ExtKernel, py_func), READONLY, "The Python function."},
    {"is_device", T_BOOL, offsetof(ExtKernel, is_device), READONLY, "Whether this is a device function."},
    {"is_frozen", T_BOOL, offsetof(ExtKernel, is_frozen), READONLY, "Whether only compiled types are accepted."},
    {"options", T_OBJECT, offsetof(ExtKernel, options), READONLY, "The options, as given."},
    {0},
};

static PyMethodDef kernel_methods[] = {
    {"compile", (PyCFunction)ext_kernel_compile, METH_O, "Compiles for these argument types and the current device."},
    {"freeze", (PyCFunction)kernel_freeze, METH_NOARGS, "Accepts only the types compiled so far from now on."},
    {"bind", (PyCFunction)kernel_bind, METH_O, "The code is for this launcher's configuration only from now on."},
    {"watch", (PyCFunction)kernel_watch, METH_O, "Whether _compiled_for_launch() is called where a launch compiles."},
    {"is_bound", (PyCFunction)kernel_is_bound, METH_NOARGS, "Whether the code is for one configuration only."},
    {"quiet_launcher", (PyCFunction)kernel_quiet_launcher, METH_O,
     "self[configuration] without a hint that the grid is small."},
    {"loaded_types", (PyCFunction)ext_kernel_loaded_types, METH_NOARGS,
     "Those of compiled_types() that the disk cache had."},
    {"variant_counts", (PyCFunction)ext_kernel_variant_counts, METH_NOARGS,
     "Pairs of argument types and how many kernels were made besides for them."},
    {"quick_counts", (PyCFunction)ext_kernel_quick_counts, METH_NOARGS,
     "(argument types, how many kernels for them began with quick code, how many of these have optimized code) of "
     "each."},
    {"compiled_types", (PyCFunction)ext_kernel_compiled_types, METH_NOARGS,
     "The lists of argument types compiled so far."},
    {"links", (PyCFunction)kernel_links, METH_NOARGS, "What the function and all that it calls is linked with."},
    {"result_type", (PyCFunction)ext_kernel_result_type, METH_O, "The inferred result of a device function."},
    {"stored_type", (PyCFunction)ext_kernel_stored_type, METH_O,
     "Likewise, an error where no array holds such values."},
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
    {Py_tp_finalize, kernel_finalize},
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
