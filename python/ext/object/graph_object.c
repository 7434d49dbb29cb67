/* Graph: work that is recorded once and launched as a whole. It keeps what its nodes use: arrays, kernels, host memory. */
#include "ext/object/graph_object.h"

#include "ext/interrupt.h"
#include "ext/module_parts.h"
#include "ext/object/device_array_object.h"
#include "ext/object/device_object.h"
#include "ext/object/stream_object.h"
#include "ext/raise.h"

/* launches and kept are set once. */
typedef struct ExtGraph {
    PyObject_HEAD ExtState *state;
    RtDevice *device;
    RtGraph *graph;
    _Atomic bool is_closed;
    int64_t replaced; /* the node that a launch takes the place of; -1: none */
    PyObject *launches; /* dict: node -> (launcher, arguments, what else they use) */
    PyObject *kept; /* list of what else there is */
} ExtGraph;

/* --- what is kept ------------------------------------------------------------------------------------------------------ */
bool ext_graph_keep(PyObject *object)
{
    RtGraph *graph = rt_graph_recorded();
    return !graph || PyList_Append(((ExtGraph *)rt_graph_owner(graph))->kept, object) == 0;
}

static PyObject *tuple_of(PyObject *const *args, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++)
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    return tuple;
}

bool ext_graph_keep_launch(PyObject *launcher, PyObject *const *args, Py_ssize_t count, PyObject *used)
{
    RtGraph *graph = rt_graph_recorded();
    if (!graph)
        return true;
    ExtGraph *self = rt_graph_owner(graph);
    PyObject *node = PyLong_FromLongLong(self->replaced >= 0 ? self->replaced : (long long)rt_graph_size(graph) - 1);
    PyObject *given = tuple_of(args, count);
    PyObject *launch = given ? PyTuple_Pack(3, launcher, given, used) : NULL;
    bool ok = node && launch && PyDict_SetItem(self->launches, node, launch) == 0;
    Py_XDECREF(launch);
    Py_XDECREF(given);
    Py_XDECREF(node);
    return ok;
}

/* --- the object -------------------------------------------------------------------------------------------------------- */
static PyObject *graph_new(PyTypeObject *class, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    Diag diag = {.id = DIAG_NONE};
    ExtState *state = ext_state_of_type(class);
    RtDevice *device = state ? ext_current_device(state) : NULL;
    ExtGraph *self = device ? (ExtGraph *)class->tp_alloc(class, 0) : NULL;
    if (!self)
        return NULL;
    self->state = state;
    self->device = device;
    self->replaced = -1;
    self->launches = PyDict_New();
    self->kept = PyList_New(0);
    self->graph = self->launches && self->kept ? rt_graph_create(device, self, &diag) : NULL;
    if (self->graph)
        return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_Occurred() ? NULL : ext_raise(&diag);
}

static int graph_traverse(ExtGraph *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->launches);
    Py_VISIT(self->kept);
    return 0;
}

/* The work that uses what is kept goes first. */
static bool close_graph(ExtGraph *self, bool (*interrupted)(void), Diag *diag)
{
    bool ok;
    if (!self->graph || self->is_closed)
        return true;
    rt_graph_leave(self->graph);
    Py_BEGIN_ALLOW_THREADS ok = rt_graph_close(self->graph, interrupted, diag);
    Py_END_ALLOW_THREADS self->is_closed = ok;
    return ok;
}

static int graph_clear(ExtGraph *self)
{
    Diag diag = {.id = DIAG_NONE};
    if (!close_graph(self, NULL, &diag))
        return 0; /* in a handler that interrupts its launch: so it is in use */
    if (self->launches)
        PyDict_Clear(self->launches);
    if (self->kept)
        PyList_SetSlice(self->kept, 0, PyList_GET_SIZE(self->kept), NULL);
    return 0;
}

static void graph_dealloc(ExtGraph *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self->graph) {
        rt_graph_leave(self->graph);
        Py_BEGIN_ALLOW_THREADS rt_graph_destroy(self->graph);
        Py_END_ALLOW_THREADS
    }
    Py_CLEAR(self->launches);
    Py_CLEAR(self->kept);
    class->tp_free(self);
    Py_DECREF(class);
}

