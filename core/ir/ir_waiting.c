/* Loops in which a thread waits for what another one writes: each trip reads the same memory again and asks whether it
 * has changed. GPUs let all threads of a block go on in turn; on the CPU device one thread runs at a time, so that such a
 * loop has to let the others run: cuda.nanosleep(0) at the end of each trip. Loops that change what they read, such as
 * an atomic update by cas, make progress by themselves and stay as they are. */
#include "core/ir/ir.h"

#include <string.h>

enum { DEEPEST = 64 };

/* What has been found out about a value in the loop at hand, in Search.marks. */
enum { SEEN = 1, FIXED = 2, NOT_FIXED = 4 };

typedef struct Search {
    const IrModule *module;
    Arena *arena;
    bool *polls;                /* by a function's place in the module: it reads what others may write */
    const IrFunc *function;
    bool *is_inside;            /* by IrBlock.id: of the loop */
    bool has_fence;             /* in the loop */
    uint32_t value_count;       /* of the function before anything is added */
    uint8_t *marks;             /* by IrValue.id: no value is looked at twice */
} Search;

/* --- reading again -------------------------------------------------------------------------------------------------- */

static bool is_zero(const IrValue *value) { return value->op == IR_CONST && value->integer == 0; }

/* An atomic that need not change anything: the other ones make progress. */
static bool atomic_polls(const IrValue *value)
{
    switch (value->atomic) {
    case IR_ATOMIC_INC:
    case IR_ATOMIC_DEC: return false;
    case IR_ATOMIC_ADD:
    case IR_ATOMIC_SUB: return is_zero(value->operands[value->operand_count - 1]);
    default: return true;
    }
}

static bool polls_by_itself(const IrValue *value)
{
    return value->op == IR_ATOMIC ? atomic_polls(value)
                                  : value->op == IR_LOAD && (value->hint == IR_HINT_CV || value->hint == IR_HINT_CG);
}

static bool may_poll(const Search *search, const IrValue *value, bool with_fence)
{
    return polls_by_itself(value) || (value->op == IR_LOAD && !value->hint && with_fence) ||
           (value->op == IR_CALL && search->polls[ir_place_of(search->module, value->callee)]);
}

/* --- one loop ------------------------------------------------------------------------------------------------------- */

static bool is_fence(const IrValue *value)
{
    return value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].family == FAMILY_FENCE;
}

static bool is_pure(const IrValue *value)
{
    if (value->op == IR_INTRINSIC)
        return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER;
    return ir_op_info[value->op].flags & IR_FLAG_PURE && value->op != IR_PHI;
}

/* The same in every trip. */
static bool is_fixed(const Search *search, const IrValue *value, int depth)
{
    if (!search->is_inside[value->block->id])
        return true;
    uint8_t *mark = &search->marks[value->id];
    if (*mark & (FIXED | NOT_FIXED))
        return *mark & FIXED;
    bool fixed = depth > 0 && is_pure(value);
    for (uint32_t i = 0; fixed && i < value->operand_count; i++)
        fixed = is_fixed(search, value->operands[i], depth - 1);
    *mark |= fixed ? FIXED : NOT_FIXED;
    return fixed;
}

/* Whether the value is known by reading something again: the same place, with the same operands, in every trip. */
static bool comes_of_polling(const Search *search, const IrValue *value, int depth)
{
    if (!value || depth == 0 || !search->is_inside[value->block->id] || search->marks[value->id] & SEEN)
        return false;
    search->marks[value->id] |= SEEN;
    if (may_poll(search, value, search->has_fence)) {
        bool fixed = true;
        for (uint32_t i = 0; fixed && i < value->operand_count; i++)
            fixed = is_fixed(search, value->operands[i], DEEPEST);
        return fixed;
    }
    if (!is_pure(value) && value->op != IR_PHI)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (comes_of_polling(search, value->operands[i], depth - 1))
            return true;
    return false;
}

