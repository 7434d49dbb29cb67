/* Items of a tuple, chosen by an index that is known only when the kernel runs. A tuple's items are registers, so the
 * choice is one comparison after the other; but of a tuple with more than a few dozen items it is a load: from constants
 * of the module, or from memory of the thread that is filled where the tuple is made. */
#include <string.h>

#include "codegen/emit_tools.h"
#include "codegen/op/pick_emit.h"
#include "codegen/op/value/parts.h"

enum { MOST_COMPARED = 64 }; /* items */

/* A tuple of more items: where in the LLVM function its parts are known, and its place in memory. */
typedef struct LargeTuple {
    const IrValue *value;
    LLVMBasicBlockRef block;
    LLVMValueRef last; /* instruction of the block so far; NULL: none */
    LLVMValueRef memory; /* NULL: nobody has asked */
    LLVMValueRef *tables; /* of constants, by the part of an item; NULL: likewise */
    struct LargeTuple *next;
} LargeTuple;

static bool is_large(const Type *type) { return type->kind == TYPE_TUPLE && type->count > MOST_COMPARED; }

void note_tuple(Emitter *emitter, const IrValue *value)
{
    if (!is_large(value->type))
        return;
    LargeTuple *tuple = ARENA_NEW(emitter->arena, LargeTuple);
    LLVMBasicBlockRef block = LLVMGetInsertBlock(emitter->builder);
    *tuple = (LargeTuple){value, block, LLVMGetLastInstruction(block), NULL, NULL, emitter->tuples};
    emitter->tuples = tuple;
}

static LargeTuple *picked_tuple(Emitter *emitter, const IrValue *pick)
{
    LargeTuple *tuple = emitter->tuples;
    while (tuple->value != pick->operands[0])
        tuple = tuple->next;
    return tuple;
}

/* --- memory of the thread ------------------------------------------------------------------------------------------------ */

