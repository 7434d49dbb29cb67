/* Values -> Types as kernel arguments, and numbers -> bytes. */
#include "ext/argument_types.h"

static const Type *int_type(PyObject *value)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow)
        return number == -1 && PyErr_Occurred() ? NULL : TYPE_OF(INT64);
    if (overflow > 0) {
        PyLong_AsUnsignedLongLong(value);
        if (!PyErr_Occurred())
            return TYPE_OF(UINT64);
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_OverflowError, "an int that fits neither int64 nor uint64");
    return NULL;
}

static const Type *numpy_scalar_type(PyObject *value)
{
    PyArray_Descr *dtype = PyArray_DescrFromScalar(value);
    const Type *type = dtype ? ext_scalar_of_dtype(dtype) : NULL;
    Py_XDECREF(dtype);
    PyErr_Clear();
    return type;
}

const Type *ext_number_type(PyObject *value)
{
    if (PyFloat_CheckExact(value))
        return TYPE_OF(FLOAT64);
    if (PyLong_CheckExact(value))
        return int_type(value);
    if (PyBool_Check(value))
        return TYPE_OF(BOOL);
    if (PyArray_IsScalar(value, Generic))
        return numpy_scalar_type(value);
    if (PyComplex_Check(value))
        return TYPE_OF(COMPLEX128);
    if (PyLong_Check(value))
        return int_type(value);
    return PyFloat_Check(value) ? TYPE_OF(FLOAT64) : NULL;
}

PyObject *ext_enum_number(PyObject *value)
{
    PyObject *module = PyImport_ImportModule("enum"), *class = module ? PyObject_GetAttrString(module, "Enum") : NULL;
    PyObject *number = NULL;
    if (class && PyObject_IsInstance(value, class) == 1)
        number = PyObject_GetAttrString(value, "value");
    if (number && !ext_number_type(number))
        Py_CLEAR(number);
    PyErr_Clear();
    Py_XDECREF(class);
    Py_XDECREF(module);
    return number;
}

static const Type *array_view_type(const ExtArrayView *view, Arena *arena)
{
    return type_array(arena, view->element, view->ndim, ext_view_layout(view), view->read_only);
}

bool ext_record_is_writable(PyObject *record)
{
    return (((PyVoidScalarObject *)record)->flags & NPY_ARRAY_WRITEABLE) != 0;
}

/* The field names of a namedtuple as strings of the arena; NULL for a plain tuple. */
static const char *const *field_names(PyObject *tuple, Arena *arena)
{
    PyObject *fields = PyTuple_CheckExact(tuple) ? NULL : PyObject_GetAttrString(tuple, "_fields");
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    const char **names = NULL;
    if (fields && PyTuple_Check(fields) && PyTuple_GET_SIZE(fields) == count) {
        names = ARENA_ARRAY(arena, const char *, count);
        for (Py_ssize_t i = 0; i < count; i++) {
            const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(fields, i));
            names[i] = arena_string(arena, name ? name : "");
        }
    }
    PyErr_Clear();
    Py_XDECREF(fields);
    return names;
}

static const Type *tuple_type(ExtState *state, PyObject *tuple, Arena *arena)
{
    uint32_t count = (uint32_t)PyTuple_GET_SIZE(tuple);
    const Type **items = ARENA_ARRAY(arena, const Type *, count);
    if (Py_EnterRecursiveCall(" in a tuple argument"))
        return NULL;
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = (items[i] = ext_argument_type(state, PyTuple_GET_ITEM(tuple, i), arena)) != NULL;
    Py_LeaveRecursiveCall();
    if (!ok)
        return NULL;
    const char *const *names = field_names(tuple, arena);
    if (names)
        return type_named_tuple(arena, arena_string(arena, Py_TYPE(tuple)->tp_name), items, names, count);
    return type_tuple(arena, items, count, TUPLE_PLAIN);
}

