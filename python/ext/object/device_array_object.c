/* DeviceArrayBase: a strided array in device memory. The launcher reads its fields; what programs do with it is written
 * in Python, in a subclass. */
#include "ext/object/device_array_object.h"

#include "core/kernel/kernel_abi.h"
#include "ext/array/array_layout.h"
#include "ext/array/element_types.h"
#include "ext/guard.h"
#include "ext/module_parts.h"
#include "ext/object/buffer_object.h"
#include "ext/object/device_object.h"
#include "ext/object/launch_device.h"
#include "ext/raise.h"

/* --- making ------------------------------------------------------------------------------------------------------------------ */
static int read_integers(PyObject *object, const char *name, int64_t *out)
{
    /* others may change a list */
    PyObject *items = PyList_Check(object) ? PyList_AsTuple(object)
                                           : PySequence_Fast(object, "shape and strides are tuples of integers");
    if (!items)
        return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    if (count > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "device arrays have at most %d dimensions; %s has %zd", TYPE_MAX_NDIM, name,
                     count);
        count = -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *integer = PyNumber_Index(PySequence_Fast_GET_ITEM(items, i));
        out[i] = integer ? PyLong_AsLongLong(integer) : -1;
        Py_XDECREF(integer);
        if (PyErr_Occurred())
            count = -1;
    }
    Py_DECREF(items);
    return (int)count;
}

static bool read_shape(ExtDeviceArray *self, PyObject *shape)
{
    self->ndim = read_integers(shape, "shape", self->shape);
    self->size = 1;
    for (int axis = 0; axis < self->ndim; axis++) {
        if (self->shape[axis] < 0 || self->shape[axis] > KERNEL_ABI_MAX_EXTENT ||
            __builtin_mul_overflow(self->size, self->shape[axis], &self->size)) {
            PyErr_Format(PyExc_ValueError, "%R is not a shape", shape);
            return false;
        }
    }
    return self->ndim >= 0;
}

static bool read_strides(ExtDeviceArray *self, PyObject *strides, RtPointer pointer)
{
    int64_t item_size = PyDataType_ELSIZE(self->dtype);
    if (strides != Py_None) {
        int count = read_integers(strides, "strides", self->strides);
        if (count >= 0 && count != self->ndim)
            PyErr_SetString(PyExc_ValueError, "strides are not as many as the dimensions");
        if (count != self->ndim)
            return false;
    }
    if (strides == Py_None && !ext_c_strides(self->ndim, self->shape, item_size, self->strides))
        return false;
    if (!ext_check_reach(self->ndim, self->shape, self->strides, item_size, pointer))
        return false;
    ext_contiguity(self->ndim, self->shape, self->strides, item_size, &self->c_contiguous, &self->f_contiguous);
    return true;
}

/* Where the memory is: on the device of its owner, else where the driver says, else on the current one. */
static RtDevice *device_of_base(ExtState *state, PyObject *base, RtPointer pointer)
{
    if (PyObject_TypeCheck(base, state->buffer_type))
        return ((ExtBuffer *)base)->device;
    if (PyObject_TypeCheck(base, state->device_array_type))
        return ext_device_of_array((ExtDeviceArray *)base);
    RtDevice *current = ext_current_device(state);
    return current ? ext_device_of_pointer(current, pointer) : NULL;
}

/* The memory that it lies in; NULL where that is not cujit's. */
static ExtBuffer *buffer_of(const ExtDeviceArray *self)
{
    PyObject *owner = self->base;
    while (owner && PyObject_TypeCheck(owner, self->state->device_array_type))
        owner = ((ExtDeviceArray *)owner)->base;
    return owner && PyObject_TypeCheck(owner, self->state->buffer_type) ? (ExtBuffer *)owner : NULL;
}

/* Takes over the reference. */
static void set_base(ExtDeviceArray *self, PyObject *base)
{
    ExtBuffer *former = buffer_of(self);
    if (former)
        former->arrays--;
    Py_XSETREF(self->base, base);
    ExtBuffer *buffer = buffer_of(self);
    if (buffer)
        buffer->arrays++;
}

static PyObject *array_new(PyTypeObject *class, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    ExtState *state = ext_state_of_type(class);
    ExtDeviceArray *self = state ? (ExtDeviceArray *)class->tp_alloc(class, 0) : NULL;
    if (!self)
        return NULL;
    self->state = state;
    self->element = TYPE_OF(UINT8);
    self->dtype = PyArray_DescrFromType(NPY_UINT8);
    self->base = Py_NewRef(Py_None);
    self->ndim = 1;
    self->strides[0] = 1;
    self->c_contiguous = self->f_contiguous = true;
    return (PyObject *)self;
}

