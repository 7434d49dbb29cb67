/* Values that a function can name -> Constants. What no kernel can use becomes CONSTANT_UNSUPPORTED: it is an error only
 * where the code reads it. */
#include "ext/snapshot/snapshot_builder.h"

#include "ext/array/array_view.h"
#include "ext/array/element_types.h"
#include "ext/raise.h"
#include "ext/snapshot/class/class_types.h"
#include "ext/snapshot/intrinsic_lookup.h"
#include "ext/snapshot/number.h"
#include "ext/snapshot/type_value.h"

/* A pending exception that says something of the value is no reason to fail: the value is one that kernels cannot use, and
 * the message says why. */
static const Constant *unsupported_by_exception(SnapshotBuilder *builder, const char *shown)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_Restore(Py_XNewRef(type), Py_XNewRef(value), Py_XNewRef(traceback));
    ext_hold(type);
    ext_hold(value);
    ext_hold(traceback);
    if (!ext_forgive())
        return NULL;
    PyObject *text = value ? ext_hold(PyObject_Str(value)) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    if (!ext_forgive())
        return NULL;
    return ext_unsupported(builder, utf8 ? utf8 : "value", shown);
}

/* --- numbers, text, types ------------------------------------------------------------------------------------------------------ */
static const Constant *number(SnapshotBuilder *builder, PyObject *value, const Type *type, const char *shown)
{
    static const ConstantKind kinds[] = {
        [TYPE_BOOL] = CONSTANT_BOOL,   [TYPE_INT] = CONSTANT_INT,         [TYPE_UINT] = CONSTANT_INT,
        [TYPE_FLOAT] = CONSTANT_FLOAT, [TYPE_COMPLEX] = CONSTANT_COMPLEX,
    };
    Constant *constant = ext_new_constant(builder, kinds[type->kind], shown);
    constant->type = type;
    constant->is_python = PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyComplex_CheckExact(value);
    bool ok = true;
    if (type->kind == TYPE_FLOAT) {
        constant->real = PyFloat_AsDouble(value);
    } else if (type->kind == TYPE_COMPLEX) {
        Py_complex parts = PyComplex_AsCComplex(value);
        constant->real = parts.real;
        constant->imaginary = parts.imag;
    } else if (type->kind == TYPE_BOOL) {
        constant->integer = PyObject_IsTrue(value);
    } else {
        ok = ext_store_number(value, type->kind == TYPE_INT ? TYPE_OF(INT64) : TYPE_OF(UINT64),
                              (uint8_t *)&constant->integer);
        constant->is_unsigned = type == TYPE_OF(UINT64);
    }
    return ok && !PyErr_Occurred() ? constant : NULL;
}

static const Constant *time_constant(SnapshotBuilder *builder, PyObject *value, const char *shown)
{
    PyArray_Descr *dtype = (PyArray_Descr *)ext_hold((PyObject *)PyArray_DescrFromScalar(value));
    Constant *constant = ext_new_constant(builder, CONSTANT_TIME, shown);
    constant->type = dtype ? ext_element_type(builder->state, dtype) : NULL;
    constant->integer = ((PyDatetimeScalarObject *)value)->obval;
    return constant->type ? constant : unsupported_by_exception(builder, shown);
}

static const Constant *string(SnapshotBuilder *builder, PyObject *value, const char *shown)
{
    Constant *constant = ext_new_constant(builder, CONSTANT_STRING, shown);
    constant->text = ext_arena_text(builder->arena, value);
    return constant->text ? constant : unsupported_by_exception(builder, shown);
}

/* Bytes are the characters of these codes, as they are to elements of dtype S. */
static const Constant *bytes(SnapshotBuilder *builder, PyObject *value, const char *shown)
{
    PyObject *text = ext_hold(PyUnicode_DecodeLatin1(PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value), NULL));
    return text ? string(builder, text, shown) : NULL;
}

