/* How a thread of the CPU device hands copies of tiles and multiplications of four warps to the runtime: a struct on its
 * stack, whose address is the value of HostServices.meet. */
#ifndef CUJIT_CORE_HOST_TILE_CALL_H
#define CUJIT_CORE_HOST_TILE_CALL_H

#include "core/intrinsic/wgmma.h"
#include "core/tensor_map.h"

/* TMA_LOAD, TMA_LOAD_MULTICAST, TMA_STORE. */
typedef struct HostTileCopy {
    uint8_t *tile;
    uint64_t tile_bytes; /* of the shared array */
    const TensorMap *map;
    uint64_t *barrier; /* of a load */
    uint32_t ranks; /* of a multicast: a mask */
    uint32_t axes, swizzle; /* of the shared array */
    int32_t index[TENSOR_MAP_MOST_AXES];
} HostTileCopy;

/* WGMMA_MMA. */
typedef struct HostWgmma {
    uint8_t *c, *a, *b;
    uint64_t c_bytes, a_bytes; /* of these arrays */
    uint32_t a_step, b_step;
    uint32_t a_swizzle, b_swizzle; /* of a 0: it is a fragment */
    uint32_t kind, columns, transposed, accumulates;
} HostWgmma;

#endif
