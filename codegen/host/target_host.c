/* The CPU device: native code, what a thread knows read from its HostThread, barriers through the runtime's services. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/host_emitter.h"
#include "codegen/host/host_entry.h"
#include "codegen/host/host_loop.h"
#include "codegen/host/object/host_nvvm.h"
#include "codegen/host/observe/observe.h"
#include "codegen/host/regions/thread_loop.h"
#include "codegen/host/private_copy.h"
#include "codegen/host/processor.h"
#include "codegen/host/target_host.h"
#include "codegen/host/tensor_host.h"
#include "codegen/host/tile_host.h"
#include "codegen/host/vector_call.h"
#include "codegen/libdevice.h"
#include "codegen/op/value/parts.h"

/* --- machine --------------------------------------------------------------------------------------------------------------------- */

static struct {
    LLVMTargetRef backend;
    char *triple, *cpu, *features, *message;
    char description[8192];
} native;

static void detect_native(void)
{
    native.triple = LLVMGetDefaultTargetTriple();
    native.cpu = LLVMGetHostCPUName();
    native.features = LLVMGetHostCPUFeatures();
    snprintf(native.description, sizeof native.description, "%s %s %s", native.triple, native.cpu, native.features);
}

static void need_native(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, detect_native);
}

static void find_backend(void)
{
    need_native();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    if (LLVMGetTargetFromTriple(native.triple, &native.backend, &native.message))
        native.backend = NULL;
}

static void need_backend(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_backend);
}

const char *codegen_host_cpu(void)
{
    need_native();
    return native.description;
}

static struct {
    uint32_t words[PROCESSOR_WORDS];
    bool are_known;
} processor;

static void ask_processor(void) { processor.are_known = processor_words(processor.words); }

const void *codegen_host_processor(size_t *size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_processor);
    *size = processor.are_known ? sizeof processor.words : strlen(codegen_host_cpu());
    return processor.are_known ? (const void *)processor.words : codegen_host_cpu();
}

static bool choose_machine(const Emitter *emitter, MachineKind *kind)
{
    int level = emitter->options->opt > 3 ? 3 : emitter->options->opt;
    need_backend();
    if (!native.backend)
        return diag_fail(emitter->diag, NULL, DIAG_LLVM,
                         native.message ? native.message : "no code for this processor");
    *kind = (MachineKind){native.backend, native.triple,     native.cpu, native.features, (LLVMCodeGenOptLevel)level,
                          LLVMRelocPIC,   LLVMCodeModelSmall};
    return true;
}

/* --- functions ---------------------------------------------------------------------------------------------------------------------- */

static void finish_kernel(Emitter *emitter, LLVMValueRef function)
{
    const char *name = arena_format(emitter->arena, "cujit.%s", emitter->entry);
    LLVMSetValueName2(function, name, strlen(name));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    inline_kernel(emitter, function);
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

/* What the CPU device has one of. */
static LLVMValueRef fixed_register(Emitter *emitter, IntrinsicId id)
{
    switch (id) {
    case INTRINSIC_CUDA_WARPID:
        return LLVMBuildLShr(emitter->builder, thread_field(emitter, emitter->i32, offsetof(HostThread, linear_thread)),
                             const_i32(emitter, 5), "");
    case INTRINSIC_CUDA_NWARPID: return const_i32(emitter, 32);
    case INTRINSIC_CUDA_SMID: return const_i32(emitter, 0);
    case INTRINSIC_CUDA_NSMID: return const_i32(emitter, 1);
    default: return NULL;
    }
}

static LLVMValueRef read_register(Emitter *emitter, IntrinsicId id)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    if (!register_fields[id])
        return fixed_register(emitter, id);
    LLVMValueRef value = thread_field(emitter, part_type(emitter, row->type), (size_t)register_fields[id] - 1);
    if (id != emitter->host->wide_index)
        set_load_range(emitter, value, row->low, row->high + 1);
    return value;
}

/* --- synchronization -------------------------------------------------------------------------------------------------------------------- */

LLVMValueRef call_host_service(Emitter *emitter, size_t offset, LLVMTypeRef result, uint32_t count,
                               const LLVMValueRef *arguments)
{
    LLVMValueRef all[8] = {emitter->thread}, services;
    LLVMTypeRef types[8] = {emitter->pointer_type};
    for (uint32_t i = 0; i < count; i++) {
        all[1 + i] = arguments[i];
        types[1 + i] = LLVMTypeOf(arguments[i]);
    }
    services = thread_field(emitter, emitter->pointer_type, offsetof(HostThread, services));
    LLVMValueRef service =
        LLVMBuildLoad2(emitter->builder, emitter->pointer_type, offset_address(emitter, services, (int64_t)offset), "");
    LLVMTypeRef type = LLVMFunctionType(result, types, count + 1, false);
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, type, service, all, count + 1, "");
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(emitter, "nounwind", 0));
    return call;
}

