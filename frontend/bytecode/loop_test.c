/* CPython before 3.14 writes the test of a while loop twice, before the loop and at its end. Here the end goes to the first
 * one, as later versions do: one text of IR for all. */
#include "frontend/bytecode/decode.h"

enum { MOST_EXIT = 8 };

static bool same_place(const SourcePos *a, const SourcePos *b)
{
    return a->line == b->line && a->column == b->column && a->end_line == b->end_line && a->end_column == b->end_column;
}

static bool same_instruction(const Instruction *a, const Instruction *b)
{
    return a->op == b->op && a->argument == b->argument && a->constant == b->constant;
}

/* Both places do the same until they return: small exits are written once for each way out. */
static bool same_exit(const Instructions *list, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < MOST_EXIT && a + i < list->count && b + i < list->count; i++) {
        const Instruction *one = &list->items[a + i], *other = &list->items[b + i];
        if (a == b || (bytecode_jumps(one->op) && one->op == other->op && one->target == other->target))
            return true;
        if (bytecode_jumps(one->op) || !same_instruction(one, other))
            return false;
        if (one->op == BYTECODE_RETURN || one->op == BYTECODE_RAISE)
            return true;
    }
    return false;
}

/* Instruction `copy` does what `first` does, where those behind them correspond. */
static bool corresponds(const Instructions *list, uint32_t first, uint32_t copy)
{
    const Instruction *one = &list->items[first], *other = &list->items[copy];
    if (!same_instruction(one, other) || !same_place(&one->pos, &other->pos))
        return false;
    return !bytecode_jumps(one->op) || other->target - copy == one->target - first ||
           same_exit(list, one->target, other->target);
}

/* A jump back to where the first test leads, with the second one before it. */
static void join_test(Instructions *list, uint32_t jump)
{
    uint32_t body = list->items[jump].target, length = 0;
    while (length < body && length < jump - body && corresponds(list, body - 1 - length, jump - 1 - length))
        length++;
    if (length < 2 || !bytecode_jumps(list->items[body - 1].op))
        return;
    Instruction *start = &list->items[jump - length];
    start->op = BYTECODE_JUMP;
    start->argument = 0;
    start->target = body - length;
}

void decode_loop_tests(Instructions *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].op == BYTECODE_JUMP && list->items[i].target <= i)
            join_test(list, i);
}
