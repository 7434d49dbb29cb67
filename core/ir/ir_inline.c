/* Calls that become copies of what they call, for passes that look at one function: what a device function loads, tests and
 * computes is then the kernel's, with what is known of the arguments there. */
#include "core/ir/ir_inline.h"

#include "core/base/table.h"
#include "core/ir/ir_graph.h"

enum { MOST_VALUES = 20000, MOST_SHARED = 256 };

typedef struct Copy {
    const bool *inlined;
    Table *places; /* function -> its place in the module + 1 */
    Arena *arena;
    IrFunc *out;
    const IrValue **shared; /* pairs of a SHARED value and its copy: all calls of a function have one array */
    uint32_t shared_count;
    struct Body *bodies; /* whose phis lack their operands */
    bool failed;
} Copy;

/* One function on its way into the copy. */
typedef struct Body {
    const IrGraph *graph;
    IrValue **values; /* by IrValue.id: what stands for it */
    IrBlock **starts, **ends; /* by IrBlock.id */
    IrBlock *after; /* where returns go; NULL: the kernel's own, or there is one, behind which the caller goes on */
    IrValue *result; /* a phi where there are several returns */
    IrBlock **return_blocks;
    IrValue **return_values;
    uint32_t return_count;
    struct Body *next;
} Body;

/* --- constants: an argument may decide a branch, and is the mask of a collective ------------------------------------------------------ */

static bool is_constant(const IrValue *value) { return value->op == IR_CONST && value->type->kind != TYPE_FLOAT; }

static int64_t wrapped(const Type *type, int64_t integer)
{
    unsigned unused = 64 - type->size * 8;
    uint64_t bits = (uint64_t)integer << unused;
    return type->kind == TYPE_INT ? (int64_t)bits >> unused : (int64_t)(bits >> unused);
}

/* The constant that the value is, given that its operands are. NULL: none of those that are looked for. */
static IrValue *folded(const IrValue *value, IrValue *const *operands, IrBlock *to)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!operands[i] || !is_constant(operands[i]) || !type_is_integer(operands[i]->type))
            return NULL;
    if (value->op == IR_CONVERT && type_is_integer(value->type))
        return ir_const_int(to, value->type, wrapped(value->type, operands[0]->integer), &value->pos);
    if (value->op == IR_EQ || value->op == IR_NE) {
        bool is_same = operands[0]->integer == operands[1]->integer;
        return ir_const_int(to, value->type, is_same == (value->op == IR_EQ), &value->pos);
    }
    return NULL;
}

/* What a function without branches and effects gives whatever it is called with. NULL: no constant integer. */
static IrValue *constant_result(const IrFunc *callee, IrBlock *to)
{
    const IrValue *end = callee->first->last;
    if (callee->lacks_body || callee->assembly)
        return NULL;
    if (end->op != IR_RETURN || !end->operand_count || !is_constant(end->operands[0]) ||
        !type_is_integer(end->operands[0]->type))
        return NULL;
    for (const IrValue *value = callee->first->first; value != end; value = value->next)
        if (!ir_is_repeatable(value))
            return NULL;
    return ir_const_int(to, end->operands[0]->type, end->operands[0]->integer, &end->pos);
}

/* --- copying ---------------------------------------------------------------------------------------------------------------------- */

static void copy_body(Copy *copy, Body *body, IrValue *const *arguments, IrBlock *start);

static IrBlock *start_of(Copy *copy, Body *body, const IrBlock *block)
{
    if (block && !body->starts[block->id])
        body->starts[block->id] = ir_block(copy->out);
    return block ? body->starts[block->id] : NULL;
}

static IrValue *copy_plain(Copy *copy, Body *body, const IrValue *value, IrBlock *to)
{
    IrValue **operands = ARENA_ARRAY(copy->arena, IrValue *, value->operand_count + 1);
    for (uint32_t i = 0; value->op != IR_PHI && i < value->operand_count; i++)
        operands[i] = body->values[value->operands[i]->id];
    if (value->op == IR_BRANCH && is_constant(operands[0]))
        return ir_jump(to, start_of(copy, body, value->targets[!operands[0]->integer]), &value->pos);
    IrValue *constant = value->op == IR_PHI    ? NULL
                        : value->op == IR_CALL ? constant_result(value->callee, to)
                                               : folded(value, operands, to);
    if (constant && (value->operand_count || value->op == IR_CALL))
        return constant;
    IrValue *made = ir_copy_value(to, value, operands);
    for (int i = 0; i < 2 && (value->op == IR_JUMP || value->op == IR_BRANCH); i++)
        made->targets[i] = start_of(copy, body, value->targets[i]);
    return made;
}

