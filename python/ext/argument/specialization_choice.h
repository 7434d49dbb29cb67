/* Which specialization a launch takes when its arguments do not fit that of the last launch. */
#ifndef CUJIT_EXT_SPECIALIZATION_CHOICE_H
#define CUJIT_EXT_SPECIALIZATION_CHOICE_H

#include "ext/ext.h"

/* Found, or compiled without the GIL. *converts: the arguments are to be converted to its types. NULL with an
 * exception. */
const JitSpecialization *ext_choose_specialization(ExtKernel *kernel, RtDevice *device, PyObject *const *args,
                                                   Py_ssize_t count, bool *converts);
/* Tries this one first at the next launch. */
void ext_remember_specialization(ExtKernel *kernel, const JitSpecialization *specialization, bool converts);

/* The lists of types compiled so far, each once, in order; at most `limit`. Arena memory but for the types. */
typedef struct ExtCompiled {
    uint32_t count, capacity;
    JitSignature *signatures;
    Arena *arena;
} ExtCompiled;
void ext_compiled_signatures(const ExtKernel *kernel, ExtCompiled *compiled);

#endif