/* Under the lock of the object. What it replaces are NumPy's own dtype and None, which whoever reads them meanwhile may
 * keep. Takes over the dtype. */
static int init_once(ExtDeviceArray *self, PyObject *shape, PyObject *strides, PyArray_Descr *dtype, PyObject *base,
                     RtPointer pointer)
{
    if (self->device) {
        Py_DECREF(dtype);
        PyErr_SetString(PyExc_RuntimeError, "a device array cannot be initialized twice");
        return -1;
    }
    Py_SETREF(self->dtype, dtype);
    self->element = ext_element_type(self->state, dtype);
    if (!self->element && !ext_forgive()) /* kernels cannot use such an array, copies can */
        return -1;
    if (!read_shape(self, shape) || !read_strides(self, strides, pointer)) {
        self->ndim = 1;
        self->size = self->shape[0] = 0;
        return -1;
    }
    set_base(self, Py_NewRef(base));
    self->pointer = pointer;
    self->device = device_of_base(self->state, base, pointer);
    return self->device ? 0 : -1;
}

static int array_init(ExtDeviceArray *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"shape", "strides", "dtype", "pointer", "base", "read_only", NULL};
    PyObject *shape, *strides, *base;
    PyArray_Descr *dtype = NULL;
    unsigned long long pointer;
    int read_only = 0, result;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO&KO|p:DeviceArrayBase", names, &shape, &strides,
                                     PyArray_DescrConverter, &dtype, &pointer, &base, &read_only))
        return -1;
    Py_BEGIN_CRITICAL_SECTION(self);
    result = init_once(self, shape, strides, dtype, base, pointer);
    if (result == 0)
        self->read_only = read_only;
    Py_END_CRITICAL_SECTION();
    return result;
}

PyObject *ext_device_array_like(const ExtDeviceArray *like, PyTypeObject *class, const Type *element,
                                PyArray_Descr *dtype)
{
    int64_t stride = PyDataType_ELSIZE(dtype);
    ExtDeviceArray *self = (ExtDeviceArray *)class->tp_alloc(class, 0);
    if (!self)
        return NULL;
    self->state = like->state;
    self->element = element;
    self->dtype = (PyArray_Descr *)Py_NewRef((PyObject *)dtype);
    self->device = like->device;
    self->ndim = like->ndim;
    self->size = like->size;
    for (int axis = like->ndim - 1; axis >= 0; axis--) {
        self->shape[axis] = like->shape[axis];
        self->strides[axis] = stride;
        stride *= like->shape[axis] ? like->shape[axis] : 1;
    }
    ext_contiguity(self->ndim, self->shape, self->strides, PyDataType_ELSIZE(dtype), &self->c_contiguous,
                   &self->f_contiguous);
    set_base(self, ext_buffer_create(like->state, NULL, like->device, (size_t)(self->size * PyDataType_ELSIZE(dtype))));
    if (!self->base)
        return Py_DECREF(self), NULL;
    self->pointer = ((ExtBuffer *)self->base)->pointer;
    return (PyObject *)self;
}

static int array_traverse(ExtDeviceArray *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->base);
    return 0;
}

static int array_clear(ExtDeviceArray *self)
{
    set_base(self, NULL);
    return 0;
}

static void array_dealloc(ExtDeviceArray *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    array_clear(self);
    Py_XDECREF(self->dtype);
    class->tp_free(self);
    Py_DECREF(class);
}

