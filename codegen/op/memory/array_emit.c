/* Arrays: extents, strides, loads and stores, views, and where arrays of a kernel's own live. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/memory/hinted_access.h"
#include "codegen/op/value/parts.h"
#include "core/base/hash.h"

void emit_op_EXTENT(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = operand_parts(emitter, value, 0)[part_of_extent(value->index)];
}

void emit_op_STRIDE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = array_stride(emitter, value->operands[0]->type, operand_parts(emitter, value, 0), value->index);
}

void emit_op_ADDRESS(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = LLVMBuildPtrToInt(emitter->builder, operand_parts(emitter, value, 0)[0], emitter->i64, "");
}

/* Of an index inside of the array or as far from its end, and the one moved by the extent, the one that is meant is the
 * smaller number without a sign; the other is beyond the end, or negative. Two instructions of a GPU in place of three. */
static LLVMValueRef smaller_index(Emitter *emitter, LLVMValueRef index, LLVMValueRef moved)
{
    LLVMValueRef both[2] = {index, moved};
    return call_llvm(emitter, "llvm.umin", LLVMTypeOf(index), 2, both);
}

void emit_op_WRAP(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef index = operand_scalar(emitter, value, 0);
    if (value->operands[0]->non_negative) {
        out[0] = index;
        return;
    }
    LLVMValueRef moved = LLVMBuildAdd(emitter->builder, index, operand_scalar(emitter, value, 1), "");
    if (emitter->target->kind == TARGET_NVPTX && LLVMTypeOf(index) == emitter->i32) {
        out[0] = smaller_index(emitter, index, moved);
        return;
    }
    LLVMValueRef negative = LLVMBuildICmp(emitter->builder, LLVMIntSLT, index, LLVMConstNull(LLVMTypeOf(index)), "");
    out[0] = LLVMBuildSelect(emitter->builder, negative, moved, index, "");
}

/* Where an element of the array may lie. A kernel's own arrays of complex numbers begin at a multiple of these, which a
 * GPU then accesses at once; arguments may be views that do not. */
uint32_t access_alignment(const IrValue *array)
{
    const Type *element = array->type->element;
    bool is_own = array->op == IR_SHARED || array->op == IR_LOCAL;
    return is_own && element->kind == TYPE_COMPLEX ? element->size : type_element_alignment(array->type);
}

void emit_op_LOAD(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef address = element_address(emitter, value, 1);
    if (value->hint) {
        emit_hinted_load(emitter, value, address, out);
        return;
    }
    load_parts(emitter, value->type, address, access_alignment(value->operands[0]), out);
}

void emit_op_STORE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    const Type *element = value->operands[0]->type->element;
    LLVMValueRef address = element_address(emitter, value, 1);
    const LLVMValueRef *parts = operand_parts(emitter, value, value->operand_count - 1);
    if (value->hint)
        emit_hinted_store(emitter, value, address, parts);
    else
        store_parts(emitter, element, address, access_alignment(value->operands[0]), parts);
}

void emit_op_SUBARRAY(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const Type *array = value->operands[0]->type;
    uint32_t next = 1 + array->ndim, ndim = value->type->ndim;
    LLVMValueRef *indices[TYPE_MAX_NDIM];
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        indices[axis] = operand_parts(emitter, value, 1 + axis);
    LLVMValueRef address = strided_address(emitter, array, operand_parts(emitter, value, 0), indices);
    out[0] = offset_address(emitter, address, value->integer);
    uint32_t kept = part_count(value->type) - 1; /* extents, and strides where the layout does not imply them */
    for (uint32_t i = 0; i < kept && i < 2 * ndim; i++)
        out[1 + i] = operand_scalar(emitter, value, next + i);
}

/* --- several elements at once --------------------------------------------------------------------------------------------- */

/* The vector that holds the parts of the items, and the address of the first. */
static LLVMTypeRef wide_type(Emitter *emitter, const IrValue *value, const Type *items)
{
    return LLVMVectorType(memory_type(emitter, value->operands[0]->type->element), part_count(items));
}

static unsigned wide_alignment(const IrValue *value, const Type *items)
{
    uint64_t bytes = size_in_memory(value->operands[0]->type->element) * items->count;
    return bytes < 16 ? (unsigned)bytes : 16;
}

