/* Finds the device for a launch by where its arguments are. Sets of devices are numbers with a bit for each. */
#include "ext/object/launch_device.h"

#include "ext/argument/specialization.h"
#include "ext/guard.h"
#include "ext/module_parts.h"
#include "ext/object/device_object.h"
#include "ext/object/stream_object.h"
#include "ext/raise.h"
#include "ext/array/array_view.h"

/* --- where they are ---------------------------------------------------------------------------------------------------- */
/* The driver is asked; what it does not answer is left to the launch. */
static uint64_t home_of_pointer(RtDevice *device, RtPointer pointer)
{
    uint64_t home = 0;
    Diag ignored = {.id = DIAG_NONE};
    return rt_pointer_home(device, pointer, &home, &ignored) ? home : 0;
}

static uint64_t home_of_array(ExtState *state, const ExtArrayView *view, PyObject *value, RtDevice *device)
{
    if (view->host || !view->pointer)
        return 0;
    bool is_ours = view->device && PyObject_TypeCheck(value, state->device_array_type) &&
                   PyObject_TypeCheck(((ExtDeviceArray *)value)->base, state->buffer_type);
    return is_ours ? rt_device_bit(view->device) : home_of_pointer(device, view->pointer);
}

static bool add_homes(ExtState *state, PyObject *value, RtDevice *device, uint64_t *homes);

static bool add_homes_of_fields(ExtState *state, PyObject *value, RtDevice *device, uint64_t *homes)
{
    bool ok = true;
    PyObject *fields = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__dataclass_fields__");
    PyObject *names = fields ? PySequence_List(fields) : NULL;
    for (Py_ssize_t i = 0; ok && names && i < PyList_GET_SIZE(names); i++) {
        PyObject *field = PyObject_GetAttr(value, PyList_GET_ITEM(names, i));
        ok = field && add_homes(state, field, device, homes);
        Py_XDECREF(field);
    }
    Py_XDECREF(names);
    Py_XDECREF(fields);
    return ok && (names || ext_forgive());
}

static bool add_homes_of_tuple(ExtState *state, PyObject *tuple, RtDevice *device, uint64_t *homes)
{
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < PyTuple_GET_SIZE(tuple); i++)
        ok = add_homes(state, PyTuple_GET_ITEM(tuple, i), device, homes);
    return ok;
}

/* A value that kernels cannot take has none: the launch says so later. False with what cannot be passed over. */
static bool add_homes(ExtState *state, PyObject *value, RtDevice *device, uint64_t *homes)
{
    ExtArrayView view;
    if (PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyArray_CheckExact(value))
        return true;
    if (Py_EnterRecursiveCall(" in an argument"))
        return false;
    bool ok = true;
    int is_array = PyTuple_Check(value) ? 0 : ext_array_view(state, value, &view);
    if (is_array > 0) {
        *homes |= home_of_array(state, &view, value, device);
        Py_XDECREF(view.owner);
    } else if (is_array < 0)
        ok = ext_forgive();
    else
        ok = PyTuple_Check(value) ? add_homes_of_tuple(state, value, device, homes)
                                  : add_homes_of_fields(state, value, device, homes);
    Py_LeaveRecursiveCall();
    return ok;
}

/* Of arrays that are constants of the kernel. */
static bool add_homes_of_captured(ExtState *state, const ExtCallee *callee, RtDevice *device, uint64_t *homes)
{
    bool ok = true;
    PyObject *captured = callee->kernel ? callee->kernel->keep_alive : NULL;
    for (Py_ssize_t i = 0; ok && captured && i < PyList_GET_SIZE(captured); i++)
        ok = add_homes(state, PyList_GET_ITEM(captured, i), device, homes);
    return ok;
}

RtDevice *ext_device_of_pointer(RtDevice *device, RtPointer pointer)
{
    Diag ignored = {.id = DIAG_NONE};
    uint64_t home = rt_device_is_alone(device) ? 0 : home_of_pointer(device, pointer);
    RtDevice *found = home ? rt_device_in(home, &ignored) : NULL;
    return found ? found : device;
}

/* --- what to say ------------------------------------------------------------------------------------------------------- */
enum { SHOWN_ARGUMENTS = 6 };

typedef struct DeviceName {
    char text[32];
} DeviceName;

/* "GPU 1", of the first device of the set. */
static DeviceName name_of(uint64_t set)
{
    DeviceName name = {"another device"};
    Diag ignored = {.id = DIAG_NONE};
    const RtDevice *device = rt_device_in(set, &ignored);
    if (device)
        snprintf(name.text, sizeof name.text, "%s %d", rt_device_kind(device) == RT_GPU ? "GPU" : "CPU device",
                 rt_device_ordinal(device));
    return name;
}

