/* Emits the typed IR of an instance whose types are known, with the same handlers that inferred them. */
#include <assert.h>
#include <stdlib.h>

#include "frontend/call/builtin/lower_reduce.h"
#include "frontend/call/lower_call.h"
#include "frontend/compound/generator.h"
#include "frontend/compound/lower_cell.h"
#include "frontend/compound/lower_exception.h"
#include "frontend/engine.h"
#include "frontend/infer/instance.h"
#include "frontend/infer/unbound.h"
#include "frontend/report/explain.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/operand.h"
#include "frontend/value/overflow_marks.h"

/* --- phis --------------------------------------------------------------------------------------------------------- */

static bool refuse_phi(Lower *l, const SsaValue *phi, Operand a, Operand b)
{
    l->value = phi;
    const char *name = phi->name ? arena_format(l->arena, " as '%s', which is assigned both", phi->name) : "";
    lower_fail(l, DIAG_TYPE_UNIFY, lower_describe(l, a.type), lower_describe(l, b.type), name);
    explain_phi(l, phi);
    return false;
}

/* Every phi must be able to hold all that reaches it. */
static bool check_phi(Lower *l, const SsaBlock *block, const SsaValue *phi)
{
    Operand fact = {0};
    for (uint32_t i = 0; i < phi->count; i++) {
        Operand operand = lower_fact(l, phi->operands[i]), joined;
        if (!operand.type || !edge_is_reached(l->instance, block->cfg->predecessors[i], block->id))
            continue;
        operand.ir = NULL;
        if (!lower_join(l, fact, operand, &joined))
            return refuse_phi(l, phi, fact, operand);
        fact = joined;
    }
    return true;
}

static bool begin_phis(Lower *l, const SsaBlock *block)
{
    for (const SsaValue *phi = block->phis; phi; phi = phi->next) {
        Operand *fact = &l->instance->facts[phi->id];
        if (phi->is_resumed)
            emit_resumed(l, block, phi);
        else
            unbound_phi(l, phi);
        if (phi->is_only_looked_at)
            continue;
        if (!check_phi(l, block, phi))
            return false;
        if (fact->type && type_has_generator(fact->type) && !check_generator_use(l, phi, fact->type))
            return false;
        l->value = phi;
        if (fact->type && block->cfg->is_loop_header && !check_cell_kept(l, fact->type))
            return false;
        if (operand_is_runtime(*fact) && !phi->is_resumed)
            fact->ir = ir_phi(l->ir_blocks[block->id], erased_type(l->arena, fact->type), &phi->pos,
                              block->cfg->predecessor_count);
    }
    return true;
}

/* What a variable holds before it is assigned: zero, as nothing can tell. */
static IrValue *zero_of(Lower *l, const Type *type) { return emit(l, IR_UNDEFINED, type, 0, NULL); }

static bool emit_phi_operand(Lower *l, const SsaValue *phi, const SsaValue *source)
{
    Operand fact = lower_fact(l, phi), from = lower_fact(l, source), converted;
    unbound_phi_operand(l, phi, source);
    if (!operand_is_runtime(fact))
        return true;
    if (!from.type)
        converted = operand_value(fact.type, zero_of(l, fact.type));
    else if (!lower_convert(l, from, fact.type, &converted))
        return false;
    emit_phi_edge(l, fact.ir, operand_ir(l, converted));
    return true;
}

static bool emit_phi_operands(Lower *l, const SsaBlock *block)
{
    for (uint32_t k = 0; k < block->cfg->successor_count; k++) {
        if (!l->instance->edge_reached[2 * block->id + k])
            continue;
        const SsaBlock *to = &l->instance->ssa->blocks[block->cfg->successors[k]];
        uint32_t place = block->cfg->edge_places[k];
        for (const SsaValue *phi = to->phis; phi; phi = phi->next)
            if (!emit_phi_operand(l, phi, phi->operands[place]))
                return false;
    }
    return true;
}

/* The first one. */
static uint32_t place_of_edge(const IrBlock *block, const IrBlock *from)
{
    uint32_t place = 0;
    while (block->predecessors[place] != from) {
        place++;
        assert(place < block->predecessor_count);
    }
    return place;
}

/* Room was made for every edge of the bytecode; those that are never taken have no IR. */
static void finish_phis(Lower *l)
{
    for (IrBlock *block = l->instance->ir->first; block; block = block->next)
        for (IrValue *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next) {
            assert(block->predecessor_count <= phi->operand_count);
            phi->operand_count = block->predecessor_count;
        }
    uint32_t place = 0; /* of all the phis of a block the operands from another one come together */
    for (const PhiEdge *edge = l->phi_edges; edge; edge = edge->next) {
        assert(edge->phi->op == IR_PHI && edge->value);
        const IrBlock *block = edge->phi->block;
        if (place >= block->predecessor_count || block->predecessors[place] != edge->from)
            place = place_of_edge(block, edge->from);
        while (place && block->predecessors[place - 1] == edge->from)
            place--;
        for (uint32_t i = place; i < block->predecessor_count && block->predecessors[i] == edge->from; i++)
            edge->phi->operands[i] = edge->value; /* both targets of a branch may be the block */
    }
}

