/* Rebuilds a kernel whose threads meet as one function for all threads of a block. Before: threads that wait at barriers.
 * After: control flow that all threads share, with a thread_loop for each region between two of their collectives. What all
 * threads have alike is computed once, outside of these loops; what a thread needs of another region is computed again there
 * or spilled into a slot and reloaded; a collective that exchanges values does so with all threads' slots at once. */
#include <string.h>

#include "codegen/op/array_emit.h"
#include "codegen/op/parts.h"
#include "codegen/host/inline_collectives.h"
#include "codegen/host/regions/regions.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum { MOST_CONTEXT = 16 << 10 /* bytes for each thread */, WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC };

/* A phi whose operands are put in order once all blocks are linked. */
typedef struct PendingPhi PendingPhi;
struct PendingPhi {
    PendingPhi *next;
    IrValue *phi;
    uint32_t count;
    IrBlock **from;
    IrValue **values;
};

typedef struct Form {
    const Regions *regions;
    Arena *arena; /* dies with the pass */
    IrFunc *out;
    IrBlock *entry; /* without its end as yet */
    IrBlock *done; /* ends the function; NULL: not needed so far */
    IrBlock **starts, **ends; /* by region: where all threads come to it together, and where they leave it */
    IrValue **values; /* by IrValue.id: what stands for it, in the region at hand where each has its own */
    IrValue **slots, **entries; /* by IrValue.id: where it is spilled; where a leader's phi finds its next value */
    IrValue **results; /* by IrValue.id: of an exchange */
    IrValue **locals; /* by IrValue.id: the array in the entry */
    PendingPhi **phis; /* by IrValue.id: what stands for a phi */
    IrValue *given, *places; /* slots of what threads bring to an exchange */
    IrValue *going, *going_count; /* the slot of who has not ended, and the cell of how many; NULL: nobody ends early */
    PendingPhi *pending;
    /* the region at hand */
    const Region *region;
    IrBlock **copies; /* by piece */
    IrBlock *loop, *top; /* of the loop over threads: its own block and the first one of its body */
    IrBlock *thread_end; /* where a thread ends for good; NULL: not needed so far */
} Form;

static ValueHome home_of(const Form *form, const IrValue *value) { return (ValueHome)form->regions->homes[value->id]; }

/* --- values ------------------------------------------------------------------------------------------------------------- */

static IrValue *slot_of_type(Form *form, const Type *type)
{
    return ir_append(form->entry, IR_SLOT, type, NULL, 0, NULL);
}

static IrValue *slot_once(Form *form, IrValue **slot, const Type *type)
{
    if (!*slot)
        *slot = slot_of_type(form, type);
    return *slot;
}

static IrValue *slot_of(Form *form, const IrValue *value)
{
    return slot_once(form, &form->slots[value->id], value->type);
}

/* Where a leader's phi finds its value. */
static IrValue *entry_of(Form *form, const IrValue *phi)
{
    bool is_one = home_of(form, phi) == HOME_SPILL && !form->regions->needs_entry[phi->id];
    return is_one ? slot_of(form, phi) : slot_once(form, &form->entries[phi->id], phi->type);
}

static IrValue *result_of(Form *form, const IrValue *collective)
{
    return slot_once(form, &form->results[collective->id], TYPE_OF(UINT64));
}

static IrValue *load_slot(IrBlock *to, IrValue *slot, const SourcePos *pos)
{
    return ir_append(to, IR_SLOT_LOAD, slot->type, pos, 1, &slot);
}

static void store_slot(IrBlock *to, IrValue *slot, IrValue *value)
{
    ir_append(to, IR_SLOT_STORE, &type_none, &value->pos, 2, (IrValue *[]){slot, value});
}

static IrValue *convert(IrBlock *to, IrValue *value, const Type *type)
{
    return type_equal(value->type, type) ? value : ir_append(to, IR_CONVERT, type, &value->pos, 1, &value);
}

/* The thread's own array lies in a slot of the whole array. */
static IrValue *load_local(Form *form, IrBlock *to, const IrValue *local)
{
    IrValue **whole = &form->locals[local->id];
    if (!*whole)
        *whole = ir_copy_value(form->entry, local, NULL);
    return load_slot(to, *whole, &local->pos);
}

