/* Loops over a row's threads are cut where quotients of a thread's place change (regions/row_parts.c), if the parts are long: a
 * constant divisor tells. Where it is another number that all threads have alike, as the width in
 *
 *     i = cuda.grid(1)
 *     out[i // width, i % width] = x[i // width, i % width]
 *
 * the loop becomes two, one of which is marked to be cut by such divisors, and the kernel asks which of them to run:
 *
 *     if width >= 16:  thread_loop !cut: body
 *     else:            thread_loop: body */
#include "codegen/host/regions/front_values.h"
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/row_parts.h"
#include "codegen/passes.h"

enum { MOST_VALUES = 400, MOST_LOOPS = 4, MOST_DIVISORS = 4 };

typedef struct Cut {
    IrFunc *function;
    Arena *arena;
    IrBlock *loop;
    LoopBody body;
    const IrValue *divisors[MOST_DIVISORS];
    uint32_t divisor_count, block_count, value_count;
    IrBlock **copies; /* by IrBlock.id: of the body */
    IrValue **values; /* by IrValue.id: of the body, in the copy; of divisors, before both */
} Cut;

/* --- whether ------------------------------------------------------------------------------------------------------------ */

static bool is_small(const Cut *cut)
{
    uint32_t left = MOST_VALUES;
    for (uint32_t i = 0; i < cut->body.count; i++)
        for (const IrValue *value = cut->body.blocks[i]->first; value; value = value->next)
            if (!suits_any_loop(value) || !left--)
                return false;
    return true;
}

static bool can_cut(Cut *cut)
{
    const IrBlock *after = cut->loop->last->targets[0];
    cut->body = find_loop_body(cut->loop->last, cut->arena);
    if (after->first->op == IR_PHI || !is_small(cut))
        return false;
    cut->divisor_count = find_row_divisors(cut->loop->last, cut->divisors, MOST_DIVISORS, cut->arena);
    for (uint32_t i = 0; i < cut->divisor_count; i++)
        if (!is_known_before(&cut->body, cut->divisors[i]))
            return false;
    return cut->divisor_count > 0;
}

/* --- doing it ----------------------------------------------------------------------------------------------------------- */

/* Whether all divisors are large, in front of both loops. */
static IrValue *ask(Cut *cut, IrBlock *head)
{
    IrValue *all = NULL;
    for (uint32_t i = 0; i < cut->divisor_count; i++) {
        IrValue *divisor = make_before(&cut->body, head, cut->divisors[i]);
        IrValue *least = ir_const_int(head, divisor->type, LEAST_ROW_DIVISOR, NULL);
        IrValue *is_large = front_binary(head, IR_GE, divisor, least);
        all = all ? front_binary(head, IR_AND, all, is_large) : is_large;
    }
    return all;
}

/* In the order of the blocks, in which phis have their operands. */
static void copy_body(Cut *cut)
{
    uint32_t left = cut->block_count;
    for (const IrBlock *block = cut->function->first; left--; block = block->next) {
        if (!cut->body.is_inside[block->id] || block == cut->loop)
            continue;
        IrBlock *copy = cut->copies[block->id] = ir_block(cut->function);
        copy->loop = block->loop;
        for (IrValue *value = block->first; value; value = value->next)
            cut->values[value->id] = ir_copy_value(copy, value, value->operands);
    }
}

static void finish_body(const Cut *cut, IrBlock *other)
{
    for (uint32_t i = 0; i < cut->body.count; i++)
        for (IrValue *copy = cut->copies[cut->body.blocks[i]->id]->first; copy; copy = copy->next) {
            for (uint32_t k = 0; k < copy->operand_count; k++)
                if (cut->values[copy->operands[k]->id])
                    copy->operands[k] = cut->values[copy->operands[k]->id];
            for (int k = 0; k < 2 && ir_op_info[copy->op].immediate == IR_IMMEDIATE_TARGETS; k++)
                if (copy->targets[k])
                    copy->targets[k] = copy->targets[k] == cut->loop ? other : cut->copies[copy->targets[k]->id];
        }
}

/* Behind the block that is in front of the loop's. */
static void move_before(Cut *cut, IrBlock *head, IrBlock *last)
{
    IrBlock *before = cut->function->first;
    while (before->next != cut->loop)
        before = before->next;
    before->next = head;
    head->next = cut->loop;
    last->next = NULL;
    cut->function->last = last;
}

static void cut_loop(Cut *cut)
{
    IrFunc *function = cut->function;
    IrValue *loop = cut->loop->last;
    cut->copies = ARENA_ARRAY(cut->arena, IrBlock *, cut->block_count + 1);
    cut->values = ARENA_ARRAY(cut->arena, IrValue *, cut->value_count + 1);
    IrBlock *other = ir_block(function);
    copy_body(cut);
    finish_body(cut, other);
    IrBlock *join = ir_block(function), *head = ir_block(function);
    IrValue *copy = ir_append(other, IR_THREAD_LOOP, &type_none, &loop->pos, 0, NULL);
    copy->hint = loop->hint;
    copy->targets[0] = join;
    copy->targets[1] = cut->copies[loop->targets[1]->id];
    ir_jump(join, loop->targets[0], NULL);
    for (uint32_t i = 0; i < cut->loop->predecessor_count; i++) {
        IrBlock *from = cut->loop->predecessors[i];
        for (int k = 0; k < 2 && !cut->body.is_inside[from->id]; k++)
            if (from->last->targets[k] == cut->loop)
                from->last->targets[k] = head;
    }
    ir_branch(head, ask(cut, head), cut->loop, other, NULL);
    move_before(cut, head, join);
    loop->targets[0] = join;
    loop->hint |= IR_THREADS_CUT;
    ir_link_blocks(function);
    ir_renumber(function);
}

static bool is_plain_loop(const IrBlock *block)
{
    return block->first->op == IR_THREAD_LOOP && !block->first->operand_count;
}

void cut_rows_by_divisors(IrModule *module)
{
    IrBlock *loops[MOST_LOOPS];
    IrFunc *kernel = module->first;
    uint32_t count = 0;
    if (!kernel->is_kernel || kernel->by_warps)
        return;
    for (IrBlock *block = kernel->first; block && count < MOST_LOOPS; block = block->next)
        if (is_plain_loop(block))
            loops[count++] = block;
    for (uint32_t i = 0; i < count; i++) {
        Arena *arena = arena_create();
        Cut cut = {.function = kernel,
                   .arena = arena,
                   .loop = loops[i],
                   .block_count = kernel->block_count,
                   .value_count = kernel->value_count};
        if (can_cut(&cut))
            cut_loop(&cut);
        arena_destroy(arena);
    }
}
