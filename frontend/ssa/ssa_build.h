/* Shared by the files that build SSA: stack_to_ssa.c, stack_instructions.c, stack_displays.c, ssa_values.c,
 * variable_places.c, ssa_finish.c. */
#ifndef CUJIT_FRONTEND_SSA_BUILD_H
#define CUJIT_FRONTEND_SSA_BUILD_H

#include "frontend/ssa/ssa.h"

/* Operands at once, and how many of them may lie on the stack where blocks join (loops in loops, branches in
 * arguments). */
enum { STACK_LIMIT = 4096, SLOT_LIMIT = 128 };

/* A phi whose operands are not known before the block is sealed. */
typedef struct IncompletePhi {
    uint32_t variable;
    SsaValue *phi;
} IncompletePhi;

typedef struct BlockState {
    SsaValue **slots; /* by variable that is no local: its value at the end of what was run; NULL: not set */
    uint32_t slot_capacity; /* variables from there on are not set */
    IncompletePhi *incomplete; /* phis that wait for the block to be sealed */
    uint32_t incomplete_count, incomplete_capacity;
    uint32_t waits_for; /* predecessors that have not been run */
    bool is_sealed;
    int32_t depth; /* of the stack on entry; -1: not known yet */
} BlockState;

/* A block in which a local variable may get another value. */
typedef struct VariablePlace {
    uint32_t block;
    uint32_t above; /* the nearest other place that dominates this one; of the first one, the entry: itself */
    bool joins; /* on entry it has a phi, if anyone asks */
    SsaValue *value; /* at the end of what was run of the block; NULL: not known yet */
} VariablePlace;

typedef struct PlaceChange {
    uint32_t rank, place; /* for blocks from this rank in the dominator tree to the next change's */
} PlaceChange;

typedef struct VariablePlaces {
    VariablePlace *items; /* by rank */
    PlaceChange *changes;
    uint32_t change_count;
} VariablePlaces;

/* A variable that is being read: the block's value of it is what its predecessors have. */
typedef struct Reading {
    uint32_t block, next; /* next: the place of the predecessor that is read now */
    SsaValue *phi; /* NULL: there is one predecessor, */
    SsaValue *value; /* which has this one */
} Reading;

typedef struct Builder {
    Arena *arena;
    Diag *diag;
    const CodeSnapshot *code;
    const Instructions *instructions;
    const Cfg *cfg;
    SsaFunction *function;
    BlockState *states;
    SsaBlock *block;
    BlockState *state;
    const Instruction *instruction;
    SsaValue *stack[STACK_LIMIT];
    int32_t depth;
    Reading *readings; /* on the way back from a block to where a variable is assigned */
    uint32_t reading_count, reading_capacity;
    VariablePlaces *places; /* by local */
    size_t spent; /* bytes, on what variables have in blocks */
    bool failed;
    const CellKind *cell_kinds; /* by local */
    SsaValue **cells; /* by local; NULL for others than cells */
} Builder;

/* --- the block and the stack (ssa_values.c) --------------------------------------------------------------------- */
SsaValue *ssa_append(Builder *b, SsaOp op, uint32_t count, SsaValue *const *operands);
SsaValue *ssa_append1(Builder *b, SsaOp op, SsaValue *x);
SsaValue *ssa_append2(Builder *b, SsaOp op, SsaValue *x, SsaValue *y);
SsaValue *ssa_append_constant(Builder *b, const Constant *constant);
void ssa_push(Builder *b, SsaValue *value);
SsaValue *ssa_pop(Builder *b);
/* In the order in which they were pushed. */
SsaValue **ssa_pop_many(Builder *b, uint32_t count);
/* The value n below the top (1: the top itself). */
SsaValue **ssa_peek(Builder *b, int32_t n);
void ssa_fail(Builder *b, DiagId id, const char *what, const char *hint);
void ssa_fail_broken(Builder *b, const char *what);

