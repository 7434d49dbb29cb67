/* Known faults of ptxas, kept out of what it is given. Rows: ptxas_fault.def. */
#ifndef CUJIT_CODEGEN_PTXAS_FAULT_H
#define CUJIT_CODEGEN_PTXAS_FAULT_H

#include "codegen/emit.h"

/* Behind LLVM's passes, which would put the forms back. */
void ptxas_avoid_faults(Emitter *emitter);

#endif
