/* Type: a type of kernel values as a Python object. Scalars and none are singletons of the module; all others own an
 * arena with a copy. */
#include "ext/argument/argument_types.h"
#include "ext/argument/buffer_argument.h"
#include "ext/array/element_types.h"
#include "ext/guard.h"
#include "ext/kernel/signature_object.h"
#include "ext/module_parts.h"
#include "ext/raise.h"
#include "ext/snapshot/class/class_types.h"
#include "ext/snapshot/type_value.h"

static void type_dealloc(ExtType *self)
{
    PyTypeObject *class = Py_TYPE(self);
    arena_destroy(self->arena);
    PyObject_Free(self);
    Py_DECREF(class);
}

typedef struct TypeText {
    const Type *type;
    void (*print)(Buf *text, const Type *type);
    PyObject *made;
} TypeText;

static bool make_text(void *data)
{
    TypeText *wanted = data;
    Buf text = {0};
    wanted->print(&text, wanted->type);
    wanted->made = PyUnicode_FromStringAndSize(buf_text(&text), (Py_ssize_t)text.length);
    buf_free(&text);
    return wanted->made != NULL;
}

static PyObject *text_of(const Type *type, void (*print)(Buf *, const Type *))
{
    TypeText wanted = {type, print, NULL};
    return ext_guard(make_text, &wanted) ? wanted.made : NULL;
}

static PyObject *type_repr(ExtType *self) { return text_of(self->type, type_describe); }

static Py_hash_t type_hash(ExtType *self)
{
    PyObject *key = text_of(self->type, type_print);
    Py_hash_t hash = key ? PyObject_Hash(key) : -1;
    Py_XDECREF(key);
    return hash;
}

