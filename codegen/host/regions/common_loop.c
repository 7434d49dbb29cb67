/* A loop whose trips begin with the thread's place along an axis, `for i in range(grid(1), n, gridsize(1))` or
 * `for y in range(threadIdx.y, 20, 16)`, in a kernel whose threads meet elsewhere becomes a loop that the threads of a block
 * have in common: it counts the index of the first one, which they all know, and runs while that one has a trip; in it each
 * thread adds its place and asks whether it has the trip, too. A loop around all threads can then be outside of the loop over
 * them (form_regions.c), with the test as its bound (thread_bounds.c): neighbours touch neighbouring elements, which
 * vectorizes, and what a thread carries from trip to trip is in a slot. One of few trips, of a known number, is written out.
 *
 * No thread has a trip that the first one lacks, for indices rise with the thread and from trip to trip; nor does it have
 * one again after a trip that it lacked. */
#include "codegen/host/regions/common_nest.h"
#include "codegen/host/regions/front_values.h"
#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum { MOST_PHIS = 16, DEEPEST = 12, AXES = 3, SHORT = 29 /* bits, of which a sum of two is far from 2^31 */ };

typedef struct CommonLoop {
    const IrLoop *loop;
    IrValue *index; /* a phi of the header */
    IrValue *start, *step, *bound, *test;
    uint32_t axis; /* start: what all threads have alike, and threadIdx along it */
    IrBlock *before, *latch;
    IrValue *phis[MOST_PHIS]; /* of the header, the index among them */
    IrValue *coming[MOST_PHIS], *returning[MOST_PHIS]; /* their operands on the way in, and back */
    uint32_t phi_count;
} CommonLoop;

/* --- which loops -------------------------------------------------------------------------------------------------------- */

/* Made of what all threads of a block, or of a warp, have alike, but for threadIdx along one axis. */
static bool is_of_axis(const IrValue *value, uint32_t axis, int depth)
{
    bool by_warps = value->block->function->by_warps;
    if (depth > DEEPEST)
        return false;
    for (uint32_t other = 0; other < AXES && value->op == IR_INTRINSIC; other++)
        if (other != axis && !(by_warps && axis == 0) &&
            value->intrinsic == intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, other))
            return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!is_of_axis(value->operands[i], axis, depth + 1))
            return false;
    return true;
}

static bool is_common(const IrValue *value) { return slope_along(0, value) == 0 && is_of_axis(value, 0, 0); }

static bool find_axis(const IrValue *start, uint32_t *axis)
{
    for (*axis = 0; *axis < AXES; ++*axis)
        if (slope_along(*axis, start) == 1 && is_of_axis(start, *axis, 0))
            return true;
    return false;
}

static bool meets(const IrValue *value)
{
    enum { WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC };
    return value->op == IR_CALL || value->op == IR_LOCAL || value->op == IR_CELL || value->op == IR_RAISE ||
           (value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].effects & WAITS);
}

/* The header's test is the only way out for threads that pass all checks, nobody waits in there, and nothing is the loop's
 * own. */
static bool is_closed(const IrGraph *graph, const IrLoop *loop)
{
    for (uint32_t k = 0; k < loop->block_count; k++) {
        IrBlock *targets[2], *block = loop->blocks[k];
        int count = ir_successors(block, targets);
        for (int i = 0; i < count && block != loop->header; i++)
            if (!ir_loop_has(graph, loop, targets[i]) && !fails_check(targets[i]))
                return false;
        for (const IrValue *value = block->first; value; value = value->next)
            if (meets(value))
                return false;
    }
    return true;
}

static bool uses(const IrValue *value, const IrValue *operand)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (value->operands[i] == operand)
            return true;
    return false;
}

/* Whether the header makes it of the index, for the loop's other blocks: it can be made there. */
static bool goes_inside(const CommonLoop *common, const IrValue *value)
{
    return value->block == common->loop->header && value != common->test && value->op != IR_PHI &&
           ir_op_info[value->op].flags & IR_FLAG_PURE && uses(value, common->index);
}

/* Or comes from there where a check fails, which is outside. */
static bool is_inside(const IrGraph *graph, const CommonLoop *common, const IrBlock *block)
{
    if (!fails_check(block))
        return ir_loop_has(graph, common->loop, block) && block != common->loop->header;
    for (uint32_t i = 0; i < block->predecessor_count; i++)
        if (!ir_loop_has(graph, common->loop, block->predecessors[i]) || block->predecessors[i] == common->loop->header)
            return false;
    return true;
}

