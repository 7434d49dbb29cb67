/* Rebuilds a kernel whose threads meet as one function for all threads of a block. Before: threads that wait at barriers.
 * After: control flow that all threads share, with a thread_loop for each region between two of their collectives. What all
 * threads have alike is computed once, outside of these loops; what a thread needs of another region is computed again there
 * or spilled into a slot and reloaded; a collective that exchanges values does so with all threads' slots at once. */
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/parts.h"
#include "codegen/host/passes/inline_collectives.h"
#include "codegen/host/regions/form.h"
#include "codegen/host/regions/late_additions.h"
#include "codegen/host/regions/loop_places.h"
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/passes.h"
#include "core/ir/ir_inline.h"
#include "core/host_abi.h"
#include "core/ir/ir_graph.h"

enum {
    MOST_CONTEXT = 16 << 10 /* bytes for each thread */,
    MOST_CACHED = 512 /* likewise, of a choice */,
    FEW_REGIONS = 8,
    MANY_REGIONS = 24,
    WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC
};

/* --- one region ---------------------------------------------------------------------------------------------------------- */

/* What all threads have alike: the leader's phis, then the rest in the order of the steps. */
static void form_uniform_part(Form *form, IrBlock *to)
{
    const Region *region = form->region;
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &form->regions->pieces[region->pieces[i]];
        bool is_leader = region->pieces[i] == region->leader;
        for (const IrValue *value = piece->first; piece->is_uniform && value != piece->end; value = value->next) {
            if (home_of(form, value) != HOME_UNIFORM || is_made_at_start(value))
                continue;
            if (value->op == IR_PHI && is_leader)
                form_phi(form, to, value, form->regions->region_count);
            else if (value->op == IR_PHI)
                form->values[value->id] = form->values[value->operands[0]->id];
            else
                form_copy_early(form, to, value);
        }
    }
}

static IrBlock *done_block(Form *form)
{
    if (!form->done) {
        form->done = ir_block(form->out);
        ir_append(form->done, IR_RETURN, &type_none, NULL, 0, NULL);
    }
    return form->done;
}

/* Where all threads of a block that meet have ended, the block has. Returns where the others go on. */
static IrBlock *test_for_end(Form *form, IrBlock *from)
{
    IrBlock *some = ir_block(form->out);
    IrValue *count = ir_append(from, IR_CELL_LOAD, TYPE_OF(INT32), NULL, 1, &form->ended);
    IrValue *all = ir_append(from, IR_EQ, TYPE_OF(BOOL), NULL, 2, (IrValue *[]){count, form->threads});
    ir_branch(from, all, done_block(form), some, NULL);
    return some;
}

static void form_ways_on(Form *form, IrBlock *from)
{
    const Piece *pieces = form->regions->pieces, *last = &pieces[form->region->last];
    const SourcePos *pos = has_terminator(last) ? &last->block->last->pos : &last->end->pos;
    IrBlock *ways[2] = {NULL, NULL};
    for (uint32_t i = 0; i < last->step_count; i++)
        ways[i] = form->starts[pieces[last->steps[i]].region];
    if (form->region->ends_threads && !form->regions->is_bounded)
        from = test_for_end(form, from);
    form->ends[form->region - form->regions->regions] = from;
    if (last->step_count == 2)
        ir_branch(from, form->values[last->block->last->operands[0]->id], ways[0], ways[1], pos);
    else
        ir_jump(from, last->step_count ? ways[0] : done_block(form), pos);
}

/* Whether threads come to the region again. */
static bool comes_back(const Regions *regions, const Region *region, Arena *arena)
{
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, regions->region_count + 1), depth = 1;
    bool *seen = ARENA_ARRAY(arena, bool, regions->region_count + 1);
    for (stack[0] = (uint32_t)(region - regions->regions); depth;) {
        const Piece *last = &regions->pieces[regions->regions[stack[--depth]].last];
        for (uint32_t i = 0; i < last->step_count; i++) {
            uint32_t next = regions->pieces[last->steps[i]].region;
            if (&regions->regions[next] == region)
                return true;
            if (!seen[next])
                stack[depth++] = next;
            seen[next] = true;
        }
    }
    return false;
}

