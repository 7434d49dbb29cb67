/* Reads grid, block, stream, shared memory and cluster of kernel[...], and refuses what no device can launch. */
#include "ext/argument/launch_configuration.h"

#include "ext/raise.h"

static bool fail(const char *text)
{
    ext_raise_id(DIAG_LAUNCH_SHAPE, text);
    return false;
}

static const char *counted(const char *what) { return *what == 'b' ? "threads" : "blocks"; }

/* A TypeError of what is no int, such as the float of np.ceil or of n / 32, is told with what was meant. */
static bool fail_integer(PyObject *object, const char *what, int axis)
{
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError,
                     "%s has %R along %c, of type %s; a number of %s is an int, which // and int() make", what, object,
                     "xyz"[axis], Py_TYPE(object)->tp_name, counted(what));
    return false;
}

/* overflow: the value is beyond that one. */
static bool fail_dimension(const char *what, int axis, int64_t value, int overflow, const uint32_t *limits)
{
    char text[200];
    const char *beyond = overflow > 0 ? "more than " : overflow < 0 ? "less than " : "";
    snprintf(text, sizeof text, "%s has %s%lld %s along %c; from 1 to %u can be launched", what, beyond,
             (long long)value, counted(what), "xyz"[axis], limits[axis]);
    return fail(text);
}

static bool read_dimension(PyObject *object, const char *what, int axis, const uint32_t *limits, uint32_t *out)
{
    if (object == Py_None)
        return fail("the launch configuration has None where a number of blocks or threads belongs");
    PyObject *integer = PyNumber_Index(object);
    if (!integer)
        return fail_integer(object, what, axis);
    int overflow;
    int64_t value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    if (overflow)
        value = overflow > 0 ? INT64_MAX : INT64_MIN;
    if (value < 1 || value > limits[axis])
        return fail_dimension(what, axis, value, overflow, limits);
    *out = (uint32_t)value;
    return true;
}

static bool read_tuple(PyObject *tuple, const char *what, const uint32_t *limits, uint32_t out[3])
{
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    if (count < 1 || count > 3) {
        char text[100];
        snprintf(text, sizeof text, "%s has %zd dimensions; from 1 to 3 can be launched", what, count);
        return fail(text);
    }
    for (int i = 0; i < count; i++)
        if (!read_dimension(PyTuple_GET_ITEM(tuple, i), what, i, limits, &out[i]))
            return false;
    return true;
}

static bool read_dimensions(PyObject *object, const char *what, const uint32_t *limits, uint32_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    if (PyTuple_Check(object))
        return read_tuple(object, what, limits, out);
    if (!PyList_Check(object))
        return read_dimension(object, what, 0, limits, &out[0]);
    PyObject *tuple = PyList_AsTuple(object); /* others may change the list */
    bool ok = tuple && read_tuple(tuple, what, limits, out);
    Py_XDECREF(tuple);
    return ok;
}

static bool read_shared(PyObject *object, uint32_t *out)
{
    PyObject *integer = object == Py_None ? PyLong_FromLong(0) : PyNumber_Index(object);
    if (!integer && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError,
                     "dynamic shared memory is %R, of type %s; a number of bytes is an int, which // and int() make",
                     object, Py_TYPE(object)->tp_name);
    if (!integer)
        return false;
    int overflow;
    int64_t value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    if (overflow || value < 0 || value > INT32_MAX)
        return fail("dynamic shared memory is a number of bytes from 0 to 2147483647");
    *out = (uint32_t)value;
    return true;
}

/* Of 16 blocks at most, on devices that have clusters that large; whether grid and cluster fit is seen at the launch. */
static bool read_cluster(PyObject *object, uint32_t out[3])
{
    static const uint32_t limits[3] = {16, 16, 16};
    char text[100];
    if (object == Py_None)
        return true;
    if (!read_dimensions(object, "cluster", limits, out))
        return false;
    if (out[0] * out[1] * out[2] <= 16)
        return true;
    snprintf(text, sizeof text, "cluster has %u blocks; at most 16 can be launched", out[0] * out[1] * out[2]);
    return fail(text);
}

bool ext_read_configuration(PyObject *tuple, ExtConfiguration *configuration)
{
    static const uint32_t grid_limits[3] = {INT32_MAX, 65535, 65535}, block_limits[3] = {1024, 1024, 64};
    Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_GET_SIZE(tuple) : 0;
    if (PyLong_Check(tuple) || count == 1)
        return fail("there is a grid, but no block: kernel[(n + 255) // 256, 256](...) has at least n threads");
    if (count < 2 || count > 5)
        return fail("a launch configuration is kernel[grid, block], kernel[grid, block, stream], kernel[grid, block, "
                    "stream, shared memory] or kernel[grid, block, stream, shared memory, cluster]");
    if (!read_dimensions(PyTuple_GET_ITEM(tuple, 0), "grid", grid_limits, configuration->grid) ||
        !read_dimensions(PyTuple_GET_ITEM(tuple, 1), "block", block_limits, configuration->block))
        return false;
    uint32_t *block = configuration->block;
    if (block[0] * block[1] * block[2] > 1024) {
        char text[100];
        snprintf(text, sizeof text, "block has %u threads; at most 1024 can be launched",
                 block[0] * block[1] * block[2]);
        return fail(text);
    }
    configuration->stream = count > 2 ? PyTuple_GET_ITEM(tuple, 2) : NULL;
    configuration->dynamic_shared = 0;
    memset(configuration->cluster, 0, sizeof configuration->cluster);
    return (count < 4 || read_shared(PyTuple_GET_ITEM(tuple, 3), &configuration->dynamic_shared)) &&
           (count < 5 || read_cluster(PyTuple_GET_ITEM(tuple, 4), configuration->cluster));
}
