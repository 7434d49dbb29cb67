/* Intrinsic: what has a meaning in kernels only; and which objects of math, numpy, ... are intrinsics, too. Everything
 * comes from the rows of intrinsic.def. */
#include "ext/module_parts.h"
#include "ext/raise.h"
#include "ext/snapshot/intrinsic_lookup.h"

static PyObject *make_intrinsic(ExtState *state, PyObject *path, int number)
{
    ExtIntrinsic *self = PyObject_New(ExtIntrinsic, state->intrinsic_type);
    if (!self)
        return NULL;
    self->state = state;
    self->path = Py_NewRef(path);
    self->number = number;
    return (PyObject *)self;
}

static void intrinsic_dealloc(ExtIntrinsic *self)
{
    PyTypeObject *class = Py_TYPE(self);
    Py_DECREF(self->path);
    PyObject_Free(self);
    Py_DECREF(class);
}

static PyObject *intrinsic_getattro(ExtIntrinsic *self, PyObject *name)
{
    PyObject *child = ext_intrinsic_child(self->state, self->path, name);
    if (child)
        return child;
    return PyErr_Occurred() ? NULL : PyObject_GenericGetAttr((PyObject *)self, name);
}

static PyObject *intrinsic_call(ExtIntrinsic *self, PyObject *args, PyObject *kwargs);

static PyObject *fail_on_host(const ExtIntrinsic *self)
{
    char text[200];
    snprintf(text, sizeof text, "%s can be used in kernels only", PyUnicode_AsUTF8(self->path));
    return ext_raise_id(DIAG_UNSUPPORTED, text);
}

/* cuda.threadIdx.x + 1, range(cuda.blockDim.x) on the host. */
static PyObject *compute(PyObject *left, PyObject *right)
{
    bool is_left = Py_TYPE(left)->tp_call == (ternaryfunc)intrinsic_call;
    return fail_on_host((ExtIntrinsic *)(is_left ? left : right));
}

static PyObject *compute_alone(PyObject *self) { return fail_on_host((ExtIntrinsic *)self); }

/* cuda.threadIdx.x < 3 on the host. Whether it is something that is no number can be answered. */
static PyObject *compare(PyObject *left, PyObject *right, int operator)
{
    bool is_equality = operator == Py_EQ || operator == Py_NE;
    if (!is_equality || PyLong_Check(right) || PyFloat_Check(right))
        return fail_on_host((ExtIntrinsic *)left);
    Py_RETURN_NOTIMPLEMENTED;
}

static Py_hash_t hash_of(PyObject *self) { return PyBaseObject_Type.tp_hash(self); }

static PyObject *intrinsic_call(ExtIntrinsic *self, PyObject *args, PyObject *kwargs)
{
    bool is_mark = self->number == INTRINSIC_LITERAL_UNROLL || self->number == INTRINSIC_LITERALLY;
    if (is_mark && PyTuple_GET_SIZE(args) == 1 && !kwargs)
        return Py_NewRef(PyTuple_GET_ITEM(args, 0));
    return fail_on_host(self);
}

static PyObject *intrinsic_repr(ExtIntrinsic *self) { return PyUnicode_FromFormat("<cujit intrinsic %U>", self->path); }
static PyObject *intrinsic_reduce(ExtIntrinsic *self, PyObject *Py_UNUSED(ignored));

static PyObject *get_doc(ExtIntrinsic *self, void *Py_UNUSED(closure))
{
    const LibraryFunction *library = library_function_by_number(self->number);
    if (self->number == INTRINSIC_NONE)
        Py_RETURN_NONE;
    return PyUnicode_FromString(library ? library->doc : intrinsic_info[self->number].doc);
}

/* The last word of the path. */
static PyObject *get_name(ExtIntrinsic *self, void *Py_UNUSED(closure))
{
    const char *path = PyUnicode_AsUTF8(self->path);
    return path ? PyUnicode_FromString(strrchr(path, '.') + 1) : NULL;
}