static IrValue *is_zero(IrBlock *at, IrValue *cell)
{
    IrValue *zero = cell->operands[0], *count = ir_append(at, IR_CELL_LOAD, zero->type, NULL, 1, &cell);
    return ir_append(at, IR_EQ, TYPE_OF(BOOL), NULL, 2, (IrValue *[]){count, zero});
}

/* Whether all comparisons are of 64 bits, as those of indices with extents: then what counts failures is as wide, and vectors of
 * bits need not be made narrower. A warp's lanes are too many for that. */
static bool compares_wide(const Regions *regions)
{
    bool is_wide = !regions->by_warps && !regions->kernel->module->has_notes;
    for (const IrBlock *block = regions->kernel->first; block && is_wide; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->type->scalar == SCALAR_BOOL && value->operand_count == 2 &&
                ir_op_info[value->op].result == IR_RESULT_BOOL)
                is_wide &= value->operands[0]->type->size == 8;
    return is_wide;
}

/* A loop that asks whether a check fails in any thread. Goes on in a new block where none does, else in `fails`, as where the
 * answer may change. */
static IrBlock *form_test(Form *form, IrBlock *from, IrBlock *fails)
{
    IrBlock *passes = ir_block(form->out);
    IrValue *apart = form_is_apart(form);
    if (!form->failures) {
        bool is_wide = compares_wide(form->regions);
        IrValue *none = is_wide ? ir_const_int(form->entry, TYPE_OF(INT64), 0, NULL) : form->zero;
        form->failures = ir_append(form->entry, IR_CELL, &type_memory, NULL, 1, &none);
    }
    ir_append(from, IR_CELL_STORE, &type_none, NULL, 2, (IrValue *[]){form->failures, form->failures->operands[0]});
    form->checks = CHECKS_ASKED;
    from = form_threads(form, from);
    IrValue *pass = is_zero(from, form->failures);
    if (apart)
        pass = ir_append(from, IR_AND, TYPE_OF(BOOL), NULL, 2, (IrValue *[]){pass, apart});
    ir_branch(from, pass, passes, fails, NULL);
    form->checks = CHECKS_PASSED;
    return passes;
}

/* LLVM's time grows with the loops; those that are run again and again count most. */
static bool is_worth_two_loops(const Form *form)
{
    const Regions *regions = form->regions;
    return regions->region_count <= FEW_REGIONS ||
           (regions->region_count <= MANY_REGIONS && comes_back(regions, form->region, form->arena));
}

/* What all threads do: by a plain loop where none of them has ended and no check fails, else by one that asks each thread. */
static IrBlock *form_with_checks(Form *form, IrBlock *from)
{
    bool may_have_ended = form->going && form->region->leader != 0; /* the others' loop asks nobody */
    bool is_worth_it =
        form->region->is_tested || (may_have_ended && !form->regions->by_warps && is_worth_two_loops(form));
    if (!is_worth_it)
        return form_threads(form, from);
    IrBlock *asks = ir_block(form->out), *both = ir_block(form->out);
    form->all_go_on = true;
    if (may_have_ended) {
        IrBlock *all = ir_block(form->out);
        ir_branch(from, is_zero(from, form->ended), all, asks, NULL);
        from = all;
    }
    if (form->region->is_tested)
        from = form_test(form, from, asks);
    ir_jump(form_threads(form, from), both, NULL);
    form->checks = CHECKS_KEPT;
    form->all_go_on = false;
    ir_jump(form_threads(form, asks), both, NULL);
    return both;
}

/* The branch that the region begins with, where it asks which lanes of a warp have a trip: `lane < number`. NULL: it does not. */
static const IrValue *test_of_lanes(const Form *form)
{
    const IrValue *branch = form->regions->pieces[form->region->leader].block->last;
    const IrValue *test = branch->op == IR_BRANCH ? branch->operands[0] : NULL;
    if (!form->regions->by_warps || form->region->is_tested || !test || test->op != IR_LT ||
        test->block != branch->block || !has_terminator(&form->regions->pieces[form->region->leader]) ||
        home_of(form, test->operands[1]) != HOME_UNIFORM)
        return NULL;
    const IrValue *lane = test->operands[0];
    while (lane->op == IR_CONVERT && lane->type->kind == TYPE_INT && type_is_integer(lane->operands[0]->type))
        lane = lane->operands[0];
    return lane->op == IR_INTRINSIC && lane->intrinsic == INTRINSIC_CUDA_LANEID ? branch : NULL;
}

