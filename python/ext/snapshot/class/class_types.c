/* Classes whose instances have named fields: named tuples and dataclasses. Their types name the fields; types of dataclasses
 * name the class, too, by its address, so such classes are kept alive. */
#include "ext/snapshot/class/class_types.h"

#include "ext/guard.h"
#include "ext/snapshot/type_value.h"

/* A named tuple's field names as a tuple; NULL for other classes, with an exception where that could not be found out. New
 * reference. */
static PyObject *tuple_fields(PyObject *class)
{
    PyObject *fields = NULL;
    if (PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type) && class != (PyObject *)&PyTuple_Type)
        fields = PyObject_GetAttrString(class, "_fields");
    if (fields && !PyTuple_Check(fields))
        Py_CLEAR(fields);
    ext_forgive();
    return fields;
}

/* The same of a dataclass. */
static PyObject *dataclass_fields(PyObject *class)
{
    PyObject *marker = PyObject_GetAttrString(class, "__dataclass_fields__");
    PyObject *module = marker ? PyImport_ImportModule("dataclasses") : NULL;
    PyObject *fields = module ? PyObject_CallMethod(module, "fields", "O", class) : NULL;
    PyObject *names = fields ? PyTuple_New(PyTuple_GET_SIZE(fields)) : NULL;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(fields); i++) {
        PyObject *name = PyObject_GetAttrString(PyTuple_GET_ITEM(fields, i), "name");
        if (name)
            PyTuple_SET_ITEM(names, i, name);
        else
            Py_CLEAR(names);
    }
    Py_XDECREF(fields);
    Py_XDECREF(module);
    Py_XDECREF(marker);
    ext_forgive();
    return names;
}

static const Type *type_of_fields(PyObject *class, PyObject *fields, TupleTag tag, Arena *arena)
{
    uint32_t count = (uint32_t)PyTuple_GET_SIZE(fields);
    const Type **items = ARENA_ARRAY(arena, const Type *, count);
    const char **names = ARENA_ARRAY(arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(fields, i));
        items[i] = &type_none;
        if (!names[i])
            return NULL;
    }
    Type *type = (Type *)type_named_tuple(arena, ((PyTypeObject *)class)->tp_name, items, names, count);
    type->tag = tag;
    type->object = tag == TUPLE_INSTANCE ? class : NULL;
    return type;
}

PyObject *ext_class_fields(ExtState *state, PyObject *class)
{
    ExtDeclaredClass declared;
    if (ext_declared_class(state, class, &declared))
        return Py_NewRef(declared.names);
    PyObject *fields = tuple_fields(class);
    return fields || PyErr_Occurred() ? fields : dataclass_fields(class);
}

static const Type *declared_type(ExtState *state, const ExtDeclaredClass *declared, Arena *arena)
{
    Type *type = (Type *)type_of_fields(declared->class, declared->names, TUPLE_INSTANCE, arena);
    const Type **items = type ? (const Type **)type->items : NULL;
    for (uint32_t i = 0; items && i < type->count; i++) {
        PyObject *stated = PyTuple_GetItem(declared->types, i);
        const Type *item = stated && stated != Py_None ? ext_type_borrowed(state, stated) : &type_none;
        if (!stated || !item)
            return NULL;
        items[i] = type_copy(arena, item);
    }
    return type;
}

/* The attributes that collections.namedtuple gives to every class that it makes, as one of them has them. A borrowed reference;
 * NULL with an exception. */
static PyObject *made_attributes(ExtState *state)
{
    PyObject *known = ext_state_known(&state->made_attributes);
    if (known)
        return known;
    PyObject *module = ext_hold(PyImport_ImportModule("collections"));
    PyObject *sample = module ? ext_hold(PyObject_CallMethod(module, "namedtuple", "s()", "sample")) : NULL;
    PyObject *attributes = sample ? ext_hold(PyObject_GetAttrString(sample, "__dict__")) : NULL;
    return attributes ? ext_state_publish(&state->made_attributes, PyFrozenSet_New(attributes)) : NULL;
}

