/* A block's shared memory, the slots of its threads and the arguments of a kernel never overlap, but LLVM sees three pointers
 * out of memory. Told so by scopes, it keeps a shared sum or a slot in a register while it reads arguments, and needs no
 * tests for overlap in front of a vector loop. Parameters may overlap each other. Only the kernel's own accesses are marked:
 * what a device function gets may be any of these. */
#include "codegen/host/memory_kinds.h"

#include <stddef.h>
#include <string.h>

#include "core/host_abi.h"

typedef enum MemoryKind { KIND_UNKNOWN, KIND_SHARED, KIND_SLOTS, KIND_ARGUMENTS, KIND_COUNT } MemoryKind;

static const char *const scope_names[KIND_COUNT] = {
    [KIND_SHARED] = "shared", [KIND_SLOTS] = "slots", [KIND_ARGUMENTS] = "arguments"};

/* Of the field of the HostThread that a pointer was loaded from; -1: from elsewhere. */
static int64_t field_of(LLVMValueRef thread, LLVMValueRef pointer)
{
    if (!LLVMIsALoadInst(pointer))
        return -1;
    LLVMValueRef place = LLVMGetOperand(pointer, 0);
    bool has_offset = LLVMIsAGetElementPtrInst(place) && LLVMGetOperand(place, 0) == thread &&
                      LLVMGetNumIndices(place) == 1 && LLVMIsAConstantInt(LLVMGetOperand(place, 1));
    return has_offset ? LLVMConstIntGetSExtValue(LLVMGetOperand(place, 1)) : -1;
}

static MemoryKind kind_of(LLVMValueRef thread, LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    if (LLVMIsAArgument(pointer))
        return pointer == thread ? KIND_UNKNOWN : KIND_ARGUMENTS;
    int64_t field = field_of(thread, pointer);
    if (field == offsetof(HostThread, shared) || field == offsetof(HostThread, dynamic_shared))
        return KIND_SHARED;
    return field == offsetof(HostThread, context) ? KIND_SLOTS : KIND_UNKNOWN;
}

typedef struct Scopes {
    LLVMValueRef own[KIND_COUNT], others[KIND_COUNT]; /* lists of scopes */
    unsigned own_kind, others_kind; /* of metadata */
} Scopes;

static LLVMMetadataRef text(LLVMContextRef context, const char *name)
{
    return LLVMMDStringInContext2(context, name, strlen(name));
}

static Scopes make_scopes(LLVMContextRef context)
{
    LLVMMetadataRef name = text(context, "cujit"), scopes[KIND_COUNT] = {NULL};
    LLVMMetadataRef domain = LLVMMDNodeInContext2(context, &name, 1);
    Scopes made = {.own_kind = LLVMGetMDKindIDInContext(context, "alias.scope", 11),
                   .others_kind = LLVMGetMDKindIDInContext(context, "noalias", 7)};
    for (int kind = KIND_SHARED; kind < KIND_COUNT; kind++) {
        LLVMMetadataRef parts[2] = {text(context, scope_names[kind]), domain};
        scopes[kind] = LLVMMDNodeInContext2(context, parts, 2);
    }
    for (int kind = KIND_SHARED; kind < KIND_COUNT; kind++) {
        LLVMMetadataRef others[KIND_COUNT];
        unsigned count = 0;
        for (int other = KIND_SHARED; other < KIND_COUNT; other++)
            if (other != kind)
                others[count++] = scopes[other];
        made.own[kind] = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &scopes[kind], 1));
        made.others[kind] = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, others, count));
    }
    return made;
}

void separate_memory_kinds(Emitter *emitter, const EmittedFunction *kernel)
{
    LLVMValueRef thread = LLVMGetParam(kernel->llvm, 0);
    Scopes scopes = make_scopes(emitter->context);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel->llvm); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef value = LLVMGetFirstInstruction(block); value; value = LLVMGetNextInstruction(value)) {
            LLVMOpcode code = LLVMGetInstructionOpcode(value);
            if (code != LLVMLoad && code != LLVMStore)
                continue;
            MemoryKind kind = kind_of(thread, LLVMGetOperand(value, code == LLVMStore));
            if (kind == KIND_UNKNOWN)
                continue;
            LLVMSetMetadata(value, scopes.own_kind, scopes.own[kind]);
            LLVMSetMetadata(value, scopes.others_kind, scopes.others[kind]);
        }
}
