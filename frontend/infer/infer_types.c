/* Types and constants of an instance, to a fixed point over its reachable blocks: sparse conditional constant
 * propagation (Wegman and Zadeck, TOPLAS 1991) with types for the lattice. */
#include "frontend/array/lower_fill.h"
#include "frontend/array/lower_iterate.h"
#include "frontend/array/lower_iterator.h"
#include "frontend/array/lower_unpack.h"
#include "frontend/call/constant_parameter.h"
#include "frontend/call/lower_call.h"
#include "frontend/call/builtin/lower_contains.h"
#include "frontend/call/lower_overload.h"
#include "frontend/call/builtin/lower_reduce.h"
#include "frontend/compound/generator.h"
#include "frontend/compound/lower_cell.h"
#include "frontend/compound/lower_dict.h"
#include "frontend/compound/lower_record.h"
#include "frontend/engine.h"
#include "frontend/infer/instance.h"
#include "frontend/infer/loop_capture.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/kind/lower_enum.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/kind/lower_text.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/overflow_marks.h"

/* --- how types are found -------------------------------------------------------------------------------------------
 *
 * Each SSA value of an instance has a fact: nothing yet, a type, or a type with the one value that it has. A pass goes
 * over the blocks that control reaches and runs every value's handler on its operands' facts; facts only widen
 * (nothing, a constant, a type, a type that holds both), so that passes end. Two things make it more than a walk:
 *
 * - Only what is reached counts. A branch whose condition is a constant reaches one of its edges, and a phi joins the
 *   edges that are reached. `if x.ndim == 2:` therefore never types the other arm, which may make no sense for this x.
 * - A loop's variable is not known when its header is first met. What the way in gives is taken for all of it; the
 *   value that comes back may widen it, and then the pass is done again:
 *
 *       total = 0                  pass 1: total int64 (0); total + x[i] is float64, the phi becomes float64
 *       for i in range(n):         pass 2: total float64, total + x[i] float64: nothing changes, done
 *           total = total + x[i]
 *
 * A handler that fails says so to a scratch diagnostic, as the next pass may know better; emit_ir.c runs the handlers
 * again with the final facts, and what fails there is the user's error. A call infers the instance of what it calls,
 * for the facts of its arguments. A function that calls itself goes by the result of the pass before; what was inferred
 * meanwhile on that ground is provisional, and is inferred again. Three findings change the SSA itself and start over:
 * a loop over a tuple of different types is written out (cfg_unroll.c), variables that outlive a loop's trip become
 * cells (loop_capture.c), and a parameter whose value is needed splits the instance (constant_parameter.c). */

/* Facts only widen, a few times each; what does not settle is reported as unresolved rather than tried for ever. */
enum { PASS_LIMIT = 1000 };

/* Operations to which a member of an IntEnum is a number. */
static bool takes_numbers(SsaOp op)
{
    switch (op) {
    case SSA_ATTRIBUTE:
    case SSA_CALL:
    case SSA_TUPLE:
    case SSA_LIST:
    case SSA_IS: return false;
    default: return true;
    }
}

/* From what line control comes is a number, and known where there is one way to come. */
static bool lower_line(Lower *l, const SsaValue *value, Operand before, Operand *out)
{
    Operand place;
    *out = operand_none();
    if (!lower_convert(l, before, TYPE_OF(INT64), &place))
        return false;
    if (l->emitting)
        emit1(l, IR_LINE, &type_none, operand_ir(l, place))->index = (uint32_t)value->argument;
    return true;
}

/* Anything of the type that the variable has elsewhere; nothing where that is not known. */
static bool lower_unassigned(Lower *l, const SsaValue *value, Operand *out)
{
    const Type *type = NULL;
    for (const SsaAssignment *each = l->instance->ssa->assignments; each; each = each->next) {
        const Type *given = each->name == value->name ? lower_fact(l, each->value).type : NULL;
        const Type *joined = given && type ? lower_join_types(l, type, given) : given;
        type = joined ? joined : type;
    }
    if (type && type->kind != TYPE_OBJECT)
        *out = operand_value(type, emit(l, IR_UNDEFINED, type, 0, NULL));
    return true;
}

static bool is_equality(const SsaValue *value)
{
    return value->op == SSA_COMPARE && (value->argument == COMPARE_EQ || value->argument == COMPARE_NE);
}

static bool may_be_none(Operand operand) { return operand.type->kind == TYPE_NONE || type_is_optional(operand.type); }

