/* Remainders of sums that 32 bits do not hold, though all that is added fits: periodic borders with offsets from a table,
 *
 *     (y - offsets[k] + height) % height      ->      w = (y + height) % height - offsets[k] % height
 *                                                     w + height if w < 0 else w
 *
 * A remainder of 64 bits is a routine with branches, which loads behind it wait for; two of 32 bits are not, and one of them
 * is often the same for all k. What is added is put together as far as 32 bits hold it; each part has a remainder, and
 * remainders below a divisor of 2^30 and less are added or subtracted exactly. */
#include <assert.h>

#include "codegen/check/ranges.h"
#include "codegen/check/rewrite.h"
#include "codegen/passes.h"

enum { MOST_TERMS = 6, MOST_PARTS = 3, DEEPEST = 4, MOST_NODES = 1 << 12, MOST_DIVISOR = 1 << 30 };

typedef struct Term {
    IrValue *value;
    bool is_subtracted;
    uint32_t node;
} Term;

/* Terms that are added in 32 bits. */
typedef struct Part {
    uint32_t terms[MOST_TERMS], count;
    LaunchRange range;
} Part;

typedef struct Sum {
    Term terms[MOST_TERMS];
    uint32_t count, divisor; /* divisor: its node */
    bool is_too_much;
    Part parts[MOST_PARTS];
    uint32_t part_count; /* 0: the remainder is left as it is */
} Sum;

typedef struct Remainders {
    Ranges *ranges;
    Sum **sums; /* by IrValue.id */
    bool has_any;
} Remainders;

/* --- which remainders --------------------------------------------------------------------------------------------------- */

static bool is_wide(const Type *type) { return type->kind == TYPE_INT && type->size == 8; }

static void find_terms(Sum *sum, IrValue *value, bool is_subtracted, int depth)
{
    bool is_sum = (value->op == IR_ADD || value->op == IR_SUB) && value->hint != IR_SATURATES && depth;
    if (is_sum) {
        find_terms(sum, value->operands[0], is_subtracted, depth - 1);
        find_terms(sum, value->operands[1], is_subtracted != (value->op == IR_SUB), depth - 1);
        return;
    }
    sum->is_too_much |= sum->count == MOST_TERMS;
    if (!sum->is_too_much)
        sum->terms[sum->count++] = (Term){value, is_subtracted, RANGE_NONE};
}

/* Of any context in which the function is called: what is known of a value is of all. */
static uint32_t node_of(Ranges *ranges, const IrFunc *function, const IrValue *value, const IrBlock *block)
{
    uint32_t node = RANGE_NONE;
    for (const Context *context = ranges->contexts; context; context = context->next) {
        if (context->function != function)
            continue;
        uint32_t one = range_of(ranges, context, value, (Place){block, NULL});
        node = node == RANGE_NONE ? one : range_node(ranges, RANGE_UNION, value->type, node, one, RANGE_NONE, 0, 0);
    }
    return node;
}

static void note(Remainders *all, const IrFunc *function, IrValue *value)
{
    if (value->op != IR_MOD || !is_wide(value->type) ||
        (value->operands[0]->op != IR_ADD && value->operands[0]->op != IR_SUB))
        return;
    Sum *sum = ARENA_NEW(all->ranges->arena, Sum);
    find_terms(sum, value->operands[0], false, DEEPEST);
    if (sum->is_too_much)
        return;
    for (uint32_t i = 0; i < sum->count; i++)
        sum->terms[i].node = node_of(all->ranges, function, sum->terms[i].value, value->block);
    sum->divisor = node_of(all->ranges, function, value->operands[1], value->block);
    all->sums[value->id] = sum;
    all->has_any = true;
}

/* --- parts ---------------------------------------------------------------------------------------------------------------- */

static bool fits(LaunchRange range)
{
    return range.least <= range.most && range.least >= INT32_MIN && range.most <= INT32_MAX;
}

static LaunchRange added(LaunchRange sum, LaunchRange term, bool is_subtracted)
{
    return is_subtracted ? (LaunchRange){sum.least - term.most, sum.most - term.least}
                         : (LaunchRange){sum.least + term.least, sum.most + term.most};
}

static bool add_to(Part *part, uint32_t term, LaunchRange range)
{
    if (!fits(range))
        return false;
    part->terms[part->count++] = term;
    part->range = range;
    return true;
}

/* Puts the term to the first part that holds it; false: there is no room. */
static bool place(Sum *sum, uint32_t term, const LaunchRange *found)
{
    LaunchRange range = found[sum->terms[term].node];
    bool is_subtracted = sum->terms[term].is_subtracted;
    if (!fits(range))
        return false;
    for (uint32_t i = 0; i < sum->part_count; i++) {
        Part *part = &sum->parts[i];
        bool is_negative = sum->terms[part->terms[0]].is_subtracted;
        if (add_to(part, term, added(part->range, range, is_subtracted != is_negative)))
            return true;
    }
    if (sum->part_count == MOST_PARTS)
        return false;
    return add_to(&sum->parts[sum->part_count++], term, range);
}