/* --- attributes --------------------------------------------------------------------------------------------------------------- */
static PyObject *tuple_of(const int64_t *values, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple && i < count; i++) {
        PyObject *value = PyLong_FromLongLong(values[i]);
        if (value)
            PyTuple_SET_ITEM(tuple, i, value);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_shape(ExtDeviceArray *self, void *Py_UNUSED(closure)) { return tuple_of(self->shape, self->ndim); }
static PyObject *get_strides(ExtDeviceArray *self, void *Py_UNUSED(closure))
{
    return tuple_of(self->strides, self->ndim);
}

static PyObject *get_nbytes(ExtDeviceArray *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(self->size * (int64_t)PyDataType_ELSIZE(self->dtype));
}

static PyObject *get_device(ExtDeviceArray *self, void *Py_UNUSED(closure))
{
    if (self->device)
        return ext_device_object(self->state, self->device);
    PyErr_SetString(PyExc_AttributeError, "the array has not been initialized");
    return NULL;
}

static PyObject *get_layout(ExtDeviceArray *self, void *Py_UNUSED(closure))
{
    return PyUnicode_FromString(self->c_contiguous ? "C" : self->f_contiguous ? "F" : "A");
}

/* The memory is no longer known to cujit alone. */
static PyObject *array_share(ExtDeviceArray *self, PyObject *Py_UNUSED(ignored))
{
    ExtBuffer *buffer = buffer_of(self);
    if (buffer) {
        buffer->is_shared = true;
        rt_note_all_written(buffer->pointer); /* by whoever has the address now */
    }
    Py_RETURN_NONE;
}

/* Gives the buffer memory of the driver's own in the place of a pool's, with the same contents. */
static bool replace(ExtBuffer *buffer, Diag *diag)
{
    RtPointer made = 0;
    if (!rt_allocate(buffer->device, buffer->size, &made, diag))
        return false;
    if (!rt_copy_on_device(buffer->device, made, buffer->pointer, buffer->size, NULL, diag) ||
        !rt_free_ordered(buffer->device, buffer->pointer, diag)) {
        Diag ignored = {.id = DIAG_NONE};
        rt_free(buffer->device, made, &ignored);
        return false;
    }
    buffer->pointer = made;
    return true;
}

static PyObject *array_move(ExtDeviceArray *self, PyObject *Py_UNUSED(ignored))
{
    bool ok;
    Diag diag = {.id = DIAG_NONE};
    ExtBuffer *buffer = buffer_of(self);
    if (!buffer || (PyObject *)buffer != self->base || buffer->is_shared || buffer->arrays != 1 || !buffer->pointer)
        Py_RETURN_FALSE;
    RtPointer former = buffer->pointer;
    Py_BEGIN_ALLOW_THREADS ok = replace(buffer, &diag);
    Py_END_ALLOW_THREADS if (!ok) return ext_raise(&diag);
    buffer->is_shared = true;
    self->pointer = buffer->pointer + (self->pointer - former);
    Py_RETURN_TRUE;
}

static PyMethodDef array_methods[] = {
    {"share", (PyCFunction)array_share, METH_NOARGS,
     "share(): another library gets the address; nobody else gets the memory before the device has done everything."},
    {"move", (PyCFunction)array_move, METH_NOARGS,
     "move(): the array's elements get memory of the driver's own, which other processes can be given. False where "
     "that "
     "cannot be: somebody else knows the address, such as a view."},
    {0},
};

static PyGetSetDef array_getset[] = {
    {"shape", (getter)get_shape, NULL, NULL, NULL},
    {"strides", (getter)get_strides, NULL, "Bytes from one item to the next along each axis.", NULL},
    {"nbytes", (getter)get_nbytes, NULL, "Bytes of all items.", NULL},
    {"device", (getter)get_device, NULL, "The device whose memory it is.", NULL},
    {"layout", (getter)get_layout, NULL, "'C', 'F' or 'A': contiguous in C order, in Fortran order, or not.", NULL},
    {0},
};

static PyMemberDef array_members[] = {
    {"dtype", T_OBJECT, offsetof(ExtDeviceArray, dtype), READONLY, NULL},
    {"ndim", T_INT, offsetof(ExtDeviceArray, ndim), READONLY, NULL},
    {"size", T_LONGLONG, offsetof(ExtDeviceArray, size), READONLY, "The number of items."},
    {"pointer", T_ULONGLONG, offsetof(ExtDeviceArray, pointer), READONLY, "The device address of the first item."},
    {"base", T_OBJECT, offsetof(ExtDeviceArray, base), READONLY, "What owns the memory."},
    {"read_only", T_BOOL, offsetof(ExtDeviceArray, read_only), READONLY, "Whether kernels cannot write to it."},
    {0},
};

static PyType_Slot array_slots[] = {
    {Py_tp_doc, "A strided array in device memory."},
    {Py_tp_new, array_new},
    {Py_tp_init, array_init},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_traverse, array_traverse},
    {Py_tp_clear, array_clear},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getset},
    {Py_tp_members, array_members},
    {0},
};

static PyType_Spec array_spec = {
    .name = "cujit._core.DeviceArrayBase",
    .basicsize = sizeof(ExtDeviceArray),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = array_slots,
};

bool ext_add_device_arrays(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->device_array_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &array_spec, NULL);
    return state->device_array_type && PyModule_AddType(module, state->device_array_type) == 0;
}
