/* Joins and removes blocks that the bytecode's layout made and the program does not need, and puts the rest into reverse
 * postorder, so that the typed IR does not tell which CPython wrote the bytecode. */
#include <assert.h>
#include <string.h>

#include "core/base/graph.h"
#include "core/ir/ir.h"

static void replace_predecessor(IrBlock *block, const IrBlock *old, IrBlock *new)
{
    for (uint32_t i = 0; i < block->predecessor_count; i++)
        if (block->predecessors[i] == old)
            block->predecessors[i] = new;
}

static bool is_predecessor(const IrBlock *block, const IrBlock *of)
{
    for (uint32_t i = 0; i < of->predecessor_count; i++)
        if (of->predecessors[i] == block)
            return true;
    return false;
}

static uint32_t target_count(const IrBlock *block)
{
    IrBlock *targets[2];
    return (uint32_t)ir_successors(block, targets);
}

/* A block that only jumps on: what led to it leads to its target. */
static bool skip_empty(IrBlock *block)
{
    if (block->first->op != IR_JUMP || block->predecessor_count != 1)
        return false;
    IrBlock *from = block->predecessors[0], *to = block->first->targets[0];
    if (to == block || from == block || is_predecessor(from, to))
        return false;
    for (uint32_t k = 0; k < target_count(from); k++)
        if (from->last->targets[k] == block)
            from->last->targets[k] = to;
    replace_predecessor(to, block, from);
    block->predecessor_count = 0;
    return true;
}

/* The only way into a block is a jump: it continues the block before it. */
static bool join_to_predecessor(IrBlock *block)
{
    if (block->predecessor_count != 1 || block->first->op == IR_PHI)
        return false;
    IrBlock *from = block->predecessors[0];
    if (from == block || from->last->op != IR_JUMP)
        return false;
    assert(from->last->targets[0] == block);
    IrValue **link = &from->first;
    while (*link != from->last)
        link = &(*link)->next;
    *link = block->first;
    from->last = block->last;
    for (IrValue *value = block->first; value; value = value->next)
        value->block = from;
    for (uint32_t k = 0; k < target_count(from); k++)
        replace_predecessor(from->last->targets[k], block, from);
    block->predecessor_count = 0;
    block->first = block->last = NULL;
    return true;
}

/* Targets in order come out in order: the second is visited first, as what is left last comes first. */
static GraphOrder order_of(const IrFunc *function, IrBlock *const *blocks, Arena *arena)
{
    uint32_t count = function->block_count, edges = 0;
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, count + 1), *successors = ARENA_ARRAY(arena, uint32_t, 2 * count);
    for (uint32_t id = 0; id < count; id++) {
        first[id] = edges;
        for (uint32_t k = blocks[id]->first ? target_count(blocks[id]) : 0; k-- > 0;)
            successors[edges++] = blocks[id]->last->targets[k]->id;
    }
    first[count] = edges;
    return graph_order(&(Graph){.node_count = count, .first = first, .successors = successors}, function->first->id,
                       arena);
}

/* Phi operands follow the predecessors, whose order follows the blocks'. */
static void reorder_operands(const IrBlock *block, IrBlock *const *old, Arena *arena)
{
    uint32_t count = block->predecessor_count;
    bool *taken = ARENA_ARRAY(arena, bool, count + 1);
    uint32_t *from = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (!taken[k] && old[k] == block->predecessors[i]) {
                taken[k] = true;
                from[i] = k;
                break;
            }
    for (IrValue *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next) {
        IrValue **operands = ARENA_ARRAY(arena, IrValue *, count);
        assert(phi->operand_count == count);
        for (uint32_t i = 0; i < count; i++)
            operands[i] = phi->operands[from[i]];
        phi->operands = operands;
    }
}