/* Nobody else uses the index and what the header makes of it, but for the test. */
static bool is_used_inside(const IrGraph *graph, const CommonLoop *common)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        const IrBlock *block = graph->order[i];
        for (const IrValue *value = block->first; value && !is_inside(graph, common, block); value = value->next) {
            if (value != common->test && uses(value, common->index) && !goes_inside(common, value))
                return false;
            for (uint32_t k = 0; k < value->operand_count; k++)
                if (goes_inside(common, value->operands[k]))
                    return false;
        }
    }
    return true;
}

/* One way in and one way back, and the phis' operands on them. */
static bool take_phis(const IrGraph *graph, CommonLoop *common)
{
    IrBlock *header = common->loop->header;
    if (header->predecessor_count != 2 || common->loop->latch_count != 1)
        return false;
    uint32_t back = header->predecessors[1] == common->loop->latches[0];
    common->latch = header->predecessors[back];
    common->before = header->predecessors[!back];
    if (ir_loop_has(graph, common->loop, common->before))
        return false;
    for (IrValue *phi = header->first; phi->op == IR_PHI; phi = phi->next) {
        if (common->phi_count == MOST_PHIS)
            return false;
        common->phis[common->phi_count] = phi;
        common->coming[common->phi_count] = phi->operands[!back];
        common->returning[common->phi_count++] = phi->operands[back];
    }
    return true;
}

/* Threads that walk along memory each by themselves are left alone: neighbours are far from each other. */
static bool is_stride(const IrValue *step)
{
    return is_never_below(step, 1) && !(step->op == IR_CONST && step->integer == 1) && is_common(step);
}

/* Or can be. */
static bool is_made_outside(const IrGraph *graph, const IrLoop *loop, const IrValue *value)
{
    return value->op == IR_CONST || !ir_loop_has(graph, loop, value->block);
}

/* Whether the distance from the index to the bound, and one step beyond it, are numbers of the index's type. */
static bool counts_far(const CommonLoop *common)
{
    bool is_positive = is_never_below(common->start, 0);
    if (common->index->type->scalar == SCALAR_INT64)
        return is_positive || is_moderate_bound(common->bound);
    return common->index->type->scalar == SCALAR_INT32 && is_positive && has_bits(common->bound, SHORT) &&
           has_bits(common->step, SHORT);
}

static bool is_common_loop(const IrGraph *graph, const IrLoop *loop, CommonLoop *common)
{
    IrInduction found;
    if (!ir_induction(graph, loop, &found) || found.comparison != IR_LT || found.exit != 1)
        return false;
    *common = (CommonLoop){.loop = loop,
                           .index = (IrValue *)found.variable,
                           .start = (IrValue *)found.start,
                           .step = (IrValue *)found.step,
                           .bound = (IrValue *)found.bound,
                           .test = (IrValue *)found.test};
    return counts_far(common) && is_stride(found.step) && is_made_outside(graph, loop, found.step) &&
           is_common(found.bound) && is_made_outside(graph, loop, found.bound) &&
           find_axis(found.start, &common->axis) && found.test->block == loop->header &&
           loop->header->last->targets[0]->predecessor_count == 1 && take_phis(graph, common) &&
           is_closed(graph, loop) && is_used_inside(graph, common);
}

/* --- making them common ------------------------------------------------------------------------------------------------- */

/* A constant may stand in the loop. */
static IrValue *outside(IrBlock *before, IrValue *value)
{
    return value->op == IR_CONST ? ir_copy_value(before, value, NULL) : value;
}

static IrValue *place_on_axis(IrBlock *block, const CommonLoop *common, const SourcePos *pos)
{
    const Type *type = common->index->type;
    IrValue *thread = ir_append(block, IR_INTRINSIC, TYPE_OF(INT32), pos, 0, NULL);
    bool by_warps = block->function->by_warps && common->axis == 0;
    thread->intrinsic = by_warps ? INTRINSIC_CUDA_LANEID : intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, common->axis);
    return type->scalar == SCALAR_INT32 ? thread : ir_append(block, IR_CONVERT, type, pos, 1, &thread);
}

static void replace_inside(const IrGraph *graph, const CommonLoop *common, IrValue *by)
{
    for (uint32_t k = 0; k < graph->count; k++)
        for (IrValue *value = graph->order[k]->first; value && is_inside(graph, common, graph->order[k]);
             value = value->next)
            for (uint32_t i = 0; i < value->operand_count; i++)
                if (value->operands[i] == common->index)
                    value->operands[i] = by;
}

