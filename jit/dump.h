/* CUJIT_DUMP=bytecode,cfg,ssa,ir,llvm,ptx or the name of a pass: what of a compilation to print to stderr. */
#ifndef CUJIT_JIT_DUMP_H
#define CUJIT_JIT_DUMP_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/snapshot.h"

/* The stages beside codegen's passes; NULL behind the last. */
extern const char *const jit_dump_stages[];

/* Whether the environment asks for this stage or pass. */
bool jit_dump_wants(const char *stage);
/* Prints a stage's text under a line that names it and the function, in one write. Nothing where text is empty. */
void jit_dump_text(const char *stage, const Snapshot *function, const char *text);

#endif
