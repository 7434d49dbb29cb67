/* What a value is of a thread's place in its row, and which tests bound the threads that have anything to do. */
#ifndef CUJIT_CODEGEN_THREAD_BOUNDS_H
#define CUJIT_CODEGEN_THREAD_BOUNDS_H

#include "core/ir/ir.h"

/* By how much the value grows with threadIdx along its kernel's rows, exactly: 0 or 1; -1: neither, or not known. region: the
 * first block of the region in which it is used; NULL: there are none. */
int slope_in_thread(const IrBlock *region, const IrValue *value);
/* Likewise along another axis, where there is no region. */
int slope_along(uint32_t axis, const IrValue *value);
/* By how much the integer grows, 0 or 1, from each thread of a row to the next in the bits that it has, which may wrap; -1:
 * neither, or not known. is_inside: by IrBlock.id, the body of the loop over threads; what is made elsewhere all have alike. */
int slope_of_bits(const bool *is_inside, const IrValue *value);
/* An integer as the first thread along the axis has it, of a warp where the kernel is run by warps: appended to the block, but
 * for what all have alike. */
IrValue *of_first_thread(IrBlock *block, IrValue *value, uint32_t axis);
/* Takes from the value, which is a copy, what holds only where the value is made: that it does not wrap, and its divisor is above
 * 0. */
void forget_exactness(IrValue *copy);
/* Whether so many bits hold the size of the integer, whatever the launch is. */
bool has_bits(const IrValue *value, int bits);
/* Whether a loop over threads does nothing for those that a test keeps out: it does not say who takes part. */
bool may_have_bounds(const IrValue *thread_loop);
/* Where threads go that pass the test at the block's end, if it is marked, or that come there anyhow; NULL: not known. */
const IrBlock *next_bounded_block(const IrBlock *block);
/* Whether the integer is at least that, 0 or 1, whatever the launch is, as far as that is seen in a few dozen steps. */
bool is_never_below(const IrValue *value, int64_t least);
/* Whether the end of a range is so far from the largest int64 that one step behind it is still a number. */
bool is_moderate_bound(const IrValue *end);
/* Whether the block only returns, perhaps after jumps. */
bool only_returns(const IrBlock *block);
/* stride_loop.c: whether the kernel has become one trip of its loop. */
bool is_one_trip(const IrFunc *kernel);
/* Whether nothing is left for a thread that goes there: it returns, or comes back to the loop of its region. NULL: there are no
 * regions. */
bool leads_nowhere(const IrBlock *block, const IrBlock *loop);
/* row_axis.c: whether a program can tell in which order the threads of a block run, though they do not meet. */
bool order_of_threads_shows(const IrModule *module);
/* Likewise, by anything but additions of floats. */
bool order_shows_but_by_additions(const IrModule *module);
/* row_axis.c: a bit for each axis but that of the rows, where threads do the same along them, since none asks for its index there;
 * else 0, as well as where somebody may see that they do not run block by block. */
uint32_t axes_of_alike_threads(const IrModule *module);
/* The parts of a condition that is `wanted`: whether both operands have to be. */
bool is_conjunction(const IrValue *condition, bool wanted);

#endif