static bool is_library(const SourceFunction *function) { return function && function->is_library; }

/* Only in kernels that can hang. */
void host_note_call(Emitter *emitter, const IrValue *call)
{
    bool may_wait = emitter->effects & (EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC);
    if (!may_wait || is_library(call->pos.function) || !is_library(call->callee->source))
        return;
    LLVMValueRef place = host_field(emitter, emitter->thread, offsetof(HostThread, call_line));
    LLVMBuildStore(emitter->builder, const_i32(emitter, call->pos.line), place);
}

LLVMValueRef host_line(Emitter *emitter, const IrValue *value)
{
    if (!is_library(value->pos.function))
        return const_i32(emitter, value->pos.line);
    LLVMValueRef place = host_field(emitter, emitter->thread, offsetof(HostThread, call_line));
    return LLVMBuildLoad2(emitter->builder, emitter->i32, place, "");
}

LLVMValueRef shuffle_place(Emitter *emitter, const IrValue *value)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef segment = LLVMBuildSub(builder, const_i32(emitter, 32), operand_scalar(emitter, value, 3), "");
    LLVMValueRef place = LLVMBuildAnd(builder, operand_scalar(emitter, value, 2), const_i32(emitter, 31), "");
    return LLVMBuildOr(builder, place, LLVMBuildShl(builder, segment, const_i32(emitter, 8), ""), "");
}

/* A library function names the lanes of a whole warp, or tile of it, though the block's last warp may not be whole. Those that
 * the block has; the others count where masks are checked. */
static LLVMValueRef lanes_of_block(Emitter *emitter, LLVMValueRef mask)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef threads = thread_field(emitter, emitter->i32, offsetof(HostThread, block_dim[0]));
    for (size_t axis = 1; axis < 3; axis++)
        threads = LLVMBuildMul(
            builder, threads,
            thread_field(emitter, emitter->i32, offsetof(HostThread, block_dim) + axis * sizeof(int32_t)), "");
    LLVMValueRef lane = thread_field(emitter, emitter->i32, offsetof(HostThread, lane));
    LLVMValueRef linear = thread_field(emitter, emitter->i32, offsetof(HostThread, linear_thread));
    LLVMValueRef left = LLVMBuildSub(builder, threads, LLVMBuildSub(builder, linear, lane, ""), "");
    LLVMValueRef is_whole = LLVMBuildICmp(builder, LLVMIntSGE, left, const_i32(emitter, 32), "");
    LLVMValueRef part = LLVMBuildAnd(builder, left, const_i32(emitter, 31), "");
    LLVMValueRef lanes = LLVMBuildNot(builder, LLVMBuildShl(builder, const_i32(emitter, -1), part, ""), "");
    return LLVMBuildAnd(builder, mask, LLVMBuildSelect(builder, is_whole, const_i32(emitter, -1), lanes, ""), "");
}

/* Votes of a block have no mask; the other operands are mask, value, place. What has no place gets a number of its own:
 * lanes that ask who is active at different places do not become one call in machine code. */
static void call_meet(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef types[2] = {emitter->i32, emitter->i64};
    LLVMValueRef arguments[5] = {const_i32(emitter, (int32_t)value->intrinsic)};
    uint32_t first = intrinsic_info[value->intrinsic].effects & EFFECT_BLOCK_SYNC ? 1 : 0;
    for (uint32_t i = 0; i < 2; i++)
        arguments[1 + i] = LLVMConstNull(types[i]);
    for (uint32_t i = 0; i < value->operand_count && first + i < 2; i++)
        arguments[1 + first + i] = LLVMBuildIntCast2(builder, operand_scalar(emitter, value, i), types[first + i],
                                                     value->operands[i]->type->kind == TYPE_INT, "");
    if (!first && is_library(value->pos.function) && checks_of(emitter->options, TARGET_HOST) & CHECK_BARRIER)
        arguments[1] = lanes_of_block(emitter, arguments[1]);
    arguments[3] = value->operand_count == 4 ? shuffle_place(emitter, value)
                                             : const_i32(emitter, (int32_t)++emitter->host->call_count);
    arguments[4] = host_line(emitter, value);
    LLVMValueRef result = call_host_service(emitter, offsetof(HostServices, meet), emitter->i64, 5, arguments);
    LLVMAddCallSiteAttribute(result, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(emitter, "convergent", 0));
    if (part_count(value->type) == 1)
        out[0] = LLVMBuildTrunc(builder, result, part_type(emitter, value->type), "");
}

