/* What stands for a kernel's values in the function that is made of its regions: copies, values that are computed again,
 * slots and what is loaded of them, phis, and exchanges between the slots of all threads. In which block, the caller says. */
#include "codegen/host/regions/form.h"
#include "codegen/host/regions/thread_bounds.h"

/* --- values ------------------------------------------------------------------------------------------------------------- */

IrValue *form_slot(Form *form, const Type *type) { return ir_append(form->entry, IR_SLOT, type, NULL, 0, NULL); }

static IrValue *slot_once(Form *form, IrValue **slot, const Type *type)
{
    if (!*slot)
        *slot = form_slot(form, type);
    return *slot;
}

static IrValue *slot_of(Form *form, const IrValue *value)
{
    return slot_once(form, &form->slots[value->id], value->type);
}

/* Where a leader's phi finds its value. */
IrValue *form_entry_slot(Form *form, const IrValue *phi)
{
    bool is_one = home_of(form, phi) == HOME_SPILL && !form->regions->needs_entry[phi->id];
    return is_one ? slot_of(form, phi) : slot_once(form, &form->entries[phi->id], phi->type);
}

/* What a thread brings, and gets. */
static const Type *word_of(const IrValue *collective)
{
    IntrinsicFamily family = intrinsic_info[collective->intrinsic].family;
    bool has_size = family == FAMILY_SHUFFLE || family == FAMILY_VOTE;
    return has_size && collective->operands[1]->type->size <= 4 ? TYPE_OF(UINT32) : TYPE_OF(UINT64);
}

static IrValue *result_of(Form *form, const IrValue *collective)
{
    return slot_once(form, &form->results[collective->id], word_of(collective));
}

static IrValue *given_to(Form *form, const IrValue *collective)
{
    const Type *word = word_of(collective);
    return slot_once(form, &form->given[word->size == 8], word);
}

IrValue *form_load_slot(IrBlock *to, IrValue *slot, const SourcePos *pos)
{
    return ir_append(to, IR_SLOT_LOAD, slot->type, pos, 1, &slot);
}

void form_store_slot(const Form *form, IrBlock *to, IrValue *slot, IrValue *value)
{
    if (form->checks == CHECKS_ASKED)
        return;
    ir_append(to, IR_SLOT_STORE, &type_none, &value->pos, 2, (IrValue *[]){slot, value});
}

static IrValue *convert(IrBlock *to, IrValue *value, const Type *type)
{
    return type_equal(value->type, type) ? value : ir_append(to, IR_CONVERT, type, &value->pos, 1, &value);
}

/* The thread's own array lies in a slot of the whole array, at once or spread. */
static IrValue *load_local(Form *form, IrBlock *to, const IrValue *local)
{
    IrValue **whole = &form->locals[local->id];
    if (!*whole)
        *whole = ir_copy_value(form->entry, local, NULL);
    const Type *type = local->type;
    if (form->regions->is_spread[local->id])
        type = type_array_like(form->out->module->arena, type, type->ndim, LAYOUT_ANY);
    return ir_append(to, IR_SLOT_LOAD, type, &local->pos, 1, whole);
}

/* Where the region's test asks, or has asked, whether the index is one without counting from the end. */
static bool is_plain_index(const Form *form, const IrValue *value)
{
    const Regions *regions = form->regions;
    return value->op == IR_WRAP && form->checks != CHECKS_KEPT &&
           regions->wrap_tests[value->id] == 1 + (uint32_t)(form->region - regions->regions);
}

void form_copy_value(Form *form, IrBlock *to, const IrValue *value)
{
    if (is_plain_index(form, value)) {
        form->values[value->id] = form->values[value->operands[0]->id];
        return;
    }
    IrValue **operands = ARENA_ARRAY(form->arena, IrValue *, value->operand_count + 1);
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = form->values[value->operands[i]->id];
    form->values[value->id] = value->op == IR_LOCAL ? load_local(form, to, value) : ir_copy_value(to, value, operands);
}

void form_copy_early(Form *form, IrBlock *to, const IrValue *value)
{
    form_copy_value(form, to, value);
    IrValue *copy = form->values[value->id];
    if (ir_op_info[copy->op].hint == IR_HINT_KIND_DIVIDES && copy->operands[1]->op != IR_CONST)
        forget_exactness(copy);
}

void form_keep(Form *form, IrBlock *to, const IrValue *value)
{
    if (home_of(form, value) == HOME_SPILL)
        form_store_slot(form, to, slot_of(form, value), form->values[value->id]);
}

/* Its operands first. So deep only as its cost allows. */
static void rematerialize(Form *form, IrBlock *to, const IrValue *value)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (home_of(form, value->operands[i]) != HOME_UNIFORM)
            rematerialize(form, to, value->operands[i]);
    form_copy_early(form, to, value);
}

void form_make_again(Form *form, IrBlock *to, const IrValue *value)
{
    if (home_of(form, value) != HOME_UNIFORM)
        rematerialize(form, to, value);
}

