/* Arithmetic in front of loops over threads. */
#include "codegen/host/regions/front_values.h"

IrValue *front_number(IrBlock *to, int64_t number) { return ir_const_int(to, TYPE_OF(INT64), number, NULL); }

IrValue *front_binary(IrBlock *to, IrOp op, IrValue *a, IrValue *b)
{
    const Type *type = ir_op_info[op].result == IR_RESULT_BOOL ? TYPE_OF(BOOL) : a->type;
    return ir_append(to, op, type, NULL, 2, (IrValue *[]){a, b});
}

IrValue *front_widened(IrBlock *to, IrValue *value)
{
    return value->type->scalar == SCALAR_INT64 ? value : ir_append(to, IR_CONVERT, TYPE_OF(INT64), NULL, 1, &value);
}

IrValue *take_end(IrBlock *block)
{
    IrValue *end = block->last, *before = NULL;
    for (IrValue *value = block->first; value != end; value = value->next)
        before = value;
    block->last = before;
    *(before ? &before->next : &block->first) = NULL;
    return end;
}

void put_end(IrBlock *block, IrValue *end)
{
    end->next = NULL;
    *(block->last ? &block->last->next : &block->first) = end;
    block->last = end;
}
