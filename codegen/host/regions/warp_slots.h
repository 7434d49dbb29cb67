/* Slots of a function that runs the threads of one warp, as long as one of its loops runs. */
#ifndef CUJIT_CODEGEN_WARP_SLOTS_H
#define CUJIT_CODEGEN_WARP_SLOTS_H

#include "codegen/emit.h"

typedef struct WarpSlots WarpSlots;

WarpSlots *warp_slots_create(Emitter *emitter);
/* Memory of the function's own for so many bytes of each thread. */
LLVMValueRef warp_slot(Emitter *emitter, uint64_t size);
/* In front of a loop over threads. */
void warp_slots_begin(Emitter *emitter, WarpSlots *slots, const IrValue *loop);
/* At the beginning of an iteration, at its end, and behind the loop. */
void warp_slots_open(Emitter *emitter, const WarpSlots *slots, LLVMValueRef lane);
void warp_slots_close(Emitter *emitter, const WarpSlots *slots, LLVMValueRef lane);
void warp_slots_end(Emitter *emitter, const WarpSlots *slots);
/* Where the loop at hand has this thread's value of the slot's part. type: in the slot. */
LLVMValueRef warp_slot_place(Emitter *emitter, const WarpSlots *slots, const IrValue *slot, uint32_t part,
                             LLVMTypeRef type, LLVMValueRef lane);

#endif
