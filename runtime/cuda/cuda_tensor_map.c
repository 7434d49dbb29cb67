/* Tensor maps as a GPU's tensor memory accelerator reads them. */
#include <string.h>

#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"

_Static_assert(sizeof(CUtensorMap) == sizeof(TensorMapWords), "a map is a map");

static CUtensorMapDataType type_of(uint32_t size)
{
    return size == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
           : size == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
           : size == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                       : CU_TENSOR_MAP_DATA_TYPE_UINT64;
}

static CUtensorMapSwizzle swizzle_of(uint32_t bytes)
{
    return bytes == 32    ? CU_TENSOR_MAP_SWIZZLE_32B
           : bytes == 64  ? CU_TENSOR_MAP_SWIZZLE_64B
           : bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                          : CU_TENSOR_MAP_SWIZZLE_NONE;
}

/* The driver has the axis first along which elements are neighbours, and no stride for it. */
bool cuda_tensor_map(RtDevice *device, const TensorMap *map, TensorMapWords *words, Diag *diag)
{
    uint64_t extents[TENSOR_MAP_MOST_AXES], strides[TENSOR_MAP_MOST_AXES] = {0};
    uint32_t box[TENSOR_MAP_MOST_AXES], steps[TENSOR_MAP_MOST_AXES];
    CUtensorMap made;
    CudaScope scope;
    for (uint32_t i = 0; i < map->axes; i++) {
        uint32_t axis = map->axes - 1 - i;
        extents[i] = (uint64_t)map->extents[axis];
        box[i] = map->box[axis];
        steps[i] = 1;
        if (i > 0)
            strides[i - 1] = (uint64_t)map->strides[axis];
    }
    if (!cuda_enter(device, &scope, diag))
        return false;
    bool ok =
        driver_call(diag, cuTensorMapEncodeTiled, &made, type_of(map->element_size), map->axes,
                    (void *)(uintptr_t)map->pointer, extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                    swizzle_of(map->swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (ok)
        memcpy(words, &made, sizeof made);
    return cuda_leave(&scope, ok);
}