static PyObject *type_compare(ExtType *self, PyObject *other, int operation)
{
    if (!PyObject_TypeCheck(other, self->state->type_type) || (operation != Py_EQ && operation != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    bool equal = type_equal(self->type, ((ExtType *)other)->type);
    return PyBool_FromLong(equal == (operation == Py_EQ));
}

/* --- attributes ---------------------------------------------------------------------------------------------------------- */
static PyObject *missing(ExtType *self, const char *name)
{
    PyErr_Format(PyExc_AttributeError, "type %R has no attribute '%s'", self, name);
    return NULL;
}

static PyObject *get_name(ExtType *self, void *Py_UNUSED(closure)) { return type_repr(self); }
static PyObject *get_key(ExtType *self, void *Py_UNUSED(closure)) { return text_of(self->type, type_print); }

static PyObject *get_dtype(ExtType *self, void *Py_UNUSED(closure))
{
    const Type *type = self->type;
    if (type->kind == TYPE_ARRAY)
        return ext_type_object(self->state, type->element);
    if (type_is_tagged(type, TUPLE_POINTER))
        return ext_type_object(self->state, type->items[0]->element);
    if (type_is_element(type) && !type_is_vector(type))
        return (PyObject *)ext_dtype_of_type(type);
    if (type_is_plain_tuple(type) && type_is_homogeneous(type))
        return ext_type_object(self->state, type->items[0]);
    return missing(self, "dtype");
}

static PyObject *get_ndim(ExtType *self, void *Py_UNUSED(closure))
{
    return self->type->kind == TYPE_ARRAY ? PyLong_FromLong(self->type->ndim) : missing(self, "ndim");
}

static PyObject *get_layout(ExtType *self, void *Py_UNUSED(closure))
{
    char layout = (char)self->type->layout;
    return self->type->kind == TYPE_ARRAY ? PyUnicode_FromStringAndSize(&layout, 1) : missing(self, "layout");
}

static PyObject *get_read_only(ExtType *self, void *Py_UNUSED(closure))
{
    return self->type->kind == TYPE_ARRAY ? PyBool_FromLong(self->type->read_only) : missing(self, "readonly");
}

static PyObject *get_mutable(ExtType *self, void *Py_UNUSED(closure))
{
    return self->type->kind == TYPE_ARRAY ? PyBool_FromLong(!self->type->read_only) : missing(self, "mutable");
}

/* closure: the layout in question, "CF" for either. */
static PyObject *get_is_dense(ExtType *self, void *layouts)
{
    bool is_dense = self->type->kind == TYPE_ARRAY && strchr(layouts, (char)self->type->layout);
    return self->type->kind == TYPE_ARRAY ? PyBool_FromLong(is_dense) : missing(self, "is_contig");
}

static PyObject *get_bitwidth(ExtType *self, void *Py_UNUSED(closure))
{
    return type_is_scalar(self->type) ? PyLong_FromLong(self->type->size * 8) : missing(self, "bitwidth");
}

static PyObject *get_signed(ExtType *self, void *Py_UNUSED(closure))
{
    return type_is_integer(self->type) ? PyBool_FromLong(self->type->kind == TYPE_INT) : missing(self, "signed");
}

static PyObject *get_part(ExtType *self, void *Py_UNUSED(closure))
{
    const Type *type = self->type;
    return type->kind == TYPE_COMPLEX
               ? ext_type_object(self->state, type->size == 8 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64))
               : missing(self, "underlying_float");
}

static PyObject *get_base(ExtType *self, void *Py_UNUSED(closure))
{
    const Type *type = self->type;
    return type_is_vector(type) ? ext_type_object(self->state, type->items[0]) : missing(self, "base_type");
}

static PyObject *get_element_count(ExtType *self, void *Py_UNUSED(closure))
{
    return type_is_vector(self->type) ? PyLong_FromLong(self->type->count) : missing(self, "num_elements");
}

/* "int", "array", ...; of what is laid out like a tuple its own word, "tuple" for Python's. */
static PyObject *get_kind(ExtType *self, void *Py_UNUSED(closure))
{
    static const char *const kinds[] = {
        [TYPE_NONE] = "none",         [TYPE_BOOL] = "bool",           [TYPE_INT] = "int",
        [TYPE_UINT] = "uint",         [TYPE_FLOAT] = "float",         [TYPE_COMPLEX] = "complex",
        [TYPE_DATETIME] = "datetime", [TYPE_TIMEDELTA] = "timedelta", [TYPE_ARRAY] = "array",
        [TYPE_TUPLE] = "tuple",       [TYPE_RECORD] = "record",       [TYPE_CHARS] = "chars",
        [TYPE_OBJECT] = "object",
    };
    const char *tag = self->type->kind == TYPE_TUPLE ? tuple_tag_info[self->type->tag].text : "";
    return PyUnicode_FromString(*tag ? tag : kinds[self->type->kind]);
}

/* Of dataclasses and declared classes: the class. */
static PyObject *get_class(ExtType *self, void *Py_UNUSED(closure))
{
    const void *class = type_class(self->type);
    return class ? Py_NewRef((PyObject *)(uintptr_t)class) : missing(self, "instance_class");
}

static PyObject *get_fields(ExtType *self, void *Py_UNUSED(closure))
{
    const Type *type = self->type;
    bool has_names = type->kind == TYPE_TUPLE && type->names && type->tag != TUPLE_DICT;
    PyObject *names = has_names ? PyTuple_New(type->count) : missing(self, "fields");
    for (uint32_t i = 0; names && i < type->count; i++) {
        PyObject *name = PyUnicode_FromString(type->names[i]);
        if (name)
            PyTuple_SET_ITEM(names, i, name);
        else
            Py_CLEAR(names);
    }
    return names;
}

static PyObject *get_count(ExtType *self, void *Py_UNUSED(closure))
{
    return self->type->kind == TYPE_TUPLE ? PyLong_FromLong(self->type->count) : missing(self, "count");
}

static PyObject *get_types(ExtType *self, void *Py_UNUSED(closure))
{
    const Type *type = self->type;
    return type->kind == TYPE_TUPLE ? ext_tuple_of_types(self->state, type->items, type->count)
                                    : missing(self, "types");
}

/* --- type[:, ::1], type(...) ----------------------------------------------------------------------------------------------- */
/* Whether a slice is "::1" (1), ":" (0) or neither (-1 with an exception). */
static int axis_is_dense(PyObject *axis)
{
    if (PySlice_Check(axis)) {
        PySliceObject *slice = (PySliceObject *)axis;
        bool open = slice->start == Py_None && slice->stop == Py_None;
        if (open && slice->step == Py_None)
            return 0;
        if (open && PyLong_Check(slice->step) && PyLong_AsLong(slice->step) == 1)
            return 1;
    }
    PyErr_Format(PyExc_TypeError, "an axis of an array type is : or ::1, not %R", axis);
    return -1;
}

typedef struct ArrayParts {
    const Type *element;
    int ndim;
    ArrayLayout layout;
    bool read_only;
} ArrayParts;

static const Type *array_of_parts(Arena *arena, const void *data)
{
    const ArrayParts *parts = data;
    return type_array(arena, type_copy(arena, parts->element), parts->ndim, parts->layout, parts->read_only);
}

static PyObject *make_array_type(ExtState *state, const Type *element, int ndim, ArrayLayout layout, bool read_only)
{
    if (!type_is_element(element)) {
        PyErr_SetString(PyExc_TypeError, "arrays have numbers or records as elements");
        return NULL;
    }
    if (ndim < 0 || ndim > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "arrays have at most %d dimensions", TYPE_MAX_NDIM);
        return NULL;
    }
    return ext_make_own_type(state, array_of_parts, &(ArrayParts){element, ndim, layout, read_only});
}

