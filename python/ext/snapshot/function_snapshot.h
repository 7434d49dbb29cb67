/* A kernel's snapshot. */
#ifndef CUJIT_EXT_FUNCTION_SNAPSHOT_H
#define CUJIT_EXT_FUNCTION_SNAPSHOT_H

#include "ext/kernel.h"

/* The function of the kernel with all it reaches, in the arena. Objects whose memory it points to are appended to the
 * list keep_alive. NULL with an exception. */
const Snapshot *ext_snapshot(ExtState *state, const ExtKernel *kernel, Arena *arena, PyObject *keep_alive);

#endif
