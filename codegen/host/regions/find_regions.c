/* Cuts a kernel's steps into regions and says of every value where it is kept. A region is a chain of steps, with what threads
 * do between them on their own; it ends at a barrier, where all choose a way together, and where several ways come together.
 * What a thread needs of another region is computed again where that is cheap, so that it stays a plain function of the
 * thread's index; other values lie in a slot for each thread. */
#include "codegen/host/regions/regions.h"

#include <string.h>

#include "core/base/graph.h"
#include "core/ir/ir_graph.h"

enum { MOST_REMATERIALIZED = 24, NEVER = 1 << 20 }; /* operations to make a value anew */

typedef struct Search {
    Regions *regions;
    Arena *arena;
    bool *crosses; /* by value: needed in a region that does not make it */
    uint32_t *costs; /* by value: operations to make it anew */
    uint32_t *wanted; /* by value: the last region, plus 1, whose incoming values have it */
    uint32_t *memberships; /* by piece: how many regions have it */
    const uint32_t *dominators; /* by piece, in the region at hand; NULL: not asked so far */
    uint32_t *stack;
    uint32_t *first, *ways; /* of a graph of pieces or regions */
    bool *seen;
} Search;

/* --- members ---------------------------------------------------------------------------------------------------------------------- */

static bool is_leader(const Regions *regions, const bool *chosen, uint32_t piece)
{
    return chosen[piece] || regions->pieces[piece].step_predecessors > 1;
}

/* Pieces at which a region begins whatever comes before. */
static bool *choose_leaders(Search *search)
{
    Regions *regions = search->regions;
    bool *chosen = ARENA_ARRAY(search->arena, bool, regions->piece_count);
    chosen[0] = true;
    uint32_t behind = regions->shares_loads && regions->is_bounded ? piece_behind_bounds(regions) : NO_PIECE;
    if (behind != NO_PIECE)
        chosen[behind] = true;
    for (uint32_t i = 0; i < regions->piece_count; i++) {
        const Piece *piece = &regions->pieces[i];
        for (uint32_t k = 0; piece->is_uniform && k < piece->step_count; k++)
            if (piece->step_count == 2 || !has_terminator(piece))
                chosen[piece->steps[k]] = true;
    }
    return chosen;
}

/* What threads do on their own from this step to its postdominator. */
static void add_divergent(Search *search, Region *region, const Piece *step)
{
    const Regions *regions = search->regions;
    const Piece *from = step;
    uint32_t depth = 0;
    for (;;) {
        for (uint32_t i = 0; i < from->successor_count; i++) {
            uint32_t next = from->successors[i];
            if (next == step->postdominator || region->is_inside[next])
                continue;
            region->is_inside[next] = true;
            search->stack[depth++] = next;
        }
        if (!depth)
            return;
        from = &regions->pieces[search->stack[--depth]];
    }
}

static void find_members(Search *search, Region *region, const bool *chosen)
{
    Regions *regions = search->regions;
    uint32_t place = region->leader;
    region->is_inside = ARENA_ARRAY(search->arena, bool, regions->piece_count);
    for (;;) {
        Piece *piece = &regions->pieces[place];
        piece->region = (uint32_t)(region - regions->regions);
        region->last = place;
        if (diverges(regions, piece))
            add_divergent(search, region, piece);
        if (piece->step_count != 1 || is_leader(regions, chosen, piece->steps[0]))
            return;
        place = piece->steps[0];
        region->is_inside[place] = true;
    }
}

/* Ways of the region's pieces that stay in it. */
static Graph graph_of_members(const Search *search, const Region *region)
{
    const Regions *regions = search->regions;
    uint32_t count = regions->piece_count, edges = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Piece *piece = &regions->pieces[i];
        search->first[i] = edges;
        for (uint32_t k = 0; has_terminator(piece) && k < piece->successor_count; k++)
            if (region->is_inside[piece->successors[k]])
                search->ways[edges++] = piece->successors[k];
    }
    search->first[count] = edges;
    return (Graph){.node_count = count, .first = search->first, .successors = search->ways};
}

