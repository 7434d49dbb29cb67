/* A module's LLVM IR as NVIDIA's libNVVM reads it: for GPUs before compute capability 10.0 the text of LLVM 7, for newer ones
 * that of an LLVM close to ours. */
#ifndef CUJIT_CODEGEN_NVPTX_NVVM_TEXT_H
#define CUJIT_CODEGEN_NVPTX_NVVM_TEXT_H

#include "codegen/emit.h"

/* Whether libNVVM reads LLVM 7's text for such a GPU. */
bool nvvm_reads_llvm7(const Target *target);

/* The text; the module is not what it was any more. memory_free() it. NULL with a diagnostic, which says what the text cannot
 * express. */
char *make_nvvm_text(Emitter *emitter);

#endif