void emit_wide_load(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    bool is_bool = value->operands[0]->type->element->kind == TYPE_BOOL;
    LLVMValueRef vector = LLVMBuildLoad2(emitter->builder, wide_type(emitter, value, value->type),
                                         element_address(emitter, value, 1), "");
    LLVMSetAlignment(vector, wide_alignment(value, value->type));
    for (uint32_t i = 0; i < part_count(value->type); i++) {
        out[i] = LLVMBuildExtractElement(emitter->builder, vector, const_i32(emitter, (int32_t)i), "");
        if (is_bool)
            out[i] = LLVMBuildICmp(emitter->builder, LLVMIntNE, out[i], LLVMConstNull(emitter->i8), "");
    }
}

void emit_wide_store(Emitter *emitter, const IrValue *value)
{
    const Type *items = value->operands[2]->type;
    bool is_bool = value->operands[0]->type->element->kind == TYPE_BOOL;
    LLVMValueRef vector = LLVMGetUndef(wide_type(emitter, value, items));
    for (uint32_t i = 0; i < part_count(items); i++) {
        LLVMValueRef part = operand_parts(emitter, value, 2)[i];
        if (is_bool)
            part = LLVMBuildZExt(emitter->builder, part, emitter->i8, "");
        vector = LLVMBuildInsertElement(emitter->builder, vector, part, const_i32(emitter, (int32_t)i), "");
    }
    LLVMSetAlignment(LLVMBuildStore(emitter->builder, vector, element_address(emitter, value, 1)),
                     wide_alignment(value, items));
}

/* --- arrays that the module or a kernel owns ------------------------------------------------------------------------------ */

enum { MOST_STORAGE = 1 << 30 }; /* bytes of a kernel's shared arrays, and of a thread's local ones */

/* The bytes of the array, 0 with a diagnostic where there is no room for it behind `used` bytes of others. */
static uint64_t storage_size(Emitter *emitter, const IrValue *value, uint32_t used)
{
    uint64_t size = size_in_memory(value->type->element);
    bool is_empty = value->storage->dynamic, is_large = false;
    for (uint32_t axis = 0; axis < value->type->ndim; axis++) {
        is_empty = is_empty || value->storage->shape[axis] == 0;
        is_large = is_large || __builtin_mul_overflow(size, (uint64_t)value->storage->shape[axis], &size);
    }
    if (is_empty || !(is_large || size > MOST_STORAGE - (used < MOST_STORAGE ? used : MOST_STORAGE)))
        return is_empty ? 0 : size;
    diag_fail(emitter->diag, &value->pos, DIAG_CONSTANT_RANGE,
              "local and shared arrays have at most 1 GiB; pass an array to the kernel instead");
    return 0;
}

uint32_t storage_alignment(const IrValue *value)
{
    const Type *element = value->type->element;
    uint32_t natural = type_natural_alignment(element);
    natural = element->alignment > natural ? element->alignment : natural;
    if (element->kind == TYPE_COMPLEX) /* both parts in one access of a GPU */
        natural = element->size;
    return value->storage->alignment > natural ? value->storage->alignment : natural;
}

static void set_constant_shape(Emitter *emitter, const Type *type, const int64_t *shape, const int64_t *strides,
                               LLVMValueRef *out)
{
    for (uint32_t axis = 0; axis < type->ndim; axis++)
        out[part_of_extent(axis)] = const_i64(emitter, shape[axis]);
    for (uint32_t axis = 0; type->layout == LAYOUT_ANY && axis < type->ndim; axis++)
        out[1 + type->ndim + axis] = const_i64(emitter, strides[axis]);
}

static void row_major_strides(const Type *type, const int64_t *shape, int64_t *strides)
{
    uint64_t stride = size_in_memory(type->element);
    for (uint32_t axis = type->ndim; axis-- > 0; stride *= (uint64_t)shape[axis])
        strides[axis] = (int64_t)stride;
}

static void emit_storage_shape(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    int64_t strides[TYPE_MAX_NDIM];
    row_major_strides(value->type, value->storage->shape, strides);
    set_constant_shape(emitter, value->type, value->storage->shape, strides, out);
}

void emit_op_SHARED(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    uint64_t size = storage_size(emitter, value, emitter->static_shared);
    emit_storage_shape(emitter, value, out);
    out[0] = emitter->lowering->shared_memory(emitter, value, size, storage_alignment(value));
    if (!value->storage->dynamic)
        return;
    uint64_t row = size_in_memory(value->type->element);
    for (uint32_t axis = 1; axis < value->type->ndim; axis++)
        row *= (uint64_t)value->storage->shape[axis];
    out[part_of_extent(0)] = LLVMBuildUDiv(emitter->builder, emitter->lowering->dynamic_shared_size(emitter),
                                           const_i64(emitter, row ? (int64_t)row : 1), "");
}

