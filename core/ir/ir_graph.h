/* What every pass asks about the control flow of a function: in which order blocks are reached, which block every way to
 * another passes, which blocks are loops and how they count; and which values may be computed again. Answers hold until
 * the function's blocks change; then make a new graph. Memory is the arena's, nothing recurses. */
#ifndef CUJIT_CORE_IR_GRAPH_H
#define CUJIT_CORE_IR_GRAPH_H

#include "core/ir/ir.h"

typedef struct IrLoop IrLoop;

/* A natural loop: blocks that can be reached again from their header without leaving it, and that are only entered there.
 * One loop for each header, whatever the number of ways back to it. */
struct IrLoop {
    IrBlock *header;
    const IrLoop *parent; /* the nearest loop around it; NULL: none */
    uint32_t depth; /* 1: in no other loop */
    uint32_t latch_count, block_count;
    IrBlock **latches; /* the blocks that lead back to the header, in order of the graph, each once */
    IrBlock **blocks; /* in order of the graph, the header first, with those of the loops inside */
};

typedef struct IrGraph {
    const IrFunc *function;
    uint32_t count; /* blocks that can be reached */
    IrBlock **order; /* these in reverse postorder, the entry first: definitions come before their uses, phis aside */
    uint32_t *rank; /* by IrBlock.id: place in order; UINT32_MAX: the block cannot be reached */
    IrBlock **dominator; /* by IrBlock.id: the immediate dominator; NULL: the entry, or cannot be reached */
    IrBlock **postdominator; /* by IrBlock.id: the first that every way from there to an end passes; NULL: none does */
    uint32_t loop_count;
    IrLoop *loops; /* outer ones before those inside of them */
    const IrLoop **loop_of; /* by IrBlock.id: the innermost loop that the block is in; NULL: none */
    const uint32_t *first_below, *end_below; /* by IrBlock.id: which of the dominators' tree; for ir_dominates */
} IrGraph;

/* The graph of a function whose blocks all have terminators; ids must be below block_count and unique. Predecessors need
 * not have been linked. */
IrGraph *ir_graph(const IrFunc *function, Arena *arena);
/* Orders the function's blocks as its graph has them, definitions before their uses, and links them. Blocks that cannot be
 * reached go. */
void ir_sort_blocks(IrFunc *function, Arena *arena);
/* Whether every way from the entry to b passes a. A block dominates itself; every block dominates one that cannot be
 * reached. Takes no longer for long functions. */
bool ir_dominates(const IrGraph *graph, const IrBlock *a, const IrBlock *b);
/* Whether the block is in the loop or in one inside of it. False for no loop. */
bool ir_loop_has(const IrGraph *graph, const IrLoop *loop, const IrBlock *block);

/* --- values (ir_induction.c) ----------------------------------------------------------------------------------------- */
/* Whether the thread gets the same whenever and however often it computes the value from the same operands, and nobody
 * notices: it reads no memory, does nothing, makes no memory of its own and takes no part in what several threads do.
 * Special registers and functions of math are repeatable; a phi is not, for it depends on the way. Says nothing of the
 * operands, and nothing of the cost: see ir_is_routine. */
bool ir_is_repeatable(const IrValue *value);
/* Whether the operation is a routine of many instructions, with branches for rare cases, rather than a few instructions:
 * divisions, powers, functions of math, calls. What could be computed again, but better is not; what loads should not wait
 * for. */
bool ir_is_routine(const IrValue *value);
/* Whether the value has to stay where nothing uses it: it writes, takes part in what several threads do, calls, or ends
 * its block. Reads may go. */
bool ir_has_effect(const IrValue *value);
/* Whether the value is the same in every trip of the loop: made outside of it, or repeatable from such values. False
 * where that takes more than a few dozen steps to see. */
bool ir_is_invariant(const IrGraph *graph, const IrLoop *loop, const IrValue *value);

/* The phis on the way from a value to what it is made of, the last one first: where a search has come round. */
typedef struct IrWay {
    const struct IrWay *before;
    const IrValue *phi;
} IrWay;
bool ir_is_on_way(const IrWay *way, const IrValue *phi);

/* A loop that counts: `for (variable = start; variable COMPARISON bound; variable += step)`. The header's branch tests the
 * variable; other ways out of the loop may exist. */
typedef struct IrInduction {
    const IrValue *variable; /* a phi of the header, an integer */
    const IrValue *start; /* the operand on every way in */
    const IrValue *step; /* what every way back adds: invariant */
    const IrValue *bound; /* invariant */
    const IrValue *test; /* the value that the header branches on */
    IrOp comparison; /* LT, LE, GT, GE or NE: the loop goes on while `variable comparison bound` */
    int exit; /* the target of the header's branch that leaves the loop: 0 or 1 */
    bool saturates; /* a way back gives the end of the type where the sum would wrap: IR_SATURATES */
} IrInduction;

/* Whether the loop counts, and how. Signs are not looked at: a step may be negative, zero, or unknown. */
bool ir_induction(const IrGraph *graph, const IrLoop *loop, IrInduction *out);
/* How many trips the loop has that counts so, upwards from a number to another one; 0: none, or it is not known to be fewer
 * than 2^20. */
int64_t ir_known_trips(const IrInduction *counts);

#endif
