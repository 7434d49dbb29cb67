/* Of two loops one inside the other, one over the threads of a block and one of the kernel, the inner one is vectorized, or
 * none. A loop of the kernel that all threads run alike,
 *
 *     i = cuda.grid(1)                               for each thread:
 *     if i < n:                                          slot[t] = x[i]
 *         v = x[i]                                   for k in range(rounds):
 *         for k in range(rounds):                        for each thread t:
 *             v = v * a + b                                  slot[t] = slot[t] * a + b
 *         out[i] = v                                 for each thread:
 *                                                        out[i] = slot[t]
 *
 * goes around the loop over them where it is counted and long: what a thread carries from trip to trip then lies in a slot,
 * in the processor's first cache, and neighbours take each step at once. Nobody sees the difference: threads do not meet
 * here, so any order of their steps is right. Threads that a test at the kernel's beginning keeps out are kept out of each
 * region. Short loops stay inside and are written out, so that what they carry is in registers, and so do those whose trips
 * differ between threads. */
#include "codegen/host/regions/loop_places.h"

#include "codegen/host/regions/thread_bounds.h"
#include "codegen/unroll.h"

enum { DEEPEST_CALL = 4, DEEPEST_INDEX = 24 };

static const UnrollLimits limits = {.trips = 64, .values = 1536, .small = 256};

static uint32_t place_of(const LoopPlaces *places, const IrLoop *loop)
{
    return (uint32_t)(loop - places->graph->loops);
}

static void begin(const IrFunc *kernel, Arena *arena, LoopPlaces *out)
{
    out->graph = ir_graph(kernel, arena);
    out->is_own = ARENA_ARRAY(arena, bool, kernel->value_count + 1);
    out->is_around = ARENA_ARRAY(arena, bool, out->graph->loop_count + 1);
    out->is_unrolled = choose_unrolled_loops(out->graph, &limits, arena);
}

static bool is_unrolled(const LoopPlaces *places, uint32_t loop)
{
    return places->is_unrolled && places->is_unrolled[loop];
}

/* What is made once for all threads is no condition of a thread's own. */
static void make_own(const LoopPlaces *places, const IrBlock *block)
{
    const IrValue *branch = block->last;
    if (branch->op == IR_BRANCH && !branch->hint && !is_made_at_start(branch->operands[0]))
        places->is_own[branch->operands[0]->id] = true;
}

/* --- threads that meet -------------------------------------------------------------------------------------------------- */

bool is_met_in(const IrLoop *loop)
{
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next)
            if (is_collective(value))
                return true;
    return false;
}

void place_loops_of_meeting(const IrFunc *kernel, Arena *arena, LoopPlaces *out)
{
    begin(kernel, arena, out);
    for (uint32_t i = 0; i < out->graph->loop_count; i++)
        if (is_unrolled(out, i) && !is_met_in(&out->graph->loops[i]))
            make_own(out, out->graph->loops[i].header);
}

/* --- threads that do not ------------------------------------------------------------------------------------------------ */

static bool is_plain_function(const IrFunc *function, int depth);

/* Whether LLVM can do it for several threads at once. */
static bool is_plain(const IrValue *value, int depth)
{
    if (value->op == IR_CALL)
        return is_plain_function(value->callee, depth + 1);
    if (value->op == IR_INTRINSIC) {
        IntrinsicKind kind = intrinsic_info[value->intrinsic].kind;
        return kind == INTRINSIC_KIND_REGISTER || kind == INTRINSIC_KIND_MATH;
    }
    if (value->op == IR_LOAD || value->op == IR_STORE)
        return !value->hint;
    if (value->op == IR_RAISE)
        return fails_check(value->block);
    if (value->op == IR_NOTE)
        return !depth;
    unsigned flags = ir_op_info[value->op].flags;
    return (flags & IR_FLAG_PURE && value->op != IR_CELL && value->op != IR_LOCAL) || value->op == IR_JUMP ||
           value->op == IR_BRANCH || (value->op == IR_RETURN && depth);
}

/* One without loops. */
static bool is_plain_function(const IrFunc *function, int depth)
{
    if (function->is_recursive || depth > DEEPEST_CALL)
        return false;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (!is_plain(value, depth) || (value->op == IR_JUMP && value->targets[0]->id <= block->id))
                return false;
    return true;
}

/* Counts to where it ends whatever the launch is, since it comes by the bound before it wraps, and is left there only. */
static bool is_counted(const LoopPlaces *places, const IrLoop *loop)
{
    IrInduction found;
    if (!ir_induction(places->graph, loop, &found) || found.saturates || found.exit != 1)
        return false;
    bool is_by_one = found.step->op == IR_CONST && found.step->integer == 1;
    bool rises =
        found.comparison == IR_LT && (is_by_one || (is_never_below(found.step, 1) && is_moderate_bound(found.bound)));
    bool falls = found.comparison == IR_GT && found.step->op == IR_CONST && found.step->integer < 0 &&
                 found.bound->op == IR_CONST;
    for (uint32_t i = 1; i < loop->block_count; i++) {
        IrBlock *targets[2];
        int count = ir_successors(loop->blocks[i], targets);
        for (int k = 0; k < count; k++)
            if (!ir_loop_has(places->graph, loop, targets[k]) && !fails_check(targets[k]))
                return false;
    }
    return rises || falls;
}

