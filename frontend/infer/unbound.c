/* Beside each phi of a variable that some path leaves unassigned stands another one, a bool: whether this path has assigned
 * it. Reads ask that one.
 *
 *     if n > 3:                          block 1: jump 2
 *         y = 1.5                        block 2: %y = phi undefined, 1.5;  %is = phi false, true
 *     x[0] = y                                    branch %is, 3, raise UnboundLocalError
 *
 * Of a generator's variables the frame has both (generator.c). Those that nested functions share are looked after in
 * lower_cell.c. */
#include "frontend/infer/unbound.h"
#include "frontend/report/unassigned.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/operand.h"

const bool *unbound_phis(const Frontend *frontend, const Instance *instance)
{
    return frontend->request->checks & CHECKS_ALL ? unassigned_phis(instance, frontend->arena) : NULL;
}

void unbound_begin(Lower *l)
{
    l->may_lack = unbound_phis(l->frontend, l->instance);
    if (l->may_lack)
        l->assigned = ARENA_ARRAY(l->arena, IrValue *, l->instance->ssa->value_count);
}

void unbound_phi(Lower *l, const SsaValue *phi)
{
    if (l->may_lack && l->may_lack[phi->id])
        l->assigned[phi->id] =
            ir_phi(l->ir_blocks[phi->block->id], TYPE_OF(BOOL), &phi->pos, phi->block->cfg->predecessor_count);
}

static IrValue *emit_bool(Lower *l, bool value) { return operand_ir(l, operand_bool(l, value)); }

IrValue *unbound_is_assigned(Lower *l, const SsaValue *value)
{
    IrValue *assigned = l->assigned[value->id];
    return assigned ? assigned : emit_bool(l, value->op != SSA_UNDEFINED);
}

void unbound_phi_operand(Lower *l, const SsaValue *phi, const SsaValue *source)
{
    if (l->may_lack && l->may_lack[phi->id])
        emit_phi_edge(l, l->assigned[phi->id], unbound_is_assigned(l, source));
}

/* A phi of the operand stack has the name of a variable that was pushed. NULL: the value is no variable. */
static const char *name_of(const SsaValue *value, uint32_t depth)
{
    const char *name = value->name;
    for (uint32_t i = 0; !name && i < value->count && depth < 8 && value->op == SSA_PHI; i++)
        name = name_of(value->operands[i], depth + 1);
    return name;
}

static void check_read(Lower *l, const SsaValue *read)
{
    const char *name = name_of(read, 0);
    if (!name)
        return;
    IrValue *assigned = l->assigned[read->id] ? l->assigned[read->id] : emit_bool(l, false);
    emit_unbound_check(l, emit1(l, IR_NOT, TYPE_OF(BOOL), assigned), name);
}

void unbound_check(Lower *l, const SsaValue *value)
{
    if (!l->may_lack || value->is_dead || value->op == SSA_CAPTURE)
        return;
    for (uint32_t i = 0; i < value->count; i++)
        if (l->assigned[value->operands[i]->id] || value->operands[i]->op == SSA_UNASSIGNED) {
            l->value = value;
            check_read(l, value->operands[i]);
        }
}