static PyObject *type_subscript(ExtType *self, PyObject *key)
{
    PyObject *axes = PyTuple_Check(key) ? Py_NewRef(key) : PyTuple_Pack(1, key);
    if (!axes)
        return NULL;
    PyObject *result = NULL;
    Py_ssize_t ndim = PyTuple_GET_SIZE(axes), dense = -1;
    for (Py_ssize_t i = 0; i < ndim; i++) {
        int is_dense = axis_is_dense(PyTuple_GET_ITEM(axes, i));
        if (is_dense < 0)
            goto out;
        if (is_dense && (dense >= 0 || (i != 0 && i != ndim - 1))) {
            PyErr_SetString(PyExc_TypeError, "::1 belongs to the first or the last axis");
            goto out;
        }
        if (is_dense)
            dense = i;
    }
    ArrayLayout layout = dense < 0 ? LAYOUT_ANY : dense == ndim - 1 ? LAYOUT_C : LAYOUT_F;
    result = make_array_type(self->state, self->type, (int)(ndim < 99 ? ndim : 99), layout, false);
out:
    Py_DECREF(axes);
    return result;
}

static bool are_types(ExtState *state, PyObject *args)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++)
        if (!PyObject_TypeCheck(PyTuple_GET_ITEM(args, i), state->type_type))
            return false;
    return true;
}

static PyObject *type_call(ExtType *self, PyObject *args, PyObject *kwargs)
{
    if (kwargs && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "a type takes no keyword arguments");
        return NULL;
    }
    if (are_types(self->state, args))
        return ext_signature_object(self->state, args, (PyObject *)self);
    if (!type_is_scalar(self->type) || PyTuple_GET_SIZE(args) != 1) {
        PyErr_Format(PyExc_TypeError, "%R takes the argument types of a signature", self);
        return NULL;
    }
    PyArray_Descr *dtype = ext_dtype_of_type(self->type);
    PyObject *result = dtype ? PyObject_CallOneArg((PyObject *)dtype->typeobj, PyTuple_GET_ITEM(args, 0)) : NULL;
    Py_XDECREF(dtype);
    return result;
}

static PyObject *type_reduce(ExtType *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *module = PyType_GetModuleByDef(Py_TYPE(self), &ext_module);
    PyObject *restore = module ? PyObject_GetAttrString(module, "type_from_key") : NULL;
    return restore ? Py_BuildValue("N(N)", restore, get_key(self, NULL)) : NULL;
}

