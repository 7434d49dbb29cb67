/* Signals that come while a thread of Python's works without the GIL. */
#ifndef CUJIT_EXT_INTERRUPT_H
#define CUJIT_EXT_INTERRUPT_H

#include <stdbool.h>

#include "ext/py.h"

/* With the GIL: what work of this thread, which then gives up the GIL, asks now and then: whether a handler of a signal has
 * raised an exception, such as KeyboardInterrupt. The work then fails with DIAG_INTERRUPTED, and ext_raise() raises that
 * exception. NULL where this is not Python's main thread, the only one that runs handlers. */
typedef bool (*ExtInterrupt)(void);
ExtInterrupt ext_interrupt(void);

/* For ext_raise(): sets the exception that ended this thread's work. False where there is none. */
bool ext_raise_interruption(void);

#endif
