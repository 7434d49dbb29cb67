/* What common_loop.c has made of loops whose trips begin with a thread's place, for the passes behind it. */
#include "codegen/host/regions/trip_test.h"

static bool read_axis(const IrValue *place, int *axis)
{
    if (place->op == IR_CONVERT && place->type->scalar == SCALAR_INT64)
        place = place->operands[0];
    *axis = OF_LANES;
    if (place->op != IR_INTRINSIC || place->type->scalar != SCALAR_INT32)
        return false;
    if (place->intrinsic == INTRINSIC_CUDA_LANEID)
        return place->block->function->by_warps;
    *axis = intrinsic_axis(INTRINSIC_CUDA_THREAD_IDX, place->intrinsic);
    return *axis >= 0;
}

bool read_trip_test(const IrValue *value, TripTest *out)
{
    if (value->op != IR_LT || value->operands[1]->op != IR_SUB)
        return false;
    out->left = value->operands[1];
    return read_axis(value->operands[0], &out->axis);
}

IrBlock *asks_for_trip(const IrLoop *loop)
{
    TripTest test;
    const IrBlock *header = loop->header;
    const IrValue *index = header->first;
    if (header->last->op != IR_BRANCH || index->op != IR_PHI || index->next->op == IR_PHI)
        return NULL;
    IrBlock *ask = header->last->targets[0];
    bool is_asked = ask->last->op == IR_BRANCH && ask->predecessor_count == 1 &&
                    read_trip_test(ask->last->operands[0], &test) && test.left->operands[1] == index;
    return is_asked ? ask : NULL;
}
