/* Integers of 64 bits in 32. Python's integers have 64 bits, and so have indices; a GPU has registers and arithmetic of 32.
 * What is known to fit (codegen/check/ranges.h) is computed in 32 bits: an index `i + n if i < 0` costs one addition
 * instead of six instructions, and a remainder a fraction. For example
 *
 *     %7: i64 = convert %6 ; i32                  %9: i32 = mod !exact %6, %8
 *     %9: i64 = mod %7, %n                 ->     %10: i64 = convert %9
 *
 * Two ways lead there. The result of a sum, a product or a bitwise operation has its lowest 32 bits from those of the
 * operands: where the result fits, or where nobody asks for more of it, the operands may be anything. Of all else
 * (quotients, comparisons, minima, indices from the end) the operands have to fit as well. What fits is a signed number of
 * 32 bits or an unsigned one. An index of an access fits because there is an element: of table[left[i] + j], whose sum has 33
 * bits, nobody asks for more than 32 where the table has fewer than 2^31 elements. A shuffle hands on bits: where nobody asks
 * for more than the lowest 32 of them, the warp exchanges no more. Lanes may meet in shuffles that stand in different places:
 * all of the module of one kind have 32 bits, or none.
 *
 * What all launches have in common is seldom enough: i = blockIdx.x * blockDim.x + threadIdx.x may need 41 bits. Most
 * kernels are made for launches within limits, which a plan tests; a launch beyond them has a kernel of its own. */
#include "codegen/check/narrow.h"

#include <assert.h>

#include "codegen/check/ranges.h"
#include "codegen/passes.h"

typedef enum Width { WIDE, SIGNED, UNSIGNED } Width;

/* What is known of a value and of its operands where it is computed: nodes; RANGE_NONE: nothing. */
typedef struct Facts {
    uint32_t result, operands[2];
} Facts;

typedef struct Narrowing {
    const Ranges *ranges;
    const LaunchRange *found; /* by node */
    const bool *of_memory; /* by node: the range is that of what was written, and there may be something else */
    bool *wide_shuffles; /* the module's, by IntrinsicId: somebody uses more of one than the lowest 32 bits */
    IrFunc *function;
    const IrGraph *graph;
    Arena *arena;
    uint32_t count; /* of the function's values at first; by their ids: */
    Facts *facts;
    bool *is_asked; /* of a value of 64 bits: somebody uses more than the lowest 32 */
    bool *is_index; /* of a WRAP: it is an index of accesses, and of nothing else */
    IrValue **narrow; /* the value in 32 bits; NULL: there is none */
    IrValue **same; /* a value that is the same; NULL: none */
    IrValue **before_end; /* by block: the value before its last one */
} Narrowing;

static bool is_wide(const Type *type) { return type_is_integer(type) && type->size == 8; }

static const Type *type_of(Width width) { return width == SIGNED ? TYPE_OF(INT32) : TYPE_OF(UINT32); }

/* --- operations --------------------------------------------------------------------------------------------------------- */

typedef enum Family {
    OTHER,
    RING, /* the lowest bits of the result are made of the operands' */
    SHIFTED_UP, /* likewise, by a count */
    SHIFTED_DOWN,
    BOTH, /* result and operands have to fit */
    DIVISION,
    COMPARISON,
    TO_FLOAT,
    SHUFFLED, /* the result's bits are another lane's */
} Family;

enum { SHUFFLED_OPERAND = 1 };

static Family family_of_call(const IrValue *value)
{
    return intrinsic_info[value->intrinsic].family == FAMILY_SHUFFLE && is_wide(value->type) ? SHUFFLED : OTHER;
}

static Family family_of(const IrValue *value)
{
    bool is_number = is_wide(value->type);
    switch (value->op) {
    case IR_ADD: return is_number && value->hint != IR_SATURATES ? RING : OTHER;
    case IR_SUB:
    case IR_MUL:
    case IR_NEG:
    case IR_NOT:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_SELECT:
    case IR_PHI: return is_number ? RING : OTHER;
    case IR_SHL: return is_number ? SHIFTED_UP : OTHER;
    case IR_SHR: return is_number ? SHIFTED_DOWN : OTHER;
    case IR_MIN:
    case IR_MAX:
    case IR_ABS:
    case IR_WRAP: return is_number ? BOTH : OTHER;
    case IR_FLOORDIV:
    case IR_MOD: return is_number ? DIVISION : OTHER;
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE: return is_wide(value->operands[0]->type) ? COMPARISON : OTHER;
    case IR_INTRINSIC: return family_of_call(value);
    case IR_CONVERT:
        return value->type->kind == TYPE_FLOAT && value->type->size >= 4 && is_wide(value->operands[0]->type) ? TO_FLOAT
                                                                                                              : OTHER;
    default: return OTHER;
    }
}