static PyGetSetDef type_getset[] = {
    {"name", (getter)get_name, NULL, "numba's spelling.", NULL},
    {"key", (getter)get_key, NULL, "Text that only equal types share.", NULL},
    {"dtype", (getter)get_dtype, NULL,
     "Arrays, pointers and tuples of one type: that of the elements. Scalars and records: NumPy's dtype.", NULL},
    {"ndim", (getter)get_ndim, NULL, "Arrays: the number of axes.", NULL},
    {"layout", (getter)get_layout, NULL, "Arrays: 'C', 'F' or 'A'.", NULL},
    {"readonly", (getter)get_read_only, NULL, "Arrays: whether kernels cannot write to it.", NULL},
    {"mutable", (getter)get_mutable, NULL, "Arrays: whether kernels can write to it.", NULL},
    {"is_contig", (getter)get_is_dense, NULL, "Arrays: whether the layout is 'C' or 'F'.", "CF"},
    {"is_c_contig", (getter)get_is_dense, NULL, "Arrays: whether the layout is 'C'.", "C"},
    {"is_f_contig", (getter)get_is_dense, NULL, "Arrays: whether the layout is 'F'.", "F"},
    {"bitwidth", (getter)get_bitwidth, NULL, "Scalars: the number of bits in memory.", NULL},
    {"signed", (getter)get_signed, NULL, "Integers: whether they can be negative.", NULL},
    {"underlying_float", (getter)get_part, NULL, "Complex numbers: the type of their parts.", NULL},
    {"base_type", (getter)get_base, NULL, "Vectors: the type of the elements.", NULL},
    {"num_elements", (getter)get_element_count, NULL, "Vectors: their number.", NULL},
    {"count", (getter)get_count, NULL, "Tuples: the number of items.", NULL},
    {"kind", (getter)get_kind, NULL, "'int', 'array', 'tuple', 'range', ...: what values of it are.", NULL},
    {"fields", (getter)get_fields, NULL, "Named tuples and classes: the names of the fields.", NULL},
    {"instance_class", (getter)get_class, NULL, "Dataclasses, declared classes, named tuples with methods: the class.",
     NULL},
    {"types", (getter)get_types, NULL, "Tuples: the types of the items.", NULL},
    {0},
};

static PyMethodDef type_methods[] = {
    {"__reduce__", (PyCFunction)type_reduce, METH_NOARGS, NULL},
    {0},
};

static PyType_Slot type_slots[] = {
    {Py_tp_doc, "A type of kernel values."},
    {Py_tp_dealloc, type_dealloc},
    {Py_tp_repr, type_repr},
    {Py_tp_hash, type_hash},
    {Py_tp_richcompare, type_compare},
    {Py_tp_getset, type_getset},
    {Py_tp_methods, type_methods},
    {Py_tp_call, type_call},
    {Py_mp_subscript, type_subscript},
    {0},
};

static PyType_Spec type_spec = {
    .name = "cujit._core.Type",
    .basicsize = sizeof(ExtType),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = type_slots,
};

/* --- functions of the module ------------------------------------------------------------------------------------------------- */
static PyObject *function_array_type(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"element", "ndim", "layout", "readonly", NULL};
    PyObject *element;
    int ndim, layout = LAYOUT_ANY, read_only = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Oi|Cp:array_type", names, &element, &ndim, &layout, &read_only))
        return NULL;
    const Type *type = ext_type_borrowed(ext_state(module), element);
    if (type && layout != LAYOUT_C && layout != LAYOUT_F && layout != LAYOUT_ANY) {
        PyErr_SetString(PyExc_ValueError, "a layout is 'C', 'F' or 'A'");
        return NULL;
    }
    return type ? make_array_type(ext_state(module), type, ndim, (ArrayLayout)layout, read_only) : NULL;
}

typedef struct TupleParts {
    const Type *const *items;
    uint32_t count;
} TupleParts;

static const Type *tuple_of_parts(Arena *arena, const void *data)
{
    const TupleParts *parts = data;
    const Type **items = ARENA_ARRAY(arena, const Type *, parts->count);
    for (uint32_t i = 0; i < parts->count; i++)
        items[i] = type_copy(arena, parts->items[i]);
    return type_tuple(arena, items, parts->count, TUPLE_PLAIN);
}

/* Before it is made: the parts are copied. */
static bool may_be_tuple(const Type *const *types, uint32_t count)
{
    return ext_check_tuple(&(Type){.kind = TYPE_TUPLE, .tag = TUPLE_PLAIN, .count = count, .items = types});
}

