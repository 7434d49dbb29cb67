/* Where a thread is in the grid, and how large the grid is, in threads. */
#include "frontend/engine.h"
#include "frontend/value/grid_place.h"

static IrValue *register_value(Lower *l, IntrinsicId axes, uint32_t axis)
{
    IrValue *narrow = emit_intrinsic(l, intrinsic_on_axis(axes, axis), TYPE_OF(INT32), 0, NULL);
    return emit1(l, IR_CONVERT, TYPE_OF(INT64), narrow);
}

Operand lower_grid_place(Lower *l, uint32_t axis)
{
    IrValue *block = register_value(l, INTRINSIC_CUDA_BLOCK_IDX, axis);
    IrValue *width = register_value(l, INTRINSIC_CUDA_BLOCK_DIM, axis);
    IrValue *thread = register_value(l, INTRINSIC_CUDA_THREAD_IDX, axis);
    return operand_value(TYPE_OF(INT64),
                         emit2(l, IR_ADD, TYPE_OF(INT64), emit2(l, IR_MUL, TYPE_OF(INT64), block, width), thread));
}

Operand lower_grid_extent(Lower *l, uint32_t axis)
{
    IrValue *blocks = register_value(l, INTRINSIC_CUDA_GRID_DIM, axis);
    return operand_value(TYPE_OF(INT64),
                         emit2(l, IR_MUL, TYPE_OF(INT64), blocks, register_value(l, INTRINSIC_CUDA_BLOCK_DIM, axis)));
}
