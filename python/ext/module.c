/* cujit._core: the module is made of the rows of module_parts.def. Importing it touches NumPy's C API and no more: no
 * driver, no LLVM. */
#include "ext/module_parts.h"
#include "ext/state.h"

static int execute(PyObject *module)
{
    static bool (*const parts[])(PyObject *module) = {
#define PART(name) ext_add_##name,
#include "ext/module_parts.def"
#undef PART
    };
    bool ok = ext_state_init(ext_state(module));
    for (size_t i = 0; ok && i < sizeof parts / sizeof *parts; i++)
        ok = parts[i](module);
    return ok ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    EXT_NEEDS_NO_GIL,
    {0},
};

PyMODINIT_FUNC PyInit__core(void)
{
    ext_module.m_slots = slots;
    return PyModuleDef_Init(&ext_module);
}
