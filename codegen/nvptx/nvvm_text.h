/* A module's LLVM IR as NVIDIA's libNVVM reads it. */
#ifndef CUJIT_CODEGEN_NVPTX_NVVM_TEXT_H
#define CUJIT_CODEGEN_NVPTX_NVVM_TEXT_H

#include "codegen/emit.h"

/* Takes out what libNVVM's older LLVM does not know, and adds what it asks for. */
void make_nvvm_readable(Emitter *emitter);

#endif