/* Ones below the lane or below the next one, or their complement. */
static LLVMValueRef lane_mask(Emitter *emitter, IntrinsicId id)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef lane = read_register(emitter, INTRINSIC_CUDA_LANEID);
    LLVMValueRef self = LLVMBuildShl(builder, const_i32(emitter, 1), lane, "");
    LLVMValueRef below = LLVMBuildSub(builder, self, const_i32(emitter, 1), "");
    switch (id) {
    case INTRINSIC_CUDA_LANEMASK_EQ: return self;
    case INTRINSIC_CUDA_LANEMASK_LT: return below;
    case INTRINSIC_CUDA_LANEMASK_GE: return LLVMBuildNot(builder, below, "");
    case INTRINSIC_CUDA_LANEMASK_LE: return LLVMBuildOr(builder, below, self, "");
    default: return LLVMBuildNot(builder, LLVMBuildOr(builder, below, self, ""), "");
    }
}

/* --- clusters -------------------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef cluster_dim(Emitter *emitter, uint32_t axis)
{
    return thread_field(emitter, emitter->i32, offsetof(HostThread, cluster_dim) + axis * sizeof(int32_t));
}

static LLVMValueRef place_in_cluster(Emitter *emitter, uint32_t axis)
{
    LLVMValueRef block =
        thread_field(emitter, emitter->i32, offsetof(HostThread, block_index) + axis * sizeof(int32_t));
    return LLVMBuildURem(emitter->builder, block, cluster_dim(emitter, axis), "");
}

static LLVMValueRef rank_in_cluster(Emitter *emitter)
{
    LLVMValueRef rank = place_in_cluster(emitter, 2);
    for (uint32_t axis = 2; axis-- > 0;) {
        rank = LLVMBuildMul(emitter->builder, rank, cluster_dim(emitter, axis), "");
        rank = LLVMBuildAdd(emitter->builder, rank, place_in_cluster(emitter, axis), "");
    }
    return rank;
}

static LLVMValueRef blocks_of_cluster(Emitter *emitter)
{
    LLVMValueRef count = cluster_dim(emitter, 0);
    for (unsigned axis = 1; axis < 3; axis++)
        count = LLVMBuildMul(emitter->builder, count, cluster_dim(emitter, axis), "");
    return count;
}

static void map_shared(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const LLVMValueRef *array = operand_parts(emitter, value, 0);
    LLVMValueRef line = host_line(emitter, value);
    LLVMValueRef arguments[5] = {const_i32(emitter, (int32_t)value->intrinsic), const_i32(emitter, 0),
                                 LLVMBuildPtrToInt(emitter->builder, array[0], emitter->i64, ""),
                                 operand_scalar(emitter, value, 1), line};
    LLVMValueRef address = call_host_service(emitter, offsetof(HostServices, meet), emitter->i64, 5, arguments);
    out[0] = LLVMBuildIntToPtr(emitter->builder, address, emitter->pointer_type, "");
    for (uint32_t i = 1; i < part_count(value->type); i++)
        out[i] = array[i];
}

static bool device_intrinsic(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef time, line;
    switch (value->intrinsic) {
    case INTRINSIC_CLUSTER_BLOCK_RANK: out[0] = rank_in_cluster(emitter); return true;
    case INTRINSIC_CLUSTER_NUM_BLOCKS: out[0] = blocks_of_cluster(emitter); return true;
    case INTRINSIC_CLUSTER_BLOCK_INDEX_X: out[0] = place_in_cluster(emitter, 0); return true;
    case INTRINSIC_CLUSTER_BLOCK_INDEX_Y: out[0] = place_in_cluster(emitter, 1); return true;
    case INTRINSIC_CLUSTER_BLOCK_INDEX_Z: out[0] = place_in_cluster(emitter, 2); return true;
    case INTRINSIC_CLUSTER_DIM_X: out[0] = cluster_dim(emitter, 0); return true;
    case INTRINSIC_CLUSTER_DIM_Y: out[0] = cluster_dim(emitter, 1); return true;
    case INTRINSIC_CLUSTER_DIM_Z: out[0] = cluster_dim(emitter, 2); return true;
    case INTRINSIC_CLUSTER_MAP_SHARED: map_shared(emitter, value, out); return true;
    case INTRINSIC_CUDA_SYNCTHREADS:
        line = host_line(emitter, value);
        call_host_service(emitter, offsetof(HostServices, barrier), emitter->void_type, 1, &line);
        return true;
    case INTRINSIC_CUDA_NANOSLEEP:
        time = operand_scalar(emitter, value, 0);
        call_host_service(emitter, offsetof(HostServices, sleep), emitter->void_type, 1, &time);
        return true;
    case INTRINSIC_BREAKPOINT:
        call_host_service(emitter, offsetof(HostServices, debug), emitter->void_type, 0, NULL);
        return true;
    case INTRINSIC_CUDA_CLOCK:
    case INTRINSIC_CUDA_CLOCK64:
        out[0] = call_llvm(emitter, "llvm.readcyclecounter", NULL, 0, NULL);
        out[0] = LLVMBuildTrunc(emitter->builder, out[0], part_type(emitter, value->type), "");
        return true;
    case INTRINSIC_CUDA_GLOBALTIMER:
        out[0] = call_host_service(emitter, offsetof(HostServices, nanoseconds), emitter->i64, 0, NULL);
        return true;
    case INTRINSIC_CUDA_THREADFENCE:
    case INTRINSIC_CUDA_THREADFENCE_BLOCK:
    case INTRINSIC_CUDA_THREADFENCE_SYSTEM:
        LLVMBuildFence(emitter->builder, LLVMAtomicOrderingSequentiallyConsistent, false, "");
        return true;
    case INTRINSIC_CUDA_GRID_DEPENDENCY_SYNC:
    case INTRINSIC_CUDA_TRIGGER_LAUNCH_COMPLETION: return true; /* a launch begins when those before it are done */
    case INTRINSIC_CUDA_LANEMASK_LT:
    case INTRINSIC_CUDA_LANEMASK_LE:
    case INTRINSIC_CUDA_LANEMASK_EQ:
    case INTRINSIC_CUDA_LANEMASK_GE:
    case INTRINSIC_CUDA_LANEMASK_GT: out[0] = lane_mask(emitter, value->intrinsic); return true;
    default:
        if (emit_tensor_host(emitter, value, out) || emit_tile_host(emitter, value, out))
            return true;
        if (!(intrinsic_info[value->intrinsic].effects & EFFECT_WARP_SYNC))
            return false;
        call_meet(emitter, value, out);
        return true;
    }
}