/* Nothing else is equal to None: what may be None is compared where it is there. */
static bool lower_equal_or_none(Lower *l, const SsaValue *value, const Operand x[2], Operand *out)
{
    if (x[0].type->kind == TYPE_NONE || x[1].type->kind == TYPE_NONE)
        return lower_is(l, x[0], x[1], value->argument == COMPARE_NE, out);
    Operand equal, there[2], first = operand_value_of(l, x[0]), second = operand_value_of(l, x[1]);
    bool is_one = type_is_optional(x[0].type) && type_is_optional(x[1].type);
    for (int i = 0; i < 2; i++)
        there[i] = type_is_optional(x[i].type) ? lower_tuple_item(l, x[i], 0) : operand_bool(l, true);
    if (!lower_compare(l, COMPARE_EQ, first, second, &equal) || !lower_binary(l, NB_AND, equal, there[0], out) ||
        !lower_binary(l, NB_AND, *out, there[1], out))
        return false;
    Operand none;
    if (is_one && (!lower_binary(l, NB_OR, there[0], there[1], &none) || !lower_unary(l, SSA_NOT, none, &none) ||
                   !lower_binary(l, NB_OR, *out, none, out)))
        return false;
    return value->argument == COMPARE_EQ || lower_unary(l, SSA_NOT, *out, out);
}

bool lower_value(Lower *l, const SsaValue *value, Operand *out)
{
    l->value = value;
    *out = (Operand){0};
    if (ssa_looks(value))
        return *out = operand_none(), true;
    Operand x[3];
    for (uint32_t i = 0; i < value->count; i++)
        if (!operand_check(l, lower_fact(l, value->operands[i])))
            return false;
    for (uint32_t i = 0; i < value->count && i < 3; i++) {
        x[i] = lower_fact(l, value->operands[i]);
        if (value->op != SSA_IS && value->op != SSA_NOT && !is_equality(value)) {
            emit_none_check(l, x[i]);
            x[i] = operand_value_of(l, x[i]);
        }
        if (takes_numbers(value->op))
            x[i] = operand_number_of(l, x[i]);
    }
    bool is_own;
    bool ok = lower_overloaded_operator(l, value, x, out, &is_own);
    if (is_own)
        return ok;
    switch (value->op) {
    case SSA_CONSTANT: return operand_of_constant(l, value->constant, out);
    case SSA_UNASSIGNED: return lower_unassigned(l, value, out);
    case SSA_PARAMETER:
        *out = operand_of_self(l, l->instance->parameters[value->argument], l->instance->parameters);
        return true;
    case SSA_SELF: return *out = operand_self(l), true;
    case SSA_BINARY:
        if (value->argument2 && x[0].type->kind == TYPE_ARRAY)
            return lower_update(l, value->argument, x[0], x[1], out);
        return lower_binary(l, value->argument, x[0], x[1], out) && (overflow_note(l, *out), true);
    case SSA_COMPARE:
        if (is_equality(value) && (may_be_none(x[0]) || may_be_none(x[1])))
            return lower_equal_or_none(l, value, x, out);
        return lower_compare(l, value->argument, x[0], x[1], out);
    case SSA_IS: return lower_is(l, x[0], x[1], value->argument != 0, out);
    case SSA_CONTAINS: return lower_contains(l, x[0], x[1], value->argument != 0, out);
    case SSA_NEGATIVE:
    case SSA_POSITIVE:
    case SSA_INVERT:
    case SSA_NOT: return lower_unary(l, value->op, x[0], out) && (overflow_note(l, *out), true);
    case SSA_ATTRIBUTE: return lower_attribute(l, x[0], value->name, out);
    case SSA_STORE_ATTRIBUTE:
        *out = operand_none();
        if (is_record_array(x[1].type) && record_field(x[1].type, value->name))
            return lower_store_field(l, x[1], record_field(x[1].type, value->name), x[0]);
        return lower_fail(l, DIAG_TYPE_STORE, lower_describe(l, x[0].type), lower_describe(l, x[1].type),
                          arena_format(l->arena, ": a kernel cannot set its attribute '%s'", value->name));
    case SSA_SUBSCRIPT: return lower_subscript(l, x[0], x[1], out);
    case SSA_STORE_SUBSCRIPT:
        *out = operand_none();
        if (value->argument && x[0].type->kind == TYPE_ARRAY)
            return true; /* array[slice] += value has stored already */
        return lower_store_subscript(l, x[1], x[2], x[0]);
    case SSA_TUPLE:
    case SSA_LIST: {
        Operand *items = ARENA_ARRAY(l->arena, Operand, value->count);
        for (uint32_t i = 0; i < value->count; i++)
            items[i] = lower_fact(l, value->operands[i]);
        *out = lower_make_tuple(l, items, value->count, TUPLE_PLAIN);
        return true;
    }
    case SSA_AS_TUPLE: return lower_all_items(l, x[0], out);
    case SSA_FORMAT: return lower_format(l, x[0], value->argument, value->count > 1 ? &x[1] : NULL, out);
    case SSA_TEXT: {
        Operand *parts = ARENA_ARRAY(l->arena, Operand, value->count + 1);
        for (uint32_t i = 0; i < value->count; i++)
            parts[i] = lower_fact(l, value->operands[i]);
        return lower_join_text(l, parts, value->count, "", out);
    }
    case SSA_SLICE: *out = lower_make_tuple(l, x, 3, TUPLE_SLICE); return true;
    case SSA_UNPACK: return lower_unpack(l, x[0], (uint32_t)value->argument, (uint32_t)value->argument2, out);
    case SSA_CALL: return lower_call(l, value, out) && lower_called_iterator(l, value, out);
    case SSA_CELL: return lower_cell(l, value, out);
    case SSA_CELL_LOAD: return lower_cell_load(l, x[0], out);
    case SSA_CELL_STORE: return lower_cell_store(l, value->name, x[0], x[1], out);
    case SSA_CELL_DELETE: return lower_cell_delete(l, value, x[0], out);
    case SSA_DICT: {
        Operand *values = ARENA_ARRAY(l->arena, Operand, value->count + 1);
        for (uint32_t i = 0; i < value->count; i++)
            values[i] = lower_fact(l, value->operands[i]);
        return *out = lower_make_dict(l, values, value->keywords, value->count), true;
    }
    case SSA_DICT_MERGE: return lower_dict_merge(l, x[0], x[1], out);
    case SSA_MATCH_CLASS: return lower_match_class(l, x[0], x[1], value->argument != 0, out);
    case SSA_SEQUENCE:
        if (type_is_generator(x[0].type))
            return lower_generator_items(l, x[0], value->argument, out);
        return *out = x[0], true;
    case SSA_ITERATOR:
        if (type_has_list(x[0].type) && !takes_lists(l->instance))
            return lower_fail(l, DIAG_GENERATOR_USE, "a list of unknown length",
                              "; write (...) for [...]: the items of a generator come one by one");
        return lower_iterator(l, x[0], out);
    case SSA_ITER_STEP: return lower_iter_step(l, x[0], x[1], out);
    case SSA_ITER_START: return lower_iter_start(l, x[0], out);
    case SSA_ITER_HAS: return lower_iter_has(l, x[0], x[1], out);
    case SSA_ITER_VALUE: return lower_iter_value(l, x[0], x[1], out);
    case SSA_ITER_NEXT: return lower_iter_next(l, x[0], x[1], out);
    case SSA_FUNCTION: return lower_function(l, value, out);
    case SSA_LINE: return lower_line(l, value, x[0], out);
    default: return true;   /* undefined and NULL have no type of their own */
    }
}