static bool is_method(PyObject *value)
{
    return PyFunction_Check(value) || Py_IS_TYPE(value, &PyProperty_Type) || Py_IS_TYPE(value, &PyStaticMethod_Type);
}

/* Kernels make the library's named tuples themselves: the snapshot has their methods, as functions of the library. */
static bool is_of_library(PyObject *class)
{
    static const char library[] = "cujit._kernel_functions";
    PyObject *module = ext_hold(PyObject_GetAttrString(class, "__module__"));
    const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    ext_forgive();
    return text && strncmp(text, library, sizeof library - 1) == 0;
}

/* Whether the program has given the class of a named tuple methods, operators or properties. -1: an exception. */
static int tuple_has_methods(ExtState *state, PyObject *class)
{
    if (is_of_library(class))
        return 0;
    PyObject *made = made_attributes(state);
    if (!made)
        return -1;
    PyObject *classes = ((PyTypeObject *)class)->tp_mro;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes); i++) {
        PyObject *base = PyTuple_GET_ITEM(classes, i), *attributes = ((PyTypeObject *)base)->tp_dict;
        if (base == (PyObject *)&PyTuple_Type || !attributes || !PyDict_Check(attributes))
            continue;
        PyObject *pairs = ext_hold(PyDict_Items(attributes));
        for (Py_ssize_t k = 0; pairs && k < PyList_GET_SIZE(pairs); k++) {
            PyObject *pair = PyList_GET_ITEM(pairs, k), *name = PyTuple_GET_ITEM(pair, 0);
            if (is_method(PyTuple_GET_ITEM(pair, 1)) && PySet_Contains(made, name) == 0)
                return 1;
        }
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* Kernels see the fields alone: what a class that is derived from a named tuple's has in place of one is refused. */
static bool check_hidden(PyObject *class, PyObject *fields)
{
    PyObject *classes = ((PyTypeObject *)class)->tp_mro;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes); i++) {
        PyObject *attributes = ((PyTypeObject *)PyTuple_GET_ITEM(classes, i))->tp_dict;
        if (!attributes || !PyDict_Check(attributes))
            continue;
        if (PyDict_GetItemString(attributes, "_fields"))
            break;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(fields); k++) {
            PyObject *field = PyTuple_GET_ITEM(fields, k);
            if (PyDict_Contains(attributes, field) <= 0)
                continue;
            PyErr_Format(PyExc_TypeError,
                         "'%s' is a named tuple with a field '%U' and has another '%U' of its own, which hides that; "
                         "kernels would read the field: give one of the two another name",
                         ((PyTypeObject *)class)->tp_name, field, field);
            return false;
        }
    }
    return !PyErr_Occurred();
}

const Type *ext_class_type(ExtState *state, PyObject *class, Arena *arena)
{
    ExtDeclaredClass declared;
    if (ext_declared_class(state, class, &declared))
        return PySet_Add(state->kept_classes, declared.class) == 0 ? declared_type(state, &declared, arena) : NULL;
    PyObject *fields = ext_hold(ext_class_fields(state, class));
    TupleTag tag = PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type) ? TUPLE_NAMED : TUPLE_INSTANCE;
    if (!fields || (tag == TUPLE_NAMED && !check_hidden(class, fields)))
        return NULL;
    int has_methods = tag == TUPLE_NAMED ? tuple_has_methods(state, class) : 1;
    if (has_methods < 0 || (has_methods && PySet_Add(state->kept_classes, class) < 0))
        return NULL;
    Type *type = (Type *)type_of_fields(class, fields, tag, arena);
    if (type && tag == TUPLE_NAMED && has_methods)
        type->class = class;
    return type;
}

typedef struct ClassWork {
    ExtState *state;
    PyObject *class;
    Arena *arena;
    bool is_plain;
} ClassWork;

