/* List comprehensions. CPython 3.11 makes a function of each, whose loop appends to a list; later versions write the loop
 * into the function around it. Here both become a function that yields its items, called with the iterator: what a
 * generator expression is in every version. Loops that do anything else stay as they are, and their lists are refused. */
#include <string.h>

#include "frontend/bytecode/decode.h"

enum { NONE = UINT32_MAX };

/* An inlined comprehension: its variables are saved and cleared, a list and the iterator lie on the stack, the loop, the
 * variables are restored. */
typedef struct Found {
    uint32_t start; /* first LOAD_LOCAL_CLEAR */
    uint32_t loop; /* FOR_ITER */
    uint32_t after; /* where the loop ends */
    uint32_t end; /* behind the last variable that is restored */
    uint32_t variables;
    bool is_kept; /* the instruction at `after` takes the list, before the variables are restored */
    bool iterates; /* GET_ITER is behind the list: CPython 3.15 */
} Found;

static bool is_op(const Instructions *list, uint32_t i, Bytecode op)
{
    return i < list->count && list->items[i].op == op;
}

static bool is_own(const Instructions *list, const Found *found, uint32_t local)
{
    for (uint32_t i = 0; i < found->variables; i++)
        if (list->items[found->start + i].argument == (int32_t)local)
            return true;
    return false;
}

static bool find(const Instructions *list, uint32_t start, Found *out)
{
    *out = (Found){.start = start, .loop = start};
    while (is_op(list, out->loop, BYTECODE_LOAD_LOCAL_CLEAR))
        out->loop++;
    out->variables = out->loop - start;
    uint32_t i = out->loop;
    if (!out->variables || !is_op(list, i, BYTECODE_SWAP) || !is_op(list, i + 1, BYTECODE_BUILD_LIST) ||
        !is_op(list, i + 2, BYTECODE_SWAP))
        return false;
    out->iterates = is_op(list, i + 3, BYTECODE_GET_ITER);
    out->loop = i + (out->iterates ? 4 : 3);
    if (!is_op(list, out->loop, BYTECODE_FOR_ITER))
        return false;
    out->after = list->items[out->loop].target;
    out->end = out->after + 1 + out->variables;
    out->is_kept = is_op(list, out->after, BYTECODE_STORE_LOCAL) || is_op(list, out->after, BYTECODE_POP);
    if (out->after <= out->loop || !(out->is_kept || is_op(list, out->after, BYTECODE_SWAP)))
        return false;
    for (i = out->after + 1; i < out->end; i++)
        if (!is_op(list, i, BYTECODE_STORE_LOCAL) || !is_own(list, out, (uint32_t)list->items[i].argument))
            return false;
    return true;
}

static bool reads_local(Bytecode op)
{
    return op == BYTECODE_LOAD_LOCAL || op == BYTECODE_LOAD_LOCAL_CLEAR || op == BYTECODE_LOAD_CELL;
}

/* Nothing leaves the loop but its end. */
static bool is_closed(const Instructions *list, const Found *found)
{
    for (uint32_t i = found->loop; i < found->after; i++) {
        const Instruction *item = &list->items[i];
        if (bytecode_jumps(item->op) && (item->target < found->loop || item->target > found->after))
            return false;
        if (item->op == BYTECODE_RETURN || item->op == BYTECODE_RAISE || item->op == BYTECODE_YIELD)
            return false;
        if (item->op == BYTECODE_LIST_EXTEND && item->argument != 1)
            return false;
    }
    return true;
}

/* --- the new function --------------------------------------------------------------------------------------------- */

typedef struct Outline {
    const CodeSnapshot *code;
    const Instructions *from;
    const Found *found;
    Arena *arena;
    CodeSnapshot *made;
    Instructions *out;
    uint32_t *number; /* local of `code` -> local of the new function; NONE */
    uint32_t *captured, captured_count;
} Outline;

static void capture(Outline *o, uint32_t local)
{
    if (is_own(o->from, o->found, local))
        return;
    for (uint32_t i = 0; i < o->captured_count; i++)
        if (o->captured[i] == local)
            return;
    o->captured[o->captured_count++] = local;
}

