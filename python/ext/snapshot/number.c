/* Numbers of Python and NumPy -> their types, and their bytes as C has them. */
#include "ext/snapshot/number.h"

#include "core/base/bfloat.h"
#include "ext/array/element_types.h"
#include "ext/guard.h"

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
    ext_forgive();
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