/* A warp all of whose lanes have the trip does it without a mask. */
static IrBlock *form_all_threads(Form *form, IrBlock *from)
{
    const IrValue *branch = test_of_lanes(form);
    if (!branch)
        return form_with_checks(form, from);
    const IrValue *number = branch->operands[0]->operands[1];
    IrBlock *whole = ir_block(form->out), *part = ir_block(form->out), *both = ir_block(form->out);
    IrValue *operands[2] = {form->values[number->id], ir_const_int(from, number->type, HOST_WARP, &branch->pos)};
    ir_branch(from, ir_append(from, IR_GE, TYPE_OF(BOOL), &branch->pos, 2, operands), whole, part, &branch->pos);
    form->passed = branch;
    ir_jump(form_with_checks(form, whole), both, NULL);
    form->passed = NULL;
    ir_jump(form_with_checks(form, part), both, NULL);
    return both;
}

static void form_region(Form *form, const Region *region)
{
    form->region = region;
    IrBlock *block = form->starts[region - form->regions->regions];
    const Piece *leader = &form->regions->pieces[region->leader];
    if (form->unmet[leader->block->id] && leader->first == leader->block->first)
        block->loop = IR_LOOP_BATCH;
    form_uniform_part(form, block);
    if (form_has_work(form))
        block = form_all_threads(form, block);
    if (region->leader == 0 && form->regions->shares_loads && piece_behind_bounds(form->regions) != NO_PIECE)
        block = form_test_for_any(form, block, done_block(form));
    const IrValue *end = form->regions->pieces[region->last].end;
    if (end && is_exchange(end))
        form_exchange(form, block, end);
    form_ways_on(form, block);
}

/* What a phi that all threads have alike is after this step. */
static const IrValue *value_after(const Regions *regions, const IrValue *phi, const Piece *step)
{
    uint32_t place = 0;
    bool is_one;
    if (diverges(regions, step))
        return value_of_divergent_ways(regions, phi, &is_one);
    while (phi->block->predecessors[place] != step->block)
        place++;
    return phi->operands[place];
}

/* The phis that all threads have alike, of the regions that come after this one. */
static void fill_phis_after(Form *form, const Region *region)
{
    const Regions *regions = form->regions;
    const Piece *last = &regions->pieces[region->last];
    for (uint32_t i = 0; i < last->step_count; i++)
        for (const IrValue *phi = regions->pieces[last->steps[i]].first; phi && phi->op == IR_PHI; phi = phi->next)
            if (home_of(form, phi) == HOME_UNIFORM)
                form_add_way(form->phis[phi->id], form->ends[region - regions->regions],
                             form->values[value_after(regions, phi, last)->id]);
}

/* --- the function ------------------------------------------------------------------------------------------------------- */

static void form_entry(Form *form)
{
    const IrFunc *kernel = form->regions->kernel;
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_PARAM)
                form->values[value->id] = form->out->parameters[value->index];
            else if (is_made_at_start(value))
                form_copy_value(form, form->entry, value);
    form->zero = ir_const_int(form->entry, TYPE_OF(INT32), 0, NULL);
    if (!form->regions->ends_threads)
        return;
    IrValue *count = form->regions->by_warps ? ir_const_int(form->entry, TYPE_OF(INT32), HOST_WARP, NULL) : NULL;
    for (uint32_t axis = 0; axis < 3 && !form->regions->by_warps; axis++) {
        IrValue *dim = ir_append(form->entry, IR_INTRINSIC, TYPE_OF(INT32), NULL, 0, NULL);
        dim->intrinsic = intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, axis);
        count = count ? ir_append(form->entry, IR_MUL, TYPE_OF(INT32), NULL, 2, (IrValue *[]){count, dim}) : dim;
    }
    form->going = form_slot(form, TYPE_OF(BOOL));
    form->threads = count;
    form->ended = ir_append(form->entry, IR_CELL, &type_memory, NULL, 1, &form->zero);
}

