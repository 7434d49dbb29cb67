/* NVIDIA GPUs: PTX kernels, special registers, shared memory in its address space, libdevice. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/libdevice.h"
#include "codegen/nvptx/assembly.h"
#include "codegen/nvptx/memory/atomic_scope.h"
#include "codegen/nvptx/memory/cache_hint.h"
#include "codegen/nvptx/memory/extent_word.h"
#include "codegen/nvptx/memory/parameter_space.h"
#include "codegen/nvptx/ptxas_fault.h"
#include "codegen/nvptx/tensor_nvptx.h"
#include "codegen/nvptx/tile_nvptx.h"
#include "codegen/op/value/parts.h"

static const char TRIPLE[] = "nvptx64-nvidia-cuda";

static void initialize_backend(void)
{
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

/* Sections of debug information have labels and differences of them, which older PTX has not. */
enum { PTX_OF_DEBUG_SECTIONS = 75, PTX_OF_TILES = 80, SPECIFIC_SM = 90 };

static int ptx_version(const Emitter *emitter)
{
    int needed = emitter->target->gpu->ptx, of_parameters = nvptx_parameter_ptx(nvptx_parameter_bytes(emitter));
    if (emitter->options->debug && needed < PTX_OF_DEBUG_SECTIONS)
        needed = PTX_OF_DEBUG_SECTIONS;
    if (emitter->effects & EFFECT_TILES && needed < PTX_OF_TILES)
        needed = PTX_OF_TILES;
    return needed < of_parameters ? of_parameters : needed;
}

static bool choose_machine(const Emitter *emitter, MachineKind *kind)
{
    const Target *target = emitter->target;
    const CompileOptions *options = emitter->options;
    if (!nvptx_check_parameters(emitter))
        return false;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize_backend);
    LLVMTargetRef backend;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(TRIPLE, &backend, &message)) {
        diag_fail(emitter->diag, NULL, DIAG_LLVM, message);
        LLVMDisposeMessage(message);
        return false;
    }
    const char *features = arena_format(emitter->arena, "+ptx%d", ptx_version(emitter));
    const char *processor = target->gpu->name;
    if (emitter->effects & EFFECT_SPECIFIC && target->gpu->sm == SPECIFIC_SM)
        processor = arena_format(emitter->arena, "%sa", processor);
    *kind = (MachineKind){backend,
                          TRIPLE,
                          processor,
                          features,
                          (LLVMCodeGenOptLevel)(options->opt > 3 ? 3 : options->opt),
                          LLVMRelocDefault,
                          LLVMCodeModelDefault};
    return true;
}

static void add_number_attribute(Emitter *emitter, LLVMValueRef function, const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    if (value > 0)
        add_text_attribute(emitter, function, name, text);
}

/* Watchers take many: what runs with 1024 threads a block without them does so with them. */
static int registers_of(const Emitter *emitter)
{
    enum { REGISTERS_OF_LARGEST_BLOCK = 64 };
    const CompileOptions *options = emitter->options;
    bool is_bound = options->max_registers || options->launch_bounds.threads;
    return is_bound || !emitter->ir->has_state ? options->max_registers : REGISTERS_OF_LARGEST_BLOCK;
}

static void finish_kernel(Emitter *emitter, LLVMValueRef function)
{
    const CompileOptions *options = emitter->options;
    LLVMSetFunctionCallConv(function, LLVMPTXKernelCallConv);
    add_number_attribute(emitter, function, "nvvm.maxntid", options->launch_bounds.threads);
    add_number_attribute(emitter, function, "nvvm.minctasm", options->launch_bounds.blocks);
    add_number_attribute(emitter, function, "nvvm.maxnreg", registers_of(emitter));
    if (emitter->target->gpu->sm >= 90)
        add_number_attribute(emitter, function, "nvvm.maxclusterrank", options->launch_bounds.cluster);
}

/* The largest value of a register in the launches that the kernel is for. */
static int64_t most_of_register(const Emitter *emitter, IntrinsicId id)
{
    for (uint32_t axis = 0; emitter->ir->first->is_limited && axis < 3; axis++)
        if (id == intrinsic_on_axis(INTRINSIC_CUDA_GRID_DIM, axis))
            return LAUNCH_LIMIT_BLOCKS;
        else if (id == intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_IDX, axis))
            return LAUNCH_LIMIT_BLOCKS - 1;
    return intrinsic_info[id].high;
}

