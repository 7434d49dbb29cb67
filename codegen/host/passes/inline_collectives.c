/* Inlines the device functions in which threads meet, and those that call such functions, into a copy of the kernel; and
 * those that give memory which they make, so that it is the kernel's, where each thread has its own. */
#include "codegen/host/passes/inline_collectives.h"

#include <string.h>

#include "core/ir/ir_graph.h"

enum { MOST_VALUES = 20000, MOST_SHARED = 256, WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC };

typedef struct Copy {
    const IrModule *module;
    Arena *arena;
    bool *meets; /* by a function's place in the module */
    bool *gives_memory; /* likewise */
    IrFunc *out;
    const IrValue **shared; /* pairs of a SHARED value and its copy: all calls of a function have one array */
    uint32_t shared_count;
    bool failed;
} Copy;

/* One function on its way into the copy. */
typedef struct Body {
    const IrFunc *source;
    IrValue **values; /* by IrValue.id: what stands for it */
    IrBlock **starts, **ends; /* by IrBlock.id */
    IrBlock *after; /* where a return goes; NULL: the kernel's own */
    IrBlock **return_blocks;
    IrValue **return_values;
    uint32_t return_count;
} Body;

static bool is_collective(const IrValue *value)
{
    return value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].effects & WAITS;
}

/* False where one of them calls itself. */
static bool find_collective_functions(Copy *copy, bool *any)
{
    ir_functions_with(copy->module, is_collective, copy->meets);
    ir_memory_givers(copy->module, copy->gives_memory);
    uint32_t place = 1;
    for (const IrFunc *function = copy->module->first->next; function; function = function->next, place++) {
        *any = *any || copy->meets[place] || copy->gives_memory[place];
        if ((copy->meets[place] || copy->gives_memory[place]) && function->is_recursive)
            return false;
    }
    return true;
}

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

/* One array for all copies of a SHARED value. */
static IrValue *copy_shared(Copy *copy, const IrValue *value, IrBlock *to)
{
    for (uint32_t i = 0; i < copy->shared_count; i++)
        if (copy->shared[2 * i] == value)
            return (IrValue *)copy->shared[2 * i + 1];
    IrValue *made = ir_append(to, IR_SHARED, value->type, &value->pos, 0, NULL);
    made->storage = value->storage;
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
    ir_jump(to, body->after, &value->pos);
}

/* The callee's blocks behind `from`. Returns the block where the caller goes on; *result: what the call gives. */
static IrBlock *copy_call(Copy *copy, const Body *caller, const IrValue *call, IrBlock *from, IrValue **result)
{
    IrValue **arguments = ARENA_ARRAY(copy->arena, IrValue *, call->operand_count + 1);
    for (uint32_t i = 0; i < call->operand_count; i++)
        arguments[i] = caller->values[call->operands[i]->id];
    uint32_t blocks = call->callee->block_count;
    IrBlock *start = ir_block(copy->out);
    ir_jump(from, start, &call->pos);
    Body body = {.source = call->callee,
                 .after = ir_block(copy->out),
                 .return_blocks = ARENA_ARRAY(copy->arena, IrBlock *, blocks),
                 .return_values = ARENA_ARRAY(copy->arena, IrValue *, blocks)};
    copy_body(copy, &body, arguments, start);
    *result = NULL;
    if (copy->failed || !body.return_count || call->type->kind == TYPE_NONE) {
        *result = ir_append(body.after, IR_UNDEFINED, call->type, &call->pos, 0, NULL);
        return body.after;
    }
    IrValue *phi = ir_phi(body.after, call->type, &call->pos, body.return_count);
    ir_link_blocks(copy->out);
    for (uint32_t i = 0; i < body.return_count; i++)
        for (uint32_t k = 0; k < body.return_count; k++)
            if (body.after->predecessors[i] == body.return_blocks[k])
                phi->operands[i] = body.return_values[k];
    *result = phi;
    return body.after;
}

static bool is_inlined(const Copy *copy, const IrFunc *callee)
{
    uint32_t place = ir_place_of(copy->module, callee);
    return copy->meets[place] || copy->gives_memory[place];
}

static IrBlock *copy_block(Copy *copy, Body *body, const IrBlock *block, IrValue *const *arguments)
{
    IrBlock *to = body->starts[block->id];
    for (const IrValue *value = block->first; value && !copy->failed; value = value->next) {
        copy->failed = copy->out->value_count > MOST_VALUES;
        if (value->op == IR_SHARED)
            body->values[value->id] = copy_shared(copy, value, to);
        else if (value->op == IR_PARAM)
            body->values[value->id] = arguments[value->index];
        else if (value->op == IR_RETURN && body->after)
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
    const IrFunc *source = body->source;
    const IrGraph *graph = ir_graph(source, copy->arena);
    IrBlock *const *order = graph->order;
    uint32_t count = graph->count;
    body->values = ARENA_ARRAY(copy->arena, IrValue *, source->value_count + 1);
    body->starts = ARENA_ARRAY(copy->arena, IrBlock *, source->block_count + 1);
    body->ends = ARENA_ARRAY(copy->arena, IrBlock *, source->block_count + 1);
    body->starts[source->first->id] = start;
    for (uint32_t i = 0; i < count && !copy->failed; i++)
        if (body->starts[order[i]->id])
            body->ends[order[i]->id] = copy_block(copy, body, order[i], arguments);
    if (copy->failed)
        return;
    /* Predecessors come in the order of the blocks, which is another one in the copy. */
    ir_link_blocks(copy->out);
    for (uint32_t i = 0; i < count; i++)
        for (const IrValue *phi = order[i]->first; body->starts[order[i]->id] && phi && phi->op == IR_PHI;
             phi = phi->next) {
            IrValue *made = body->values[phi->id];
            const IrBlock *block = body->starts[order[i]->id];
            bool *taken = ARENA_ARRAY(copy->arena, bool, phi->operand_count + 1);
            for (uint32_t k = 0; k < block->predecessor_count; k++)
                for (uint32_t from = 0; from < phi->operand_count; from++) {
                    if (taken[from] || body->ends[order[i]->predecessors[from]->id] != block->predecessors[k])
                        continue;
                    made->operands[k] = body->values[phi->operands[from]->id];
                    taken[from] = true;
                    break;
                }
            made->operand_count = block->predecessor_count;
        }
}

const IrFunc *inline_collectives(const IrModule *module, Arena *arena, bool *gone)
{
    const IrFunc *kernel = module->first;
    bool any = false;
    Copy copy = {.module = module,
                 .arena = arena,
                 .meets = gone,
                 .gives_memory = ARENA_ARRAY(arena, bool, module->function_count),
                 .shared = ARENA_ARRAY(arena, const IrValue *, 2 * MOST_SHARED)};
    memset(gone, 0, module->function_count * sizeof *gone);
    if (!find_collective_functions(&copy, &any))
        return NULL;
    if (!any)
        return kernel;
    copy.out = ir_kernel_like(ir_module(arena), kernel);
    Body body = {.source = kernel};
    copy_body(&copy, &body, copy.out->parameters, copy.out->first);
    return copy.failed ? NULL : copy.out;
}
