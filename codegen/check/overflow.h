/* Tests behind operations of the program whose results may not be the true ones. */
#ifndef CUJIT_CODEGEN_OVERFLOW_H
#define CUJIT_CODEGEN_OVERFLOW_H

#include "codegen/check/ranges.h"
#include "codegen/check/rewrite.h"

/* What can go wrong with the value, a bit each: of a division that the divisor is 0, and that the quotient has no place. */
unsigned overflow_parts(const IrValue *value);
/* The test of a launch that proves one of them not to happen; false: there is none. */
bool overflow_test(Ranges *ranges, const Context *context, const IrValue *value, unsigned part, RangeTest *test);
/* Puts the value back, and behind it tests for these parts. Where one fails the thread ends by an exception (raises), or the
 * host is told behind the launch. */
void check_overflow(Rewrite *rewrite, IrValue *value, unsigned parts, bool raises);
/* Takes the frontend's marks away, of which passes and emitters know nothing. */
void overflow_drop_marks(IrFunc *function);

#endif
