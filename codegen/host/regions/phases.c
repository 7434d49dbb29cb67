/* Cuts a kernel's steps into phases and says of every value where it is kept. A phase is a chain of steps, with what threads
 * do between them on their own; it ends at a barrier, where all choose a way together, and where several ways come together.
 * What a thread needs of another phase is computed again where that is cheap, so that it stays a plain function of the
 * thread's index; other values lie in a slot for each thread. */
#include "codegen/host/regions/phases.h"

#include <string.h>

enum { MOST_AGAIN = 24, NOT_AGAIN = 1 << 20 }; /* operations to make a value anew */

typedef struct Search {
    Phases *phases;
    Arena *arena;
    bool *crosses; /* by value: needed in a phase that does not make it */
    uint32_t *costs; /* by value: of making it again, plus 1; 0: unknown */
    uint32_t *wanted; /* by value: the last phase, plus 1, whose incoming values have it */
    uint32_t *stack, *scratch;
    bool *seen;
} Search;

/* --- members ---------------------------------------------------------------------------------------------------------------------- */

static bool is_leader(const Phases *phases, const bool *chosen, uint32_t piece)
{
    return chosen[piece] || phases->pieces[piece].step_predecessors > 1;
}

/* Pieces at which a phase begins whatever comes before. */
static bool *choose_leaders(Search *search)
{
    Phases *phases = search->phases;
    bool *chosen = ARENA_ARRAY(search->arena, bool, phases->piece_count);
    chosen[0] = true;
    for (uint32_t i = 0; i < phases->piece_count; i++) {
        const Piece *piece = &phases->pieces[i];
        for (uint32_t k = 0; piece->is_step && k < piece->step_count; k++)
            if (piece->step_count == 2 || !has_terminator(piece))
                chosen[piece->steps[k]] = true;
    }
    return chosen;
}

/* What threads do on their own from this step to its join. */
static void add_partial(Search *search, Phase *phase, const Piece *step)
{
    const Phases *phases = search->phases;
    const Piece *from = step;
    uint32_t depth = 0;
    for (;;) {
        for (uint32_t i = 0; i < from->successor_count; i++) {
            uint32_t next = from->successors[i];
            if (next == step->join || phase->is_inside[next])
                continue;
            phase->is_inside[next] = true;
            search->stack[depth++] = next;
        }
        if (!depth)
            return;
        from = &phases->pieces[search->stack[--depth]];
    }
}

static void find_members(Search *search, Phase *phase, const bool *chosen)
{
    Phases *phases = search->phases;
    uint32_t place = phase->leader;
    phase->is_inside = ARENA_ARRAY(search->arena, bool, phases->piece_count);
    for (;;) {
        Piece *piece = &phases->pieces[place];
        piece->phase = (uint32_t)(phase - phases->phases);
        phase->last = place;
        if (parts_threads(phases, piece))
            add_partial(search, phase, piece);
        if (piece->step_count != 1 || is_leader(phases, chosen, piece->steps[0]))
            return;
        place = piece->steps[0];
        phase->is_inside[place] = true;
    }
}

/* Postorder from the leader, turned around. */
static void order_members(Search *search, Phase *phase)
{
    const Phases *phases = search->phases;
    uint32_t depth = 0, count = 0, *next = search->scratch;
    memset(search->seen, 0, phases->piece_count);
    phase->pieces = ARENA_ARRAY(search->arena, uint32_t, phases->piece_count);
    search->stack[depth++] = phase->leader;
    search->seen[phase->leader] = true;
    next[0] = 0;
    while (depth) {
        uint32_t place = search->stack[depth - 1];
        const Piece *piece = &phases->pieces[place];
        if (!has_terminator(piece) || next[depth - 1] == piece->successor_count) {
            phase->pieces[count++] = place;
            depth--;
            continue;
        }
        uint32_t to = piece->successors[next[depth - 1]++];
        if (!phase->is_inside[to] || search->seen[to])
            continue;
        search->seen[to] = true;
        next[depth] = 0;
        search->stack[depth++] = to;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t piece = phase->pieces[i];
        phase->pieces[i] = phase->pieces[count - 1 - i];
        phase->pieces[count - 1 - i] = piece;
    }
    phase->piece_count = count;
}