/* A loop may be none any more, and threads may have something to do in its header. */
static void drop_marks(const Form *form)
{
    const IrGraph *graph = ir_graph(form->out, form->arena);
    for (uint32_t i = 0; i < graph->count; i++) {
        IrBlock *block = graph->order[i];
        const IrLoop *loop = graph->loop_of[block->id];
        bool is_header = loop && loop->header == block && block->last->op == IR_BRANCH;
        if (block->loop == IR_LOOP_BATCH && !is_header)
            block->loop = IR_LOOP_PLAIN;
    }
}

static void form_function(Form *form)
{
    const Regions *regions = form->regions;
    form->entry = form->out->first;
    for (uint32_t i = 0; i < regions->region_count; i++)
        form->starts[i] = ir_block(form->out);
    form_entry(form);
    for (uint32_t i = 0; i < regions->region_count; i++)
        form_region(form, &regions->regions[regions->order[i]]);
    ir_jump(form->entry, form->starts[regions->pieces[0].region], NULL);
    for (uint32_t i = 0; i < regions->region_count; i++)
        fill_phis_after(form, &regions->regions[i]);
    ir_sort_blocks(form->out, form->arena);
    drop_marks(form);
    for (const PendingPhi *pending = form->pending; pending; pending = pending->next)
        form_finish_phi(form, pending);
    ir_renumber(form->out);
}

/* By IrBlock.id. */
static const bool *unrolled_headers(const LoopPlaces *places, Arena *arena)
{
    const IrGraph *graph = places->graph;
    bool *headers = ARENA_ARRAY(arena, bool, graph->function->block_count + 1);
    for (uint32_t i = 0; i < graph->loop_count && places->is_unrolled; i++)
        headers[graph->loops[i].header->id] = places->is_unrolled[i];
    return headers;
}

/* Likewise, of loops that may do several trips at a time where they go around the threads. */
static const bool *unmet_headers(const LoopPlaces *places, Arena *arena)
{
    const IrGraph *graph = places->graph;
    bool *headers = ARENA_ARRAY(arena, bool, graph->function->block_count + 1);
    for (uint32_t i = 0; i < graph->loop_count; i++)
        headers[graph->loops[i].header->id] = !is_met_in(&graph->loops[i]);
    return headers;
}

static void rebuild(IrModule *module, const Regions *regions, const LoopPlaces *places, Arena *arena)
{
    const IrFunc *kernel = regions->kernel;
    uint32_t values = kernel->value_count + 1, count = regions->region_count + 1;
    Form form = {.regions = regions,
                 .unrolled = unrolled_headers(places, arena),
                 .unmet = unmet_headers(places, arena),
                 .arena = arena,
                 .out = ir_kernel_like(module, kernel),
                 .starts = ARENA_ARRAY(arena, IrBlock *, count),
                 .ends = ARENA_ARRAY(arena, IrBlock *, count),
                 .values = ARENA_ARRAY(arena, IrValue *, values),
                 .slots = ARENA_ARRAY(arena, IrValue *, values),
                 .entries = ARENA_ARRAY(arena, IrValue *, values),
                 .results = ARENA_ARRAY(arena, IrValue *, values),
                 .locals = ARENA_ARRAY(arena, IrValue *, values),
                 .bounds = ARENA_ARRAY(arena, IrValue *, 2 * kernel->parameter_count + 1),
                 .additions = ARENA_ARRAY(arena, IrValue *, 2 * values),
                 .phis = ARENA_ARRAY(arena, PendingPhi *, values),
                 .remade = ARENA_ARRAY(arena, uint32_t, values),
                 .copies = ARENA_ARRAY(arena, IrBlock *, regions->piece_count + 1)};
    form.out->by_rows = regions->by_rows;
    form.out->by_warps = regions->by_warps;
    form_function(&form);
    ir_replace_kernel(module, form.out, arena);
}

/* --- whether ------------------------------------------------------------------------------------------------------------ */

