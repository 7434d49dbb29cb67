/* Where elements of arrays lie. A GPU computes places in 32 bits where the array and the indices have them (words); the
 * address of such an element is that of one in its row, plus what the index has of constants: x[i, j - 1], x[i, j] and
 * x[i, j + 1] have one address, and the accesses their distances from it. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/parts.h"

/* Products and sums of extents and sizes cannot overflow for an array that has the element that is accessed. */
static LLVMValueRef without_overflow(LLVMValueRef value)
{
    if (LLVMIsAInstruction(value)) {
        LLVMSetNSW(value, true);
        LLVMSetNUW(value, true);
    }
    return value;
}

static LLVMValueRef multiply_sizes(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    return without_overflow(LLVMBuildMul(emitter->builder, a, b, ""));
}

static LLVMValueRef add_sizes(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    return without_overflow(LLVMBuildAdd(emitter->builder, a, b, ""));
}

LLVMValueRef array_stride(Emitter *emitter, const Type *array, const LLVMValueRef *parts, uint32_t axis)
{
    if (array->layout == LAYOUT_ANY)
        return parts[1 + array->ndim + axis];
    LLVMValueRef stride = const_i64(emitter, (int64_t)size_in_memory(array->element));
    uint32_t first = array->layout == LAYOUT_C ? axis + 1 : 0, end = array->layout == LAYOUT_C ? array->ndim : axis;
    for (uint32_t i = first; i < end; i++)
        stride = multiply_sizes(emitter, parts[part_of_extent(i)], stride);
    return stride;
}

/* --- places of 64 bits -------------------------------------------------------------------------------------------------- */

static LLVMValueRef as_number(Emitter *emitter, LLVMValueRef size, LLVMTypeRef number)
{
    return LLVMTypeOf(size) == number ? size : LLVMBuildTrunc(emitter->builder, size, number, "");
}

/* The axis that is the i-th, the one with the largest stride first, in an array without gaps. */
static uint32_t axis_in_memory(const Type *array, uint32_t i)
{
    return array->layout == LAYOUT_C ? i : array->ndim - 1 - i;
}

/* Places before the one at the indices of so many axes, in this order; number: the type that they are computed in. Axes
 * without an index, NULL, are left out; the result of none is NULL. */
static LLVMValueRef linear_index(Emitter *emitter, const Type *array, const LLVMValueRef *parts,
                                 LLVMValueRef *const *indices, uint32_t count, LLVMTypeRef number)
{
    LLVMValueRef linear = NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis = axis_in_memory(array, i);
        if (linear)
            linear = multiply_sizes(emitter, linear, as_number(emitter, parts[part_of_extent(axis)], number));
        if (!indices[axis])
            continue;
        LLVMValueRef index = as_number(emitter, *indices[axis], number);
        linear = linear ? add_sizes(emitter, linear, index) : index;
    }
    return linear;
}

LLVMValueRef strided_address(Emitter *emitter, const Type *array, const LLVMValueRef *parts,
                             LLVMValueRef *const *indices)
{
    LLVMValueRef address = parts[0];
    for (uint32_t axis = 0; axis < array->ndim; axis++) {
        LLVMValueRef offset =
            LLVMBuildNSWMul(emitter->builder, *indices[axis], array_stride(emitter, array, parts, axis), "");
        address = LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, address, &offset, 1, "");
    }
    return address;
}

static LLVMTypeRef element_type(Emitter *emitter, const Type *element)
{
    if (type_is_scalar(element) && element->kind != TYPE_COMPLEX)
        return memory_type(emitter, element);
    return LLVMArrayType2(emitter->i8, size_in_memory(element));
}

/* --- places of 32 bits -------------------------------------------------------------------------------------------------- */

/* Whether the index is one of 32 bits, made wide for the access. */
static bool is_word(const IrValue *index)
{
    if (index->op == IR_CONST)
        return index->integer >= 0 && index->integer <= INT32_MAX;
    return index->op == IR_CONVERT && type_is_integer(index->operands[0]->type) && index->operands[0]->type->size <= 4;
}

/* Whether places in the array have 32 bits, and the access's indices, too. */
static bool has_words(const Emitter *emitter, const IrValue *value, uint32_t first_index)
{
    const IrValue *array = value->operands[0];
    bool is_small = emitter->target->kind == TARGET_NVPTX && (array->op == IR_LOCAL || array->op == IR_SHARED ||
                                                              (array->op == IR_PARAM && emitter->function->is_limited));
    for (uint32_t i = 0; is_small && i < array->type->ndim; i++)
        is_small = is_word(value->operands[first_index + i]);
    return is_small && array->type->ndim > 1;
}

