/* Text in kernels: constants, and what is to be formatted at run time: a tuple of the values whose type leads to a
 * format string of Python's, "{:.3f} of {}". */
#ifndef CUJIT_FRONTEND_LOWER_TEXT_H
#define CUJIT_FRONTEND_LOWER_TEXT_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

/* A format spec of Python's: [[fill]align][sign][#][0][width][grouping][.precision][type]; 0 for what is not there,
 * precision -1. */
typedef struct TextSpec {
    char fill, align, sign, grouping, type;
    bool alternate, zero;
    int width, precision;
} TextSpec;
bool operand_is_text(Operand operand);
/* Python's format string over the items of a text that is a tuple. */
const char *operand_text_format(Operand text);
/* conversion: 0, or 1 to 3 for !s, !r and !a; spec: NULL, or a constant string. */
bool lower_format(Lower *l, Operand value, int32_t conversion, const Operand *spec, Operand *out);
/* The texts of the parts one after another, with a constant between them. */
bool lower_join_text(Lower *l, const Operand *parts, uint32_t count, const char *between, Operand *out);
bool lower_text_binary(Lower *l, int32_t number, Operand a, Operand b, Operand *out);
/* receiver.format(arguments) of a constant string. */
bool lower_text_method(Lower *l, Operand receiver, const Call *call, Operand *out);
bool call_text(Lower *l, const Call *call, Operand *out);
bool text_read_spec(const char *text, TextSpec *out);

#endif
