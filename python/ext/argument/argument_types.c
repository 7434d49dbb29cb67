/* Values -> Types as kernel arguments, and numbers -> bytes. */
#include "ext/argument/argument_types.h"

#include "core/base/bfloat.h"

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

/* NumPy's classes of numbers, whose objects hold the value as C does; the usual ones first. */
#define NUMPY_NUMBERS(ROW) \
    ROW(Float, FLOAT32)    \
    ROW(Double, FLOAT64)   \
    ROW(Int, INT32)        \
    ROW(Long, INT64)       \
    ROW(LongLong, INT64)   \
    ROW(UInt, UINT32)      \
    ROW(ULong, UINT64)     \
    ROW(ULongLong, UINT64) \
    ROW(Byte, INT8)        \
    ROW(UByte, UINT8)      \
    ROW(Short, INT16)      \
    ROW(UShort, UINT16)    \
    ROW(Bool, BOOL)        \
    ROW(Half, FLOAT16)     \
    ROW(CFloat, COMPLEX64) \
    ROW(CDouble, COMPLEX128)

const Type *ext_numpy_number(PyObject *value, const void **bytes)
{
    const PyTypeObject *class = Py_TYPE(value);
#define ROW(name, type)                                           \
    if (class == &Py##name##ArrType_Type) {                       \
        *bytes = &((const Py##name##ScalarObject *)value)->obval; \
        return TYPE_OF(type);                                     \
    }
    NUMPY_NUMBERS(ROW)
#undef ROW
    return NULL;
}

static const Type *numpy_scalar_type(PyObject *value)
{
    const void *bytes;
    const Type *known = ext_numpy_number(value, &bytes);
    if (known)
        return known;
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

static const Type *array_view_type(const ExtArrayView *view, Arena *arena)
{
    return type_array(arena, view->element, view->ndim, ext_view_layout(view), view->read_only);
}

static bool record_is_writable(PyObject *record)
{
    return (((PyVoidScalarObject *)record)->flags & NPY_ARRAY_WRITEABLE) != 0;
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
    const Type *class = PyTuple_CheckExact(tuple) ? NULL : ext_class_type(state, (PyObject *)Py_TYPE(tuple), arena);
    if (PyErr_Occurred())
        return NULL;
    if (class && class->count == count)
        return type_with_items(arena, class, items);
    return type_tuple(arena, items, count, TUPLE_PLAIN);
}

/* An instance of a dataclass: its fields, by value. NULL without an exception for anything else. */
static const Type *instance_type(ExtState *state, PyObject *value, Arena *arena)
{
    const Type *class = PyType_Check(value) ? NULL : ext_class_type(state, (PyObject *)Py_TYPE(value), arena);
    if (!class || Py_EnterRecursiveCall(" in a dataclass argument"))
        return NULL;
    const Type **items = ARENA_ARRAY(arena, const Type *, class->count);
    bool ok = true;
    for (uint32_t i = 0; ok && i < class->count; i++) {
        PyObject *field = PyObject_GetAttrString(value, class->names[i]);
        ok = field && (items[i] = ext_argument_type(state, field, arena));
        Py_XDECREF(field);
    }
    Py_LeaveRecursiveCall();
    return ok ? type_with_items(arena, class, items) : NULL;
}

/* np.float32, cujit.float32, np.dtype("f4"): the scalar type that a type object stands for; NULL for any other value. */
static const Type *named_scalar(ExtState *state, PyObject *value)
{
    PyArray_Descr *dtype = NULL;
    const Type *stated = ext_type_of_object(state, value);
    if (stated)
        return stated;
    PyErr_Clear();
    if (PyArray_DescrCheck(value))
        return ext_scalar_of_dtype((PyArray_Descr *)value);
    bool is_number_class = PyType_Check(value) && PyType_IsSubtype((PyTypeObject *)value, &PyGenericArrType_Type);
    const Type *type = is_number_class && PyArray_DescrConverter(value, &dtype) ? ext_scalar_of_dtype(dtype) : NULL;
    Py_XDECREF(dtype);
    PyErr_Clear();
    return type;
}

/* The type of a NumPy scalar as an element of an array. */
static const Type *scalar_element(ExtState *state, PyObject *value)
{
    PyArray_Descr *dtype = PyArray_DescrFromScalar(value);
    const Type *type = dtype ? ext_element_type(state, dtype) : NULL;
    Py_XDECREF(dtype);
    return type;
}

/* Members whose values are no numbers are known while compiling only. */
static const Type *enum_argument(PyObject *value, const Type *type)
{
    if (!type || type->kind != TYPE_TUPLE || type->items[0]->kind != TYPE_NONE)
        return type;
    PyErr_Format(PyExc_TypeError, "kernels take members of enums whose values are numbers, not %R", value);
    return NULL;
}

/* What to pass in place of a value that kernels do not take. */
static const char *argument_hint(PyObject *value)
{
    if (PyList_Check(value))
        return "; np.array(...) makes an array of it, tuple(...) a tuple";
    if (PyObject_HasAttrString(value, "__array__"))
        return "; np.asarray(...) makes an array of it";
    return "; they take numbers, arrays, tuples, and NamedTuples and dataclasses of these";
}

const Type *ext_argument_type(ExtState *state, PyObject *value, Arena *arena)
{
    bool is_plain = PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyArray_IsScalar(value, Generic);
    const Type *type = is_plain ? NULL : ext_enum_type(state, value, arena);
    if (!type)
        type = ext_number_type(value);
    if (type || PyErr_Occurred())
        return enum_argument(value, type);
    ExtArrayView view;
    int is_array = ext_array_view(state, value, &view);
    if (is_array)
        return is_array > 0 ? array_view_type(&view, arena) : NULL;
    if (PyTuple_Check(value))
        return tuple_type(state, value, arena);
    if (value == Py_None)
        return &type_none;
    if (PyArray_IsScalar(value, Datetime) || PyArray_IsScalar(value, Timedelta))
        return scalar_element(state, value);
    if (PyArray_IsScalar(value, Void)) {
        type = scalar_element(state, value);
        return type ? type_array(arena, type, 0, LAYOUT_C, !record_is_writable(value)) : NULL;
    }
    const Type *named = named_scalar(state, value);
    if (named && type_is_scalar(named))
        return type_object(arena, &state->type_constants[named->scalar]);
    type = instance_type(state, value, arena);
    if (type || PyErr_Occurred())
        return type;
    PyErr_Format(PyExc_TypeError, "kernels cannot take a value of type '%s'%s", Py_TYPE(value)->tp_name,
                 argument_hint(value));
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
    } else if (type->scalar == SCALAR_BFLOAT16) {
        uint16_t bits = bfloat_bits(number);
        memcpy(out, &bits, 2);
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
