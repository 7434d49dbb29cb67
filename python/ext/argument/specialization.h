/* What a kernel is compiled for: specialization.c; which of that a launch takes when its arguments do not fit that of the
 * last launch: specialization_choice.c. */
#ifndef CUJIT_EXT_SPECIALIZATION_H
#define CUJIT_EXT_SPECIALIZATION_H

#include "ext/kernel.h"

/* Makes the snapshot and the JitFunction where there are none yet. */
bool ext_kernel_prepare(ExtKernel *kernel);
/* The kernel for these types on this device, compiled where there is none. Releases the GIL. NULL with an exception. */
const JitSpecialization *ext_kernel_specialize(ExtKernel *kernel, RtDevice *device, const Type *const *types,
                                               uint32_t count);

/* Tells those who watch what is linked that the modules are unloaded, which comes next. */
void ext_kernel_unload(ExtKernel *kernel);

/* The lists of types compiled so far, each once, in order. Arena memory but for the types. */
typedef struct ExtCompiled {
    uint32_t count, capacity;
    JitSignature *signatures;
    Arena *arena;
} ExtCompiled;
/* Fills a zeroed one but for the arena. False with MemoryError. */
bool ext_compiled_signatures(const ExtKernel *kernel, ExtCompiled *compiled);

/* Found, or compiled without the GIL. *converts: the arguments are to be converted to its types. NULL with an
 * exception. */
const JitSpecialization *ext_choose_specialization(ExtKernel *kernel, RtDevice *device, PyObject *const *args,
                                                   Py_ssize_t count, bool *converts);
/* Tries this one first at the next launch. */
void ext_remember_specialization(ExtKernel *kernel, const JitSpecialization *specialization, bool converts);

#endif