/* "'x' is on GPU 0, 'y' is on GPU 1". */
static bool describe(ExtState *state, const ExtCallee *callee, RtDevice *device, char *text, size_t size)
{
    int shown = 0;
    size_t used = 0;
    text[0] = 0;
    for (Py_ssize_t i = 0; i < callee->count && shown < SHOWN_ARGUMENTS && used < size; i++) {
        char name[80];
        uint64_t homes = 0;
        if (!add_homes(state, callee->args[i], device, &homes))
            return false;
        if (!homes)
            continue;
        if (callee->kernel)
            ext_parameter_name(callee->kernel, i, name, sizeof name);
        else
            snprintf(name, sizeof name, "%zd", i + 1);
        const char *format = callee->kernel ? "%s'%s' is on %s" : "%sargument %s is on %s";
        used += (size_t)snprintf(text + used, size - used, format, shown++ ? ", " : "", name, name_of(homes).text);
    }
    uint64_t captured = 0;
    if (!add_homes_of_captured(state, callee, device, &captured))
        return false;
    if (captured && used < size)
        snprintf(text + used, size - used, "%san array that it names is on %s", shown ? ", " : "",
                 name_of(captured).text);
    return true;
}

static RtDevice *fail(ExtState *state, const ExtCallee *callee, RtDevice *device, bool is_chosen, uint64_t homes)
{
    char where[400], how[80], advice[320];
    uint64_t others = homes & ~rt_device_bit(device);
    Diag ignored = {.id = DIAG_NONE};
    const RtDevice *there = rt_device_in(others, &ignored);
    DeviceName own_name = name_of(rt_device_bit(device));
    int own = rt_device_ordinal(device), other = there ? rt_device_ordinal(there) : 0;
    if (!describe(state, callee, device, where, sizeof where))
        return NULL;
    if (is_chosen)
        snprintf(how, sizeof how, " is to run on %s:", own_name.text);
    else
        snprintf(how, sizeof how, " has arguments on several devices:");
    snprintf(
        advice, sizeof advice,
        "copy to one device (copy_to_device takes arrays of others), launch where they are (with cuda.gpus[%d]:), or "
        "let %s use that memory: cuda.gpus[%d].enable_peer_access(cuda.gpus[%d])",
        other, own_name.text, own, other);
    ext_raise_id(DIAG_LAUNCH_DEVICES, callee->name, how, where, advice);
    return NULL;
}

/* --- which device ------------------------------------------------------------------------------------------------------ */
static bool reaches(const RtDevice *device, uint64_t homes) { return !(homes & ~rt_device_reach(device)); }

/* One of the set that reaches all of the set; NULL: none. */
static RtDevice *one_that_reaches(uint64_t homes)
{
    Diag ignored = {.id = DIAG_NONE};
    for (uint64_t rest = homes; rest; rest &= rest - 1) {
        RtDevice *each = rt_device_in(rest, &ignored);
        if (each && reaches(each, homes))
            return each;
    }
    return NULL;
}

RtDevice *ext_device_for(ExtState *state, const ExtCallee *callee, RtDevice *device, bool is_chosen)
{
    if (rt_device_is_alone(device))
        return device;
    if (callee->kernel && !ext_kernel_prepare(callee->kernel))
        return NULL;
    uint64_t homes = 0;
    bool ok = add_homes_of_captured(state, callee, device, &homes);
    for (Py_ssize_t i = 0; ok && i < callee->count; i++)
        ok = add_homes(state, callee->args[i], device, &homes);
    if (!ok)
        return NULL;
    bool is_home = homes & rt_device_bit(device);
    if (!homes || ((is_chosen || is_home) && reaches(device, homes)))
        return device;
    RtDevice *found = is_chosen ? NULL : one_that_reaches(homes);
    return found ? found : fail(state, callee, device, is_chosen, homes);
}

RtDevice *ext_device_of_given(ExtState *state, PyObject *stream_object, bool *is_chosen)
{
    const ExtStream *stream = (ExtStream *)stream_object;
    if (!rt_stream_is_own(stream->stream))
        return ext_device_of_stream(state, Py_None, is_chosen);
    *is_chosen = true;
    return stream->device;
}

/* --- for functions over arrays ----------------------------------------------------------------------------------------- */
static PyObject *function_device_for(PyObject *module, PyObject *args)
{
    PyObject *arguments, *stream;
    const char *name;
    ExtState *state = ext_state(module);
    RtDevice *current = ext_current_device(state);
    if (!current || !PyArg_ParseTuple(args, "sO!O:device_for", &name, &PyTuple_Type, &arguments, &stream))
        return NULL;
    bool is_own = PyObject_TypeCheck(stream, state->stream_type), is_chosen;
    RtDevice *device = ext_device_of_stream(state, is_own ? stream : Py_None, &is_chosen);
    ExtCallee callee = {name, NULL, PySequence_Fast_ITEMS(arguments), PyTuple_GET_SIZE(arguments)};
    RtDevice *found = device ? ext_device_for(state, &callee, device, is_chosen) : NULL;
    if (!found)
        return NULL;
    return found == current ? Py_NewRef(Py_None) : ext_device_object(state, found);
}

static PyMethodDef functions[] = {
    {"device_for", function_device_for, METH_VARARGS,
     "device_for(name, args, stream): the device that a call with these arguments runs on; None: the current one."},
    {0},
};

bool ext_add_launch_device(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