static LLVMValueRef read_register(Emitter *emitter, IntrinsicId id)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    unsigned bits = type_bits(row->type);
    LLVMValueRef value = call_llvm(emitter, row->nvptx, NULL, 0, NULL);
    if (LLVMIsACallInst(value) && LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind &&
        LLVMGetIntTypeWidth(LLVMTypeOf(value)) == bits)
        LLVMAddCallSiteAttribute(value, LLVMAttributeReturnIndex,
                                 range_attribute(emitter, bits, row->low, most_of_register(emitter, id) + 1));
    return value;
}

/* The barrier of the whole block is the one with the number 0. */
static bool is_whole_block(IntrinsicId id) { return intrinsic_info[id].effects & EFFECT_BLOCK_SYNC; }

/* A shuffle of 32 bits. The last operand: the lane that sources are clamped to, and from bit 8 on the bits of a lane's
 * number that tell its segment. */
static LLVMValueRef shuffle_word(Emitter *emitter, const IrValue *value, LLVMValueRef word)
{
    LLVMBuilderRef builder = emitter->builder;
    bool is_up = value->intrinsic == INTRINSIC_CUDA_SHFL_UP_SYNC;
    LLVMValueRef segment = LLVMBuildSub(builder, const_i32(emitter, 32), operand_scalar(emitter, value, 3), "");
    LLVMValueRef limits = LLVMBuildShl(builder, segment, const_i32(emitter, 8), "");
    limits = LLVMBuildOr(builder, limits, const_i32(emitter, is_up ? 0 : 31), "");
    LLVMValueRef arguments[4] = {operand_scalar(emitter, value, 0), word, operand_scalar(emitter, value, 2), limits};
    return call_llvm(emitter, intrinsic_info[value->intrinsic].nvptx, NULL, 4, arguments);
}

/* 64 bits go as two halves. */
static void emit_shuffle(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef bits = operand_scalar(emitter, value, 1), shift = const_i64(emitter, 32);
    if (value->type->size == 4) {
        out[0] = shuffle_word(emitter, value, bits);
        return;
    }
    LLVMValueRef low = LLVMBuildTrunc(builder, bits, emitter->i32, "");
    LLVMValueRef high = LLVMBuildTrunc(builder, LLVMBuildLShr(builder, bits, shift, ""), emitter->i32, "");
    low = LLVMBuildZExt(builder, shuffle_word(emitter, value, low), emitter->i64, "");
    high = LLVMBuildZExt(builder, shuffle_word(emitter, value, high), emitter->i64, "");
    out[0] = LLVMBuildOr(builder, LLVMBuildShl(builder, high, shift, ""), low, "");
}

/* The row names the form for 32 bits; matching all yields a mask and whether all agree, which is mask != 0. */
static void emit_match(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    bool is_all = value->intrinsic == INTRINSIC_CUDA_MATCH_ALL_SYNC, is_wide = value->operands[1]->type->size == 8;
    const char *wide = is_all ? "llvm.nvvm.match.all.sync.i64p" : "llvm.nvvm.match.any.sync.i64";
    LLVMValueRef arguments[2] = {operand_scalar(emitter, value, 0), operand_scalar(emitter, value, 1)};
    out[0] = call_llvm(emitter, is_wide ? wide : intrinsic_info[value->intrinsic].nvptx, NULL, 2, arguments);
    if (is_all)
        out[0] = LLVMBuildExtractValue(emitter->builder, out[0], 0, "");
}

/* An LLVM intrinsic with the same operands. */
static bool emit_alike(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const char *name = intrinsic_info[value->intrinsic].nvptx;
    if (!name)
        return false;
    LLVMValueRef arguments[8];
    uint32_t count = 0;
    if (is_whole_block(value->intrinsic))
        arguments[count++] = const_i32(emitter, 0);
    for (uint32_t i = 0; i < value->operand_count && count < 8; i++)
        arguments[count++] = operand_scalar(emitter, value, i);
    LLVMValueRef result = call_llvm(emitter, name, NULL, count, arguments);
    if (part_count(value->type) == 1)
        out[0] = result;
    return true;
}

/* --- reductions of a warp: an instruction from sm_80 on, else shuffles -------------------------------------------------------- */

/* The row names the form for unsigned integers. */
static LLVMValueRef reduce_at_once(Emitter *emitter, const IrValue *value)
{
    const char *name = intrinsic_info[value->intrinsic].nvptx;
    if (value->type->kind == TYPE_INT && value->intrinsic == INTRINSIC_REDUX_MIN)
        name = "llvm.nvvm.redux.sync.min";
    if (value->type->kind == TYPE_INT && value->intrinsic == INTRINSIC_REDUX_MAX)
        name = "llvm.nvvm.redux.sync.max";
    LLVMValueRef arguments[2] = {operand_scalar(emitter, value, 1), operand_scalar(emitter, value, 0)};
    return call_llvm(emitter, name, NULL, 2, arguments);
}

