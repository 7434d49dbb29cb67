/* A kernel as regions: what its threads do from one barrier to the next, and in each round of a loop that all of them run
 * alike. On the CPU device a region is a loop over the block's threads; control flow that all threads share is around these
 * loops. Possible where every barrier is reached by all threads of the block that have not ended. */

/* What, and why. A thread of the CPU device could be a fiber, which waits at a barrier until the others are there; that
 * costs a change of stacks for each thread at each barrier, and LLVM sees one thread at a time. A loop over the threads from
 * one barrier to the next needs no waiting at all, and it vectorizes: neighbouring trips are neighbouring threads. So
 *
 *     v = x[cuda.grid(1)]                            for each thread t:
 *     s[t] = v                                           slot[t] = v = x[b * n + t]
 *     cuda.syncthreads()                                 s[t] = v
 *     step = cuda.blockDim.x // 2                    step = n // 2
 *     while step:                                    while step:
 *         if t < step:                                   for each thread t:
 *             s[t] += s[t + step]                            if t < step:
 *         cuda.syncthreads()                                     s[t] += s[t + step]
 *         step //= 2                                     step //= 2
 *     out[cuda.grid(1)] = v / s[0]                   for each thread t:
 *                                                        out[b * n + t] = slot[t] / s[0]
 *
 * A value is uniform if all threads of the block have the same: step is. Else it is divergent: t, and all that is made of
 * it. A branch on a uniform value is one that all threads take alike, and stays outside of the loops; at a divergent one
 * threads part. They are together again at its postdominator, the first piece that each way from there comes through, here
 * the end of the `if`. A barrier on the way from a branch to its postdominator would be for some threads only: such a
 * kernel is left as it is, and its threads are fibers. (region_graph.c)
 *
 * What is left between two places where all threads are together is a parallel region, one loop over them. A region ends at
 * a barrier, before a uniform choice, and where several ways meet. What a thread makes in one region and needs in another
 * is rematerialized there, which is to say computed again, where few operations make it of what is uniform or a register,
 * such as cuda.grid(1); loops then stay plain functions of t. What costs more, or was loaded, is spilled: stored to a slot
 * for each thread, here that of v, and reloaded. (find_regions.c says which; form_regions.c makes the new function;
 * thread_loop.c emits its loops and slots.)
 *
 * Before that a grid-stride loop becomes one that the block's threads have in common, so that it, too, is outside of the
 * loops over threads (common_loop.c).
 *
 * Kernels without barriers need none of that, unless a loop of theirs is to go around the threads (loop_places.c): the
 * entry's loops run the kernel's function for one thread after the other (host_entry.c). Threads that do not meet need not be
 * those of a block, either: where a loop's trips depend on threadIdx.y, all threads of a row have them alike, and the function
 * that is made runs one row (by_rows), with what a row's threads load alike loaded once (shared_loads.c). There `if i < n:` around a kernel bounds the loop. Such a test is a mark at its branch (thread_bounds.c)
 * and no operand of a thread_loop: it may depend on threadIdx.y, so that each row has bounds of its own, computed between
 * the loops over y and over x, whereas a thread_loop runs all axes and its operands are what all threads have alike. With
 * the mark gone the kernel means the same, since the test stays in its body. */
#ifndef CUJIT_CODEGEN_REGIONS_H
#define CUJIT_CODEGEN_REGIONS_H

#include "core/ir/ir.h"

enum { NO_PIECE = UINT32_MAX };

/* A block, or the part of one up to a barrier or from there on. */
typedef struct Piece {
    const IrBlock *block;
    const IrValue *first,
        *end; /* end: the barrier behind it, or another collective; NULL: it goes to the block's end */
    uint32_t successors[2], successor_count;
    uint32_t postdominator; /* where threads that part here are together again; NO_PIECE: nowhere */
    bool reaches_barrier;
    bool is_divergent_piece; /* some threads of the block may run it without the others */
    bool is_uniform; /* all threads that have not ended come here together */
    uint32_t steps[2], step_count; /* where they go together */
    uint32_t step_predecessors;
    uint32_t region; /* of a step */
} Piece;

typedef struct Region {
    uint32_t leader, last; /* the first step and the last one */
    uint32_t *pieces, piece_count; /* definitions before uses, the leader first */
    bool *is_inside; /* by piece: control that goes there stays in the region */
    const IrValue **incoming; /* of other regions: what threads need here */
    uint32_t incoming_count;
    const IrValue **remade; /* of these: what threads may make here, too, once they have needed it */
    uint32_t remade_count;
    bool ends_threads; /* some threads may end here while others go on */
    bool is_tested; /* its checks are made beforehand: choose_tested_regions() */
    bool *asks_of; /* by parameter: of one that is tested, checks depend on what it loads from there */
    bool has_late_additions; /* its atomics are made behind all that its threads do besides: choose_late_additions() */
} Region;

typedef enum ValueHome {
    HOME_REGION, /* used where it is made */
    HOME_UNIFORM, /* one for all threads */
    HOME_REMATERIALIZE, /* each region that needs it makes it anew */
    HOME_SPILL, /* kept for each thread */
} ValueHome;

