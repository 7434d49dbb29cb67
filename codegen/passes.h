/* The passes of each target: typed IR in, typed IR out. */
#ifndef CUJIT_CODEGEN_PASSES_H
#define CUJIT_CODEGEN_PASSES_H

#include "core/ir/ir.h"

/* --- optimize/ ---------------------------------------------------------------------------------------------------- */
/* inline_calls.c: inlines device functions into the kernel. */
void inline_calls(IrModule *module);

/* --- check/ ------------------------------------------------------------------------------------------------------- */
/* narrow.c: computes in 32 bits what fits. */
void narrow_integers(IrModule *module);
/* remainders.c: makes of the remainder of a sum that 32 bits do not hold remainders of its parts. */
void split_remainders(IrModule *module);
/* loop_versions.c: makes of a loop whose indices may count from the end one in which they cannot, and one in which they do. */
void split_indexed_loops(IrModule *module);

/* --- nvptx/ ------------------------------------------------------------------------------------------------------- */
/* load_order.c: puts loads before operations that take long, so that the memory works meanwhile. */
void put_loads_first(IrModule *module);
/* unrolled_loops.c: marks loops to write out in full, so that small arrays of the thread are in registers. */
void mark_unrolled_loops(IrModule *module);
/* batched_loops.c: marks loops that do several trips at a time. */
void mark_batched_loops(IrModule *module);

/* --- host/ -------------------------------------------------------------------------------------------------------- */
/* observe_accesses.c: tells the runtime of branches and accesses. */
void observe_accesses(IrModule *module);
/* loop_counts.c: takes what loops count by out of them. */
void take_counts_out(IrModule *module);
/* waiting_loops.c: makes loops in which a thread waits for what another one writes let the others run. */
void yield_in_waiting_loops(IrModule *module);
/* regions/stride_loop.c: makes of a kernel that is one grid-stride loop one trip of it. */
void split_stride_loop(IrModule *module);
/* regions/common_loop.c: makes grid-stride loops of kernels whose threads meet ones that a block's threads have in common. */
void make_loops_common(IrModule *module);
/* regions/row_axis.c: chooses the axis along which neighbouring threads run one after the other. */
void choose_row_axis(IrModule *module);
/* regions/thread_bounds.c: marks tests that a kernel begins with as bounds of the loop over threads. */
void mark_thread_bounds(IrModule *module);
/* passes/whole_warps.c: makes of what a warp's threads have alike, and of their lanes, what says so. */
void split_whole_warps(IrModule *module);
/* whole_warps.c: marks loops over the distances of shuffles to write out, where threads run warp by warp. */
void write_out_distances(IrModule *module);
/* private_atomics.c: marks sums that a worker may make in a copy of the array. */
void mark_private_atomics(IrModule *module);
/* passes/far_loads.c: makes loads of a thread's own row in front of a loop that could go around the threads but for them. */
void load_far_places_ahead(IrModule *module);
/* regions/form_regions.c: makes of a kernel whose threads meet a function that runs all threads of a block, where every
 * collective is reached by all of them together; leaves others as they are. */
void form_parallel_regions(IrModule *module);
/* passes/all_go_on.c: makes two forms of what comes behind an end of some threads, one for blocks of which none has ended. */
void split_where_all_go_on(IrModule *module);
/* passes/several_trips.c: makes loops around the threads do several trips in one loop over the threads. */
void take_several_trips(IrModule *module);
/* passes/row_borders.c: makes loops of their own over threads for which an index is neither clamped nor wrapped. */
void split_row_borders(IrModule *module);
/* passes/row_divisors.c: marks loops over threads that are cut where quotients by other numbers than constants change. */
void cut_rows_by_divisors(IrModule *module);
/* passes/joined_loops.c: makes one loop over threads of one that takes elements and one that changes them, in the order of threads
 * in which none takes what another one has changed. */
void join_thread_loops(IrModule *module);
/* passes/whole_trips.c: makes loops of their own over threads all of which have a trip of the loop around them. */
void split_whole_trips(IrModule *module);
/* passes/front_loads.c: makes loads of what all threads of a loop over them have alike in front of it. */
void load_in_front_of_threads(IrModule *module);
/* regions/common_sums.c: makes sums in a variable that all threads of a region add to one element of shared memory. */
void make_common_sums(IrModule *module);
/* passes/array_registers.c: makes of arrays that a loop over threads uses by numbers alone ones that LLVM takes apart. */
void use_arrays_as_registers(IrModule *module);
/* passes/thread_arrays.c: marks loops of a thread to write out in full, so that its small arrays are in registers. */
void mark_loops_of_arrays(IrModule *module);
/* regions/thread_bounds.c: likewise tests that a parallel region begins with. */
void mark_region_bounds(IrModule *module);

#endif
