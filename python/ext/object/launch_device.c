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

/* What the arguments are on, so far. */
typedef struct Homes {
    ExtState *state;
    RtDevice *device; /* whose driver is asked */
    uint64_t found;
    /* More values, or deeper ones, are no kernel's: tuples that stand in one another are without end. */
    uint32_t left, depth;
} Homes;

enum { MOST_VALUES = TYPE_MOST_VALUES * TYPE_MOST_NESTING };

static Homes no_homes(ExtState *state, RtDevice *device) { return (Homes){state, device, 0, MOST_VALUES, 0}; }

static bool add_homes(Homes *homes, PyObject *value);

static bool add_homes_of_fields(Homes *homes, PyObject *value)
{
    bool ok = true;
    PyObject *fields = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__dataclass_fields__");
    PyObject *names = fields ? PySequence_List(fields) : NULL;
    for (Py_ssize_t i = 0; ok && names && i < PyList_GET_SIZE(names); i++) {
        PyObject *field = PyObject_GetAttr(value, PyList_GET_ITEM(names, i));
        ok = field && add_homes(homes, field);
        Py_XDECREF(field);
    }
    Py_XDECREF(names);
    Py_XDECREF(fields);
    return ok && (names || ext_forgive());
}

static bool add_homes_of_tuple(Homes *homes, PyObject *tuple)
{
    bool ok = true;
    for (Py_ssize_t i = 0; ok && i < PyTuple_GET_SIZE(tuple) && homes->left; i++)
        ok = add_homes(homes, PyTuple_GET_ITEM(tuple, i));
    return ok;
}

/* A value that kernels cannot take has none: the launch says so later. False with what cannot be passed over. */
static bool add_homes(Homes *homes, PyObject *value)
{
    ExtArrayView view;
    homes->left -= homes->left > 0;
    if (PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyArray_CheckExact(value))
        return true;
    if (homes->depth > TYPE_MOST_NESTING)
        return true;
    homes->depth++;
    bool ok = true;
    int is_array = PyTuple_Check(value) ? 0 : ext_array_view(homes->state, value, &view);
    if (is_array > 0) {
        homes->found |= home_of_array(homes->state, &view, value, homes->device);
        Py_XDECREF(view.owner);
    } else if (is_array < 0)
        ok = ext_forgive();
    else
        ok = PyTuple_Check(value) ? add_homes_of_tuple(homes, value) : add_homes_of_fields(homes, value);
    homes->depth--;
    return ok;
}

/* Of arrays that are constants of the kernel. */
static bool add_homes_of_captured(Homes *homes, const ExtCallee *callee)
{
    bool ok = true;
    PyObject *captured = callee->kernel ? callee->kernel->keep_alive : NULL;
    for (Py_ssize_t i = 0; ok && captured && i < PyList_GET_SIZE(captured); i++)
        ok = add_homes(homes, PyList_GET_ITEM(captured, i));
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
        Homes homes = no_homes(state, device);
        if (!add_homes(&homes, callee->args[i]))
            return false;
        if (!homes.found)
            continue;
        if (callee->kernel)
            ext_parameter_name(callee->kernel, i, name, sizeof name);
        else
            snprintf(name, sizeof name, "%zd", i + 1);
        const char *format = callee->kernel ? "%s'%s' is on %s" : "%sargument %s is on %s";
        used +=
            (size_t)snprintf(text + used, size - used, format, shown++ ? ", " : "", name, name_of(homes.found).text);
    }
    Homes captured = no_homes(state, device);
    if (!add_homes_of_captured(&captured, callee))
        return false;
    if (captured.found && used < size)
        snprintf(text + used, size - used, "%san array that it names is on %s", shown ? ", " : "",
                 name_of(captured.found).text);
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
    Homes all = no_homes(state, device);
    bool ok = add_homes_of_captured(&all, callee);
    for (Py_ssize_t i = 0; ok && i < callee->count; i++)
        ok = add_homes(&all, callee->args[i]);
    if (!ok)
        return NULL;
    uint64_t homes = all.found;
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
