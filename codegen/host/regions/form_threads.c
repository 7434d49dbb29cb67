/* The loop over threads that a region becomes: what one thread does in it, from where all threads come to the region
 * together to where they leave it together. What all of them have alike is not made here. */
#include "codegen/host/regions/form.h"
#include "codegen/host/regions/thread_bounds.h"
#include "core/ir/ir_graph.h"

#include <string.h>

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
            form_store_slot(form, at, form_entry_slot(form, phi), form->values[phi->operands[place]->id]);
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

static void count_thread(IrBlock *at, IrValue *cell, const SourcePos *pos)
{
    const Type *type = cell->operands[0]->type;
    IrValue *count = ir_append(at, IR_CELL_LOAD, type, pos, 1, &cell);
    IrValue *one = ir_const_int(at, type, 1, pos);
    IrValue *more = ir_append(at, IR_ADD, type, pos, 2, (IrValue *[]){count, one});
    ir_append(at, IR_CELL_STORE, &type_none, pos, 2, (IrValue *[]){cell, more});
}

static IrBlock *thread_end(Form *form, const SourcePos *pos)
{
    if (!form->region->ends_threads || form->checks == CHECKS_ASKED)
        return form->loop;
    if (form->thread_end)
        return form->thread_end;
    IrBlock *end = form->thread_end = ir_block(form->out);
    form_store_slot(form, end, form->going, ir_const_int(end, TYPE_OF(BOOL), 0, pos));
    count_thread(end, form->ended, pos);
    ir_jump(end, form->loop, pos);
    return end;
}

/* All threads that fail a check come here. */
static IrBlock *failure(Form *form, const SourcePos *pos)
{
    if (form->failure)
        return form->failure;
    IrBlock *block = form->failure = ir_block(form->out);
    count_thread(block, form->failures, pos);
    ir_jump(block, form->loop, pos);
    return block;
}

/* Where checks are known to pass, the edge that is left; else -1. */
static int edge_that_passes(const Form *form, const IrValue *branch)
{
    if (form->checks != CHECKS_PASSED)
        return -1;
    for (int i = 0; i < 2; i++)
        if (fails_check(branch->targets[i]) && !fails_check(branch->targets[!i]))
            return !i;
    return -1;
}