/* name: Python's own name of the type; NULL: the type's. */
static const Constant *type_constant(SnapshotBuilder *builder, const Type *type, const char *name, const char *shown)
{
    Constant *constant = ext_new_constant(builder, CONSTANT_TYPE, shown);
    Buf text = {0};
    type_describe(&text, type);
    constant->type = type_is_scalar(type) || type->kind == TYPE_NONE ? type : type_copy(builder->arena, type);
    constant->text = arena_string(builder->arena, name ? name : buf_text(&text));
    buf_free(&text);
    return constant;
}

/* --- tuples and enums ------------------------------------------------------------------------------------------------------------ */
/* A tuple that is too large is unsupported, with this as its integer; so are those around it. */
enum { TOO_MANY = TYPE_MOST_VALUES + 1 };

static bool is_too_large(const Constant *constant)
{
    return constant->kind == CONSTANT_UNSUPPORTED && constant->integer == TOO_MANY;
}

static uint32_t count_values(const Constant *constant, uint32_t left)
{
    if (is_too_large(constant))
        return TOO_MANY;
    if (constant->kind != CONSTANT_TUPLE)
        return 1;
    uint32_t found = 1;
    for (uint32_t i = 0; i < constant->count && found <= left; i++)
        found += count_values(constant->items[i], left - found);
    return found;
}

static bool read_items(SnapshotScope *scope, PyObject *sequence, Constant *out)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
    if (count >= TOO_MANY) {
        out->count = TOO_MANY;
        return true;
    }
    const Constant **items = ARENA_ARRAY(scope->builder->arena, const Constant *, count);
    uint32_t found = 1;
    for (Py_ssize_t i = 0; i < count && found < TOO_MANY; i++) {
        if (!(items[i] = ext_constant(scope, PySequence_Fast_GET_ITEM(sequence, i), NULL)))
            return false;
        found += count_values(items[i], TYPE_MOST_VALUES);
    }
    out->items = items;
    out->count = found < TOO_MANY ? (uint32_t)count : TOO_MANY;
    return true;
}

static const Constant *large_tuple(SnapshotBuilder *builder, const char *shown)
{
    const char *text = arena_format(builder->arena, "tuple of more than %d values", TYPE_MOST_VALUES);
    const char **names = ARENA_ARRAY(builder->arena, const char *, 1);
    names[0] = "; its values are registers of each thread: use an array";
    Constant *constant = ext_new_constant(builder, CONSTANT_UNSUPPORTED, shown);
    constant->text = text;
    constant->names = names;
    constant->integer = TOO_MANY;
    return constant;
}

static const Constant *tuple(SnapshotScope *scope, PyObject *value, const char *shown)
{
    Constant *constant = ext_new_constant(scope->builder, CONSTANT_TUPLE, shown);
    PyObject *sequence = ext_hold(PySequence_Fast(value, "tuple"));
    bool ok = sequence && read_items(scope, sequence, constant);
    if (ok && constant->count == TOO_MANY)
        return large_tuple(scope->builder, shown);
    if (ok && PyTuple_Check(value) && !PyTuple_CheckExact(value))
        constant->type = ext_class_type(scope->builder->state, (PyObject *)Py_TYPE(value), scope->builder->arena);
    scope->builder->has_overloads |=
        constant && constant->type && type_class(constant->type); /* methods of its class */
    return ok && !PyErr_Occurred() ? constant : NULL;
}

/* Captured; and a slice of constants is a constant of code since CPython 3.14. */
static const Constant *slice(SnapshotScope *scope, PyObject *value, const char *shown)
{
    const PySliceObject *parts = (PySliceObject *)value;
    Constant *constant = ext_new_constant(scope->builder, CONSTANT_SLICE, shown);
    PyObject *items = PyTuple_Pack(3, parts->start, parts->stop, parts->step);
    bool ok = items && read_items(scope, items, constant);
    Py_XDECREF(items);
    if (ok && constant->count == TOO_MANY)
        return large_tuple(scope->builder, shown);
    return ok ? constant : NULL;
}

/* A field: of a declared type, or of its own. */
static const Constant *field_constant(SnapshotScope *scope, PyObject *field, const Type *stated, const char *path)
{
    bool is_stated = stated->kind != TYPE_NONE && type_is_scalar(stated) && ext_number_type(field);
    return is_stated ? number(scope->builder, field, stated, path) : ext_constant(scope, field, path);
}

