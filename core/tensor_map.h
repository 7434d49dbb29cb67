/* What the tensor memory accelerator is to copy: boxes of an array, into rows of shared memory. The CPU device has the struct
 * itself in the place of a GPU's encoded one. */
#ifndef CUJIT_CORE_TENSOR_MAP_H
#define CUJIT_CORE_TENSOR_MAP_H

#include <stdint.h>

enum { TENSOR_MAP_MOST_AXES = 5, TENSOR_MAP_BYTES = 128 };

/* Axes in the array's order: neighbours lie along the last one. */
typedef struct TensorMap {
    uint64_t pointer;
    int64_t extents[TENSOR_MAP_MOST_AXES];
    int64_t strides[TENSOR_MAP_MOST_AXES]; /* bytes */
    uint32_t box[TENSOR_MAP_MOST_AXES]; /* elements */
    uint32_t axes, element_size;
    uint32_t swizzle; /* 0, 32, 64 or 128: bytes of a row of shared memory in which pieces of 16 are exchanged */
} TensorMap;

_Static_assert(sizeof(TensorMap) <= TENSOR_MAP_BYTES, "what the CPU device has in the place of a GPU's");

typedef union TensorMapWords {
    TensorMap map;
    uint64_t words[TENSOR_MAP_BYTES / 8];
} TensorMapWords;

#endif
