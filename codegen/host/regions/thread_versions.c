/* Two loops over threads in place of one. */
#include "codegen/host/regions/thread_versions.h"

enum { MOST_VALUES = 400 };

bool may_have_versions(const IrBlock *loop, const LoopBody *body)
{
    uint32_t left = MOST_VALUES;
    if (loop->first->op != IR_THREAD_LOOP || loop->first->operand_count || loop->last->targets[0]->first->op == IR_PHI)
        return false;
    for (uint32_t i = 0; i < body->count; i++)
        for (const IrValue *value = body->blocks[i]->first; value; value = value->next)
            if (!suits_any_loop(value) || !left--)
                return false;
    return true;
}

/* In the order of the blocks, in which phis have their operands. */
static void copy_body(const LoopVersions *versions, IrBlock **copies, uint32_t left)
{
    for (const IrBlock *block = versions->function->first; left--; block = block->next) {
        if (!versions->body.is_inside[block->id] || block == versions->loop)
            continue;
        IrBlock *copy = copies[block->id] = ir_block(versions->function);
        copy->loop = block->loop;
        for (IrValue *value = block->first; value; value = value->next)
            versions->values[value->id] = ir_copy_value(copy, value, value->operands);
    }
}

static void finish_body(const LoopVersions *versions, IrBlock *const *copies, IrBlock *other)
{
    for (uint32_t i = 0; i < versions->body.count; i++)
        for (IrValue *copy = copies[versions->body.blocks[i]->id]->first; copy; copy = copy->next) {
            for (uint32_t k = 0; k < copy->operand_count; k++)
                if (versions->values[copy->operands[k]->id])
                    copy->operands[k] = versions->values[copy->operands[k]->id];
            for (int k = 0; k < 2 && ir_op_info[copy->op].immediate == IR_IMMEDIATE_TARGETS; k++)
                if (copy->targets[k])
                    copy->targets[k] = copy->targets[k] == versions->loop ? other : copies[copy->targets[k]->id];
        }
}

/* Behind the block that is in front of the loop's. */
static void move_before(const LoopVersions *versions, IrBlock *last)
{
    IrBlock *before = versions->function->first;
    while (before->next != versions->loop)
        before = before->next;
    before->next = versions->head;
    versions->head->next = versions->loop;
    last->next = NULL;
    versions->function->last = last;
}

LoopVersions make_versions(IrFunc *function, IrBlock *loop, const LoopBody *body, Arena *arena)
{
    LoopVersions versions = {.function = function, .loop = loop, .body = *body};
    IrValue *threads = loop->last;
    uint32_t block_count = function->block_count;
    IrBlock **copies = ARENA_ARRAY(arena, IrBlock *, block_count + 1);
    versions.values = ARENA_ARRAY(arena, IrValue *, function->value_count + 1);
    IrBlock *other = ir_block(function);
    copy_body(&versions, copies, block_count);
    finish_body(&versions, copies, other);
    IrBlock *join = ir_block(function);
    versions.head = ir_block(function);
    versions.copy = ir_append(other, IR_THREAD_LOOP, &type_none, &threads->pos, 0, NULL);
    versions.copy->hint = threads->hint;
    versions.copy->targets[0] = join;
    versions.copy->targets[1] = copies[threads->targets[1]->id];
    ir_jump(join, threads->targets[0], NULL);
    for (uint32_t i = 0; i < loop->predecessor_count; i++) {
        IrBlock *from = loop->predecessors[i];
        for (int k = 0; k < 2 && !body->is_inside[from->id]; k++)
            if (from->last->targets[k] == loop)
                from->last->targets[k] = versions.head;
    }
    threads->targets[0] = join;
    move_before(&versions, join);
    return versions;
}

void end_versions(const LoopVersions *versions, IrValue *condition, bool takes_copy)
{
    IrBlock *other = versions->copy->block;
    ir_branch(versions->head, condition, takes_copy ? other : versions->loop, takes_copy ? versions->loop : other,
              NULL);
    ir_link_blocks(versions->function);
    ir_renumber(versions->function);
}
