/* The body of one function: parameters to parts, blocks in an order in which definitions come before uses, one emitter
 * for each operation of op.def. */
#ifndef CUJIT_CODEGEN_IR_TO_LLVM_H
#define CUJIT_CODEGEN_IR_TO_LLVM_H

#include "codegen/emit.h"

void emit_function_body(Emitter *emitter, const EmittedFunction *function);
/* What both are made of. Builds stay behind in emitter->prologue; blocks are emitted by the caller. */
void begin_ir_function(Emitter *emitter, const EmittedFunction *function);
void emit_ir_value(Emitter *emitter, const IrValue *value);

#endif
