/* How much a kernel's parameters may take, and which PTX says so. */
#ifndef CUJIT_CODEGEN_PARAMETER_SPACE_H
#define CUJIT_CODEGEN_PARAMETER_SPACE_H

#include "codegen/emit.h"

/* Bytes of the kernel's parameters; 0: the module has none. */
uint32_t nvptx_parameter_bytes(const Emitter *emitter);
/* The PTX ISA (times 10) that takes so many; 0: every one does. */
int nvptx_parameter_ptx(uint32_t bytes);
/* False with a diagnostic where no GPU takes them. */
bool nvptx_check_parameters(const Emitter *emitter);

#endif