static bool is_open(const ExtGraph *self)
{
    if (self->is_closed)
        PyErr_SetString(PyExc_ValueError, "the graph has been closed");
    return !self->is_closed;
}

/* --- recording ---------------------------------------------------------------------------------------------------------- */
static PyObject *graph_begin(ExtGraph *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    if (!is_open(self))
        return NULL;
    return rt_graph_begin(self->graph, &diag) ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *graph_end(ExtGraph *self, PyObject *Py_UNUSED(ignored))
{
    bool ok;
    Diag diag = {.id = DIAG_NONE};
    if (!is_open(self)) {
        rt_graph_leave(self->graph); /* another thread has closed it */
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS ok = rt_graph_end(self->graph, &diag);
    Py_END_ALLOW_THREADS return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *graph_leave(ExtGraph *self, PyObject *Py_UNUSED(ignored))
{
    rt_graph_leave(self->graph);
    Py_RETURN_NONE;
}

static PyObject *graph_begin_body(ExtGraph *self, PyObject *args)
{
    int repeats;
    PyObject *object;
    Diag diag = {.id = DIAG_NONE};
    if (!is_open(self) || !PyArg_ParseTuple(args, "pO!:begin_body", &repeats, self->state->device_array_type, &object))
        return NULL;
    const ExtDeviceArray *flag = (const ExtDeviceArray *)object;
    size_t size = (size_t)PyDataType_ELSIZE(flag->dtype);
    int number = flag->dtype->type_num;
    if (flag->size != 1 || !(PyTypeNum_ISINTEGER(number) || PyTypeNum_ISBOOL(number))) {
        PyErr_SetString(PyExc_TypeError, "a condition is a device array of one element, a bool or an integer");
        return NULL;
    }
    PyObject *stream = ext_stream_object(self->state, Py_None, self->device);
    bool ok = stream && ext_graph_keep(object) &&
              rt_graph_begin_body(self->graph, repeats, flag->pointer, size, ext_rt_stream(stream), &diag);
    Py_XDECREF(stream);
    if (ok)
        Py_RETURN_NONE;
    return PyErr_Occurred() ? NULL : ext_raise(&diag);
}

static PyObject *graph_end_body(ExtGraph *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    if (!is_open(self))
        return NULL;
    return rt_graph_end_body(self->graph, &diag) ? Py_NewRef(Py_None) : ext_raise(&diag);
}

/* --- launching ---------------------------------------------------------------------------------------------------------- */
static bool launch_without_gil(ExtGraph *self, RtStream *stream, Diag *diag)
{
    bool ok, (*interrupted)(void) = ext_interrupt();
    Py_INCREF(self); /* whoever closes it meanwhile waits for its lock, in rt_graph_close() */
    Py_BEGIN_ALLOW_THREADS ok = rt_graph_launch(self->graph, stream, interrupted, NULL, diag);
    Py_END_ALLOW_THREADS Py_DECREF(self);
    return ok;
}

static PyObject *graph_launch(ExtGraph *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Diag diag;
    PyObject *given = Py_None;
    Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    if (count + named > 1 || (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "stream") != 0)) {
        PyErr_SetString(PyExc_TypeError, "launch() takes a stream, and nothing else");
        return NULL;
    }
    if (count + named && !(PyLong_CheckExact(args[0]) && PyLong_AsLong(args[0]) == 0))
        given = args[0];
    if (PyErr_Occurred())
        PyErr_Clear(); /* a large handle */
    if (!is_open(self))
        return NULL;
    PyObject *stream = ext_stream_object(self->state, given, self->device);
    if (!stream)
        return NULL;
    diag_clear(&diag);
    /* A GPU's launch is too short to let other threads run; a wait for one of them is not. */
    bool waits = rt_device_kind(self->device) != RT_GPU;
    bool ok = !waits && rt_graph_launch(self->graph, ext_rt_stream(stream), NULL, &waits, &diag);
    if (waits)
        ok = launch_without_gil(self, ext_rt_stream(stream), &diag);
    Py_DECREF(stream);
    return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

/* Other threads run while this one waits for their launches, updates or the end. */
static bool begin_replacing(ExtGraph *self, size_t node, Diag *diag)
{
    bool busy = false, ok = rt_graph_begin_replacing(self->graph, node, NULL, &busy, diag);
    if (!busy)
        return ok;
    bool (*interrupted)(void) = ext_interrupt();
    Py_BEGIN_ALLOW_THREADS ok = rt_graph_begin_replacing(self->graph, node, interrupted, NULL, diag);
    Py_END_ALLOW_THREADS return ok;
}

static PyObject *graph_replace(ExtGraph *self, PyObject *args)
{
    Py_ssize_t node;
    PyObject *launcher, *given;
    Diag diag = {.id = DIAG_NONE};
    if (!is_open(self) ||
        !PyArg_ParseTuple(args, "nO!O!:replace", &node, self->state->launcher_type, &launcher, &PyTuple_Type, &given))
        return NULL;
    if (!begin_replacing(self, (size_t)node, &diag))
        return ext_raise(&diag);
    self->replaced = node;
    PyObject *result = PyObject_Call(launcher, given, NULL);
    self->replaced = -1;
    rt_graph_end_replacing(self->graph);
    return result;
}

static PyObject *graph_close(ExtGraph *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    if (!close_graph(self, ext_interrupt(), &diag))
        return ext_raise(&diag);
    graph_clear(self);
    Py_RETURN_NONE;
}

static PyObject *get_size(ExtGraph *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(self->is_closed ? 0 : rt_graph_size(self->graph));
}

static PyGetSetDef graph_getset[] = {
    {"size", (getter)get_size, NULL, "How many nodes it has.", NULL},
    {0},
};

static PyMemberDef graph_members[] = {
    {"launches", T_OBJECT, offsetof(ExtGraph, launches), READONLY,
     "Node -> (launcher, arguments, what else they use)."},
    {0},
};

static PyMethodDef graph_methods[] = {
    {"__reduce__", ext_refuse_pickle, METH_NOARGS, NULL},
    {"begin", (PyCFunction)graph_begin, METH_NOARGS, "From now on the thread's work is recorded."},
    {"end", (PyCFunction)graph_end, METH_NOARGS, "No longer; the graph can be launched."},
    {"leave", (PyCFunction)graph_leave, METH_NOARGS, "No longer; the graph is of no use."},
    {"begin_body", (PyCFunction)graph_begin_body, METH_VARARGS,
     "begin_body(repeats, flag): what is recorded next is done if, or while, the flag is not 0."},
    {"end_body", (PyCFunction)graph_end_body, METH_NOARGS, NULL},
    {"launch", (PyCFunction)(void (*)(void))graph_launch, METH_FASTCALL | METH_KEYWORDS,
     "launch(stream=0): does all of it, in the stream's order."},
    {"replace", (PyCFunction)graph_replace, METH_VARARGS,
     "replace(node, launcher, arguments): the node becomes this launch."},
    {"close", (PyCFunction)graph_close, METH_NOARGS,
     "Frees the graph and what it keeps, once no thread launches it and its work is done. ValueError for whoever "
     "launches it after that."},
    {0},
};

static PyType_Slot graph_slots[] = {
    {Py_tp_doc, "Work that is recorded once and launched as a whole."},
    {Py_tp_new, graph_new},
    {Py_tp_dealloc, graph_dealloc},
    {Py_tp_traverse, graph_traverse},
    {Py_tp_clear, graph_clear},
    {Py_tp_methods, graph_methods},
    {Py_tp_members, graph_members},
    {Py_tp_getset, graph_getset},
    {0},
};

static PyType_Spec graph_spec = {
    .name = "cujit._core.Graph",
    .basicsize = sizeof(ExtGraph),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = graph_slots,
};

/* Its memory may be gone, and a result read, before the graph is launched. */
static PyObject *function_refuse_host_array(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    if (!rt_graph_recorded())
        Py_RETURN_NONE;
    diag_fail(&diag, NULL, DIAG_CAPTURE, "a host array as an argument", "cuda.to_device() makes a device array of it");
    return ext_raise(&diag);
}

static PyMethodDef functions[] = {
    {"refuse_host_array", function_refuse_host_array, METH_NOARGS, "CudaAPIError while this thread records a graph."},
    {0},
};

bool ext_add_graphs(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &graph_spec, NULL);
    bool ok =
        type && PyModule_AddType(module, (PyTypeObject *)type) == 0 && PyModule_AddFunctions(module, functions) == 0;
    Py_XDECREF(type);
    return ok;
}
