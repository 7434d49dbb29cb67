/* What becomes of each CPython opcode: raw_bytecode.def by name, the tables bytecode_pyXYZ.def by number, and the rules
 * that their rows name. All versions are compiled into every build. Used by decode.c alone. */
#ifndef CUJIT_FRONTEND_RAW_BYTECODE_H
#define CUJIT_FRONTEND_RAW_BYTECODE_H

#include "frontend/bytecode/decode.h"

typedef enum RawRule {
    RULE_UNKNOWN, /* no such opcode */
    RULE_RENAME, /* the canonical bytecode with the same argument */
    RULE_BARE, /* the canonical bytecode without an argument */
    RULE_REPEAT, /* the canonical bytecode, `extra` times */
    RULE_CONST, /* LOAD_CONST; of a slice: what builds it */
    RULE_SMALL_INT, /* LOAD_CONST of the argument */
    RULE_COMMON, /* LOAD_CONST of what the interpreter knows under that number (decode_constant.c) */
    RULE_BINARY, /* the canonical bytecode, or SUBSCRIPT */
    RULE_SHIFT, /* the argument lies above `extra` other bits */
    RULE_DROP, /* nothing */
    RULE_END_FOR, /* nothing; neither the `extra` instructions behind it, which FOR_ITER jumps over too */
    RULE_EXTENDED, /* upper bits of the next instruction's argument */
    RULE_FORWARD, /* a jump by the argument */
    RULE_BACKWARD, /* a jump back by the argument */
    RULE_INVERTED, /* a conditional jump back: the canonical bytecode, its opposite, jumps over a jump back */
    RULE_JUMP_OR_POP, /* COPY 1, the canonical jump, POP */
    RULE_GLOBAL, /* argument * 2 + with NULL: LOAD_GLOBAL, PUSH_NULL */
    RULE_ATTRIBUTE, /* argument * 2 + method: LOAD_ATTRIBUTE or LOAD_METHOD */
    RULE_PAIR, /* two instructions on local variables, in the argument's upper and lower 4 bits */
    RULE_SLICE, /* BUILD_SLICE 2 and the canonical bytecode */
    RULE_CONST_RETURN, /* LOAD_CONST, RETURN */
    RULE_KEYWORD_NAMES, /* LOAD_CONST; the CALL that follows has keywords */
    RULE_CALL, /* CALL, or CALL_KEYWORDS behind KEYWORD_NAMES */
    RULE_FUNCTION, /* MAKE_FUNCTION and a SET_FUNCTION for each bit of the argument */
    RULE_CONVERT, /* nothing; the argument belongs to the next FORMAT_VALUE */
    RULE_FORMAT, /* FORMAT_VALUE with what CONVERT said and the flags in `extra` */
    RULE_SEND, /* of yield from: POP what was sent, FOR_ITER; `extra` -1: to before the place jumped to */
    RULE_SEND_AGAIN, /* a jump back; behind it, where yield from ends, PUSH_NULL: the value that it has */
    RULE_ITERATOR, /* GET_ITER, which late releases of 3.13 have behind the iterator of a generator expression, too */
    RULE_ITERATE, /* GET_ITER, PUSH_NULL 1; the iterator of a generator expression is one already */
    RULE_STARRED, /* CALL_STARRED: the top of the stack is its keywords or NULL */
    RULE_INTRINSIC, /* CALL_INTRINSIC_1: the argument says what */
} RawRule;

typedef struct RawInfo {
    const char *name; /* CPython's; NULL: no such opcode */
    RawRule rule;
    Bytecode canonical;
    int caches; /* 2-byte units behind the instruction */
    int extra;
} RawInfo;

/* What LOAD_COMMON_CONSTANT pushes: UNSUPPORTED for builtins that code compares with and no more; NULL: no such number. */
const Constant *common_constant(uint32_t number);
/* 256 rows, by opcode number; NULL for a version without a table. */
const RawInfo *raw_bytecode_table(int python_minor);

#endif
