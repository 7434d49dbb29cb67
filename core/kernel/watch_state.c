/* The table of watchers. */
#include "core/kernel/watch_state.h"

const WatcherInfo watcher_info[WATCHER_COUNT] = {
#define WATCHER(id, name, count, checks) [WATCHER_##id] = {name, count, checks},
#include "core/kernel/watcher.def"
#undef WATCHER
};
