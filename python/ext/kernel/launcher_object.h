/* kernel[configuration]. */
#ifndef CUJIT_EXT_LAUNCHER_OBJECT_H
#define CUJIT_EXT_LAUNCHER_OBJECT_H

#include "ext/kernel.h"

/* configuration: what stands in kernel[...]; with_hints: it is the user's, who is warned where it suits no GPU. New
 * reference. */
PyObject *ext_launcher_create(ExtKernel *kernel, PyObject *configuration, bool with_hints);

#endif