static void order_members(Search *search, Region *region)
{
    Graph graph = graph_of_members(search, region);
    GraphOrder order = graph_order(&graph, region->leader, search->arena);
    region->pieces = order.nodes;
    region->piece_count = order.count;
    for (uint32_t i = 0; i < order.count; i++)
        search->memberships[order.nodes[i]]++;
}

static bool makes_pieces_end(const Regions *regions, const Region *region, bool may_raise)
{
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        bool is_end = has_terminator(piece) && piece->successor_count == 0;
        for (const IrValue *value = piece->first; value != piece->end && !is_end; value = value->next)
            is_end = may_raise && value->op == IR_CALL;
        if (is_end)
            return true;
    }
    return false;
}

static void find_region_list(Search *search, bool may_raise)
{
    Regions *regions = search->regions;
    const bool *chosen = choose_leaders(search);
    regions->regions = ARENA_ARRAY(search->arena, Region, regions->piece_count);
    for (uint32_t i = 0; i < regions->piece_count; i++) {
        if (!regions->pieces[i].is_uniform || !is_leader(regions, chosen, i))
            continue;
        Region *region = &regions->regions[regions->region_count++];
        region->leader = i;
        find_members(search, region, chosen);
        order_members(search, region);
        region->ends_threads = regions->pieces[region->last].step_count && makes_pieces_end(regions, region, may_raise);
        regions->ends_threads |= region->ends_threads;
    }
}

/* The numbers of pieces are in no such order where functions are inlined. */
static void order_regions(Search *search)
{
    Regions *regions = search->regions;
    uint32_t count = regions->region_count, edges = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Piece *last = &regions->pieces[regions->regions[i].last];
        search->first[i] = edges;
        for (uint32_t k = 0; k < last->step_count; k++)
            search->ways[edges++] = regions->pieces[last->steps[k]].region;
    }
    search->first[count] = edges;
    Graph graph = {.node_count = count, .first = search->first, .successors = search->ways};
    regions->order = graph_order(&graph, regions->pieces[0].region, search->arena).nodes;
}

/* --- values that cross regions -------------------------------------------------------------------------------------------------------- */

static bool is_member(const Region *region, uint32_t piece)
{
    return piece == region->leader || region->is_inside[piece];
}

/* Whether threads pass the one piece before they come to the other, wherever they are from. Where threads go round a loop
 * until they meet in its middle, a piece is in the region that comes to the loop and in that which goes on with it: there
 * they may have passed it in the former one only. */
static bool pass_before(Search *search, const Region *region, uint32_t piece, uint32_t other)
{
    if (piece == other || piece == region->leader || search->memberships[piece] < 2)
        return true;
    if (!search->dominators) {
        Graph graph = graph_of_members(search, region);
        search->dominators = graph_dominators(&graph, region->leader, search->arena);
    }
    while (other != piece && other != GRAPH_NONE)
        other = search->dominators[other];
    return other == piece;
}

static bool is_made_in(const Search *search, const Region *region, const IrValue *value)
{
    return is_member(region, search->regions->piece_of[value->id]) && !is_collective(value);
}

static void need(Search *search, Region *region, uint32_t piece, const IrValue *value)
{
    Regions *regions = search->regions;
    uint32_t number = (uint32_t)(region - regions->regions) + 1;
    bool is_made_here = is_made_in(search, region, value);
    if (regions->homes[value->id] == HOME_UNIFORM || search->wanted[value->id] == number ||
        (is_made_here && pass_before(search, region, regions->piece_of[value->id], piece)))
        return;
    search->wanted[value->id] = number;
    search->crosses[value->id] = true;
    region->incoming_count++;
    region->remade_count += is_made_here;
}

/* What the region hands to a phi by the edges from this piece. */
static void need_on_edges(Search *search, Region *region, uint32_t place)
{
    const Piece *piece = &search->regions->pieces[place];
    for (uint32_t i = 0; has_terminator(piece) && i < piece->successor_count; i++) {
        const IrBlock *to = piece->block->last->targets[i];
        for (const IrValue *phi = to->first; phi && phi->op == IR_PHI; phi = phi->next)
            for (uint32_t k = 0; k < phi->operand_count; k++)
                if (to->predecessors[k] == piece->block && search->regions->homes[phi->id] != HOME_UNIFORM)
                    need(search, region, place, phi->operands[k]);
    }
}

