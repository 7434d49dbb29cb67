/* Functions that are PTX of the program's. */
#ifndef CUJIT_CODEGEN_ASSEMBLY_H
#define CUJIT_CODEGEN_ASSEMBLY_H

#include "codegen/emit.h"

bool nvptx_emit_assembly(Emitter *emitter, const EmittedFunction *function);

#endif
