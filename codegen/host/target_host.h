/* The CPU device: native code, what a thread knows read from its HostThread, barriers through the runtime's services.
 * */
#ifndef CUJIT_CODEGEN_TARGET_HOST_H
#define CUJIT_CODEGEN_TARGET_HOST_H

#include "codegen/emit.h"

/* Keeps the line of a call that leads from the user's code into the library's. */
void host_note_call(Emitter *emitter, const IrValue *call);
/* The line of the user's code for messages, an i32. */
LLVMValueRef host_line(Emitter *emitter, const IrValue *value);
/* Calls the service at that offset of HostServices; the thread is its first argument. */
LLVMValueRef call_host_service(Emitter *emitter, size_t offset, LLVMTypeRef result, uint32_t count,
                               const LLVMValueRef *arguments);

#endif