/* Makes parts where the sum has more than 32 bits, and all else has not. */
static void choose(Sum *sum, const LaunchRange *found)
{
    LaunchRange whole = {0, 0}, divisor = sum->divisor == RANGE_NONE ? whole : found[sum->divisor];
    bool holds = divisor.least > 0 && divisor.most <= MOST_DIVISOR;
    for (uint32_t i = 0; holds && i < sum->count; i++) {
        holds = sum->terms[i].node != RANGE_NONE && place(sum, i, found);
        if (holds)
            whole = added(whole, found[sum->terms[i].node], sum->terms[i].is_subtracted);
    }
    if (!holds || fits(whole))
        sum->part_count = 0;
}

/* --- the code ------------------------------------------------------------------------------------------------------------- */

static IrValue *emit(Rewrite *rewrite, IrOp op, IrValue *a, IrValue *b, IrExactness exactness)
{
    IrValue *operands[2] = {a, b};
    IrValue *made = rewrite_emit(rewrite, op, TYPE_OF(INT32), 2, operands);
    if (op != IR_WRAP)
        made->hint = exactness;
    return made;
}

static IrValue *in_word(Rewrite *rewrite, IrValue *value)
{
    return value->op == IR_CONVERT && type_equal(value->operands[0]->type, TYPE_OF(INT32))
               ? value->operands[0]
               : rewrite_emit(rewrite, IR_CONVERT, TYPE_OF(INT32), 1, &value);
}

static IrValue *sum_of(Rewrite *rewrite, const Sum *sum, const Part *part)
{
    bool is_negative = sum->terms[part->terms[0]].is_subtracted;
    IrValue *total = in_word(rewrite, sum->terms[part->terms[0]].value);
    for (uint32_t i = 1; i < part->count; i++) {
        const Term *term = &sum->terms[part->terms[i]];
        total = emit(rewrite, term->is_subtracted != is_negative ? IR_SUB : IR_ADD, total,
                     in_word(rewrite, term->value), IR_EXACT);
    }
    return total;
}

/* total + more or total - more, where both are below the divisor. */
static IrValue *step(Rewrite *rewrite, IrValue *total, IrValue *more, bool is_subtracted, IrValue *divisor)
{
    if (!is_subtracted)
        more = emit(rewrite, IR_SUB, more, divisor, IR_EXACT);
    return emit(rewrite, IR_WRAP, emit(rewrite, is_subtracted ? IR_SUB : IR_ADD, total, more, IR_EXACT), divisor, 0);
}

static void visit(Rewrite *rewrite, IrValue *value, void *user)
{
    const Remainders *all = user;
    const Sum *sum = all->sums[value->id];
    if (!sum || !sum->part_count)
        return;
    IrValue *divisor = in_word(rewrite, value->operands[1]), *total = NULL;
    for (uint32_t i = 0; i < sum->part_count; i++) {
        const Part *part = &sum->parts[i];
        bool is_negative = sum->terms[part->terms[0]].is_subtracted;
        IrValue *one = emit(rewrite, IR_MOD, sum_of(rewrite, sum, part), divisor, IR_EXACT);
        if (!total && is_negative)
            total = rewrite_int(rewrite, TYPE_OF(INT32), 0);
        total = total ? step(rewrite, total, one, is_negative, divisor) : one;
    }
    value->op = IR_CONVERT;
    value->hint = 0;
    value->operand_count = 1;
    value->operands[0] = total;
}

static const RangeLimits limits = {LAUNCH_LIMIT_EXTENT, LAUNCH_LIMIT_BLOCKS};

static void split_in_function(IrModule *module, IrFunc *function)
{
    Arena *arena = arena_create();
    Remainders all = {ranges_begin(module, MOST_NODES, arena), ARENA_ARRAY(arena, Sum *, function->value_count), false};
    for (IrBlock *block = function->first; block && (function->is_kernel || !all.ranges->lacks_contexts);
         block = block->next)
        for (IrValue *value = block->first; value; value = value->next)
            note(&all, function, value);
    LaunchRange *found = ARENA_ARRAY(arena, LaunchRange, all.ranges->count);
    launch_ranges(all.ranges->nodes, all.ranges->count, module->first->is_limited ? &limits : NULL, found);
    for (uint32_t id = 0; id < function->value_count; id++)
        if (all.sums[id])
            choose(all.sums[id], found);
    ranges_end(all.ranges);
    if (all.has_any)
        rewrite_function(function, visit, &all);
    arena_destroy(arena);
}

/* Whether a remainder of a sum may be one to split: cheap to ask. */
static bool has_candidate(const IrFunc *function)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_MOD && is_wide(value->type) &&
                (value->operands[0]->op == IR_ADD || value->operands[0]->op == IR_SUB))
                return true;
    return false;
}

void split_remainders(IrModule *module)
{
    if (!module->first->is_kernel || module->first_watcher)
        return;
    for (IrFunc *function = module->first; function; function = function->next)
        if (!function->lacks_body && !function->assembly && has_candidate(function))
            split_in_function(module, function);
}