static LLVMValueRef combine(Emitter *emitter, const IrValue *value, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = emitter->builder;
    bool is_signed = value->type->kind == TYPE_INT;
    LLVMValueRef both[2] = {a, b};
    switch (value->intrinsic) {
    case INTRINSIC_REDUX_ADD: return LLVMBuildAdd(builder, a, b, "");
    case INTRINSIC_REDUX_AND: return LLVMBuildAnd(builder, a, b, "");
    case INTRINSIC_REDUX_OR: return LLVMBuildOr(builder, a, b, "");
    case INTRINSIC_REDUX_XOR: return LLVMBuildXor(builder, a, b, "");
    case INTRINSIC_REDUX_MIN: return call_llvm(emitter, is_signed ? "llvm.smin" : "llvm.umin", emitter->i32, 2, both);
    default: return call_llvm(emitter, is_signed ? "llvm.smax" : "llvm.umax", emitter->i32, 2, both);
    }
}

static LLVMValueRef from_lane(Emitter *emitter, LLVMValueRef mask, LLVMValueRef word, LLVMValueRef lane)
{
    LLVMValueRef arguments[4] = {mask, word, lane, const_i32(emitter, 31)};
    return call_llvm(emitter, "llvm.nvvm.shfl.sync.idx.i32", NULL, 4, arguments);
}

static LLVMValueRef lowest_lane(Emitter *emitter, LLVMValueRef lanes)
{
    LLVMValueRef arguments[2] = {lanes, LLVMConstAllOnes(emitter->i1)}; /* there is one */
    return call_llvm(emitter, "llvm.cttz", emitter->i32, 2, arguments);
}

/* Each lane adds what the next lane of the mask has, then the one behind all of whose values that has, and so on: five
 * times doubles 1 to 32. A lane that has all up to the highest one is its own next. The lowest lane's goes to all. */
static LLVMValueRef reduce_by_shuffles(Emitter *emitter, const IrValue *value)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef mask = operand_scalar(emitter, value, 0), sum = operand_scalar(emitter, value, 1);
    LLVMValueRef self = call_llvm(emitter, "llvm.nvvm.read.ptx.sreg.laneid", NULL, 0, NULL);
    LLVMValueRef higher = call_llvm(emitter, "llvm.nvvm.read.ptx.sreg.lanemask.gt", NULL, 0, NULL);
    higher = LLVMBuildAnd(builder, higher, mask, "");
    LLVMValueRef is_highest = LLVMBuildICmp(builder, LLVMIntEQ, higher, const_i32(emitter, 0), "");
    LLVMValueRef next = LLVMBuildSelect(builder, is_highest, self, lowest_lane(emitter, higher), "");
    for (int i = 0; i < 5; i++) {
        LLVMValueRef theirs = from_lane(emitter, mask, sum, next), further = from_lane(emitter, mask, next, next);
        LLVMValueRef is_done = LLVMBuildICmp(builder, LLVMIntEQ, next, self, "");
        LLVMValueRef is_last = LLVMBuildICmp(builder, LLVMIntEQ, further, next, "");
        sum = LLVMBuildSelect(builder, is_done, sum, combine(emitter, value, sum, theirs), "");
        next = LLVMBuildSelect(builder, is_last, self, further, "");
    }
    return from_lane(emitter, mask, sum, lowest_lane(emitter, mask));
}

static void emit_reduction(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = emitter->target->gpu->sm >= 80 ? reduce_at_once(emitter, value) : reduce_by_shuffles(emitter, value);
}

/* --- the grid's barrier -------------------------------------------------------------------------------------------------------- */

/* Thread 0 of each block counts it in the word that the driver lends a cooperative launch, at 4 bytes behind the address in
 * %envreg1:2. Blocks add 1, the first one what is missing to 2 ** 31: the sign flips when all have come, and the count is
 * ready for the next time. */