/* Whether a trip of the loop leaves another number there than the one before: it is made of a variable of the loop. */
static bool is_counted(const IrLoop *loop, const IrValue *index, int depth)
{
    bool is_sum = index->op == IR_ADD || index->op == IR_SUB || index->op == IR_CONVERT;
    if (index->op == IR_PHI)
        return index->block == loop->header;
    for (uint32_t i = 0; is_sum && depth && i < index->operand_count; i++)
        if (is_counted(loop, index->operands[i], depth - 1))
            return true;
    return false;
}

static uint32_t last_axis(const Type *array) { return axis_in_memory(array, array->ndim - 1u); }
static uint32_t next_to_last_axis(const Type *array) { return axis_in_memory(array, array->ndim - 2u); }

/* The axes on which the innermost loop steps from row to row of an array of the launch, a bit each. What they add to a place
 * is a distance of its own then: LLVM's strength reduction, which steps it forward, takes sums of 32 bits apart and loses that
 * they do not wrap. */
static uint32_t stepped_axes(const Emitter *emitter, const IrValue *value, uint32_t first_index)
{
    enum { DEEPEST = 4 };
    const IrValue *array = value->operands[0];
    const IrLoop *loop = emitter->graph ? emitter->graph->loop_of[value->block->id] : NULL;
    uint32_t axes = 0;
    if (!loop || array->op != IR_PARAM || loop->header->loop == IR_LOOP_UNROLL)
        return 0;
    for (uint32_t axis = 0; axis < array->type->ndim; axis++)
        if (axis != last_axis(array->type) && is_counted(loop, value->operands[first_index + axis], DEEPEST))
            axes |= 1u << axis;
    return axes;
}

static LLVMValueRef wide(Emitter *emitter, LLVMValueRef word)
{
    return LLVMBuildSExt(emitter->builder, word, emitter->i64, "");
}

/* Elements before the row that these indices, without that of the last axis, are of; NULL: there are none. */
static LLVMValueRef row_index(Emitter *emitter, const Type *array, const LLVMValueRef *parts,
                              LLVMValueRef *const *indices)
{
    LLVMValueRef rows = linear_index(emitter, array, parts, indices, array->ndim - 1u, emitter->i32);
    LLVMValueRef extent = parts[part_of_extent(last_axis(array))];
    return rows ? multiply_sizes(emitter, rows, as_number(emitter, extent, emitter->i32)) : NULL;
}

/* Whether the value is a constant that is not far from 0, or will be one when the loop whose trips it counts is written out;
 * such a loop counts from and to constants. */
static bool is_near_constant(const Emitter *emitter, const IrValue *value)
{
    enum { FARTHEST = 1 << 20 };
    IrInduction counts;
    if (value->op == IR_CONST)
        return value->integer >= -FARTHEST && value->integer <= FARTHEST;
    if (value->op != IR_PHI || value->block->loop != IR_LOOP_UNROLL || !emitter->graph)
        return false;
    const IrLoop *loop = emitter->graph->loop_of[value->block->id];
    return loop && loop->header == value->block && ir_induction(emitter->graph, loop, &counts) &&
           counts.variable == value;
}

/* The sum, or difference, with such a constant that an index is; NULL: it is none. It does not wrap, in 32 bits, and neither
 * does what the constant is added to, added to a place of an array. */
static const IrValue *sum_with_constant(const Emitter *emitter, const IrValue *index)
{
    const IrValue *sum = index->op == IR_CONVERT ? index->operands[0] : index;
    bool is_sum = type_equal(sum->type, TYPE_OF(INT32)) && (sum->op == IR_ADD || sum->op == IR_SUB) &&
                  sum->hint == IR_EXACT && is_near_constant(emitter, sum->operands[1]);
    return is_sum ? sum : NULL;
}

static LLVMValueRef constant_of(Emitter *emitter, const IrValue *sum)
{
    LLVMValueRef constant = wide(emitter, operand_scalar(emitter, sum, 1));
    return sum->op == IR_SUB ? LLVMBuildNSWNeg(emitter->builder, constant, "") : constant;
}

/* Moves the address by the rows that the loop steps through, and leaves the other indices. From one row to the next it is an
 * extent's number of elements. Further out it is a product, which several accesses of a loop would not have in common: the
 * row as a whole is what moves the address then. */