static void copy_terminator(Form *form, IrBlock *to, const IrValue *value)
{
    switch (value->op) {
    case IR_JUMP: ir_jump(to, thread_target(form, value, 0), &value->pos); return;
    case IR_BRANCH: {
        if (is_bound(form->regions, &form->regions->pieces[form->regions->last_piece[value->block->id]])) {
            ir_jump(to, thread_target(form, value, value->hint == IR_BOUND_OUT), &value->pos);
            return;
        }
        int passes = value == form->passed ? 0 : edge_that_passes(form, value);
        if (passes >= 0) {
            ir_jump(to, thread_target(form, value, (uint32_t)passes), &value->pos);
            return;
        }
        IrBlock *yes = thread_target(form, value, 0), *no = thread_target(form, value, 1);
        ir_branch(to, form->values[value->operands[0]->id], yes, no, &value->pos);
        return;
    }
    case IR_RETURN: ir_jump(to, thread_end(form, &value->pos), &value->pos); return;
    case IR_RAISE:
        if (form->checks == CHECKS_ASKED) {
            ir_jump(to, failure(form, &value->pos), &value->pos);
            return;
        }
        form_copy_value(form, to, value);
        return;
    default: form_copy_value(form, to, value); return;
    }
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
        form_bring_to_exchange(form, to, piece->end);
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
        IrValue *given = form_load_slot(form->top, form_entry_slot(form, phi), &phi->pos);
        form->values[phi->id] = given;
        if (form->region->is_inside[place])
            form_add_way(form_phi(form, form->copies[place], phi, phi->operand_count + 1), form->top, given);
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

static bool is_left_out(const IrValue *value)
{
    return value->op == IR_STORE || value->op == IR_ATOMIC || value->op == IR_CELL_STORE;
}

/* Whether its condition holds in any thread, without a branch. */
static void ask_note(Form *form, IrBlock *to, const IrValue *note)
{
    const Type *type = form->failures->operands[0]->type;
    IrValue *holds = ir_append(to, IR_CONVERT, type, &note->pos, 1, &form->values[note->operands[0]->id]);
    IrValue *before = ir_append(to, IR_CELL_LOAD, type, &note->pos, 1, &form->failures);
    IrValue *any = ir_append(to, IR_OR, type, &note->pos, 2, (IrValue *[]){before, holds});
    ir_append(to, IR_CELL_STORE, &type_none, &note->pos, 2, (IrValue *[]){form->failures, any});
}

static void copy_note(Form *form, IrBlock *to, const IrValue *note)
{
    if (form->checks == CHECKS_KEPT)
        form_copy_value(form, to, note);
    else if (form->checks == CHECKS_ASKED)
        ask_note(form, to, note);
}

/* What a thread adds, and where: all that it does of a late addition here. */
static void keep_addition(Form *form, IrBlock *to, const IrValue *atomic)
{
    uint32_t count = atomic->operand_count;
    IrValue **operands = ARENA_ARRAY(form->arena, IrValue *, count);
    for (uint32_t i = 0; i < count; i++)
        operands[i] = form->values[atomic->operands[i]->id];
    IrValue *place = ir_append(to, IR_SUBARRAY, &type_memory, &atomic->pos, count - 1, operands);
    IrValue *where = ir_append(to, IR_ADDRESS, TYPE_OF(INT64), &atomic->pos, 1, &place), *what = operands[count - 1];
    if (atomic->atomic == IR_ATOMIC_SUB)
        what = ir_append(to, IR_NEG, what->type, &atomic->pos, 1, &what);
    where->hint = IR_ESCAPES; /* the array is written to, for all that asks who writes to it */
    form_store_slot(form, to, form->additions[2 * atomic->id], where);
    form_store_slot(form, to, form->additions[2 * atomic->id + 1], what);
}

static void copy_piece(Form *form, uint32_t place)
{
    const Piece *piece = &form->regions->pieces[place];
    bool is_leader = place == form->region->leader, is_last = place == form->region->last;
    const IrValue *value = piece->first;
    IrBlock *to = form->copies[place];
    form_enter_remade(form, place);
    for (; value != piece->end && value->op == IR_PHI; value = value->next)
        if (!is_leader && home_of(form, value) != HOME_UNIFORM)
            form_phi(form, to, value, value->operand_count);
    for (const IrValue *phi = piece->first; phi != value; phi = phi->next)
        if (!is_kept(form->regions, form->region, phi))
            form_keep(form, to, phi);
    for (; value != piece->end && value->next; value = value->next) {
        if (home_of(form, value) == HOME_UNIFORM || (form->checks == CHECKS_ASKED && is_left_out(value)))
            continue;
        if (value->op == IR_NOTE) {
            copy_note(form, to, value);
            continue;
        }
        if (form->has_late_additions && is_float_addition(value)) {
            keep_addition(form, to, value);
            continue;
        }
        if (form_is_made_already(form, value))
            continue;
        form_copy_value(form, to, value);
        form_keep(form, to, value);
    }
    if (is_last)
        copy_last_terminator(form, to, piece);
    else
        copy_terminator(form, to, piece->block->last);
    form_leave_remade(form, place);
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
                form_add_ways_inside(form, form->phis[phi->id], phi);
    }
}

