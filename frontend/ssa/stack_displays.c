/* Instructions that build and take apart: tuples, lists, slices, dicts, unpacking, patterns. */
#include "frontend/ssa/ssa_build.h"

#include <string.h>

/* [*a, *b]: lists are tuples here, so the extended one takes the old one's place. */
static void extend_list(Builder *b, SsaValue *items)
{
    SsaValue **list = ssa_peek(b, b->instruction->argument);
    if (b->failed)
        return;
    SsaValue *longer = ssa_append2(b, SSA_BINARY, *list, items);
    longer->argument = 0; /* NB_ADD */
    *ssa_peek(b, b->instruction->argument) = longer;
}

/* A longer list or dict takes the place and the items of the one before, which nothing else uses: n of them one by one are not
 * n * n. A list has no names. */
static SsaValue *lengthen(Builder *b, SsaValue *before, const char *name, SsaValue *value)
{
    uint32_t count = before->count, room = (uint32_t)before->argument;
    SsaValue **values = before->operands, *longer = ssa_append(b, before->op, 0, NULL);
    const char **names = (const char **)before->keywords;
    if (count >= room) {
        room = 2 * count + 8;
        values = memcpy(ARENA_ARRAY(b->arena, SsaValue *, room), values, count * sizeof *values);
        if (name)
            names = memcpy(ARENA_ARRAY(b->arena, const char *, room), names, count * sizeof *names);
    }
    values[count] = value;
    longer->operands = values;
    longer->count = count + 1;
    if (name) {
        names[count] = name;
        longer->keywords = names;
        longer->keyword_count = count + 1;
    }
    longer->argument = (int32_t)room;
    before->count = before->keyword_count = 0;
    return longer;
}

/* No branch since it was begun. */
static bool is_whole(const Builder *b, const SsaValue *display, SsaOp op)
{
    return display->op == op && display->block == b->block;
}

/* [*a, b], and displays and arguments of more items than CPython lays on its stack; where the list does not lie on top, a
 * comprehension's loop adds to it. */
void run_list_append(Builder *b)
{
    if (b->instruction->argument != 1) {
        ssa_fail(b, DIAG_UNSUPPORTED_BYTECODE, "a comprehension that assigns to a variable outside of it",
                 "; write a loop");
        return;
    }
    SsaValue *item = ssa_pop(b), **list = ssa_peek(b, 1);
    if (b->failed)
        return;
    if (is_whole(b, *list, SSA_LIST))
        *list = lengthen(b, *list, NULL, item);
    else
        extend_list(b, ssa_append1(b, SSA_TUPLE, item));
}

void run_slice(Builder *b)
{
    static const Constant none = {.kind = CONSTANT_NONE};
    SsaValue *step = b->instruction->argument == 3 ? ssa_pop(b) : ssa_append_constant(b, &none);
    SsaValue *stop = ssa_pop(b), *start = ssa_pop(b);
    ssa_push(b, ssa_append(b, SSA_SLICE, 3, (SsaValue *[]){start, stop, step}));
}

void run_unpack(Builder *b)
{
    SsaValue *source = ssa_append1(b, SSA_SEQUENCE, ssa_pop(b));
    source->argument = b->instruction->argument;
    for (int32_t i = b->instruction->argument; i-- > 0;) {
        SsaValue *item = ssa_append1(b, SSA_UNPACK, source);
        item->argument = i;
        item->argument2 = b->instruction->argument;
        ssa_push(b, item);
    }
}

void run_sequence(Builder *b, SsaOp op)
{
    uint32_t count = (uint32_t)b->instruction->argument;
    ssa_push(b, ssa_append(b, op, count, ssa_pop_many(b, count)));
}

void run_list_extend(Builder *b)
{
    if (b->instruction->argument != 1)
        ssa_fail(b, DIAG_UNSUPPORTED_BYTECODE, "a comprehension with a star", "; write a loop in a loop");
    else
        extend_list(b, ssa_append1(b, SSA_AS_TUPLE, ssa_pop(b)));
}

static SsaValue *append_int(Builder *b, int64_t value)
{
    Constant *constant = ARENA_NEW(b->arena, Constant);
    constant->kind = CONSTANT_INT;
    constant->type = TYPE_OF(INT64);
    constant->integer = value;
    return ssa_append_constant(b, constant);
}

static SsaValue *append_none(Builder *b)
{
    static const Constant none = {.kind = CONSTANT_NONE};
    return ssa_append_constant(b, &none);
}

static SsaValue *append_intrinsic(Builder *b, IntrinsicId id)
{
    Constant *constant = ARENA_NEW(b->arena, Constant);
    constant->kind = CONSTANT_INTRINSIC;
    constant->intrinsic = id;
    return ssa_append_constant(b, constant);
}

