/* A kernel or device function as all files see it. */
#ifndef CUJIT_EXT_KERNEL_H
#define CUJIT_EXT_KERNEL_H

#include "ext/state.h"
#include "jit/jit.h"

/* Code from elsewhere with several kernels: kernel/raw_module_object.c. */
typedef struct ExtRawModule {
    PyObject_HEAD ExtState *state;
    JitRawModule *raw;
} ExtRawModule;

typedef struct ExtKernel ExtKernel;
struct ExtKernel {
    PyObject_HEAD ExtState *state;
    PyObject *weak_references;
    PyObject *py_func;
    PyObject *options; /* dict, as given */
    PyObject *keep_alive; /* list: device arrays that the snapshot points to; NULL before */
    PyObject *links; /* tuple of LinkItem; NULL: none */
    PyObject *raw; /* (RawModule, symbol, whether it is cooperative) of a kernel from elsewhere; NULL: compiled here */
    PyObject *last_launcher; /* ExtLauncher, handed out again for the same configuration; NULL: none. Under the lock of
                              * the object, which a GIL is */
    PyObject *told_of_copies; /* tuple of kernel/copy_hint.c; NULL: not told. Likewise */
    PyObject *_Atomic bound; /* ExtLauncher for whose configuration the code is, set once; NULL: it is for all */
    CompileOptions compile_options;
#define HOST_OPTION(name, kind, type, value, default, loops, doc) type name;
#include "core/option.def"
    bool is_device;
    atomic_bool is_frozen;
    atomic_bool is_watched; /* Python wants to know what is compiled for launches */
    bool has_overloads; /* the snapshot waits for implementations (implementations.c) */
    Arena *arena; /* of the snapshot */
    JitFunction *_Atomic function; /* NULL before the first use; set behind arena, keep_alive and number */
    uint32_t number; /* of the function, in state->raising_kernels; 0: not there */
    ExtKernel *next_left; /* among kernels of compilations that were left to themselves (specialization.c) */
    unsigned left_count; /* of those compilations that are over */
    atomic_uintptr_t last; /* ExtLast, in one word: threads launch at the same time */
};

/* What the last launch took. */
typedef struct ExtLast {
    const JitSpecialization *specialization; /* NULL: none yet */
    bool converts; /* arguments may be converted to its types */
} ExtLast;

static inline ExtLast ext_kernel_last(const ExtKernel *kernel)
{
    uintptr_t word = atomic_load_explicit(&kernel->last, memory_order_acquire);
    return (ExtLast){(const JitSpecialization *)(word & ~(uintptr_t)1), word & 1};
}

static inline void ext_kernel_set_last(ExtKernel *kernel, ExtLast last)
{
    atomic_store_explicit(&kernel->last, (uintptr_t)last.specialization | last.converts, memory_order_release);
}

const char *ext_kernel_name(const ExtKernel *kernel);
/* The number of the kernel's positional parameters. */
Py_ssize_t ext_kernel_arity(const ExtKernel *kernel);
/* Whether a * parameter takes any arguments behind those. */
bool ext_kernel_takes_rest(const ExtKernel *kernel);
/* Whether __init__ was called; else with an exception. */
bool ext_kernel_is_ready(const ExtKernel *kernel);
/* The name of a positional parameter; "#3" where there is none. Borrowed from the buffer. */
const char *ext_parameter_name(const ExtKernel *kernel, Py_ssize_t index, char *text, size_t size);
/* Turns a pending TypeError, ValueError, OverflowError or BufferError into LAUNCH_ARGUMENT for that parameter; others stay.
 * Always NULL. */
PyObject *ext_raise_argument(const ExtKernel *kernel, Py_ssize_t index);

#endif
