/* What programs add to the language (cujit.extending): the dicts of the state as attributes of the module, for Python to
 * fill. Snapshots and launches read them. */
#include "ext/module_parts.h"
#include "ext/state.h"

bool ext_add_extensions(PyObject *module)
{
    ExtState *state = ext_state(module);
    return PyModule_AddObjectRef(module, "overloads", state->overloads) == 0 &&
           PyModule_AddObjectRef(module, "member_overloads", state->member_overloads) == 0 &&
           PyModule_AddObjectRef(module, "declared_classes", state->declared_classes) == 0 &&
           PyModule_AddObjectRef(module, "typeof_functions", state->typeof_functions) == 0;
}
