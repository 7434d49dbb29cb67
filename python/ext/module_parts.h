/* The functions that add what module_parts.def lists to the module. */
#ifndef CUJIT_EXT_MODULE_PARTS_H
#define CUJIT_EXT_MODULE_PARTS_H

#include <stdbool.h>

#include "ext/py.h"

/* Each false with an exception. */
#define PART(name) bool ext_add_##name(PyObject *module);
#include "ext/module_parts.def"
#undef PART

#endif