static bool makes_pieces_end(const Phases *phases, const Phase *phase, bool may_raise)
{
    for (uint32_t i = 0; i < phase->piece_count; i++) {
        const Piece *piece = &phases->pieces[phase->pieces[i]];
        bool is_end = has_terminator(piece) && piece->successor_count == 0;
        for (const IrValue *value = piece->first; value != piece->end && !is_end; value = value->next)
            is_end = may_raise && value->op == IR_CALL;
        if (is_end)
            return true;
    }
    return false;
}

static void find_phase_list(Search *search, bool may_raise)
{
    Phases *phases = search->phases;
    const bool *chosen = choose_leaders(search);
    phases->phases = ARENA_ARRAY(search->arena, Phase, phases->piece_count);
    for (uint32_t i = 0; i < phases->piece_count; i++) {
        if (!phases->pieces[i].is_step || !is_leader(phases, chosen, i))
            continue;
        Phase *phase = &phases->phases[phases->phase_count++];
        phase->leader = i;
        find_members(search, phase, chosen);
        order_members(search, phase);
        phase->ends_threads = phases->pieces[phase->last].step_count && makes_pieces_end(phases, phase, may_raise);
        phases->ends_threads |= phase->ends_threads;
    }
}

/* Postorder from the first phase, turned around: the numbers of pieces are in no such order where functions are inlined. */
static void order_phases(Search *search)
{
    Phases *phases = search->phases;
    uint32_t depth = 0, place = phases->phase_count, *next = search->scratch;
    memset(search->seen, 0, phases->piece_count);
    phases->order = ARENA_ARRAY(search->arena, uint32_t, phases->phase_count);
    search->stack[depth++] = phases->pieces[0].phase;
    search->seen[phases->pieces[0].phase] = true;
    next[0] = 0;
    while (depth) {
        uint32_t number = search->stack[depth - 1];
        const Piece *last = &phases->pieces[phases->phases[number].last];
        if (next[depth - 1] == last->step_count) {
            phases->order[--place] = number;
            depth--;
            continue;
        }
        uint32_t to = phases->pieces[last->steps[next[depth - 1]++]].phase;
        if (search->seen[to])
            continue;
        search->seen[to] = true;
        next[depth] = 0;
        search->stack[depth++] = to;
    }
}

/* --- values that cross phases -------------------------------------------------------------------------------------------------------- */

static bool is_member(const Phase *phase, uint32_t piece) { return piece == phase->leader || phase->is_inside[piece]; }

static void need(Search *search, Phase *phase, const IrValue *value)
{
    Phases *phases = search->phases;
    uint32_t number = (uint32_t)(phase - phases->phases) + 1;
    bool is_made_here = is_member(phase, phases->piece_of[value->id]) && !is_meeting(value);
    if (phases->homes[value->id] == HOME_BLOCK || is_made_here || search->wanted[value->id] == number)
        return;
    search->wanted[value->id] = number;
    search->crosses[value->id] = true;
    phase->incoming_count++;
}

/* What the phase hands to a phi by the edges from this piece. */
static void need_on_edges(Search *search, Phase *phase, const Piece *piece)
{
    for (uint32_t i = 0; has_terminator(piece) && i < piece->successor_count; i++) {
        const IrBlock *to = piece->block->last->targets[i];
        for (const IrValue *phi = to->first; phi && phi->op == IR_PHI; phi = phi->next)
            for (uint32_t k = 0; k < phi->operand_count; k++)
                if (to->predecessors[k] == piece->block && search->phases->homes[phi->id] != HOME_BLOCK)
                    need(search, phase, phi->operands[k]);
    }
}

static void find_needs(Search *search, Phase *phase)
{
    const Phases *phases = search->phases;
    for (uint32_t i = 0; i < phase->piece_count; i++) {
        const Piece *piece = &phases->pieces[phase->pieces[i]];
        for (const IrValue *value = piece->first; value != piece->end; value = value->next)
            for (uint32_t k = 0; value->op != IR_PHI && k < value->operand_count; k++)
                need(search, phase, value->operands[k]);
        for (uint32_t k = 0; piece->end && k < piece->end->operand_count; k++)
            need(search, phase, piece->end->operands[k]);
        need_on_edges(search, phase, piece);
    }
}