static void copy_value(Form *form, IrBlock *to, const IrValue *value)
{
    IrValue **operands = ARENA_ARRAY(form->arena, IrValue *, value->operand_count + 1);
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = form->values[value->operands[i]->id];
    form->values[value->id] = value->op == IR_LOCAL ? load_local(form, to, value) : ir_copy_value(to, value, operands);
}

static void keep(Form *form, IrBlock *to, const IrValue *value)
{
    if (home_of(form, value) == HOME_SPILL)
        store_slot(to, slot_of(form, value), form->values[value->id]);
}

/* Its operands first. So deep only as its cost allows. */
static void rematerialize(Form *form, IrBlock *to, const IrValue *value)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (home_of(form, value->operands[i]) != HOME_UNIFORM)
            rematerialize(form, to, value->operands[i]);
    copy_value(form, to, value);
}

static void bring(Form *form, IrBlock *to, const IrValue *value)
{
    if (home_of(form, value) == HOME_REMATERIALIZE)
        rematerialize(form, to, value);
    else if (is_collective(value))
        form->values[value->id] = convert(to, load_slot(to, result_of(form, value), &value->pos), value->type);
    else
        form->values[value->id] = load_slot(to, slot_of(form, value), &value->pos);
}

/* --- phis --------------------------------------------------------------------------------------------------------------- */

static PendingPhi *new_phi(Form *form, IrBlock *to, const IrValue *phi, uint32_t most)
{
    PendingPhi *made = ARENA_NEW(form->arena, PendingPhi);
    *made = (PendingPhi){.next = form->pending,
                         .phi = ir_phi(to, phi->type, &phi->pos, 0),
                         .from = ARENA_ARRAY(form->arena, IrBlock *, most + 1),
                         .values = ARENA_ARRAY(form->arena, IrValue *, most + 1)};
    form->values[phi->id] = made->phi;
    form->phis[phi->id] = made;
    return form->pending = made;
}

static void add_way(PendingPhi *pending, IrBlock *from, IrValue *value)
{
    pending->from[pending->count] = from;
    pending->values[pending->count++] = value;
}

/* The ways inside of the region by which control comes to the phi. */
static void add_ways_inside(Form *form, PendingPhi *pending, const IrValue *phi)
{
    const Regions *regions = form->regions;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        IrBlock *from = form->copies[regions->last_piece[phi->block->predecessors[i]->id]];
        if (from)
            add_way(pending, from, form->values[phi->operands[i]->id]);
    }
}

/* Predecessors come in the order of the blocks; one that leads to the block twice, in that of its targets. */
static void finish_phi(const Form *form, const PendingPhi *pending)
{
    IrValue *phi = pending->phi;
    bool *taken = ARENA_ARRAY(form->arena, bool, pending->count + 1);
    phi->operand_count = phi->block->predecessor_count;
    phi->operands = ARENA_ARRAY(form->out->module->arena, IrValue *, phi->operand_count + 1);
    for (uint32_t i = 0; i < phi->operand_count; i++)
        for (uint32_t k = 0; k < pending->count && !phi->operands[i]; k++)
            if (!taken[k] && pending->from[k] == phi->block->predecessors[i]) {
                taken[k] = true;
                phi->operands[i] = pending->values[k];
            }
}

/* --- edges -------------------------------------------------------------------------------------------------------------- */

static bool hands_to(const Form *form, const IrBlock *block)
{
    for (const IrValue *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next)
        if (home_of(form, phi) != HOME_UNIFORM)
            return true;
    return false;
}

/* Hands their values to the phis of a leader; of two edges from one branch to one place it is the index-th. */
static void hand_over(Form *form, IrBlock *at, const IrBlock *from, const IrBlock *to, uint32_t index)
{
    uint32_t place = 0;
    while (to->predecessors[place] != from)
        place++;
    if (index && from->last->targets[0] == from->last->targets[1])
        place++;
    for (const IrValue *phi = to->first; phi && phi->op == IR_PHI; phi = phi->next)
        if (home_of(form, phi) != HOME_UNIFORM)
            store_slot(at, entry_of(form, phi), form->values[phi->operands[place]->id]);
}

