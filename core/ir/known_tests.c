/* A test of whether a variable has been assigned to, where the condition of the assignment holds again:
 *
 *     if t >= step:                      branch t >= step, block 1, block 2
 *         v = s[t - step]                block 1: ...
 *     cuda.syncthreads()                 block 2: %is = phi false, true
 *     if t >= step:                               branch t >= step, block 3, block 5
 *         s[t] += v                      block 3: branch %is, block 4, raise
 *
 * Between the phi and the test nothing that the condition is made of has changed: whatever makes it anew comes before the
 * phi again. So the test becomes a jump, and the thread ends nowhere. Where more than MOST_WAYS meet nothing is looked for: each
 * would be looked at for each other. */
#include "core/ir/ir_graph.h"

enum { DEEPEST = 6, MOST_DOMINATORS = 64, MOST_WAYS = 64 };

/* A condition without negations, and whether it holds. */
typedef struct Fact {
    const IrValue *condition;
    bool holds;
} Fact;

static Fact fact_of(const IrValue *condition, bool holds)
{
    for (; condition->op == IR_NOT; condition = condition->operands[0])
        holds = !holds;
    return (Fact){condition, holds};
}

static bool has_same_immediate(const IrValue *a, const IrValue *b)
{
    switch (a->op) {
    case IR_CONST: return type_is_integer(a->type) && a->integer == b->integer;
    case IR_EXTENT:
    case IR_GET: return a->index == b->index;
    case IR_INTRINSIC:
        return a->intrinsic == b->intrinsic && intrinsic_info[a->intrinsic].kind == INTRINSIC_KIND_REGISTER;
    case IR_CONVERT:
    case IR_NOT:
    case IR_AND:
    case IR_OR:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL: return true;
    default: return ir_is_comparison(a->op);
    }
}

static bool joins_few(const IrValue *value) { return value->op == IR_PHI && value->operand_count <= MOST_WAYS; }

/* Whether both are the same, made of the same. */
static bool is_same(const IrValue *a, const IrValue *b, int depth)
{
    if (a == b)
        return true;
    if (depth == DEEPEST || a->op != b->op || !type_equal(a->type, b->type) || a->operand_count != b->operand_count ||
        a->hint != b->hint || !ir_is_repeatable(a) || !has_same_immediate(a, b))
        return false;
    for (uint32_t i = 0; i < a->operand_count; i++)
        if (!is_same(a->operands[i], b->operands[i], depth + 1))
            return false;
    return true;
}

/* Which target of the branch leads to the block by that way; -1: both may. */
static int side_of(const IrGraph *graph, const IrBlock *from, const IrBlock *block, const IrBlock *way)
{
    for (int k = 0; k < 2; k++) {
        const IrBlock *target = from->last->targets[k];
        if (from->last->targets[0] != from->last->targets[1] &&
            (target == block ? way == from : target->predecessor_count == 1 && ir_dominates(graph, target, way)))
            return k;
    }
    return -1;
}

/* Whether the condition is known to hold, or not to, wherever control is at the end of the block, by a test behind the phi's
 * block. */
static bool is_tested(const IrGraph *graph, const IrBlock *place, const IrBlock *behind, Fact fact)
{
    uint32_t left = MOST_DOMINATORS;
    for (const IrBlock *block = place; block != behind && left--; block = graph->dominator[block->id]) {
        const IrBlock *from = graph->dominator[block->id];
        if (from->last->op != IR_BRANCH || block->predecessor_count != 1 ||
            from->last->targets[0] == from->last->targets[1])
            continue;
        Fact known = fact_of(from->last->operands[0], from->last->targets[0] == block);
        if (known.holds == fact.holds && is_same(known.condition, fact.condition, 0))
            return true;
    }
    return false;
}

/* The operand that the phi has where the branch in front of it has gone to that side; NULL: not known. */
static const IrValue *operand_of_side(const IrGraph *graph, const IrBlock *from, const IrValue *phi, int side)
{
    const IrValue *operand = NULL;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        int way = side_of(graph, from, phi->block, phi->block->predecessors[i]);
        if (way == 1 - side)
            continue;
        if (way < 0 || operand)
            return NULL;
        operand = phi->operands[i];
    }
    return operand;
}

/* What the phi is at the end of the block: 0 or 1; -1: not known. */
static int value_at(const IrGraph *graph, const IrValue *phi, const IrBlock *place)
{
    const IrBlock *from = graph->dominator[phi->block->id];
    if (!from || from->last->op != IR_BRANCH || !joins_few(phi) || !ir_dominates(graph, phi->block, place))
        return -1;
    for (int side = 0; side < 2; side++) {
        const IrValue *operand = operand_of_side(graph, from, phi, side);
        if (operand && operand->op == IR_CONST &&
            is_tested(graph, place, phi->block, fact_of(from->last->operands[0], side == 0)))
            return operand->integer != 0;
    }
    return -1;
}

/* The target that only ends the thread; -1: none does. */
static int side_that_raises(const IrValue *branch)
{
    for (int k = 0; k < 2; k++)
        if (branch->targets[k]->first->op == IR_RAISE && branch->targets[k]->predecessor_count == 1)
            return k;
    return -1;
}