static const char grid_sync_code[] =
    "{\n\t.reg .b32 %cg_a, %cg_b, %cg_n;\n\t.reg .b64 %cg_w;\n\t.reg .pred %cg_p;\n\t"
    "barrier.sync 0;\n\t"
    "mov.u32 %cg_a, %tid.x;\n\tmov.u32 %cg_b, %tid.y;\n\tor.b32 %cg_a, %cg_a, %cg_b;\n\t"
    "mov.u32 %cg_b, %tid.z;\n\tor.b32 %cg_a, %cg_a, %cg_b;\n\tsetp.ne.u32 %cg_p, %cg_a, 0;\n\t"
    "@%cg_p bra CG_DONE;\n\t"
    "mov.u32 %cg_n, %nctaid.x;\n\tmov.u32 %cg_b, %nctaid.y;\n\tmul.lo.u32 %cg_n, %cg_n, %cg_b;\n\t"
    "mov.u32 %cg_b, %nctaid.z;\n\tmul.lo.u32 %cg_n, %cg_n, %cg_b;\n\tsub.u32 %cg_n, 0x80000001, %cg_n;\n\t"
    "mov.u32 %cg_a, %ctaid.x;\n\tmov.u32 %cg_b, %ctaid.y;\n\tor.b32 %cg_a, %cg_a, %cg_b;\n\t"
    "mov.u32 %cg_b, %ctaid.z;\n\tor.b32 %cg_a, %cg_a, %cg_b;\n\tsetp.eq.u32 %cg_p, %cg_a, 0;\n\t"
    "selp.b32 %cg_n, %cg_n, 1, %cg_p;\n\t"
    "mov.u32 %cg_a, %envreg1;\n\tmov.u32 %cg_b, %envreg2;\n\tmov.b64 %cg_w, {%cg_b, %cg_a};\n\t"
    "atom.add.release.gpu.u32 %cg_a, [%cg_w+4], %cg_n;\n"
    "CG_WAIT:\n\tld.acquire.gpu.u32 %cg_b, [%cg_w+4];\n\txor.b32 %cg_b, %cg_a, %cg_b;\n\t"
    "setp.ge.s32 %cg_p, %cg_b, 0;\n\t@%cg_p bra CG_WAIT;\n"
    "CG_DONE:\n\tbarrier.sync 0;\n\t}";

static void emit_grid_sync(Emitter *emitter)
{
    LLVMTypeRef type = LLVMFunctionType(emitter->void_type, NULL, 0, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, grid_sync_code, strlen(grid_sync_code), "~{memory}", 9, true, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, type, code, NULL, 0, "");
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(emitter, "convergent", 0));
}

/* --- clusters ----------------------------------------------------------------------------------------------------------------- */

/* The same array at the address that another block of the cluster has it at. */
static void emit_map_shared(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const LLVMValueRef *array = operand_parts(emitter, value, 0);
    LLVMValueRef arguments[2] = {array[0], operand_scalar(emitter, value, 1)};
    out[0] = call_llvm(emitter, intrinsic_info[value->intrinsic].nvptx, NULL, 2, arguments);
    for (uint32_t i = 1; i < part_count(value->type); i++)
        out[i] = array[i];
}

/* --- launches that overlap ----------------------------------------------------------------------------------------------------- */

