/* Where CPython traces a line: where an instruction stands on another line than the one that ran before it. Instructions
 * that follow each other are compared here; what is jumped to gets a mark where any of its ways comes from another line, or
 * back from below. Whoever counts knows which line ran before, and the mark of a line that ran on is none. */
#include <stdlib.h>

#include "frontend/bytecode/decode.h"

static int by_number(const void *a, const void *b)
{
    const int32_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* All lines of the instructions, each once, in order. */
static void list_lines(Instructions *list, uint32_t first, Arena *arena)
{
    int32_t *lines = ARENA_ARRAY(arena, int32_t, list->count + 1);
    uint32_t count = 0, kept = 0;
    for (uint32_t i = first; i < list->count; i++)
        if (list->items[i].pos.line > 0)
            lines[count++] = list->items[i].pos.line;
    qsort(lines, count, sizeof *lines, by_number);
    for (uint32_t i = 0; i < count; i++)
        if (!kept || lines[kept - 1] != lines[i])
            lines[kept++] = lines[i];
    list->lines = lines;
    list->line_count = kept;
}

static uint32_t place_of(const Instructions *list, int32_t line)
{
    const int32_t *found = bsearch(&line, list->lines, list->line_count, sizeof line, by_number);
    return found ? (uint32_t)(found - list->lines) + 1 : 0;
}

/* Control may come to instruction `to` from `from`. */
static void mark(Instructions *list, uint32_t from, uint32_t to)
{
    Instruction *item = &list->items[to];
    if (item->pos.line > 0 && (to <= from || item->pos.line != list->items[from].pos.line))
        item->line = place_of(list, item->pos.line);
}

void decode_lines(Instructions *list, uint32_t first, Arena *arena)
{
    list_lines(list, first, arena);
    for (uint32_t i = first; i < list->count; i++) {
        const Instruction *item = &list->items[i];
        if (i == first && item->pos.line > 0)
            list->items[i].line = place_of(list, item->pos.line);
        if (i > first)
            mark(list, i - 1, i);
        if (bytecode_jumps(item->op) && item->target >= first)
            mark(list, i, item->target);
    }
}
