/* NumPy dtypes <-> element types: scalars by kind and size, structured dtypes as records. */
#include "ext/array/element_types.h"

#include "ext/guard.h"

static TypeKind kind_of_character(char kind)
{
    switch (kind) {
    case 'b': return TYPE_BOOL;
    case 'i': return TYPE_INT;
    case 'u': return TYPE_UINT;
    case 'f': return TYPE_FLOAT;
    case 'c': return TYPE_COMPLEX;
    default: return TYPE_NONE;
    }
}

static const Type *scalar_of_kind(char character, uint32_t size)
{
    TypeKind kind = kind_of_character(character);
    for (int i = 0; kind != TYPE_NONE && i < SCALAR_COUNT; i++)
        if (type_scalars[i].kind == kind && type_scalars[i].size == size)
            return &type_scalars[i];
    return NULL;
}

/* ml_dtypes' dtype, which it registers with NumPy under a number of its own. */
static bool is_bfloat(const PyArray_Descr *dtype)
{
    if (!PyTypeNum_ISUSERDEF(dtype->type_num) || PyDataType_ELSIZE(dtype) != 2)
        return false;
    const char *name = dtype->typeobj->tp_name, *last = strrchr(name, '.');
    return strcmp(last ? last + 1 : name, "bfloat16") == 0;
}

/* NumPy has no dtype of its own for it: ml_dtypes' where that is installed, imported when someone asks. */
static PyArray_Descr *bfloat_dtype(void)
{
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    PyObject *class = module ? PyObject_GetAttrString(module, "bfloat16") : NULL;
    PyArray_Descr *dtype = NULL;
    if (class)
        PyArray_DescrConverter(class, &dtype);
    else if (PyErr_ExceptionMatches(PyExc_ImportError))
        PyErr_SetString(PyExc_TypeError, "NumPy has no dtype for bfloat16: install ml_dtypes, or use uint16 arrays and "
                                         "array.view(bfloat16) in kernels");
    Py_XDECREF(module);
    Py_XDECREF(class);
    return dtype;
}

const Type *ext_scalar_of_dtype(PyArray_Descr *dtype)
{
    if (!PyArray_ISNBO(dtype->byteorder))
        return NULL;
    if (is_bfloat(dtype))
        return TYPE_OF(BFLOAT16);
    return scalar_of_kind(dtype->kind, (uint32_t)PyDataType_ELSIZE(dtype));
}

const Type *ext_scalar_of_typestr(const char *text)
{
    if (text[0] != '<' && text[0] != '|')
        return NULL;
    char *end;
    unsigned long size = text[1] ? strtoul(text + 2, &end, 10) : 0;
    return size && !*end ? scalar_of_kind(text[1], (uint32_t)size) : NULL;
}

/* The extents of an array field; its elements' dtype then takes the place of its own. */
static bool read_field_shape(PyArray_Descr **dtype, TypeField *field)
{
    PyArray_ArrayDescr *subarray = PyDataType_SUBARRAY(*dtype);
    if (!subarray)
        return true;
    Py_ssize_t ndim = PyTuple_GET_SIZE(subarray->shape);
    if (ndim > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_TypeError, "field '%s' has more than %d dimensions", field->name, TYPE_MAX_NDIM);
        return false;
    }
    field->ndim = (uint8_t)ndim;
    for (Py_ssize_t i = 0; i < ndim; i++)
        field->shape[i] = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GET_ITEM(subarray->shape, i));
    *dtype = subarray->base;
    return !PyErr_Occurred();
}

/* One field of a structured dtype, from its entry (dtype, offset[, title]). */
static bool read_field(ExtState *state, Arena *arena, PyObject *name, PyObject *entry, TypeField *field)
{
    PyArray_Descr *dtype = (PyArray_Descr *)PyTuple_GetItem(entry, 0);
    PyObject *offset = PyTuple_GetItem(entry, 1);
    const char *text = PyUnicode_AsUTF8(name);
    if (!dtype || !offset || !text)
        return false;
    *field = (TypeField){.name = arena_string(arena, text), .offset = (uint32_t)PyLong_AsUnsignedLong(offset)};
    if (!read_field_shape(&dtype, field))
        return false;
    field->type = ext_element_type(state, dtype);
    return field->type && !PyErr_Occurred();
}

