/* Untyped SSA of one code object: what the operand stack computes, before types are known. Built once for a code object
 * and shared by all its instances. */
#ifndef CUJIT_FRONTEND_SSA_H
#define CUJIT_FRONTEND_SSA_H

#include "frontend/ssa/cfg.h"

typedef enum SsaOp {
#define SSA(name) SSA_##name,
#include "frontend/ssa/ssa_op.def"
#undef SSA
} SsaOp;

typedef struct SsaValue SsaValue;
typedef struct SsaBlock SsaBlock;

struct SsaValue {
    SsaOp op;
    int32_t argument, argument2;
    uint32_t id;
    uint32_t count;
    SsaValue **operands;
    const Constant *constant;
    const char *name;
    uint32_t keyword_count;
    const char *const *keywords;
    SourcePos pos;
    SsaBlock *block;
    SsaValue *next;
    SsaValue *replacement; /* of a phi that turned out trivial */
    bool is_used; /* phis: some value that is not a dead phi uses it */
    bool is_only_looked_at; /* phis: nothing but what ssa_looks() uses it: it has no type and no code */
    bool is_resumed; /* a phi of one operand: what the variable was at the yield before this block */
    bool is_at_entry; /* in a generator: a function that captures only cells and parameters, made at every step */
    bool is_dead; /* it only makes the exception of a raise */
    uint32_t use_count;
};

struct SsaBlock {
    uint32_t id; /* the CFG block's number */
    SsaValue *phis; /* by next */
    SsaValue *first, *last; /* without phis; a terminator last */
    const CfgBlock *cfg;
};

/* name = value, kept to explain errors. */
typedef struct SsaAssignment {
    const char *name;
    SsaValue *value;
    SourcePos pos; /* of the name that is assigned to */
    struct SsaAssignment *next;
} SsaAssignment;

/* A nested function captures the value of a variable in a loop that assigns to the variable again. The two are the same
 * while no such function outlives the trip of the loop that made it. */
typedef struct LoopCapture {
    const CodeSnapshot *function;
    uint32_t local;
} LoopCapture;

/* Values that have one value as an operand, each once: by block, phis first. */
typedef struct SsaUsers {
    SsaValue **items;
    uint32_t count, capacity;
} SsaUsers;

typedef struct SsaFunction {
    const CodeSnapshot *code;
    const Instructions *instructions;
    const Cfg *cfg;
    uint32_t block_count;
    SsaBlock *blocks; /* reverse postorder */
    uint32_t value_count;
    uint32_t parameter_count; /* positional and keyword-only, then *args and **keywords if any, then free variables */
    SsaAssignment *assignments; /* the last one of the source first */
    uint32_t loop_capture_count;
    const LoopCapture *loop_captures;
    const bool *shared; /* by local: variables that are shared because a function outlives its trip; NULL: none */
    SsaUsers *users; /* by value; NULL: nobody has asked so far */
    bool has_cells; /* variables that nested functions share */
    bool is_generator;
    bool is_list; /* a list comprehension: a generator whose items are wanted at once */
    bool is_one_for_one; /* yields once for each item of its only loop */
} SsaFunction;

/* Whether nothing is computed of the operand: it may have no type. */
static inline bool ssa_looks(const SsaValue *value) { return value->op == SSA_DELETE || value->op == SSA_CAPTURE; }

/* NULL with a diagnostic. shared: as in SsaFunction. */
SsaFunction *ssa_build(const CodeSnapshot *code, const Instructions *instructions, const Cfg *cfg, const bool *shared,
                       Arena *arena, Diag *diag);

/* Marks what only makes the exceptions of raises as dead, where nobody is told of them. */
void ssa_drop_exceptions(SsaFunction *function, Arena *arena);

/* Of a value of a function that is built; its operands stay what they are. */
const SsaUsers *ssa_users(SsaFunction *function, const SsaValue *value, Arena *arena);

/* For CUJIT_DUMP=ssa: the blocks in order, what each value is made of, and where in the source. */
void ssa_print(Buf *out, const SsaFunction *function);

#endif
