/* Which pieces of a kernel all threads of a block run together. Threads part at branches on values that differ between
 * them and meet again at the branch's postdominator: the piece that every way from there to the next barrier passes, or to
 * the end where no barrier follows. Threads that turn to where no barrier follows while others go on to one end on their
 * own. IrGraph's postdominators do not say that: it knows whole blocks, for which a barrier is no end, and takes every
 * return for one that all threads may come to. So the pieces are a graph of their own, for core/base/graph.h. */
#include <string.h>

#include "codegen/host/regions/regions.h"
#include "core/base/graph.h"
#include "core/ir/ir_graph.h"

enum { MOST_PIECES = 1024 };

typedef struct Search {
    Regions *regions;
    Arena *arena;
    uint32_t *stack; /* for walks */
    bool *seen;
} Search;

/* --- pieces ------------------------------------------------------------------------------------------------------------------------ */

static bool has_full_mask(const IrValue *value)
{
    const IrValue *mask = value->operands[0];
    return mask->op == IR_CONST && (uint32_t)mask->integer == UINT32_MAX;
}

bool is_block_vote(const IrValue *value)
{
    return value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].family == FAMILY_BLOCK_VOTE;
}

bool is_collective(const IrValue *value)
{
    if (value->op != IR_INTRINSIC)
        return false;
    IntrinsicId id = value->intrinsic;
    bool is_of_warp = intrinsic_info[id].family == FAMILY_WARP_BARRIER || intrinsic_is_exchange(id);
    return intrinsic_info[id].family == FAMILY_BLOCK_BARRIER || is_block_vote(value) ||
           (is_of_warp && has_full_mask(value));
}

static void cut_block(Regions *regions, const IrBlock *block)
{
    const IrValue *first = block->first;
    regions->first_piece[block->id] = regions->piece_count;
    for (const IrValue *value = block->first; value; value = value->next) {
        regions->piece_of[value->id] = regions->piece_count;
        if (!is_collective(value))
            continue;
        regions->pieces[regions->piece_count++] = (Piece){.block = block, .first = first, .end = value};
        first = value->next;
    }
    regions->last_piece[block->id] = regions->piece_count;
    regions->pieces[regions->piece_count++] = (Piece){.block = block, .first = first};
}

bool is_bound(const Regions *regions, const Piece *piece)
{
    return regions->is_bounded && has_terminator(piece) && piece->block->last->op == IR_BRANCH &&
           piece->block->last->hint != IR_BOUND_NONE;
}

static void link_piece(Regions *regions, uint32_t place)
{
    IrBlock *targets[2];
    Piece *piece = &regions->pieces[place];
    piece->postdominator = NO_PIECE;
    piece->reaches_barrier = !has_terminator(piece);
    if (!has_terminator(piece)) {
        piece->successors[piece->successor_count++] = place + 1;
        return;
    }
    int count = ir_successors(piece->block, targets);
    if (is_bound(regions, piece)) {
        targets[0] = targets[piece->block->last->hint == IR_BOUND_OUT];
        count = 1;
    }
    for (int i = 0; i < count; i++)
        piece->successors[piece->successor_count++] = regions->first_piece[targets[i]->id];
}

static uint32_t count_pieces(const IrFunc *kernel)
{
    uint32_t count = kernel->block_count;
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            count += is_collective(value);
    return count;
}

static bool make_pieces(Search *search)
{
    Regions *regions = search->regions;
    const IrFunc *kernel = regions->kernel;
    uint32_t count = count_pieces(kernel);
    if (count > MOST_PIECES)
        return false;
    regions->pieces = ARENA_ARRAY(search->arena, Piece, count);
    regions->first_piece = ARENA_ARRAY(search->arena, uint32_t, kernel->block_count);
    regions->last_piece = ARENA_ARRAY(search->arena, uint32_t, kernel->block_count);
    regions->piece_of = ARENA_ARRAY(search->arena, uint32_t, kernel->value_count);
    for (const IrBlock *block = kernel->first; block; block = block->next)
        cut_block(regions, block);
    for (uint32_t i = 0; i < regions->piece_count; i++)
        link_piece(regions, i);
    search->stack = ARENA_ARRAY(search->arena, uint32_t, count);
    search->seen = ARENA_ARRAY(search->arena, bool, count);
    return true;
}

static void find_what_reaches_barriers(Regions *regions)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = regions->piece_count; i-- > 0;)
            for (uint32_t k = 0; k < regions->pieces[i].successor_count && !regions->pieces[i].reaches_barrier; k++)
                if (regions->pieces[regions->pieces[i].successors[k]].reaches_barrier)
                    regions->pieces[i].reaches_barrier = changed = true;
    }
}