static const Type *make_record(ExtState *state, Arena *arena, PyArray_Descr *dtype)
{
    PyObject *names = PyDataType_NAMES(dtype), *fields = PyDataType_FIELDS(dtype);
    Py_ssize_t count = PyTuple_GET_SIZE(names);
    TypeField *record_fields = ARENA_ARRAY(arena, TypeField, count);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *entry = PyDict_GetItemWithError(fields, name);
        if (!entry || !read_field(state, arena, name, entry, &record_fields[i]))
            return NULL;
    }
    PyObject *text = ext_hold(PyObject_Str((PyObject *)dtype));
    const char *name = text ? PyUnicode_AsUTF8(text) : NULL;
    uint32_t alignment = PyDataType_FLAGCHK(dtype, NPY_ALIGNED_STRUCT) ? (uint32_t)PyDataType_ALIGNMENT(dtype) : 1;
    return name ? type_record(arena, arena_string(arena, name), record_fields, (uint32_t)count,
                              (uint32_t)PyDataType_ELSIZE(dtype), alignment)
                : NULL;
}

/* NumPy's count and unit of a datetime or timedelta dtype. */
static const Type *make_time(Arena *arena, PyArray_Descr *dtype)
{
    const PyArray_DatetimeMetaData *meta = &((PyArray_DatetimeDTypeMetaData *)PyDataType_C_METADATA(dtype))->meta;
    TypeKind kind = dtype->type_num == NPY_DATETIME ? TYPE_DATETIME : TYPE_TIMEDELTA;
    TimeUnit unit;
    if (time_unit_by_number((int)meta->base, &unit))
        return type_time(arena, kind, unit, (uint32_t)meta->num);
    PyErr_Format(PyExc_TypeError, "kernels cannot use dtype %S", dtype);
    return NULL;
}

static bool is_text(const PyArray_Descr *dtype)
{
    return dtype->type_num == NPY_STRING || dtype->type_num == NPY_UNICODE;
}

static const Type *make_chars(Arena *arena, PyArray_Descr *dtype)
{
    uint32_t size = (uint32_t)PyDataType_ELSIZE(dtype), width = dtype->type_num == NPY_UNICODE ? 4 : 1;
    if (size)
        return type_chars(arena, size / width, width);
    PyErr_Format(PyExc_TypeError, "kernels cannot use dtype %S, which has no characters", dtype);
    return NULL;
}

/* A record of two fields takes about as many bytes. A program that makes dtypes without end keeps the types of all of them. */
enum { SIZE_OF_A_TYPE = 1024 };

/* --- one type for one dtype ---------------------------------------------------------------------------------------------- */
typedef struct DtypeWork {
    ExtState *state;
    Arena *arena;
    PyArray_Descr *dtype;
    ExtMadeType *node;
    const Type *type;
} DtypeWork;

static bool make_type(void *data)
{
    DtypeWork *work = data;
    PyArray_Descr *dtype = work->dtype;
    work->node = ARENA_NEW(work->arena, ExtMadeType);
    work->type = PyDataType_HASFIELDS(dtype) ? make_record(work->state, work->arena, dtype)
                 : is_text(dtype)            ? make_chars(work->arena, dtype)
                                             : make_time(work->arena, dtype);
    if (work->type)
        ((Type *)work->type)->origin = type_new_origin();
    return work->type != NULL;
}

/* Where a type of the dtype is, if it was the last of those that have the same place. */
static ExtMadeType *_Atomic *recent_place(ExtState *state, const PyArray_Descr *dtype)
{
    return &state->recent_types[((uintptr_t)dtype >> 6) % EXT_RECENT_TYPES];
}

/* One for each key of `record_types`. */
static void keep(ExtState *state, ExtMadeType *node)
{
    atomic_store_explicit(recent_place(state, (PyArray_Descr *)node->dtype), node, memory_order_release);
    node->next = state->made_types;
    while (!atomic_compare_exchange_weak(&state->made_types, &node->next, node))
        continue;
}

/* The records in the fields of a record, and in those of these: each one's dtype and the names of its fields. */
static bool add_nested(PyArray_Descr *dtype, PyObject *list)
{
    PyObject *names = PyDataType_NAMES(dtype), *fields = PyDataType_FIELDS(dtype);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *entry = PyDict_GetItemWithError(fields, PyTuple_GET_ITEM(names, i));
        PyArray_Descr *field = entry ? (PyArray_Descr *)PyTuple_GetItem(entry, 0) : NULL;
        if (!field)
            return false;
        if (PyDataType_SUBARRAY(field))
            field = PyDataType_SUBARRAY(field)->base;
        if (PyDataType_HASFIELDS(field) &&
            (PyList_Append(list, (PyObject *)field) < 0 || PyList_Append(list, PyDataType_NAMES(field)) < 0 ||
             !add_nested(field, list)))
            return false;
    }
    return true;
}