static void put_in_order(IrFunc *function, Arena *arena)
{
    IrBlock **blocks = ARENA_ARRAY(arena, IrBlock *, function->block_count);
    for (IrBlock *block = function->first; block; block = block->next)
        blocks[block->id] = block;
    GraphOrder order = order_of(function, blocks, arena);
    IrBlock ***old = ARENA_ARRAY(arena, IrBlock **, order.count);
    for (uint32_t i = 0; i < order.count; i++) {
        IrBlock *block = blocks[order.nodes[i]];
        block->next = i + 1 < order.count ? blocks[order.nodes[i + 1]] : NULL;
        block->id = i;
        old[i] = block->predecessors;
    }
    function->last = blocks[order.nodes[order.count - 1]];
    function->block_count = order.count;
    assert(order.count && blocks[order.nodes[0]] == function->first);
    ir_link_blocks(function);
    for (uint32_t i = 0; i < order.count; i++)
        reorder_operands(blocks[order.nodes[i]], old[i], arena);
}

/* --- loops ---------------------------------------------------------------------------------------------------------- */

/* In reverse postorder, an edge that does not lead on leads back. */
static uint32_t count_ways_back(const IrBlock *header)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < header->predecessor_count; i++)
        count += header->predecessors[i]->id >= header->id;
    return count;
}

/* What a phi of the header gets from its new latch: the values of the ways back, as a phi there if they differ. */
static IrValue *merge_operands(const IrBlock *header, const IrValue *phi, IrBlock *latch)
{
    IrValue *first = NULL, *merged = NULL;
    for (uint32_t i = 0, k = 0; i < header->predecessor_count; i++) {
        if (header->predecessors[i]->id < header->id)
            continue;
        if (!first)
            first = phi->operands[i];
        if (!merged && phi->operands[i] != first) {
            merged = ir_phi(latch, phi->type, &phi->pos, latch->predecessor_count);
            for (uint32_t before = 0; before < k; before++)
                merged->operands[before] = first;
        }
        if (merged)
            merged->operands[k] = phi->operands[i];
        k++;
    }
    return merged ? merged : first;
}

static void take_ways_back(IrBlock *header, IrBlock *latch, uint32_t count, Arena *arena)
{
    IrBlock **left = ARENA_ARRAY(arena, IrBlock *, header->predecessor_count);
    uint32_t left_count = 0;
    latch->predecessors = ARENA_ARRAY(arena, IrBlock *, count);
    for (uint32_t i = 0; i < header->predecessor_count; i++)
        if (header->predecessors[i]->id < header->id)
            left[left_count++] = header->predecessors[i];
        else
            latch->predecessors[latch->predecessor_count++] = header->predecessors[i];
    for (IrValue *phi = header->first; phi && phi->op == IR_PHI; phi = phi->next) {
        IrValue *merged = merge_operands(header, phi, latch);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < header->predecessor_count; i++)
            if (header->predecessors[i]->id < header->id)
                phi->operands[kept++] = phi->operands[i];
        assert(merged && kept < header->predecessor_count);
        phi->operands[kept] = merged;
        phi->operand_count = kept + 1;
    }
    assert(latch->predecessor_count == count && left_count + count == header->predecessor_count);
    left[left_count++] = latch;
    header->predecessors = left;
    header->predecessor_count = left_count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < target_count(latch->predecessors[i]); k++)
            if (latch->predecessors[i]->last->targets[k] == header)
                latch->predecessors[i]->last->targets[k] = latch;
}

/* CPython jumps back from wherever a trip ends. LLVM takes a loop with several ways back for loops in each other when a
 * variable stays as it was on one of them, and then neither unrolls nor vectorizes it: each loop gets one way back. */
static bool merge_ways_back(IrFunc *function)
{
    Arena *arena = function->module->arena;
    const IrBlock *last = function->last;
    bool any = false;
    for (IrBlock *header = function->first; header; header = header == last ? NULL : header->next) {
        uint32_t count = count_ways_back(header);
        if (count < 2)
            continue;
        IrBlock *latch = ir_block(function);
        take_ways_back(header, latch, count, arena);
        ir_jump(latch, header, &latch->predecessors[0]->last->pos);
        any = true;
    }
    return any;
}

void simplify_blocks(IrFunc *function)
{
    bool changed;
    do {
        changed = false;
        for (IrBlock *block = function->first->next; block; block = block->next)
            if (block->first)
                changed |= skip_empty(block) || join_to_predecessor(block);
    } while (changed);
    put_in_order(function, function->module->arena);
    if (merge_ways_back(function))
        put_in_order(function, function->module->arena);
}
