/* Which pieces of a kernel all threads of a block run together. Threads part at branches on values that differ between
 * them and meet again at the branch's postdominator: the piece that every way from there to the next barrier passes, or to the end
 * where no barrier follows. Threads that turn to where no barrier follows while others go on to one end on their own. */
#include <string.h>

#include "codegen/host/regions/regions.h"

enum { MOST_PIECES = 1024, WORD_BITS = 64 };

typedef struct Graph {
    Regions *regions;
    Arena *arena;
    uint32_t words; /* of a set of pieces, the exit included */
    uint64_t *postdominators; /* by piece: the pieces on all ways from it to the exit, itself included */
    uint32_t *stack; /* for walks */
    bool *seen;
} Graph;

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

static bool make_pieces(Graph *graph)
{
    Regions *regions = graph->regions;
    const IrFunc *kernel = regions->kernel;
    uint32_t count = count_pieces(kernel);
    if (count > MOST_PIECES)
        return false;
    regions->pieces = ARENA_ARRAY(graph->arena, Piece, count);
    regions->first_piece = ARENA_ARRAY(graph->arena, uint32_t, kernel->block_count);
    regions->last_piece = ARENA_ARRAY(graph->arena, uint32_t, kernel->block_count);
    regions->piece_of = ARENA_ARRAY(graph->arena, uint32_t, kernel->value_count);
    for (const IrBlock *block = kernel->first; block; block = block->next)
        cut_block(regions, block);
    for (uint32_t i = 0; i < regions->piece_count; i++)
        link_piece(regions, i);
    graph->stack = ARENA_ARRAY(graph->arena, uint32_t, count);
    graph->seen = ARENA_ARRAY(graph->arena, bool, count);
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

/* --- postdominators of the graph in which a barrier is an exit and ways that end threads early are none ------------------------ */

static uint64_t *set_of(const Graph *graph, uint32_t piece)
{
    return graph->postdominators + (size_t)piece * graph->words;
}

static bool has(const uint64_t *set, uint32_t piece) { return set[piece / WORD_BITS] >> piece % WORD_BITS & 1; }

static void put(uint64_t *set, uint32_t piece) { set[piece / WORD_BITS] |= (uint64_t)1 << piece % WORD_BITS; }

/* Calls the exit piece_count. */
static uint32_t ways_on(const Graph *graph, uint32_t place, uint32_t *ways)
{
    const Regions *regions = graph->regions;
    const Piece *piece = &regions->pieces[place];
    uint32_t count = 0;
    if (!has_terminator(piece) || piece->successor_count == 0) {
        ways[count++] = regions->piece_count;
        return count;
    }
    for (uint32_t i = 0; i < piece->successor_count; i++)
        if (!piece->reaches_barrier || regions->pieces[piece->successors[i]].reaches_barrier)
            ways[count++] = piece->successors[i];
    return count;
}

static bool narrow(const Graph *graph, uint32_t piece)
{
    uint32_t ways[2], count = ways_on(graph, piece, ways);
    uint64_t *set = set_of(graph, piece), changed = 0;
    for (uint32_t word = 0; word < graph->words; word++) {
        uint64_t all = UINT64_MAX;
        for (uint32_t i = 0; i < count; i++)
            all &= set_of(graph, ways[i])[word];
        if (piece / WORD_BITS == word)
            all |= (uint64_t)1 << piece % WORD_BITS;
        changed |= all ^ set[word];
        set[word] = all;
    }
    return changed != 0;
}

static uint32_t size_of(const Graph *graph, uint32_t piece)
{
    uint32_t size = 0;
    for (uint32_t word = 0; word < graph->words; word++)
        size += (uint32_t)__builtin_popcountll(set_of(graph, piece)[word]);
    return size;
}

/* The sets of a piece's postdominators are nested: the nearest has the largest. */
static uint32_t nearest(const Graph *graph, uint32_t piece)
{
    uint32_t best = NO_PIECE, best_size = 0;
    for (uint32_t other = 0; other < graph->regions->piece_count; other++) {
        if (other == piece || !has(set_of(graph, piece), other))
            continue;
        uint32_t size = size_of(graph, other);
        if (size > best_size) {
            best = other;
            best_size = size;
        }
    }
    return best;
}

/* False where a piece has no way to the exit: it would be in every set. */
static bool find_postdominators(Graph *graph)
{
    uint32_t count = graph->regions->piece_count;
    graph->words = (count + 1) / WORD_BITS + 1; /* with a bit that stands for nothing */
    graph->postdominators = ARENA_ARRAY(graph->arena, uint64_t, (size_t)(count + 1) * graph->words);
    memset(graph->postdominators, 0xff, (size_t)count * graph->words * sizeof(uint64_t));
    put(set_of(graph, count), count);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = count; i-- > 0;)
            changed |= narrow(graph, i);
    }
    for (uint32_t i = 0; i < count; i++)
        if (has(set_of(graph, i), count + 1))
            return false;
    for (uint32_t i = 0; i < count; i++)
        if (graph->regions->pieces[i].successor_count == 2)
            graph->regions->pieces[i].postdominator = nearest(graph, i);
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