/* All of them as a tuple, or None. New reference; NULL with an exception. */
static PyObject *nested_records(PyArray_Descr *dtype)
{
    if (!PyDataType_HASFIELDS(dtype))
        return Py_NewRef(Py_None);
    PyObject *list = PyList_New(0), *nested = NULL;
    if (list && add_nested(dtype, list))
        nested = PyList_GET_SIZE(list) ? PyList_AsTuple(list) : Py_NewRef(Py_None);
    Py_XDECREF(list);
    return nested;
}

/* Whether the dtype is the very one, and no fields have been renamed since, in it and in the records of its fields. */
static inline bool is_made_of(const ExtMadeType *made, const PyArray_Descr *dtype)
{
    if (made->dtype != (const PyObject *)dtype || made->names != PyDataType_NAMES(dtype))
        return false;
    for (Py_ssize_t i = 0; made->nested != Py_None && i < PyTuple_GET_SIZE(made->nested); i += 2)
        if (PyDataType_NAMES((PyArray_Descr *)PyTuple_GET_ITEM(made->nested, i)) !=
            PyTuple_GET_ITEM(made->nested, i + 1))
            return false;
    return true;
}

/* The key of `record_types`: a dict takes an object for equal to itself, and programs rename the fields of their dtypes, so it
 * is a copy. Records in fields are not copied by that: their names stand beside. */
static PyObject *key_of(PyArray_Descr *dtype, PyObject *nested)
{
    PyObject *copy = (PyObject *)PyArray_DescrNew(dtype);
    if (!copy || nested == Py_None)
        return copy;
    PyObject *key = PyTuple_Pack(2, copy, nested);
    Py_DECREF(copy);
    return key;
}

/* Threads that make the type of one dtype at the same time all get that of the first. */
static const Type *new_type(ExtState *state, PyArray_Descr *dtype, PyObject *nested)
{
    DtypeWork work = {.state = state, .arena = ext_small_arena(SIZE_OF_A_TYPE), .dtype = dtype};
    bool made = work.arena && ext_guard(make_type, &work);
    PyObject *capsule = made ? PyCapsule_New(work.node, NULL, NULL) : NULL, *kept = NULL;
    PyObject *key = capsule ? key_of(dtype, nested) : NULL;
    if (key) {
        *work.node = (ExtMadeType){.arena = work.arena,
                                   .type = work.type,
                                   .dtype = Py_NewRef((PyObject *)dtype),
                                   .names = Py_XNewRef(PyDataType_NAMES(dtype)),
                                   .nested = Py_NewRef(nested)};
        PyDict_SetDefaultRef(state->record_types, key, capsule, &kept);
    }
    const ExtMadeType *first = kept ? PyCapsule_GetPointer(kept, NULL) : NULL;
    const Type *type = first ? first->type : NULL;
    if (first && first == work.node)
        keep(state, work.node);
    else if (key)
        ext_made_type_destroy(work.node);
    else
        arena_destroy(work.arena);
    Py_XDECREF(kept);
    Py_XDECREF(key);
    Py_XDECREF(capsule);
    return type;
}

static const Type *known_or_new_type(ExtState *state, PyArray_Descr *dtype, PyObject *nested)
{
    PyObject *known, *key = nested == Py_None ? Py_NewRef((PyObject *)dtype) : key_of(dtype, nested);
    int found = key ? PyDict_GetItemRef(state->record_types, key, &known) : -1;
    Py_XDECREF(key);
    if (found <= 0)
        return found ? NULL : new_type(state, dtype, nested);
    ExtMadeType *made = PyCapsule_GetPointer(known, NULL);
    if (is_made_of(made, dtype)) /* references are kept to all of these */
        atomic_store_explicit(recent_place(state, dtype), made, memory_order_release);
    Py_DECREF(known);
    return made->type;
}

/* Types that are made of a dtype are made once. */
static const Type *made_type(ExtState *state, PyArray_Descr *dtype)
{
    const ExtMadeType *recent = atomic_load_explicit(recent_place(state, dtype), memory_order_acquire);
    if (recent && is_made_of(recent, dtype))
        return recent->type;
    PyObject *nested = nested_records(dtype);
    const Type *type = nested ? known_or_new_type(state, dtype, nested) : NULL;
    Py_XDECREF(nested);
    return type;
}

const Type *ext_element_type(ExtState *state, PyArray_Descr *dtype)
{
    const Type *scalar = ext_scalar_of_dtype(dtype);
    if (scalar)
        return scalar;
    bool is_time = PyTypeNum_ISDATETIME(dtype->type_num) && PyArray_ISNBO(dtype->byteorder);
    if (PyDataType_HASFIELDS(dtype) || is_time || (is_text(dtype) && PyArray_ISNBO(dtype->byteorder)))
        return made_type(state, dtype);
    const char *reason = "";
    if (!PyArray_ISNBO(dtype->byteorder))
        reason = " (its bytes are not in this machine's order)";
    else if (dtype->type_num == NPY_OBJECT)
        reason = " (Python objects)";
    PyErr_Format(PyExc_TypeError, "kernels cannot use dtype %S%s", dtype, reason);
    return NULL;
}

