/* Loops such as `for i in range(cuda.grid(1), x.size, cuda.gridsize(1)): total += x[i]` wait for memory on each trip. Four
 * trips written out in a row have four loads under way. LLVM does so by itself where the step is a constant; where it is
 * not, the number of trips takes a division, which only pays if loads are what the loop waits for. Where it is one, LLVM's
 * limit of size is lower than CUDA C's. */
#include "codegen/nvptx/memory/load_order.h"
#include "codegen/passes.h"
#include "codegen/unroll.h"
#include "core/ir/ir_graph.h"

enum { MOST_VALUES = 48, MOST_WEIGHT = 64, MOST_BLOCKS = 8 };

typedef struct Body {
    const IrGraph *graph;
    const IrLoop *loop;
    const IrBlock *header;
    uint32_t values, loads;
    int64_t weight; /* of what differs from trip to trip */
} Body;

/* Upwards to an end; how often is not known now. */
static bool is_counted(const IrGraph *graph, const IrLoop *loop, IrInduction *counts)
{
    return ir_induction(graph, loop, counts) && counts->comparison == IR_LT && counts->exit == 1 &&
           !(counts->start->op == IR_CONST && counts->bound->op == IR_CONST);
}

/* Memory that is not the launch's arguments. */
static bool is_own(const IrValue *array)
{
    IrOp op = ir_memory_of(array)->op;
    return op == IR_SHARED || op == IR_LOCAL || op == IR_CELL || op == IR_DATA;
}

static bool suits(const LoadOrder *order, Body *body, const IrValue *value)
{
    body->values++;
    if (!ir_is_invariant(body->graph, body->loop, value))
        body->weight += weight_in_loop(value);
    switch (value->op) {
    case IR_LOAD: body->loads += !is_own(value->operands[0]); return value->hint != IR_HINT_CV;
    case IR_STORE:
    case IR_ATOMIC: return is_own(value->operands[0]);
    default: return !load_order_acts(order, value);
    }
}

/* The blocks behind the header run one after another, without loops of their own, and lead back to it only. */
static bool block_suits(const LoadOrder *order, Body *body, const IrBlock *block, int *blocks)
{
    IrBlock *targets[2];
    int count = ir_successors(block, targets);
    if (--*blocks < 0 || count == 0)
        return false;
    for (const IrValue *value = block->first; value; value = value->next)
        if (!suits(order, body, value))
            return false;
    for (int i = 0; i < count; i++) {
        bool goes_on = targets[i] != body->header;
        if (goes_on && (targets[i] == body->header->last->targets[1] || targets[i]->id <= block->id ||
                        !block_suits(order, body, targets[i], blocks)))
            return false;
    }
    return true;
}

static bool is_batched(const LoadOrder *order, const IrGraph *graph, const IrLoop *loop)
{
    Body body = {.graph = graph, .loop = loop, .header = loop->header};
    int blocks = MOST_BLOCKS;
    IrInduction counts;
    if (!is_counted(graph, loop, &counts) || !block_suits(order, &body, loop->header->last->targets[0], &blocks))
        return false;
    return body.loads ? body.values <= MOST_VALUES : counts.step->op == IR_CONST && body.weight <= MOST_WEIGHT;
}

void mark_batched_loops(IrModule *module)
{
    Arena *arena = arena_create();
    LoadOrder order = load_order_of_module(module, arena);
    for (const IrFunc *function = module->first; function; function = function->next) {
        const IrGraph *graph = ir_graph(function, arena);
        for (uint32_t i = 0; i < graph->loop_count; i++)
            if (!graph->loops[i].header->loop && is_batched(&order, graph, &graph->loops[i]))
                graph->loops[i].header->loop = IR_LOOP_BATCH;
    }
    arena_destroy(arena);
}