static bool is_between(const Narrowing *n, uint32_t node, __int128 least, __int128 most)
{
    if (node == RANGE_NONE)
        return false;
    const LaunchRange *range = &n->found[node];
    return range->least <= range->most && range->least >= least && range->most <= most;
}

static bool fits(const Narrowing *n, uint32_t node, Width width)
{
    return width == SIGNED ? is_between(n, node, INT32_MIN, INT32_MAX) : is_between(n, node, 0, UINT32_MAX);
}

static bool operands_fit(const Narrowing *n, const IrValue *value, Width width)
{
    const Facts *facts = &n->facts[value->id];
    return fits(n, facts->operands[0], width) && (value->operand_count < 2 || fits(n, facts->operands[1], width));
}

static Width width_of_ring(const Narrowing *n, const IrValue *value)
{
    uint32_t result = n->facts[value->id].result;
    return fits(n, result, SIGNED) ? SIGNED : fits(n, result, UNSIGNED) || !n->is_asked[value->id] ? UNSIGNED : WIDE;
}

static bool counts_within(const Narrowing *n, const IrValue *shift)
{
    return is_between(n, n->facts[shift->id].operands[1], 0, 31);
}

/* Whether an index that may be from the end is one of an element that exists, of an axis whose extent fits: it has 32 bits,
 * then, whatever the numbers that it is made of say. */
static bool is_small_index(const Narrowing *n, const IrValue *value)
{
    return value->op == IR_WRAP && n->is_index[value->id] && fits(n, n->facts[value->id].operands[1], SIGNED);
}

/* Made of what the launch gives, in a few steps. */
static bool is_of_launch(const IrValue *value, int depth)
{
    if (value->op == IR_CONST || value->op == IR_EXTENT || value->op == IR_PARAM)
        return true;
    bool is_sum = value->op == IR_ADD || value->op == IR_SUB || (value->op == IR_CONVERT && is_wide(value->type));
    for (uint32_t i = 0; i < value->operand_count && is_sum && depth; i++)
        is_sum = is_of_launch(value->operands[i], depth - 1);
    return is_sum && depth;
}

/* Of min(j, width - 1), where j has 32 bits, the other end may be beyond them: cut off there it gives the same. That is done
 * once for all threads. */
static bool is_clamp(const Narrowing *n, const IrValue *value, uint32_t end)
{
    enum { DEEPEST = 4 };
    const Facts *facts = &n->facts[value->id];
    return (value->op == IR_MIN || value->op == IR_MAX) && fits(n, facts->operands[1 - end], SIGNED) &&
           !fits(n, facts->operands[end], SIGNED) && fits(n, facts->result, SIGNED) &&
           is_of_launch(value->operands[end], DEEPEST);
}

static Width width_of(const Narrowing *n, const IrValue *value)
{
    const Facts *facts = &n->facts[value->id];
    switch (family_of(value)) {
    case RING: return width_of_ring(n, value);
    case SHIFTED_UP: return counts_within(n, value) ? width_of_ring(n, value) : WIDE;
    case SHIFTED_DOWN:
        return !counts_within(n, value)                ? WIDE
               : fits(n, facts->operands[0], UNSIGNED) ? UNSIGNED
               : fits(n, facts->operands[0], SIGNED)   ? SIGNED
                                                       : WIDE;
    case BOTH:
        if (operands_fit(n, value, SIGNED) && fits(n, facts->result, SIGNED))
            return SIGNED;
        if (is_small_index(n, value) || is_clamp(n, value, 0) || is_clamp(n, value, 1))
            return SIGNED;
        return operands_fit(n, value, UNSIGNED) && value->op != IR_WRAP ? UNSIGNED : WIDE;
    case DIVISION: /* without signs it is short */
        if (operands_fit(n, value, UNSIGNED))
            return UNSIGNED;
        return operands_fit(n, value, SIGNED) && fits(n, facts->result, SIGNED) ? SIGNED : WIDE;
    case COMPARISON:
    case TO_FLOAT: return operands_fit(n, value, SIGNED) ? SIGNED : operands_fit(n, value, UNSIGNED) ? UNSIGNED : WIDE;
    case SHUFFLED: return n->is_asked[value->id] ? WIDE : UNSIGNED;
    case OTHER: break;
    }
    return WIDE;
}