/* A field's format: its dtype, or a pair of that and a shape. New reference. */
static PyObject *field_format(const TypeField *field)
{
    PyObject *dtype = (PyObject *)ext_dtype_of_type(field->type);
    if (!dtype || !field->ndim)
        return dtype;
    PyObject *shape = PyTuple_New(field->ndim);
    for (int i = 0; shape && i < field->ndim; i++) {
        PyObject *extent = PyLong_FromUnsignedLong(field->shape[i]);
        if (!extent)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, i, extent);
    }
    if (shape)
        return Py_BuildValue("NN", dtype, shape);
    Py_DECREF(dtype);
    return NULL;
}

static PyArray_Descr *record_dtype(const Type *type)
{
    PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0), *spec = NULL;
    PyArray_Descr *dtype = NULL;
    for (uint32_t i = 0; names && formats && offsets && i < type->count; i++) {
        PyObject *name = PyUnicode_FromString(type->fields[i].name);
        PyObject *format = field_format(&type->fields[i]);
        PyObject *offset = PyLong_FromUnsignedLong(type->fields[i].offset);
        bool ok = name && format && offset && PyList_Append(names, name) == 0 && PyList_Append(formats, format) == 0 &&
                  PyList_Append(offsets, offset) == 0;
        Py_XDECREF(name);
        Py_XDECREF(format);
        Py_XDECREF(offset);
        if (!ok)
            goto out;
    }
    spec = Py_BuildValue("{sOsOsOsI}", "names", names, "formats", formats, "offsets", offsets, "itemsize", type->size);
    if (spec)
        PyArray_DescrConverter(spec, &dtype);
out:
    Py_XDECREF(names);
    Py_XDECREF(formats);
    Py_XDECREF(offsets);
    Py_XDECREF(spec);
    return dtype;
}

static PyArray_Descr *time_dtype(const Type *type)
{
    char text[48] = "", multiple[16] = "";
    if (type->multiple != 1)
        snprintf(multiple, sizeof multiple, "%u", type->multiple);
    if (type->unit == TIME_UNIT_GENERIC)
        return PyArray_DescrFromType(type->kind == TYPE_DATETIME ? NPY_DATETIME : NPY_TIMEDELTA);
    snprintf(text, sizeof text, "%s[%s%s]", type->kind == TYPE_DATETIME ? "M8" : "m8", multiple,
             time_unit_name(type->unit));
    PyObject *name = PyUnicode_FromString(text);
    PyArray_Descr *dtype = NULL;
    if (name)
        PyArray_DescrConverter(name, &dtype);
    Py_XDECREF(name);
    return dtype;
}

PyArray_Descr *ext_dtype_of_type(const Type *type)
{
    static const int numbers[SCALAR_COUNT] = {
        [SCALAR_BOOL] = NPY_BOOL,           [SCALAR_INT8] = NPY_INT8,
        [SCALAR_INT16] = NPY_INT16,         [SCALAR_INT32] = NPY_INT32,
        [SCALAR_INT64] = NPY_INT64,         [SCALAR_UINT8] = NPY_UINT8,
        [SCALAR_UINT16] = NPY_UINT16,       [SCALAR_UINT32] = NPY_UINT32,
        [SCALAR_UINT64] = NPY_UINT64,       [SCALAR_FLOAT16] = NPY_FLOAT16,
        [SCALAR_FLOAT32] = NPY_FLOAT32,     [SCALAR_FLOAT64] = NPY_FLOAT64,
        [SCALAR_COMPLEX64] = NPY_COMPLEX64, [SCALAR_COMPLEX128] = NPY_COMPLEX128,
    };
    if (type_is_scalar(type) && type->scalar == SCALAR_BFLOAT16)
        return bfloat_dtype();
    if (type_is_scalar(type))
        return PyArray_DescrFromType(numbers[type->scalar]);
    if (type->kind == TYPE_RECORD)
        return record_dtype(type);
    if (type_is_time(type))
        return time_dtype(type);
    if (type->kind == TYPE_CHARS) {
        PyArray_Descr *dtype = PyArray_DescrNewFromType(type->alignment == 1 ? NPY_STRING : NPY_UNICODE);
        if (dtype)
            PyDataType_SET_ELSIZE(dtype, type->size);
        return dtype;
    }
    PyErr_SetString(PyExc_TypeError, "this type has no dtype");
    return NULL;
}
