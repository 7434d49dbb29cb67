/* Arithmetic on shapes and strides. */
#ifndef CUJIT_EXT_ARRAY_LAYOUT_H
#define CUJIT_EXT_ARRAY_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether shape and strides (bytes) are contiguous in C and in Fortran order, as NumPy says. */
void ext_contiguity(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size, bool *c_contiguous,
                    bool *f_contiguous);
/* Strides of C order, in units of `step` for the last axis. False with ValueError where they do not fit. */
bool ext_c_strides(int ndim, const int64_t *shape, int64_t step, int64_t *strides);
/* False with ValueError for extents that no array has. */
bool ext_check_extents(int ndim, const int64_t *shape);
/* What an array of another library says of itself, whose extents are checked: false with ValueError where its elements are
 * outside of the address space, or where it has elements but no address. */
bool ext_check_reach(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size, uint64_t address);

#endif