/* Below sm_90 launches do not overlap. Assembly, because LLVM's intrinsic lets loads of global memory pass it. */
static void emit_grid_dependency(Emitter *emitter, const char *code)
{
    if (emitter->target->gpu->sm < 90)
        return;
    LLVMTypeRef type = LLVMFunctionType(emitter->void_type, NULL, 0, false);
    LLVMValueRef call = LLVMGetInlineAsm(type, code, strlen(code), "~{memory}", strlen("~{memory}"), true, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(emitter->builder, type, call, NULL, 0, "");
}

static bool device_intrinsic(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    switch (intrinsic_info[value->intrinsic].family) {
    case FAMILY_SHUFFLE: emit_shuffle(emitter, value, out); return true;
    case FAMILY_MATCH: emit_match(emitter, value, out); return true;
    case FAMILY_WARP_REDUCTION: emit_reduction(emitter, value, out); return true;
    default: break;
    }
    switch (value->intrinsic) {
    case INTRINSIC_CUDA_GRID_SYNC: emit_grid_sync(emitter); return true;
    case INTRINSIC_CLUSTER_SYNC:
        call_llvm(emitter, "llvm.nvvm.barrier.cluster.arrive", NULL, 0, NULL);
        call_llvm(emitter, "llvm.nvvm.barrier.cluster.wait", NULL, 0, NULL);
        return true;
    case INTRINSIC_CLUSTER_MAP_SHARED: emit_map_shared(emitter, value, out); return true;
    case INTRINSIC_CUDA_GRID_DEPENDENCY_SYNC: emit_grid_dependency(emitter, "griddepcontrol.wait;"); return true;
    case INTRINSIC_CUDA_TRIGGER_LAUNCH_COMPLETION:
        emit_grid_dependency(emitter, "griddepcontrol.launch_dependents;");
        return true;
    default:
        return emit_tensor_nvptx(emitter, value, out) || emit_tile_nvptx(emitter, value, out) ||
               emit_alike(emitter, value, out);
    }
}

/* --- shared memory ------------------------------------------------------------------------------------------------------------ */

static LLVMValueRef static_shared(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment)
{
    const char *name = arena_format(emitter->arena, "cujit.shared.%s.%u", emitter->function->name, value->id);
    LLVMTypeRef type = LLVMArrayType2(emitter->i8, size);
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(emitter->llvm_module, type, name, ADDRESS_SHARED);
    LLVMSetInitializer(global, LLVMGetUndef(type));
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetAlignment(global, alignment);
    emitter->static_shared = (emitter->static_shared + alignment - 1) / alignment * alignment + (uint32_t)size;
    return global;
}

/* One block of memory for all of them: it begins where the strictest of them asks for. */
static LLVMValueRef dynamic_shared(Emitter *emitter, uint32_t alignment)
{
    LLVMValueRef known = emitter->dynamic_shared;
    if (known && alignment > LLVMGetAlignment(known))
        LLVMSetAlignment(known, alignment);
    if (known)
        return known;
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(emitter->llvm_module, LLVMArrayType2(emitter->i8, 0),
                                                      "cujit_dynamic_shared", ADDRESS_SHARED);
    LLVMSetLinkage(global, LLVMExternalLinkage);
    LLVMSetAlignment(global, alignment > 16 ? alignment : 16);
    return emitter->dynamic_shared = global;
}

/* --- more static shared memory than ptxas takes: a launch gives it -------------------------------------------------------------- */

enum { STATIC_SHARED_MOST = 48 * 1024 };

static bool is_static_shared(LLVMValueRef global)
{
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));
    return space == ADDRESS_SHARED && LLVMGetLinkage(global) == LLVMInternalLinkage;
}

static LLVMValueRef place_in(Emitter *emitter, LLVMValueRef memory, uint64_t offset)
{
    LLVMValueRef index = const_i64(emitter, (int64_t)offset);
    return LLVMConstGEP2(emitter->i8, memory, &index, 1);
}

/* Replaces the arrays by places one behind the other; returns where the program's own memory begins behind them. */
static uint64_t move_static_shared(Emitter *emitter, LLVMValueRef memory)
{
    uint64_t end = 0;
    unsigned own = LLVMGetAlignment(memory), most = own;
    for (LLVMValueRef global = LLVMGetFirstGlobal(emitter->llvm_module), next; global; global = next) {
        next = LLVMGetNextGlobal(global);
        if (!is_static_shared(global))
            continue;
        unsigned alignment = LLVMGetAlignment(global);
        most = alignment > most ? alignment : most;
        end = (end + alignment - 1) / alignment * alignment;
        LLVMReplaceAllUsesWith(global, place_in(emitter, memory, end));
        end += LLVMABISizeOfType(emitter->data_layout, LLVMGlobalGetValueType(global));
        LLVMDeleteGlobal(global);
    }
    LLVMSetAlignment(memory, most);
    return (end + own - 1) / own * own;
}

/* The program's own dynamic memory begins behind the arrays. */
static void make_room(Emitter *emitter)
{
    LLVMValueRef own = emitter->dynamic_shared;
    if (own)
        LLVMSetValueName2(own, "", 0);
    emitter->dynamic_shared = NULL;
    LLVMValueRef memory = dynamic_shared(emitter, own ? LLVMGetAlignment(own) : 1);
    uint64_t size = move_static_shared(emitter, memory);
    if (own) {
        LLVMReplaceAllUsesWith(own, place_in(emitter, memory, size));
        LLVMDeleteGlobal(own);
    }
    emitter->static_shared = (uint32_t)size;
    if (emitter->moved_shared)
        LLVMSetInitializer(emitter->moved_shared, const_i32(emitter, (int32_t)size));
}

static bool finish_module(Emitter *emitter)
{
    if (emitter->static_shared > STATIC_SHARED_MOST)
        make_room(emitter);
    else
        emitter->static_shared = 0;
    return link_libdevice(emitter);
}

/* --- what the emitter asks for -------------------------------------------------------------------------------------------------- */

