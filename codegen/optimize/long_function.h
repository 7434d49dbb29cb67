/* Functions beyond the limits of size_limit.def, in forms whose code takes time in proportion to their size. */
#ifndef CUJIT_CODEGEN_LONG_FUNCTION_H
#define CUJIT_CODEGEN_LONG_FUNCTION_H

#include "codegen/emit.h"

/* Whether the module has long blocks; parts them. A code generator makes one graph of a block. Behind LLVM's passes, which join
 * them. */
bool has_long_blocks(const Emitter *emitter);
void part_long_blocks(Emitter *emitter);
/* Constants of floats come from tables: a code generator looks through all that a function has for each of them. */
void tabulate_constants(Emitter *emitter);

/* Whether the module has integers made by many sums and products, one of the other: strength reduction of loops writes such a
 * number in all ways in which it can be one, in cubic time. */
bool has_long_sums(const Emitter *emitter);

#endif
