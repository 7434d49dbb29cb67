/* What programs add to the language (cujit.extending): the dicts of the state as attributes of the module, for Python to
 * fill. Snapshots and launches read them. And what comparisons are called in classes. */
#include "ext/module_parts.h"
#include "ext/state.h"

static PyObject *texts_of_comparisons(void)
{
    static const char *const rows[][2] = {
#define COMPARE(id, text, op, function, method, reflected) {method, text},
#include "core/type/operator.def"
    };
    PyObject *texts = PyDict_New();
    for (size_t i = 0; texts && i < sizeof rows / sizeof *rows; i++) {
        PyObject *text = PyUnicode_FromString(rows[i][1]);
        if (!text || PyDict_SetItemString(texts, rows[i][0], text) < 0)
            Py_CLEAR(texts);
        Py_XDECREF(text);
    }
    return texts;
}

bool ext_add_extensions(PyObject *module)
{
    ExtState *state = ext_state(module);
    PyObject *comparisons = texts_of_comparisons();
    bool ok = comparisons && PyModule_AddObjectRef(module, "comparisons", comparisons) == 0;
    Py_XDECREF(comparisons);
    return ok && PyModule_AddObjectRef(module, "overloads", state->overloads) == 0 &&
           PyModule_AddObjectRef(module, "member_overloads", state->member_overloads) == 0 &&
           PyModule_AddObjectRef(module, "declared_classes", state->declared_classes) == 0 &&
           PyModule_AddObjectRef(module, "typeof_functions", state->typeof_functions) == 0;
}
