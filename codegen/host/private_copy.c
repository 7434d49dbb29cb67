/* Emits the copy of an array that a worker of the CPU device adds to instead of the array itself, in the entry that runs its
 * blocks: made before them, added to the array behind them. Small arrays only, and not where there are more elements than
 * threads; the kernel's code asks for each access whether it is inside of the copy. */
#include "codegen/host/private_copy.h"

#include <stddef.h>

#include "codegen/emit_tools.h"
#include "codegen/host/host_loop.h"
#include "codegen/op/value/parts.h"
#include "core/host_abi.h"

enum { MOST_BYTES = 16 << 10 };

/* --- memory of a parameter --------------------------------------------------------------------------------------------------- */

typedef struct Range {
    LLVMValueRef first, count, end; /* end: the address behind it, i64 */
} Range;

static Range memory_of(Emitter *emitter, const LLVMValueRef *arguments, uint32_t field)
{
    const AbiField *fields = emitter->abi->fields;
    const Type *array = fields[field].type;
    Range range = {.first = arguments[field], .count = const_i64(emitter, 1)};
    for (uint32_t i = field + 1; i <= field + array->ndim; i++)
        range.count = LLVMBuildMul(emitter->builder, range.count, arguments[i], "");
    LLVMValueRef bytes = LLVMBuildMul(emitter->builder, range.count, const_i64(emitter, array->element->size), "");
    range.end =
        LLVMBuildAdd(emitter->builder, LLVMBuildPtrToInt(emitter->builder, range.first, emitter->i64, ""), bytes, "");
    return range;
}

static LLVMValueRef are_apart(Emitter *emitter, const Range *a, const Range *b)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef start_a = LLVMBuildPtrToInt(builder, a->first, emitter->i64, "");
    LLVMValueRef start_b = LLVMBuildPtrToInt(builder, b->first, emitter->i64, "");
    LLVMValueRef is_behind = LLVMBuildICmp(builder, LLVMIntULE, a->end, start_b, "");
    return LLVMBuildOr(builder, is_behind, LLVMBuildICmp(builder, LLVMIntULE, b->end, start_a, ""), "");
}

static LLVMValueRef shares_nothing(Emitter *emitter, const LLVMValueRef *arguments, uint32_t field, const Range *range)
{
    LLVMValueRef alone = LLVMConstInt(emitter->i1, 1, false);
    for (uint32_t i = 0; i < emitter->abi->field_count; i++) {
        if (emitter->abi->fields[i].kind != ABI_POINTER || i == field)
            continue;
        Range other = memory_of(emitter, arguments, i);
        alone = LLVMBuildAnd(emitter->builder, alone, are_apart(emitter, range, &other), "");
    }
    return alone;
}

/* --- the copy ------------------------------------------------------------------------------------------------------------------ */

static const IrValue *find_private_atomic(const IrFunc *kernel)
{
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_ATOMIC && value->hint == IR_PRIVATE)
                return value;
    return NULL;
}

static uint32_t field_of(const KernelAbi *abi, uint32_t parameter)
{
    uint32_t field = 0;
    while (abi->fields[field].parameter != parameter)
        field++;
    return field;
}

PrivateCopy begin_private_copy(Emitter *emitter, const IrFunc *kernel, const LLVMValueRef *arguments,
                               LLVMValueRef threads)
{
    LLVMBuilderRef builder = emitter->builder;
    PrivateCopy made = {.atomic = find_private_atomic(kernel),
                        .copy = LLVMConstNull(emitter->pointer_type),
                        .size = const_i64(emitter, 0)};
    if (!made.atomic)
        return made;
    uint32_t field = field_of(emitter->abi, made.atomic->operands[0]->index),
             size = emitter->abi->fields[field].type->element->size;
    Range range = memory_of(emitter, arguments, field);
    made.copy = prologue_alloca(emitter, MOST_BYTES, 64);
    LLVMValueRef fits = LLVMBuildICmp(builder, LLVMIntULE, range.count, const_i64(emitter, MOST_BYTES / size), "");
    LLVMValueRef pays = LLVMBuildICmp(builder, LLVMIntULE, range.count, threads, "");
    LLVMValueRef is_wanted = LLVMBuildAnd(builder, fits, pays, "");
    is_wanted = LLVMBuildAnd(builder, is_wanted, shares_nothing(emitter, arguments, field, &range), "");
    made.array = range.first;
    made.count = LLVMBuildSelect(builder, is_wanted, range.count, const_i64(emitter, 0), "");
    made.size = LLVMBuildMul(builder, made.count, const_i64(emitter, size), "");
    LLVMBuildMemSet(builder, made.copy, LLVMConstNull(emitter->i8), made.size, 64);
    return made;
}

static LLVMAtomicRMWBinOp operation_of(const IrValue *atomic)
{
    return atomic->atomic == IR_ATOMIC_OR    ? LLVMAtomicRMWBinOpOr
           : atomic->atomic == IR_ATOMIC_XOR ? LLVMAtomicRMWBinOpXor
                                             : LLVMAtomicRMWBinOpAdd;
}

void end_private_copy(Emitter *emitter, const PrivateCopy *copy)
{
    LLVMBuilderRef builder = emitter->builder;
    if (!copy->atomic)
        return;
    LLVMTypeRef type = part_type(emitter, copy->atomic->operands[0]->type->element);
    LLVMBasicBlockRef some = new_block(emitter), adds = new_block(emitter), next = new_block(emitter),
                      done = new_block(emitter);
    LLVMValueRef is_there = LLVMBuildICmp(builder, LLVMIntNE, copy->count, const_i64(emitter, 0), "");
    LLVMBuildCondBr(builder, is_there, some, done);
    LLVMPositionBuilderAtEnd(builder, some);
    HostLoop loop = host_loop_open(emitter, const_i64(emitter, 0), copy->count);
    LLVMValueRef place = LLVMBuildInBoundsGEP2(builder, type, copy->copy, &loop.index, 1, "");
    LLVMValueRef sum = LLVMBuildLoad2(builder, type, place, "");
    LLVMValueRef is_zero = LLVMBuildICmp(builder, LLVMIntEQ, sum, LLVMConstNull(type), "");
    LLVMBuildCondBr(builder, is_zero, next, adds);
    LLVMPositionBuilderAtEnd(builder, adds);
    LLVMBuildAtomicRMW(builder, operation_of(copy->atomic),
                       LLVMBuildInBoundsGEP2(builder, type, copy->array, &loop.index, 1, ""), sum,
                       LLVMAtomicOrderingMonotonic, false);
    LLVMBuildBr(builder, next);
    LLVMPositionBuilderAtEnd(builder, next);
    host_loop_close(emitter, &loop);
    LLVMBuildBr(builder, done);
    LLVMPositionBuilderAtEnd(builder, done);
}

LLVMValueRef host_private_copy(Emitter *emitter, LLVMValueRef *size)
{
    *size = LLVMBuildLoad2(emitter->builder, emitter->i64,
                           host_field(emitter, emitter->thread, offsetof(HostThread, private_size)), "");
    return LLVMBuildLoad2(emitter->builder, emitter->pointer_type,
                          host_field(emitter, emitter->thread, offsetof(HostThread, private_copy)), "");
}
