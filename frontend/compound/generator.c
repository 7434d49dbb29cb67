/* What a generator is to the code that makes and uses it: its value, its steps, its items all at once. */
#include "frontend/compound/generator.h"
#include "frontend/compound/lower_cell.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/operand.h"

/* --- how a generator runs ------------------------------------------------------------------------------------------
 *
 * A GPU thread has one stack, so a generator cannot keep its own. It becomes a function that is called once for each
 * item and gives back all that it needs to go on:
 *
 * def squares(n):              (has, item, frame) = squares.step(n, frame)
 *         total = 0
 *         for i in range(n):       frame: (0: at the start, 1: behind the first yield, ...; range; total; i)
 *             total += i           has: false when it has ended; item and frame are then undefined
 *             yield total
 *
 * for x in squares(n):         frame = (0, undefined, undefined, undefined)
 *         out[x] = x               while True:
 *                                      has, x, frame = squares.step(n, frame)
 *                                      if not has: break
 *                                      out[x] = x
 *
 * While SSA is built, the block behind a yield begins with a phi for each variable that lives across it, marked as
 * resumed: it has no value from an edge, but a slot of the frame. A variable keeps its slot from yield to yield while
 * its type stays the same, so that a loop's frame is what its phi is. The entry tests which yield it was and jumps
 * there.
 *
 * The generator itself is a tuple of its arguments whose type leads to the instance; where it is in its work is the
 * frame, which belongs to the loop that uses it. Two loops over one generator object would therefore start twice, which
 * Python does not do: generator_use.c refuses such programs. The step is inlined into the loop; the frame then is a
 * handful of phis, and "which yield" a constant that LLVM threads the jumps by. */

enum { MOST_ITEMS = 32 }; /* of a list that becomes a tuple; longer ones are loops */

static Instance *instance_of(const Type *type) { return (Instance *)type->object; }

bool type_is_generator(const Type *type) { return type_is_tagged(type, TUPLE_GENERATOR); }

bool type_has_generator(const Type *type)
{
    if (type->kind != TYPE_TUPLE)
        return false;
    if (type_is_tagged(type, TUPLE_GENERATOR))
        return true;
    if (type_is_tagged(type, TUPLE_ITERATOR))
        return false; /* it knows where it is, whoever uses it */
    for (uint32_t i = 0; i < type->count; i++)
        if (type_has_generator(type->items[i]))
            return true;
    return false;
}

bool type_is_list(const Type *type) { return type_is_generator(type) && instance_of(type)->ssa->is_list; }

bool type_has_list(const Type *type)
{
    bool found = type_is_list(type);
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        found |= type_has_list(type->items[i]);
    return found;
}

bool takes_lists(const Instance *instance) { return instance->code->is_library; }

/* --- lengths ------------------------------------------------------------------------------------------------------ */

static bool range_count(const Constant *range, int64_t *count)
{
    if (!range || range->kind != CONSTANT_TUPLE || range->count != 3)
        return false;
    int64_t start = range->items[0]->integer, stop = range->items[1]->integer, step = range->items[2]->integer;
    int64_t distance = step > 0 ? stop - start + step - 1 : start - stop - step - 1;
    *count = step == 0 || distance < 0 ? 0 : distance / (step > 0 ? step : -step);
    return true;
}

/* How many items there are, where types and constants tell. */
bool generator_known_count(const Type *type, const Constant *constant, int64_t *count)
{
    if (type->kind != TYPE_TUPLE)
        return false;
    *count = type->count;
    switch (type->tag) {
    case TUPLE_PLAIN:
    case TUPLE_NAMED: return true;
    case TUPLE_RANGE: return range_count(constant, count);
    case TUPLE_ENUMERATE: return generator_known_count(type->items[1], NULL, count);
    case TUPLE_REVERSED: return generator_known_count(type->items[0], NULL, count);
    case TUPLE_GENERATOR: {
        const Instance *instance = instance_of(type);
        const Operand *parameters = instance->parameters;
        return instance->ssa->is_one_for_one &&
               generator_known_count(parameters[0].type, parameters[0].constant, count);
    }
    case TUPLE_ZIP:
        for (uint32_t i = 0; i < type->count; i++) {
            int64_t one;
            if (!generator_known_count(type->items[i], NULL, &one))
                return false;
            *count = i == 0 || one < *count ? one : *count;
        }
        return true;
    default: return false;
    }
}

/* --- making ------------------------------------------------------------------------------------------------------- */

static Operand generator_value(Lower *l, const Instance *instance, const Operand *items, uint32_t count)
{
    Operand generator = lower_make_tuple(l, items, count, TUPLE_GENERATOR);
    Type *type = arena_copy(l->arena, generator.type, sizeof *type);
    type->object = instance;
    generator.type = type;
    return generator;
}

