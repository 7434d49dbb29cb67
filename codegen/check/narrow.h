/* The launches that most kernels are made for. */
#ifndef CUJIT_CODEGEN_NARROW_H
#define CUJIT_CODEGEN_NARROW_H

#include "core/ir/ir.h"
#include "core/kernel/launch_plan.h"

/* The numbers of the tests: that sizes are within the limits, that what is only read is not written as another array, that
 * arrays of wide accesses (wide_access.h) begin where these may; RANGE_NONE: there is none. Without the first all launches are
 * within them, without the others nobody knows. */
typedef struct LimitTests {
    uint32_t size, overlap, alignment;
} LimitTests;

/* The plan of a launch that is as most are. wide: the parameters with wide accesses. Its parts are the arena's. False: the kernel
 * has more parameters than a plan has room for. */
bool plan_limits(const IrModule *module, uint64_t wide, LaunchPlan *plan, LimitTests *numbers, Arena *arena);

/* Adds a test to the plan, whether blocks have whole warps along x, and returns its number; RANGE_NONE: there is no room. */
uint32_t plan_whole_warps(LaunchPlan *plan, Arena *arena);
/* Likewise, whether blocks have one thread along these axes, a bit each. */
uint32_t plan_single_axes(LaunchPlan *plan, uint32_t axes, Arena *arena);
/* Likewise, whether extents of the kernel's arguments are those that IrFunc.extents would have. */
uint32_t plan_extents(LaunchPlan *plan, const IrFunc *kernel, const uint8_t *extents, Arena *arena);
/* The axes along which no thread of the module asks for its index, a bit each. */
uint32_t axes_without_index(const IrModule *module);

#endif
