/* Shared by the two halves of the IR reader: ir_parse.c (functions, blocks, what refers ahead) and ir_parse_op.c (one
 * line: operation, immediate, operands). */
#ifndef CUJIT_CORE_IR_PARSE_H
#define CUJIT_CORE_IR_PARSE_H

#include "core/ir/ir.h"
#include "core/base/table.h"
#include "core/base/text.h"

enum { IR_PARSE_LARGEST_NUMBER = 1 << 24, IR_PARSE_MOST_OPERANDS = 1 << 16, IR_FOREIGN_MOST_OPERANDS = 256 };

/* An operand as it stands in the text. */
typedef struct ParsedOperand {
    IrValue *value;           /* a parameter; NULL for what is missing and for numbered ones */
    bool is_numbered;
    uint32_t number;          /* of %N: the value may come later */
    bool is_labelled;
    uint32_t label;           /* of a phi's operand: the block it says it comes from */
} ParsedOperand;

/* A numbered operand or a label, to be looked up at the function's end. */
typedef struct Fixup Fixup;
struct Fixup {
    Fixup *next;
    IrValue *user;
    uint32_t place;
    ParsedOperand operand;
    int line;
};

typedef struct Parser {
    Arena *arena;
    Diag *diag;
    IrModule *module;
    const char *at;
    int line;
    IrFunc *function;
    IrBlock *block;
    Table *functions;         /* name -> IrFunc */
    Table *values;            /* number -> IrValue, of the function */
    Table *blocks;            /* number -> IrBlock, of the function */
    Fixup *fixups;
    ParsedOperand *operands;  /* of the line */
    uint32_t operand_count, operand_capacity;
} Parser;

bool parse_fail(Parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool parse_expect(Parser *p, const char *characters);
bool parse_number(Parser *p, uint32_t *number);
const Type *parse_type(Parser *p);
/* A word with ! in front, if one of the names comes next: its place among them, else 0. names[0] stands for none. */
uint8_t parse_choice(Parser *p, const char *const *names, int count);
/* The block of that number, made when first named. */
IrBlock *parse_block(Parser *p, uint32_t number);
/* The rest of a line, behind `%3: f64 =` if it has a result: appends the value to p->block. NULL with a diagnostic. */
IrValue *parse_operation(Parser *p, const Type *type);

#endif