static PyObject *function_tuple_type(PyObject *module, PyObject *items)
{
    ExtState *state = ext_state(module);
    PyObject *tuple = PySequence_Tuple(items);
    Arena *arena = tuple ? ext_arena() : NULL;
    const Type *const *types;
    uint32_t count;
    PyObject *result = NULL;
    if (arena && ext_types_of_tuple(state, tuple, arena, &types, &count) && may_be_tuple(types, count))
        result = ext_make_own_type(state, tuple_of_parts, &(TupleParts){types, count});
    arena_destroy(arena);
    Py_XDECREF(tuple);
    return result;
}

static const Type *pointer_of_element(Arena *arena, const void *element)
{
    const Type *type = element;
    return type_pointer(arena, type->kind == TYPE_NONE ? NULL : type_copy(arena, type));
}

/* Of none: void*. */
static PyObject *function_pointer_type(PyObject *module, PyObject *element)
{
    const Type *type = ext_type_borrowed(ext_state(module), element);
    if (type && type->kind != TYPE_NONE && !type_is_element(type)) {
        PyErr_Format(PyExc_TypeError, "a pointer leads to numbers or records, not to %R", element);
        return NULL;
    }
    return type ? ext_make_own_type(ext_state(module), pointer_of_element, type) : NULL;
}

static const Type *optional_of_value(Arena *arena, const void *value)
{
    return type_optional(arena, type_copy(arena, value));
}

static PyObject *function_optional_type(PyObject *module, PyObject *value)
{
    const Type *type = ext_type_borrowed(ext_state(module), value);
    if (type && (type->kind == TYPE_NONE || type->kind == TYPE_OBJECT || type_is_optional(type))) {
        PyErr_Format(PyExc_TypeError, "what is optional is a value of some type, not %R", value);
        return NULL;
    }
    return type ? ext_make_own_type(ext_state(module), optional_of_value, type) : NULL;
}

typedef struct InstanceParts {
    ExtState *state;
    PyObject *class;
    const Type *const *items;
    uint32_t count;
    PyObject *made;
} InstanceParts;

static bool make_instance_type(void *data)
{
    InstanceParts *parts = data;
    Arena *arena = arena_create();
    const Type *class = ext_class_type(parts->state, parts->class, arena);
    if (class && class->count == parts->count)
        parts->made = ext_type_object(parts->state, type_with_items(arena, class, parts->items));
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "expected a class with fields and a type for each of them");
    arena_destroy(arena);
    return parts->made != NULL;
}

/* The type of a class's instances whose fields have these types. */
static PyObject *function_instance_type(PyObject *module, PyObject *args)
{
    ExtState *state = ext_state(module);
    PyObject *class, *items;
    if (!PyArg_ParseTuple(args, "OO:instance_type", &class, &items))
        return NULL;
    Arena *arena = ext_arena();
    InstanceParts parts = {.state = state, .class = class};
    if (arena && ext_types_of_tuple(state, items, arena, &parts.items, &parts.count) &&
        may_be_tuple(parts.items, parts.count))
        ext_guard(make_instance_type, &parts);
    arena_destroy(arena);
    return parts.made;
}

static PyObject *function_type_of(PyObject *module, PyObject *value)
{
    ExtState *state = ext_state(module);
    PyObject *array = ext_buffer_array(state, value);
    if (PyErr_Occurred())
        return NULL;
    Arena *arena = ext_arena();
    const Type *type = arena ? ext_argument_type(state, array ? array : value, arena) : NULL;
    PyObject *result = type ? ext_type_object(state, type) : NULL;
    arena_destroy(arena);
    Py_XDECREF(array);
    return result;
}

static PyObject *function_type_from_dtype(PyObject *module, PyObject *object)
{
    PyArray_Descr *dtype = NULL;
    if (PyArray_DescrConverter(object, &dtype) != NPY_SUCCEED)
        return NULL;
    const Type *type = ext_element_type(ext_state(module), dtype);
    Py_DECREF(dtype);
    return type ? ext_type_object(ext_state(module), type) : NULL;
}