/* a, *b, c = t: so many before the star in the lower byte, behind it in the upper one. */
void run_unpack_starred(Builder *b)
{
    int32_t before = b->instruction->argument & 255, after = b->instruction->argument >> 8;
    SsaValue *source = ssa_append1(b, SSA_SEQUENCE, ssa_pop(b));
    source->argument = -1;
    for (int32_t i = 1; i <= after; i++)
        ssa_push(b, ssa_append2(b, SSA_SUBSCRIPT, source, append_int(b, -i)));
    SsaValue *bounds[] = {append_int(b, before), after ? append_int(b, -after) : append_none(b), append_none(b)};
    SsaValue *middle = ssa_append(b, SSA_SLICE, 3, bounds);
    ssa_push(b, ssa_append2(b, SSA_SUBSCRIPT, source, middle));
    for (int32_t i = before; i-- > 0;)
        ssa_push(b, ssa_append2(b, SSA_SUBSCRIPT, source, append_int(b, i)));
}

/* --- dicts -------------------------------------------------------------------------------------------------------- */

/* NULL with a diagnostic where it is not constant. */
static const char *name_of_key(Builder *b, const SsaValue *key)
{
    const char *name = key->op == SSA_CONSTANT ? constant_key(b->arena, key->constant) : NULL;
    if (!name)
        ssa_fail(b, DIAG_UNSUPPORTED_BYTECODE, "a dict with keys that are not constant", "; index an array");
    return name;
}

static void push_dict(Builder *b, SsaValue *const *keys, SsaValue *const *values, uint32_t count)
{
    const char **names = ARENA_ARRAY(b->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (!(names[i] = name_of_key(b, keys[i])))
            return;
    SsaValue *dict = ssa_append(b, SSA_DICT, count, values);
    dict->keyword_count = count;
    dict->keywords = names;
    ssa_push(b, dict);
}

/* {key: value, ...}: the pairs lie on the stack. */
void run_build_map(Builder *b)
{
    uint32_t count = (uint32_t)b->instruction->argument;
    SsaValue **pairs = ssa_pop_many(b, 2 * count), **keys = ARENA_ARRAY(b->arena, SsaValue *, count + 1);
    for (uint32_t i = 0; i < count && !b->failed; i++) {
        keys[i] = pairs[2 * i];
        pairs[i] = pairs[2 * i + 1];
    }
    if (!b->failed)
        push_dict(b, keys, pairs, count);
}

/* The same with the keys in a constant tuple. */
void run_build_constant_map(Builder *b)
{
    uint32_t count = (uint32_t)b->instruction->argument;
    SsaValue *names = ssa_pop(b), **values = ssa_pop_many(b, count),
             **keys = ARENA_ARRAY(b->arena, SsaValue *, count + 1);
    if (b->failed || names->op != SSA_CONSTANT || names->constant->count != count) {
        ssa_fail_broken(b, "the keys of a dict are not a constant tuple");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        keys[i] = ssa_append_constant(b, names->constant->items[i]);
    push_dict(b, keys, values, count);
}

static SsaValue *merge_pair(Builder *b, SsaValue *before, const char *name, SsaValue *value)
{
    const char **names = ARENA_ARRAY(b->arena, const char *, 1);
    SsaValue *pair = ssa_append1(b, SSA_DICT, value);
    *names = name;
    pair->keywords = names;
    pair->keyword_count = 1;
    return ssa_append2(b, SSA_DICT_MERGE, before, pair);
}

/* {key: value, ...} of more pairs than CPython lays on its stack, and keywords of a call that are as many: they join an empty
 * dict, one by one. */
void run_map_add(Builder *b)
{
    SsaValue *value = ssa_pop(b), *key = ssa_pop(b), **dict = ssa_peek(b, b->instruction->argument);
    const char *name = b->failed ? NULL : name_of_key(b, key);
    if (!name)
        return;
    *dict = is_whole(b, *dict, SSA_DICT) ? lengthen(b, *dict, name, value) : merge_pair(b, *dict, name, value);
}

void run_dict_merge(Builder *b)
{
    SsaValue *more = ssa_pop(b), **dict = ssa_peek(b, b->instruction->argument);
    if (!b->failed)
        *dict = ssa_append2(b, SSA_DICT_MERGE, *dict, more);
}

/* --- patterns of match -------------------------------------------------------------------------------------------- */

void run_match_sequence(Builder *b)
{
    SsaValue *subject = *ssa_peek(b, 1);
    SsaValue *operands[] = {append_intrinsic(b, INTRINSIC_ISINSTANCE), subject, append_intrinsic(b, INTRINSIC_TUPLE)};
    ssa_push(b, ssa_append(b, SSA_CALL, 3, operands));
}

void run_get_length(Builder *b)
{
    SsaValue *subject = *ssa_peek(b, 1);
    ssa_push(b, ssa_append2(b, SSA_CALL, append_intrinsic(b, INTRINSIC_LEN), subject));
}

/* case int(): and case int(name): */
void run_match_class(Builder *b)
{
    SsaValue *names = ssa_pop(b), *class = ssa_pop(b), *subject = ssa_pop(b);
    bool is_plain = names->op == SSA_CONSTANT && names->constant->count == 0 && b->instruction->argument <= 1;
    if (!is_plain && !b->failed)
        ssa_fail(b, DIAG_UNSUPPORTED_BYTECODE, "a pattern that looks into an object", "; compare its fields");
    SsaValue *match = ssa_append2(b, SSA_MATCH_CLASS, subject, class);
    match->argument = b->instruction->argument;
    ssa_push(b, match);
}
