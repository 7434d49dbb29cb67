/* Signature: argument types and a result type; and signature text. */
#include "ext/guard.h"
#include "ext/kernel/signature_object.h"

#include "ext/module_parts.h"
#include "ext/raise.h"
#include "ext/snapshot/type_value.h"
#include "jit/jit.h"

typedef struct ExtSignature {
    PyObject_HEAD PyObject *args; /* tuple of Type */
    PyObject *return_type; /* Type or None */
} ExtSignature;

PyObject *ext_signature_object(ExtState *state, PyObject *args, PyObject *return_type)
{
    ExtSignature *self = PyObject_GC_New(ExtSignature, state->signature_type);
    if (!self)
        return NULL;
    self->args = Py_NewRef(args);
    self->return_type = Py_NewRef(return_type);
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

typedef struct TypeCopies {
    const Type **types;
    uint32_t count;
    Arena *arena;
} TypeCopies;

static bool copy_types(void *data)
{
    const TypeCopies *copies = data;
    for (uint32_t i = 0; i < copies->count; i++)
        copies->types[i] = type_copy(copies->arena, copies->types[i]);
    return true;
}

bool ext_types_of_tuple(ExtState *state, PyObject *tuple, Arena *arena, const Type *const **types, uint32_t *count)
{
    if (!PyTuple_Check(tuple)) {
        PyErr_Format(PyExc_TypeError, "expected a tuple of types, got %R", tuple);
        return false;
    }
    *count = (uint32_t)PyTuple_GET_SIZE(tuple);
    const Type **items = ext_arena_alloc(arena, *count * sizeof *items);
    for (uint32_t i = 0; items && i < *count; i++)
        if (!(items[i] = ext_type_borrowed(state, PyTuple_GET_ITEM(tuple, i))))
            return false;
    TypeCopies copies = {items, *count, arena};
    *types = items;
    return items && ext_guard(copy_types, &copies);
}

PyObject *ext_tuple_of_types(ExtState *state, const Type *const *types, uint32_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (uint32_t i = 0; tuple && i < count; i++) {
        PyObject *type = ext_type_object(state, types[i]);
        if (type)
            PyTuple_SET_ITEM(tuple, i, type);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static int signature_traverse(ExtSignature *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->args);
    Py_VISIT(self->return_type);
    return 0;
}

static int signature_clear(ExtSignature *self)
{
    Py_CLEAR(self->args);
    Py_CLEAR(self->return_type);
    return 0;
}

static void signature_dealloc(ExtSignature *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    signature_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(class);
}

/* "float32, int64": the arguments apart by commas. */
static PyObject *joined_arguments(ExtSignature *self)
{
    PyObject *separator = PyUnicode_FromString(", "), *texts = PyList_New(0), *result = NULL;
    for (Py_ssize_t i = 0; texts && i < PyTuple_GET_SIZE(self->args); i++) {
        PyObject *text = PyObject_Str(PyTuple_GET_ITEM(self->args, i));
        if (!text || PyList_Append(texts, text) < 0)
            Py_CLEAR(texts);
        Py_XDECREF(text);
    }
    if (separator && texts)
        result = PyUnicode_Join(separator, texts);
    Py_XDECREF(separator);
    Py_XDECREF(texts);
    return result;
}

static PyObject *signature_repr(ExtSignature *self)
{
    PyObject *arguments = joined_arguments(self), *result = NULL;
    if (arguments && self->return_type == Py_None)
        result = PyUnicode_FromFormat("(%U)", arguments);
    else if (arguments)
        result = PyUnicode_FromFormat("(%U) -> %S", arguments, self->return_type);
    Py_XDECREF(arguments);
    return result;
}

static PyObject *signature_pair(ExtSignature *self) { return PyTuple_Pack(2, self->args, self->return_type); }

static Py_hash_t signature_hash(ExtSignature *self)
{
    PyObject *pair = signature_pair(self);
    Py_hash_t hash = pair ? PyObject_Hash(pair) : -1;
    Py_XDECREF(pair);
    return hash;
}

static PyObject *signature_compare(ExtSignature *self, PyObject *other, int operation)
{
    if (!Py_IS_TYPE(other, Py_TYPE(self)) || (operation != Py_EQ && operation != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *mine = signature_pair(self), *theirs = signature_pair((ExtSignature *)other);
    PyObject *result = mine && theirs ? PyObject_RichCompare(mine, theirs, operation) : NULL;
    Py_XDECREF(mine);
    Py_XDECREF(theirs);
    return result;
}

static PyObject *signature_reduce(ExtSignature *self, PyObject *Py_UNUSED(ignored))
{
    return Py_BuildValue("O(OO)", Py_TYPE(self), self->args, self->return_type);
}

static PyObject *signature_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"args", "return_type", NULL};
    PyObject *types, *return_type = Py_None;
    ExtState *state = ext_state_of_type(class);
    if (!state ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "O!|O:Signature", names, &PyTuple_Type, &types, &return_type))
        return NULL;
    if (return_type != Py_None && !ext_type_borrowed(state, return_type))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types); i++)
        if (!ext_type_borrowed(state, PyTuple_GET_ITEM(types, i)))
            return NULL;
    return ext_signature_object(state, types, return_type);
}

static PyMemberDef signature_members[] = {
    {"args", T_OBJECT, offsetof(ExtSignature, args), READONLY, "The argument types."},
    {"return_type", T_OBJECT, offsetof(ExtSignature, return_type), READONLY, "The result type; None: not stated."},
    {0},
};

static PyMethodDef signature_methods[] = {
    {"__reduce__", (PyCFunction)signature_reduce, METH_NOARGS, NULL},
    {0},
};

static PyType_Slot signature_slots[] = {
    {Py_tp_doc, "Argument types and the result type of a function."},
    {Py_tp_new, signature_new},
    {Py_tp_dealloc, signature_dealloc},
    {Py_tp_traverse, signature_traverse},
    {Py_tp_clear, signature_clear},
    {Py_tp_repr, signature_repr},
    {Py_tp_hash, signature_hash},
    {Py_tp_richcompare, signature_compare},
    {Py_tp_members, signature_members},
    {Py_tp_methods, signature_methods},
    {0},
};

static PyType_Spec signature_spec = {
    .name = "cujit._core.Signature",
    .basicsize = sizeof(ExtSignature),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = signature_slots,
};

static PyObject *function_parse_signature(PyObject *module, PyObject *text)
{
    ExtState *state = ext_state(module);
    const char *utf8 = PyUnicode_AsUTF8(text);
    if (!utf8)
        return NULL;
    Arena *arena = ext_arena();
    Diag diag = {0};
    JitSignature parsed;
    PyObject *args = NULL, *return_type = NULL, *result = NULL;
    if (!arena)
        return NULL;
    if (!jit_parse_signature(utf8, arena, &parsed, &diag)) {
        ext_raise(&diag);
        goto out;
    }
    args = ext_tuple_of_types(state, parsed.arguments, parsed.count);
    return_type = parsed.result ? ext_type_object(state, parsed.result) : Py_NewRef(Py_None);
    if (args && return_type)
        result = ext_signature_object(state, args, return_type);
out:
    Py_XDECREF(args);
    Py_XDECREF(return_type);
    arena_destroy(arena);
    return result;
}

static PyMethodDef functions[] = {
    {"parse_signature", function_parse_signature, METH_O, "Signature text -> Signature."},
    {0},
};

bool ext_add_signatures(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->signature_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &signature_spec, NULL);
    return state->signature_type && PyModule_AddType(module, state->signature_type) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}