/* np.float32, cujit.float32, np.dtype("f4"): the scalar type that a type object stands for; NULL for any other value. */
static const Type *named_scalar(ExtState *state, PyObject *value)
{
    PyArray_Descr *dtype = NULL;
    if (PyObject_TypeCheck(value, state->type_type))
        return ((ExtType *)value)->type;
    if (PyArray_DescrCheck(value))
        return ext_scalar_of_dtype((PyArray_Descr *)value);
    bool is_number_class = PyType_Check(value) && PyType_IsSubtype((PyTypeObject *)value, &PyGenericArrType_Type);
    const Type *type = is_number_class && PyArray_DescrConverter(value, &dtype) ? ext_scalar_of_dtype(dtype) : NULL;
    Py_XDECREF(dtype);
    PyErr_Clear();
    return type;
}

const Type *ext_argument_type(ExtState *state, PyObject *value, Arena *arena)
{
    const Type *type = ext_number_type(value);
    if (type || PyErr_Occurred())
        return type;
    ExtArrayView view;
    int is_array = ext_array_view(state, value, &view);
    if (is_array)
        return is_array > 0 ? array_view_type(&view, arena) : NULL;
    if (PyTuple_Check(value))
        return tuple_type(state, value, arena);
    if (value == Py_None)
        return &type_none;
    if (PyArray_IsScalar(value, Void)) {
        PyArray_Descr *dtype = PyArray_DescrFromScalar(value);
        type = dtype ? ext_element_type(state, dtype) : NULL;
        Py_XDECREF(dtype);
        return type ? type_array(arena, type, 0, LAYOUT_C, !ext_record_is_writable(value)) : NULL;
    }
    const Type *named = named_scalar(state, value);
    if (named && type_is_scalar(named))
        return type_object(arena, &state->type_constants[named->scalar]);
    PyObject *number = ext_enum_number(value);
    if (number) {
        type = ext_number_type(number);
        Py_DECREF(number);
        return type;
    }
    PyErr_Format(PyExc_TypeError, "kernels cannot take a value of type '%s'", Py_TYPE(value)->tp_name);
    return NULL;
}

/* --- numbers -> bytes ------------------------------------------------------------------------------------------------------- */
static bool store_integer(PyObject *value, const Type *type, uint8_t *out)
{
    unsigned long long bits;
    if (PyLong_Check(value))
        bits = PyLong_AsUnsignedLongLongMask(value);
    else if (PyArray_IsScalar(value, Bool))
        bits = value == PyArrayScalar_True;
    else {
        PyObject *integer = PyNumber_Index(value);
        bits = integer ? PyLong_AsUnsignedLongLongMask(integer) : 0;
        Py_XDECREF(integer);
    }
    if (bits == (unsigned long long)-1 && PyErr_Occurred())
        return false;
    memcpy(out, &bits, type->size); /* little-endian: the low bytes */
    return !PyErr_Occurred();
}

static bool store_float(PyObject *value, const Type *type, uint8_t *out)
{
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred())
        return false;
    if (type->size == 8) {
        memcpy(out, &number, 8);
    } else if (type->size == 4) {
        float narrow = (float)number;
        memcpy(out, &narrow, 4);
    } else if (PyFloat_Pack2(number, (char *)out, 1) < 0) {
        uint16_t infinity = number < 0 ? 0xFC00 : 0x7C00; /* too large: as NumPy rounds it */
        PyErr_Clear();
        memcpy(out, &infinity, 2);
    }
    return true;
}

static bool store_complex(PyObject *value, const Type *type, uint8_t *out)
{
    Py_complex number = PyComplex_AsCComplex(value);
    if (number.real == -1.0 && PyErr_Occurred())
        return false;
    if (type->size == 16) {
        memcpy(out, &number, 16);
    } else {
        float parts[2] = {(float)number.real, (float)number.imag};
        memcpy(out, parts, 8);
    }
    return true;
}

bool ext_store_number(PyObject *value, const Type *type, uint8_t *out)
{
    switch (type->kind) {
    case TYPE_BOOL: {
        int truth = PyObject_IsTrue(value);
        *out = truth == 1;
        return truth >= 0;
    }
    case TYPE_INT:
    case TYPE_UINT: return store_integer(value, type, out);
    case TYPE_FLOAT: return store_float(value, type, out);
    default: return store_complex(value, type, out);
    }
}