static uint64_t bytes_kept(const Regions *regions)
{
    uint64_t bytes = 0;
    for (const IrBlock *block = regions->kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            if (value->op == IR_LOCAL)
                bytes += local_array_size(value);
            else if (value->op == IR_CELL)
                bytes += 32 + (uint64_t)part_count(value->operands[0]->type) * 8;
            else if (value->op == IR_PHI || is_collective(value) || regions->homes[value->id] == HOME_SPILL)
                bytes += (uint64_t)part_count(value->type) * 16;
        }
    return bytes;
}

/* Collectives of any other kind need threads that are real. */
static bool has_known_collectives(const IrFunc *kernel)
{
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].effects & WAITS && !is_collective(value))
                return false;
    return true;
}

/* The ways in which threads meet, the first one that is possible is taken. */
typedef struct Meeting {
    bool by_warps, shares_loads, has_own_loops /* small loops are written out inside of a region */;
    uint32_t most_bytes; /* for each thread */
} Meeting;

static const Meeting meetings[] = {
    {.by_warps = true, .shares_loads = true, .has_own_loops = true, .most_bytes = MOST_CACHED},
    {.by_warps = true, .has_own_loops = true, .most_bytes = MOST_CACHED},
    {.has_own_loops = true, .most_bytes = MOST_CONTEXT},
    {.most_bytes = MOST_CONTEXT},
};

/* Where threads meet they have to; small loops are written out inside of a region if no barrier is in the way. */
static void form_where_threads_meet(IrModule *module, const bool *raises, Arena *arena)
{
    const IrFunc *kernel = inline_collectives(module, arena);
    LoopPlaces places;
    if (!kernel || !has_known_collectives(kernel))
        return;
    place_loops_of_meeting(kernel, arena, &places);
    for (uint32_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
        const Meeting *way = &meetings[i];
        if (way->by_warps && !kernel->by_warps)
            continue;
        if (!way->has_own_loops)
            places.is_unrolled = NULL;
        Regions regions = {.kernel = kernel,
                           .is_own = way->has_own_loops ? places.is_own : NULL,
                           .is_whole = way->has_own_loops ? places.is_whole : NULL,
                           .by_warps = way->by_warps,
                           .shares_loads = way->shares_loads};
        if (!find_regions(raises[0], arena, &regions) ||
            (way->shares_loads && !are_shared_loads_right(&regions, arena)) || bytes_kept(&regions) > way->most_bytes)
            continue;
        choose_tested_regions(&regions, unrolled_headers(&places, arena), arena);
        rebuild(module, &regions, &places, arena);
        return;
    }
}

static bool gains_by_tests(const Regions *regions)
{
    for (uint32_t i = 0; i < regions->region_count; i++)
        if (regions->regions[i].is_tested)
            return true;
    return false;
}

/* What such a function makes is memory of one thread only where it is a part of the kernel. */
static bool calls_memory_giver(const IrModule *module, Arena *arena)
{
    bool *gives = ARENA_ARRAY(arena, bool, module->function_count);
    ir_memory_givers(module, gives);
    for (const IrBlock *block = module->first->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_CALL && gives[ir_place_of(module, value->callee)])
                return true;
    return false;
}

static bool asks_for_rows(const IrFunc *kernel)
{
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            for (uint32_t axis = 0; axis < 3 && value->op == IR_INTRINSIC; axis++)
                if (axis != kernel->row_axis && value->intrinsic == intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, axis))
                    return true;
    return false;
}

/* The ways to have loops over threads without need, the first one that gains is taken. */
typedef struct Way {
    bool has_loops_around, by_rows, shares_loads, has_borders, has_late_additions;
    bool shares_checks; /* only where the threads of a row make a check alike in each trip */
} Way;

static const Way ways[] = {
    {.has_loops_around = true, .by_rows = true, .shares_loads = true, .shares_checks = true},
    {.has_loops_around = true},
    {.has_loops_around = true, .by_rows = true, .shares_loads = true},
    {0},
};

