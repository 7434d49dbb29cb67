/* Loops over a row's threads are cut where quotients of a thread's place change (regions/row_parts.c), if the parts are long: a
 * constant divisor tells. Where it is another number that all threads have alike, as the width in
 *
 *     i = cuda.grid(1)
 *     out[i // width, i % width] = x[i // width, i % width]
 *
 * the loop becomes two, one of which is marked to be cut by such divisors, and the kernel asks which of them to run:
 *
 *     if width >= 16:  thread_loop !cut: body
 *     else:            thread_loop: body */
#include "codegen/host/regions/front_values.h"
#include "codegen/host/regions/thread_versions.h"
#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/row_parts.h"
#include "codegen/passes.h"

enum { MOST_LOOPS = 4, MOST_DIVISORS = 4 };

typedef struct Cut {
    IrFunc *function;
    Arena *arena;
    IrBlock *loop;
    LoopBody body;
    const IrValue *divisors[MOST_DIVISORS];
    uint32_t divisor_count;
} Cut;

/* --- whether ------------------------------------------------------------------------------------------------------------ */

static bool can_cut(Cut *cut)
{
    cut->body = find_loop_body(cut->loop->last, cut->arena);
    if (!may_have_versions(cut->loop, &cut->body))
        return false;
    cut->divisor_count = find_row_divisors(cut->loop->last, cut->divisors, MOST_DIVISORS, cut->arena);
    for (uint32_t i = 0; i < cut->divisor_count; i++)
        if (!is_known_before(&cut->body, cut->divisors[i]))
            return false;
    return cut->divisor_count > 0;
}

/* --- doing it ----------------------------------------------------------------------------------------------------------- */

/* Whether all divisors are large, in front of both loops. */
static IrValue *ask(Cut *cut, IrBlock *head)
{
    IrValue *all = NULL;
    for (uint32_t i = 0; i < cut->divisor_count; i++) {
        IrValue *divisor = make_before(&cut->body, head, cut->divisors[i]);
        IrValue *least = ir_const_int(head, divisor->type, LEAST_ROW_DIVISOR, NULL);
        IrValue *is_large = front_binary(head, IR_GE, divisor, least);
        all = all ? front_binary(head, IR_AND, all, is_large) : is_large;
    }
    return all;
}

static void cut_loop(Cut *cut)
{
    LoopVersions versions = make_versions(cut->function, cut->loop, &cut->body, cut->arena);
    cut->loop->last->hint |= IR_THREADS_CUT;
    end_versions(&versions, ask(cut, versions.head), false);
}

void cut_rows_by_divisors(IrModule *module)
{
    IrBlock *loops[MOST_LOOPS];
    IrFunc *kernel = module->first;
    if (!kernel->is_kernel || kernel->by_warps)
        return;
    uint32_t count = list_thread_loops(kernel, loops, MOST_LOOPS);
    for (uint32_t i = 0; i < count; i++) {
        Arena *arena = arena_create();
        Cut cut = {.function = kernel, .arena = arena, .loop = loops[i]};
        if (can_cut(&cut))
            cut_loop(&cut);
        arena_destroy(arena);
    }
}
