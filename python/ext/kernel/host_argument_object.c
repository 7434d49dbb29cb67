/* HostArgument: a host array as an argument, with what is to be copied stated. */
#include "ext/argument/buffer_argument.h"
#include "ext/module_parts.h"
#include "ext/array/array_view.h"

static PyObject *argument_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"value", "copy_in", "copy_out", NULL};
    PyObject *array;
    int copy_in = 1, copy_out = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|pp:HostArgument", names, &array, &copy_in, &copy_out))
        return NULL;
    ExtState *state = ext_state_of_type(class);
    if (!state)
        return NULL;
    if (PyObject_TypeCheck(array, state->host_argument_type)) {
        PyErr_SetString(PyExc_TypeError, "a HostArgument cannot hold another one");
        return NULL;
    }
    PyObject *made = ext_buffer_array(state, array);
    ExtHostArgument *self = PyErr_Occurred() ? NULL : (ExtHostArgument *)class->tp_alloc(class, 0);
    if (!self) {
        Py_XDECREF(made);
        return NULL;
    }
    self->array = made ? made : Py_NewRef(array);
    self->copy_in = copy_in;
    self->copy_out = copy_out;
    return (PyObject *)self;
}

static int argument_traverse(ExtHostArgument *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->array);
    return 0;
}

/* Nothing can be changed after it is made, so it is in no cycle of its own making. */
static void argument_dealloc(ExtHostArgument *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->array);
    class->tp_free(self);
    Py_DECREF(class);
}

static PyMemberDef argument_members[] = {
    {"value", T_OBJECT, offsetof(ExtHostArgument, array), READONLY, "The array."},
    {"copy_in", T_BOOL, offsetof(ExtHostArgument, copy_in), READONLY, "Whether the kernel sees its values."},
    {"copy_out", T_BOOL, offsetof(ExtHostArgument, copy_out), READONLY, "Whether it gets what the kernel writes."},
    {0},
};

static PyType_Slot argument_slots[] = {
    {Py_tp_doc, "An array as an argument of a kernel, with what is copied stated; device arrays pass as they are."},
    {Py_tp_new, argument_new},
    {Py_tp_dealloc, argument_dealloc},
    {Py_tp_traverse, argument_traverse},
    {Py_tp_members, argument_members},
    {0},
};

static PyType_Spec argument_spec = {
    .name = "cujit._core.HostArgument",
    .basicsize = sizeof(ExtHostArgument),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = argument_slots,
};

bool ext_add_host_arguments(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->host_argument_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &argument_spec, NULL);
    return state->host_argument_type && PyModule_AddType(module, state->host_argument_type) == 0;
}
