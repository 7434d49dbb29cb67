/* Iteration as CPython before 3.15 has it. There a second slot lies above each iterator (NULL, or how far a list or tuple
 * is), and generator expressions are called with what they iterate over, whose iterator they make. Here, by what lies on
 * the stack at each instruction, that slot goes with all that pushes, moves and pops it, and GET_ITER comes before the
 * call (decode.c leaves out that of the expression). Whether the stack fits the code is not looked at here. */
#include <string.h>

#include "frontend/bytecode/decode.h"

typedef enum SlotKind {
    SLOT_VALUE,
    SLOT_ABOVE_ITERATOR,
    SLOT_EXPRESSION, /* the function of a generator expression */
} SlotKind;

/* The operand stack, from the top; shared by the paths that have the same below. */
typedef struct Slot {
    const struct Slot *below;
    SlotKind kind;
} Slot;

static const Slot bottom = {.below = &bottom};

typedef enum Fate { FATE_KEPT, FATE_DROPPED, FATE_ITERATED /* GET_ITER comes before */ } Fate;

typedef struct Walk {
    Instructions *list;
    Arena *arena;
    Fate *fates;
    const Slot **stacks; /* by instruction; NULL: not known yet */
    uint32_t *pending, pending_count;
    const Slot *top; /* before the instruction that is looked at */
} Walk;

static void push(Walk *w, SlotKind kind)
{
    Slot *slot = ARENA_NEW(w->arena, Slot);
    *slot = (Slot){w->top, kind};
    w->top = slot;
}

static const Slot *below(const Slot *top, int32_t count)
{
    while (count-- > 0 && top != &bottom)
        top = top->below;
    return top;
}

/* How many of the `count` topmost slots are those that go. */
static int32_t count_above(const Slot *top, int32_t count)
{
    int32_t found = 0;
    for (; top != &bottom && count > 0; count--, top = top->below)
        found += top->kind == SLOT_ABOVE_ITERATOR;
    return found;
}

static bool is_expression(const Constant *constant)
{
    return constant && constant->kind == CONSTANT_CODE && constant->code->is_generator && constant->code->local_count &&
           !strcmp(constant->code->local_names[0], ".0");
}

/* An argument that counts slots from the top counts those that stay. */
static void renumber(const Walk *w, Instruction *item) { item->argument -= count_above(w->top, item->argument); }

/* The stack behind an instruction that is not treated by itself. */
static void step_plainly(Walk *w, const Instruction *item)
{
    int32_t effect = bytecode_effect(item->op, item->argument);
    w->top = below(w->top, -effect);
    for (; effect > 0; effect--)
        push(w, SLOT_VALUE);
}

/* MAKE_FUNCTION leaves the function in the place of its code, SET_FUNCTION in that of what it is given. */
static void step_function(Walk *w, uint32_t i)
{
    const Instruction *item = &w->list->items[i];
    bool is_made = item->op == BYTECODE_MAKE_FUNCTION;
    SlotKind kind = w->top->kind;
    if (is_made)
        kind = i && is_expression(w->list->items[i - 1].constant) ? SLOT_EXPRESSION : SLOT_VALUE;
    w->top = below(w->top, is_made ? 1 : 2);
    push(w, kind);
}

static void step_call(Walk *w, uint32_t i)
{
    int32_t count = w->list->items[i].argument;
    w->top = below(w->top, count + 1);
    if (w->top->kind == SLOT_EXPRESSION && count == 0)
        w->fates[i] = FATE_ITERATED;
    w->top = w->top->below;
    push(w, SLOT_VALUE);
}

static void step(Walk *w, uint32_t i)
{
    Instruction *item = &w->list->items[i];
    bool is_above = w->top->kind == SLOT_ABOVE_ITERATOR;
    switch (item->op) {
    case BYTECODE_MAKE_FUNCTION:
    case BYTECODE_SET_FUNCTION: step_function(w, i); return;
    case BYTECODE_CALL: step_call(w, i); return;
    case BYTECODE_COPY:
    case BYTECODE_SWAP: renumber(w, item); break;
    case BYTECODE_LIST_APPEND:
    case BYTECODE_LIST_EXTEND:
    case BYTECODE_SET_ADD:
    case BYTECODE_MAP_ADD:
    case BYTECODE_DICT_MERGE:
        step_plainly(w, item);
        renumber(w, item);
        return;
    case BYTECODE_PUSH_NULL:
        if (!item->argument)
            break;
        w->fates[i] = FATE_DROPPED;
        push(w, SLOT_ABOVE_ITERATOR);
        return;
    case BYTECODE_POP: w->fates[i] = is_above ? FATE_DROPPED : FATE_KEPT; break;
    default: break;
    }
    step_plainly(w, item);
}

/* --- paths -------------------------------------------------------------------------------------------------------- */

static void reach(Walk *w, uint32_t i, const Slot *top)
{
    if (i >= w->list->count || w->stacks[i])
        return;
    w->stacks[i] = top;
    w->pending[w->pending_count++] = i;
}

static void walk_one(Walk *w, uint32_t i)
{
    const Instruction *item = &w->list->items[i];
    w->top = w->stacks[i];
    if (item->op == BYTECODE_FOR_ITER)
        reach(w, item->target, below(w->top, 2));
    step(w, i);
    if (bytecode_jumps(item->op) && item->op != BYTECODE_FOR_ITER)
        reach(w, item->target, w->top);
    if (item->op != BYTECODE_JUMP && item->op != BYTECODE_RETURN && item->op != BYTECODE_RAISE)
        reach(w, i + 1, w->top);
}

/* The instructions as their fates say; jumps go where what they went to is now. */
static void rebuild(Walk *w)
{
    Instructions *list = w->list;
    Instruction *items = ARENA_ARRAY(w->arena, Instruction, 2 * list->count);
    uint32_t *place = ARENA_ARRAY(w->arena, uint32_t, list->count), count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        place[i] = count;
        if (w->fates[i] == FATE_ITERATED) {
            items[count] = list->items[i];
            items[count++].op = BYTECODE_GET_ITER;
        }
        if (w->fates[i] != FATE_DROPPED)
            items[count++] = list->items[i];
    }
    for (uint32_t i = 0; i < count; i++)
        if (bytecode_jumps(items[i].op))
            items[i].target = place[items[i].target];
    list->items = items;
    list->count = count;
}

void decode_iteration(Instructions *list, Arena *arena)
{
    Walk walk = {.list = list, .arena = arena};
    walk.fates = ARENA_ARRAY(arena, Fate, list->count);
    walk.stacks = ARENA_ARRAY(arena, const Slot *, list->count);
    walk.pending = ARENA_ARRAY(arena, uint32_t, list->count);
    reach(&walk, 0, &bottom);
    while (walk.pending_count)
        walk_one(&walk, walk.pending[--walk.pending_count]);
    rebuild(&walk);
}