static LLVMValueRef step_through_rows(Emitter *emitter, const IrValue *value, uint32_t first_index,
                                      LLVMValueRef **indices, LLVMValueRef address)
{
    const Type *array = value->operands[0]->type;
    const LLVMValueRef *parts = operand_parts(emitter, value, 0);
    uint32_t axes = stepped_axes(emitter, value, first_index), next = next_to_last_axis(array);
    if (!axes)
        return address;
    if (axes == 1u << next) {
        LLVMValueRef distance = multiply_sizes(emitter, *indices[next], array_stride(emitter, array, parts, next));
        indices[next] = NULL;
        return LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, address, &distance, 1, "");
    }
    LLVMValueRef row = wide(emitter, row_index(emitter, array, parts, indices));
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        if (axis != last_axis(array))
            indices[axis] = NULL;
    return LLVMBuildInBoundsGEP2(emitter->builder, element_type(emitter, array->element), address, &row, 1, "");
}

/* What is in the row, and behind that the constant. Places may be outside of the array before it is added. */
static LLVMValueRef address_in_row(Emitter *emitter, const IrValue *value, uint32_t first_index, LLVMValueRef **indices)
{
    const Type *array = value->operands[0]->type;
    const LLVMValueRef *parts = operand_parts(emitter, value, 0);
    LLVMTypeRef element = element_type(emitter, array->element);
    const IrValue *index = value->operands[first_index + last_axis(array)];
    const IrValue *sum = sum_with_constant(emitter, index);
    LLVMValueRef place = sum ? operand_scalar(emitter, sum, 0) : emitter->parts[index->id][0];
    place = as_number(emitter, place, emitter->i32);
    LLVMValueRef address = step_through_rows(emitter, value, first_index, indices, parts[0]);
    LLVMValueRef row = row_index(emitter, array, parts, indices);
    if (row)
        place = sum ? LLVMBuildNSWAdd(emitter->builder, row, place, "") : add_sizes(emitter, row, place);
    place = wide(emitter, place);
    if (!sum)
        return LLVMBuildInBoundsGEP2(emitter->builder, element, address, &place, 1, "");
    LLVMValueRef distance = constant_of(emitter, sum);
    address = LLVMBuildGEP2(emitter->builder, element, address, &place, 1, "");
    return LLVMBuildGEP2(emitter->builder, element, address, &distance, 1, "");
}

static LLVMValueRef linear_address(Emitter *emitter, const IrValue *value, uint32_t first_index)
{
    const Type *array = value->operands[0]->type;
    const LLVMValueRef *parts = operand_parts(emitter, value, 0);
    LLVMValueRef *indices[TYPE_MAX_NDIM];
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        indices[axis] = operand_parts(emitter, value, first_index + axis);
    if (array->ndim == 0)
        return parts[0];
    if (array->layout == LAYOUT_ANY)
        return strided_address(emitter, array, parts, indices);
    if (has_words(emitter, value, first_index))
        return address_in_row(emitter, value, first_index, indices);
    LLVMValueRef linear = linear_index(emitter, array, parts, indices, array->ndim, emitter->i64);
    return LLVMBuildInBoundsGEP2(emitter->builder, element_type(emitter, array->element), parts[0], &linear, 1, "");
}

/* --- swizzled ----------------------------------------------------------------------------------------------------------- */

/* Where an element of a swizzled array is that would lie there in another. They are shared memory, whose pointers have 32
 * bits on a GPU. */
static LLVMValueRef swizzled(Emitter *emitter, const Type *array, LLVMValueRef address)
{
    LLVMBuilderRef builder = emitter->builder;
    bool is_gpu = emitter->target->kind == TARGET_NVPTX;
    LLVMTypeRef bits_type = is_gpu ? emitter->i32 : emitter->i64;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(emitter->context, is_gpu ? ADDRESS_SHARED : ADDRESS_GENERIC);
    if (!array->swizzle)
        return address;
    LLVMValueRef place = LLVMBuildAddrSpaceCast(builder, address, pointer, "");
    LLVMValueRef bits = LLVMBuildPtrToInt(builder, place, bits_type, "");
    LLVMValueRef row = LLVMBuildLShr(builder, bits, LLVMConstInt(bits_type, 3, false), "");
    row = LLVMBuildAnd(builder, row, LLVMConstInt(bits_type, type_swizzle_mask(array->swizzle), false), "");
    place = LLVMBuildIntToPtr(builder, LLVMBuildXor(builder, bits, row, ""), pointer, "");
    return LLVMBuildAddrSpaceCast(builder, place, emitter->pointer_type, "");
}

LLVMValueRef element_address(Emitter *emitter, const IrValue *value, uint32_t first_index)
{
    return swizzled(emitter, value->operands[0]->type, linear_address(emitter, value, first_index));
}