/* A list whose length is known is a tuple at once. */
static bool is_short_list(Lower *l, const Instance *instance, const Operand *bound, uint32_t count, int64_t *length)
{
    if (!instance->ssa->is_list)
        return false;
    Lower dry = *l;
    dry.emitting = false;
    const Type *type = generator_value(&dry, instance, bound, count).type;
    return generator_known_count(type, NULL, length) && *length <= MOST_ITEMS;
}

bool lower_make_generator(Lower *l, Instance *instance, const Operand *bound, uint32_t count, Operand *out)
{
    instance->is_recursive |= instance->state == INSTANCE_RUNNING;
    bool is_wrong = l->emitting && (instance->is_recursive || !instance->result.type) && instance != l->instance;
    if (is_wrong && !emit_instance(l->frontend, instance)) /* what is wrong is said there */
        return false;
    if (instance->is_recursive)
        return lower_fail(l, DIAG_UNSUPPORTED_BYTECODE, "a generator that calls itself",
                          "; write a loop, or a function that returns a value");
    int64_t length;
    bool is_short = is_short_list(l, instance, bound, count, &length);
    if (is_short && lower_items_apart(l, instance, bound, length, out))
        return true;
    Operand *items = arena_copy(l->arena, bound, (count + 1) * sizeof *bound);
    if (instance_borrows_memory(instance)) {
        items[count] = operand_value(&type_memory, NULL);
        if (l->emitting && !emit_lent_memory(l, instance, &items[count].ir))
            return false;
        l->instance->makes_cells = true;
        count++;
    }
    *out = generator_value(l, instance, items, count);
    return !diag_failed(l->diag) && (!is_short || lower_generator_items(l, *out, length, out));
}

/* --- frames ------------------------------------------------------------------------------------------------------- */

struct GeneratorFrame {
    const Type *type; /* of the frame: which yield (0: none yet), and the slots */
    const Type *step; /* of what a step gives: whether there is an item, the item, the next frame */
    uint32_t slot_count;
    const Type **slot_types;
    int32_t *slot_variables;
    uint32_t *slot_of; /* by SSA value: the item of the frame */
    uint32_t *flag_of; /* likewise, that says whether the variable is assigned; 0: it is, or nobody asks */
    uint32_t *yield_of; /* by SSA block that goes on after a yield: the yield's number, from 1 */
    bool *taken; /* by slot, while one yield's are chosen */
};

/* A variable keeps its slot from one yield to the next while its type stays the same. */
static uint32_t choose_slot(GeneratorFrame *frame, int32_t variable, const Type *type)
{
    uint32_t i = 0;
    while (i < frame->slot_count &&
           (frame->taken[i] || frame->slot_variables[i] != variable || !type_equal(frame->slot_types[i], type)))
        i++;
    frame->slot_types[i] = type;
    frame->slot_variables[i] = variable;
    frame->taken[i] = true;
    frame->slot_count += i == frame->slot_count;
    return i + 1;
}

static void choose_slots(GeneratorFrame *frame, const Instance *instance, const SsaBlock *block, const bool *may_lack)
{
    for (uint32_t i = 0; i < frame->slot_count; i++)
        frame->taken[i] = false;
    for (const SsaValue *phi = block->phis; phi; phi = phi->next) {
        Operand fact = instance->facts[phi->id];
        if (phi->is_resumed && operand_is_runtime(fact))
            frame->slot_of[phi->id] = choose_slot(frame, phi->argument, fact.type);
        if (phi->is_resumed && may_lack && may_lack[phi->id])
            frame->flag_of[phi->id] = choose_slot(frame, ~phi->argument, TYPE_OF(BOOL));
    }
}

static uint32_t resumed_count(const SsaFunction *ssa)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ssa->block_count; i++)
        for (const SsaValue *phi = ssa->blocks[i].phis; phi; phi = phi->next)
            count += phi->is_resumed;
    return count;
}

