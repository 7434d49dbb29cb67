/* Tensor maps of both kinds of device: what the tensor memory accelerator can copy, checked for both alike. */
#include <stdio.h>
#include <string.h>

#include "runtime/backend.h"

enum {
    PIECE = 16, /* bytes that addresses and strides are multiples of */
    MOST_BOX = 256, /* elements along an axis */
};
#define MOST_STRIDE ((int64_t)1 << 40)
#define MOST_EXTENT ((int64_t)1 << 32)
#define MOST_BYTES ((int64_t)1 << 20) /* that a barrier in shared memory counts */

static bool refuse(Diag *diag, const char *format, long long a, long long b)
{
    char text[200];
    snprintf(text, sizeof text, format, a, b);
    return diag_fail(diag, NULL, DIAG_TENSOR_MAP, text);
}

static bool check_axis(const TensorMap *map, uint32_t axis, Diag *diag)
{
    bool is_last = axis + 1 == map->axes;
    if (map->extents[axis] < 1 || map->extents[axis] > MOST_EXTENT)
        return refuse(diag, "axis %lld has %lld elements; 1 to 2**32 can be copied", axis, map->extents[axis]);
    if (map->box[axis] < 1 || map->box[axis] > MOST_BOX)
        return refuse(diag, "the box has %lld elements along axis %lld; 1 to 256 can be", map->box[axis], axis);
    if (is_last && map->strides[axis] != map->element_size)
        return refuse(diag, "elements along the last axis must be neighbours; they are %lld bytes apart, of %lld",
                      map->strides[axis], map->element_size);
    if (!is_last && (map->strides[axis] < 0 || map->strides[axis] >= MOST_STRIDE || map->strides[axis] % PIECE))
        return refuse(diag, "the stride of axis %lld is %lld bytes; it must be a multiple of 16 and not negative", axis,
                      map->strides[axis]);
    return true;
}

static bool check_map(const TensorMap *map, Diag *diag)
{
    if (map->axes < 1 || map->axes > TENSOR_MAP_MOST_AXES)
        return refuse(diag, "the array has %lld axes; 1 to %lld can be copied", map->axes, TENSOR_MAP_MOST_AXES);
    uint32_t size = map->element_size;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return refuse(diag, "elements have %lld bytes; 1, 2, 4 or %lld can be copied", size, 8);
    if (map->pointer % PIECE)
        return refuse(diag, "the array begins %lld bytes behind a multiple of %lld", (long long)(map->pointer % PIECE),
                      PIECE);
    for (uint32_t axis = 0; axis < map->axes; axis++)
        if (!check_axis(map, axis, diag))
            return false;
    long long row = (long long)map->box[map->axes - 1] * size;
    if (map->swizzle != 0 && map->swizzle != 32 && map->swizzle != 64 && map->swizzle != 128)
        return refuse(diag, "swizzle=%lld; it is 0, 32, 64 or %lld", (int32_t)map->swizzle, 128);
    if (row % PIECE)
        return refuse(diag, "a row of the box has %lld bytes; it must be a multiple of %lld", row, PIECE);
    long long bytes = row;
    for (uint32_t axis = 0; axis + 1 < map->axes; axis++)
        bytes *= map->box[axis];
    if (bytes >= MOST_BYTES)
        return refuse(diag, "the box has %lld bytes; less than %lld can be copied at once", bytes, MOST_BYTES);
    if (map->swizzle && row != map->swizzle)
        return refuse(diag, "a row of the box has %lld bytes; with this swizzle it has %lld", row, map->swizzle);
    return true;
}

bool rt_tensor_map(RtDevice *device, const TensorMap *map, TensorMapWords *words, Diag *diag)
{
    memset(words, 0, sizeof *words);
    return check_map(map, diag) && device->backend->tensor_map(device, map, words, diag);
}
