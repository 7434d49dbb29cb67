/* What is computed in front of loops over threads, to choose between them: values without a position. */
#ifndef CUJIT_CODEGEN_FRONT_VALUES_H
#define CUJIT_CODEGEN_FRONT_VALUES_H

#include "core/ir/ir.h"

/* An int64. */
IrValue *front_number(IrBlock *to, int64_t number);
/* Of a's type, or a bool where the operation gives one. */
IrValue *front_binary(IrBlock *to, IrOp op, IrValue *a, IrValue *b);
/* The integer in int64: the same value where it is one. */
IrValue *front_widened(IrBlock *to, IrValue *value);

#endif