/* Where a thread goes by the terminator's edge of that number. */
static IrBlock *thread_target(Form *form, const IrValue *terminator, uint32_t index)
{
    const IrBlock *to = terminator->targets[index];
    uint32_t piece = form->regions->first_piece[to->id];
    if (form->region->is_inside[piece])
        return form->copies[piece];
    if (!hands_to(form, to))
        return form->loop;
    IrBlock *edge = ir_block(form->out);
    hand_over(form, edge, terminator->block, to, index);
    ir_jump(edge, form->loop, &terminator->pos);
    return edge;
}

static IrBlock *thread_end(Form *form, const SourcePos *pos)
{
    if (!form->region->ends_threads)
        return form->loop;
    if (form->thread_end)
        return form->thread_end;
    IrBlock *end = form->thread_end = ir_block(form->out);
    store_slot(end, form->going, ir_const_int(end, TYPE_OF(BOOL), 0, pos));
    IrValue *count = ir_append(end, IR_CELL_LOAD, TYPE_OF(INT32), pos, 1, &form->going_count);
    IrValue *one = ir_const_int(end, TYPE_OF(INT32), 1, pos);
    IrValue *left = ir_append(end, IR_SUB, TYPE_OF(INT32), pos, 2, (IrValue *[]){count, one});
    ir_append(end, IR_CELL_STORE, &type_none, pos, 2, (IrValue *[]){form->going_count, left});
    ir_jump(end, form->loop, pos);
    return end;
}

static void copy_terminator(Form *form, IrBlock *to, const IrValue *value)
{
    switch (value->op) {
    case IR_JUMP: ir_jump(to, thread_target(form, value, 0), &value->pos); return;
    case IR_BRANCH: {
        IrBlock *yes = thread_target(form, value, 0), *no = thread_target(form, value, 1);
        ir_branch(to, form->values[value->operands[0]->id], yes, no, &value->pos);
        return;
    }
    case IR_RETURN: ir_jump(to, thread_end(form, &value->pos), &value->pos); return;
    default: copy_value(form, to, value); return;
    }
}

/* --- exchanges ---------------------------------------------------------------------------------------------------------- */

/* What a lane asks of a shuffle, as HostServices.exchange has it. */
static IrValue *asked_place(Form *form, IrBlock *to, const IrValue *shuffle)
{
    const Type *type = TYPE_OF(UINT32);
    const SourcePos *pos = &shuffle->pos;
    IrValue *lane = convert(to, form->values[shuffle->operands[2]->id], type);
    IrValue *width = convert(to, form->values[shuffle->operands[3]->id], type);
    IrValue *place = ir_append(to, IR_AND, type, pos, 2, (IrValue *[]){lane, ir_const_int(to, type, 31, pos)});
    IrValue *segment = ir_append(to, IR_SUB, type, pos, 2, (IrValue *[]){ir_const_int(to, type, 32, pos), width});
    segment = ir_append(to, IR_SHL, type, pos, 2, (IrValue *[]){segment, ir_const_int(to, type, 8, pos)});
    return ir_append(to, IR_OR, type, pos, 2, (IrValue *[]){place, segment});
}

/* A thread brings its value, and the place that a shuffle asks for. */
static void bring_to_exchange(Form *form, IrBlock *to, const IrValue *collective)
{
    const IrValue *value = collective->operands[is_block_vote(collective) ? 0 : 1];
    IrValue *given = convert(to, form->values[value->id], TYPE_OF(UINT64));
    store_slot(to, slot_once(form, &form->given, TYPE_OF(UINT64)), given);
    if (intrinsic_info[collective->intrinsic].family == FAMILY_SHUFFLE)
        store_slot(to, slot_once(form, &form->places, TYPE_OF(UINT32)), asked_place(form, to, collective));
}

/* All threads have brought theirs. */
static void form_exchange(Form *form, IrBlock *to, const IrValue *collective)
{
    IrValue *operands[4];
    uint32_t count = 0;
    bool is_vote = is_block_vote(collective);
    operands[count++] = form->given;
    if (intrinsic_info[collective->intrinsic].family == FAMILY_SHUFFLE)
        operands[count++] = form->places;
    if (form->going)
        operands[count++] = form->going;
    if (!is_vote)
        operands[count++] = result_of(form, collective);
    IrValue *made =
        ir_append(to, IR_EXCHANGE, is_vote ? collective->type : &type_none, &collective->pos, count, operands);
    made->intrinsic = collective->intrinsic;
    if (is_vote)
        form->values[collective->id] = made;
}