static void form_body(Form *form)
{
    const Region *region = form->region;
    const Piece *pieces = form->regions->pieces;
    memset(form->copies, 0, form->regions->piece_count * sizeof *form->copies);
    for (uint32_t i = 0; i < region->piece_count; i++)
        form->copies[region->pieces[i]] =
            region->pieces[i] == region->leader && !region->is_inside[region->leader] ? form->top : ir_block(form->out);
    for (uint32_t i = 0; i < region->piece_count; i++)
        if (form->unrolled[pieces[region->pieces[i]].block->id] && region->is_inside[region->pieces[i]])
            form->copies[region->pieces[i]]->loop = IR_LOOP_UNROLL;
    for (uint32_t i = 0; i < region->incoming_count; i++)
        form_bring(form, form->top, region->incoming[i]);
    form_begin_remade(form);
    bring_phis(form, &form->regions->pieces[region->leader]);
    for (uint32_t i = 0; i < region->piece_count; i++)
        copy_piece(form, region->pieces[i]);
    fill_phis_inside(form);
    form_end_remade(form);
}

/* --- all threads -------------------------------------------------------------------------------------------------------- */

/* Where regions end behind the kernel's first tests, those that all threads have alike have been asked for there. */
static bool is_asked_once(const Form *form, const IrValue *test)
{
    return form->regions->shares_loads && home_of(form, test->operands[0]) == HOME_UNIFORM;
}

/* The tests that are to be made once, or by each thread; threads go to `out` that one keeps out. Returns where the others go
 * on. */
static IrBlock *form_tests_of(Form *form, IrBlock *to, IrBlock *out, bool is_once)
{
    uint32_t left = form->regions->is_bounded ? form->regions->kernel->block_count : 0;
    for (const IrBlock *block = form->regions->kernel->first; block && left--; block = next_bounded_block(block)) {
        const IrValue *test = block->last;
        if (test->op != IR_BRANCH || !test->hint || is_asked_once(form, test) != is_once)
            continue;
        IrBlock *pass = ir_block(form->out);
        form_make_again(form, to, test->operands[0]);
        bool is_in = test->hint == IR_BOUND_IN;
        ir_branch(to, form->values[test->operands[0]->id], is_in ? pass : out, is_in ? out : pass, &test->pos);
        to = pass;
    }
    return to;
}

/* Threads that the kernel's first tests keep out come back at once. Returns where the others go on. */
static IrBlock *form_tests(Form *form, IrBlock *to) { return form_tests_of(form, to, form->loop, false); }

static bool has_tests_of_threads(const Form *form)
{
    uint32_t left = form->regions->kernel->block_count;
    for (const IrBlock *block = form->regions->kernel->first; block && left--; block = next_bounded_block(block))
        if (block->last->op == IR_BRANCH && block->last->hint && !is_asked_once(form, block->last))
            return true;
    return false;
}

IrBlock *form_test_for_any(Form *form, IrBlock *from, IrBlock *none)
{
    from = form_tests_of(form, from, none, true);
    if (!has_tests_of_threads(form))
        return from;
    IrBlock *after = ir_block(form->out), *some = ir_block(form->out);
    IrValue *any = ir_append(form->entry, IR_CELL, &type_memory, NULL, 1, &form->zero);
    ir_append(from, IR_CELL_STORE, &type_none, NULL, 2, (IrValue *[]){any, form->zero});
    form->loop = ir_block(form->out);
    ir_jump(from, form->loop, NULL);
    IrValue *loop = ir_append(form->loop, IR_THREAD_LOOP, &type_none, NULL, 0, NULL);
    loop->targets[0] = after;
    loop->targets[1] = ir_block(form->out);
    IrBlock *passed = form_tests(form, loop->targets[1]);
    IrValue *one = ir_const_int(passed, TYPE_OF(INT32), 1, NULL);
    ir_append(passed, IR_CELL_STORE, &type_none, NULL, 2, (IrValue *[]){any, one});
    ir_jump(passed, form->loop, NULL);
    IrValue *count = ir_append(after, IR_CELL_LOAD, TYPE_OF(INT32), NULL, 1, &any);
    IrValue *is_none = ir_append(after, IR_EQ, TYPE_OF(BOOL), NULL, 2, (IrValue *[]){count, form->zero});
    ir_branch(after, is_none, none, some, NULL);
    return some;
}

