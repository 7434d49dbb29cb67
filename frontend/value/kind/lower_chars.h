/* Text of a fixed length, NumPy's S and U, in arrays and records: an element is a reference to it, which is compared
 * with other text or assigned to. */
#ifndef CUJIT_FRONTEND_LOWER_CHARS_H
#define CUJIT_FRONTEND_LOWER_CHARS_H

#include "frontend/engine.h"

bool is_chars(Operand operand);
bool lower_chars_equal(Lower *l, Operand a, Operand b, bool negated, Operand *out);
bool lower_store_chars(Lower *l, Operand target, Operand value);

#endif
