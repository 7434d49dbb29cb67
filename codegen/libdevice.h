/* CUDA's device math library: links the functions that a module calls, each from its own piece of bitcode, and settles
 * what they ask of __nvvm_reflect. */
#ifndef CUJIT_CODEGEN_LIBDEVICE_H
#define CUJIT_CODEGEN_LIBDEVICE_H

#include "codegen/emit.h"

/* Links the libdevice functions that the module declares. */
bool link_libdevice(Emitter *emitter);
bool libdevice_has(const char *name);

#endif
