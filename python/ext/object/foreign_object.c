/* LinkItem and ForeignFunction, which cujit.cuda's classes of that kind derive from; what can be linked, as a table. */
#include "ext/snapshot/foreign_value.h"

#include "ext/module_parts.h"

/* --- what is linked --------------------------------------------------------------------------------------------------- */
static bool read_kind(const char *id, LinkKind *kind)
{
    for (int i = 0; i < LINK_KIND_COUNT; i++)
        if (strcmp(link_kind_info[i].id, id) == 0) {
            *kind = (LinkKind)i;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "'%s' is no kind of code", id);
    return false;
}

static PyObject *item_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"kind", "data", "name", "path", "is_watched", NULL};
    const char *id;
    PyObject *data, *name, *path = Py_None;
    int is_watched = 0;
    LinkKind kind;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO!U|Op:LinkItem", names, &id, &PyBytes_Type, &data, &name, &path,
                                     &is_watched) ||
        !read_kind(id, &kind))
        return NULL;
    if (path != Py_None && !PyUnicode_Check(path)) {
        PyErr_SetString(PyExc_TypeError, "path is a str or None");
        return NULL;
    }
    ExtLinkItem *self = (ExtLinkItem *)class->tp_alloc(class, 0);
    if (self) {
        self->data = Py_NewRef(data);
        self->name = Py_NewRef(name);
        self->path = Py_NewRef(path);
        self->kind = kind;
        self->is_watched = is_watched;
    }
    return (PyObject *)self;
}

static int item_traverse(ExtLinkItem *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void item_dealloc(ExtLinkItem *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->data);
    Py_XDECREF(self->name);
    Py_XDECREF(self->path);
    class->tp_free(self);
    Py_DECREF(class);
}

static PyObject *item_kind(ExtLinkItem *self, void *Py_UNUSED(closure))
{
    return PyUnicode_FromString(link_kind_info[self->kind].id);
}

static PyMemberDef item_members[] = {
    {"data", T_OBJECT, offsetof(ExtLinkItem, data), READONLY, "The code, as bytes."},
    {"name", T_OBJECT, offsetof(ExtLinkItem, name), READONLY, "What messages call it."},
    {"path", T_OBJECT, offsetof(ExtLinkItem, path), READONLY, "Of a shared library: where it is opened."},
    {0},
};

static PyGetSetDef item_getset[] = {
    {"kind", (getter)item_kind, NULL, "A row of core/link_kind.def.", NULL},
    {0},
};

static PyType_Slot item_slots[] = {
    {Py_tp_doc, "Code that is linked beside kernels."},
    {Py_tp_new, item_new},
    {Py_tp_dealloc, item_dealloc},
    {Py_tp_traverse, item_traverse},
    {Py_tp_members, item_members},
    {Py_tp_getset, item_getset},
    {0},
};

static PyType_Spec item_spec = {
    .name = "cujit._core.LinkItem",
    .basicsize = sizeof(ExtLinkItem),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = item_slots,
};

/* --- functions ---------------------------------------------------------------------------------------------------------- */
static bool check_tuple(ExtState *state, PyObject *tuple, bool (*fits)(ExtState *, PyObject *), const char *wanted)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        if (!fits(state, PyTuple_GET_ITEM(tuple, i))) {
            PyErr_Format(PyExc_TypeError, "expected %s, not %R", wanted, PyTuple_GET_ITEM(tuple, i));
            return false;
        }
    return true;
}

static bool is_type(ExtState *state, PyObject *object) { return PyObject_TypeCheck(object, state->type_type); }
static bool is_link(ExtState *state, PyObject *object) { return PyObject_TypeCheck(object, state->link_type); }
static bool is_flag(ExtState *Py_UNUSED(state), PyObject *object) { return PyBool_Check(object); }

