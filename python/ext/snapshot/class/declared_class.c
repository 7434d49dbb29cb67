/* Classes whose fields the program has declared: what extending/structs.py has put into state->declared_classes. */
#include "ext/snapshot/class/class_types.h"

#include "ext/guard.h"

static bool read_entry(PyObject *entry, ExtDeclaredClass *out)
{
    int makes;
    if (!PyArg_ParseTuple(entry, "OOOOp", &out->class, &out->names, &out->types, &out->unpack, &makes))
        return false;
    out->makes = makes;
    return true;
}

bool ext_declared_class(ExtState *state, PyObject *class, ExtDeclaredClass *declared)
{
    PyObject *known = state->declared_classes, *entry = NULL;
    if (PyDict_GET_SIZE(known) == 0)
        return false;
    PyObject *bases = PyType_Check(class) ? ((PyTypeObject *)class)->tp_mro : NULL;
    for (Py_ssize_t i = 0; bases && !entry && i < PyTuple_GET_SIZE(bases); i++)
        entry = PyDict_GetItemWithError(known, PyTuple_GET_ITEM(bases, i));
    if (!bases)
        entry = PyDict_GetItemWithError(known, class);
    bool found = entry && read_entry(entry, declared);
    ext_forgive(); /* objects without a hash are not declared */
    return found;
}

/* One attribute for each field. */
static PyObject *attributes(PyObject *names, PyObject *value)
{
    PyObject *fields = PyTuple_New(PyTuple_GET_SIZE(names));
    for (Py_ssize_t i = 0; fields && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *field = PyObject_GetAttr(value, PyTuple_GET_ITEM(names, i));
        if (field)
            PyTuple_SET_ITEM(fields, i, field);
        else
            Py_CLEAR(fields);
    }
    return fields;
}

PyObject *ext_declared_fields(const ExtDeclaredClass *declared, PyObject *value)
{
    if (declared->unpack == Py_None)
        return attributes(declared->names, value);
    PyObject *given = PyObject_CallOneArg(declared->unpack, value);
    PyObject *fields = given ? PySequence_Tuple(given) : NULL;
    Py_XDECREF(given);
    if (fields && PyTuple_GET_SIZE(fields) != PyTuple_GET_SIZE(declared->names)) {
        PyErr_Format(PyExc_TypeError, "unpack gives %zd values for the %zd fields of %s", PyTuple_GET_SIZE(fields),
                     PyTuple_GET_SIZE(declared->names), ((PyTypeObject *)declared->class)->tp_name);
        Py_CLEAR(fields);
    }
    return fields;
}