static bool is_uniform_intrinsic(const IrValue *value)
{
    const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
    return row->kind == INTRINSIC_KIND_MATH || row->family == FAMILY_BLOCK_REGISTER;
}

bool diverges(const Regions *regions, const Piece *piece)
{
    return has_terminator(piece) && piece->block->last->op == IR_BRANCH &&
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
    if (regions->pieces[regions->piece_of[value->id]].is_divergent_piece || value->op == IR_LOCAL ||
        value->op == IR_CELL)
        return true;
    if (value->op == IR_INTRINSIC ? !is_uniform_intrinsic(value) : !(ir_op_info[value->op].flags & IR_FLAG_PURE))
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
static bool mark_divergent(Graph *graph, const Piece *parting)
{
    Regions *regions = graph->regions;
    uint32_t depth = 0;
    bool changed = false;
    const Piece *from = parting;
    memset(graph->seen, 0, regions->piece_count);
    for (;;) {
        for (uint32_t i = 0; i < from->successor_count; i++) {
            uint32_t next = from->successors[i];
            if (next == parting->postdominator || graph->seen[next])
                continue;
            graph->seen[next] = true;
            changed |= !regions->pieces[next].is_divergent_piece;
            regions->pieces[next].is_divergent_piece = true;
            graph->stack[depth++] = next;
        }
        if (!depth)
            return changed;
        from = &regions->pieces[graph->stack[--depth]];
    }
}

/* A barrier that only some threads may reach ends the search: false. */
static bool find_divergent_pieces(Graph *graph, bool *changed)
{
    Regions *regions = graph->regions;
    for (uint32_t i = 0; i < regions->piece_count; i++) {
        const Piece *piece = &regions->pieces[i];
        if (diverges(regions, piece)) {
            if (piece->reaches_barrier && piece->postdominator == NO_PIECE)
                return false;
            *changed |= mark_divergent(graph, piece);
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

static void walk_steps(Graph *graph)
{
    Regions *regions = graph->regions;
    uint32_t depth = 1;
    graph->stack[0] = 0;
    regions->pieces[0].is_uniform = true;
    while (depth) {
        Piece *piece = &regions->pieces[graph->stack[--depth]];
        find_step_successors(regions, piece);
        for (uint32_t i = 0; i < piece->step_count; i++) {
            Piece *next = &regions->pieces[piece->steps[i]];
            next->step_predecessors++;
            if (!next->is_uniform)
                graph->stack[depth++] = piece->steps[i];
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
    Graph graph = {.regions = regions, .arena = arena};
    if (!make_pieces(&graph))
        return false;
    find_what_reaches_barriers(regions);
    if (!find_postdominators(&graph))
        return false;
    regions->homes = ARENA_ARRAY(arena, uint8_t, regions->kernel->value_count);
    memset(regions->homes, HOME_UNIFORM, regions->kernel->value_count);
    for (bool changed = true; changed;) {
        changed = find_divergent(regions);
        if (!find_divergent_pieces(&graph, &changed))
            return false;
    }
    for (uint32_t i = 0; i < regions->piece_count; i++)
        if (chooses_by_edge(&regions->pieces[i]))
            return false;
    walk_steps(&graph);
    return true;
}