static bool has_plain_blocks(const IrLoop *loop)
{
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next)
            if (!is_plain(value, 0))
                return false;
    return true;
}

/* Those inside of a loop come behind it. */
static void find_loops_around(LoopPlaces *places)
{
    uint32_t count = places->graph->loop_count;
    for (uint32_t i = 0; i < count; i++) {
        const IrLoop *loop = &places->graph->loops[i];
        places->is_around[i] = !is_unrolled(places, i) && is_counted(places, loop) && has_plain_blocks(loop);
    }
    for (uint32_t i = count; i-- > 0;) {
        const IrLoop *parent = places->graph->loops[i].parent;
        if (parent && !places->is_around[i] && !is_unrolled(places, i))
            places->is_around[place_of(places, parent)] = false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const IrLoop *parent = places->graph->loops[i].parent;
        if (parent && !places->is_around[place_of(places, parent)])
            places->is_around[i] = false;
    }
}

/* The order of threads must not show, and trips of the kernel's own are around already. */
static bool is_free(const IrModule *module)
{
    if (order_shows_but_by_additions(module))
        return false;
    for (const IrBlock *block = module->first->first; block; block = block->next)
        if (block->last->op == IR_NEXT_TRIP)
            return false;
    return true;
}

bool place_loops(const IrModule *module, Arena *arena, LoopPlaces *out)
{
    begin(module->first, arena, out);
    if (!is_free(module))
        return false;
    find_loops_around(out);
    for (const IrBlock *block = module->first->first; block; block = block->next) {
        const IrLoop *loop = out->graph->loop_of[block->id];
        bool is_around = loop && loop->header == block && out->is_around[place_of(out, loop)];
        if (!is_around)
            make_own(out, block);
    }
    return true;
}

bool has_loops_around(const LoopPlaces *places)
{
    for (uint32_t i = 0; i < places->graph->loop_count; i++)
        if (places->is_around[i])
            return true;
    return false;
}

void keep_loops_inside(LoopPlaces *places)
{
    for (uint32_t i = 0; i < places->graph->loop_count; i++)
        places->is_around[i] = false;
    for (const IrBlock *block = places->graph->function->first; block; block = block->next)
        make_own(places, block);
}

/* --- whether it is worth it --------------------------------------------------------------------------------------------- */

/* How far a value moves from one thread to the next one in its row. regions: NULL where there are none as yet. */
typedef enum Move { MOVES_NOT, MOVES_ON, MOVES_ANYHOW, MOVES_FAR } Move;

static Move move_of(const Regions *regions, const IrValue *value, int depth)
{
    if (regions && regions->homes[value->id] == HOME_UNIFORM)
        return MOVES_NOT;
    if (value->op == IR_INTRINSIC)
        return slope_in_thread(NULL, value) == 1 ? MOVES_ON : MOVES_NOT;
    if (depth > DEEPEST_INDEX || value->op == IR_PHI || !(ir_op_info[value->op].flags & IR_FLAG_PURE))
        return MOVES_ANYHOW;
    Move most = MOVES_NOT;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        Move move = move_of(regions, value->operands[i], depth + 1);
        most = move > most ? move : most;
    }
    bool grows = value->op == IR_MUL || value->op == IR_SHL;
    return grows && most == MOVES_ON ? MOVES_FAR : most;
}

static bool is_near(const Regions *regions, const IrValue *access)
{
    const Type *array = access->operands[0]->type;
    uint32_t near_axis = array->layout == LAYOUT_F ? 0 : array->ndim - 1;
    for (uint32_t axis = 0; axis < array->ndim; axis++) {
        Move move = move_of(regions, access->operands[1 + axis], 0);
        if (move == MOVES_FAR || (move == MOVES_ON && axis != near_axis))
            return false;
    }
    return true;
}

bool is_far_access(const IrValue *access) { return !is_near(NULL, access); }

static bool stays_near(const Regions *regions, const IrLoop *loop)
{
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next)
            if ((value->op == IR_LOAD || value->op == IR_STORE) && !is_near(regions, value))
                return false;
    return true;
}

static bool has_notes(const Regions *regions, const Region *region)
{
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next)
            if (value->op == IR_NOTE)
                return true;
    }
    return false;
}

/* Threads end, and tell the host, where checks fail only, which is asked beforehand. */
static bool are_checks_tested(const Regions *regions)
{
    for (uint32_t i = 0; i < regions->region_count; i++) {
        const Region *region = &regions->regions[i];
        if (!region->is_tested && (region->ends_threads || has_notes(regions, region)))
            return false;
    }
    return true;
}

bool gains_by_places(const LoopPlaces *places, const Regions *regions, Arena *arena)
{
    (void)arena;
    bool any = false;
    for (uint32_t i = 0; i < places->graph->loop_count; i++) {
        const IrLoop *loop = &places->graph->loops[i];
        const Piece *header = &regions->pieces[regions->last_piece[loop->header->id]];
        if (!places->is_around[i])
            continue;
        if (!header->is_uniform || header->step_count != 2 || !stays_near(regions, loop))
            return false;
        any = true;
    }
    return any && are_checks_tested(regions);
}