static GeneratorFrame *make_frame(const Frontend *frontend, const Instance *instance)
{
    const SsaFunction *ssa = instance->ssa;
    const bool *may_lack = unbound_phis(frontend, instance);
    Arena *arena = frontend->arena;
    uint32_t most = 2 * resumed_count(ssa), yields = 0;
    GeneratorFrame *frame = ARENA_NEW(arena, GeneratorFrame);
    frame->slot_types = ARENA_ARRAY(arena, const Type *, most + 1);
    frame->slot_variables = ARENA_ARRAY(arena, int32_t, most + 1);
    frame->taken = ARENA_ARRAY(arena, bool, most + 1);
    frame->slot_of = ARENA_ARRAY(arena, uint32_t, ssa->value_count);
    frame->flag_of = ARENA_ARRAY(arena, uint32_t, ssa->value_count);
    frame->yield_of = ARENA_ARRAY(arena, uint32_t, ssa->block_count);
    for (uint32_t i = 0; i < ssa->block_count; i++) {
        const SsaBlock *block = &ssa->blocks[i];
        if (!instance->block_reached[i] || !block->last || block->last->op != SSA_YIELD)
            continue;
        uint32_t next = block->cfg->successors[0];
        frame->yield_of[next] = ++yields;
        choose_slots(frame, instance, &ssa->blocks[next], may_lack);
    }
    const Type **items = ARENA_ARRAY(arena, const Type *, frame->slot_count + 1);
    items[0] = TYPE_OF(INT64);
    for (uint32_t i = 0; i < frame->slot_count; i++)
        items[i + 1] = frame->slot_types[i];
    frame->type = type_tuple(arena, items, frame->slot_count + 1, TUPLE_PLAIN);
    const Type *item = instance->result.type ? instance->result.type : &type_none;
    frame->step = type_tuple(arena, (const Type *[]){TYPE_OF(BOOL), item, frame->type}, 3, TUPLE_PLAIN);
    return frame;
}

static GeneratorFrame *frame_of(Frontend *frontend, Instance *instance)
{
    if (instance->frame)
        return instance->frame;
    GeneratorFrame *frame = make_frame(frontend, instance);
    if (instance->state == INSTANCE_DONE || instance->ir)
        instance->frame = frame; /* its types no longer change */
    return frame;
}

const Type *generator_frame_type(Frontend *frontend, Instance *instance) { return frame_of(frontend, instance)->type; }

const Type *generator_step_type(Frontend *frontend, Instance *instance) { return frame_of(frontend, instance)->step; }

/* --- steps -------------------------------------------------------------------------------------------------------- */

bool lower_generator_start(Lower *l, Operand generator, Operand *out)
{
    const Type *type = frame_of(l->frontend, instance_of(generator.type))->type;
    *out = operand_value(type, NULL);
    if (!l->emitting)
        return true;
    IrValue **values = ARENA_ARRAY(l->arena, IrValue *, type->count);
    values[0] = emit_int(l, TYPE_OF(INT64), 0);
    for (uint32_t i = 1; i < type->count; i++)
        values[i] = emit(l, IR_UNDEFINED, type->items[i], 0, NULL);
    return *out = operand_value(type, emit(l, IR_TUPLE, type, type->count, values)), true;
}

bool lower_generator_step(Lower *l, Operand generator, Operand frame, Operand *out)
{
    Instance *instance = instance_of(generator.type);
    const Type *type = frame_of(l->frontend, instance)->step;
    *out = operand_value(type, NULL);
    if (!l->emitting)
        return true;
    IrFunc *ir = instance_declare(l->frontend, instance);
    IrValue **arguments = ARENA_ARRAY(l->arena, IrValue *, instance->parameter_count + 2);
    uint32_t passed = 0;
    for (uint32_t i = 0; i < instance->parameter_count; i++)
        if (operand_is_runtime(instance->parameters[i]))
            arguments[passed++] = operand_ir(l, lower_tuple_item(l, generator, i));
    if (instance_borrows_memory(instance))
        arguments[passed++] = operand_ir(l, lower_tuple_item(l, generator, instance->parameter_count));
    arguments[passed++] = operand_ir(l, frame);
    out->ir = emit(l, IR_CALL, ir->result, passed, arguments);
    out->ir->callee = ir;
    return true;
}

bool lower_generator_items(Lower *l, Operand generator, int64_t count, Operand *out)
{
    if (count < 0 && (!generator_known_count(generator.type, NULL, &count) || count > MOST_ITEMS))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the number of items of a generator that becomes a tuple",
                          "; loop over it, or reduce it with sum, min, max, any or all");
    Instance *instance = instance_of(generator.type);
    Operand *items = ARENA_ARRAY(l->arena, Operand, count + instance->parameter_count + 1), frame, step;
    for (uint32_t i = 0; i < instance->parameter_count; i++)
        items[i] = lower_tuple_item(l, generator, i);
    if (lower_items_apart(l, instance, items, count, out))
        return true;
    if (diag_failed(l->diag))
        return false;
    if (!lower_generator_start(l, generator, &frame))
        return false;
    for (int64_t i = 0; i < count; i++) {
        if (!lower_generator_step(l, generator, frame, &step))
            return false;
        items[i] = lower_tuple_item(l, step, 1);
        frame = lower_tuple_item(l, step, 2);
    }
    return *out = lower_make_tuple(l, items, (uint32_t)count, TUPLE_PLAIN), true;
}

/* --- emission of the step function -------------------------------------------------------------------------------- */