typedef struct Regions {
    const IrFunc *kernel;
    const bool *is_own; /* by IrValue.id: a condition of each thread's own, though all may have it alike */
    const bool *is_whole; /* by IrValue.id: a thread's array that is not to be spread; NULL: none */
    bool by_rows; /* they are those of a row, not of a block */
    bool by_warps; /* they are those of a warp */
    bool shares_loads; /* what all threads load from an argument that nobody writes to is one for all */
    bool is_bounded; /* threads that the marked tests at the kernel's beginning keep out are in no region */
    Piece *pieces;
    uint32_t piece_count;
    uint32_t *first_piece, *last_piece; /* by IrBlock.id */
    uint32_t *piece_of; /* by IrValue.id */
    uint8_t *homes; /* by IrValue.id: ValueHome */
    bool *is_spread; /* by IrValue.id: a thread's array whose elements lie beside those of the other threads */
    bool *needs_entry; /* by IrValue.id: a phi of a leader whose next value comes before the last use of this one */
    Region *regions;
    uint32_t region_count;
    bool *is_written; /* by parameter: the kernel writes to it by its name */
    const bool *is_changing; /* by parameter, where loads are shared: it does, or something that it does may */
    uint32_t *wrap_tests; /* by IrValue.id, of a WRAP: 1 + the region whose test fails if it is of a negative index */
    uint32_t *order; /* the regions, definitions before uses */
    bool ends_threads; /* a region does */
} Regions;

/* False where some barrier cannot be proven to be reached by all threads together. may_raise: calls may end a thread. Of
 * *out the caller has set what stands before `pieces`. */
bool find_regions(bool may_raise, Arena *arena, Regions *out);

/* region_graph.c: pieces, who runs them, which values all threads have alike (homes: HOME_UNIFORM). */
bool find_steps(Regions *regions, Arena *arena);
/* Whether the value is the same everywhere in the kernel and costs nothing: made once at its start. */
bool is_made_at_start(const IrValue *value);
/* What a phi has for threads that come to it on ways of their own; NULL: none do. is_one: it is the same on all ways. */
const IrValue *value_of_divergent_ways(const Regions *regions, const IrValue *phi, bool *is_one);
/* region_order.c: whether LLVM may take the region's accesses for independent of each other, a thread's own included.
 * has_additions: additions of floats are among them. */
bool keeps_order(const Regions *regions, const Region *region, bool has_additions, Arena *arena);
/* The parameter, shared array, local array, cell or data that the array is, or is a part of; NULL: not known. */
const IrValue *memory_of(const IrValue *array);
/* shared_loads.c: whether the array is an argument, or nothing is known of it. Arguments may be parts of one array. */
bool may_be_argument(const IrValue *array);
/* Whether the load is of an argument that the kernel does not write to by its name. */
bool is_of_constant_argument(const IrValue *load);
/* Whether what the value does may change what an argument has, by whichever name. */
bool may_write_to_argument(const IrValue *value);
/* By parameter: whether the kernel writes to it by its name, or something that it does may. */
const bool *find_changing_arguments(const IrFunc *kernel, Arena *arena);
/* Whether the value is a load that all threads share if they have its indices alike. */
bool is_shared_load(const Regions *regions, const IrValue *value);
/* Whether such loads may be made in front of what threads do in their regions. */
bool are_shared_loads_right(const Regions *regions, Arena *arena);
/* Whether a check branches on the value. */
bool is_condition_of_check(const IrValue *value);
/* The piece behind the last marked test at the kernel's beginning; NO_PIECE: there is none. */
uint32_t piece_behind_bounds(const Regions *regions);
/* form_regions.c: makes a loop over the threads of a kernel whose threads do not meet, for those at an array's borders to get
 * one of their own, or to be cut (row_parts.c). */
void form_for_borders(IrModule *module);
/* tested_regions.c: marks regions that can be one loop that asks whether a check fails, and one without checks. unrolled: by
 * IrBlock.id, headers of loops to write out inside of a region. */
void choose_tested_regions(Regions *regions, const bool *unrolled, Arena *arena);
/* late_additions.c: an atomic that adds a float to an argument. */
bool is_float_addition(const IrValue *value);
/* tested_regions.c: whether LLVM can do the region for several threads at once, as far as operations and loops go. unrolled: as
 * above. */
bool is_plain_region(const Regions *regions, const Region *region, const bool *unrolled, Arena *arena);
/* Whether the operation writes to memory, as far as threads see. */
bool writes_memory(const IrValue *value);
/* Whether the function does nothing but compute its result. */
bool is_silent_function(const IrFunc *function);
/* Whether a thread that comes to the block ends there since a check has failed. */
bool fails_check(const IrBlock *block);
/* Whether the piece ends with a marked test that keeps threads out of all regions. */
bool is_bound(const Regions *regions, const Piece *piece);
/* Whether the piece ends with a branch on a value that differs between threads. */
bool diverges(const Regions *regions, const Piece *piece);
/* Whether threads of the block wait for each other here, in a way that regions know. */
bool is_collective(const IrValue *value);
/* One with a result that all threads have alike. */
bool is_block_vote(const IrValue *value);
/* One with a result for each thread, or that one. */
static inline bool is_exchange(const IrValue *value)
{
    return is_collective(value) && (is_block_vote(value) || intrinsic_is_exchange(value->intrinsic));
}
/* The end of the piece's block belongs to it, and its last operation. */
static inline bool has_terminator(const Piece *piece) { return !piece->end; }

#endif
