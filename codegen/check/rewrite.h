/* What every check is made with: a function's values put back one by one, with what a check computes between them and with
 * blocks split where it ends the thread. */
#ifndef CUJIT_CODEGEN_REWRITE_H
#define CUJIT_CODEGEN_REWRITE_H

#include "core/ir/ir.h"

typedef struct Rewrite {
    IrModule *module;
    IrFunc *function;
    IrBlock *block; /* what is made next goes to its end */
    const SourcePos *pos; /* of what is made: the value's own */
    IrValue *done; /* the last value that was put back, or dropped */
    IrBlock *cold, *last_cold; /* blocks that end a thread: they go to the function's end */
} Rewrite;

/* Called for each value of the function, in order. What it makes stands in front of the value, or behind it once the value
 * is kept; phis and parameters are kept already, together with those behind them. */
typedef void (*RewriteValue)(Rewrite *rewrite, IrValue *value, void *user);

/* Ids are unique, predecessors are linked, and phis right again afterwards; the function is numbered anew. */
void rewrite_function(IrFunc *function, RewriteValue visit, void *user);

/* Puts the value back now. */
void rewrite_keep(Rewrite *rewrite, IrValue *value);
/* Does not put it back: nothing uses it. */
void rewrite_drop(Rewrite *rewrite, IrValue *value);
IrValue *rewrite_emit(Rewrite *rewrite, IrOp op, const Type *type, uint32_t count, IrValue *const *operands);
IrValue *rewrite_int(Rewrite *rewrite, const Type *type, int64_t value);
/* Goes on where the bool holds. Returns the block for the threads for which it does not, which the caller ends. */
IrBlock *rewrite_unless(Rewrite *rewrite, IrValue *holds);
/* Ends that block by an exception of check mode: the class (a builtin's, or one of cujit.errors), and a text, which is
 * Python's format of the values, scalars, and of {array}, by what the expression at the position calls it. array: its name
 * where the source is not at hand, or NULL. */
void rewrite_fail(Rewrite *rewrite, IrBlock *block, const char *class, const char *format, const char *array,
                  uint32_t count, IrValue *const *values);
/* What the program calls the array, for rewrite_fail(); NULL: nothing that is known. */
const char *rewrite_name_of(const Rewrite *rewrite, const IrValue *array);
/* Where the bool holds, the host is told of such an exception behind the launch, and the thread goes on. */
void rewrite_note(Rewrite *rewrite, IrValue *condition, const char *class, const char *format, uint32_t count,
                  IrValue *const *values);

#endif
