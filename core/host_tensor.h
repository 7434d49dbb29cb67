/* How a lane hands its fragments of a matrix multiplication, or the address of a row, to the runtime of the CPU device: a
 * buffer on its stack, whose address is the value of HostServices.meet. */
#ifndef CUJIT_CORE_HOST_TENSOR_H
#define CUJIT_CORE_HOST_TENSOR_H

#include "core/intrinsic/intrinsic.h"

/* Offsets in bytes of the fragments in the buffer of an MMA row, and their counts of elements; a lies at 0. */
typedef struct HostFragments {
    uint32_t a_count, b_count, c_count;
    uint32_t b, c, d, size;
} HostFragments;

static inline HostFragments host_fragments(const MmaShape *mma)
{
    HostFragments f = {.a_count = mma_fragment_count(mma, 0),
                       .b_count = mma_fragment_count(mma, 1),
                       .c_count = mma_fragment_count(mma, 2)};
    f.b = f.a_count * mma->input->size;
    f.c = (f.b + f.b_count * mma->input->size + 7) / 8 * 8;
    f.d = f.c + f.c_count * mma->output->size;
    f.size = f.d + f.c_count * mma->output->size;
    return f;
}

/* The buffer of ldmatrix: where the lane's row begins, then its elements of each matrix. */
typedef struct HostMatrixRows {
    const uint16_t *row;
    uint16_t elements[8];
} HostMatrixRows;

#endif
