/* What kernels that are observed (option `observe`) have counted, for Python. */
#ifndef CUJIT_EXT_OBSERVATION_H
#define CUJIT_EXT_OBSERVATION_H

#include "ext/kernel.h"

/* After a launch: tells cujit.coverage which lines have run since the last time, where the kernel counts lines. An exception
 * that is set stays; false with one of its own. */
bool ext_tell_lines(const JitSpecialization *specialization);
/* Before the first launch of a specialization on a GPU, where lines are wanted: a warning, once, that they are not counted.
 * False with an exception. */
bool ext_warn_of_uncounted_lines(ExtState *state, const RtDevice *device);

#endif
