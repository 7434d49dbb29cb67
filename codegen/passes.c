/* The passes of each target, in order. Each takes typed IR and leaves typed IR: what is decided for a device stands there,
 * where it can be printed and read back, and not in the state of an emitter. */
#include "codegen/passes.h"

#include <assert.h>

#include "codegen/codegen.h"

typedef struct Pass {
    const char *name; /* for CUJIT_DUMP and inspect() */
    void (*run)(IrModule *module);
    int optimization; /* the lowest level at which it runs */
    Observation most, least; /* that may be observed where it runs */
} Pass;

static const Pass nvptx_passes[] = {
    {"loads", put_loads_first, 1, OBSERVE_ACCESSES, 0},
    {"unroll", mark_unrolled_loops, 2, OBSERVE_ACCESSES, 0},
    {"batch", mark_batched_loops, 2, OBSERVE_ACCESSES, 0},
    {"versions", split_indexed_loops, 2, OBSERVE_ACCESSES, 0},
    {"remainders", split_remainders, 1, OBSERVE_ACCESSES, 0},
    {"narrow", narrow_integers, 1, OBSERVE_ACCESSES, 0},
    {0},
};

static const Pass host_passes[] = {
    {"observe", observe_accesses, 0, OBSERVE_ACCESSES, OBSERVE_ACCESSES},
    {"yield", yield_in_waiting_loops, 0, OBSERVE_ACCESSES, 0},
    {"inline", inline_calls, 1, OBSERVE_NOTHING, 0},
    {"counts", take_counts_out, 1, OBSERVE_NOTHING, 0},
    {"int32", narrow_integers, 1, OBSERVE_NOTHING, 0},
    {"stride", split_stride_loop, 0, OBSERVE_NOTHING, 0},
    {"axis", choose_row_axis, 0, OBSERVE_NOTHING, 0},
    {"bounds", mark_thread_bounds, 0, OBSERVE_NOTHING, 0},
    {"warps", split_whole_warps, 0, OBSERVE_NOTHING, 0},
    {"common", make_loops_common, 0, OBSERVE_NOTHING, 0},
    {"ahead", load_far_places_ahead, 1, OBSERVE_NOTHING, 0},
    {"regions", form_parallel_regions, 0, OBSERVE_LINES, 0},
    {"all_go_on", split_where_all_go_on, 2, OBSERVE_NOTHING, 0},
    {"trips", take_several_trips, 0, OBSERVE_LINES, 0},
    {"borders", split_row_borders, 1, OBSERVE_NOTHING, 0},
    {"divisors", cut_rows_by_divisors, 1, OBSERVE_NOTHING, 0},
    {"joined", join_thread_loops, 1, OBSERVE_NOTHING, 0},
    {"region_bounds", mark_region_bounds, 0, OBSERVE_NOTHING, 0},
    {"whole", split_whole_trips, 1, OBSERVE_NOTHING, 0},
    {"distances", write_out_distances, 2, OBSERVE_NOTHING, 0},
    {"registers", use_arrays_as_registers, 2, OBSERVE_NOTHING, 0},
    {"sums", make_common_sums, 1, OBSERVE_NOTHING, 0},
    {"front", load_in_front_of_threads, 1, OBSERVE_NOTHING, 0},
    {"arrays", mark_loops_of_arrays, 2, OBSERVE_NOTHING, 0},
    {"private", mark_private_atomics, 0, OBSERVE_NOTHING, 0},
    {0},
};

static const Pass *const passes[] = {[TARGET_NVPTX] = nvptx_passes, [TARGET_HOST] = host_passes};

enum { TARGET_COUNT = sizeof passes / sizeof *passes };

#if defined CUJIT_CHECK_PASSES || !defined NDEBUG
enum { CHECKS_PASSES = 1 };
#else
enum { CHECKS_PASSES = 0 };
#endif

bool codegen_run_passes(IrModule *module, const Target *target, const CompileOptions *options, const PassWatch *watch,
                        Diag *diag)
{
    assert((int)target->kind < TARGET_COUNT && passes[target->kind]);
    for (const Pass *pass = passes[target->kind]; pass->name; pass++) {
        if (options->opt < pass->optimization || options->observe > pass->most || options->observe < pass->least)
            continue;
        pass->run(module);
        if (watch)
            watch->left(watch->user, pass->name, module);
        if (CHECKS_PASSES && !ir_verify(module, diag))
            return false;
    }
    return true;
}

const char *codegen_pass_name(uint32_t index, TargetKind *target)
{
    for (int kind = 0; kind < TARGET_COUNT; kind++)
        for (const Pass *pass = passes[kind]; pass->name; pass++)
            if (!index--) {
                *target = (TargetKind)kind;
                return pass->name;
            }
    return NULL;
}
