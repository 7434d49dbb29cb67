/* The distance of two names is the number of letters to put in, leave out, change or swap with the next one; a small letter
 * in the place of a capital costs nothing, so that threadidx is threadIdx. A third of the letters may be wrong. */
#include "core/diagnostic/guess.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 };

Guess guess_begin(const char *wanted)
{
    size_t length = strlen(wanted);
    return (Guess){.wanted = wanted, .distance = length > 5 ? length / 3 + 1 : length > 1 ? 2 : 1};
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static int folded(char letter) { return tolower((unsigned char)letter); }

static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST + 1];
    size_t *before_last = rows[0], *last = rows[1], *row = rows[2];
    for (size_t i = 0; i <= b_length; i++)
        row[i] = i;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *free_row = before_last;
        before_last = last, last = row, row = free_row;
        row[0] = i;
        for (size_t k = 1; k <= b_length; k++) {
            size_t change = folded(a[i - 1]) != folded(b[k - 1]);
            row[k] = least(least(last[k] + 1, row[k - 1] + 1), last[k - 1] + change);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = least(row[k], before_last[k - 2] + 1);
        }
    }
    return row[b_length];
}

void guess_try(Guess *guess, const char *name, size_t length)
{
    size_t wanted = strlen(guess->wanted);
    if (length > LONGEST || wanted > LONGEST || !length || !wanted)
        return;
    size_t found = distance(guess->wanted, wanted, name, length);
    if (found >= guess->distance)
        return;
    guess->distance = found;
    memcpy(guess->best, name, length);
    guess->best[length] = 0;
}

const char *guess_hint(const Guess *guess, Arena *arena, const char *before)
{
    return *guess->best ? arena_format(arena, "; did you mean '%s%s'?", before, guess->best) : "";
}