static void find_captured(Outline *o)
{
    o->captured = ARENA_ARRAY(o->arena, uint32_t, o->code->local_count);
    for (uint32_t i = o->found->loop; i < o->found->after; i++) {
        const Instruction *item = &o->from->items[i];
        if (reads_local(item->op) || item->op == BYTECODE_STORE_LOCAL || item->op == BYTECODE_DELETE_LOCAL)
            capture(o, (uint32_t)item->argument);
        if (item->op != BYTECODE_COMPREHENSION)
            continue;
        const Comprehension *inner = &o->from->comprehensions[item->argument];
        for (uint32_t k = 0; k < inner->captured_count; k++)
            capture(o, inner->captured[k]);
    }
}

/* The iterator, called ".0", then its own variables, then what it captures. */
static void make_code(Outline *o)
{
    const CodeSnapshot *code = o->code;
    uint32_t own = o->found->variables, count = 1 + own + o->captured_count;
    const char **names = ARENA_ARRAY(o->arena, const char *, count);
    o->number = ARENA_ARRAY(o->arena, uint32_t, code->local_count);
    names[0] = ".0";
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t local = i < own ? (uint32_t)o->from->items[o->found->start + i].argument : o->captured[i - own];
        o->number[local] = i + 1;
        names[i + 1] = code->local_names[local];
    }
    o->made = arena_copy(o->arena, code, sizeof *code);
    o->made->source.name = arena_format(o->arena, "%s.<locals>.<listcomp>", code->source.name);
    o->made->argument_count = 1;
    o->made->keyword_only_count = o->made->positional_only_count = 0;
    o->made->has_varargs = o->made->has_varkeywords = o->made->is_generator = false;
    o->made->is_nested = true;
    o->made->local_count = count;
    o->made->local_names = names;
    o->made->free_count = o->captured_count;
}

static Instruction *add(Instructions *list, const Instruction *like, Bytecode op, int32_t argument)
{
    Instruction *item = &list->items[list->count++];
    *item = *like;
    item->op = op;
    item->argument = argument;
    return item;
}

/* A comprehension inside of this one: what it captures has other numbers here. */
static void add_inner(Outline *o, const Instruction *item)
{
    const Comprehension *inner = &o->from->comprehensions[item->argument];
    Comprehension *copy = &o->out->comprehensions[o->out->comprehension_count];
    uint32_t *captured = ARENA_ARRAY(o->arena, uint32_t, inner->captured_count);
    for (uint32_t i = 0; i < inner->captured_count; i++)
        captured[i] = o->number[inner->captured[i]];
    *copy = *inner;
    copy->captured = captured;
    add(o->out, item, BYTECODE_COMPREHENSION, (int32_t)o->out->comprehension_count++);
}

static bool names_local(Bytecode op)
{
    return reads_local(op) || op == BYTECODE_STORE_LOCAL || op == BYTECODE_DELETE_LOCAL;
}

static void make_instructions(Outline *o)
{
    static const Constant none = {.kind = CONSTANT_NONE};
    uint32_t first = o->found->loop, length = o->found->after - first;
    uint32_t *place = ARENA_ARRAY(o->arena, uint32_t, length + 1);
    o->out = ARENA_NEW(o->arena, Instructions);
    o->out->items = ARENA_ARRAY(o->arena, Instruction, 2 * length + 8);
    o->out->comprehensions = ARENA_ARRAY(o->arena, Comprehension, o->from->comprehension_count + 1);
    o->out->is_list = true;
    o->out->line_count = o->from->line_count;
    o->out->lines = o->from->lines;
    add(o->out, &o->from->items[first], BYTECODE_LOAD_LOCAL, 0);
    for (uint32_t i = 0; i < length; i++) {
        const Instruction *item = &o->from->items[first + i];
        place[i] = o->out->count;
        if (item->op == BYTECODE_LIST_APPEND) {
            add(o->out, item, BYTECODE_YIELD, 0);
            add(o->out, item, BYTECODE_POP, 0);
        } else if (item->op == BYTECODE_COMPREHENSION) {
            add_inner(o, item);
        } else {
            add(o->out, item, item->op, names_local(item->op) ? (int32_t)o->number[item->argument] : item->argument);
        }
    }
    place[length] = o->out->count;
    add(o->out, &o->from->items[first], BYTECODE_LOAD_CONST, 0)->constant = &none;
    add(o->out, &o->from->items[first], BYTECODE_RETURN, 0);
    for (uint32_t i = 0; i < o->out->count; i++)
        if (bytecode_jumps(o->out->items[i].op))
            o->out->items[i].target = place[o->out->items[i].target - first];
}

