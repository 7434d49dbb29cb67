/* print: the text of its arguments as one print of IR, whose format is printf's: what the GPU's driver can write. */
#ifndef CUJIT_FRONTEND_LOWER_PRINT_H
#define CUJIT_FRONTEND_LOWER_PRINT_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool lower_print_call(Lower *l, const Call *call, Operand *out);

#endif
