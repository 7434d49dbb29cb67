/* Variables that may be read, or deleted, before anything is assigned to them. Python raises UnboundLocalError there, and so does
 * check mode (infer/unbound.c); else a kernel goes on with whatever value is at hand, as numba's do. A warning is worth something only where the path can be taken, so that
 * each read is followed back through the phis of its variable, and a path is dropped
 *
 * - where inference has found an edge that is never taken,
 * - where a condition would have to be true on it and false at the read, or the other way round:
 *       if i < n: y = x[i]              the read is under the condition of the assignment, and so it is
 *       if i < n: out[i] = y            where a flag that the same paths set, or a loop's counter, stands in for it,
 * - where a `for` loop would have to end without a trip: what a loop assigns is read behind it in good faith.
 *
 * What is followed is bounded; beyond that nothing is said. */
#include <string.h>

#include "frontend/report/unassigned.h"

enum { FACT_LIMIT = 16, DOMINATOR_LIMIT = 256, PATH_LIMIT = 64, EXPRESSION_DEPTH = 6 };

/* A condition that holds, or does not, wherever control is at a certain place. */
typedef struct Fact {
    const SsaValue *condition;
    bool truth;
} Fact;

typedef struct Facts {
    Fact items[FACT_LIMIT];
    uint32_t count;
} Facts;

typedef struct Search {
    Lower *l;
    const SsaFunction *ssa;
    const bool *may_lack; /* by value: a phi that some path reaches without an assignment */
    bool *seen; /* by value: phis on the ways that were followed from this read */
    const SsaValue *phi; /* where the path ends that lacks the assignment, and by which of its operands */
    uint32_t edge;
} Search;

/* --- what holds at a place ---------------------------------------------------------------------------------------- */