/* Behind the kernel's parameters, which is before all calls. */
static IrValue *shared_at_entry(IrBlock *entry, const IrValue *value)
{
    IrValue *before = NULL, *end = entry->last, *rest = entry->first;
    for (; rest && rest->op == IR_PARAM; rest = rest->next)
        before = rest;
    *(before ? &before->next : &entry->first) = NULL;
    entry->last = before;
    IrValue *made = ir_append(entry, IR_SHARED, value->type, &value->pos, 0, NULL);
    made->storage = value->storage;
    made->next = rest;
    entry->last = rest ? end : made;
    return made;
}

/* One array for all copies of a SHARED value. */
static IrValue *copy_shared(Copy *copy, const IrValue *value)
{
    for (uint32_t i = 0; i < copy->shared_count; i++)
        if (copy->shared[2 * i] == value)
            return (IrValue *)copy->shared[2 * i + 1];
    IrValue *made = shared_at_entry(copy->out->first, value);
    if (copy->shared_count == MOST_SHARED) {
        copy->failed = true;
        return made;
    }
    copy->shared[2 * copy->shared_count] = value;
    copy->shared[2 * copy->shared_count++ + 1] = made;
    return made;
}

static void copy_return(Body *body, const IrValue *value, IrBlock *to)
{
    body->return_blocks[body->return_count] = to;
    body->return_values[body->return_count++] = value->operand_count ? body->values[value->operands[0]->id] : NULL;
    if (body->after)
        ir_jump(to, body->after, &value->pos);
}

static uint32_t count_returns(const IrGraph *graph)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        count += graph->order[i]->last->op == IR_RETURN;
    return count;
}

/* The callee's blocks behind `from`. Returns the block where the caller goes on; *result: what the call gives. */
static IrBlock *copy_call(Copy *copy, const Body *caller, const IrValue *call, IrBlock *from, IrValue **result)
{
    IrValue **arguments = ARENA_ARRAY(copy->arena, IrValue *, call->operand_count + 1);
    for (uint32_t i = 0; i < call->operand_count; i++)
        arguments[i] = caller->values[call->operands[i]->id];
    Body *body = ARENA_NEW(copy->arena, Body);
    body->graph = ir_graph(call->callee, copy->arena);
    uint32_t returns = count_returns(body->graph);
    body->return_blocks = ARENA_ARRAY(copy->arena, IrBlock *, returns + 1);
    body->return_values = ARENA_ARRAY(copy->arena, IrValue *, returns + 1);
    body->after = returns == 1 ? NULL : ir_block(copy->out);
    copy_body(copy, body, arguments, from);
    bool is_one = returns == 1 && body->return_count == 1;
    IrBlock *after = is_one ? body->return_blocks[0] : body->after ? body->after : ir_block(copy->out);
    if (copy->failed || !body->return_count || call->type->kind == TYPE_NONE)
        *result = ir_append(after, IR_UNDEFINED, call->type, &call->pos, 0, NULL);
    else if (is_one)
        *result = body->return_values[0];
    else
        *result = body->result = ir_phi(after, call->type, &call->pos, body->return_count);
    return after;
}

static bool is_inlined(const Copy *copy, const IrFunc *callee)
{
    uintptr_t place = (uintptr_t)table_get(copy->places, &callee, sizeof callee);
    return place && copy->inlined[place - 1];
}

static IrBlock *copy_block(Copy *copy, Body *body, const IrBlock *block, IrValue *const *arguments)
{
    bool is_kernel = body->graph->function->is_kernel;
    IrBlock *to = body->starts[block->id];
    for (const IrValue *value = block->first; value && !copy->failed; value = value->next) {
        copy->failed = copy->out->value_count > MOST_VALUES;
        if (value->op == IR_SHARED)
            body->values[value->id] = copy_shared(copy, value);
        else if (value->op == IR_PARAM)
            body->values[value->id] = arguments[value->index];
        else if (value->op == IR_RETURN && !is_kernel)
            copy_return(body, value, to);
        else if (value->op == IR_CALL && is_inlined(copy, value->callee))
            to = copy_call(copy, body, value, to, &body->values[value->id]);
        else
            body->values[value->id] = copy_plain(copy, body, value, to);
    }
    return to;
}