/* --- one pass over the reachable blocks --------------------------------------------------------------------------- */

static bool operands_known(Lower *l, const SsaValue *value)
{
    for (uint32_t i = 0; i < value->count; i++)
        if (!lower_fact_known(l, value->operands[i]))
            return false;
    return true;
}

static bool same_fact(Operand a, Operand b)
{
    if (!a.type || !b.type)
        return a.type == b.type;
    if (!type_equal(a.type, b.type) || !a.constant != !b.constant || a.weak != b.weak)
        return false;
    return !a.constant || constant_equal(a.constant, b.constant);
}

static void set_fact(Lower *l, const SsaValue *value, Operand fact)
{
    Operand *slot = &l->instance->facts[value->id];
    if (!same_fact(*slot, fact)) {
        *slot = fact;
        l->changed = true;
    }
}

static void infer_phi(Lower *l, const SsaBlock *block, const SsaValue *phi)
{
    if (phi->is_only_looked_at)
        return;
    Operand fact = lower_fact(l, phi);
    if (fact.type && fact.type->kind == TYPE_OBJECT)
        fact = (Operand){0}; /* objects do not widen: one takes another's place */
    l->value = phi;
    for (uint32_t i = 0; i < phi->count; i++) {
        if (!edge_is_reached(l->instance, block->cfg->predecessors[i], block->id))
            continue;
        Operand joined;
        if (lower_join(l, fact, lower_fact(l, phi->operands[i]), &joined))
            fact = joined; /* what does not fit is reported when emitting */
    }
    set_fact(l, phi, fact);
}

static void reach(Lower *l, uint32_t block, uint32_t successor)
{
    bool *edge = &l->instance->edge_reached[2 * block + successor];
    uint32_t to = l->instance->ssa->blocks[block].cfg->successors[successor];
    if (!*edge) {
        *edge = true;
        l->instance->block_reached[to] = true;
        l->changed = true;
    }
}