/* An instance of a dataclass or a declared class as a tuple of its fields; NULL without an exception for anything else. */
static const Constant *instance(SnapshotScope *scope, PyObject *value, const char *shown)
{
    SnapshotBuilder *builder = scope->builder;
    ExtDeclaredClass declared;
    bool is_declared = ext_declared_class(builder->state, (PyObject *)Py_TYPE(value), &declared);
    const Type *class = ext_class_type(builder->state, (PyObject *)Py_TYPE(value), builder->arena);
    if (!class)
        return NULL;
    Constant *constant = ext_new_constant(builder, CONSTANT_TUPLE, shown);
    const Constant **items = ARENA_ARRAY(builder->arena, const Constant *, class->count);
    constant->type = class;
    constant->items = items;
    builder->has_overloads = true; /* methods of its class */
    PyObject *fields = is_declared ? ext_hold(ext_declared_fields(&declared, value)) : NULL;
    if (is_declared && !fields)
        return NULL;
    for (; constant->count < class->count; constant->count++) {
        uint32_t i = constant->count;
        PyObject *field =
            fields ? PyTuple_GET_ITEM(fields, i) : ext_hold(PyObject_GetAttrString(value, class->names[i]));
        const char *path = arena_format(builder->arena, "%s.%s", shown ? shown : "it", class->names[i]);
        items[i] = field ? field_constant(scope, field, class->items[i], path) : NULL;
        if (!items[i])
            return NULL;
    }
    return constant;
}

/* A dict whose keys kernels can name; any other is of no use to them. */
static const Constant *dict(SnapshotScope *scope, PyObject *value, const char *shown)
{
    SnapshotBuilder *builder = scope->builder;
    PyObject *pairs = ext_hold(PyDict_Items(value)); /* others may add to the dict */
    if (!pairs)
        return NULL;
    Py_ssize_t size = PyList_GET_SIZE(pairs);
    const char **names = ARENA_ARRAY(builder->arena, const char *, size);
    const Constant **items = ARENA_ARRAY(builder->arena, const Constant *, size);
    Constant *constant = ext_new_constant(builder, CONSTANT_DICT, shown);
    constant->names = names;
    constant->items = items;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *key = PyTuple_GET_ITEM(PyList_GET_ITEM(pairs, i), 0);
        PyObject *item = PyTuple_GET_ITEM(PyList_GET_ITEM(pairs, i), 1);
        const Constant *name = ext_constant(scope, key, NULL);
        const char *text = name ? constant_key(builder->arena, name) : NULL;
        if (name && !text)
            return ext_unsupported(builder, "dict with keys that are neither strings nor integers", shown);
        names[constant->count] = text;
        items[constant->count] = name ? ext_constant(scope, item, NULL) : NULL;
        if (!items[constant->count++])
            return NULL;
    }
    return constant;
}

static const Constant *enum_member(SnapshotScope *scope, PyObject *member, const char *shown)
{
    SnapshotBuilder *builder = scope->builder;
    Constant *constant = ext_new_constant(builder, CONSTANT_ENUM, shown);
    PyObject *name = ext_hold(PyObject_GetAttrString(member, "name"));
    PyObject *value = ext_hold(PyObject_GetAttrString(member, "value"));
    const Constant **items = ARENA_ARRAY(builder->arena, const Constant *, 1);
    constant->text = name && PyUnicode_Check(name) ? ext_arena_text(builder->arena, name) : "";
    items[0] = value ? ext_constant(scope, value, shown) : NULL;
    constant->items = items;
    constant->count = 1;
    constant->type = ext_enum_type(builder->state, member, builder->arena);
    return items[0] && constant->text && constant->type ? constant : NULL;
}

