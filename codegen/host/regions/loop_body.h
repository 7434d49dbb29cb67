/* What the threads of a loop run. */
#ifndef CUJIT_CODEGEN_LOOP_BODY_H
#define CUJIT_CODEGEN_LOOP_BODY_H

#include "core/ir/ir_graph.h"

typedef struct LoopBody {
    IrBlock **blocks; /* the first one first */
    uint32_t count;
    bool *is_inside; /* by IrBlock.id: one of these, or the loop's own block */
} LoopBody;

/* loop: a thread_loop. The arrays are the arena's. */
LoopBody find_loop_body(const IrValue *loop, Arena *arena);
/* The function's loops over threads that take no operands, and are alone in their blocks: of these, the first ones, in a list
 * that stays while blocks are added. Returns how many. */
uint32_t list_thread_loops(const IrFunc *function, IrBlock **out, uint32_t most);
/* Whether the operation may stand in two loops over the same threads, each of which runs some of them, or in one that takes
 * several trips at a time: it concerns its thread alone, and goes on. */
bool suits_any_loop(const IrValue *value);
/* Behind the marked tests that the body begins with. */
IrBlock *first_behind_bounds(const IrValue *loop);
/* region_order.c: whether LLVM may take the accesses of the loop's threads for independent where each runs the body several
 * times before the next one. */
bool keeps_order_of_trips(const LoopBody *body, Arena *arena);
/* passes/array_registers.c: whether all elements of the array that the body uses are known once loops are written out. */
bool has_known_elements(const LoopBody *body, const IrValue *array);
/* Whether a value of the body can be made in front of the loop, and that: the same one where it is not of the body. */
bool is_known_before(const LoopBody *body, const IrValue *value);
IrValue *make_before(const LoopBody *body, IrBlock *head, const IrValue *value);
/* How many times the block is there when the loops around it that are marked so are written out, as far as that is known. */
int64_t copies_when_written_out(const IrGraph *graph, const IrBlock *block);
/* Whether the function runs all threads of a block. */
bool has_thread_loops(const IrFunc *function);

#endif
