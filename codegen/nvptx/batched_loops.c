/* Loops such as `for i in range(cuda.grid(1), x.size, cuda.gridsize(1)): total += x[i]` wait for memory on each trip. Four
 * trips written out in a row have four loads under way. LLVM does so by itself where the step is a constant; where it is
 * not, the number of trips takes a division, which only pays if loads are what the loop waits for. */
#include "codegen/nvptx/load_order.h"
#include "codegen/passes.h"

enum { MOST_VALUES = 48, MOST_BLOCKS = 8 };

typedef struct Body {
    const IrBlock *header;
    uint32_t values, loads;
} Body;

/* By how much an operand of the phi has grown since the trip before; NULL: it is not that. */
static const IrValue *step_of(const IrValue *phi, const IrValue *next)
{
    if (next->op != IR_ADD || (next->operands[0] != phi && next->operands[1] != phi))
        return NULL;
    return next->operands[next->operands[0] == phi];
}

/* The header goes on while a phi, which each way back to it grows by the same that is not known now, is less than
 * something. */
static bool is_counted(const IrBlock *header)
{
    const IrValue *branch = header->last, *step = NULL;
    if (branch->op != IR_BRANCH || branch->operands[0]->op != IR_LT)
        return false;
    const IrValue *phi = branch->operands[0]->operands[0];
    if (phi->op != IR_PHI || phi->block != header || !type_is_integer(phi->type))
        return false;
    uint32_t others = 0;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        const IrValue *each = step_of(phi, phi->operands[i]);
        if (each && step && each != step)
            return false;
        step = each ? each : step;
        others += !each;
    }
    return step && step->op != IR_CONST && others == 1;
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

static bool is_batched(const LoadOrder *order, const IrBlock *block)
{
    Body body = {.header = block};
    int blocks = MOST_BLOCKS;
    return is_counted(block) && block_suits(order, &body, block->last->targets[0], &blocks) && body.loads &&
           body.values <= MOST_VALUES;
}

void mark_batched_loops(IrModule *module)
{
    Arena *arena = arena_create();
    LoadOrder order = load_order_of_module(module, arena);
    for (const IrFunc *function = module->first; function; function = function->next)
        for (IrBlock *block = function->first; block; block = block->next)
            if (!block->loop && is_batched(&order, block))
                block->loop = IR_LOOP_BATCH;
    arena_destroy(arena);
}
