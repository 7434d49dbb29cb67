/* From where a fault's function was called. */
#ifndef CUJIT_JIT_CALLERS_H
#define CUJIT_JIT_CALLERS_H

#include "core/base/table.h"
#include "core/ir/ir.h"

typedef struct Callers {
    Table *by_function; /* what calls it */
    Arena *arena;
} Callers;

void jit_callers_begin(Callers *callers, const IrModule *module, Arena *arena);
void jit_callers_end(Callers *callers);
/* Lines of a report, each with a newline in front, in the arena; NULL for a kernel, and where nothing is known. */
const char *jit_callers_of(const Callers *callers, const IrFunc *function);

#endif
