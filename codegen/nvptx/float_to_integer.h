/* Conversions of floats to integers as the GPU's instructions have them. */
#ifndef CUJIT_CODEGEN_FLOAT_TO_INTEGER_H
#define CUJIT_CODEGEN_FLOAT_TO_INTEGER_H

#include "codegen/emit.h"

void saturate_by_instructions(Emitter *emitter);

#endif
