/* The events and counts of observed.def, and where compiled code and the runtime of the CPU device keep the counts. */
#ifndef CUJIT_CORE_OBSERVED_H
#define CUJIT_CORE_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ObservedEvent {
#define EVENT(id, word, doc) OBSERVED_##id,
#include "core/observed.def"
    OBSERVED_EVENT_COUNT
} ObservedEvent;

typedef enum ObservedCount {
#define COUNT(id, name, doc) OBSERVED_COUNT_##id,
#include "core/observed.def"
    OBSERVED_COUNT_COUNT
} ObservedCount;

/* In the bytes of an access: a GPU asks for each half by itself, as for those of a complex number of an argument. */
enum { OBSERVED_IN_HALVES = 1 << 30 };

/* An element of an array. */
static inline bool observed_is_access(ObservedEvent event)
{
    return event == OBSERVED_LOAD || event == OBSERVED_STORE || event == OBSERVED_ATOMIC;
}

extern const char *const observed_event_words[OBSERVED_EVENT_COUNT]; /* "begin", "trip", ... */
extern const char *const observed_count_names[OBSERVED_COUNT_COUNT]; /* "threads", ... */

/* A place of the source where something is observed: memory of the compiled code. */
typedef struct ObservedSite {
    uint64_t counts[OBSERVED_COUNT_COUNT];
} ObservedSite;

#endif
