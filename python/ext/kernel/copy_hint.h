/* The hint that a launch copies host arrays. */
#ifndef CUJIT_EXT_COPY_HINT_H
#define CUJIT_EXT_COPY_HINT_H

#include "ext/kernel.h"

/* Warns, unless the same place of the program was warned of for this kernel by its last such launch and Python would not
 * show it again. False with an exception. */
bool ext_hint_at_copies(ExtKernel *kernel);

#endif
