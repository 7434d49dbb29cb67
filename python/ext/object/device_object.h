/* Device objects, and the device of this thread. */
#ifndef CUJIT_EXT_DEVICE_OBJECT_H
#define CUJIT_EXT_DEVICE_OBJECT_H

#include "core/base/likely.h"
#include "ext/state.h"

/* The device that this thread has said it is to be; NULL: it takes the first. */
static inline RtDevice *ext_chosen_device(const ExtState *state)
{
    return UNLIKELY(atomic_load_explicit(&state->has_chosen_devices, memory_order_relaxed))
               ? pthread_getspecific(state->thread_device)
               : NULL;
}
/* The first device; NULL with an exception. */
RtDevice *ext_choose_device(ExtState *state);
/* Of threads that have said nothing; NULL with an exception. */
static inline RtDevice *ext_default_device(ExtState *state)
{
    RtDevice *device = atomic_load_explicit(&state->default_device, memory_order_acquire);
    return LIKELY(device != NULL) ? device : ext_choose_device(state);
}
/* The device of this thread; NULL with an exception. */
static inline RtDevice *ext_current_device(ExtState *state)
{
    RtDevice *device = ext_chosen_device(state);
    return device ? device : ext_default_device(state);
}
/* The Device object of a device. New reference. */
PyObject *ext_device_object(ExtState *state, RtDevice *device);

#endif