static PyObject *intrinsic_dir(ExtIntrinsic *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *names = PyObject_Dir((PyObject *)Py_TYPE(self)), *paths = PyDict_Keys(self->state->intrinsics);
    Py_ssize_t length = PyUnicode_GET_LENGTH(self->path);
    if (!paths)
        Py_CLEAR(names);
    for (Py_ssize_t i = 0; names && i < PyList_GET_SIZE(paths); i++) {
        PyObject *path = PyList_GET_ITEM(paths, i);
        bool below = PyUnicode_Tailmatch(path, self->path, 0, PY_SSIZE_T_MAX, -1) == 1 &&
                     PyUnicode_GET_LENGTH(path) > length && PyUnicode_ReadChar(path, length) == '.' &&
                     PyUnicode_FindChar(path, '.', length + 1, PY_SSIZE_T_MAX, 1) < 0;
        PyObject *name = below ? PyUnicode_Substring(path, length + 1, PY_SSIZE_T_MAX) : NULL;
        if (below && (!name || PyList_Append(names, name) < 0))
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    Py_XDECREF(paths);
    return names;
}

static PyMemberDef intrinsic_members[] = {
    {"path", T_OBJECT, offsetof(ExtIntrinsic, path), READONLY, "Where it is: 'cuda.atomic.add'."},
    {0},
};

static PyGetSetDef intrinsic_getset[] = {
    {"__doc__", (getter)get_doc, NULL, NULL, NULL},
    {"__name__", (getter)get_name, NULL, NULL, NULL},
    {0},
};

static PyMethodDef intrinsic_methods[] = {
    {"__dir__", (PyCFunction)intrinsic_dir, METH_NOARGS, NULL},
    {"__reduce__", (PyCFunction)intrinsic_reduce, METH_NOARGS, NULL},
    {0},
};

static PyType_Slot intrinsic_slots[] = {
    {Py_tp_dealloc, intrinsic_dealloc},
    {Py_tp_repr, intrinsic_repr},
    {Py_tp_getattro, intrinsic_getattro},
    {Py_tp_call, intrinsic_call},
    {Py_tp_members, intrinsic_members},
    {Py_tp_getset, intrinsic_getset},
    {Py_tp_methods, intrinsic_methods},
    {Py_tp_richcompare, compare},
    {Py_tp_hash, hash_of},
    {Py_nb_add, compute},
    {Py_nb_subtract, compute},
    {Py_nb_multiply, compute},
    {Py_nb_remainder, compute},
    {Py_nb_floor_divide, compute},
    {Py_nb_true_divide, compute},
    {Py_nb_index, compute_alone},
    {Py_nb_int, compute_alone},
    {Py_nb_float, compute_alone},
    {0},
};

static PyType_Spec intrinsic_spec = {
    .name = "cujit._core.Intrinsic",
    .basicsize = sizeof(ExtIntrinsic),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = intrinsic_slots,
};

static PyObject *function_intrinsic(PyObject *module, PyObject *path)
{
    PyObject *found;
    if (PyDict_GetItemRef(ext_state(module)->intrinsics, path, &found) == 0)
        PyErr_SetObject(PyExc_KeyError, path);
    return found;
}

static PyObject *intrinsic_reduce(ExtIntrinsic *self, PyObject *Py_UNUSED(ignored))
{
    PyObject *module = PyType_GetModuleByDef(Py_TYPE(self), &ext_module);
    PyObject *restore = module ? PyObject_GetAttrString(module, "intrinsic") : NULL;
    return restore ? Py_BuildValue("N(O)", restore, self->path) : NULL;
}

static PyMethodDef functions[] = {
    {"intrinsic", function_intrinsic, METH_O, "The Intrinsic with this path."},
    {0},
};

/* --- the rows ------------------------------------------------------------------------------------------------------------------- */
/* Adds "cuda.atomic.add" with its number, and "cuda.atomic" where it is not there yet. */
static bool add_path(ExtState *state, const char *path, size_t length, int number)
{
    for (size_t end = sizeof EXT_PACKAGE_PREFIX - 1; end <= length; end++) {
        if (end < length && path[end] != '.')
            continue;
        PyObject *key = PyUnicode_FromStringAndSize(path, (Py_ssize_t)end);
        PyObject *known = key ? PyDict_GetItemWithError(state->intrinsics, key) : NULL;
        bool ok = key && !PyErr_Occurred();
        if (ok && known && end == length)
            ((ExtIntrinsic *)known)->number = number;
        if (ok && !known) {
            PyObject *made = make_intrinsic(state, key, end == length ? number : INTRINSIC_NONE);
            ok = made && PyDict_SetItem(state->intrinsics, key, made) == 0;
            Py_XDECREF(made);
        }
        Py_XDECREF(key);
        if (!ok)
            return false;
    }
    return true;
}

static bool add_package_path(void *state, const char *path, size_t length, int number)
{
    size_t prefix = sizeof EXT_PACKAGE_PREFIX - 1;
    return length <= prefix || strncmp(path, EXT_PACKAGE_PREFIX, prefix) != 0 || add_path(state, path, length, number);
}

/* --- tables for the package, its documentation and its tests ---------------------------------------------------------------- */
static PyObject *split(const char *paths)
{
    PyObject *text = PyUnicode_FromString(paths), *words = text ? PyUnicode_Split(text, NULL, -1) : NULL;
    PyObject *all = words ? PyList_AsTuple(words) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(words);
    return all;
}

static PyObject *row_of_intrinsic(const IntrinsicInfo *info, const LibraryFunction *general)
{
    static const char *const kinds[] = {"none", "builtin", "register", "math", "device", "libdevice"};
    PyObject *paths = split(info->path);
    PyObject *function = general ? PyUnicode_FromFormat("%s.%s", general->module, general->name) : Py_NewRef(Py_None);
    if (!paths || !function) {
        Py_XDECREF(paths);
        Py_XDECREF(function);
        return NULL;
    }
    return Py_BuildValue("{sssNsssssisIszszszszszszsNsLsLszszsi}", "id", info->id, "paths", paths, "kind",
                         kinds[info->kind], "doc", info->doc, "arity", info->arity, "effects", info->effects, "nvptx",
                         info->nvptx, "libdevice64", info->libdevice64, "libdevice32", info->libdevice32, "host64",
                         info->host64, "numpy", info->numpy, "signature", info->signature, "python_function", function,
                         "low", (long long)info->low, "high", (long long)info->high, "parameters", info->parameters,
                         "shape", info->shape, "sm", info->sm);
}

/* A library function as a row; its id is its path. */
static PyObject *row_of_function(const LibraryFunction *function)
{
    IntrinsicInfo info = {.id = function->path, .path = function->path, .doc = function->doc};
    PyObject *row = row_of_intrinsic(&info, function), *kind = row ? PyUnicode_FromString("python_function") : NULL;
    bool ok = kind && PyDict_SetItemString(row, "kind", kind) == 0;
    Py_XDECREF(kind);
    if (!ok)
        Py_CLEAR(row);
    return row;
}

static bool append_row(PyObject *table, PyObject *row)
{
    bool ok = row && PyList_Append(table, row) == 0;
    Py_XDECREF(row);
    return ok;
}

static bool add_intrinsic_table(PyObject *module)
{
    PyObject *rows = PyList_New(0);
    bool ok = rows != NULL;
    for (int id = 1; ok && id < INTRINSIC_COUNT; id++)
        ok = append_row(rows, row_of_intrinsic(&intrinsic_info[id], library_function_general((IntrinsicId)id)));
    for (int i = 0; ok && i < library_function_count; i++)
        if (!library_function_is_form(&library_functions[i]))
            ok = append_row(rows, row_of_function(&library_functions[i]));
    PyObject *table = ok ? PyList_AsTuple(rows) : NULL;
    ok = table && PyModule_AddObjectRef(module, "intrinsic_table", table) == 0;
    Py_XDECREF(rows);
    Py_XDECREF(table);
    return ok;
}

bool ext_add_intrinsics(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->intrinsics = PyDict_New();
    state->intrinsic_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &intrinsic_spec, NULL);
    return state->intrinsics && state->intrinsic_type && PyModule_AddType(module, state->intrinsic_type) == 0 &&
           ext_each_intrinsic_path(state, add_package_path) &&
           PyModule_AddObjectRef(module, "intrinsics", state->intrinsics) == 0 && add_intrinsic_table(module) &&
           PyModule_AddFunctions(module, functions) == 0;
}