/* --- postdominators ----------------------------------------------------------------------------------------------------------- */

static bool has_failed(const Piece *piece) { return has_terminator(piece) && fails_check(piece->block); }

static bool all_fail(const Regions *regions, const Piece *piece)
{
    for (uint32_t i = 0; i < piece->successor_count; i++)
        if (!has_failed(&regions->pieces[piece->successors[i]]))
            return false;
    return true;
}

/* Calls the exit piece_count. */
static uint32_t ways_on(const Regions *regions, const Piece *piece, uint32_t *ways)
{
    uint32_t count = 0;
    if (!has_terminator(piece) || piece->successor_count == 0)
        ways[count++] = regions->piece_count;
    for (uint32_t i = 0; i < piece->successor_count && has_terminator(piece); i++) {
        const Piece *next = &regions->pieces[piece->successors[i]];
        bool is_end = piece->reaches_barrier ? !next->reaches_barrier : has_failed(next) && !all_fail(regions, piece);
        if (!is_end)
            ways[count++] = piece->successors[i];
    }
    return count;
}

/* Each barrier leads to the exit, and ways that end threads early are none, nor are those to where a check has failed. */
static Graph graph_to_barriers(const Regions *regions, Arena *arena)
{
    uint32_t count = regions->piece_count, edges = 0;
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, count + 2), *ways = ARENA_ARRAY(arena, uint32_t, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++) {
        first[i] = edges;
        edges += ways_on(regions, &regions->pieces[i], ways + edges);
    }
    first[count] = first[count + 1] = edges;
    return (Graph){.node_count = count + 1, .first = first, .successors = ways};
}

/* False where a piece has no way to the exit. */
static bool find_postdominators(Regions *regions, Arena *arena)
{
    uint32_t exit = regions->piece_count;
    Graph graph = graph_to_barriers(regions, arena), back = graph_reversed(&graph, arena);
    const uint32_t *nearest = graph_dominators(&back, exit, arena);
    for (uint32_t i = 0; i < exit; i++) {
        if (nearest[i] == GRAPH_NONE)
            return false;
        if (regions->pieces[i].successor_count == 2 && nearest[i] != exit)
            regions->pieces[i].postdominator = nearest[i];
    }
    return true;
}

/* --- uniform values ------------------------------------------------------------------------------------------------------------ */

bool is_made_at_start(const IrValue *value)
{
    switch (value->op) {
    case IR_PARAM:
    case IR_CONST:
    case IR_DATA:
    case IR_UNDEFINED:
    case IR_SHARED: return true;
    default: return false;
    }
}

static bool is_uniform_intrinsic(const Regions *regions, const IrValue *value)
{
    const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
    int axis = intrinsic_axis(INTRINSIC_CUDA_THREAD_IDX, value->intrinsic);
    if (axis >= 0 && axis != regions->kernel->row_axis && (regions->by_rows || regions->by_warps))
        return true;
    return row->kind == INTRINSIC_KIND_MATH || row->family == FAMILY_BLOCK_REGISTER;
}

bool diverges(const Regions *regions, const Piece *piece)
{
    return has_terminator(piece) && piece->block->last->op == IR_BRANCH && !is_bound(regions, piece) &&
           regions->homes[piece->block->last->operands[0]->id] != HOME_UNIFORM;
}

const IrValue *value_of_divergent_ways(const Regions *regions, const IrValue *phi, bool *is_one)
{
    const IrValue *found = NULL;
    *is_one = true;
    for (uint32_t i = 0; i < phi->block->predecessor_count; i++) {
        const Piece *from = &regions->pieces[regions->last_piece[phi->block->predecessors[i]->id]];
        if (!from->is_divergent_piece && !diverges(regions, from))
            continue;
        *is_one = *is_one && (!found || found == phi->operands[i]);
        found = phi->operands[i];
    }
    return found;
}

