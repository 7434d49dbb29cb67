/* A kernel's snapshot. */
#ifndef CUJIT_EXT_FUNCTION_SNAPSHOT_H
#define CUJIT_EXT_FUNCTION_SNAPSHOT_H

#include "ext/kernel.h"

/* A Python function with all it reaches, in the arena; kernel: the decorated one that it belongs to, or NULL. Objects whose memory it points to are appended to the list
 * keep_alive. *has_overloads: some of it has implementations by type. NULL with an exception. */
const Snapshot *ext_snapshot(ExtState *state, PyObject *function, const ExtKernel *kernel, Arena *arena,
                             PyObject *keep_alive, bool *has_overloads);

#endif
