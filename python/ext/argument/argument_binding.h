/* Keyword arguments and defaults of a launch. */
#ifndef CUJIT_EXT_ARGUMENT_BINDING_H
#define CUJIT_EXT_ARGUMENT_BINDING_H

#include "ext/kernel.h"

/* One value for each parameter of the kernel, and those that its * parameter takes, as a tuple: positional, by keyword
 * (names: a tuple or NULL, values behind the positional ones), by default. NULL with LaunchArgumentError. */
PyObject *ext_bind_arguments(ExtKernel *kernel, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
