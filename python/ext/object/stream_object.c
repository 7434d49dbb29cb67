/* Stream and Event: orders of work on a device, and places in them. */
#include "ext/object/stream_object.h"

#include "ext/module_parts.h"
#include "ext/object/device_object.h"
#include "ext/raise.h"

typedef struct ExtEvent {
    PyObject_HEAD ExtState *state;
    RtDevice *device;
    RtEvent *event;
    atomic_bool is_closed;
} ExtEvent;

/* What is closed lives on until the last object that names it is gone: other threads may be in the middle of using it. */
bool ext_stream_is_open(PyObject *stream_object)
{
    bool is_open = stream_object == Py_None || !((ExtStream *)stream_object)->is_closed;
    if (!is_open)
        PyErr_SetString(PyExc_ValueError, "the stream has been closed");
    return is_open;
}

static bool event_is_open(const ExtEvent *event)
{
    if (event->is_closed)
        PyErr_SetString(PyExc_ValueError, "the event has been closed");
    return !event->is_closed;
}

/* A Stream object that owns `stream`; destroys it where that fails. */
static PyObject *make_stream(ExtState *state, PyTypeObject *class, RtDevice *device, RtStream *stream)
{
    ExtStream *self = (ExtStream *)class->tp_alloc(class, 0);
    if (!self) {
        rt_stream_destroy(stream);
        return NULL;
    }
    self->state = state;
    self->device = device;
    self->stream = stream;
    return (PyObject *)self;
}

/* A stream by its CUstream value: None for 0. */
static PyObject *external_stream(ExtState *state, RtDevice *device, PyObject *handle)
{
    Diag diag = {.id = DIAG_NONE};
    uint64_t number = PyLong_AsUnsignedLongLong(handle);
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%R is no stream's handle, which is an address", handle);
    if (PyErr_Occurred())
        return NULL;
    if (number == 0)
        Py_RETURN_NONE;
    RtStream *stream = rt_stream_external(device, number, &diag);
    return stream ? make_stream(state, state->stream_type, device, stream) : ext_raise(&diag);
}

/* What __cuda_stream__() says: (0, handle). It was a property in its first drafts. */
static PyObject *handle_of_protocol(PyObject *method)
{
    PyObject *pair = PyCallable_Check(method) ? PyObject_CallNoArgs(method) : Py_NewRef(method);
    PyObject *handle = pair ? PySequence_GetItem(pair, 1) : NULL;
    Py_XDECREF(pair);
    return handle;
}

/* The handle of another library's stream: by the protocol, or by the attribute that PyTorch and CuPy had before it. */
static PyObject *foreign_handle(ExtState *state, PyObject *object)
{
    PyObject *const names[] = {state->cuda_stream_name, state->torch_stream_name, state->ptr_name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PyObject *found = PyObject_GetAttr(object, names[i]);
        if (!found && !PyErr_ExceptionMatches(PyExc_AttributeError))
            return NULL;
        PyErr_Clear();
        PyObject *handle = found && i == 0 ? handle_of_protocol(found) : Py_XNewRef(found);
        Py_XDECREF(found);
        if (found)
            return handle;
    }
    PyErr_Format(PyExc_TypeError,
                 "%R is not a stream; streams are handles, and objects with __cuda_stream__, cuda_stream or ptr",
                 object);
    return NULL;
}

/* New reference: an int. */
static PyObject *handle_of(ExtState *state, PyObject *object)
{
    if (PyIndex_Check(object))
        return PyNumber_Index(object);
    PyObject *handle = foreign_handle(state, object);
    PyObject *number = handle ? PyNumber_Index(handle) : NULL;
    Py_XDECREF(handle);
    return number;
}

PyObject *ext_given_stream(ExtState *state, PyObject *stream, RtDevice *device)
{
    if (stream == Py_None)
        Py_RETURN_NONE;
    if (PyObject_TypeCheck(stream, state->stream_type))
        return ext_stream_is_open(stream) ? Py_NewRef(stream) : NULL;
    PyObject *handle = handle_of(state, stream);
    PyObject *result = handle ? external_stream(state, device, handle) : NULL;
    Py_XDECREF(handle);
    return result;
}

/* --- the current stream --------------------------------------------------------------------------------------------------- */
/* The list of entered streams in the thread's dict, where the interpreter gives it back when the thread ends. Borrowed from
 * that dict, which is this thread's alone; NULL where there is none. */
static PyObject *entered_streams(ExtState *state)
{
    PyObject *dict = PyThreadState_GetDict(), *entered = NULL;
    if (dict)
        PyDict_GetItemRef(dict, (PyObject *)state->stream_type, &entered);
    Py_XDECREF(entered);
    return entered;
}