/* NULL for text that is no type's. */
static const Type *parse_key(Arena *arena, const void *text)
{
    const char *at = text;
    const Type *type = type_parse(arena, &at);
    return type && !*at ? type : NULL;
}

static PyObject *function_type_from_key(PyObject *module, PyObject *key)
{
    const char *text = PyUnicode_AsUTF8(key);
    ExtType *parsed = text ? (ExtType *)ext_make_own_type(ext_state(module), parse_key, text) : NULL;
    PyObject *result = parsed && parsed->type ? ext_type_object(ext_state(module), parsed->type) : NULL;
    if (parsed && !parsed->type)
        PyErr_Format(PyExc_ValueError, "%R is not the key of a type", key);
    Py_XDECREF(parsed);
    return result;
}

static PyMethodDef functions[] = {
    {"array_type", (PyCFunction)(void (*)(void))function_array_type, METH_VARARGS | METH_KEYWORDS, NULL},
    {"tuple_type", function_tuple_type, METH_O, NULL},
    {"pointer_type", function_pointer_type, METH_O, NULL},
    {"optional_type", function_optional_type, METH_O, NULL},
    {"instance_type", function_instance_type, METH_VARARGS, NULL},
    {"type_of", function_type_of, METH_O, "The type that a value has as a kernel argument."},
    {"type_from_dtype", function_type_from_dtype, METH_O, NULL},
    {"type_from_key", function_type_from_key, METH_O, "The type whose key this is."},
    {0},
};

static bool add_singletons(PyObject *module, ExtState *state)
{
    PyObject *dict = PyDict_New();
    if (!dict)
        return false;
    for (int i = 0; i < EXT_SINGLETON_COUNT; i++) {
        const Type *type = i == EXT_NONE_TYPE ? &type_none : &type_scalars[i];
        state->singletons[i] = ext_make_type(state, type, NULL);
        PyObject *name = state->singletons[i] ? type_repr((ExtType *)state->singletons[i]) : NULL;
        bool ok = name && PyDict_SetItem(dict, name, state->singletons[i]) == 0;
        Py_XDECREF(name);
        if (!ok) {
            Py_DECREF(dict);
            return false;
        }
    }
    bool ok = PyModule_AddObjectRef(module, "scalar_types", dict) == 0;
    Py_DECREF(dict);
    return ok;
}

typedef struct VectorParts {
    const Type *element;
    uint32_t count;
} VectorParts;

static const Type *vector_of_parts(Arena *arena, const void *data)
{
    const VectorParts *parts = data;
    return type_vector(arena, parts->element, parts->count);
}

/* vector_types: every vector under its names, "float32x4" and "float4". */
static bool add_vector(PyObject *dict, ExtState *state, const VectorBase *base, uint32_t count)
{
    PyObject *type = ext_make_own_type(state, vector_of_parts, &(VectorParts){&type_scalars[base->scalar], count});
    PyObject *name = type ? type_repr((ExtType *)type) : NULL;
    bool ok = name && PyDict_SetItem(dict, name, type) == 0;
    for (const char *at = base->names; ok && *at;) {
        size_t length = strcspn(at, " ");
        char alias[32];
        snprintf(alias, sizeof alias, "%.*s%u", (int)length, at, count);
        ok = PyDict_SetItemString(dict, alias, type) == 0;
        at += length + (at[length] == ' ');
    }
    Py_XDECREF(name);
    Py_XDECREF(type);
    return ok;
}

static bool add_vectors(PyObject *module, ExtState *state)
{
    PyObject *dict = PyDict_New();
    bool ok = dict != NULL;
    for (int base = 0; ok && base < vector_base_count; base++)
        for (uint32_t count = 1; ok && count <= VECTOR_MOST; count++)
            ok = add_vector(dict, state, &vector_bases[base], count);
    ok = ok && PyModule_AddObjectRef(module, "vector_types", dict) == 0;
    Py_XDECREF(dict);
    return ok;
}

bool ext_add_types(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->type_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &type_spec, NULL);
    return state->type_type && PyModule_AddType(module, state->type_type) == 0 && add_singletons(module, state) &&
           add_vectors(module, state) && PyModule_AddFunctions(module, functions) == 0;
}
