/* Operations of the program that check mode looks at: their IR is marked (IR_CHECKED), that of what cujit computes for
 * itself is not. Nothing of this happens without the check. */
#ifndef CUJIT_FRONTEND_OVERFLOW_MARKS_H
#define CUJIT_FRONTEND_OVERFLOW_MARKS_H

#include "frontend/engine.h"

/* The result of an operator of the program. */
void overflow_note(Lower *l, Operand result);
/* Whether there are marks in what is being lowered; and one for what cujit computes where the program asks for the result. */
bool overflow_is_wanted(const Lower *l);
void overflow_mark(Lower *l, IrValue *value);
/* lower_convert() where the program stores the value in an element of that type, or asks for the type. */
bool overflow_convert(Lower *l, Operand from, const Type *to, Operand *out);
/* The value is wanted modulo a power of two: operations that it is made of, in the expression being handled, may wrap. */
void overflow_allow(Lower *l, Operand value);
/* overflow_convert() to a type that the program has written down. One without a sign is modulo its width. */
bool overflow_cast(Lower *l, Operand from, const Type *to, Operand *out);

#endif