static void copy_body(Copy *copy, Body *body, IrValue *const *arguments, IrBlock *start)
{
    const IrFunc *source = body->graph->function;
    IrBlock *const *order = body->graph->order;
    body->values = ARENA_ARRAY(copy->arena, IrValue *, source->value_count + 1);
    body->starts = ARENA_ARRAY(copy->arena, IrBlock *, source->block_count + 1);
    body->ends = ARENA_ARRAY(copy->arena, IrBlock *, source->block_count + 1);
    body->starts[source->first->id] = start;
    for (uint32_t i = 0; i < body->graph->count && !copy->failed; i++)
        if (body->starts[order[i]->id])
            body->ends[order[i]->id] = copy_block(copy, body, order[i], arguments);
    body->next = copy->bodies;
    copy->bodies = body;
}

/* --- phis: predecessors come in the order of the blocks, which is another one in the copy -------------------------------------------- */

static void finish_phi(Copy *copy, const Body *body, const IrBlock *source, const IrValue *phi)
{
    IrValue *made = body->values[phi->id];
    const IrBlock *block = body->starts[source->id];
    bool *taken = ARENA_ARRAY(copy->arena, bool, phi->operand_count + 1);
    for (uint32_t k = 0; k < block->predecessor_count; k++)
        for (uint32_t from = 0; from < phi->operand_count; from++) {
            if (taken[from] || body->ends[source->predecessors[from]->id] != block->predecessors[k])
                continue;
            made->operands[k] = body->values[phi->operands[from]->id];
            taken[from] = true;
            break;
        }
    made->operand_count = block->predecessor_count;
}

static void finish_result(const Body *body)
{
    for (uint32_t i = 0; i < body->return_count; i++)
        for (uint32_t k = 0; k < body->return_count; k++)
            if (body->after->predecessors[i] == body->return_blocks[k])
                body->result->operands[i] = body->return_values[k];
}

static void finish_phis(Copy *copy)
{
    ir_link_blocks(copy->out);
    for (const Body *body = copy->bodies; body; body = body->next) {
        for (uint32_t i = 0; i < body->graph->count; i++) {
            const IrBlock *source = body->graph->order[i];
            for (const IrValue *phi = source->first; body->starts[source->id] && phi && phi->op == IR_PHI;
                 phi = phi->next)
                finish_phi(copy, body, source, phi);
        }
        if (body->result)
            finish_result(body);
    }
}

IrFunc *ir_inlined_kernel(const IrModule *module, const bool *inlined, Arena *arena)
{
    const IrFunc *kernel = module->first;
    Copy copy = {.inlined = inlined,
                 .places = table_create(),
                 .arena = arena,
                 .out = ir_kernel_like(ir_module(arena), kernel),
                 .shared = ARENA_ARRAY(arena, const IrValue *, 2 * MOST_SHARED)};
    uintptr_t place = 0;
    for (const IrFunc *function = kernel; function; function = function->next)
        table_set(copy.places, &function, sizeof function, (void *)++place);
    Body *body = ARENA_NEW(arena, Body);
    body->graph = ir_graph(kernel, arena);
    copy_body(&copy, body, copy.out->parameters, copy.out->first);
    table_destroy(copy.places);
    if (copy.failed)
        return NULL;
    finish_phis(&copy);
    return copy.out;
}

/* --- the new kernel -------------------------------------------------------------------------------------------------------------- */

/* Adds the functions that are called and not among the reached ones to these. */
static uint32_t add_callees(const IrFunc *from, Table *places, const IrFunc **reached, uint32_t count)
{
    for (const IrBlock *block = from->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_CALL && !table_get(places, &value->callee, sizeof value->callee)) {
                table_set(places, &value->callee, sizeof value->callee, value->callee);
                reached[count++] = value->callee;
            }
    return count;
}

void ir_replace_kernel(IrModule *module, IrFunc *made, Arena *arena)
{
    Table *places = table_create();
    const IrFunc **reached = ARENA_ARRAY(arena, const IrFunc *, module->function_count + 1);
    uint32_t count = 1;
    reached[0] = made;
    for (uint32_t i = 0; i < count; i++)
        count = add_callees(reached[i], places, reached, count);
    bool is_watcher = false;
    IrFunc *last = made, *next;
    module->function_count = 1;
    for (IrFunc *function = module->first->next; function && function != made; function = next) {
        next = function->next;
        is_watcher = is_watcher || function == module->first_watcher;
        if (!is_watcher && !table_get(places, &function, sizeof function))
            continue;
        last = last->next = function;
        module->function_count++;
    }
    last->next = NULL;
    table_destroy(places);
    made->module = module;
    module->first = made;
    module->last = last;
}
