/* What compilers are told of the path that every launch takes. Between two launches the driver runs thousands of
 * instructions of its own, so that the path's code is hardly ever in the processor's first cache: it counts how many lines and
 * pages it has. */
#ifndef CUJIT_CORE_LIKELY_H
#define CUJIT_CORE_LIKELY_H

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A function of that path: the linker lays them side by side. */
#define LAUNCH_PATH __attribute__((hot))
/* One beside it, which takes no room in it. */
#define OFF_LAUNCH_PATH __attribute__((noinline))

#endif
