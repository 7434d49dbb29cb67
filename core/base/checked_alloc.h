/* malloc and realloc that end the process when memory is out: the few long-lived structures of core that are not arena
 * memory take kilobytes, and a caller could do nothing sensible without them. */
#ifndef CUJIT_CORE_CHECKED_ALLOC_H
#define CUJIT_CORE_CHECKED_ALLOC_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static inline void *checked_realloc(void *old, size_t size)
{
    void *memory = realloc(old, size ? size : 1);
    if (!memory) {
        fprintf(stderr, "cujit: out of memory (%zu bytes)\n", size);
        abort();
    }
    return memory;
}

static inline void *checked_malloc(size_t size) { return checked_realloc(NULL, size); }

#endif
