/* Untyped SSA of one code object: what the operand stack computes, before types are known. Built once for a code object
 * and shared by all its instances. */
#ifndef CUJIT_FRONTEND_SSA_H
#define CUJIT_FRONTEND_SSA_H

#include "frontend/ssa/cfg.h"

typedef enum SsaOp {
    SSA_CONSTANT, /* constant */
    SSA_PARAMETER, /* argument: parameters in order, then *args, **keywords, the free variables */
    SSA_UNDEFINED, /* a local variable before its first assignment; name */
    SSA_NULL, /* CPython's NULL on the stack */
    SSA_PHI, /* an operand for each predecessor of the block */
    SSA_BINARY, /* argument: NB_ number, 0..12; argument2: in place */
    SSA_COMPARE, /* argument: 0 < 1 <= 2 == 3 != 4 > 5 >= */
    SSA_IS,
    SSA_CONTAINS, /* argument 1: negated */
    SSA_NEGATIVE,
    SSA_POSITIVE,
    SSA_INVERT,
    SSA_NOT,
    SSA_ATTRIBUTE, /* operand, name */
    SSA_STORE_ATTRIBUTE, /* value, object; name */
    SSA_SUBSCRIPT, /* container, index */
    SSA_STORE_SUBSCRIPT, /* value, container, index; argument 1: the value is what an operator in place made of it */
    SSA_TUPLE,
    SSA_LIST, /* only the forms that need no memory: a list display that is indexed or iterated as a tuple */
    SSA_AS_TUPLE, /* a tuple of the operand's items, as in f(*items) */
    SSA_DICT, /* values; keywords: their keys, as dict_key (lower_dict.c) writes them */
    SSA_DICT_MERGE, /* dict, dict */
    SSA_MATCH_CLASS, /* value, class; argument: 1 where the value itself is captured */
    SSA_SLICE, /* start, stop, step */
    SSA_UNPACK, /* operand; argument: which item, argument2: of how many */
    SSA_CALL, /* callee, arguments; names: keyword_count names of the last ones; argument 1: one tuple of all, and a
                 dict of keywords if there is a third operand */
    SSA_ITERATOR, /* iterable */
    SSA_ITER_START, /* iterator -> its first position */
    SSA_ITER_STEP, /* iterator, position -> what the next three ask: a generator's step, else the position itself.
                      argument of all four, in a loop that was unrolled: which item, from 1; argument2: or a later one */
    SSA_ITER_HAS, /* iterator, step -> whether an item is there */
    SSA_ITER_VALUE, /* iterator, step -> the item */
    SSA_ITER_NEXT, /* iterator, step -> the next position */
    SSA_SEQUENCE, /* operand; argument: that many items, for what is unpacked */
    SSA_CELL, /* memory of a variable that nested functions share; name */
    SSA_CELL_LOAD, /* cell, or what was captured by value */
    SSA_CELL_STORE, /* cell, value; name */
    SSA_FUNCTION, /* constant: code; operands: captured values; argument: how many of them are defaults */
    SSA_FORMAT, /* value, a format spec or nothing more; argument: 0, or 1 to 3 for !s, !r and !a */
    SSA_TEXT, /* pieces of an f-string */
    SSA_SELF, /* among what a nested function captures: the function itself */
    SSA_JUMP, /* terminators */
    SSA_BRANCH, /* condition: successors[1] where the truth equals argument */
    SSA_RETURN,
    SSA_YIELD, /* item; successors[0] is where the generator is resumed */
    SSA_RAISE, /* operands: what is raised, if anything */
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
    bool has_cells; /* variables that nested functions share */
    bool is_generator;
    bool is_list; /* a list comprehension: a generator whose items are wanted at once */
    bool is_one_for_one; /* yields once for each item of its only loop */
} SsaFunction;

/* NULL with a diagnostic. shared: as in SsaFunction. */
SsaFunction *ssa_build(const CodeSnapshot *code, const Instructions *instructions, const Cfg *cfg, const bool *shared,
                       Arena *arena, Diag *diag);

/* Marks what only makes the exceptions of raises as dead, where nobody is told of them. */
void ssa_drop_exceptions(SsaFunction *function, Arena *arena);

#endif
