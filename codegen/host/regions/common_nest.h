/* Loops that threads have in common, inside of each other. */
#ifndef CUJIT_CODEGEN_COMMON_NEST_H
#define CUJIT_CODEGEN_COMMON_NEST_H

#include "core/ir/ir.h"

/* Has the threads of such a loop run the loops in it together, too. */
void join_common_nests(IrFunc *kernel);

#endif
