/* Rows in parts, along which quotients of a thread's index by a number are alike and remainders count by 1. */
#ifndef CUJIT_CODEGEN_ROW_PARTS_H
#define CUJIT_CODEGEN_ROW_PARTS_H

#include "codegen/emit.h"

enum { LEAST_ROW_DIVISOR = 16 }; /* parts of fewer threads are no vectors */

typedef struct RowParts RowParts;

/* Whether a kernel without loops over threads would have such parts if it had one. */
bool has_row_parts(IrFunc *kernel);
/* The divisors in a thread_loop's body that are no constants, but that all threads of a row have alike, if parts by them are
 * worth it; 0: there are none, or more than `most`. */
uint32_t find_row_divisors(const IrValue *thread_loop, const IrValue **out, uint32_t most, Arena *arena);
/* Of the body of a thread_loop; NULL: its rows are better left whole. */
RowParts *find_row_parts(Emitter *emitter, const IrValue *thread_loop);
/* Emits how many threads, i32, a part has that begins at the thread whose index is set, 1 or more. */
LLVMValueRef emit_row_part(Emitter *emitter, RowParts *parts);
/* Inside of the loop over a part's threads, before its body: how many threads of the part come before this one, i32. */
void enter_row_part(Emitter *emitter, RowParts *parts, LLVMValueRef behind);
/* A value of the body that is known from where the part began; false: it is none. */
bool emit_in_row_part(Emitter *emitter, const IrValue *value, LLVMValueRef *out);

#endif
