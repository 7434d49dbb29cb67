/* Shapes and strides: contiguity, and whether what another library says of its memory can be true. */
#include "ext/array/array_layout.h"

#include "core/kernel/kernel_abi.h"
#include "ext/py.h"

void ext_contiguity(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size, bool *c_contiguous,
                    bool *f_contiguous)
{
    int64_t c_stride = item_size, f_stride = item_size;
    *c_contiguous = *f_contiguous = true;
    for (int axis = 0; axis < ndim; axis++)
        if (shape[axis] == 0)
            return;
    for (int axis = 0; axis < ndim; axis++) {
        int last = ndim - 1 - axis;
        if (shape[last] != 1 && strides[last] != c_stride)
            *c_contiguous = false;
        if (shape[axis] != 1 && strides[axis] != f_stride)
            *f_contiguous = false;
        c_stride *= shape[last];
        f_stride *= shape[axis];
    }
}

static bool is_empty(int ndim, const int64_t *shape)
{
    for (int axis = 0; axis < ndim; axis++)
        if (shape[axis] == 0)
            return true;
    return false;
}

bool ext_c_strides(int ndim, const int64_t *shape, int64_t step, int64_t *strides)
{
    for (int axis = ndim - 1; axis >= 0; axis--) {
        strides[axis] = step;
        if (__builtin_mul_overflow(step, shape[axis] ? shape[axis] : 1, &step)) {
            PyErr_SetString(PyExc_ValueError, "an array of this shape is larger than the address space");
            return false;
        }
    }
    return true;
}

bool ext_check_extents(int ndim, const int64_t *shape)
{
    for (int axis = 0; axis < ndim; axis++)
        if (shape[axis] < 0 || shape[axis] > KERNEL_ABI_MAX_EXTENT) {
            PyErr_Format(PyExc_ValueError, "an array cannot have %lld items along axis %d", (long long)shape[axis],
                         axis);
            return false;
        }
    return true;
}

bool ext_check_reach(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size, uint64_t address)
{
    __int128 low = 0, high = item_size, size = item_size;
    if (is_empty(ndim, shape))
        return true;
    if (!address && item_size) {
        PyErr_SetString(PyExc_ValueError, "the array has elements, but its address is 0");
        return false;
    }
    for (int axis = 0; axis < ndim && size <= INT64_MAX; axis++) {
        __int128 reach = (__int128)(shape[axis] - 1) * strides[axis];
        *(reach < 0 ? &low : &high) += reach;
        size *= shape[axis];
    }
    if (size <= INT64_MAX && (__int128)address + low >= 0 && (__int128)address + high <= (__int128)UINT64_MAX)
        return true;
    PyErr_SetString(PyExc_ValueError, "shape and strides of the array reach beyond the address space");
    return false;
}