static bool may_be_known(const IrBlock *block)
{
    return block->last->op == IR_BRANCH && side_that_raises(block->last) >= 0 &&
           fact_of(block->last->operands[0], true).condition->op == IR_PHI;
}

static void leave_out_test(const IrGraph *graph, const IrBlock *block)
{
    IrValue *branch = block->last;
    int raises = side_that_raises(branch);
    Fact fact = fact_of(branch->operands[0], raises == 0); /* the thread ends where it is so */
    int value = value_at(graph, fact.condition, block);
    if (value < 0 || (value != 0) == fact.holds)
        return;
    branch->targets[raises]->predecessor_count = 0;
    branch->op = IR_JUMP;
    branch->operand_count = 0;
    branch->targets[0] = branch->targets[1 - raises];
    branch->targets[1] = NULL;
}

/* --- what nobody reads ---------------------------------------------------------------------------------------------------- */

/* What stands for the variable where it lacks a value, if the phi has it on some way; NULL: it does not. */
static IrValue *lacking(const IrValue *phi)
{
    for (uint32_t i = 0; joins_few(phi) && i < phi->operand_count; i++)
        if (phi->operands[i]->op == IR_UNDEFINED)
            return phi->operands[i];
    return NULL;
}

/* By the id of each value: where those that have it as an operand begin; they end where the next ones do. One has been
 * changed since if it has the operand no longer. */
typedef struct Users {
    const IrValue **all;
    uint32_t *first;
} Users;

static Users list_users(const IrFunc *function, Arena *arena)
{
    uint32_t count = 0, *first = ARENA_ARRAY(arena, uint32_t, function->value_count + 2);
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *user = block->first; user; user = user->next)
            for (uint32_t i = 0; i < user->operand_count; i++, count++)
                first[user->operands[i]->id + 2]++;
    for (uint32_t id = 0; id < function->value_count; id++)
        first[id + 2] += first[id + 1];
    const IrValue **all = ARENA_ARRAY(arena, const IrValue *, count);
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *user = block->first; user; user = user->next)
            for (uint32_t i = 0; i < user->operand_count; i++)
                all[first[user->operands[i]->id + 1]++] = user;
    return (Users){all, first};
}

/* Whether the value is read as this operand of the phi alone. */
static bool is_only_for(const Users *users, const IrValue *value, const IrValue *phi, uint32_t operand)
{
    for (uint32_t k = users->first[value->id]; k < users->first[value->id + 1]; k++)
        for (uint32_t i = 0; i < users->all[k]->operand_count; i++)
            if (users->all[k]->operands[i] == value && !(users->all[k] == phi && i == operand))
                return false;
    return true;
}

/* Whether the phi is read only where it does not have this operand, or by the loop around for this operand. */
static bool is_never_read(const IrGraph *graph, const Users *users, const IrValue *phi, uint32_t operand, Fact other)
{
    for (uint32_t k = users->first[phi->id]; k < users->first[phi->id + 1]; k++) {
        const IrValue *user = users->all[k];
        bool reads = false;
        for (uint32_t i = 0; i < user->operand_count; i++)
            reads |= user->operands[i] == phi;
        bool is_kept = user == phi->operands[operand] && is_only_for(users, user, phi, operand);
        bool is_known = user->op != IR_PHI && ir_dominates(graph, phi->block, user->block) &&
                        is_tested(graph, user->block, phi->block, other);
        if (reads && !is_kept && !is_known)
            return false;
    }
    return true;
}

/* A loop keeps what the variable had before, for nobody: not any more. */
static void forget_former(const IrGraph *graph, const Users *users, IrValue *phi)
{
    const IrBlock *from = graph->dominator[phi->block->id];
    if (!from || from->last->op != IR_BRANCH)
        return;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        IrValue *none = lacking(phi->operands[i]);
        int side = side_of(graph, from, phi->block, phi->block->predecessors[i]);
        if (none && side >= 0 && ir_dominates(graph, none->block, phi->block->predecessors[i]) &&
            operand_of_side(graph, from, phi, 1 - side) &&
            is_never_read(graph, users, phi, i, fact_of(from->last->operands[0], side != 0)))
            phi->operands[i] = none;
    }
}

static bool may_be_forgotten(const IrValue *phi)
{
    for (uint32_t i = 0; joins_few(phi) && i < phi->operand_count; i++)
        if (lacking(phi->operands[i]))
            return true;
    return false;
}

void leave_out_known_tests(IrFunc *function)
{
    Arena *arena = NULL;
    const IrGraph *graph = NULL;
    Users users = {0};
    for (const IrBlock *block = function->first; block; block = block->next) {
        bool is_test = may_be_known(block);
        for (IrValue *value = block->first; value && (is_test || value->op == IR_PHI); value = value->next) {
            bool is_last = is_test && value == block->last;
            if (!is_last && !may_be_forgotten(value))
                continue;
            arena = arena ? arena : arena_create();
            graph = graph ? graph : ir_graph(function, arena);
            users = users.all ? users : list_users(function, arena);
            if (is_last)
                leave_out_test(graph, block);
            else
                forget_former(graph, &users, value);
        }
    }
    if (arena)
        arena_destroy(arena);
}