/* Whether the loop has to know who has not ended, or to say so. */
static bool who_goes_on_matters(const Form *form)
{
    bool ends = form->region->ends_threads && form->checks == CHECKS_KEPT;
    return form->region->leader == 0 || !form->all_go_on || ends;
}

/* --- late additions ---------------------------------------------------------------------------------------------------------- */

/* The slots of the region's additions, in the program's order. */
static IrValue **slots_of_additions(Form *form, uint32_t *count)
{
    const Region *region = form->region;
    IrValue **slots = ARENA_ARRAY(form->arena, IrValue *, 2 * form->regions->kernel->value_count);
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &form->regions->pieces[region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next) {
            if (!is_float_addition(value))
                continue;
            slots[(*count)++] = form->additions[2 * value->id] = form_slot(form, TYPE_OF(INT64));
            slots[(*count)++] = form->additions[2 * value->id + 1] = form_slot(form, value->type);
        }
    }
    return slots;
}

/* No thread adds anything, so far. */
static IrBlock *form_no_additions(Form *form, IrBlock *from, IrValue **slots, uint32_t count)
{
    IrBlock *after = ir_block(form->out), *body = ir_block(form->out), *at = ir_block(form->out);
    ir_jump(from, at, NULL);
    IrValue *loop = ir_append(at, IR_THREAD_LOOP, &type_none, NULL, 0, NULL);
    loop->targets[0] = after;
    loop->targets[1] = body;
    loop->hint = IR_THREADS_INDEPENDENT;
    IrValue *none = ir_const_int(body, TYPE_OF(INT64), 0, NULL);
    for (uint32_t i = 0; i < count; i += 2)
        form_store_slot(form, body, slots[i], none);
    ir_jump(body, at, NULL);
    return after;
}

/* --- the loop -------------------------------------------------------------------------------------------------------------- */

/* The loop over threads, entered from `from`. Returns the block behind it. */
IrBlock *form_threads(Form *form, IrBlock *from)
{
    IrValue **slots = NULL;
    uint32_t slot_count = 0;
    form->has_late_additions = form->region->has_late_additions && form->checks != CHECKS_ASKED &&
                               (form->checks == CHECKS_PASSED || !form->region->is_tested);
    if (form->has_late_additions) {
        slots = slots_of_additions(form, &slot_count);
        from = form_no_additions(form, from, slots, slot_count);
    }
    IrBlock *after = ir_block(form->out);
    IrValue *operands[2] = {form->going, form->ended};
    form->loop = ir_block(form->out);
    form->top = ir_block(form->out);
    form->thread_end = form->failure = NULL;
    ir_jump(from, form->loop, NULL);
    bool asks = form->going && form->checks != CHECKS_ASKED && who_goes_on_matters(form);
    IrValue *loop = ir_append(form->loop, IR_THREAD_LOOP, &type_none, NULL, asks ? 2 : 0, operands);
    loop->targets[0] = after;
    loop->targets[1] = form->top;
    bool is_independent = keeps_order(form->regions, form->region, !form->has_late_additions, form->arena);
    loop->hint = is_independent ? IR_THREADS_INDEPENDENT : 0;
    if (asks && (form->all_go_on || form->region->leader == 0))
        loop->hint |= IR_THREADS_BEGIN;
    form->top = form_tests(form, form->top);
    form_body(form);
    if (form->has_late_additions)
        ir_append(after, IR_ADDITIONS, &type_none, NULL, slot_count, slots);
    return after;
}

/* --- whether there is anything to do ------------------------------------------------------------------------------------ */

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
    bool ends_thread = value->op == IR_RAISE || value->op == IR_TRAP;
    return ends_thread || (ir_has_effect(value) && !(ir_op_info[value->op].flags & IR_FLAG_TERMINATOR));
}

/* Whether threads have anything to do in the region. */
bool form_has_work(Form *form)
{
    const Regions *regions = form->regions;
    const Region *region = form->region;
    const Piece *last = &regions->pieces[region->last];
    if (last->end && is_exchange(last->end) && form_brings(form, last->end))
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
