/* Which name a misspelt one may stand for. */
#ifndef CUJIT_CORE_GUESS_H
#define CUJIT_CORE_GUESS_H

#include <stddef.h>

#include "core/base/arena.h"

typedef struct Guess {
    const char *wanted;
    char best[64]; /* "": nothing is near */
    size_t distance; /* of the best; at first, one more than a guess may have */
} Guess;

Guess guess_begin(const char *wanted);
/* Looks at a name: `length` bytes. */
void guess_try(Guess *guess, const char *name, size_t length);
/* "; did you mean 'syncthreads'?" in the arena, or "". before: what stands in front of the name, such as "cuda.". */
const char *guess_hint(const Guess *guess, Arena *arena, const char *before);

#endif