static PyObject *function_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"symbol", "result", "parameters", "by_pointer", "abi", "links", "is_cooperative", NULL};
    ExtForeignFunction given = {0};
    const char *abi_name;
    int is_cooperative = 0;
    ExtState *state = ext_state_of_type(class);
    if (!state ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "UO!O!O!sO!|p:ForeignFunction", names, &given.symbol,
                                     state->type_type, &given.result, &PyTuple_Type, &given.parameters, &PyTuple_Type,
                                     &given.by_pointer, &abi_name, &PyTuple_Type, &given.links, &is_cooperative))
        return NULL;
    while (given.abi < FOREIGN_ABI_COUNT && strcmp(foreign_abi_names[given.abi], abi_name) != 0)
        given.abi++;
    bool ok = check_tuple(state, given.parameters, is_type, "a type") &&
              check_tuple(state, given.by_pointer, is_flag, "a bool") &&
              check_tuple(state, given.links, is_link, "code to link");
    if (ok && (given.abi == FOREIGN_ABI_COUNT || PyUnicode_GET_LENGTH(given.symbol) == 0 ||
               PyTuple_GET_SIZE(given.parameters) != PyTuple_GET_SIZE(given.by_pointer)))
        ok = (PyErr_SetString(PyExc_ValueError, "no such function can be declared"), false);
    ExtForeignFunction *self = ok ? (ExtForeignFunction *)class->tp_alloc(class, 0) : NULL;
    if (self) {
        self->symbol = Py_NewRef(given.symbol);
        self->result = Py_NewRef(given.result);
        self->parameters = Py_NewRef(given.parameters);
        self->by_pointer = Py_NewRef(given.by_pointer);
        self->links = Py_NewRef(given.links);
        self->abi = given.abi;
        self->is_cooperative = is_cooperative;
    }
    return (PyObject *)self;
}

static int function_traverse(ExtForeignFunction *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->parameters);
    Py_VISIT(self->links);
    return 0;
}

static void function_dealloc(ExtForeignFunction *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->symbol);
    Py_XDECREF(self->result);
    Py_XDECREF(self->parameters);
    Py_XDECREF(self->by_pointer);
    Py_XDECREF(self->links);
    class->tp_free(self);
    Py_DECREF(class);
}

static PyObject *function_abi(ExtForeignFunction *self, void *Py_UNUSED(closure))
{
    return PyUnicode_FromString(foreign_abi_names[self->abi]);
}

static PyMemberDef function_members[] = {
    {"symbol", T_OBJECT, offsetof(ExtForeignFunction, symbol), READONLY, "Its name in the code that is linked."},
    {"result", T_OBJECT, offsetof(ExtForeignFunction, result), READONLY, "The type of its result."},
    {"parameters", T_OBJECT, offsetof(ExtForeignFunction, parameters), READONLY, "The types of its parameters."},
    {"by_pointer", T_OBJECT, offsetof(ExtForeignFunction, by_pointer), READONLY,
     "For each parameter, whether an array is passed as the pointer to its data."},
    {"links", T_OBJECT, offsetof(ExtForeignFunction, links), READONLY, "What kernels that call it are linked with."},
    {"is_cooperative", T_BOOL, offsetof(ExtForeignFunction, is_cooperative), READONLY,
     "Whether its threads wait for those of other blocks."},
    {0},
};

static PyGetSetDef function_getset[] = {
    {"abi", (getter)function_abi, NULL, "\"numba\" or \"c\".", NULL},
    {0},
};

static PyType_Slot function_slots[] = {
    {Py_tp_doc, "A function from elsewhere that kernels call."},
    {Py_tp_new, function_new},
    {Py_tp_dealloc, function_dealloc},
    {Py_tp_traverse, function_traverse},
    {Py_tp_members, function_members},
    {Py_tp_getset, function_getset},
    {0},
};

static PyType_Spec function_spec = {
    .name = "cujit._core.ForeignFunction",
    .basicsize = sizeof(ExtForeignFunction),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = function_slots,
};

/* link_kinds: ending -> (id, class, word, doc). */
static PyObject *kind_table(void)
{
    PyObject *table = PyDict_New();
    for (int i = 0; table && i < LINK_KIND_COUNT; i++) {
        const LinkKindInfo *info = &link_kind_info[i];
        PyObject *row = Py_BuildValue("(ssss)", info->id, info->class, info->word, info->doc);
        if (!row || PyDict_SetItemString(table, info->ending, row) < 0)
            Py_CLEAR(table);
        Py_XDECREF(row);
    }
    return table;
}

bool ext_add_foreign(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->link_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &item_spec, NULL);
    state->foreign_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &function_spec, NULL);
    PyObject *table = kind_table();
    bool ok = state->link_type && state->foreign_type && table && PyModule_AddType(module, state->link_type) == 0 &&
              PyModule_AddType(module, state->foreign_type) == 0 &&
              PyModule_AddObjectRef(module, "link_kinds", table) == 0;
    Py_XDECREF(table);
    return ok;
}