/* --- terminators -------------------------------------------------------------------------------------------------- */

static IrBlock *target(const Lower *l, const SsaBlock *block, uint32_t successor)
{
    assert(successor < block->cfg->successor_count);
    return l->ir_blocks[block->cfg->successors[successor]];
}

static bool emit_ssa_branch(Lower *l, const SsaBlock *block, const SsaValue *value)
{
    Operand truth;
    if (!lower_truth(l, lower_fact(l, value->operands[0]), &truth) || !emit_phi_operands(l, block))
        return false;
    l->value = value;
    const bool *reached = &l->instance->edge_reached[2 * block->id];
    uint32_t yes = value->argument ? 1 : 0;
    if (reached[0] && reached[1])
        emit_branch(l, operand_ir(l, truth), target(l, block, yes), target(l, block, 1 - yes));
    else
        emit_jump(l, target(l, block, reached[0] ? 0 : 1));
    return true;
}

static bool refuse_result(Lower *l, const Type *result)
{
    lower_fail(l, DIAG_TYPE_UNIFY, lower_describe(l, l->instance->result.type), lower_describe(l, result),
               " as the results of one function");
    explain_returns(l, result);
    return false;
}

static bool emit_return(Lower *l, const SsaValue *value)
{
    Instance *instance = l->instance;
    Operand result = lower_fact(l, value->operands[0]), converted;
    if (instance->ssa->is_generator)
        return emit_generator_end(l);
    if (type_has_cell(result.type) && !instance->called_by)
        return lower_fail(l, DIAG_UNSUPPORTED, "a function that shares variables cannot be returned to the host");
    if (instance->is_kernel && result.type->kind != TYPE_NONE)
        return lower_fail(l, DIAG_KERNEL_RETURN, lower_describe(l, result.type));
    if (!operand_is_runtime(instance->result)) {
        Operand joined;
        if (!lower_join(l, instance->result, (Operand){.type = result.type, .constant = result.constant}, &joined))
            return refuse_result(l, result.type);
        emit(l, IR_RETURN, &type_none, 0, NULL);
        return true;
    }
    if (!lower_join_types(l, instance->result.type, result.type))
        return refuse_result(l, result.type);
    if (!overflow_convert(l, result, instance->result.type, &converted))
        return false;
    emit1(l, IR_RETURN, &type_none, operand_ir(l, converted));
    return true;
}