void emit_generator_entry(Lower *l)
{
    Instance *instance = l->instance;
    const SsaFunction *ssa = instance->ssa;
    const GeneratorFrame *frame = frame_of(l->frontend, instance);
    l->frame = instance->ir->parameters[instance->ir->parameter_count - 1];
    l->block = instance->ir->first;
    l->value = ssa->blocks[0].first;
    IrValue *which = emit_index_op(l, IR_GET, TYPE_OF(INT64), l->frame, 0);
    for (uint32_t i = 0; i < ssa->block_count; i++) {
        if (!frame->yield_of[i])
            continue;
        IrBlock *next = emit_block(l);
        IrValue *same = emit2(l, IR_EQ, TYPE_OF(BOOL), which, emit_int(l, TYPE_OF(INT64), frame->yield_of[i]));
        emit_branch(l, same, l->ir_blocks[i], next);
        l->block = next;
    }
    emit_jump(l, l->ir_blocks[0]);
}

void emit_resumed(Lower *l, const SsaBlock *block, const SsaValue *phi)
{
    const GeneratorFrame *frame = frame_of(l->frontend, l->instance);
    uint32_t slot = frame->slot_of[phi->id], flag = frame->flag_of[phi->id];
    Operand *fact = &l->instance->facts[phi->id];
    l->block = l->ir_blocks[block->id];
    l->value = phi;
    if (slot)
        fact->ir = emit_index_op(l, IR_GET, fact->type, l->frame, slot);
    if (flag)
        l->assigned[phi->id] = emit_index_op(l, IR_GET, TYPE_OF(BOOL), l->frame, flag);
}

static bool emit_step_result(Lower *l, bool has, IrValue *item, IrValue *frame)
{
    const Type *step = frame_of(l->frontend, l->instance)->step;
    IrValue *parts[] = {operand_ir(l, operand_bool(l, has)), item, frame};
    emit1(l, IR_RETURN, &type_none, emit(l, IR_TUPLE, step, 3, parts));
    return true;
}

/* The frame with which the block behind the yield goes on. */
static bool emit_frame(Lower *l, const SsaBlock *block, IrValue **out)
{
    const GeneratorFrame *frame = frame_of(l->frontend, l->instance);
    const SsaBlock *next = &l->instance->ssa->blocks[block->cfg->successors[0]];
    IrValue **values = ARENA_ARRAY(l->arena, IrValue *, frame->slot_count + 1);
    values[0] = emit_int(l, TYPE_OF(INT64), frame->yield_of[next->id]);
    for (const SsaValue *phi = next->phis; phi; phi = phi->next) {
        uint32_t slot = frame->slot_of[phi->id], flag = frame->flag_of[phi->id];
        Operand value = lower_fact(l, phi->operands[0]), converted;
        if (flag)
            values[flag] = unbound_is_assigned(l, phi->operands[0]);
        if (!slot || !value.type)
            continue;
        if (!lower_convert(l, value, frame->slot_types[slot - 1], &converted))
            return false;
        values[slot] = operand_ir(l, converted);
    }
    for (uint32_t i = 1; i <= frame->slot_count; i++)
        if (!values[i])
            values[i] = emit(l, IR_UNDEFINED, frame->slot_types[i - 1], 0, NULL);
    return *out = emit(l, IR_TUPLE, frame->type, frame->slot_count + 1, values), true;
}

bool emit_yield(Lower *l, const SsaBlock *block, const SsaValue *value)
{
    const Type *type = l->instance->result.type;
    Operand item = lower_fact(l, value->operands[0]), converted, joined;
    IrValue *frame;
    if (!type)
        return lower_fail(l, DIAG_RECURSION_TYPE, l->instance->code->source.name);
    if (!lower_join(l, l->instance->result, (Operand){.type = item.type, .constant = item.constant}, &joined))
        return lower_fail(l, DIAG_TYPE_UNIFY, lower_describe(l, type), lower_describe(l, item.type),
                          " as the items of one generator");
    if (!check_cell_kept(l, item.type) || !lower_convert(l, item, type, &converted) || !emit_frame(l, block, &frame))
        return false;
    return emit_step_result(l, true, operand_ir(l, converted), frame);
}

bool emit_generator_end(Lower *l)
{
    const GeneratorFrame *frame = frame_of(l->frontend, l->instance);
    const Type *item = frame->step->items[1];
    bool is_value = item->kind != TYPE_NONE && item->kind != TYPE_OBJECT;
    IrValue *nothing = is_value ? emit(l, IR_UNDEFINED, item, 0, NULL) : operand_ir(l, operand_none());
    return emit_step_result(l, false, nothing, emit(l, IR_UNDEFINED, frame->type, 0, NULL));
}