/* Variables: the locals, then the line that runs, then for each stack slot what lies there and the position of an iterator
 * that lies there. */
static inline uint32_t variable_count(const Builder *b) { return b->code->local_count + 1 + 2 * SLOT_LIMIT; }
static inline uint32_t line_variable(const Builder *b) { return b->code->local_count; }
static inline uint32_t slot_variable(const Builder *b, int32_t slot)
{
    return b->code->local_count + 1 + 2 * (uint32_t)slot;
}
static inline uint32_t position_variable(const Builder *b, int32_t slot) { return slot_variable(b, slot) + 1; }
/* The local belongs to a function around this one. */
static inline bool is_free(const Builder *b, uint32_t local)
{
    return local >= b->code->local_count - b->code->free_count;
}
/* In a block that has a place of the variable. */
void ssa_write_variable(Builder *b, uint32_t variable, uint32_t block, SsaValue *value);
/* What has been set in the block; NULL: nothing. */
SsaValue *ssa_own_value(const Builder *b, uint32_t variable, uint32_t block);
SsaValue *ssa_read_variable(Builder *b, uint32_t variable, uint32_t block);
SsaValue *ssa_undefined_value(Builder *b, uint32_t variable);
/* No more predecessors will come: phis get their operands. */
void ssa_seal(Builder *b, uint32_t block);
/* The block has been run: seals those that only waited for it. */
void ssa_seal_successors(Builder *b, uint32_t block);
/* NULL: the block is empty. */
const Instruction *ssa_last_instruction(const Builder *b, const CfgBlock *cfg);
/* Where a generator goes on after a yield. */
bool ssa_is_resumed_block(const Builder *b, const CfgBlock *cfg);

/* --- places of local variables (variable_places.c) ------------------------------------------------------------------ */
void ssa_find_places(Builder *b);
/* The nearest one that dominates the block, or is in it. */
VariablePlace *ssa_place(const Builder *b, uint32_t local, uint32_t block);
/* The one above a place that is not the entry's. */
VariablePlace *ssa_place_above(const Builder *b, uint32_t local, const VariablePlace *place);
/* Counts what variables take together; too much is an error. */
void ssa_spend(Builder *b, size_t bytes);

/* --- instructions (stack_instructions.c) -------------------------------------------------------------------------- */
void run_instruction(Builder *b);
/* Where lines are wanted: control is before all of them; it comes to one, by its place; it leaves the function (0). */
void begin_lines(Builder *b);
void run_line(Builder *b, uint32_t line);
/* In the body of a for loop: the item is pushed and the iterator moves on. */
void run_loop_body(Builder *b);

/* --- instructions (stack_displays.c) ------------------------------------------------------------------------------ */
void run_sequence(Builder *b, SsaOp op);
void run_slice(Builder *b);
void run_list_extend(Builder *b);
void run_list_append(Builder *b);
void run_unpack(Builder *b);
void run_unpack_starred(Builder *b);
void run_build_map(Builder *b);
void run_build_constant_map(Builder *b);
void run_map_add(Builder *b);
void run_dict_merge(Builder *b);
void run_match_sequence(Builder *b);
void run_get_length(Builder *b);
void run_match_class(Builder *b);

/* Of variables that are no cells (cell_analysis.c). */
const LoopCapture *loop_captures(const CodeSnapshot *code, const Instructions *list, const CellKind *cells,
                                 Arena *arena, uint32_t *count);

/* --- finishing (ssa_finish.c) ------------------------------------------------------------------------------------- */
/* The value itself, or what took its place. */
SsaValue *ssa_resolve(SsaValue *value);
/* The one value that a phi stands for, or NULL when it joins several. What a generator reads of its past is a value of its
 * own unless it is always there. */
SsaValue *ssa_trivial_value(SsaValue *phi);
/* Replaces trivial phis, drops those that nothing uses. */
void ssa_finish(SsaFunction *function, Arena *arena);

#endif