/* --- one thread's part of a region -------------------------------------------------------------------------------------- */

/* How the last step of a region ends in the loop over threads. Where they go from there is decided outside. */
static void copy_last_terminator(Form *form, IrBlock *to, const Piece *piece)
{
    const IrValue *terminator = has_terminator(piece) ? piece->block->last : NULL;
    if (terminator && (diverges(form->regions, piece) || terminator->op == IR_RAISE || terminator->op == IR_TRAP)) {
        copy_terminator(form, to, terminator);
        return;
    }
    if (piece->end && is_exchange(piece->end))
        bring_to_exchange(form, to, piece->end);
    for (uint32_t i = 0; terminator && i < piece->step_count; i++)
        hand_over(form, to, piece->block, terminator->targets[i], i);
    ir_jump(to, form->loop, terminator ? &terminator->pos : &piece->end->pos);
}

/* The leader's phis have what the region before handed over; where the region comes back to its leader they are phis. */
static void bring_phis(Form *form, const Piece *leader)
{
    uint32_t place = form->region->leader;
    for (const IrValue *phi = leader->first; phi && phi->op == IR_PHI; phi = phi->next) {
        if (home_of(form, phi) == HOME_UNIFORM)
            continue;
        IrValue *given = load_slot(form->top, entry_of(form, phi), &phi->pos);
        form->values[phi->id] = given;
        if (form->region->is_inside[place])
            add_way(new_phi(form, form->copies[place], phi, phi->operand_count + 1), form->top, given);
    }
    if (form->copies[place] != form->top)
        ir_jump(form->top, form->copies[place], &leader->first->pos);
}

/* Whether a phi at the region's beginning already is where it is kept. */
static bool is_kept(const Regions *regions, const Region *region, const IrValue *phi)
{
    uint32_t piece = regions->piece_of[phi->id];
    return piece == region->leader && !region->is_inside[piece] && !regions->needs_entry[phi->id];
}

static void copy_piece(Form *form, uint32_t place)
{
    const Piece *piece = &form->regions->pieces[place];
    bool is_leader = place == form->region->leader, is_last = place == form->region->last;
    const IrValue *value = piece->first;
    IrBlock *to = form->copies[place];
    for (; value != piece->end && value->op == IR_PHI; value = value->next)
        if (!is_leader && home_of(form, value) != HOME_UNIFORM)
            new_phi(form, to, value, value->operand_count);
    for (const IrValue *phi = piece->first; phi != value; phi = phi->next)
        if (!is_kept(form->regions, form->region, phi))
            keep(form, to, phi);
    for (; value != piece->end && value->next; value = value->next) {
        if (home_of(form, value) == HOME_UNIFORM)
            continue;
        copy_value(form, to, value);
        keep(form, to, value);
    }
    if (is_last)
        copy_last_terminator(form, to, piece);
    else
        copy_terminator(form, to, piece->block->last);
}

static void fill_phis_inside(Form *form)
{
    const Regions *regions = form->regions;
    for (uint32_t i = 0; i < form->region->piece_count; i++) {
        uint32_t place = form->region->pieces[i];
        if (!form->region->is_inside[place])
            continue;
        for (const IrValue *phi = regions->pieces[place].first; phi && phi->op == IR_PHI; phi = phi->next)
            if (home_of(form, phi) != HOME_UNIFORM)
                add_ways_inside(form, form->phis[phi->id], phi);
    }
}

static void form_body(Form *form)
{
    const Region *region = form->region;
    memset(form->copies, 0, form->regions->piece_count * sizeof *form->copies);
    for (uint32_t i = 0; i < region->piece_count; i++)
        form->copies[region->pieces[i]] =
            region->pieces[i] == region->leader && !region->is_inside[region->leader] ? form->top : ir_block(form->out);
    for (uint32_t i = 0; i < region->incoming_count; i++)
        bring(form, form->top, region->incoming[i]);
    bring_phis(form, &form->regions->pieces[region->leader]);
    for (uint32_t i = 0; i < region->piece_count; i++)
        copy_piece(form, region->pieces[i]);
    fill_phis_inside(form);
}