static void list_incoming(Search *search, Phase *phase)
{
    uint32_t number = (uint32_t)(phase - search->phases->phases) + 1, count = 0;
    phase->incoming = ARENA_ARRAY(search->arena, const IrValue *, phase->incoming_count + 1);
    for (const IrBlock *block = search->phases->kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (search->wanted[value->id] == number)
                phase->incoming[count++] = value;
}

/* --- homes ------------------------------------------------------------------------------------------------------------------------------ */

static uint32_t own_cost(const IrValue *value)
{
    switch (value->op) {
    case IR_PHI:
    case IR_CELL: return NOT_AGAIN; /* it would be as at first */
    case IR_INTRINSIC: return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER ? 1 : NOT_AGAIN;
    case IR_DIV:
    case IR_FLOORDIV:
    case IR_MOD:
    case IR_POW:
    case IR_POWI: return MOST_AGAIN / 2;
    default: return ir_op_info[value->op].flags & IR_FLAG_PURE ? 1 : NOT_AGAIN;
    }
}

static uint32_t cost_again(Search *search, const IrValue *value)
{
    if (search->phases->homes[value->id] == HOME_BLOCK)
        return 0;
    if (search->costs[value->id])
        return search->costs[value->id] - 1;
    uint32_t cost = own_cost(value);
    for (uint32_t i = 0; i < value->operand_count && cost <= MOST_AGAIN; i++)
        cost += cost_again(search, value->operands[i]);
    search->costs[value->id] = cost + 1;
    return cost;
}

static void choose_homes(Search *search)
{
    Phases *phases = search->phases;
    for (const IrBlock *block = phases->kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (search->crosses[value->id])
                phases->homes[value->id] = cost_again(search, value) <= MOST_AGAIN ? HOME_AGAIN : HOME_SLOT;
}

/* --- phis of leaders ---------------------------------------------------------------------------------------------------------------------- */

static bool uses_at(const Phases *phases, const IrValue *used, uint32_t place)
{
    const Piece *piece = &phases->pieces[place];
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
    const Phases *phases = search->phases;
    uint32_t depth = 0, home = phases->piece_of[phi->id];
    memset(search->seen, 0, phases->piece_count);
    search->seen[from] = search->seen[home] = true;
    for (search->stack[depth++] = from; depth;) {
        uint32_t place = search->stack[--depth];
        if (uses_at(phases, phi, place))
            return true;
        for (uint32_t i = 0; i < phases->pieces[place].successor_count; i++) {
            uint32_t next = phases->pieces[place].successors[i];
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
    const Phases *phases = search->phases;
    uint32_t home = phases->piece_of[phi->id];
    for (uint32_t i = 0; i < phi->block->predecessor_count; i++) {
        const Piece *from = &phases->pieces[phases->last_piece[phi->block->predecessors[i]->id]];
        for (uint32_t k = 0; from->is_step && from->step_count == 2 && k < 2; k++)
            if (from->steps[k] != home && is_needed_from(search, phi, from->steps[k]))
                return true;
    }
    return false;
}

static void find_entries(Search *search)
{
    Phases *phases = search->phases;
    phases->needs_entry = ARENA_ARRAY(search->arena, bool, phases->kernel->value_count);
    for (uint32_t i = 0; i < phases->phase_count; i++) {
        const Piece *leader = &phases->pieces[phases->phases[i].leader];
        for (const IrValue *phi = leader->first; phi && phi->op == IR_PHI; phi = phi->next)
            phases->needs_entry[phi->id] = phases->homes[phi->id] == HOME_SLOT && is_overwritten(search, phi);
    }
}

/* --- all -------------------------------------------------------------------------------------------------------------------------------------- */

bool find_phases(const IrFunc *kernel, bool may_raise, Arena *arena, Phases *out)
{
    *out = (Phases){.kernel = kernel};
    if (!find_steps(out, arena))
        return false;
    Search search = {.phases = out,
                     .arena = arena,
                     .crosses = ARENA_ARRAY(arena, bool, kernel->value_count),
                     .costs = ARENA_ARRAY(arena, uint32_t, kernel->value_count),
                     .wanted = ARENA_ARRAY(arena, uint32_t, kernel->value_count),
                     .stack = ARENA_ARRAY(arena, uint32_t, out->piece_count + 1),
                     .scratch = ARENA_ARRAY(arena, uint32_t, out->piece_count + 1),
                     .seen = ARENA_ARRAY(arena, bool, out->piece_count)};
    find_phase_list(&search, may_raise);
    order_phases(&search);
    for (uint32_t i = 0; i < out->phase_count; i++) {
        find_needs(&search, &out->phases[i]);
        list_incoming(&search, &out->phases[i]);
    }
    choose_homes(&search);
    find_entries(&search);
    return true;
}