/* --- the old one -------------------------------------------------------------------------------------------------- */

/* One instruction takes the place of the whole; jumps that led behind it are moved. */
static void replace(Instructions *list, const Found *found, uint32_t which)
{
    Instruction *items = list->items, taking = items[found->after];
    uint32_t first = found->start;
    if (found->iterates)
        items[first++] = items[found->loop - 1];
    items[first] = items[found->loop];
    items[first].op = BYTECODE_COMPREHENSION;
    items[first++].argument = (int32_t)which;
    if (found->is_kept)
        items[first++] = taking;
    uint32_t removed = found->end - first;
    memmove(&items[first], &items[found->end], (list->count - found->end) * sizeof *items);
    list->count -= removed;
    for (uint32_t i = 0; i < list->count; i++)
        if (bytecode_jumps(items[i].op) && items[i].target >= found->end)
            items[i].target -= removed;
        else if (bytecode_jumps(items[i].op) && items[i].target > found->start)
            items[i].target = found->start; /* from code that nothing reaches */
}

static void outline(const CodeSnapshot *code, Instructions *list, const Found *found, Arena *arena)
{
    Outline o = {.code = code, .from = list, .found = found, .arena = arena};
    find_captured(&o);
    make_code(&o);
    make_instructions(&o);
    Constant *constant = ARENA_NEW(arena, Constant);
    constant->kind = CONSTANT_CODE;
    constant->code = o.made;
    uint32_t which = list->comprehension_count++;
    list->comprehensions[which] = (Comprehension){
        .constant = constant, .instructions = o.out, .captured_count = o.captured_count, .captured = o.captured};
    replace(list, found, which);
}

/* 3.11: the code of a comprehension. Its list is never looked at again but to be returned. */
static void yield_items(Instructions *list, Arena *arena)
{
    Instructions old = *list;
    uint32_t *place = ARENA_ARRAY(arena, uint32_t, old.count);
    list->items = ARENA_ARRAY(arena, Instruction, 2 * old.count);
    list->count = 0;
    list->is_list = true;
    for (uint32_t i = 0; i < old.count; i++) {
        const Instruction *item = &old.items[i];
        place[i] = list->count;
        bool appends = item->op == BYTECODE_LIST_APPEND;
        add(list, item, appends ? BYTECODE_YIELD : item->op, appends ? 0 : item->argument);
        if (appends)
            add(list, item, BYTECODE_POP, 0);
    }
    for (uint32_t i = 0; i < list->count; i++)
        if (bytecode_jumps(list->items[i].op))
            list->items[i].target = place[list->items[i].target];
}

void decode_comprehensions(const CodeSnapshot *code, Instructions *instructions, Arena *arena)
{
    uint32_t appends = 0, clears = 0;
    for (uint32_t i = 0; i < instructions->count; i++) {
        appends += instructions->items[i].op == BYTECODE_LIST_APPEND;
        clears += instructions->items[i].op == BYTECODE_LOAD_LOCAL_CLEAR;
    }
    bool is_comprehension = code->local_count && strcmp(code->local_names[0], ".0") == 0 && !code->is_generator;
    if (appends && is_comprehension)
        yield_items(instructions, arena);
    if (!clears)
        return;
    instructions->comprehensions = ARENA_ARRAY(arena, Comprehension, clears);
    for (uint32_t i = instructions->count; i-- > 0;) { /* inner ones start later, and are done first */
        Found found;
        bool begins = is_op(instructions, i, BYTECODE_LOAD_LOCAL_CLEAR) &&
                      (i == 0 || !is_op(instructions, i - 1, BYTECODE_LOAD_LOCAL_CLEAR));
        if (begins && find(instructions, i, &found) && is_closed(instructions, &found))
            outline(code, instructions, &found, arena);
    }
}
