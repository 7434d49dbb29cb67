/* CUJIT_DUMP=bytecode,cfg,ir,llvm,ptx: which stages of a compilation to print to stderr. */
#ifndef CUJIT_JIT_DUMP_H
#define CUJIT_JIT_DUMP_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/snapshot.h"

typedef enum JitDumpStage { DUMP_BYTECODE, DUMP_CFG, DUMP_IR, DUMP_LLVM, DUMP_PTX, DUMP_COUNT } JitDumpStage;

/* Whether the environment asks for this stage. */
bool jit_dump_wants(JitDumpStage stage);
/* Prints a stage's text under a line that names it and the function, in one write. Nothing where text is empty. */
void jit_dump_text(JitDumpStage stage, const Snapshot *function, const char *text);

#endif
