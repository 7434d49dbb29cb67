/* Which threads of a row of a block have anything to do. */
#ifndef CUJIT_CODEGEN_ROW_BOUNDS_H
#define CUJIT_CODEGEN_ROW_BOUNDS_H

#include "codegen/emit.h"

/* How many tests of the kernel bound its threads. */
uint32_t count_thread_bounds(const IrFunc *kernel);
/* Emits the tests alone as an internal function: of the body's parameters, at the first thread of the row, to {first, end}, i64. */
EmittedFunction emit_row_bounds_function(Emitter *emitter, const EmittedFunction *body);

#endif