static bool loop_waits(Search *search)
{
    search->has_fence = false;
    memset(search->marks, 0, search->value_count);
    for (const IrBlock *block = search->function->first; block; block = block->next)
        for (const IrValue *value = block->first; search->is_inside[block->id] && value; value = value->next)
            search->has_fence |= is_fence(value);
    for (const IrBlock *block = search->function->first; block; block = block->next)
        if (search->is_inside[block->id] && block->last->op == IR_BRANCH &&
            comes_of_polling(search, block->last->operands[0], DEEPEST))
            return true;
    return false;
}

/* --- all loops ------------------------------------------------------------------------------------------------------ */

/* Marks what leads to the loop's last block without passing its header. */
static void find_body(Search *search, const IrBlock *header, IrBlock *last)
{
    uint32_t count = 0;
    IrBlock **stack = ARENA_ARRAY(search->arena, IrBlock *, search->function->block_count + 1);
    for (uint32_t id = 0; id < search->function->block_count; id++)
        search->is_inside[id] = false;
    search->is_inside[header->id] = true;
    if (!search->is_inside[last->id])
        stack[count++] = last;
    search->is_inside[last->id] = true;
    while (count) {
        const IrBlock *block = stack[--count];
        for (uint32_t i = 0; i < block->predecessor_count; i++) {
            IrBlock *before = block->predecessors[i];
            if (search->is_inside[before->id])
                continue;
            search->is_inside[before->id] = true;
            stack[count++] = before;
        }
    }
}

/* In front of the block's terminator. */
static void let_others_run(IrBlock *block)
{
    IrValue *end = block->last, *before = NULL;
    for (IrValue *value = block->first; value != end; value = value->next)
        before = value;
    block->last = before;
    *(before ? &before->next : &block->first) = NULL;
    IrValue *time = ir_const_int(block, TYPE_OF(UINT32), 0, &end->pos);
    IrValue *sleep = ir_append(block, IR_INTRINSIC, &type_none, &end->pos, 1, &time);
    sleep->intrinsic = INTRINSIC_CUDA_NANOSLEEP;
    sleep->next = end;
    block->last = end;
}

/* Depth first: an edge to a block that is still on the way closes a loop. */
static void visit_loops(Search *search)
{
    const IrFunc *function = search->function;
    uint32_t depth = 0;
    enum { NEW, ON_THE_WAY, DONE };
    uint8_t *state = ARENA_ARRAY(search->arena, uint8_t, function->block_count + 1);
    IrBlock **stack = ARENA_ARRAY(search->arena, IrBlock *, function->block_count + 1);
    int *next = ARENA_ARRAY(search->arena, int, function->block_count + 1);
    stack[depth++] = function->first;
    state[function->first->id] = ON_THE_WAY;
    while (depth) {
        IrBlock *targets[2], *block = stack[depth - 1];
        if (next[depth - 1] == ir_successors(block, targets)) {
            state[block->id] = DONE;
            depth--;
            continue;
        }
        IrBlock *target = targets[next[depth - 1]++];
        if (state[target->id] == ON_THE_WAY) {
            find_body(search, target, block);
            if (loop_waits(search))
                let_others_run(block);
        } else if (state[target->id] == NEW) {
            state[target->id] = ON_THE_WAY;
            next[depth] = 0;
            stack[depth++] = target;
        }
    }
}

void ir_yield_in_waiting_loops(IrModule *module)
{
    Arena *arena = arena_create();
    Search search = {.module = module, .arena = arena, .polls = ARENA_ARRAY(arena, bool, module->function_count + 1u)};
    ir_functions_with(module, polls_by_itself, search.polls);
    for (const IrFunc *function = module->first; function; function = function->next) {
        search.function = function;
        search.is_inside = ARENA_ARRAY(arena, bool, function->block_count + 1);
        search.value_count = function->value_count;
        search.marks = ARENA_ARRAY(arena, uint8_t, search.value_count + 1);
        visit_loops(&search);
    }
    arena_destroy(arena);
}