/* --- arrays ---------------------------------------------------------------------------------------------------------------------- */
static bool copy_host_array(SnapshotBuilder *builder, PyArrayObject *array, ConstantArray *out)
{
    bool is_fortran = PyArray_IS_F_CONTIGUOUS(array) && !PyArray_IS_C_CONTIGUOUS(array);
    bool is_dense = PyArray_IS_C_CONTIGUOUS(array) || is_fortran;
    PyObject *copy = is_dense ? (PyObject *)array : ext_hold(PyArray_NewCopy(array, NPY_CORDER));
    if (!copy)
        return false;
    PyArrayObject *dense = (PyArrayObject *)copy;
    out->layout = is_fortran ? LAYOUT_F : LAYOUT_C;
    out->size = (size_t)PyArray_NBYTES(dense);
    out->data = arena_copy(builder->arena, PyArray_DATA(dense), out->size);
    memcpy(out->strides, PyArray_STRIDES(dense), sizeof *out->strides * (size_t)out->ndim);
    return true;
}

/* From now on the address of a device array is known to a kernel. */
static bool keep_in_place(const ExtState *state, PyObject *value)
{
    if (!PyObject_TypeCheck(value, state->device_array_type))
        return true;
    PyObject *done = PyObject_CallMethod(value, "share", NULL);
    Py_XDECREF(done);
    return done != NULL;
}

static const Constant *array(SnapshotBuilder *builder, PyObject *value, const ExtArrayView *view, const char *shown)
{
    ConstantArray *out = ARENA_NEW(builder->arena, ConstantArray);
    out->element = view->element;
    out->ndim = view->ndim;
    memcpy(out->shape, view->shape, sizeof *out->shape * (size_t)view->ndim);
    if (view->host) {
        if (!copy_host_array(builder, view->host, out))
            return NULL;
    } else {
        memcpy(out->strides, view->strides, sizeof *out->strides * (size_t)view->ndim);
        out->layout = ext_view_layout(view);
        out->device_pointer = view->pointer;
        if (PyList_Append(builder->keep_alive, value) < 0 || !keep_in_place(builder->state, value))
            return NULL;
    }
    Constant *constant = ext_new_constant(builder, CONSTANT_ARRAY, shown);
    constant->array = out;
    constant->type = type_array(builder->arena, out->element, out->ndim, out->layout, view->host || view->read_only);
    table_set(builder->arrays, &value, sizeof value, constant);
    return PyList_Append(builder->held, value) == 0 ? constant : NULL;
}

/* --- namespaces -------------------------------------------------------------------------------------------------------------------- */
/* NumPy warns when it is asked for the names of builtins that it had once (np.str). A function that names a builtin need
 * not mean NumPy's. */
static bool is_only_builtin(PyObject *object, PyObject *name)
{
    PyObject *own = PyModule_Check(object) ? PyModule_GetDict(object) : NULL, *builtins = PyEval_GetBuiltins();
    return own && !PyDict_Contains(own, name) && builtins && PyDict_Contains(builtins, name) == 1;
}

/* math.sinf and the like, which Python's math has not: libdevice's functions of that name, for float32. New reference. */
static PyObject *single_precision(ExtState *state, PyObject *object, PyObject *name)
{
    const char *module = PyModule_Check(object) ? PyModule_GetName(object) : NULL, *text = PyUnicode_AsUTF8(name);
    size_t length = text ? strlen(text) : 0;
    PyObject *found = NULL;
    if (module && length > 1 && strcmp(module, "math") == 0 && text[length - 1] == 'f')
        found = ext_intrinsic_at(state, "cuda.libdevice", text);
    PyErr_Clear();
    return found;
}

/* The attribute of a module, class or namespace; NULL where there is none, with an exception where that could not be found
 * out. New reference. */
static PyObject *attribute_of(SnapshotBuilder *builder, PyObject *object, PyObject *name)
{
    PyObject *value;
    if (is_only_builtin(object, name))
        value = NULL;
    else if (Py_IS_TYPE(object, builder->state->intrinsic_type))
        value = ext_intrinsic_child(builder->state, ((ExtIntrinsic *)object)->path, name);
    else
        value = PyObject_GetAttr(object, name);
    if (!ext_forgive())
        return NULL;
    return value ? value : single_precision(builder->state, object, name);
}

static bool has_attribute(const Constant *constant, const char *name)
{
    for (uint32_t i = 0; i < constant->count; i++)
        if (strcmp(constant->names[i], name) == 0)
            return true;
    return false;
}