void form_bring(Form *form, IrBlock *to, const IrValue *value)
{
    if (home_of(form, value) == HOME_REMATERIALIZE)
        rematerialize(form, to, value);
    else if (is_collective(value))
        form->values[value->id] = convert(to, form_load_slot(to, result_of(form, value), &value->pos), value->type);
    else
        form->values[value->id] = form_load_slot(to, slot_of(form, value), &value->pos);
}

/* --- phis --------------------------------------------------------------------------------------------------------------- */

PendingPhi *form_join(Form *form, IrBlock *to, const IrValue *value, uint32_t most)
{
    PendingPhi *made = ARENA_NEW(form->arena, PendingPhi);
    *made = (PendingPhi){.next = form->pending,
                         .phi = ir_phi(to, value->type, &value->pos, 0),
                         .from = ARENA_ARRAY(form->arena, IrBlock *, most + 1),
                         .values = ARENA_ARRAY(form->arena, IrValue *, most + 1)};
    return form->pending = made;
}

PendingPhi *form_phi(Form *form, IrBlock *to, const IrValue *phi, uint32_t most)
{
    PendingPhi *made = form_join(form, to, phi, most);
    form->values[phi->id] = made->phi;
    return form->phis[phi->id] = made;
}

void form_add_way(PendingPhi *pending, IrBlock *from, IrValue *value)
{
    pending->from[pending->count] = from;
    pending->values[pending->count++] = value;
}

/* The ways inside of the region by which control comes to the phi. */
void form_add_ways_inside(Form *form, PendingPhi *pending, const IrValue *phi)
{
    const Regions *regions = form->regions;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        uint32_t piece = regions->last_piece[phi->block->predecessors[i]->id];
        if (form->copies[piece])
            form_add_way(pending, form->copies[piece], form_value_behind(form, piece, phi->operands[i]));
    }
}

/* Predecessors come in the order of the blocks; one that leads to the block twice, in that of its targets. */
void form_finish_phi(const Form *form, const PendingPhi *pending)
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

/* --- exchanges ---------------------------------------------------------------------------------------------------------- */

/* Whether all lanes ask a shuffle for the same. */
static bool asks_alike(const Form *form, const IrValue *shuffle)
{
    return home_of(form, shuffle->operands[2]) == HOME_UNIFORM && home_of(form, shuffle->operands[3]) == HOME_UNIFORM;
}

/* What a lane asks of a shuffle, as shuffle_place() has it. */
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

static const IrValue *brought_to(const IrValue *collective)
{
    return collective->operands[is_block_vote(collective) ? 0 : 1];
}

/* Whether the value has the bits of its operand, and so many of them. */
static bool keeps_bits(const IrValue *value, uint32_t size)
{
    if (value->op != IR_BITCAST && value->op != IR_CONVERT)
        return false;
    const Type *from = value->operands[0]->type;
    return from->size == size && (value->op == IR_BITCAST || (type_is_integer(from) && type_is_integer(value->type)));
}

/* The slot in which what a thread brings lies as it is; NULL: it is to be stored in one. */
static IrValue *slot_as_it_is(Form *form, const IrValue *collective)
{
    const IrValue *value = brought_to(collective);
    uint32_t size = word_of(collective)->size;
    while (keeps_bits(value, size))
        value = value->operands[0];
    bool is_number = type_is_integer(value->type) || value->type->kind == TYPE_FLOAT;
    bool is_kept = home_of(form, value) == HOME_SPILL && !is_collective(value) && !is_block_vote(collective);
    return is_kept && is_number && value->type->size == size ? slot_of(form, value) : NULL;
}

static bool asks_for_itself(const Form *form, const IrValue *collective)
{
    return intrinsic_info[collective->intrinsic].family == FAMILY_SHUFFLE && !asks_alike(form, collective);
}

bool form_brings(Form *form, const IrValue *collective)
{
    return !slot_as_it_is(form, collective) || asks_for_itself(form, collective);
}

void form_bring_to_exchange(Form *form, IrBlock *to, const IrValue *collective)
{
    if (!slot_as_it_is(form, collective)) {
        IrValue *given = convert(to, form->values[brought_to(collective)->id], word_of(collective));
        form_store_slot(form, to, given_to(form, collective), given);
    }
    if (asks_for_itself(form, collective)) {
        IrValue *places = slot_once(form, &form->places, TYPE_OF(UINT32));
        form_store_slot(form, to, places, asked_place(form, to, collective));
    }
}

/* All threads have brought theirs. */
void form_exchange(Form *form, IrBlock *to, const IrValue *collective)
{
    IrValue *operands[4];
    uint32_t count = 0;
    bool is_vote = is_block_vote(collective);
    IrValue *as_it_is = slot_as_it_is(form, collective);
    operands[count++] = as_it_is ? as_it_is : given_to(form, collective);
    if (intrinsic_info[collective->intrinsic].family == FAMILY_SHUFFLE)
        operands[count++] = asks_alike(form, collective) ? asked_place(form, to, collective) : form->places;
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
