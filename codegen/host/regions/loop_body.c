/* The blocks inside of a loop over threads: those that lead back to the loop's own block. */
#include "codegen/host/regions/loop_body.h"

#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/thread_bounds.h"

enum { DEEPEST = 8 };

static void visit(LoopBody *body, IrBlock *block)
{
    if (!body->is_inside[block->id])
        body->blocks[body->count++] = block;
    body->is_inside[block->id] = true;
}

LoopBody find_loop_body(const IrValue *loop, Arena *arena)
{
    uint32_t most = loop->block->function->block_count;
    LoopBody body = {.blocks = ARENA_ARRAY(arena, IrBlock *, most), .is_inside = ARENA_ARRAY(arena, bool, most)};
    body.is_inside[loop->block->id] = true;
    visit(&body, loop->targets[1]);
    for (uint32_t next = 0; next < body.count; next++) {
        IrBlock *targets[2];
        int count = ir_successors(body.blocks[next], targets);
        for (int i = 0; i < count; i++)
            visit(&body, targets[i]);
    }
    return body;
}

uint32_t list_thread_loops(const IrFunc *function, IrBlock **out, uint32_t most)
{
    uint32_t count = 0;
    for (IrBlock *block = function->first; block && count < most; block = block->next)
        if (block->first->op == IR_THREAD_LOOP && !block->first->operand_count)
            out[count++] = block;
    return count;
}

bool suits_any_loop(const IrValue *value)
{
    switch (value->op) {
    case IR_PHI:
    case IR_LOAD:
    case IR_STORE:
    case IR_SLOT_LOAD:
    case IR_SLOT_STORE:
    case IR_JUMP:
    case IR_BRANCH: return true;
    case IR_CALL: return is_silent_function(value->callee);
    default: return ir_is_repeatable(value);
    }
}

IrBlock *first_behind_bounds(const IrValue *loop)
{
    IrBlock *block = loop->targets[1];
    while (block->last->op == IR_BRANCH && block->last->hint != IR_BOUND_NONE &&
           block->last->targets[block->last->hint == IR_BOUND_IN] == loop->block)
        block = block->last->targets[block->last->hint == IR_BOUND_OUT];
    return block;
}

static bool is_known(const LoopBody *body, const IrValue *value, int depth)
{
    if (!body->is_inside[value->block->id])
        return true;
    bool is_made = depth < DEEPEST;
    switch (value->op) {
    case IR_CONST:
    case IR_EXTENT: return true;
    case IR_CONVERT:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
        for (uint32_t i = 0; i < value->operand_count && is_made; i++)
            is_made = is_known(body, value->operands[i], depth + 1);
        return is_made;
    default: return false;
    }
}

bool is_known_before(const LoopBody *body, const IrValue *value) { return is_known(body, value, 0); }

IrValue *make_before(const LoopBody *body, IrBlock *head, const IrValue *value)
{
    IrValue *operands[2] = {NULL};
    if (!body->is_inside[value->block->id])
        return (IrValue *)value;
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = make_before(body, head, value->operands[i]);
    IrValue *copy = ir_copy_value(head, value, operands);
    forget_exactness(copy);
    return copy;
}

int64_t copies_when_written_out(const IrGraph *graph, const IrBlock *block)
{
    enum { MANY = 1 << 20 };
    int64_t copies = 1;
    IrInduction counts;
    for (const IrLoop *loop = graph->loop_of[block->id]; loop; loop = loop->parent)
        if (loop->header->loop == IR_LOOP_UNROLL && loop->header != block && copies < MANY &&
            ir_induction(graph, loop, &counts) && ir_known_trips(&counts))
            copies *= ir_known_trips(&counts);
    return copies;
}

bool has_thread_loops(const IrFunc *function)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        if (block->last->op == IR_THREAD_LOOP)
            return true;
    return false;
}