static uint64_t item_size(Emitter *emitter, const Type *item)
{
    enum { ALIGNMENT = 8 };
    return (value_size(emitter, item) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Behind the last instruction, and behind all phis of the block. */
static void go_behind(Emitter *emitter, const LargeTuple *tuple)
{
    LLVMValueRef next = tuple->last ? LLVMGetNextInstruction(tuple->last) : LLVMGetFirstInstruction(tuple->block);
    while (next && LLVMGetInstructionOpcode(next) == LLVMPHI)
        next = LLVMGetNextInstruction(next);
    if (next)
        LLVMPositionBuilderBefore(emitter->builder, next);
    else
        LLVMPositionBuilderAtEnd(emitter->builder, tuple->block);
}

static void fill_memory(Emitter *emitter, LargeTuple *tuple)
{
    const Type *type = tuple->value->type, *item = type->items[0];
    uint64_t size = item_size(emitter, item);
    uint32_t count = part_count(item);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    tuple->memory = prologue_alloca(emitter, size * type->count, 16);
    go_behind(emitter, tuple);
    for (uint32_t i = 0; i < type->count; i++)
        store_value(emitter, item, offset_address(emitter, tuple->memory, (int64_t)(i * size)),
                    emitter->parts[tuple->value->id] + i * count);
    LLVMPositionBuilderAtEnd(emitter->builder, here);
}

static void pick_from_memory(Emitter *emitter, const IrValue *pick, LLVMValueRef *out)
{
    LargeTuple *tuple = picked_tuple(emitter, pick);
    if (!tuple->memory)
        fill_memory(emitter, tuple);
    LLVMTypeRef item = LLVMArrayType2(emitter->i8, item_size(emitter, pick->type));
    LLVMValueRef place = operand_scalar(emitter, pick, 1);
    load_value(emitter, pick->type, LLVMBuildInBoundsGEP2(emitter->builder, item, tuple->memory, &place, 1, ""), out);
}

/* --- constants of the module --------------------------------------------------------------------------------------------- */

static bool are_constant(const LLVMValueRef *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!LLVMIsAConstantInt(parts[i]) && !LLVMIsAConstantFP(parts[i]))
            return false;
    return count > 0;
}

/* A tuple that is named twice is two values, but its constants are there once. */
static LLVMValueRef global_with(Emitter *emitter, LLVMValueRef initializer)
{
    LLVMValueRef each = LLVMGetFirstGlobal(emitter->llvm_module);
    while (each && !(LLVMIsGlobalConstant(each) && LLVMGetInitializer(each) == initializer))
        each = LLVMGetNextGlobal(each);
    return each;
}

/* An array of one part of all items; a bit is a byte there. */
static LLVMValueRef part_table(Emitter *emitter, const IrValue *tuple, uint32_t part, uint32_t count, LLVMTypeRef type)
{
    LLVMValueRef *parts = ARENA_ARRAY(emitter->arena, LLVMValueRef, tuple->type->count);
    for (uint32_t i = 0; i < tuple->type->count; i++) {
        parts[i] = emitter->parts[tuple->id][i * count + part];
        if (LLVMTypeOf(parts[i]) == emitter->i1)
            parts[i] = LLVMConstInt(emitter->i8, LLVMConstIntGetZExtValue(parts[i]), false);
    }
    LLVMValueRef items = LLVMConstArray2(type, parts, tuple->type->count);
    LLVMValueRef table = global_with(emitter, items);
    if (table)
        return table;
    table = LLVMAddGlobalInAddressSpace(emitter->llvm_module, LLVMTypeOf(items), "cujit.tuple",
                                        emitter->lowering->pointer_space);
    LLVMSetInitializer(table, items);
    LLVMSetGlobalConstant(table, true);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    return table;
}

static void pick_constant(Emitter *emitter, const IrValue *pick, LLVMValueRef *out)
{
    uint32_t count = part_count(pick->type);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count);
    part_types(emitter, pick->type, types);
    LLVMValueRef place = operand_scalar(emitter, pick, 1);
    LargeTuple *tuple = picked_tuple(emitter, pick);
    if (!tuple->tables)
        tuple->tables = ARENA_ARRAY(emitter->arena, LLVMValueRef, count);
    for (uint32_t part = 0; part < count; part++) {
        bool is_bit = types[part] == emitter->i1;
        LLVMTypeRef type = is_bit ? emitter->i8 : types[part];
        if (!tuple->tables[part])
            tuple->tables[part] = part_table(emitter, tuple->value, part, count, type);
        LLVMValueRef address = LLVMBuildInBoundsGEP2(emitter->builder, type, tuple->tables[part], &place, 1, "");
        out[part] = LLVMBuildLoad2(emitter->builder, type, address, "");
        if (is_bit)
            out[part] = LLVMBuildICmp(emitter->builder, LLVMIntNE, out[part], LLVMConstNull(type), "");
    }
}

/* --- comparisons ----------------------------------------------------------------------------------------------------------- */

static void pick_by_comparison(Emitter *emitter, const IrValue *pick, const LLVMValueRef *items, LLVMValueRef *out)
{
    LLVMBuilderRef builder = emitter->builder;
    uint32_t count = part_count(pick->type);
    memcpy(out, items, count * sizeof *out);
    for (uint32_t i = 1; i < pick->operands[0]->type->count; i++) {
        LLVMValueRef is_it =
            LLVMBuildICmp(builder, LLVMIntEQ, operand_scalar(emitter, pick, 1), const_i64(emitter, i), "");
        for (uint32_t part = 0; part < count; part++)
            out[part] = LLVMBuildSelect(builder, is_it, items[i * count + part], out[part], "");
    }
}

void emit_op_PICK(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const Type *type = value->operands[0]->type;
    const LLVMValueRef *items = operand_parts(emitter, value, 0);
    if (!is_large(type))
        pick_by_comparison(emitter, value, items, out);
    else if (are_constant(items, part_count(type)))
        pick_constant(emitter, value, out);
    else if (part_count(value->type))
        pick_from_memory(emitter, value, out);
}