/* --- shared memory ------------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef shared_memory(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment)
{
    if (value->storage->dynamic)
        return thread_field(emitter, emitter->pointer_type, offsetof(HostThread, dynamic_shared));
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
    return elementary_symbol(emitter, is_double ? intrinsic_info[id].host64 : intrinsic_info[id].host32);
}

static void begin(Emitter *emitter)
{
    emitter->host = ARENA_NEW(emitter->arena, HostEmitter);
    emitter->host->observed = host_observed_module(emitter);
    if (emitter->ir->first->joins_rows)
        emitter->host->wide_index = intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, emitter->ir->first->row_axis);
}

static void describe_image(const Emitter *emitter, KernelImage *image)
{
    image->context_size = emitter->host->context_size;
    image->may_wait = emitter->ir->first->may_wait;
    image->takes_turns = emitter->takes_turns;
    image->repeated_axes = emitter->host->repeated_axes;
    host_describe_observed(emitter, image);
    image->checks = checks_of(emitter->options, TARGET_HOST);
    image->has_real_threads = emitter->effects & (EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC);
}

static bool finish_module(Emitter *emitter)
{
    if (emitter->ir->first && emitter->ir->first->is_kernel)
        emit_host_entries(emitter, &emitter->functions[0]);
    if (diag_failed(emitter->diag))
        return false;
    mark_independent_loops(emitter);
    keep_vector_forms(emitter);
    return link_libdevice(emitter) && lower_nvvm_intrinsics(emitter);
}

static void print(Emitter *emitter, LLVMValueRef format, LLVMValueRef buffer)
{
    LLVMValueRef arguments[2] = {format, buffer};
    call_host_service(emitter, offsetof(HostServices, print), emitter->void_type, 2, arguments);
}

static void end_thread(Emitter *emitter) { call_llvm(emitter, "llvm.trap", NULL, 0, NULL); }

/* A function that has a body is that here. */
static bool refuse_assembly(Emitter *emitter, const EmittedFunction *function)
{
    const IrFunc *ir = function->ir;
    const IrValue *last = ir->last->last;
    return ir->lacks_body && !diag_fail(emitter->diag, &last->pos, DIAG_INTRINSIC_TARGET,
                                        arena_format(emitter->arena, "asm(\"%.60s\")", ir->assembly), "the CPU device",
                                        ": it is PTX; asm(..., cpu=function) gives it a function there");
}

const TargetLowering target_host = {
    .choose_machine = choose_machine,
    .pointer_space = ADDRESS_GENERIC,
    .passes_thread = true,
    .begin = begin,
    .finish_kernel = finish_kernel,
    .read_register = read_register,
    .device_intrinsic = device_intrinsic,
    .thread_memory = host_thread_memory,
    .private_copy = host_private_copy,
    .shared_memory = shared_memory,
    .dynamic_shared_size = dynamic_shared_size,
    .math_symbol = math_symbol,
    .describe_math_call = describe_vector_forms,
    .emit_kernel = emit_host_kernel,
    .emit_assembly = refuse_assembly,
    .finish_module = finish_module,
    .describe_image = describe_image,
    .end_thread = end_thread,
#if defined(__x86_64__)
    .converts_by_tests = true,
#endif
    .print_operands = UINT32_MAX,
    .print = print,
};
