/* In a loop that the threads of a block have in common (regions/common_loop.c) each thread asks whether it has the trip, and a
 * vector of threads whose test does not bound the loop over them takes that for a mask: of what it loads, stores and carries.
 * But in all trips except for the last one all threads have it. So the loop over threads becomes two,
 *
 *     for k in range(0, n, 256):            for k in range(0, n, 256):
 *         thread_loop:                          if blockDim.x <= n - k:  thread_loop: body, in which t < n - k
 *             if t < n - k: ...                 else:                    thread_loop: body
 *
 * of which one has no masks. Several trips at a time (several_trips.c) have a test for each. */
#include "codegen/host/regions/front_values.h"
#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/thread_versions.h"
#include "codegen/host/regions/trip_test.h"
#include "codegen/passes.h"

enum { MOST_LOOPS = 16, MOST_TESTS = 8, WARP = 32, DEEPEST = 8 };

typedef struct Whole {
    IrFunc *function;
    IrBlock *loop;
    const IrLoop *around; /* the loop around the threads */
    LoopBody body;
    const IrValue *tests[MOST_TESTS];
    uint32_t count;
} Whole;

/* --- whether ------------------------------------------------------------------------------------------------------------ */

static bool is_of_memory(const IrValue *value, int depth)
{
    if (value->op == IR_LOAD || depth > DEEPEST)
        return true;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (value->op != IR_EXTENT && is_of_memory(value->operands[i], depth + 1))
            return true;
    return false;
}

/* Whether the test compares a thread's place with what is left of the loop around the threads. Where a warp's row ends by what
 * memory says, as in CSR, few have a whole trip, and asking for one cost 5 %. */
static bool is_of_loop_around(const IrGraph *graph, const Whole *whole, const IrValue *test)
{
    TripTest trip;
    if (!read_trip_test(test, &trip) || (whole->function->by_warps && is_of_memory(trip.left->operands[0], 0)))
        return false;
    return !whole->body.is_inside[trip.left->block->id] && ir_loop_has(graph, whole->around, trip.left->block);
}

/* Nothing is to be done for tests that bound the loop over threads. */
static bool find_tests(const IrGraph *graph, Whole *whole)
{
    for (uint32_t i = 0; i < whole->body.count; i++) {
        const IrValue *end = whole->body.blocks[i]->last;
        if (end->op != IR_BRANCH || end->hint || !is_of_loop_around(graph, whole, end->operands[0]))
            continue;
        if (whole->count == MOST_TESTS)
            return false;
        whole->tests[whole->count++] = end->operands[0];
    }
    return whole->count > 0;
}

/* --- doing it ----------------------------------------------------------------------------------------------------------- */

static IrValue *threads_along(IrBlock *to, int axis)
{
    if (axis == OF_LANES)
        return front_number(to, WARP);
    IrValue *threads = ir_append(to, IR_INTRINSIC, TYPE_OF(INT32), NULL, 0, NULL);
    threads->intrinsic = intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, (uint32_t)axis);
    return front_widened(to, threads);
}

static void split_loop(const Whole *whole, Arena *arena)
{
    LoopVersions versions = make_versions(whole->function, whole->loop, &whole->body, arena);
    IrValue *all = NULL;
    for (uint32_t i = 0; i < whole->count; i++) {
        const IrValue *test = whole->tests[i];
        TripTest trip;
        read_trip_test(test, &trip);
        IrValue *threads = threads_along(versions.head, trip.axis);
        IrValue *left = front_widened(versions.head, test->operands[1]);
        IrValue *have_it = front_binary(versions.head, IR_LE, threads, left);
        all = all ? front_binary(versions.head, IR_AND, all, have_it) : have_it;
        IrValue *known = versions.values[test->id];
        known->op = IR_CONST;
        known->integer = 1;
        known->operand_count = 0;
    }
    end_versions(&versions, all, true);
}

/* Blocks change, and have other ids then. */
static void split_if_whole(IrFunc *function, IrBlock *loop)
{
    Arena *arena = arena_create();
    const IrGraph *graph = ir_graph(function, arena);
    const IrLoop *threads = graph->loop_of[loop->id];
    Whole whole = {.function = function, .loop = loop, .around = threads ? threads->parent : NULL};
    whole.body = find_loop_body(loop->last, arena);
    if (whole.around && may_have_versions(loop, &whole.body) && find_tests(graph, &whole))
        split_loop(&whole, arena);
    arena_destroy(arena);
}

void split_whole_trips(IrModule *module)
{
    IrBlock *loops[MOST_LOOPS];
    IrFunc *kernel = module->first;
    if (!kernel->is_kernel || kernel->joins_rows)
        return;
    uint32_t count = list_thread_loops(kernel, loops, MOST_LOOPS);
    for (uint32_t i = 0; i < count; i++)
        split_if_whole(kernel, loops[i]);
}