/* --- all threads -------------------------------------------------------------------------------------------------------- */

/* The loop over threads, entered from `from`. Returns the block behind it. */
static IrBlock *form_threads(Form *form, IrBlock *from)
{
    IrBlock *after = ir_block(form->out);
    IrValue *operands[2] = {form->going, form->going_count};
    form->loop = ir_block(form->out);
    form->top = ir_block(form->out);
    form->thread_end = NULL;
    ir_jump(from, form->loop, NULL);
    IrValue *loop = ir_append(form->loop, IR_THREAD_LOOP, &type_none, NULL, form->going ? 2 : 0, operands);
    loop->targets[0] = after;
    loop->targets[1] = form->top;
    loop->hint = keeps_order(form->regions, form->region, form->arena) ? IR_THREADS_INDEPENDENT : 0;
    if (form->going && form->region->leader == 0)
        loop->hint |= IR_THREADS_BEGIN;
    form_body(form);
    return after;
}

static bool hands_over(const Form *form, const Piece *piece)
{
    for (uint32_t i = 0; has_terminator(piece) && i < piece->successor_count; i++)
        if (hands_to(form, piece->block->last->targets[i]))
            return true;
    return false;
}

static bool has_effect(const Form *form, const IrValue *value)
{
    if (value->op == IR_CELL)
        return true;
    if (home_of(form, value) == HOME_SPILL)
        return value->op != IR_PHI || !is_kept(form->regions, form->region, value);
    if (value->op == IR_INTRINSIC)
        return intrinsic_info[value->intrinsic].kind != INTRINSIC_KIND_REGISTER &&
               intrinsic_info[value->intrinsic].kind != INTRINSIC_KIND_MATH;
    return value->op == IR_RAISE || value->op == IR_TRAP ||
           !(ir_op_info[value->op].flags & (IR_FLAG_PURE | IR_FLAG_TERMINATOR));
}

/* Whether threads have anything to do in the region. */
static bool has_work(const Form *form)
{
    const Regions *regions = form->regions;
    const Region *region = form->region;
    const Piece *last = &regions->pieces[region->last];
    if (last->end && is_exchange(last->end))
        return true;
    if (diverges(regions, last) || hands_over(form, last) || (region->leader == 0 && form->going))
        return true;
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        for (const IrValue *value = piece->first; value != piece->end; value = value->next)
            if (!piece->is_uniform || has_effect(form, value))
                return true;
    }
    return false;
}

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
                new_phi(form, to, value, form->regions->region_count);
            else if (value->op == IR_PHI)
                form->values[value->id] = form->values[value->operands[0]->id];
            else
                copy_value(form, to, value);
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

/* Where all threads have ended, the block has. Returns where the others go on. */
static IrBlock *test_for_end(Form *form, IrBlock *from)
{
    IrBlock *some = ir_block(form->out);
    IrValue *count = ir_append(from, IR_CELL_LOAD, TYPE_OF(INT32), NULL, 1, &form->going_count);
    IrValue *zero = ir_const_int(from, TYPE_OF(INT32), 0, NULL);
    IrValue *none = ir_append(from, IR_EQ, TYPE_OF(BOOL), NULL, 2, (IrValue *[]){count, zero});
    ir_branch(from, none, done_block(form), some, NULL);
    return some;
}

static void form_ways_on(Form *form, IrBlock *from)
{
    const Piece *pieces = form->regions->pieces, *last = &pieces[form->region->last];
    const SourcePos *pos = has_terminator(last) ? &last->block->last->pos : &last->end->pos;
    IrBlock *ways[2] = {NULL, NULL};
    for (uint32_t i = 0; i < last->step_count; i++)
        ways[i] = form->starts[pieces[last->steps[i]].region];
    if (form->region->ends_threads)
        from = test_for_end(form, from);
    form->ends[form->region - form->regions->regions] = from;
    if (last->step_count == 2)
        ir_branch(from, form->values[last->block->last->operands[0]->id], ways[0], ways[1], pos);
    else
        ir_jump(from, last->step_count ? ways[0] : done_block(form), pos);
}

