/* Shuffles and votes between all threads of a block, warp by warp, in compiled code. */
#ifndef CUJIT_CODEGEN_WARP_EXCHANGE_H
#define CUJIT_CODEGEN_WARP_EXCHANGE_H

#include "codegen/emit.h"

typedef struct WarpExchange {
    IntrinsicId operation; /* for which has_warp_exchange() */
    LLVMTypeRef word; /* of what a thread gives, and gets: i32 or i64 */
    LLVMValueRef given, results; /* slots of that: arrays with an item for each thread, up to the end of a warp */
    LLVMValueRef places, asked; /* of a shuffle what shuffle_place() gives: a slot of it, or one for all; else NULL */
    LLVMValueRef going; /* the slot of who takes part; NULL: all */
    LLVMValueRef threads; /* i32 */
} WarpExchange;

bool has_warp_exchange(IntrinsicId operation);
void emit_warp_exchange(Emitter *emitter, const WarpExchange *exchange);

#endif
