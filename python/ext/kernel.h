/* A kernel or device function as all files see it. */
#ifndef CUJIT_EXT_KERNEL_H
#define CUJIT_EXT_KERNEL_H

#include "ext/state.h"
#include "jit/jit.h"

typedef struct ExtKernel {
    PyObject_HEAD ExtState *state;
    PyObject *py_func;
    PyObject *options; /* dict, as given */
    PyObject *keep_alive; /* list: device arrays that the snapshot points to; NULL before */
    PyObject *last_launcher; /* ExtLauncher, handed out again for the same configuration; NULL: none */
    CompileOptions compile_options;
#define HOST_OPTION(name, kind, type, value, default, loops, doc) type name;
#include "core/option.def"
    bool is_device, is_frozen;
    Arena *arena; /* of the snapshot */
    JitFunction *function; /* NULL before the first use */
    uint32_t number; /* of the function, in state->raising_kernels; 0: not there */
    const JitSpecialization *last; /* of the last launch */
    bool last_converts; /* arguments may be converted to its types */
} ExtKernel;

const char *ext_kernel_name(const ExtKernel *kernel);
/* The number of the kernel's positional parameters. */
Py_ssize_t ext_kernel_arity(const ExtKernel *kernel);
/* Whether a * parameter takes any arguments behind those. */
bool ext_kernel_takes_rest(const ExtKernel *kernel);
/* Whether __init__ was called; else with an exception. */
bool ext_kernel_is_ready(const ExtKernel *kernel);
/* The name of a positional parameter; "#3" where there is none. Borrowed from the buffer. */
const char *ext_parameter_name(const ExtKernel *kernel, Py_ssize_t index, char *text, size_t size);
/* Turns a pending TypeError, ValueError or OverflowError into LAUNCH_ARGUMENT for that parameter; others stay. Always
 * NULL. */
PyObject *ext_raise_argument(const ExtKernel *kernel, Py_ssize_t index);

#endif
