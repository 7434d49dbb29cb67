/* Items of tuples that are chosen while a kernel runs. */
#ifndef CUJIT_CODEGEN_PICK_EMIT_H
#define CUJIT_CODEGEN_PICK_EMIT_H

#include "codegen/emit.h"

/* Of every value when its parts are known: remembers where a tuple is that may have to lie in memory. */
void note_tuple(Emitter *emitter, const IrValue *value);

#endif
