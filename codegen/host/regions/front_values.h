/* What is computed in front of loops; where it is to choose between loops over threads: values without a position. */
#ifndef CUJIT_CODEGEN_FRONT_VALUES_H
#define CUJIT_CODEGEN_FRONT_VALUES_H

#include "core/ir/ir.h"

/* An int64. */
IrValue *front_number(IrBlock *to, int64_t number);
/* Of a's type, or a bool where the operation gives one. */
IrValue *front_binary(IrBlock *to, IrOp op, IrValue *a, IrValue *b);
/* The integer in int64: the same value where it is one. */
IrValue *front_widened(IrBlock *to, IrValue *value);

/* Takes the block's end away, so that values can be appended, to be put back. */
IrValue *take_end(IrBlock *block);
void put_end(IrBlock *block, IrValue *end);

#endif