static void find_needs(Search *search, Region *region)
{
    const Regions *regions = search->regions;
    search->dominators = NULL;
    for (uint32_t i = 0; i < region->piece_count; i++) {
        uint32_t place = region->pieces[i];
        const Piece *piece = &regions->pieces[place];
        for (const IrValue *value = piece->first; value != piece->end; value = value->next)
            for (uint32_t k = 0; value->op != IR_PHI && k < value->operand_count; k++)
                need(search, region, place, value->operands[k]);
        for (uint32_t k = 0; piece->end && k < piece->end->operand_count; k++)
            need(search, region, place, piece->end->operands[k]);
        need_on_edges(search, region, place);
    }
}

static void list_incoming(Search *search, Region *region)
{
    uint32_t number = (uint32_t)(region - search->regions->regions) + 1, count = 0, remade = 0;
    region->incoming = ARENA_ARRAY(search->arena, const IrValue *, region->incoming_count + 1);
    region->remade = ARENA_ARRAY(search->arena, const IrValue *, region->remade_count + 1);
    for (const IrBlock *block = search->regions->kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            if (search->wanted[value->id] != number)
                continue;
            region->incoming[count++] = value;
            if (is_made_in(search, region, value))
                region->remade[remade++] = value;
        }
}

/* --- homes ------------------------------------------------------------------------------------------------------------------------------ */

static uint32_t own_cost(const IrValue *value)
{
    if (value->op == IR_LOCAL)
        return 1; /* where it is, not another one */
    if (!ir_is_repeatable(value))
        return NEVER;
    if (value->op == IR_INTRINSIC)
        return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER ? 1 : NEVER;
    return ir_is_routine(value) ? MOST_REMATERIALIZED / 2 : 1;
}

/* Operands come before what is made of them, but for phis, which nothing makes anew. */
static void find_costs(Search *search)
{
    const Regions *regions = search->regions;
    const IrGraph *graph = ir_graph(regions->kernel, search->arena);
    for (uint32_t i = 0; i < graph->count; i++)
        for (const IrValue *value = graph->order[i]->first; value; value = value->next) {
            uint32_t cost = regions->homes[value->id] == HOME_UNIFORM ? 0 : own_cost(value);
            bool adds = cost && cost <= MOST_REMATERIALIZED;
            for (uint32_t k = 0; adds && k < value->operand_count && cost <= MOST_REMATERIALIZED; k++)
                cost += search->costs[value->operands[k]->id];
            search->costs[value->id] = cost;
        }
}

static void choose_homes(Search *search)
{
    Regions *regions = search->regions;
    find_costs(search);
    for (uint32_t id = 0; id < regions->kernel->value_count; id++)
        if (search->crosses[id])
            regions->homes[id] = search->costs[id] <= MOST_REMATERIALIZED ? HOME_REMATERIALIZE : HOME_SPILL;
}

/* --- phis of leaders ---------------------------------------------------------------------------------------------------------------------- */

static bool uses_at(const Regions *regions, const IrValue *used, uint32_t place)
{
    const Piece *piece = &regions->pieces[place];
    for (const IrValue *value = piece->first; value != piece->end; value = value->next)
        for (uint32_t i = 0; value->op != IR_PHI && i < value->operand_count; i++)
            if (value->operands[i] == used)
                return true;
    for (uint32_t i = 0; piece->end && i < piece->end->operand_count; i++)
        if (piece->end->operands[i] == used)
            return true;
    for (uint32_t i = 0; has_terminator(piece) && i < piece->successor_count; i++) {
        const IrBlock *to = piece->block->last->targets[i];
        for (const IrValue *phi = to->first; phi && phi->op == IR_PHI; phi = phi->next)
            for (uint32_t k = 0; k < phi->operand_count; k++)
                if (phi->operands[k] == used && to->predecessors[k] == piece->block)
                    return true;
    }
    return false;
}