static void infer_branch(Lower *l, const SsaBlock *block, const SsaValue *branch)
{
    Operand truth, condition = lower_fact(l, branch->operands[0]);
    l->value = branch;
    if (!condition.type || !lower_truth(l, condition, &truth))
        return;
    for (uint32_t k = 0; k < 2; k++) {
        bool wanted = (k == 1) == (branch->argument != 0);
        if (!truth.constant || (truth.constant->integer != 0) == wanted)
            reach(l, block->id, k);
    }
}

/* What a function returns, or a generator yields. */
static void infer_return(Lower *l, const SsaValue *value)
{
    Operand result = lower_fact(l, value->operands[0]), joined;
    if (!result.type)
        return;
    if (result.type->kind != TYPE_OBJECT && result.type->kind != TYPE_NONE)
        result.constant = NULL;
    const Type *forced = l->instance->forced_result;
    if (forced && forced->kind != TYPE_NONE)
        result = operand_value(forced, NULL);
    if (lower_join(l, l->joined_result, result, &joined))
        l->joined_result = joined;
}

static void infer_value(Lower *l, const SsaBlock *block, const SsaValue *value)
{
    if (value->op == SSA_JUMP) {
        reach(l, block->id, 0);
    } else if (value->op == SSA_BRANCH) {
        infer_branch(l, block, value);
    } else if (value->op == SSA_YIELD) {
        infer_return(l, value);
        reach(l, block->id, 0);
    } else if (value->op == SSA_RETURN) {
        if (!l->instance->ssa->is_generator)
            infer_return(l, value);
    } else if (!value->is_dead && operands_known(l, value)) {
        Operand fact;
        diag_clear(l->diag);
        if (lower_value(l, value, &fact) && fact.type && !diag_failed(l->diag)) {
            fact.ir = NULL;
            set_fact(l, value, fact);
        } else if (l->diag->id == DIAG_CONSTANT_REQUIRED) {
            want_constants(l);
        } else if (diag_failed(l->diag)) {
            l->instance->fails = true;
        }
    }
}

/* Results are joined anew in every pass: while types widen, what a path returns may be another object each time. Calls
 * of the function by itself go by the result of the pass before. */
static void infer_pass(Lower *l)
{
    Operand before = l->instance->result;
    l->joined_result = (Operand){0};
    l->instance->fails = false;
    const SsaFunction *ssa = l->instance->ssa;
    for (uint32_t i = 0; i < ssa->block_count; i++) {
        if (!l->instance->block_reached[i])
            continue;
        const SsaBlock *block = &ssa->blocks[i];
        for (const SsaValue *phi = block->phis; phi; phi = phi->next)
            infer_phi(l, block, phi);
        for (const SsaValue *value = block->first; value; value = value->next) {
            infer_value(l, block, value);
            if (value->op == SSA_CALL && !value->is_dead && !lower_fact_known(l, value))
                break; /* it has not returned so far: nothing behind it is reached */
        }
    }
    l->instance->result = l->joined_result;
    l->changed |= !same_fact(before, l->instance->result);
}

static bool wants_unrolling(const Instance *instance)
{
    for (uint32_t i = 0; i < instance->ssa->block_count && instance->is_unrollable; i++)
        if (instance->unroll[i])
            return true;
    return false;
}

void infer_instance(Frontend *frontend, Instance *instance)
{
    Diag scratch = {0};
    Lower l = {.frontend = frontend, .arena = frontend->arena, .diag = &scratch, .instance = instance};
    instance->state = INSTANCE_RUNNING;
    instance->frame = NULL;
    instance->block_reached[0] = true;
    frontend->depth++;
    uint32_t passes = 0;
    do {
        l.changed = false;
        instance->provisional = false;
        instance->cell_version = frontend->cell_version;
        infer_pass(&l);
        l.changed |= instance->cell_version != frontend->cell_version && instance_shares_cells(instance);
        if ((wants_unrolling(instance) && instance_unroll(frontend, instance)) ||
            share_loop_captures(frontend, instance)) {
            instance->block_reached[0] = true;
            l.changed = true;
            passes = 0;
        }
    } while (l.changed && ++passes < PASS_LIMIT);
    frontend->depth--;
    /* What rests on an unfinished caller is looked at again when that caller is. */
    instance->state = instance->provisional && !instance->is_recursive ? INSTANCE_NEW : INSTANCE_DONE;
    if (instance->provisional && frontend->depth > 0)
        instance->state = INSTANCE_NEW;
}
