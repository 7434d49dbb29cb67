/* The CPU device: native code, what a thread knows read from its HostThread, barriers through the runtime's services. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "codegen/emit.h"

enum { SHARED_ALIGNMENT = 128 };

/* --- machine --------------------------------------------------------------------------------------------------------------------- */

static struct {
    LLVMTargetRef backend;
    char *triple, *cpu, *features, *message;
} native;

static void detect_native(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    native.triple = LLVMGetDefaultTargetTriple();
    native.cpu = LLVMGetHostCPUName();
    native.features = LLVMGetHostCPUFeatures();
    if (LLVMGetTargetFromTriple(native.triple, &native.backend, &native.message))
        native.backend = NULL;
}

static LLVMTargetMachineRef create_machine(const Target *target, const CompileOptions *options, Diag *diag)
{
    (void)target;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, detect_native);
    if (!native.backend) {
        diag_fail(diag, NULL, DIAG_LLVM, native.message ? native.message : "no code for this processor");
        return NULL;
    }
    return LLVMCreateTargetMachine(native.backend, native.triple, native.cpu, native.features,
                                   (LLVMCodeGenOptLevel)(options->optimization > 3 ? 3 : options->optimization),
                                   LLVMRelocPIC, LLVMCodeModelSmall);
}

/* --- functions ---------------------------------------------------------------------------------------------------------------------- */

static void finish_kernel(Emitter *emitter, LLVMValueRef function)
{
    const char *name = arena_format(emitter->arena, "cujit.%s", emitter->entry);
    LLVMSetValueName2(function, name, strlen(name));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    add_function_attribute(emitter, function, "alwaysinline", 0);
}

static LLVMValueRef thread_field(Emitter *emitter, LLVMTypeRef type, size_t offset)
{
    return LLVMBuildLoad2(emitter->builder, type, offset_address(emitter, emitter->thread, (int64_t)offset), "");
}

#define THREAD_FIELD(field) (1 + (int)offsetof(HostThread, field)) /* 0: the row has none */

static const int register_fields[INTRINSIC_COUNT] = {
    [INTRINSIC_CUDA_THREAD_IDX_X] = THREAD_FIELD(thread_index[0]),
    [INTRINSIC_CUDA_THREAD_IDX_Y] = THREAD_FIELD(thread_index[1]),
    [INTRINSIC_CUDA_THREAD_IDX_Z] = THREAD_FIELD(thread_index[2]),
    [INTRINSIC_CUDA_BLOCK_IDX_X] = THREAD_FIELD(block_index[0]),
    [INTRINSIC_CUDA_BLOCK_IDX_Y] = THREAD_FIELD(block_index[1]),
    [INTRINSIC_CUDA_BLOCK_IDX_Z] = THREAD_FIELD(block_index[2]),
    [INTRINSIC_CUDA_BLOCK_DIM_X] = THREAD_FIELD(block_dim[0]),
    [INTRINSIC_CUDA_BLOCK_DIM_Y] = THREAD_FIELD(block_dim[1]),
    [INTRINSIC_CUDA_BLOCK_DIM_Z] = THREAD_FIELD(block_dim[2]),
    [INTRINSIC_CUDA_GRID_DIM_X] = THREAD_FIELD(grid_dim[0]),
    [INTRINSIC_CUDA_GRID_DIM_Y] = THREAD_FIELD(grid_dim[1]),
    [INTRINSIC_CUDA_GRID_DIM_Z] = THREAD_FIELD(grid_dim[2]),
    [INTRINSIC_CUDA_LANEID] = THREAD_FIELD(lane),
};

static LLVMValueRef read_register(Emitter *emitter, IntrinsicId id)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    if (!register_fields[id])
        return NULL;
    LLVMValueRef value = thread_field(emitter, part_type(emitter, row->type), (size_t)register_fields[id] - 1);
    set_load_range(emitter, value, row->low, row->high + 1);
    return value;
}

/* --- synchronization -------------------------------------------------------------------------------------------------------------------- */

static void call_barrier(Emitter *emitter)
{
    LLVMValueRef services = thread_field(emitter, emitter->pointer_type, offsetof(HostThread, services));
    LLVMValueRef barrier = LLVMBuildLoad2(emitter->builder, emitter->pointer_type,
                                          offset_address(emitter, services, offsetof(HostServices, barrier)), "");
    LLVMTypeRef type = LLVMFunctionType(emitter->void_type, &emitter->pointer_type, 1, false);
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, type, barrier, &emitter->thread, 1, "");
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(emitter, "nounwind", 0));
}

static bool device_intrinsic(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    switch (value->intrinsic) {
    case INTRINSIC_CUDA_SYNCTHREADS: call_barrier(emitter); return true;
    case INTRINSIC_CUDA_THREADFENCE:
    case INTRINSIC_CUDA_THREADFENCE_BLOCK:
    case INTRINSIC_CUDA_THREADFENCE_SYSTEM:
        LLVMBuildFence(emitter->builder, LLVMAtomicOrderingSequentiallyConsistent, false, "");
        return true;
    default: return false;
    }
}

/* --- shared memory ------------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef shared_memory(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment)
{
    if (value->storage->dynamic)
        return thread_field(emitter, emitter->pointer_type, offsetof(HostThread, dynamic_shared));
    if (alignment > SHARED_ALIGNMENT)
        alignment = SHARED_ALIGNMENT;
    uint32_t offset = (emitter->static_shared + alignment - 1) / alignment * alignment;
    emitter->static_shared = offset + (uint32_t)size;
    LLVMValueRef block = thread_field(emitter, emitter->pointer_type, offsetof(HostThread, shared));
    return offset_address(emitter, block, offset);
}

static LLVMValueRef dynamic_shared_size(Emitter *emitter)
{
    return thread_field(emitter, emitter->i64, offsetof(HostThread, dynamic_size));
}

static const char *math_symbol(Emitter *emitter, IntrinsicId id, bool is_double)
{
    (void)emitter;
    return is_double ? intrinsic_info[id].host64 : intrinsic_info[id].host32;
}

static bool finish_module(Emitter *emitter)
{
    if (emitter->ir->first && emitter->ir->first->is_kernel)
        emit_host_entries(emitter, &emitter->functions[0]);
    return true;
}

const TargetLowering target_host = {
    .create_machine = create_machine,
    .pointer_space = ADDRESS_GENERIC,
    .passes_thread = true,
    .finish_kernel = finish_kernel,
    .read_register = read_register,
    .device_intrinsic = device_intrinsic,
    .shared_memory = shared_memory,
    .dynamic_shared_size = dynamic_shared_size,
    .math_symbol = math_symbol,
    .finish_module = finish_module,
};
