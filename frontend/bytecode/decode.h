/* Bytes of a code object -> canonical instructions (bytecode.def), the same for every CPython version but for where
 * PUSH_NULL stands when what is called is not a global. */
#ifndef CUJIT_FRONTEND_DECODE_H
#define CUJIT_FRONTEND_DECODE_H

#include "core/base/buf.h"
#include "core/snapshot.h"

typedef enum Bytecode {
#define BYTECODE(id, effect, words) BYTECODE_##id,
#include "frontend/bytecode/bytecode.def"
#undef BYTECODE
    BYTECODE_COUNT
} Bytecode;

typedef struct BytecodeInfo {
    const char *name;         /* "LOAD_CONST" */
    const char *words;        /* for messages: "a constant" */
} BytecodeInfo;

extern const BytecodeInfo bytecode_info[BYTECODE_COUNT];
/* BINARY's operator ("+=" from 13 on) and COMPARE's, by their arguments. decode_print.c */
const char *bytecode_binary_text(int32_t argument);
const char *bytecode_compare_text(int32_t argument);
/* As the source writes it, as far as that goes. */
void constant_print(Buf *out, const Constant *constant);
/* By how much the instruction with that argument makes the stack grow where it does not jump. */
int bytecode_effect(Bytecode op, int32_t argument);

typedef struct Instruction {
    Bytecode op;
    int32_t argument;         /* n of bytecode.def */
    const Constant *constant; /* LOAD_CONST */
    uint32_t target;          /* jumps and FOR_ITER: index of the instruction that is next when the jump is taken */
    uint32_t offset;          /* of the raw instruction, in 2-byte units */
    uint32_t line; /* if lines are wanted: control comes to that one of Instructions.lines; 0: it stays on its line */
    bool lands_before; /* while decoding: the jump goes to the instruction before its target */
    SourcePos pos;
    const char *raw_name; /* CPython's own name */
} Instruction;

/* A list comprehension that CPython 3.12 and later wrote into the function around it: a function of its own again. */
typedef struct Comprehension {
    const Constant *constant; /* its code */
    const struct Instructions *instructions;
    uint32_t captured_count;
    const uint32_t *captured; /* the locals whose values it uses */
} Comprehension;

typedef struct Instructions {
    uint32_t count;
    Instruction *items;
    bool has_try; /* a try or with statement is in the code (see the exception table); try_pos: where */
    SourcePos try_pos;
    uint32_t line_count;
    const int32_t *lines; /* all that it has, by Instruction.line - 1; NULL: nobody wants them */
    bool is_list; /* a list comprehension's code: LIST_APPEND has become YIELD */
    uint32_t comprehension_count;
    Comprehension *comprehensions;
} Instructions;

static inline bool bytecode_jumps(Bytecode op)
{
    return op == BYTECODE_JUMP || op == BYTECODE_JUMP_IF_TRUE || op == BYTECODE_JUMP_IF_FALSE ||
           op == BYTECODE_JUMP_IF_NONE || op == BYTECODE_JUMP_IF_NOT_NONE || op == BYTECODE_FOR_ITER;
}

/* What is dropped: caches, RESUME, NOP, PRECALL, TO_BOOL, END_FOR, MAKE_CELL, COPY_FREE_VARS, ... What is split:
 * superinstructions, LOAD_GLOBAL with NULL (LOAD_GLOBAL, PUSH_NULL), RETURN_CONST, KW_NAMES + CALL (LOAD_CONST,
 * CALL_KEYWORDS), MAKE_FUNCTION with flags (MAKE_FUNCTION, SET_FUNCTION 8, 4, 2, 1), BINARY_SLICE, constant slices,
 * JUMP_IF_x_OR_POP (COPY 1, JUMP_IF_x, POP), conditional jumps back (the opposite jump over a JUMP back). What the
 * compiler wrote for the case that any, all or tuple is the builtin is jumped over: the call stands behind it. Functions
 * that make annotations are None. Jumps to a JUMP go where that goes. NULL with a diagnostic (DIAG_BYTECODE_BROKEN,
 * DIAG_UNSUPPORTED_PYTHON). Never crashes on damaged bytes: every argument that indexes a table of the code object is
 * checked here. */
Instructions *decode(const CodeSnapshot *code, Arena *arena, Diag *diag);
/* The same with lines: what CPython traces as one begins where Instruction.line is set (lines.c). */
Instructions *decode_with_lines(const CodeSnapshot *code, Arena *arena, Diag *diag);
/* Sets them, in the instructions from `first` on. Part of decode_with_lines. */
void decode_lines(Instructions *instructions, uint32_t first, Arena *arena);
/* Iteration as versions before 3.15 have it (iteration.c); a PUSH_NULL 1 is that of GET_ITER. Part of decode. */
void decode_iteration(Instructions *instructions, Arena *arena);
/* Makes while loops the same for all versions (loop_test.c). Part of decode. */
void decode_loop_tests(Instructions *instructions);
/* Makes list comprehensions the same for all versions (comprehension.c): functions that yield their items. */
void decode_comprehensions(const CodeSnapshot *code, Instructions *instructions, Arena *arena);
/* Makes the LOAD_LOCALs of what nested functions capture LOAD_CELLs (cell_analysis.c). */
void decode_cells(Instructions *instructions);
/* Instruction i captures a variable for the function that is made next and assigned to that variable. */
bool is_assigned_function(const Instructions *instructions, uint32_t i, uint32_t local);
typedef enum CellKind {
    CELL_NONE,
    CELL_ASSIGNED, /* before anybody reads it */
    CELL_THAT_MAY_LACK, /* a value, where it is read */
    CELL_FOLLOWED, /* likewise; what it is where the function itself reads it is known, since no other one assigns to it */
    CELL_FOR_LACK, /* likewise where it is captured; but for what it may lack its value would be captured */
} CellKind;

/* By local: whether it lives in memory that nested functions share, or is so anyway (`shared`, or NULL). After
 * decode_comprehensions. */
CellKind *cell_variables(const CodeSnapshot *code, const Instructions *instructions, const bool *shared, Arena *arena);
void decode_print(Buf *out, const CodeSnapshot *code, const Instructions *instructions);

#endif