PyObject *ext_entered_stream(ExtState *state, const RtDevice *device)
{
    PyObject *entered = entered_streams(state);
    Py_ssize_t count = entered ? PyList_GET_SIZE(entered) : 0;
    PyObject *last = count ? PyList_GET_ITEM(entered, count - 1) : NULL;
    if (!last)
        PyErr_Clear();
    return last && ((ExtStream *)last)->device == device ? last : NULL;
}

PyObject *ext_stream_object(ExtState *state, PyObject *stream, RtDevice *device)
{
    PyObject *given = ext_given_stream(state, stream, device);
    PyObject *current = given == Py_None ? ext_current_stream(state, device) : NULL;
    if (!current)
        return given;
    Py_DECREF(given);
    return ext_stream_is_open(current) ? Py_NewRef(current) : NULL;
}

static PyObject *stream_enter(ExtStream *self, PyObject *Py_UNUSED(ignored))
{
    if (!ext_stream_is_open((PyObject *)self))
        return NULL;
    PyObject *dict = PyThreadState_GetDict();
    PyObject *key = (PyObject *)self->state->stream_type, *entered = entered_streams(self->state);
    if (!entered && dict && !PyErr_Occurred()) {
        PyObject *made = PyList_New(0);
        if (made && PyDict_SetItem(dict, key, made) == 0)
            entered = made; /* the dict keeps it */
        Py_XDECREF(made);
    }
    if (!entered || PyList_Append(entered, (PyObject *)self) < 0)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    self->state->entered_streams++;
    return Py_NewRef((PyObject *)self);
}

static PyObject *stream_exit(ExtStream *self, PyObject *Py_UNUSED(args))
{
    PyObject *entered = entered_streams(self->state);
    for (Py_ssize_t i = entered ? PyList_GET_SIZE(entered) : 0; i-- > 0;)
        if (PyList_GET_ITEM(entered, i) == (PyObject *)self) {
            if (PyList_SetSlice(entered, i, i + 1, NULL) < 0)
                return NULL;
            self->state->entered_streams--;
            Py_RETURN_NONE;
        }
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "the stream is left in a thread that has not entered it");
    return NULL;
}

static PyObject *function_current_stream(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    ExtState *state = ext_state(module);
    RtDevice *device = state->entered_streams ? ext_current_device(state) : NULL;
    PyObject *stream = device ? ext_current_stream(state, device) : NULL;
    if (PyErr_Occurred())
        return NULL;
    return Py_NewRef(stream ? stream : Py_None);
}

/* --- what is done with any stream -------------------------------------------------------------------------------------- */
static PyObject *function_stream_handle(PyObject *module, PyObject *stream)
{
    ExtState *state = ext_state(module);
    if (stream == Py_None)
        return PyLong_FromLong(0);
    if (!PyObject_TypeCheck(stream, state->stream_type))
        return handle_of(state, stream);
    return PyLong_FromUnsignedLongLong(rt_stream_handle(((ExtStream *)stream)->stream));
}

static PyObject *function_synchronize_stream(PyObject *module, PyObject *stream)
{
    ExtState *state = ext_state(module);
    RtDevice *device = ext_current_device(state);
    PyObject *object = device ? ext_stream_object(state, stream, device) : NULL;
    if (!object)
        return NULL;
    Diag diag = {.id = DIAG_NONE};
    bool ok;
    if (object != Py_None)
        device = ((ExtStream *)object)->device;
    Py_BEGIN_ALLOW_THREADS ok = rt_stream_synchronize(device, ext_rt_stream(object), &diag);
    Py_END_ALLOW_THREADS Py_DECREF(object);
    return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyMethodDef functions[] = {
    {"current_stream", function_current_stream, METH_NOARGS,
     "The innermost `with stream:` of this thread for the current device, or None."},
    {"stream_handle", function_stream_handle, METH_O, "The CUstream of any library's stream as a number."},
    {"synchronize_stream", function_synchronize_stream, METH_O, "Waits for all work on any library's stream."},
    {0},
};

static PyObject *stream_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"external", NULL};
    ExtState *state = ext_state_of_type(class);
    PyObject *external = Py_None;
    if (!state || !PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Stream", names, &external))
        return NULL;
    RtDevice *device = ext_current_device(state);
    Diag diag = {.id = DIAG_NONE};
    if (!device)
        return NULL;
    uint64_t number = external == Py_None ? 0 : PyLong_AsUnsignedLongLong(external);
    if (PyErr_Occurred())
        return NULL;
    if (external != Py_None && number == 0)
        return make_stream(state, class, device, NULL);
    RtStream *stream;
    Py_BEGIN_ALLOW_THREADS stream =
        external == Py_None ? rt_stream_create(device, &diag) : rt_stream_external(device, number, &diag);
    Py_END_ALLOW_THREADS return stream ? make_stream(state, class, device, stream) : ext_raise(&diag);
}

