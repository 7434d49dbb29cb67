/* A kernel that is one grid-stride loop, `for i in range(grid(1), n, gridsize(1))` and nothing around it that has an effect,
 * becomes one trip of it. All threads of a block then run a trip before the next one: neighbours touch neighbouring
 * elements, which vectorizes. What makes it safe to run a loop trip by trip: threads do not synchronize, each thread takes
 * its own trips in order, the index alone is carried from trip to trip, what comes before the loop can be computed again
 * for every trip, nothing comes after it, and a thread that has ended by an exception has no other trips (host_entry.c). */
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

/* Recomputing more than this for every trip would not pay. */
enum { LONGEST_PROLOGUE = 64, DEEPEST = 16 };

typedef struct StrideLoop {
    const IrLoop *loop;
    IrValue *index; /* the header's only phi */
    IrValue *start, *step; /* index is start + trip * step */
    bool cannot_overflow; /* neither of them does, trip for trip */
} StrideLoop;

/* What a trip may compute again. */
static bool can_repeat(const IrValue *value)
{
    return ir_is_repeatable(value) && !(value->op == IR_INTRINSIC && ir_is_routine(value));
}

/* Whether it depends on a thread's place in its block. Where it does not, all threads have the same trips: which goes around
 * which then depends on what they touch (loop_places.c). */
static bool differs(const IrValue *value, int depth)
{
    if (value->op == IR_INTRINSIC &&
        (intrinsic_axis(INTRINSIC_CUDA_THREAD_IDX, value->intrinsic) >= 0 || value->intrinsic == INTRINSIC_CUDA_LANEID))
        return true;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (depth == 0 || differs(value->operands[i], depth - 1))
            return true;
    return false;
}

/* index < end, by steps that are made before the loop. */
static bool counts_up(const IrGraph *graph, const IrLoop *loop, StrideLoop *out)
{
    IrInduction found;
    if (!ir_induction(graph, loop, &found) || found.comparison != IR_LT || found.exit != 1)
        return false;
    *out = (StrideLoop){.loop = loop,
                        .index = loop->header->first,
                        .start = (IrValue *)found.start,
                        .step = (IrValue *)found.step,
                        .cannot_overflow = is_moderate_bound(found.bound)};
    return found.variable == out->index && !found.saturates && out->index->type->scalar == SCALAR_INT64 &&
           !ir_loop_has(graph, loop, out->step->block) && is_never_below(out->step, 1) &&
           differs(out->start, DEEPEST) && only_returns(loop->header->last->targets[1]);
}

/* The header does nothing but compare. */
static bool only_compares(const IrBlock *header)
{
    for (const IrValue *value = header->first->next; value != header->last; value = value->next)
        if (!can_repeat(value))
            return false;
    return true;
}

static bool is_own_memory(const IrValue *value) { return value->op == IR_LOCAL || value->op == IR_CELL; }

static bool stays_inside(const IrGraph *graph, const IrLoop *loop)
{
    for (uint32_t k = 0; k < loop->block_count; k++) {
        IrBlock *targets[2], *block = loop->blocks[k];
        int count = ir_successors(block, targets);
        for (int i = 0; i < count && block != loop->header; i++)
            if (!ir_loop_has(graph, loop, targets[i]) && targets[i]->last->op != IR_RAISE)
                return false;
        for (const IrValue *value = block->first; value; value = value->next)
            if (is_own_memory(value))
                return false;
    }
    return true;
}

/* What comes before the loop: the header does not dominate it. */
static bool can_repeat_prologue(const IrGraph *graph, const IrLoop *loop)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        const IrBlock *block = graph->order[i];
        if (ir_dominates(graph, loop->header, block))
            continue;
        for (const IrValue *value = block->first; value; value = value->next) {
            bool is_flow = value->op == IR_PHI || ir_op_info[value->op].flags & IR_FLAG_TERMINATOR;
            if ((!is_flow && !can_repeat(value)) || ++count > LONGEST_PROLOGUE)
                return false;
        }
    }
    return true;
}

static bool find_stride_loop(const IrFunc *kernel, Arena *arena, StrideLoop *out)
{
    const IrGraph *graph = ir_graph(kernel, arena);
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        const IrLoop *loop = &graph->loops[i];
        if (loop->depth == 1 && counts_up(graph, loop, out) && only_compares(loop->header) &&
            stays_inside(graph, loop) && can_repeat_prologue(graph, loop))
            return true;
    }
    return false;
}

/* --- splitting ---------------------------------------------------------------------------------------------------------- */

/* The phi becomes start + trip * step, in front of which the product is put. */
static void compute_index(const StrideLoop *loop)
{
    IrBlock *header = loop->loop->header;
    IrValue *rest = header->first->next, *last = header->last, *index = loop->index;
    const Type *type = index->type;
    header->first = header->last = NULL;
    IrValue *trip = ir_append(header, IR_TRIP, type, &index->pos, 0, NULL);
    IrValue *distance = ir_append(header, IR_MUL, type, &index->pos, 2, (IrValue *[]){trip, loop->step});
    IrValue *sum = ir_append(header, IR_ADD, type, &index->pos, 2, (IrValue *[]){loop->start, distance});
    index->op = IR_ADD;
    index->operands = sum->operands;
    index->operand_count = sum->operand_count;
    index->hint = distance->hint = loop->cannot_overflow ? IR_EXACT : IR_MAY_WRAP;
    distance->next = index;
    index->next = rest;
    header->last = last;
}

/* What led back to the header ends the trip. */
static void end_trips(const StrideLoop *loop)
{
    IrBlock *header = loop->loop->header, *end = ir_block(header->function);
    ir_append(end, IR_NEXT_TRIP, &type_none, &loop->index->pos, 0, NULL);
    for (uint32_t i = 0; i < loop->loop->latch_count; i++) {
        IrValue *from = loop->loop->latches[i]->last;
        for (int k = 0; k < 1 + (from->op == IR_BRANCH); k++)
            if (from->targets[k] == header)
                from->targets[k] = end;
    }
}

bool is_one_trip(const IrFunc *kernel)
{
    for (const IrBlock *block = kernel->first; block; block = block->next)
        if (block->last->op == IR_NEXT_TRIP)
            return true;
    return false;
}

void split_stride_loop(IrModule *module)
{
    enum { WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC };
    if (!module->first->is_kernel || ir_module_effects(module) & WAITS)
        return;
    Arena *arena = arena_create();
    StrideLoop loop;
    if (find_stride_loop(module->first, arena, &loop)) {
        end_trips(&loop);
        compute_index(&loop);
        ir_link_blocks(module->first);
        ir_renumber(module->first);
    }
    arena_destroy(arena);
}
