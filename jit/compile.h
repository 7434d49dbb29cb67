/* The stages from a snapshot to a loaded kernel. */
#ifndef CUJIT_JIT_COMPILE_H
#define CUJIT_JIT_COMPILE_H

#include "jit/cache/cache.h"

/* Compiles and loads the function for the specialization's device and types, and fills the rest of it. is_quick: by code that
 * is made quickly, where it is of a kind that other code can replace; then the image says so. The caller frees the image,
 * which was zeroed, whether it fails or not. */
bool jit_compile(const JitFunction *function, const Target *target, JitSpecialization *specialization, bool is_quick,
                 KernelImage *image, Diag *diag);
/* The last stage: links code of the CPU device, and hands the image to the runtime. */
bool jit_load(KernelImage *image, JitSpecialization *specialization, Diag *diag);
/* What no image has: classes of exceptions are objects of this process. The frontend finds them again, in the order of
 * their numbers. */
bool jit_restore_exceptions(const JitFunction *function, const KernelImage *image, JitSpecialization *specialization);
/* Of what is overloaded: the implementations that the code calls, in its order. A list in the arena; NULL: none. */
const Implementation *jit_used_implementations(const JitFunction *function, const JitSpecialization *specialization,
                                               Arena *arena);

#endif