static void stream_dealloc(ExtStream *self)
{
    PyTypeObject *class = Py_TYPE(self);
    if (self->stream) {
        Py_BEGIN_ALLOW_THREADS rt_stream_destroy(self->stream);
        Py_END_ALLOW_THREADS
    }
    class->tp_free(self);
    Py_DECREF(class);
}

static PyObject *stream_default(PyTypeObject *class, PyObject *Py_UNUSED(ignored))
{
    ExtState *state = ext_state_of_type(class);
    RtDevice *device = state ? ext_current_device(state) : NULL;
    return device ? make_stream(state, class, device, NULL) : NULL;
}

static PyObject *stream_synchronize(ExtStream *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    bool ok;
    if (!ext_stream_is_open((PyObject *)self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS ok = rt_stream_synchronize(self->device, self->stream, &diag);
    Py_END_ALLOW_THREADS return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *stream_close(ExtStream *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *done = self->is_closed ? Py_NewRef(Py_None) : stream_synchronize(self, NULL);
    self->is_closed = true;
    return done;
}

static PyObject *stream_query(ExtStream *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    bool done = false;
    if (!ext_stream_is_open((PyObject *)self))
        return NULL;
    return rt_stream_query(self->device, self->stream, &done, &diag) ? PyBool_FromLong(done) : ext_raise(&diag);
}

static PyObject *stream_wait(ExtStream *self, PyObject *event)
{
    Diag diag = {.id = DIAG_NONE};
    if (!PyObject_TypeCheck(event, self->state->event_type)) {
        PyErr_Format(PyExc_TypeError, "expected an Event, got %R", event);
        return NULL;
    }
    if (!ext_stream_is_open((PyObject *)self) || !event_is_open((ExtEvent *)event))
        return NULL;
    bool ok = rt_stream_wait_event(self->device, self->stream, ((ExtEvent *)event)->event, &diag);
    return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *stream_handle(ExtStream *self, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(rt_stream_handle(self->stream));
}

static PyObject *stream_protocol(ExtStream *self, PyObject *Py_UNUSED(ignored))
{
    return Py_BuildValue("iK", 0, (unsigned long long)rt_stream_handle(self->stream));
}

static PyObject *stream_device(ExtStream *self, void *Py_UNUSED(closure))
{
    return ext_device_object(self->state, self->device);
}

/* --- events ----------------------------------------------------------------------------------------------------------------- */
static PyObject *event_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"timing", NULL};
    ExtState *state = ext_state_of_type(class);
    int timing = 1;
    if (!state || !PyArg_ParseTupleAndKeywords(args, kwargs, "|p:Event", names, &timing))
        return NULL;
    RtDevice *device = ext_current_device(state);
    Diag diag = {.id = DIAG_NONE};
    ExtEvent *self = device ? (ExtEvent *)class->tp_alloc(class, 0) : NULL;
    if (!self)
        return NULL;
    self->state = state;
    self->device = device;
    Py_BEGIN_ALLOW_THREADS self->event = rt_event_create(device, timing, &diag);
    Py_END_ALLOW_THREADS if (!self->event)
    {
        Py_DECREF(self);
        return ext_raise(&diag);
    }
    return (PyObject *)self;
}

static void event_dealloc(ExtEvent *self)
{
    PyTypeObject *class = Py_TYPE(self);
    if (self->event) {
        Py_BEGIN_ALLOW_THREADS rt_event_destroy(self->event);
        Py_END_ALLOW_THREADS
    }
    class->tp_free(self);
    Py_DECREF(class);
}

static PyObject *event_repr(ExtEvent *self)
{
    char text[300];
    return PyUnicode_FromFormat("<%sevent of %s>", self->is_closed ? "closed " : "",
                                ext_device_text(self->device, text, sizeof text));
}

/* The stream of an optional argument called "stream". New reference: Stream or None. */
static PyObject *stream_argument(ExtEvent *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"stream", NULL};
    PyObject *stream = Py_None;
    if (!event_is_open(self) || !PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &stream))
        return NULL;
    return ext_stream_object(self->state, stream, self->device);
}