static LLVMValueRef shared_memory(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment)
{
    LLVMValueRef global =
        value->storage->dynamic ? dynamic_shared(emitter, alignment) : static_shared(emitter, value, size, alignment);
    return LLVMConstAddrSpaceCast(global, emitter->pointer_type);
}

static LLVMValueRef dynamic_shared_size(Emitter *emitter)
{
    LLVMValueRef size = call_llvm(emitter, "llvm.nvvm.read.ptx.sreg.dynamic_smem_size", NULL, 0, NULL);
    if (!emitter->moved_shared) { /* known when all arrays are */
        emitter->moved_shared =
            LLVMAddGlobalInAddressSpace(emitter->llvm_module, emitter->i32, "cujit.moved_shared", ADDRESS_CONSTANT);
        LLVMSetInitializer(emitter->moved_shared, const_i32(emitter, 0));
        LLVMSetGlobalConstant(emitter->moved_shared, true);
        LLVMSetLinkage(emitter->moved_shared, LLVMInternalLinkage);
    }
    LLVMValueRef moved = LLVMBuildLoad2(emitter->builder, emitter->i32, emitter->moved_shared, "");
    size = LLVMBuildSub(emitter->builder, size, moved, "");
    return LLVMBuildZExt(emitter->builder, size, emitter->i64, "");
}

/* --- mathematics ---------------------------------------------------------------------------------------------------------------- */

static const char *math_symbol(Emitter *emitter, IntrinsicId id, bool is_double)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    const char *host = is_double ? row->host64 : row->host32;
    if (!strncmp(host, "llvm.", 5))
        return host;
    if (is_double || !(emitter->options->fastmath & FLOAT_AFN))
        return is_double ? row->libdevice64 : row->libdevice32;
    const char *fast = arena_format(emitter->arena, "__nv_fast_%s", row->libdevice32 + strlen("__nv_"));
    return libdevice_has(fast) ? fast : row->libdevice32;
}

/* The driver's: 32 operands at most; a buffer that the host reads when it synchronizes. */
static void print(Emitter *emitter, LLVMValueRef format, LLVMValueRef buffer)
{
    LLVMTypeRef types[2] = {emitter->pointer_type, emitter->pointer_type};
    LLVMTypeRef type = LLVMFunctionType(emitter->i32, types, 2, false);
    LLVMValueRef function = LLVMGetNamedFunction(emitter->llvm_module, "vprintf");
    if (!function)
        function = LLVMAddFunction(emitter->llvm_module, "vprintf", type);
    LLVMBuildCall2(emitter->builder, type, function, (LLVMValueRef[]){format, buffer}, 2, "");
}

static void end_thread(Emitter *emitter) { call_llvm(emitter, "llvm.nvvm.exit", NULL, 0, NULL); }

/* Whether functions that call themselves hand a state on. */
static bool has_deep_stack(const Emitter *emitter)
{
    bool is_recursive = false;
    for (const IrFunc *function = emitter->ir->first; function; function = function->next)
        is_recursive |= function->is_recursive;
    return is_recursive && emitter->ir->has_state;
}

static void describe_image(const Emitter *emitter, KernelImage *image)
{
    image->max_registers = registers_of(emitter);
    image->checks = emitter->ir->has_bits ? CHECK_INIT : CHECKS_NONE;
    image->has_deep_stack = has_deep_stack(emitter);
    image->parameters_size = nvptx_parameter_bytes(emitter);
}

/* Behind the code generator's own passes. */
static void change_selected(void *state, LLVMValueRef function)
{
    multiply_extents_as_words(state, function);
    ptxas_avoid_faults_of(state, function);
}

const TargetLowering target_nvptx = {
    .choose_machine = choose_machine,
    .pointer_space = ADDRESS_GLOBAL,
    .splits_unaligned = true,
    .passes_thread = false,
    .finish_kernel = finish_kernel,
    .read_register = read_register,
    .device_intrinsic = device_intrinsic,
    .shared_memory = shared_memory,
    .dynamic_shared_size = dynamic_shared_size,
    .math_symbol = math_symbol,
    .emit_assembly = nvptx_emit_assembly,
    .finish_module = finish_module,
    .before_selection = change_selected,
    .change_text = ptxas_avoid_in_text,
    .describe_image = describe_image,
    .end_thread = end_thread,
    .load_with_hint = load_with_hint,
    .store_with_hint = store_with_hint,
    .scoped_read_modify_write = scoped_read_modify_write,
    .print_operands = 32,
    .print = print,
};