/* The operands of a phi by where they come from: `value` from the block `from`, else `other`. */
static void set_operands(IrValue *phi, const IrBlock *from, IrValue *value, IrValue *other)
{
    for (uint32_t i = 0; i < phi->block->predecessor_count; i++)
        phi->operands[i] = phi->block->predecessors[i] == from ? value : other;
}

/* What the header makes of the index, which the block has in its place. */
static void move_inside(const CommonLoop *common, IrBlock *body, IrValue *index)
{
    IrBlock *header = common->loop->header;
    IrValue **place = &header->first;
    for (IrValue *value = header->first, *next; value; value = next) {
        next = value->next;
        if (!goes_inside(common, value)) {
            place = &value->next;
            continue;
        }
        *place = next;
        put_end(body, value);
        value->block = body;
        for (uint32_t i = 0; i < value->operand_count; i++)
            if (value->operands[i] == common->index)
                value->operands[i] = index;
    }
}

/* Between the header and the loop's body: has the thread this trip? */
static IrBlock *ask_thread(const IrGraph *graph, const CommonLoop *common, IrBlock *meeting)
{
    const SourcePos *pos = &common->index->pos;
    IrBlock *header = common->loop->header, *ask = ir_block(header->function);
    const Type *type = common->index->type;
    IrValue *place = place_on_axis(ask, common, pos);
    IrValue *left = ir_append(ask, IR_SUB, type, pos, 2, (IrValue *[]){common->bound, common->index});
    IrValue *has_trip = ir_append(ask, IR_LT, TYPE_OF(BOOL), pos, 2, (IrValue *[]){place, left});
    IrBlock *body = ir_block(header->function);
    IrValue *index = ir_append(body, IR_ADD, type, pos, 2, (IrValue *[]){common->index, place});
    index->hint = IR_EXACT;
    replace_inside(graph, common, index);
    move_inside(common, body, index);
    ir_jump(body, header->last->targets[0], pos);
    ir_branch(ask, has_trip, body, meeting, pos);
    header->last->targets[0] = ask;
    return ask;
}

static void make_common(const IrGraph *graph, CommonLoop *common)
{
    IrBlock *header = common->loop->header, *meeting = ir_block(header->function);
    const SourcePos *pos = &common->index->pos;
    IrValue *met[MOST_PHIS], *end = take_end(common->before);
    IrValue *first = of_first_thread(common->before, common->start, common->axis);
    common->step = outside(common->before, common->step);
    common->bound = outside(common->before, common->bound);
    put_end(common->before, end);
    const IrBlock *ask = ask_thread(graph, common, meeting);
    for (uint32_t i = 0; i < common->phi_count; i++)
        if (common->phis[i] != common->index)
            met[i] = ir_phi(meeting, common->phis[i]->type, &common->phis[i]->pos, 2);
    for (uint32_t i = 0; i < common->phi_count; i++)
        if (common->phis[i] == common->index) {
            IrValue *next[2] = {common->index, common->step};
            met[i] = ir_append(meeting, IR_ADD, common->index->type, pos, 2, next);
            met[i]->hint = common->returning[i]->hint;
            common->coming[i] = first;
        }
    ir_jump(meeting, header, pos);
    IrValue *back = common->latch->last;
    back->targets[back->targets[0] != header] = meeting;
    ir_link_blocks(header->function);
    for (uint32_t i = 0; i < common->phi_count; i++) {
        set_operands(common->phis[i], common->before, common->coming[i], met[i]);
        if (common->phis[i] != common->index)
            set_operands(met[i], ask, common->phis[i], common->returning[i]);
    }
    ir_renumber(header->function);
}

/* Blocks change: loops are looked for again after each. One that was made is none any more. */
static bool make_one_common(IrFunc *kernel)
{
    Arena *arena = arena_create();
    const IrGraph *graph = ir_graph(kernel, arena);
    CommonLoop common;
    bool is_found = false;
    for (uint32_t i = 0; i < graph->loop_count && !is_found; i++)
        is_found = is_common_loop(graph, &graph->loops[i], &common);
    if (is_found)
        make_common(graph, &common);
    arena_destroy(arena);
    return is_found;
}

void make_loops_common(IrModule *module)
{
    enum { WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC };
    if (!module->first->is_kernel || !(ir_module_effects(module) & WAITS))
        return;
    while (make_one_common(module->first))
        ;
    join_common_nests(module->first);
}