static bool is_divergent(const Regions *regions, const IrValue *value)
{
    if (is_made_at_start(value))
        return false;
    if (is_block_vote(value))
        return false;
    bool is_of_all = regions->shares_loads && is_condition_of_check(value);
    if (regions->is_own && regions->is_own[value->id] && !is_of_all)
        return true;
    if (regions->pieces[regions->piece_of[value->id]].is_divergent_piece ||
        (value->op == IR_WARP_START && !regions->by_warps))
        return true;
    bool is_shared = is_shared_load(regions, value);
    if (value->op != IR_PHI && !is_shared && !ir_is_repeatable(value))
        return true;
    if (value->op == IR_INTRINSIC && !is_uniform_intrinsic(regions, value))
        return true;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (regions->homes[value->operands[i]->id] != HOME_UNIFORM)
            return true;
    bool is_one = true;
    if (value->op == IR_PHI)
        value_of_divergent_ways(regions, value, &is_one);
    return !is_one;
}

static bool find_divergent(Regions *regions)
{
    bool changed = false;
    for (const IrBlock *block = regions->kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (regions->homes[value->id] == HOME_UNIFORM && is_divergent(regions, value)) {
                regions->homes[value->id] = HOME_REGION;
                changed = true;
            }
    return changed;
}

/* Everything from where threads diverge to the postdominator. */
static bool mark_divergent(Search *search, const Piece *parting)
{
    Regions *regions = search->regions;
    uint32_t depth = 0;
    bool changed = false;
    const Piece *from = parting;
    memset(search->seen, 0, regions->piece_count);
    for (;;) {
        for (uint32_t i = 0; i < from->successor_count; i++) {
            uint32_t next = from->successors[i];
            if (next == parting->postdominator || search->seen[next])
                continue;
            search->seen[next] = true;
            changed |= !regions->pieces[next].is_divergent_piece;
            regions->pieces[next].is_divergent_piece = true;
            search->stack[depth++] = next;
        }
        if (!depth)
            return changed;
        from = &regions->pieces[search->stack[--depth]];
    }
}

/* A barrier that only some threads may reach ends the search: false. */
static bool find_divergent_pieces(Search *search, bool *changed)
{
    Regions *regions = search->regions;
    for (uint32_t i = 0; i < regions->piece_count; i++) {
        const Piece *piece = &regions->pieces[i];
        if (diverges(regions, piece)) {
            if (piece->reaches_barrier && piece->postdominator == NO_PIECE)
                return false;
            *changed |= mark_divergent(search, piece);
        }
        if (piece->is_divergent_piece && !has_terminator(piece))
            return false;
    }
    return true;
}

/* --- steps -------------------------------------------------------------------------------------------------------------------------------- */

static void find_step_successors(const Regions *regions, Piece *piece)
{
    if (diverges(regions, piece)) {
        piece->steps[0] = piece->postdominator;
        piece->step_count = piece->postdominator != NO_PIECE;
        return;
    }
    for (uint32_t i = 0; i < piece->successor_count; i++)
        if (i == 0 || piece->successors[i] != piece->successors[0])
            piece->steps[piece->step_count++] = piece->successors[i];
}

static void walk_steps(Search *search)
{
    Regions *regions = search->regions;
    uint32_t depth = 1;
    search->stack[0] = 0;
    regions->pieces[0].is_uniform = true;
    while (depth) {
        Piece *piece = &regions->pieces[search->stack[--depth]];
        find_step_successors(regions, piece);
        for (uint32_t i = 0; i < piece->step_count; i++) {
            Piece *next = &regions->pieces[piece->steps[i]];
            next->step_predecessors++;
            if (!next->is_uniform)
                search->stack[depth++] = piece->steps[i];
            next->is_uniform = true;
        }
    }
}

/* A branch that all threads take alike, both ways to one place: then it must not choose a value there. */
static bool chooses_by_edge(const Piece *piece)
{
    if (!has_terminator(piece) || piece->successor_count != 2 || piece->successors[0] != piece->successors[1])
        return false;
    return piece->block->last->targets[0]->first->op == IR_PHI;
}

bool find_steps(Regions *regions, Arena *arena)
{
    Search search = {.regions = regions, .arena = arena};
    if (!make_pieces(&search))
        return false;
    find_what_reaches_barriers(regions);
    if (!find_postdominators(regions, arena))
        return false;
    if (regions->shares_loads)
        regions->is_changing = find_changing_arguments(regions->kernel, arena);
    regions->homes = ARENA_ARRAY(arena, uint8_t, regions->kernel->value_count);
    memset(regions->homes, HOME_UNIFORM, regions->kernel->value_count);
    for (bool changed = true; changed;) {
        changed = find_divergent(regions);
        if (!find_divergent_pieces(&search, &changed))
            return false;
    }
    for (uint32_t i = 0; i < regions->piece_count; i++)
        if (chooses_by_edge(&regions->pieces[i]))
            return false;
    walk_steps(&search);
    return true;
}