/* --- what is known ------------------------------------------------------------------------------------------------------ */

static uint32_t united(Ranges *ranges, const Type *type, uint32_t a, uint32_t b)
{
    return a == RANGE_NONE ? b : range_node(ranges, RANGE_UNION, type, a, b, RANGE_NONE, 0, 0);
}

static void find_facts_of(Narrowing *n, Ranges *ranges, const Context *context, const IrValue *value)
{
    Facts *facts = &n->facts[value->id];
    Place place = {value->block, NULL};
    bool is_merge = value->op == IR_PHI || value->op == IR_SELECT;
    if (is_wide(value->type))
        facts->result = united(ranges, value->type, facts->result, range_of(ranges, context, value, place));
    for (uint32_t i = 0; i < value->operand_count && i < 2 && !is_merge; i++)
        facts->operands[i] = united(ranges, value->operands[i]->type, facts->operands[i],
                                    range_of(ranges, context, value->operands[i], place));
}

/* In whatever context the function is called. */
static void find_facts(Narrowing *n, Ranges *ranges)
{
    for (uint32_t i = 0; i < n->count; i++)
        n->facts[i] = (Facts){RANGE_NONE, {RANGE_NONE, RANGE_NONE}};
    if (!n->function->is_kernel && ranges->lacks_contexts)
        return;
    for (const Context *context = ranges->contexts; context; context = context->next)
        for (uint32_t i = 0; context->function == n->function && i < context->graph->count; i++)
            for (const IrValue *value = context->graph->order[i]->first; value; value = value->next)
                if (family_of(value) != OTHER)
                    find_facts_of(n, ranges, context, value);
}

/* Whether the user looks at nothing but the lowest 32 bits of its operand. */
static bool asks_for_little(const Narrowing *n, const IrValue *user, uint32_t operand)
{
    bool is_integer = type_is_integer(user->type);
    if (user->op == IR_CONVERT && is_integer && user->type->size <= 4)
        return true;
    if (user->op == IR_SHL && operand == 1)
        return false;
    if (operand == 0 && is_small_index(n, user))
        return true;
    bool hands_on = (user->op == IR_CONVERT || user->op == IR_BITCAST) && is_wide(user->type);
    Family family = hands_on ? RING : family_of(user);
    bool takes_as_much = family == RING || family == SHIFTED_UP || (family == SHUFFLED && operand == SHUFFLED_OPERAND);
    return takes_as_much && !n->is_asked[user->id];
}

/* Whether the operand is an index of an access on the axis that it counts from the end of. */
static bool indexes(const IrValue *user, uint32_t operand)
{
    const IrValue *wrap = user->operands[operand], *array = user->operands[0];
    if ((user->op != IR_LOAD && user->op != IR_STORE && user->op != IR_ATOMIC) || operand == 0 ||
        operand > array->type->ndim)
        return false;
    const IrValue *extent = wrap->operands[1];
    return extent->op == IR_EXTENT && extent->operands[0] == array && extent->index == operand - 1;
}

static void find_indices(Narrowing *n, const IrGraph *graph)
{
    for (uint32_t i = 0; i < n->count; i++)
        n->is_index[i] = true;
    for (uint32_t i = 0; i < graph->count; i++)
        for (const IrValue *value = graph->order[i]->first; value; value = value->next)
            for (uint32_t k = 0; k < value->operand_count; k++)
                if (value->operands[k]->op == IR_WRAP && !indexes(value, k))
                    n->is_index[value->operands[k]->id] = false;
}