static void form_region(Form *form, const Region *region)
{
    form->region = region;
    IrBlock *block = form->starts[region - form->regions->regions];
    form_uniform_part(form, block);
    if (has_work(form))
        block = form_threads(form, block);
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
                add_way(form->phis[phi->id], form->ends[region - regions->regions],
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
                copy_value(form, form->entry, value);
    if (!form->regions->ends_threads)
        return;
    IrValue *count = NULL;
    for (uint32_t axis = 0; axis < 3; axis++) {
        IrValue *dim = ir_append(form->entry, IR_INTRINSIC, TYPE_OF(INT32), NULL, 0, NULL);
        dim->intrinsic = intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, axis);
        count = count ? ir_append(form->entry, IR_MUL, TYPE_OF(INT32), NULL, 2, (IrValue *[]){count, dim}) : dim;
    }
    form->going = slot_of_type(form, TYPE_OF(BOOL));
    form->going_count = ir_append(form->entry, IR_CELL, &type_memory, NULL, 1, &count);
}

/* Definitions before uses; blocks that nothing leads to go. */
static void sort_blocks(Form *form)
{
    const IrGraph *graph = ir_graph(form->out, form->arena);
    for (uint32_t i = 0; i < graph->count; i++)
        graph->order[i]->next = i + 1 < graph->count ? graph->order[i + 1] : NULL;
    form->out->last = graph->order[graph->count - 1];
    ir_link_blocks(form->out);
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
    sort_blocks(form);
    for (const PendingPhi *pending = form->pending; pending; pending = pending->next)
        finish_phi(form, pending);
    ir_renumber(form->out);
}

/* Puts `made`, the module's last function, in the place of its kernel, and removes the functions that are gone. */
static void replace_kernel(IrModule *module, IrFunc *made, const bool *gone)
{
    IrFunc *next, *last = made;
    uint32_t place = 1;
    module->function_count = 1;
    for (IrFunc *function = module->first->next; function != made; function = next, place++) {
        next = function->next;
        if (gone[place])
            continue;
        last = last->next = function;
        module->function_count++;
    }
    last->next = NULL;
    module->first = made;
    module->last = last;
}

static void rebuild(IrModule *module, const Regions *regions, const bool *gone, Arena *arena)
{
    const IrFunc *kernel = regions->kernel;
    uint32_t values = kernel->value_count + 1, count = regions->region_count + 1;
    Form form = {.regions = regions,
                 .arena = arena,
                 .out = ir_function(module, kernel->name, kernel->source, true, kernel->result, kernel->parameter_count,
                                    kernel->parameter_types, kernel->parameter_names),
                 .starts = ARENA_ARRAY(arena, IrBlock *, count),
                 .ends = ARENA_ARRAY(arena, IrBlock *, count),
                 .values = ARENA_ARRAY(arena, IrValue *, values),
                 .slots = ARENA_ARRAY(arena, IrValue *, values),
                 .entries = ARENA_ARRAY(arena, IrValue *, values),
                 .results = ARENA_ARRAY(arena, IrValue *, values),
                 .locals = ARENA_ARRAY(arena, IrValue *, values),
                 .phis = ARENA_ARRAY(arena, PendingPhi *, values),
                 .copies = ARENA_ARRAY(arena, IrBlock *, regions->piece_count + 1)};
    form.out->reports = kernel->reports;
    form_function(&form);
    replace_kernel(module, form.out, gone);
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

void form_parallel_regions(IrModule *module)
{
    if (!module->first->is_kernel || !(ir_module_effects(module) & WAITS))
        return;
    Arena *arena = arena_create();
    bool *raises = ARENA_ARRAY(arena, bool, module->function_count);
    bool *gone = ARENA_ARRAY(arena, bool, module->function_count);
    Regions regions;
    const IrFunc *kernel = inline_collectives(module, arena, gone);
    ir_raising_functions(module, raises);
    if (kernel && has_known_collectives(kernel) && find_regions(kernel, raises[0], arena, &regions) &&
        bytes_kept(&regions) <= MOST_CONTEXT)
        rebuild(module, &regions, gone, arena);
    arena_destroy(arena);
}
