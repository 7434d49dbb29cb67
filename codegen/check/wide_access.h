/* Which arrays a kernel's code may access several elements of at once, if they begin where such an access may. */
#ifndef CUJIT_CODEGEN_WIDE_ACCESS_H
#define CUJIT_CODEGEN_WIDE_ACCESS_H

#include "core/ir/ir.h"

enum { WIDE_ACCESS_BYTES = 16, WIDE_ACCESS_MOST = 64 }; /* of a thread; parameters that are looked at */

/* A bit for each of the kernel's first parameters. */
uint64_t parameters_with_wide_access(const IrModule *module);

#endif