/* Whether the shuffle has to be as wide as another one of its kind. */
static bool ask_shuffle(Narrowing *n, const IrValue *shuffle)
{
    bool *is_kind_wide = &n->wide_shuffles[shuffle->intrinsic], *is_asked = &n->is_asked[shuffle->id];
    bool is_new = *is_kind_wide != *is_asked;
    *is_kind_wide = *is_asked = *is_kind_wide || *is_asked;
    return is_new;
}

static bool ask(Narrowing *n, const IrValue *user)
{
    bool is_new = family_of(user) == SHUFFLED && ask_shuffle(n, user);
    for (uint32_t i = 0; i < user->operand_count; i++) {
        const IrValue *operand = user->operands[i];
        if (!is_wide(operand->type) || n->is_asked[operand->id] || asks_for_little(n, user, i))
            continue;
        is_new = n->is_asked[operand->id] = true;
    }
    return is_new;
}

static bool has_unreached(const IrGraph *graph) { return graph->count != graph->function->block_count; }

static bool ask_all(Narrowing *n)
{
    bool is_new = false;
    for (uint32_t i = n->graph->count; i-- > 0 && !has_unreached(n->graph);) /* simplify_blocks() leaves none */
        for (const IrValue *value = n->graph->order[i]->first; value; value = value->next)
            is_new |= ask(n, value);
    return is_new;
}

/* Of values that only go round in loops among themselves nobody asks. */
static void find_asked(Narrowing *all, uint32_t count)
{
    enum { MOST_ROUNDS = 16 };
    bool is_new = true;
    for (int rounds = 0; is_new && rounds < MOST_ROUNDS; rounds++) {
        is_new = false;
        for (uint32_t i = 0; i < count; i++)
            is_new |= ask_all(&all[i]);
    }
    for (uint32_t i = 0; is_new && i < count; i++)
        for (uint32_t k = 0; k < all[i].count; k++)
            all[i].is_asked[k] = true;
}

/* --- the values again --------------------------------------------------------------------------------------------------- */

static bool is_narrow(const Type *type)
{
    return type->kind == TYPE_BOOL || (type_is_integer(type) && type->size <= 4);
}

/* What the lowest 32 bits of a value can be taken from, a number of 32 bits or the value itself. */
static IrValue *source_of(const Narrowing *n, IrValue *value)
{
    for (;;) {
        if (value->id < n->count && n->narrow[value->id])
            return n->narrow[value->id];
        bool converts = (value->op == IR_CONVERT || value->op == IR_BITCAST) && is_wide(value->type);
        if (!converts || !(is_wide(value->operands[0]->type) || is_narrow(value->operands[0]->type)))
            return value;
        value = value->operands[0];
        if (is_narrow(value->type))
            return value;
    }
}

/* In 32 bits, made at the end of the block if need be. */
static IrValue *narrowed(const Narrowing *n, IrBlock *block, IrValue *value, const Type *type, const SourcePos *pos)
{
    if (value->op == IR_CONST) {
        bool is_signed = type->kind == TYPE_INT;
        return ir_const_int(block, type, is_signed ? (int32_t)value->integer : (int64_t)(uint32_t)value->integer, pos);
    }
    IrValue *source = source_of(n, value);
    return type_equal(source->type, type) ? source : ir_append(block, IR_CONVERT, type, pos, 1, &source);
}

static bool is_of_memory(const Narrowing *n, const IrValue *value)
{
    const Facts *facts = &n->facts[value->id];
    const uint32_t nodes[3] = {facts->result, facts->operands[0], facts->operands[1]};
    for (int i = 0; i < 3; i++)
        if (nodes[i] != RANGE_NONE && n->of_memory[nodes[i]])
            return true;
    return false;
}

/* The operation never leaves its type, or divides by what is above 0. */
static bool is_exact(const Narrowing *n, const IrValue *value, Width width)
{
    const Facts *facts = &n->facts[value->id];
    if (is_of_memory(n, value))
        return false;
    switch (value->op) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL: return width == SIGNED && fits(n, facts->result, SIGNED) && operands_fit(n, value, SIGNED);
    case IR_FLOORDIV:
    case IR_MOD: return is_between(n, facts->operands[1], 1, UINT32_MAX);
    default: return false;
    }
}