/* An attribute more: there is room for the next power of two. */
static void add_attribute(Arena *arena, Constant *constant, const char *name, const Constant *item)
{
    uint32_t count = constant->count;
    if (!(count & (count - 1))) {
        const char **names = ARENA_ARRAY(arena, const char *, count ? 2 * count : 1);
        const Constant **items = ARENA_ARRAY(arena, const Constant *, count ? 2 * count : 1);
        for (uint32_t i = 0; i < count; i++) {
            names[i] = constant->names[i];
            items[i] = constant->items[i];
        }
        constant->names = names;
        constant->items = items;
    }
    ((const char **)constant->names)[count] = name;
    ((const Constant **)constant->items)[count] = item;
    constant->count++;
}

/* Adds those of the attributes that the object has. Some may be there: of a module that was read for another name; and reading
 * a value may come back to the object. */
static bool read_attributes(SnapshotScope *scope, PyObject *object, PyObject *attributes, Constant *constant)
{
    SnapshotBuilder *builder = scope->builder;
    const char *shown = constant->shown_as;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(attributes); i++) {
        PyObject *name = PyList_GET_ITEM(attributes, i), *value = ext_hold(attribute_of(builder, object, name));
        if (PyErr_Occurred())
            return false;
        if (!value)
            continue;
        const char *text = ext_arena_text(builder->arena, name);
        const char *path = text && shown ? arena_format(builder->arena, "%s.%s", shown, text) : text;
        const Constant *item = text ? ext_constant(scope, value, path) : NULL;
        if (!item)
            return false;
        if (constant->type || !has_attribute(constant, text)) /* an enum's are read once, and may be many */
            add_attribute(builder->arena, constant, text, item);
    }
    return true;
}

enum { MOST_NAMESPACES = 10000, MOST_NESTED_NAMESPACES = 64 };

static bool read_members(SnapshotScope *scope, PyObject *class, Constant *constant)
{
    constant->type = ext_enum_class_type(scope->builder->state, class, scope->builder->arena);
    PyObject *members = constant->type ? ext_hold(PyObject_GetAttrString(class, "__members__")) : NULL;
    PyObject *names = members ? ext_hold(PySequence_List(members)) : NULL;
    return names && read_attributes(scope, class, names, constant);
}

/* The constant of an object that is met for the first time, of which nothing is read yet. */
static Constant *new_namespace(SnapshotScope *scope, PyObject *object, const char *shown)
{
    Constant *constant = ext_new_constant(scope->builder, CONSTANT_NAMESPACE, shown);
    table_set(scope->namespaces, &object, sizeof object, constant);
    constant->is_exception = PyExceptionClass_Check(object);
    constant->host_class = constant->is_exception ? object : NULL;
    bool ok = !constant->is_exception || PyList_Append(scope->builder->keep_alive, object) == 0;
    return ok && PyList_Append(scope->builder->held, object) == 0 ? constant : NULL;
}

/* Modules, classes and namespaces: those of the attributes. Enums: all members, which can be found by text, too. */
static const Constant *namespace(SnapshotScope *scope, PyObject *object, const char *shown, PyObject *attributes)
{
    SnapshotBuilder *builder = scope->builder;
    Constant *constant = table_get(scope->namespaces, &object, sizeof object);
    bool is_whole = attributes == scope->names;
    if (constant && is_whole && table_get(scope->whole, &object, sizeof object))
        return constant;
    if (++builder->namespace_count > MOST_NAMESPACES || builder->namespace_depth == MOST_NESTED_NAMESPACES)
        return ext_unsupported(builder, "object that makes new modules of every attribute", shown);
    if (!constant && !(constant = new_namespace(scope, object, shown)))
        return NULL;
    if (is_whole)
        table_set(scope->whole, &object, sizeof object, constant);
    bool is_enum = PyObject_TypeCheck(object, (PyTypeObject *)builder->state->enum_meta);
    builder->namespace_depth++;
    bool ok = is_enum ? read_members(scope, object, constant) : read_attributes(scope, object, attributes, constant);
    builder->namespace_depth--;
    return ok ? constant : NULL;
}

