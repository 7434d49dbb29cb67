/* Atomics on arrays of the thread become plain reads and writes: GPUs have none on local memory, and no other thread
 * sees it. */
#ifndef CUJIT_CODEGEN_LOCAL_ATOMIC_H
#define CUJIT_CODEGEN_LOCAL_ATOMIC_H

#include "codegen/emit.h"

void make_local_atomics_plain(Emitter *emitter);

#endif