static void keep(IrBlock *block, IrValue *value)
{
    value->next = NULL;
    *(block->last ? &block->last->next : &block->first) = value;
    block->last = value;
}

static void become_conversion(IrValue *value, IrValue *of)
{
    value->op = IR_CONVERT;
    value->hint = 0;
    value->operand_count = 1;
    value->operands[0] = of;
}

/* An end that is beyond 32 bits, as far as these go. */
static IrValue *cut_off(IrBlock *block, const IrValue *clamp, IrValue *end)
{
    int64_t farthest = clamp->op == IR_MIN ? INT32_MAX : INT32_MIN;
    IrValue *operands[2] = {end, ir_const_int(block, end->type, farthest, &clamp->pos)};
    return ir_append(block, clamp->op, end->type, &clamp->pos, 2, operands);
}

static void narrow_value(Narrowing *n, IrBlock *block, IrValue *value, Width width)
{
    IrValue *operands[4];
    Family family = family_of(value);
    assert(value->operand_count <= sizeof operands / sizeof operands[0]);
    for (uint32_t i = 0; i < value->operand_count; i++) {
        bool stays = family == SHUFFLED ? i != SHUFFLED_OPERAND : value->op == IR_SELECT && i == 0;
        IrValue *operand = value->operands[i];
        if (family == BOTH && width == SIGNED && is_clamp(n, value, i))
            operand = cut_off(block, value, operand);
        operands[i] = stays ? operand : narrowed(n, block, operand, type_of(width), &value->pos);
    }
    if (family == COMPARISON || family == TO_FLOAT) {
        for (uint32_t i = 0; i < value->operand_count; i++)
            value->operands[i] = operands[i];
        return;
    }
    IrValue *made = ir_append(block, value->op, type_of(width), &value->pos, value->operand_count, operands);
    made->hint = is_exact(n, value, width) ? IR_EXACT : IR_MAY_WRAP;
    if (family == SHUFFLED)
        made->intrinsic = value->intrinsic;
    made->non_negative = value->non_negative;
    n->narrow[value->id] = made;
    become_conversion(value, made);
}

static void divide_exactly(const Narrowing *n, IrValue *value)
{
    if ((value->op == IR_FLOORDIV || value->op == IR_MOD) && is_wide(value->type) && !value->hint &&
        !is_of_memory(n, value) && is_between(n, n->facts[value->id].operands[1], 1, INT64_MAX))
        value->hint = IR_EXACT;
}

static IrValue *resolved(const Narrowing *n, IrValue *value)
{
    while (value->id < n->count && n->same[value->id])
        value = n->same[value->id];
    return value;
}

static void rewrite(Narrowing *n, IrBlock *block, IrValue *value)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        value->operands[i] = resolved(n, value->operands[i]);
    Width width = width_of(n, value);
    if (value->op == IR_WRAP && is_between(n, n->facts[value->id].operands[0], 0, INT64_MAX))
        n->same[value->id] = value->operands[0];
    else if (width != WIDE)
        narrow_value(n, block, value, width);
    else if (value->op == IR_CONVERT && type_is_integer(value->type) && value->type->size <= 4)
        value->operands[0] = source_of(n, value->operands[0]);
    else
        divide_exactly(n, value);
    n->before_end[block->id] = block->last;
    keep(block, value);
}

/* A phi in 32 bits, whose operands come later: its old ones say which. */
static void rewrite_phi(Narrowing *n, IrBlock *block, IrValue *phi, IrValue **converted)
{
    Width width = width_of(n, phi);
    if (width == WIDE) {
        keep(block, phi);
        return;
    }
    IrValue *made = ir_append(block, IR_PHI, type_of(width), &phi->pos, phi->operand_count, phi->operands);
    made->non_negative = phi->non_negative;
    n->narrow[phi->id] = made;
    become_conversion(phi, made);
    phi->next = *converted;
    *converted = phi;
}

static void rewrite_block(Narrowing *n, IrBlock *block)
{
    IrValue *value = block->first, *next, *converted = NULL;
    block->first = block->last = NULL;
    for (; value->op == IR_PHI || value->op == IR_PARAM; value = next) {
        next = value->next;
        if (value->op == IR_PHI)
            rewrite_phi(n, block, value, &converted);
        else
            keep(block, value);
    }
    for (; converted; converted = next) {
        next = converted->next;
        keep(block, converted);
    }
    for (; value; value = next) {
        next = value->next;
        rewrite(n, block, value);
    }
}

