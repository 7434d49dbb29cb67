/* Loads and stores that say how they go through the caches. Where the device has no such instructions they are plain
 * accesses, volatile where a GPU asks memory each time. */
#include <string.h>

#include "codegen/emit_tools.h"
#include "codegen/op/memory/hinted_access.h"
#include "codegen/op/value/parts.h"

/* What nobody writes may be read through the texture cache: LLVM does that for invariant loads of global memory. */
static LLVMValueRef load_plain(Emitter *emitter, const IrValue *value, LLVMTypeRef memory, LLVMValueRef address)
{
    LLVMValueRef load = LLVMBuildLoad2(emitter->builder, memory, address, "");
    LLVMSetAlignment(load, (unsigned)LLVMABISizeOfType(emitter->data_layout, memory));
    LLVMSetVolatile(load, value->hint == IR_HINT_CV);
    if (value->hint == IR_HINT_NC) {
        LLVMMetadataRef node = LLVMMDNodeInContext2(emitter->context, NULL, 0);
        unsigned kind = LLVMGetMDKindIDInContext(emitter->context, "invariant.load", strlen("invariant.load"));
        LLVMSetMetadata(load, kind, LLVMMetadataAsValue(emitter->context, node));
    }
    return load;
}

void emit_hinted_load(Emitter *emitter, const IrValue *value, LLVMValueRef address, LLVMValueRef *out)
{
    LLVMTypeRef memory = memory_type(emitter, value->type);
    bool is_plain = !emitter->lowering->load_with_hint || value->hint == IR_HINT_NC;
    for (uint32_t i = 0; i < part_count(value->type); i++) {
        int64_t offset = (int64_t)(i * LLVMABISizeOfType(emitter->data_layout, memory));
        LLVMValueRef place = offset_address(emitter, address, offset);
        out[i] = is_plain ? load_plain(emitter, value, memory, place)
                          : emitter->lowering->load_with_hint(emitter, value, memory, place);
        if (value->type->kind == TYPE_BOOL)
            out[i] = LLVMBuildICmp(emitter->builder, LLVMIntNE, out[i], LLVMConstNull(emitter->i8), "");
    }
}

void emit_hinted_store(Emitter *emitter, const IrValue *value, LLVMValueRef address, const LLVMValueRef *parts)
{
    const Type *type = value->operands[0]->type->element;
    LLVMTypeRef memory = memory_type(emitter, type);
    for (uint32_t i = 0; i < part_count(type); i++) {
        int64_t offset = (int64_t)(i * LLVMABISizeOfType(emitter->data_layout, memory));
        LLVMValueRef place = offset_address(emitter, address, offset), part = parts[i];
        if (type->kind == TYPE_BOOL)
            part = LLVMBuildZExt(emitter->builder, part, emitter->i8, "");
        if (emitter->lowering->store_with_hint) {
            emitter->lowering->store_with_hint(emitter, value, type, place, part);
            continue;
        }
        LLVMValueRef store = LLVMBuildStore(emitter->builder, part, place);
        LLVMSetAlignment(store, (unsigned)LLVMABISizeOfType(emitter->data_layout, memory));
        LLVMSetVolatile(store, value->hint == IR_HINT_WT);
    }
}
