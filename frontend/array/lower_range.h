/* Ranges: made, how long they are, where they end, and what is in them. */
#ifndef CUJIT_FRONTEND_LOWER_RANGE_H
#define CUJIT_FRONTEND_LOWER_RANGE_H

#include "frontend/engine.h"

bool lower_range(Lower *l, const Operand *arguments, uint32_t count, Operand *out);
/* How many there are; 2^63 - 1 where there are more. */
bool range_length(Lower *l, Operand range, Operand *out);
/* How weak the variable of a loop over the range is: as Python's numbers where its ends and its step are such, of 32 bits. */
unsigned char range_weakness(Lower *l, Operand range);
/* Whether the position is before the end. */
bool range_has(Lower *l, Operand range, Operand position, Operand *out);
/* The position behind it: the end of the type where that is none, so that the loop ends. */
bool range_next(Lower *l, Operand range, Operand position, Operand *out);
/* Notes of a loop's value that it is not negative, where that is so. */
void range_value_sign(Lower *l, Operand range, Operand position);
bool lower_in_range(Lower *l, Operand x, Operand range, Operand *out);

#endif
