/* The words of observed.def. */
#include "core/observed.h"

const char *const observed_event_words[OBSERVED_EVENT_COUNT] = {
#define EVENT(id, word, doc) [OBSERVED_##id] = word,
#include "core/observed.def"
};

const char *const observed_count_names[OBSERVED_COUNT_COUNT] = {
#define COUNT(id, name, doc) [OBSERVED_COUNT_##id] = name,
#include "core/observed.def"
};
