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
 * differ between threads.
 *
 * Threads that meet have all loops around them that they run alike, but short ones, and those that add to a tile. */
#include "codegen/host/regions/loop_places.h"

#include "codegen/host/regions/thread_bounds.h"
#include "codegen/host/regions/trip_test.h"
#include "codegen/unroll.h"

enum { DEEPEST_CALL = 4, DEEPEST_INDEX = 24, LEAST_COLUMNS = 4 };

static const UnrollLimits limits = {.trips = 64, .values = 1536, .small = 256};

static uint32_t place_of(const LoopPlaces *places, const IrLoop *loop)
{
    return (uint32_t)(loop - places->graph->loops);
}

static void begin(const IrFunc *kernel, Arena *arena, LoopPlaces *out)
{
    out->graph = ir_graph(kernel, arena);
    out->is_own = ARENA_ARRAY(arena, bool, kernel->value_count + 1);
    out->is_whole = ARENA_ARRAY(arena, bool, kernel->value_count + 1);
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

/* --- neighbours ---------------------------------------------------------------------------------------------------------- */

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

/* --- what loops do ------------------------------------------------------------------------------------------------------- */

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

/* --- tiles of a thread's own ----------------------------------------------------------------------------------------------- */

/* Between barriers a loop that adds to a tile of each thread's own,
 *
 *     for k in range(16):
 *         for i in range(4):
 *             for j in range(4):
 *                 sum[i, j] += a[k, threadIdx.y * 4 + i] * b[k, threadIdx.x * 4 + j]
 *
 * stays inside of the loop over threads: neighbours load what lies apart, while what one thread loads lies side by side, and
 * its tile is in registers for all trips. LLVM makes vectors of the columns once the short loops are written out. The array
 * then lies in one piece, so that they are loaded and stored as vectors, too. */

/* The loop inside that is written out and whose phi the value is; NULL: none. */
static const IrLoop *counted_inside(const LoopPlaces *places, const IrLoop *loop, const IrValue *value)
{
    const IrLoop *inner = places->graph->loop_of[value->block->id];
    bool is_phi = value->op == IR_PHI && inner && inner != loop && inner->header == value->block;
    bool is_inside = is_phi && is_unrolled(places, place_of(places, inner));
    return is_inside && ir_loop_has(places->graph, loop, value->block) ? inner : NULL;
}

/* How many indices next to each other a loop inside counts; 0: none does. */
static int64_t columns_of(const LoopPlaces *places, const IrLoop *loop, const IrValue *index, int depth)
{
    IrInduction counts;
    int64_t most = 0;
    const IrLoop *inner = counted_inside(places, loop, index);
    if (inner && ir_induction(places->graph, inner, &counts) && counts.variable == index &&
        counts.step->op == IR_CONST && counts.step->integer == 1)
        return ir_known_trips(&counts);
    bool is_sum = (index->op == IR_ADD || index->op == IR_CONVERT) && depth < DEEPEST_INDEX;
    for (uint32_t i = 0; i < index->operand_count && is_sum; i++) {
        int64_t columns = columns_of(places, loop, index->operands[i], depth + 1);
        most = columns > most ? columns : most;
    }
    return most;
}

/* Products of integers are no vectors to LLVM there, and two columns are slower than two threads. */
static bool fills_vector(const LoopPlaces *places, const IrLoop *loop, const IrValue *load, const IrValue *index)
{
    return load->type->kind == TYPE_FLOAT && columns_of(places, loop, index, 0) >= LEAST_COLUMNS;
}

static bool is_number_inside(const LoopPlaces *places, const IrLoop *loop, const IrValue *index)
{
    while (index->op == IR_CONVERT)
        index = index->operands[0];
    return index->op == IR_CONST || counted_inside(places, loop, index);
}

static bool is_element_of_tile(const LoopPlaces *places, const IrLoop *loop, const IrValue *access)
{
    for (uint32_t axis = 0; axis < access->operands[0]->type->ndim; axis++)
        if (!is_number_inside(places, loop, access->operands[1 + axis]))
            return false;
    return true;
}

typedef enum Side { BY_THREADS, EITHER_WAY, BY_COLUMNS } Side;

/* By what vectors should be made, as far as the access goes: of neighbouring threads, or of a thread's columns. */
static Side side_of(const LoopPlaces *places, const IrLoop *loop, const IrValue *access)
{
    const Type *array = access->operands[0]->type;
    if (access->operands[0]->op == IR_LOCAL)
        return is_element_of_tile(places, loop, access) ? EITHER_WAY : BY_THREADS;
    if (access->op == IR_STORE || array->layout != LAYOUT_C)
        return BY_THREADS;
    const IrValue *index = access->operands[array->ndim];
    switch (move_of(NULL, index, 0)) {
    case MOVES_ON: return BY_THREADS;
    case MOVES_FAR: return fills_vector(places, loop, access, index) ? BY_COLUMNS : BY_THREADS;
    default: return EITHER_WAY;
    }
}

static bool has_written_out_loops(const LoopPlaces *places, const IrLoop *loop)
{
    for (uint32_t i = 0; i < loop->block_count; i++) {
        const IrLoop *inner = places->graph->loop_of[loop->blocks[i]->id];
        if (inner != loop && !is_unrolled(places, place_of(places, inner)))
            return false;
    }
    return true;
}

static bool adds_to_tile(const LoopPlaces *places, const IrLoop *loop)
{
    bool is_stored = false, has_columns = false;
    if (!is_counted(places, loop) || !has_plain_blocks(loop) || !has_written_out_loops(places, loop))
        return false;
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next) {
            if (fails_check(value->block) || value->op == IR_NOTE)
                return false;
            if (value->op != IR_LOAD && value->op != IR_STORE)
                continue;
            Side side = side_of(places, loop, value);
            if (side == BY_THREADS)
                return false;
            has_columns |= side == BY_COLUMNS;
            is_stored |= value->op == IR_STORE;
        }
    return is_stored && has_columns;
}

static void keep_tiles_whole(LoopPlaces *places, const IrLoop *loop)
{
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next)
            if (value->op == IR_STORE)
                places->is_whole[value->operands[0]->id] = true;
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
    for (uint32_t i = 0; i < out->graph->loop_count; i++) {
        const IrLoop *loop = &out->graph->loops[i];
        bool has_tile = !is_unrolled(out, i) && adds_to_tile(out, loop);
        if (has_tile)
            keep_tiles_whole(out, loop);
        if (has_tile || (is_unrolled(out, i) && !is_met_in(loop) && !asks_for_trip(loop)))
            make_own(out, loop->header);
    }
}

/* --- threads that do not ------------------------------------------------------------------------------------------------ */

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
    return !order_shows_but_by_additions(module) && !is_one_trip(module->first);
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
