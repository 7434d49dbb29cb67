/* Puts an OBSERVE in front of what profiles count: branches, accesses, atomics; and where trips of loops and calls begin,
 * by which lanes of a warp are aligned (host_profile.c). Checks are no part of the program: their branches are not seen. */
#include "codegen/check/rewrite.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"
#include "core/observed.h"

typedef struct Observer {
    const IrGraph *graph;
    const IrBlock *block; /* the last one that was looked at */
    uint32_t site_count;
    bool has_begun; /* the kernel */
} Observer;

static int64_t depth_of(const Observer *observer, const IrBlock *block)
{
    const IrLoop *loop = observer->graph->loop_of[block->id];
    return loop ? loop->depth : 0;
}

/* The operands of its own, then how many loops of the function are around it. */
static void observe(Rewrite *rewrite, Observer *observer, ObservedEvent event, uint32_t count, IrValue *const *operands)
{
    IrValue *all[TYPE_MAX_NDIM + 3];
    for (uint32_t i = 0; i < count; i++)
        all[i] = operands[i];
    all[count] = rewrite_int(rewrite, TYPE_OF(INT64), depth_of(observer, rewrite->block));
    IrValue *made = rewrite_emit(rewrite, IR_OBSERVE, &type_none, count + 1, all);
    made->hint = (uint8_t)event;
    made->index = observer->site_count++;
}

/* `elements` of them lie side by side. */
static void observe_access(Rewrite *rewrite, Observer *observer, ObservedEvent event, const IrValue *access,
                           int64_t elements)
{
    IrValue *operands[TYPE_MAX_NDIM + 2], *array = access->operands[0];
    IrOp memory = ir_memory_of(array)->op;
    uint32_t count = 1u + array->type->ndim;
    if (memory == IR_LOCAL || memory == IR_DATA)
        return;
    for (uint32_t i = 0; i < count; i++)
        operands[i] = access->operands[i];
    operands[count++] = rewrite_int(rewrite, TYPE_OF(INT64), elements);
    observe(rewrite, observer, event, count, operands);
}

static bool fails_a_check(const IrModule *module, const IrBlock *block)
{
    return block->last->op == IR_RAISE && block->last->index < module->exception_count &&
           module->exceptions[block->last->index].is_check;
}

static void observe_branch(Rewrite *rewrite, Observer *observer, const IrValue *branch)
{
    bool is_check =
        fails_a_check(rewrite->module, branch->targets[0]) || fails_a_check(rewrite->module, branch->targets[1]);
    if (!is_check && branch->targets[0] != branch->targets[1])
        observe(rewrite, observer, OBSERVED_BRANCH, 1, branch->operands);
}

static void observe_intrinsic(Rewrite *rewrite, Observer *observer, const IrValue *value)
{
    IntrinsicFamily family = intrinsic_info[value->intrinsic].family;
    if (family == FAMILY_WIDE_LOAD)
        observe_access(rewrite, observer, OBSERVED_LOAD, value, value->type->count);
    else if (family == FAMILY_WIDE_STORE)
        observe_access(rewrite, observer, OBSERVED_STORE, value, value->operands[2]->type->count);
}

static void observe_call(Rewrite *rewrite, Observer *observer, IrValue *call)
{
    observe(rewrite, observer, OBSERVED_CALL, 0, NULL);
    rewrite_keep(rewrite, call);
    observe(rewrite, observer, OBSERVED_CALLED, 0, NULL);
}

static void enter_block(Rewrite *rewrite, Observer *observer)
{
    const IrLoop *loop = observer->graph->loop_of[rewrite->block->id];
    observer->block = rewrite->block;
    if (!observer->has_begun && rewrite->function->is_kernel) {
        observer->has_begun = true;
        observe(rewrite, observer, OBSERVED_BEGIN, 0, NULL);
    }
    if (loop && loop->header == rewrite->block)
        observe(rewrite, observer, OBSERVED_TRIP, 0, NULL);
}

static void observe_value(Rewrite *rewrite, IrValue *value, void *user)
{
    Observer *observer = user;
    if (observer->block != rewrite->block)
        enter_block(rewrite, observer);
    switch (value->op) {
    case IR_BRANCH: observe_branch(rewrite, observer, value); return;
    case IR_LOAD: observe_access(rewrite, observer, OBSERVED_LOAD, value, 1); return;
    case IR_STORE: observe_access(rewrite, observer, OBSERVED_STORE, value, 1); return;
    case IR_ATOMIC: observe_access(rewrite, observer, OBSERVED_ATOMIC, value, 1); return;
    case IR_INTRINSIC: observe_intrinsic(rewrite, observer, value); return;
    case IR_CALL: observe_call(rewrite, observer, value); return;
    default: return;
    }
}

void observe_accesses(IrModule *module)
{
    Arena *arena = arena_create();
    Observer observer = {0};
    for (IrFunc *function = module->first; function; function = function->next) {
        if (function->lacks_body)
            continue;
        observer.graph = ir_graph(function, arena);
        observer.block = NULL;
        rewrite_function(function, observe_value, &observer);
    }
    arena_destroy(arena);
}