const Constant *ext_module_constant(SnapshotScope *scope, PyObject *module, const char *shown, PyObject *attributes)
{
    return namespace(scope, module, shown, attributes);
}

/* bool, int, float, complex, np.float32, cujit.float32, numba.float32, np.dtype("f4"); NULL without an exception for anything else. */
static const Constant *named_type(SnapshotBuilder *builder, PyObject *value, const char *shown)
{
    const Type *stated = ext_type_of_object(builder->state, value);
    if (stated)
        return type_constant(builder, stated, NULL, shown);
    if (PyErr_Occurred())
        return unsupported_by_exception(builder, shown);
    const struct {
        PyTypeObject *class;
        const Type *type;
    } builtins[] = {
        {&PyBool_Type, TYPE_OF(BOOL)},
        {&PyLong_Type, TYPE_OF(INT64)},
        {&PyFloat_Type, TYPE_OF(FLOAT64)},
        {&PyComplex_Type, TYPE_OF(COMPLEX128)},
    };
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (value == (PyObject *)builtins[i].class)
            return type_constant(builder, builtins[i].type, builtins[i].class->tp_name, shown);
    bool is_scalar_class = PyType_Check(value) && PyType_IsSubtype((PyTypeObject *)value, &PyGenericArrType_Type);
    PyArray_Descr *dtype = NULL;
    if (PyArray_DescrCheck(value))
        dtype = (PyArray_Descr *)Py_NewRef(value);
    else if (!is_scalar_class || PyArray_DescrConverter(value, &dtype) != NPY_SUCCEED)
        return ext_forgive(), NULL;
    ext_hold((PyObject *)dtype);
    const Type *type = ext_element_type(builder->state, dtype);
    return type ? type_constant(builder, type, NULL, shown) : unsupported_by_exception(builder, shown);
}

/* --- any value ----------------------------------------------------------------------------------------------------------------------- */
/* An FFI of cffi, of whose methods kernels have from_buffer(). NULL without an exception for anything else. */
static const Constant *foreign_interface(SnapshotScope *scope, PyObject *value, const char *shown)
{
    const char *name = Py_TYPE(value)->tp_name;
    if (strcmp(name, "FFI") != 0 && strcmp(name, "_cffi_backend.FFI") != 0)
        return NULL;
    PyObject *module = ext_hold(PyImport_ImportModule("cujit.cuda._link.foreign"));
    PyObject *meant = module ? ext_hold(PyObject_GetAttrString(module, "ffi")) : NULL;
    return meant ? ext_constant(scope, meant, shown) : NULL;
}

/* Values that are not told by a simple check of their type. */
static const Constant *other_value(SnapshotScope *scope, PyObject *value, const char *shown)
{
    SnapshotBuilder *builder = scope->builder;
    ExtDeclaredClass declared;
    if (ext_declared_class(builder->state, (PyObject *)Py_TYPE(value), &declared))
        return instance(scope, value, shown);
    const Constant *constant = named_type(builder, value, shown);
    if (!constant && !PyErr_Occurred())
        constant = ext_class(scope, value, shown);
    if (constant || PyErr_Occurred())
        return constant;
    if (PyModule_Check(value) || PyType_Check(value) || Py_IS_TYPE(value, builder->state->intrinsic_type) ||
        Py_IS_TYPE(value, (PyTypeObject *)builder->state->namespace_class))
        return namespace(scope, value, shown, scope->names);
    if ((constant = table_get(builder->arrays, &value, sizeof value)))
        return constant;
    PyObject *wrapped = ext_hold(ext_wrapped_function(builder, value));
    if (wrapped || PyErr_Occurred())
        return wrapped ? ext_function_constant(builder, wrapped, NULL, shown) : NULL;
    if ((constant = instance(scope, value, shown)) || PyErr_Occurred())
        return constant;
    if ((constant = ext_function_object_constant(scope, value, shown)) || PyErr_Occurred())
        return constant;
    if ((constant = foreign_interface(scope, value, shown)) || PyErr_Occurred())
        return constant;
    ExtArrayView view;
    int is_array = ext_array_view(builder->state, value, &view);
    if (is_array > 0)
        ext_hold(view.owner);
    if (is_array)
        return is_array > 0 ? array(builder, value, &view, shown) : unsupported_by_exception(builder, shown);
    return ext_unsupported_value(builder, value, shown);
}