/* Whether the phi's value is used from here on, before it gets the next one. */
static bool is_needed_from(Search *search, const IrValue *phi, uint32_t from)
{
    const Regions *regions = search->regions;
    uint32_t depth = 0, home = regions->piece_of[phi->id];
    memset(search->seen, 0, regions->piece_count);
    search->seen[from] = search->seen[home] = true;
    for (search->stack[depth++] = from; depth;) {
        uint32_t place = search->stack[--depth];
        if (uses_at(regions, phi, place))
            return true;
        for (uint32_t i = 0; i < regions->pieces[place].successor_count; i++) {
            uint32_t next = regions->pieces[place].successors[i];
            if (!search->seen[next])
                search->stack[depth++] = next;
            search->seen[next] = true;
        }
    }
    return false;
}

/* A step that all leave for one of two places hands values to both: the one that is not taken must not miss the phi's. */
static bool is_overwritten(Search *search, const IrValue *phi)
{
    const Regions *regions = search->regions;
    uint32_t home = regions->piece_of[phi->id];
    for (uint32_t i = 0; i < phi->block->predecessor_count; i++) {
        const Piece *from = &regions->pieces[regions->last_piece[phi->block->predecessors[i]->id]];
        for (uint32_t k = 0; from->is_uniform && from->step_count == 2 && k < 2; k++)
            if (from->steps[k] != home && is_needed_from(search, phi, from->steps[k]))
                return true;
    }
    return false;
}

static void find_entries(Search *search)
{
    Regions *regions = search->regions;
    regions->needs_entry = ARENA_ARRAY(search->arena, bool, regions->kernel->value_count);
    for (uint32_t i = 0; i < regions->region_count; i++) {
        const Piece *leader = &regions->pieces[regions->regions[i].leader];
        for (const IrValue *phi = leader->first; phi && phi->op == IR_PHI; phi = phi->next)
            regions->needs_entry[phi->id] = regions->homes[phi->id] == HOME_SPILL && is_overwritten(search, phi);
    }
}

/* --- arrays of a thread ------------------------------------------------------------------------------------------------------------------- */

static bool is_element_use(const IrValue *use, uint32_t operand)
{
    bool is_access = (use->op == IR_LOAD || use->op == IR_STORE) && !use->hint;
    return operand == 0 && (is_access || use->op == IR_EXTENT);
}

/* Those of numbers that are used element by element: neighbouring threads then access neighbouring elements. */
static void find_spread(Search *search)
{
    Regions *regions = search->regions;
    const IrFunc *kernel = regions->kernel;
    regions->is_spread = ARENA_ARRAY(search->arena, bool, kernel->value_count);
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_LOCAL)
                regions->is_spread[value->id] =
                    type_is_real(value->type->element) && !(regions->is_whole && regions->is_whole[value->id]);
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *use = block->first; use; use = use->next)
            for (uint32_t i = 0; i < use->operand_count; i++)
                if (use->operands[i] && use->operands[i]->op == IR_LOCAL && !is_element_use(use, i))
                    regions->is_spread[use->operands[i]->id] = false;
}

/* --- all -------------------------------------------------------------------------------------------------------------------------------------- */

bool find_regions(bool may_raise, Arena *arena, Regions *out)
{
    const IrFunc *kernel = out->kernel;
    if (!find_steps(out, arena))
        return false;
    Search search = {.regions = out,
                     .arena = arena,
                     .crosses = ARENA_ARRAY(arena, bool, kernel->value_count),
                     .costs = ARENA_ARRAY(arena, uint32_t, kernel->value_count),
                     .wanted = ARENA_ARRAY(arena, uint32_t, kernel->value_count),
                     .memberships = ARENA_ARRAY(arena, uint32_t, out->piece_count + 1),
                     .stack = ARENA_ARRAY(arena, uint32_t, out->piece_count + 1),
                     .first = ARENA_ARRAY(arena, uint32_t, out->piece_count + 1),
                     .ways = ARENA_ARRAY(arena, uint32_t, 2 * out->piece_count + 1),
                     .seen = ARENA_ARRAY(arena, bool, out->piece_count)};
    find_region_list(&search, may_raise);
    order_regions(&search);
    for (uint32_t i = 0; i < out->region_count; i++) {
        find_needs(&search, &out->regions[i]);
        list_incoming(&search, &out->regions[i]);
    }
    choose_homes(&search);
    find_spread(&search);
    find_entries(&search);
    return true;
}