uint64_t local_array_size(const IrValue *value)
{
    uint64_t size = size_in_memory(value->type->element);
    for (uint32_t axis = 0; axis < value->type->ndim; axis++)
        if (__builtin_mul_overflow(size, (uint64_t)value->storage->shape[axis], &size))
            return UINT64_MAX / 2;
    return size > MOST_STORAGE ? MOST_STORAGE : size + storage_alignment(value);
}

static LLVMValueRef thread_memory(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment)
{
    LLVMValueRef memory =
        emitter->lowering->thread_memory ? emitter->lowering->thread_memory(emitter, value, size, alignment) : NULL;
    if (memory)
        return memory;
    emitter->local_size += (uint32_t)size + alignment;
    return prologue_alloca(emitter, size, alignment);
}

/* Memory whose life has a begin and no end goes on where the function is inlined: LLVM then sets no end of its own. */
static void begin_life(Emitter *emitter, LLVMValueRef memory)
{
    if (!LLVMIsAAllocaInst(memory))
        return;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    call_llvm(emitter, "llvm.lifetime.start", emitter->pointer_type, 1, &memory);
    LLVMPositionBuilderAtEnd(emitter->builder, here);
}

void emit_op_LOCAL(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    uint64_t size = storage_size(emitter, value, emitter->local_size);
    uint32_t alignment = storage_alignment(value);
    emit_storage_shape(emitter, value, out);
    out[0] = thread_memory(emitter, value, size, alignment);
    if (!emitter->emitted->gives_memory)
        return;
    begin_life(emitter, out[0]);
    uint64_t copies = emitter->emitted->copies, more = copies ? (copies - 1) * (size + alignment) : 0;
    emitter->local_size += more < MOST_STORAGE ? (uint32_t)more : MOST_STORAGE;
}

void emit_op_CELL(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const Type *type = value->operands[0]->type;
    uint32_t size = value_size(emitter, type);
    out[0] = thread_memory(emitter, value, size, 8);
    store_value(emitter, type, out[0], operand_parts(emitter, value, 0));
}

void emit_op_CELL_LOAD(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    load_value(emitter, value->type, operand_scalar(emitter, value, 0), out);
}

void emit_op_CELL_STORE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    store_value(emitter, value->operands[1]->type, operand_scalar(emitter, value, 0), operand_parts(emitter, value, 1));
}

/* --- constant data ------------------------------------------------------------------------------------------------------------- */

/* GPUs have 64 KiB of constant memory for a module; what does not fit there lies in global memory. */
enum { CONSTANT_MEMORY = 60000 };

static unsigned constant_space(Emitter *emitter, size_t size)
{
    if (emitter->lowering->pointer_space == ADDRESS_GENERIC)
        return ADDRESS_GENERIC;
    if (emitter->constant_size + size > CONSTANT_MEMORY)
        return ADDRESS_GLOBAL;
    emitter->constant_size += size;
    return ADDRESS_CONSTANT;
}

/* Named by its bytes, so that what is compiled twice has one text; LLVM keeps one constant for equal bytes, which tells
 * two arrays with one hash apart. */
static LLVMValueRef constant_global(Emitter *emitter, const ConstantArray *array)
{
    Hash hash = hash_bytes(array->data, array->size);
    char name[32];
    snprintf(name, sizeof name, "cujit.data.%016" PRIx64, hash.words[0]);
    LLVMValueRef bytes = LLVMConstStringInContext2(emitter->context, array->data, array->size, true);
    LLVMValueRef global = LLVMGetNamedGlobal(emitter->llvm_module, name);
    if (global && LLVMGetInitializer(global) == bytes)
        return global;
    global = LLVMAddGlobalInAddressSpace(emitter->llvm_module, LLVMTypeOf(bytes), name,
                                         constant_space(emitter, array->size));
    LLVMSetInitializer(global, bytes);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetAlignment(global, 16);
    return global;
}

void emit_op_DATA(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const ConstantArray *array = value->array;
    set_constant_shape(emitter, value->type, array->shape, array->strides, out);
    if (array->data || !array->device_pointer) {
        out[0] = array->size ? LLVMConstAddrSpaceCast(constant_global(emitter, array), emitter->pointer_type)
                             : LLVMConstNull(emitter->pointer_type);
        return;
    }
    LLVMTypeRef space = LLVMPointerTypeInContext(emitter->context, emitter->lowering->pointer_space);
    LLVMValueRef pointer = LLVMConstIntToPtr(const_i64(emitter, (int64_t)array->device_pointer), space);
    out[0] = LLVMConstAddrSpaceCast(pointer, emitter->pointer_type);
}
