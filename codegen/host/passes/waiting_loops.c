/* Loops in which a thread waits for what another one writes: each trip reads the same memory again and asks whether it
 * has changed. GPUs let all threads of a block go on in turn; on the CPU device one thread runs at a time, so that such a
 * loop has to let the others run: cuda.nanosleep(0) at the end of each trip. Loops that change what they read, such as
 * an atomic update by cas, make progress by themselves and stay as they are. A warp that meets in such a loop may wait for a
 * later one of its block: then warps do not run one after the other.
 *
 * A loop may wait in ways that are not seen here, at other places in each trip. A kernel with any loop that reads what others
 * may write is run so that all workers have its next blocks at once. */
#include "codegen/passes.h"

#include <assert.h>
#include "core/ir/ir_graph.h"

enum { DEEPEST = 64 };

typedef struct Search {
    const IrModule *module;
    bool *polls;               /* by a function's place in the module: it reads what others may write */
    bool *meets;               /* likewise: its threads meet */
    const IrGraph *graph;
    const IrLoop *loop;        /* the one at hand */
    bool has_fence;            /* in the loop */
    const IrLoop *
        *seen_in;    /* by IrValue.id: the last loop for which the value was looked at, so that it is once for each */
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

/* Whether the value is known by reading something again: the same place, with the same operands, in every trip. */
static bool comes_of_polling(const Search *search, const IrValue *value, int depth)
{
    if (depth == 0 || !ir_loop_has(search->graph, search->loop, value->block) ||
        search->seen_in[value->id] == search->loop)
        return false;
    search->seen_in[value->id] = search->loop;
    if (may_poll(search, value, search->has_fence)) {
        bool fixed = true;
        for (uint32_t i = 0; fixed && i < value->operand_count; i++)
            fixed = ir_is_invariant(search->graph, search->loop, value->operands[i]);
        return fixed;
    }
    if (!ir_is_repeatable(value) && value->op != IR_PHI)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (comes_of_polling(search, value->operands[i], depth - 1))
            return true;
    return false;
}

static bool loop_waits(Search *search)
{
    const IrLoop *loop = search->loop;
    search->has_fence = false;
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next)
            search->has_fence |= is_fence(value);
    for (uint32_t i = 0; i < loop->block_count; i++)
        if (loop->blocks[i]->last->op == IR_BRANCH &&
            comes_of_polling(search, loop->blocks[i]->last->operands[0], DEEPEST))
            return true;
    return false;
}

static bool meets_by_itself(const IrValue *value)
{
    return value->op == IR_INTRINSIC &&
           intrinsic_info[value->intrinsic].effects & (EFFECT_WARP_SYNC | EFFECT_BLOCK_SYNC);
}

/* What a loop has anywhere. */
typedef struct LoopHas {
    bool polls, meets, loads, fence;
} LoopHas;

static LoopHas look_into_loop(const Search *search)
{
    const IrLoop *loop = search->loop;
    LoopHas has = {0};
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next) {
            bool calls = value->op == IR_CALL;
            uint32_t callee = calls ? ir_place_of(search->module, value->callee) : 0;
            has.polls |= polls_by_itself(value) || (calls && search->polls[callee]);
            has.meets |= meets_by_itself(value) || (calls && search->meets[callee]);
            has.loads |= value->op == IR_LOAD;
            has.fence |= is_fence(value);
        }
    return has;
}

/* --- all loops ------------------------------------------------------------------------------------------------------ */

/* In front of the block's terminator. */
static void let_others_run(IrBlock *block)
{
    IrValue *end = block->last, *before = NULL;
    assert(ir_is_terminated(block));
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

static void search_function(Search *search, IrModule *module, const IrFunc *function, Arena *arena)
{
    const IrGraph *graph = search->graph = ir_graph(function, arena);
    search->seen_in = ARENA_ARRAY(arena, const IrLoop *, function->value_count);
    for (uint32_t i = graph->loop_count; i-- > 0;) {
        search->loop = &graph->loops[i];
        LoopHas has = look_into_loop(search);
        module->first->by_warps &= !(has.polls && has.meets);
        module->first->may_wait |= has.polls || (has.fence && has.loads);
        bool waits = loop_waits(search);
        for (uint32_t k = 0; waits && k < search->loop->latch_count; k++)
            let_others_run(search->loop->latches[k]);
    }
}

void yield_in_waiting_loops(IrModule *module)
{
    Arena *arena = arena_create();
    Search search = {.module = module,
                     .polls = ARENA_ARRAY(arena, bool, module->function_count + 1u),
                     .meets = ARENA_ARRAY(arena, bool, module->function_count + 1u)};
    ir_functions_with(module, polls_by_itself, search.polls);
    ir_functions_with(module, meets_by_itself, search.meets);
    for (const IrFunc *function = module->first; function; function = function->next)
        search_function(&search, module, function, arena);
    arena_destroy(arena);
}