/* Where the order of threads shows by additions of floats only. */
static const Way ways_of_additions[] = {
    {.has_loops_around = true,
     .by_rows = true,
     .shares_loads = true,
     .has_late_additions = true,
     .shares_checks = true},
    {.has_loops_around = true, .has_late_additions = true},
    {.has_loops_around = true, .by_rows = true, .shares_loads = true, .has_late_additions = true},
    {.has_late_additions = true},
};

/* Of what the row's threads load alike. */
static bool checks_alike_in_trips(const LoopPlaces *places, const Regions *regions)
{
    for (uint32_t i = 0; i < places->graph->loop_count; i++) {
        const IrLoop *loop = &places->graph->loops[i];
        for (uint32_t k = 0; k < loop->block_count && places->is_around[i]; k++) {
            const IrValue *end = loop->blocks[k]->last;
            bool is_check = end->op == IR_BRANCH && (fails_check(end->targets[0]) || fails_check(end->targets[1]));
            if (is_check && regions->homes[end->operands[0]->id] == HOME_UNIFORM)
                return true;
        }
    }
    return false;
}

static bool form_by(const Way *way, IrModule *module, bool raises, LoopPlaces *places, Arena *arena)
{
    Regions regions = {.kernel = module->first,
                       .is_own = places->is_own,
                       .by_rows = way->by_rows && asks_for_rows(module->first),
                       .shares_loads = way->shares_loads,
                       .is_bounded = true};
    if (!find_regions(raises, arena, &regions) || !are_shared_loads_right(&regions, arena) ||
        !adds_in_order_of_threads(&regions))
        return false;
    choose_tested_regions(&regions, unrolled_headers(places, arena), arena);
    uint32_t bytes_of_additions = way->has_late_additions ? choose_late_additions(&regions, places, arena) : 0;
    bool gains = way->has_loops_around     ? gains_by_places(places, &regions, arena)
                 : way->has_late_additions ? bytes_of_additions > 0
                                           : way->has_borders || gains_by_tests(&regions);
    if (!gains || bytes_kept(&regions) + bytes_of_additions > MOST_CACHED)
        return false;
    if (way->shares_checks && (!regions.by_rows || !checks_alike_in_trips(places, &regions)))
        return false;
    rebuild(module, &regions, places, arena);
    return true;
}

/* Where they do not, loops that they run alike may go around them, and checks be made beforehand. */
static void form_around_threads(IrModule *module, const bool *raises, const Way *tried, size_t count, Arena *arena)
{
    LoopPlaces places;
    if (calls_memory_giver(module, arena) || !place_loops(module, arena, &places))
        return;
    for (size_t i = 0; i < count; i++) {
        if (tried[i].has_loops_around && !has_loops_around(&places))
            continue;
        if (!tried[i].has_loops_around)
            keep_loops_inside(&places);
        if (form_by(&tried[i], module, raises[0], &places, arena))
            return;
    }
}

void form_parallel_regions(IrModule *module)
{
    unsigned effects = ir_module_effects(module);
    if (!module->first->is_kernel || effects & EFFECT_WATCHED)
        return;
    Arena *arena = arena_create();
    bool *raises = ARENA_ARRAY(arena, bool, module->function_count);
    ir_raising_functions(module, raises);
    bool by_warps = module->first->by_warps;
    IrFunc *kernel = module->first;
    if (effects & WAITS)
        form_where_threads_meet(module, raises, arena);
    else if (order_of_threads_shows(module))
        form_around_threads(module, raises, ways_of_additions, sizeof ways_of_additions / sizeof *ways_of_additions,
                            arena);
    else
        form_around_threads(module, raises, ways, sizeof ways / sizeof *ways, arena);
    if (by_warps && module->first == kernel)
        kernel->by_warps = false;
    arena_destroy(arena);
}

void form_for_borders(IrModule *module)
{
    static const Way way = {.has_borders = true};
    if (ir_module_effects(module) & (WAITS | EFFECT_WATCHED) || order_of_threads_shows(module))
        return;
    Arena *arena = arena_create();
    bool *raises = ARENA_ARRAY(arena, bool, module->function_count);
    ir_raising_functions(module, raises);
    form_around_threads(module, raises, &way, 1, arena);
    arena_destroy(arena);
}