static bool emit_terminator(Lower *l, const SsaBlock *block, const SsaValue *value)
{
    unbound_check(l, value);
    l->value = value;
    switch (value->op) {
    case SSA_JUMP:
        if (!emit_phi_operands(l, block))
            return false;
        l->value = value;
        emit_jump(l, target(l, block, 0));
        return true;
    case SSA_BRANCH: return emit_ssa_branch(l, block, value);
    case SSA_RETURN: return emit_return(l, value);
    case SSA_YIELD: return emit_yield(l, block, value);
    default: return lower_raise(l, value);
    }
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool check_operands(Lower *l, const SsaValue *value)
{
    if (value->op == SSA_RAISE && !l->frontend->request->exceptions)
        return true;
    for (uint32_t i = 0; i < value->count; i++) {
        const SsaValue *operand = value->operands[i];
        if (lower_fact_known(l, operand) || (operand->op == SSA_PHI && operand->is_only_looked_at))
            continue;
        l->value = value;
        if (operand->op == SSA_UNDEFINED || operand->op == SSA_UNASSIGNED)
            return lower_fail(l, DIAG_NAME_UNDEFINED, operand->name ? operand->name : "this variable", "");
        return lower_fail(l, DIAG_TYPE_UNRESOLVED, "");
    }
    return true;
}

/* A value whose constant is known needs no code, unless computing it has effects. */
static bool needs_no_code(const SsaValue *value, Operand fact)
{
    return fact.constant && value->op != SSA_CALL && value->op != SSA_STORE_SUBSCRIPT &&
           value->op != SSA_STORE_ATTRIBUTE && value->op != SSA_CELL_STORE && value->op != SSA_CELL_DELETE &&
           value->op != SSA_LINE && value->op != SSA_PARAMETER;
}

/* The lists in the value, one after the other; not the value's own items, which nobody asks for: map()'s are calls. */
static bool make_lists(Lower *l, Operand value)
{
    Operand count;
    if (type_is_list(value.type))
        return lower_count(l, value, &count);
    for (uint32_t i = 0; type_has_list(value.type) && i < value.type->count; i++)
        if (!make_lists(l, lower_tuple_item(l, value, i)))
            return false;
    return true;
}

static bool make_forgotten_list(Lower *l, const SsaValue *value, Operand list)
{
    l->value = value;
    return !list.type || !list_is_forgotten(l, value, list.type) || make_lists(l, list);
}

static bool emit_value(Lower *l, const SsaValue *value)
{
    Operand *fact = &l->instance->facts[value->id], result;
    if (fact->type && type_has_generator(fact->type) && !check_generator_use(l, value, fact->type))
        return false;
    if (value->op == SSA_PARAMETER)
        return make_forgotten_list(l, value, *fact);
    if (value->is_dead || value->is_at_entry)
        return true;
    if (!check_operands(l, value))
        return false;
    unbound_check(l, value);
    if (needs_no_code(value, *fact))
        return true;
    if (!lower_value(l, value, &result) || diag_failed(l->diag))
        return false;
    if (!result.type && value->op != SSA_UNDEFINED && value->op != SSA_UNASSIGNED && value->op != SSA_NULL) {
        l->value = value;
        return lower_fail(l, DIAG_TYPE_UNRESOLVED, "");
    }
    *fact = result;
    return value->op != SSA_CALL || make_forgotten_list(l, value, result);
}

static bool emit_ssa_block(Lower *l, const SsaBlock *block)
{
    l->block = l->ir_blocks[block->id];
    for (const SsaValue *value = block->first; value; value = value->next) {
        bool ok =
            value->op >= SSA_JUMP ? check_operands(l, value) && emit_terminator(l, block, value) : emit_value(l, value);
        if (!ok) {
            explain_failure(l, value);
            return false;
        } else if (l->never_returns) {
            emit(l, IR_TRAP, &type_none, 0, NULL);
            l->never_returns = false;
            return true;
        }
    }
    return true;
}

/* The tuple that a kernel's * parameter is. */
static Operand gather_rest(Lower *l, const Type *type, IrValue *const *values)
{
    Operand *items = ARENA_ARRAY(l->arena, Operand, type->count + 1);
    l->block = l->instance->ir->first;
    l->value = l->instance->ssa->blocks[0].first;
    for (uint32_t i = 0; i < type->count; i++)
        items[i] = type->items[i]->kind == TYPE_NONE ? operand_none() : operand_value(type->items[i], values[i]);
    return lower_make_tuple(l, items, type->count, TUPLE_PLAIN);
}

static void bind_parameters(Lower *l)
{
    Instance *instance = l->instance;
    uint32_t passed = 0;
    Operand *parameters = arena_copy(l->arena, instance->parameters, instance->parameter_count * sizeof *parameters);
    for (uint32_t i = 0; i < instance->parameter_count; i++) {
        if (i == kernel_rest(instance)) {
            parameters[i] = gather_rest(l, parameters[i].type, instance->ir->parameters + passed);
            passed += parameters[i].type->count;
            continue;
        }
        bool is_passed =
            instance->is_kernel ? passed < instance->ir->parameter_count : operand_is_runtime(parameters[i]);
        if (is_passed)
            parameters[i].ir = instance->ir->parameters[passed++];
    }
    l->block = instance->ir->first;
    l->value = instance->ssa->blocks[0].first;
    for (const SsaValue *value = instance->ssa->blocks[0].first; value; value = value->next)
        if (value->op == SSA_PARAMETER)
            instance->facts[value->id] = operand_of_self(l, parameters[value->argument], parameters);
    if (instance_borrows_memory(instance)) {
        l->memory = instance->ir->parameters[passed];
        place_cells(l);
    }
}

/* The entry comes first; every other reached block gets an IR block in the same order. */
static void make_blocks(Lower *l)
{
    const Instance *instance = l->instance;
    uint32_t count = instance->ssa->block_count;
    l->ir_blocks = ARENA_ARRAY(l->arena, IrBlock *, count);
    l->ir_blocks[0] = instance->ssa->is_generator ? ir_block(instance->ir) : instance->ir->first;
    for (uint32_t i = 1; i < count; i++)
        if (instance->block_reached[i])
            l->ir_blocks[i] = ir_block(instance->ir);
}

bool emit_instance(Frontend *frontend, Instance *instance)
{
    if (instance->emitted)
        return true;
    instance->emitted = true;
    Lower l = {
        .frontend = frontend, .arena = frontend->arena, .diag = frontend->diag, .instance = instance, .emitting = true};
    instance_declare(frontend, instance);
    for (uint32_t i = 0; instance->snapshot && i < instance->snapshot->link_count; i++)
        ir_add_link(frontend->module, instance->snapshot->links[i]);
    bind_parameters(&l);
    make_blocks(&l);
    unbound_begin(&l);
    if (instance->ssa->is_generator)
        emit_generator_entry(&l);
    for (uint32_t i = 0; i < instance->ssa->block_count; i++)
        if (instance->block_reached[i] && !begin_phis(&l, &instance->ssa->blocks[i]))
            return false;
    for (uint32_t i = 0; i < instance->ssa->block_count; i++)
        if (instance->block_reached[i] && !emit_ssa_block(&l, &instance->ssa->blocks[i]))
            return false;
    ir_link_blocks(instance->ir);
    finish_phis(&l);
    leave_out_known_tests(instance->ir);
    prune(instance->ir, frontend->request->checks & CHECKS_ALL && !instance->code->is_library);
    simplify_blocks(instance->ir);
    ir_renumber(instance->ir);
    instance->is_complete = true;
    return true;
}