/* What a phi takes from a block, made before the block's end. */
static IrValue *narrowed_at_end(Narrowing *n, IrBlock *block, IrValue *value, const Type *type)
{
    IrValue *end = block->last, *before = n->before_end[block->id];
    assert(end && (before ? before->next == end : block->first == end));
    *(before ? &before->next : &block->first) = NULL;
    block->last = before;
    IrValue *made = narrowed(n, block, value, type, &end->pos);
    n->before_end[block->id] = block->last;
    keep(block, end);
    return made;
}

static void finish_phi(Narrowing *n, const IrGraph *graph, IrValue *phi)
{
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        IrBlock *from = phi->block->predecessors[i];
        phi->operands[i] = resolved(n, phi->operands[i]);
        if (!is_wide(phi->operands[i]->type) || is_wide(phi->type))
            continue;
        bool is_reached = graph->rank[from->id] != UINT32_MAX;
        phi->operands[i] = is_reached ? narrowed_at_end(n, from, phi->operands[i], phi->type)
                                      : ir_const_int(phi->block, phi->type, 0, &phi->pos);
    }
}

static void narrow_function(Narrowing *n)
{
    const IrGraph *graph = n->graph;
    if (has_unreached(graph))
        return;
    for (uint32_t i = 0; i < graph->count; i++)
        rewrite_block(n, graph->order[i]);
    for (uint32_t i = 0; i < graph->count; i++)
        for (IrValue *phi = graph->order[i]->first; phi && phi->op == IR_PHI; phi = phi->next)
            finish_phi(n, graph, phi);
    prune(n->function, false);
    ir_renumber(n->function);
}

/* --- the module ------------------------------------------------------------------------------------------------------------ */

static const RangeLimits limits = {LAUNCH_LIMIT_EXTENT, LAUNCH_LIMIT_BLOCKS};

static Narrowing begin(IrFunc *function, Ranges *ranges, bool *wide_shuffles, Arena *arena)
{
    uint32_t count = function->value_count;
    Narrowing n = {.ranges = ranges,
                   .wide_shuffles = wide_shuffles,
                   .function = function,
                   .graph = ir_graph(function, arena),
                   .arena = arena,
                   .count = count,
                   .facts = ARENA_ARRAY(arena, Facts, count),
                   .is_asked = ARENA_ARRAY(arena, bool, count),
                   .is_index = ARENA_ARRAY(arena, bool, count),
                   .narrow = ARENA_ARRAY(arena, IrValue *, count),
                   .same = ARENA_ARRAY(arena, IrValue *, count),
                   .before_end = ARENA_ARRAY(arena, IrValue *, function->block_count)};
    find_indices(&n, n.graph);
    find_facts(&n, ranges);
    return n;
}

void narrow_integers(IrModule *module)
{
    enum { MOST_NODES = 1 << 14 };
    if (!module->first->is_kernel || module->first_watcher)
        return;
    Arena *arena = arena_create();
    Ranges *ranges = ranges_begin(module, MOST_NODES, arena);
    const RangeLimits *within = module->first->is_limited ? &limits : NULL;
    ranges_find_contents(ranges, within);
    Narrowing *all = ARENA_ARRAY(arena, Narrowing, module->function_count);
    bool *wide_shuffles = ARENA_ARRAY(arena, bool, INTRINSIC_COUNT);
    uint32_t count = 0;
    for (IrFunc *function = module->first; function; function = function->next)
        if (!function->lacks_body && !function->assembly)
            all[count++] = begin(function, ranges, wide_shuffles, arena);
    LaunchRange *found = ARENA_ARRAY(arena, LaunchRange, ranges->count);
    launch_ranges(ranges->nodes, ranges->count, within, found);
    const bool *of_memory = ranges_of_memory(ranges, arena);
    ranges_end(ranges);
    for (uint32_t i = 0; i < count; i++) {
        all[i].found = found;
        all[i].of_memory = of_memory;
    }
    find_asked(all, count);
    for (uint32_t i = 0; i < count; i++)
        narrow_function(&all[i]);
    arena_destroy(arena);
}