static PyObject *event_record(ExtEvent *self, PyObject *args, PyObject *kwargs)
{
    Diag diag = {.id = DIAG_NONE};
    PyObject *stream = stream_argument(self, args, kwargs);
    if (!stream)
        return NULL;
    bool ok = rt_event_record(self->event, ext_rt_stream(stream), &diag);
    Py_DECREF(stream);
    return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *event_wait(ExtEvent *self, PyObject *args, PyObject *kwargs)
{
    Diag diag = {.id = DIAG_NONE};
    PyObject *stream = stream_argument(self, args, kwargs);
    if (!stream)
        return NULL;
    bool ok = rt_stream_wait_event(self->device, ext_rt_stream(stream), self->event, &diag);
    Py_DECREF(stream);
    return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *event_close(ExtEvent *self, PyObject *Py_UNUSED(ignored))
{
    self->is_closed = true;
    Py_RETURN_NONE;
}

static PyObject *event_synchronize(ExtEvent *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    bool ok;
    if (!event_is_open(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS ok = rt_event_synchronize(self->event, &diag);
    Py_END_ALLOW_THREADS return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *event_query(ExtEvent *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    bool done = false;
    if (!event_is_open(self))
        return NULL;
    return rt_event_query(self->event, &done, &diag) ? PyBool_FromLong(done) : ext_raise(&diag);
}

static PyObject *event_elapsed_time(ExtEvent *self, PyObject *end)
{
    Diag diag = {.id = DIAG_NONE};
    float milliseconds;
    if (!PyObject_TypeCheck(end, self->state->event_type)) {
        PyErr_Format(PyExc_TypeError, "expected an Event, got %R", end);
        return NULL;
    }
    if (!event_is_open(self) || !event_is_open((ExtEvent *)end))
        return NULL;
    bool ok = rt_event_elapsed(self->event, ((ExtEvent *)end)->event, &milliseconds, &diag);
    return ok ? PyFloat_FromDouble(milliseconds) : ext_raise(&diag);
}

/* --- types -------------------------------------------------------------------------------------------------------------------- */
static PyGetSetDef stream_getset[] = {
    {"handle", (getter)stream_handle, NULL, "The CUstream as a number; 0 for the default stream.", NULL},
    {"device", (getter)stream_device, NULL, "The device it belongs to.", NULL},
    {0},
};

static PyMethodDef stream_methods[] = {
    {"default", (PyCFunction)stream_default, METH_NOARGS | METH_CLASS, "The default stream."},
    {"synchronize", (PyCFunction)stream_synchronize, METH_NOARGS, "Waits for all work on the stream."},
    {"close", (PyCFunction)stream_close, METH_NOARGS,
     "Waits for all work on the stream; whoever uses it from then on gets a ValueError."},
    {"query", (PyCFunction)stream_query, METH_NOARGS, "Whether all work on the stream is done."},
    {"wait", (PyCFunction)stream_wait, METH_O, "Makes later work on the stream wait for an event."},
    {"__cuda_stream__", (PyCFunction)stream_protocol, METH_NOARGS, NULL},
    {"__reduce__", ext_refuse_pickle, METH_NOARGS, NULL},
    {"__enter__", (PyCFunction)stream_enter, METH_NOARGS, "Makes it the stream of what names none, in this thread."},
    {"__exit__", (PyCFunction)stream_exit, METH_VARARGS, NULL},
    {0},
};

static PyType_Slot stream_slots[] = {
    {Py_tp_doc, "An order of work on a device."},
    {Py_tp_new, stream_new},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_getset, stream_getset},
    {Py_tp_methods, stream_methods},
    {0},
};

static PyType_Spec stream_spec = {
    .name = "cujit._core.Stream",
    .basicsize = sizeof(ExtStream),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = stream_slots,
};

static PyMethodDef event_methods[] = {
    {"record", (PyCFunction)(void (*)(void))event_record, METH_VARARGS | METH_KEYWORDS,
     "Marks this place in a stream."},
    {"wait", (PyCFunction)(void (*)(void))event_wait, METH_VARARGS | METH_KEYWORDS, "Makes a stream wait for it."},
    {"synchronize", (PyCFunction)event_synchronize, METH_NOARGS, "Waits for it."},
    {"close", (PyCFunction)event_close, METH_NOARGS, "Whoever uses the event from then on gets a ValueError."},
    {"query", (PyCFunction)event_query, METH_NOARGS, "Whether it has passed."},
    {"__reduce__", ext_refuse_pickle, METH_NOARGS, NULL},
    {"elapsed_time", (PyCFunction)event_elapsed_time, METH_O, "Milliseconds from here to another event."},
    {0},
};

static PyType_Slot event_slots[] = {
    {Py_tp_doc, "A place in a stream."}, {Py_tp_new, event_new},
    {Py_tp_dealloc, event_dealloc},      {Py_tp_repr, event_repr},
    {Py_tp_methods, event_methods},      {0},
};

static PyType_Spec event_spec = {
    .name = "cujit._core.Event",
    .basicsize = sizeof(ExtEvent),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = event_slots,
};

bool ext_add_streams(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->stream_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &stream_spec, NULL);
    state->event_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &event_spec, NULL);
    return state->stream_type && state->event_type && PyModule_AddType(module, state->stream_type) == 0 &&
           PyModule_AddType(module, state->event_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}