/* A function or class of an installed numba's that has a meaning in kernels, such as numba.prange. NULL without an
 * exception for anything else. */
static const Constant *foreign_function(SnapshotScope *scope, PyObject *value, const char *shown)
{
    bool can_be = PyFunction_Check(value) || PyType_Check(value);
    PyObject *meant = can_be && ext_is_numbas(value) ? ext_hold(ext_call_foreign("stand_in", value)) : NULL;
    return meant && meant != Py_None ? ext_constant(scope, meant, shown) : NULL;
}

const Constant *ext_plain_constant(SnapshotScope *scope, PyObject *value, const char *shown)
{
    SnapshotBuilder *builder = scope->builder;
    if (value == Py_None || value == Py_Ellipsis)
        return ext_new_constant(builder, value == Py_None ? CONSTANT_NONE : CONSTANT_ELLIPSIS, shown);
    if (PyObject_TypeCheck((PyObject *)Py_TYPE(value), (PyTypeObject *)builder->state->enum_meta))
        return enum_member(scope, value, shown);
    const Type *type = ext_number_type(value);
    if (type || PyErr_Occurred())
        return type ? number(builder, value, type, shown) : unsupported_by_exception(builder, shown);
    if (PyArray_IsScalar(value, Datetime) || PyArray_IsScalar(value, Timedelta))
        return time_constant(builder, value, shown);
    int number = ext_intrinsic_of_object(builder->state, value);
    if (number > INTRINSIC_NONE)
        return ext_intrinsic_constant(builder, number, shown);
    if (number < 0)
        return NULL;
    const Constant *foreign = foreign_function(scope, value, shown);
    if (foreign || PyErr_Occurred())
        return foreign;
    if (PyUnicode_Check(value))
        return string(builder, value, shown);
    if (PyBytes_Check(value))
        return bytes(builder, value, shown);
    if (PyTuple_Check(value) || PyFrozenSet_Check(value))
        return tuple(scope, value, shown);
    if (PySlice_Check(value))
        return slice(scope, value, shown);
    if (PyDict_CheckExact(value))
        return dict(scope, value, shown);
    if (PyFunction_Check(value))
        return ext_function_constant(builder, value, NULL, shown);
    if (PyObject_TypeCheck(value, (PyTypeObject *)builder->state->partial_class))
        return ext_partial_constant(scope, value, shown);
    if (PyMethod_Check(value) && PyType_Check(PyMethod_GET_SELF(value)))
        return ext_class_method_constant(scope, value, shown);
    if (PyObject_TypeCheck(value, builder->state->kernel_type)) {
        const ExtKernel *kernel = (ExtKernel *)value;
        return ext_kernel_is_ready(kernel) ? ext_function_constant(builder, kernel->py_func, kernel, shown) : NULL;
    }
    const Constant *known = table_get(builder->arrays, &value, sizeof value);
    if (PyObject_TypeCheck(value, builder->state->foreign_type))
        return known ? known : ext_foreign_constant(builder, value, shown);
    if (PyCode_Check(value)) {
        Constant *constant = ext_new_constant(builder, CONSTANT_CODE, shown);
        CodeSnapshot *code = (CodeSnapshot *)ext_code(scope, (PyCodeObject *)value);
        if (code)
            code->is_nested = true;
        constant->code = code;
        return constant->code ? constant : NULL;
    }
    return other_value(scope, value, shown);
}

const Constant *ext_constant(SnapshotScope *scope, PyObject *value, const char *shown)
{
    if (!ext_enter(" while reading what a kernel uses"))
        return NULL;
    const Constant *constant = ext_overloaded_function(scope, value, shown);
    if (!constant && !PyErr_Occurred())
        constant = ext_plain_constant(scope, value, shown);
    ext_leave();
    return constant;
}
