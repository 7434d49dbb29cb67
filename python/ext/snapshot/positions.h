/* Where in the source each unit of a code object comes from. */
#ifndef CUJIT_EXT_POSITIONS_H
#define CUJIT_EXT_POSITIONS_H

#include "ext/kernel.h"

/* What co_positions() tells, for `count` units, in the arena. NULL with an exception. */
const SourcePos *ext_positions(Arena *arena, PyCodeObject *code, const SourceFunction *source, uint32_t count);

#endif
