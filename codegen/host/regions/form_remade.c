/* Values that threads have when they come to a region, and may make again in it. Before: one operation makes the value, and
 * every use of it is behind. After: the region's copy of that operation is on some of its ways only, and where ways meet a phi
 * has what came with the thread or was made since. So it is where an outer loop's threads meet in an inner one:
 *
 *     for w in range(m):                  the region behind the barrier begins with the test of k: a thread that leaves the
 *         n = x[w]                        inner loop goes on with the outer one, loads n anew, and comes to that test again,
 *         for k in range(n):              while others still have the n that they came with.
 *             cuda.syncthreads()
 *
 * What is cheaply made of what all threads have alike is the same whenever it is made: that is done once, at the beginning. */
#include "codegen/host/regions/form.h"

/* What came with the thread has no use in the piece then. */
static bool is_made_in_piece(const Form *form, const IrValue *value, uint32_t piece)
{
    return form->regions->piece_of[value->id] == piece;
}

static IrValue **remade_at(const Form *form, uint32_t piece)
{
    return form->remade_at + (size_t)piece * form->region->remade_count;
}

void form_begin_remade(Form *form)
{
    const Region *region = form->region;
    uint32_t count = region->remade_count;
    form->joins = ARENA_ARRAY(form->arena, PendingPhi *, (size_t)form->regions->piece_count * count + 1);
    form->remade_at = ARENA_ARRAY(form->arena, IrValue *, (size_t)form->regions->piece_count * count + 1);
    form->brought = ARENA_ARRAY(form->arena, IrValue *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        form->remade[region->remade[i]->id] = 1 + i;
        form->brought[i] = form->values[region->remade[i]->id];
    }
}

bool form_is_made_already(const Form *form, const IrValue *value)
{
    return form->remade[value->id] && home_of(form, value) == HOME_REMATERIALIZE;
}

void form_enter_remade(Form *form, uint32_t piece)
{
    const Region *region = form->region;
    const IrBlock *block = form->regions->pieces[piece].block;
    for (uint32_t i = 0; i < region->remade_count; i++) {
        const IrValue *value = region->remade[i];
        IrValue **stands = &form->values[value->id];
        if (!region->is_inside[piece] || home_of(form, value) == HOME_REMATERIALIZE) {
            *stands = form->brought[i];
        } else if (piece != region->leader && block->predecessor_count == 1) {
            *stands = remade_at(form, form->regions->last_piece[block->predecessors[0]->id])[i];
        } else if (!is_made_in_piece(form, value, piece)) {
            PendingPhi *join = form_join(form, form->copies[piece], value, block->predecessor_count + 1);
            form->joins[(size_t)piece * region->remade_count + i] = join;
            *stands = join->phi;
        }
    }
}

void form_leave_remade(Form *form, uint32_t piece)
{
    for (uint32_t i = 0; i < form->region->remade_count; i++)
        remade_at(form, piece)[i] = form->values[form->region->remade[i]->id];
}

IrValue *form_value_behind(const Form *form, uint32_t piece, const IrValue *value)
{
    uint32_t place = form->remade[value->id];
    return place ? remade_at(form, piece)[place - 1] : form->values[value->id];
}

static void fill_join(Form *form, PendingPhi *join, uint32_t piece, uint32_t i)
{
    const Region *region = form->region;
    const IrBlock *block = form->regions->pieces[piece].block;
    if (piece == region->leader)
        form_add_way(join, form->top, form->brought[i]);
    for (uint32_t k = 0; k < block->predecessor_count; k++) {
        uint32_t from = form->regions->last_piece[block->predecessors[k]->id];
        if (form->copies[from])
            form_add_way(join, form->copies[from], remade_at(form, from)[i]);
    }
}

void form_end_remade(Form *form)
{
    const Region *region = form->region;
    uint32_t count = region->remade_count;
    for (uint32_t k = 0; k < region->piece_count; k++)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t piece = region->pieces[k];
            PendingPhi *join = form->joins[(size_t)piece * count + i];
            if (join)
                fill_join(form, join, piece, i);
        }
    for (uint32_t i = 0; i < count; i++)
        form->remade[region->remade[i]->id] = 0;
}
