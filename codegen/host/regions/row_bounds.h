/* Which threads of a row of a block have anything to do. */
#ifndef CUJIT_CODEGEN_ROW_BOUNDS_H
#define CUJIT_CODEGEN_ROW_BOUNDS_H

#include "codegen/emit.h"

typedef struct RowBounds {
    LLVMValueRef first, end; /* i64 */
} RowBounds;

/* How many tests bound the threads that come to the block, from there on. */
uint32_t count_thread_bounds(const IrBlock *first);
/* Whether all marked tests are such; else a diagnostic. */
bool check_thread_bounds(Emitter *emitter, const IrFunc *kernel);
/* Emits the tests alone as an internal function: of the body's parameters, at the first thread of the row, to {first, end},
 * i64. */
EmittedFunction emit_row_bounds_function(Emitter *emitter, const EmittedFunction *body);
/* Emits the tests with which a region begins, at the first thread of a row. */
RowBounds emit_region_bounds(Emitter *emitter, const IrBlock *first);

/* Emits the value as a thread has it for which it may not be made, as in front of a test that keeps the thread out. */
void emit_for_any_thread(Emitter *emitter, const IrValue *value);

#endif