static bool find_plain(void *data)
{
    ClassWork *work = data;
    const Type *type = ext_class_type(work->state, work->class, work->arena);
    work->is_plain = type && type_is_tagged(type, TUPLE_NAMED) && !type->class;
    return type != NULL;
}

/* What is known of a class is there for as long as the class is, since a reference to it is kept with that. */
int ext_class_is_plain(ExtState *state, PyObject *class)
{
    PyObject **place = &state->plain_classes[((uintptr_t)class >> 6) % EXT_PLAIN_CLASSES];
    if (__atomic_load_n(place, __ATOMIC_ACQUIRE) == class)
        return 1;
    ClassWork work = {state, class, ext_arena(), false};
    if (!work.arena)
        return -1;
    bool known = ext_guard(find_plain, &work);
    arena_destroy(work.arena);
    if (work.is_plain)
        Py_XDECREF(__atomic_exchange_n(place, Py_NewRef(class), __ATOMIC_ACQ_REL));
    return known || !PyErr_Occurred() ? work.is_plain : -1;
}

/* Whether a subclass of a named tuple's class adds a constructor. */
static bool tuple_has_own_constructor(PyTypeObject *class)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(class->tp_mro); i++) {
        PyObject *attributes = ((PyTypeObject *)PyTuple_GET_ITEM(class->tp_mro, i))->tp_dict;
        if (!attributes || PyDict_GetItemString(attributes, "_fields"))
            return false;
        if (PyDict_GetItemString(attributes, "__new__") || PyDict_GetItemString(attributes, "__init__"))
            return true;
    }
    return false;
}

bool ext_class_has_own_constructor(ExtState *state, PyObject *class)
{
    ExtDeclaredClass declared;
    if (ext_declared_class(state, class, &declared))
        return PyType_Check(class) && !declared.makes;
    if (PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type))
        return tuple_has_own_constructor((PyTypeObject *)class);
    PyObject *parameters = PyObject_GetAttrString(class, "__dataclass_params__");
    PyObject *makes_init = parameters ? PyObject_GetAttrString(parameters, "init") : NULL;
    bool own = makes_init != Py_True || PyObject_HasAttrString(class, "__post_init__");
    ext_forgive();
    Py_XDECREF(makes_init);
    Py_XDECREF(parameters);
    return own;
}

static PyObject *tuple_defaults(PyObject *class)
{
    PyObject *defaults = PyObject_GetAttrString(class, "_field_defaults");
    if (defaults && PyDict_Check(defaults))
        return defaults;
    Py_XDECREF(defaults);
    return ext_forgive() ? PyDict_New() : NULL;
}

PyObject *ext_class_defaults(ExtState *state, PyObject *class)
{
    ExtDeclaredClass declared;
    if (ext_declared_class(state, class, &declared))
        return PyDict_New();
    if (PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type))
        return tuple_defaults(class);
    PyObject *fields = PyObject_GetAttrString(class, "__dataclass_fields__"), *defaults = PyDict_New();
    PyObject *module = PyImport_ImportModule("dataclasses");
    PyObject *missing = module ? PyObject_GetAttrString(module, "MISSING") : NULL;
    PyObject *pairs = missing && fields && PyDict_Check(fields) ? PyDict_Items(fields) : NULL;
    for (Py_ssize_t i = 0; pairs && defaults && i < PyList_GET_SIZE(pairs); i++) {
        PyObject *name = PyTuple_GET_ITEM(PyList_GET_ITEM(pairs, i), 0);
        PyObject *value = PyObject_GetAttrString(PyTuple_GET_ITEM(PyList_GET_ITEM(pairs, i), 1), "default");
        if (!value || (value != missing && PyDict_SetItem(defaults, name, value) < 0))
            Py_CLEAR(defaults);
        Py_XDECREF(value);
    }
    if (!pairs)
        Py_CLEAR(defaults);
    Py_XDECREF(pairs);
    Py_XDECREF(missing);
    Py_XDECREF(module);
    Py_XDECREF(fields);
    return defaults;
}
