/* Finds the directives of a print's format. */
#include "core/ir/print_format.h"

#include <string.h>

const char *print_directive(const char *at, const char **end)
{
    for (at = strchr(at, '%'); at && at[1] == '%'; at = strchr(at + 2, '%'))
        ;
    if (!at)
        return NULL;
    const char *letter = at + 1 + strspn(at + 1, "-+ #0123456789.l");
    *end = letter + 1;
    return *letter ? at : NULL;
}

uint32_t print_directive_count(const char *format)
{
    uint32_t count = 0;
    for (const char *at = format, *end; print_directive(at, &end); at = end)
        count++;
    return count;
}