static bool same_names(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* Whether two expressions say the same. Memory may have changed between them: this is not asked for proofs. */
static bool is_same(const SsaValue *a, const SsaValue *b, uint32_t depth)
{
    if (a == b)
        return true;
    if (a->op != b->op || a->op == SSA_PHI || a->op == SSA_PARAMETER || a->count != b->count ||
        a->argument != b->argument || a->argument2 != b->argument2 || !same_names(a->name, b->name) ||
        depth > EXPRESSION_DEPTH)
        return false;
    if (a->op == SSA_CONSTANT)
        return a->constant && b->constant && constant_equal(a->constant, b->constant);
    for (uint32_t i = 0; i < a->count; i++)
        if (!is_same(a->operands[i], b->operands[i], depth + 1))
            return false;
    return a->count > 0;
}

static void add_fact(Facts *facts, const CfgBlock *from, const SsaValue *last, uint32_t successor)
{
    if (!last || last->op != SSA_BRANCH || from->successors[0] == from->successors[1] || facts->count == FACT_LIMIT)
        return;
    Fact fact = {last->operands[0], (successor == 1) == (last->argument != 0)};
    while (fact.condition->op == SSA_NOT)
        fact = (Fact){fact.condition->operands[0], !fact.truth};
    facts->items[facts->count++] = fact;
}

/* The branches on every way to the block, the nearest first. */
static void add_facts_at(Facts *facts, const SsaFunction *ssa, uint32_t block)
{
    for (uint32_t steps = 0; block && facts->count < FACT_LIMIT && steps < DOMINATOR_LIMIT; steps++) {
        const CfgBlock *cfg = &ssa->cfg->blocks[block];
        uint32_t dominator = cfg->dominator;
        const CfgBlock *from = &ssa->cfg->blocks[dominator];
        if (cfg->predecessor_count == 1)
            add_fact(facts, from, ssa->blocks[dominator].last, from->successors[0] != block);
        block = dominator;
    }
}

/* What holds where control goes from one block to another. */
static Facts facts_of_edge(const SsaFunction *ssa, uint32_t from, uint32_t to)
{
    Facts facts = {.count = 0};
    const CfgBlock *cfg = &ssa->cfg->blocks[from];
    if (cfg->successor_count == 2)
        add_fact(&facts, cfg, ssa->blocks[from].last, cfg->successors[0] != to);
    add_facts_at(&facts, ssa, from);
    return facts;
}

/* x < y and x >= y. */
static bool is_opposite(const SsaValue *a, const SsaValue *b)
{
    static const int32_t opposites[] = {5, 4, 3, 2, 1, 0}; /* by the argument of SSA_COMPARE */
    return a->op == SSA_COMPARE && b->op == SSA_COMPARE && a->argument == opposites[b->argument] &&
           is_same(a->operands[0], b->operands[0], 1) && is_same(a->operands[1], b->operands[1], 1);
}

static bool contradict(const Facts *facts, const Facts *others)
{
    for (uint32_t i = 0; i < facts->count; i++)
        for (uint32_t k = 0; k < others->count; k++) {
            const Fact *a = &facts->items[i], *b = &others->items[k];
            if (a->truth != b->truth ? is_same(a->condition, b->condition, 0) : is_opposite(a->condition, b->condition))
                return true;
        }
    return false;
}

/* The number that a value is where control comes to the block by this edge, as far as that is plain: a constant, a phi
 * of the block, what a `for` loop over a range gives in its first trip. */
static bool number_by_edge(const Search *search, const SsaBlock *block, uint32_t edge, const SsaValue *value,
                           int64_t *number)
{
    if (value->op == SSA_PHI && value->block == block)
        value = value->operands[edge];
    if (value->op == SSA_ITER_VALUE && value->operands[1]->op == SSA_ITER_STEP &&
        value->operands[1]->operands[1]->block == block && value->operands[0]->op == SSA_ITERATOR) {
        const SsaValue *range = value->operands[0]->operands[0];
        if (range->op != SSA_CALL || cfg_dominates(search->ssa->cfg, block->id, block->cfg->predecessors[edge]) ||
            operand_intrinsic(lower_fact(search->l, range->operands[0])) != INTRINSIC_RANGE)
            return false;
        *number = 0;
        if (range->count <= 2)
            return true;
        value = range->operands[1];
    }
    const Constant *constant = lower_fact(search->l, value).constant;
    if (!constant || (constant->kind != CONSTANT_BOOL && constant->kind != CONSTANT_INT))
        return false;
    *number = constant->integer;
    return true;
}

/* Whether the condition can have this truth where control comes to the block by this edge. */
static bool can_hold(const Search *search, const SsaBlock *block, uint32_t edge, Fact fact)
{
    int64_t a, b;
    if (fact.condition->op != SSA_COMPARE)
        return !number_by_edge(search, block, edge, fact.condition, &a) || (a != 0) == fact.truth;
    if (!number_by_edge(search, block, edge, fact.condition->operands[0], &a) ||
        !number_by_edge(search, block, edge, fact.condition->operands[1], &b))
        return true;
    const bool truths[] = {a<b, a <= b, a == b, a != b, a> b, a >= b}; /* by the argument of SSA_COMPARE */
    return truths[fact.condition->argument] == fact.truth;
}

/* The facts as they were before control came to the block by this edge: the block's phis are their operands. False: a
 * flag would have to be what it is not. In a loop conditions of another trip say nothing of this one. */
static bool facts_before(const Search *search, const SsaBlock *block, uint32_t edge, const Facts *facts, Facts *before)
{
    before->count = 0;
    bool is_back_edge = cfg_dominates(search->ssa->cfg, block->id, block->cfg->predecessors[edge]);
    for (uint32_t i = 0; i < facts->count; i++) {
        Fact fact = facts->items[i];
        if (!can_hold(search, block, edge, fact))
            return false;
        if (fact.condition->op == SSA_PHI && fact.condition->block == block)
            fact.condition = fact.condition->operands[edge];
        else if (is_back_edge && cfg_dominates(search->ssa->cfg, block->id, fact.condition->block->id))
            continue;
        before->items[before->count++] = fact;
    }
    return true;
}

/* --- the ways to a read ------------------------------------------------------------------------------------------- */

/* Whether that edge into a `for` loop is one by which a place behind the loop is reached without a trip. */
static bool is_way_past_loop(const Search *search, const SsaBlock *block, uint32_t edge, uint32_t place)
{
    const CfgBlock *cfg = block->cfg;
    bool is_for = cfg->is_loop_header && block->last && block->last->op == SSA_BRANCH &&
                  block->last->operands[0]->op == SSA_ITER_HAS;
    return is_for && !cfg_dominates(search->ssa->cfg, block->id, cfg->predecessors[edge]) &&
           !cfg_dominates(search->ssa->cfg, cfg->successors[0], place);
}

/* Whether control can come to `place`, where the facts hold, without an assignment to what the phi stands for. */
static bool find_path(Search *search, const SsaValue *phi, uint32_t place, const Facts *facts, uint32_t depth)
{
    const SsaBlock *block = phi->block;
    search->seen[phi->id] = true;
    for (uint32_t i = 0; i < phi->count && depth < PATH_LIMIT; i++) {
        const SsaValue *operand = phi->operands[i];
        uint32_t from = block->cfg->predecessors[i];
        bool is_end = operand->op == SSA_UNDEFINED;
        Facts before;
        if ((!is_end && (!search->may_lack[operand->id] || search->seen[operand->id])) ||
            !edge_is_reached(search->l->instance, from, block->id) || is_way_past_loop(search, block, i, place) ||
            !facts_before(search, block, i, facts, &before))
            continue;
        Facts edge = facts_of_edge(search->ssa, from, block->id);
        if (contradict(&edge, &before))
            continue;
        if (is_end) {
            search->phi = phi;
            search->edge = i;
            return true;
        }
        for (uint32_t k = 0; k < edge.count && before.count < FACT_LIMIT; k++)
            before.items[before.count++] = edge.items[k];
        if (find_path(search, operand, from, &before, depth + 1))
            return true;
    }
    return false;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

static const char *describe_path(const Search *search)
{
    if (!search->phi)
        return "on any path to it";
    const SsaBlock *block = search->phi->block;
    uint32_t from = block->cfg->predecessors[search->edge];
    Arena *arena = search->l->arena;
    if (block->cfg->is_loop_header)
        return arena_format(arena, "in the first trip of the loop of line %d", block->last ? block->last->pos.line : 0);
    Facts facts = facts_of_edge(search->ssa, from, block->id);
    if (!facts.count)
        return "on one of the paths to it";
    const SsaValue *condition = facts.items[0].condition;
    if (condition->op == SSA_ITER_HAS)
        return arena_format(arena, "where the loop of line %d %s", condition->pos.line,
                            facts.items[0].truth ? "is in a trip" : "comes to its end");
    return arena_format(arena, "where the condition of line %d is %s", condition->pos.line,
                        facts.items[0].truth ? "true" : "false");
}

static void report(Buf *out, const Search *search, const SsaValue *value, const char *name)
{
    const SourceFunction *source = &search->l->instance->code->source;
    const char *start =
        arena_format(search->l->arena, "%s:%d: '%s' may be unassigned", source->file, value->pos.line, name);
    if (out->text && strstr(out->text, start)) /* the function for other types */
        return;
    bool is_deleted = value->op == SSA_DELETE;
    buf_printf(out, "%s where it is %s, in %s: nothing is assigned to it %s%s\n", start,
               is_deleted ? "deleted" : "read", source->name, describe_path(search),
               is_deleted ? "; Python raises UnboundLocalError there" : "; its value is then undefined");
}

static void check_read(Buf *out, Search *search, Table *reported, const SsaBlock *block, const SsaValue *value)
{
    for (uint32_t i = 0; i < value->count; i++) {
        const SsaValue *phi = value->operands[i];
        bool is_read = phi->op == SSA_UNASSIGNED || (phi->op == SSA_PHI && phi->name && search->may_lack[phi->id]);
        if (!is_read || table_get(reported, phi->name, strlen(phi->name)))
            continue;
        Facts facts = {.count = 0};
        add_facts_at(&facts, search->ssa, block->id);
        memset(search->seen, 0, search->ssa->value_count * sizeof *search->seen);
        search->phi = NULL;
        if (phi->op == SSA_PHI && !find_path(search, phi, block->id, &facts, 0))
            continue;
        table_set(reported, phi->name, strlen(phi->name), (void *)phi->name);
        report(out, search, value, phi->name);
    }
}

static bool has_undefined(const SsaFunction *ssa)
{
    for (const SsaValue *value = ssa->blocks[0].first; value; value = value->next)
        if (value->op == SSA_UNDEFINED || value->op == SSA_UNASSIGNED)
            return true;
    return false;
}

/* By edges that are reached. */
static bool comes_unassigned(const Instance *instance, const SsaValue *phi, const bool *may_lack)
{
    for (uint32_t i = 0; i < phi->count; i++) {
        const SsaValue *operand = phi->operands[i];
        bool lacks = operand->op == SSA_UNDEFINED || may_lack[operand->id];
        if (lacks && edge_is_reached(instance, phi->block->cfg->predecessors[i], phi->block->id))
            return true;
    }
    return false;
}

const bool *unassigned_phis(const Instance *instance, Arena *arena)
{
    const SsaFunction *ssa = instance->ssa;
    if (instance->code->is_library || !has_undefined(ssa))
        return NULL;
    bool *may_lack = ARENA_ARRAY(arena, bool, ssa->value_count);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < ssa->block_count; b++)
            for (const SsaValue *phi = ssa->blocks[b].phis; phi; phi = phi->next)
                if (!may_lack[phi->id] && comes_unassigned(instance, phi, may_lack))
                    may_lack[phi->id] = changed = true;
    }
    return may_lack;
}

void list_unassigned(Buf *out, Frontend *frontend, Instance *instance)
{
    const SsaFunction *ssa = instance->ssa;
    const bool *may_lack = unassigned_phis(instance, frontend->arena);
    if (!may_lack)
        return;
    Diag scratch;
    diag_clear(&scratch);
    Lower l = {.frontend = frontend, .arena = frontend->arena, .diag = &scratch, .instance = instance};
    Search search = {
        .l = &l, .ssa = ssa, .may_lack = may_lack, .seen = ARENA_ARRAY(frontend->arena, bool, ssa->value_count)};
    Table *reported = table_create();
    for (uint32_t b = 0; b < ssa->block_count; b++)
        for (const SsaValue *value = ssa->blocks[b].first; value && instance->block_reached[b]; value = value->next)
            if (!value->is_dead)
                check_read(out, &search, reported, &ssa->blocks[b], value);
    table_destroy(reported);
}
