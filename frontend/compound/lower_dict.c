/* Dicts of constant keys: their values as a tuple whose type has the keys. They never change. */
#include <string.h>

#include "frontend/compound/lower_dict.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"

static bool is_dict(Operand operand) { return type_is_tagged(operand.type, TUPLE_DICT); }

Operand lower_make_dict(Lower *l, const Operand *values, const char *const *keys, uint32_t count)
{
    Operand dict = lower_make_tuple(l, values, count, TUPLE_DICT);
    dict.type = type_dict(l->arena, dict.type->items, keys, count);
    return dict;
}

/* Where the key is, or -1. */
static int find_key(const Type *dict, const char *key)
{
    for (uint32_t i = 0; i < dict->count; i++)
        if (strcmp(dict->names[i], key) == 0)
            return (int)i;
    return -1;
}

static const char *key_of(Lower *l, Operand index)
{
    return index.constant ? constant_key(l->arena, index.constant) : NULL;
}

bool lower_dict_item(Lower *l, Operand dict, Operand index, Operand *out)
{
    const char *key = key_of(l, index);
    if (!key)
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the key of a dict", "; index an array or a tuple");
    int place = find_key(dict.type, key);
    if (place < 0)
        return lower_fail(l, DIAG_CONSTANT_RANGE,
                          arena_format(l->arena, "the dict has no key %s%s", key, key[0] == '\'' ? "'" : ""));
    return *out = lower_tuple_item(l, dict, (uint32_t)place), true;
}

bool lower_dict_contains(Lower *l, Operand dict, Operand index, Operand *out)
{
    const char *key = key_of(l, index);
    if (!key)
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the key of a dict", "; index an array or a tuple");
    return *out = operand_bool(l, find_key(dict.type, key) >= 0), true;
}

/* What the second has takes the place of what the first has. */
bool lower_dict_merge(Lower *l, Operand a, Operand b, Operand *out)
{
    if (!is_dict(a) || !is_dict(b))
        return lower_fail(l, DIAG_TYPE_ITERATE, lower_describe(l, b.type), "; ** takes a dict of constant keys apart");
    uint32_t most = a.type->count + b.type->count, count = 0;
    Operand *values = ARENA_ARRAY(l->arena, Operand, most + 1);
    const char **keys = ARENA_ARRAY(l->arena, const char *, most + 1);
    for (uint32_t i = 0; i < a.type->count; i++)
        if (find_key(b.type, a.type->names[i]) < 0) {
            keys[count] = a.type->names[i];
            values[count++] = lower_tuple_item(l, a, i);
        }
    for (uint32_t i = 0; i < b.type->count; i++) {
        keys[count] = b.type->names[i];
        values[count++] = lower_tuple_item(l, b, i);
    }
    return *out = lower_make_dict(l, values, keys, count), true;
}

bool lower_dict_keywords(Lower *l, Operand dict, Call *call)
{
    if (!is_dict(dict))
        return lower_fail(l, DIAG_TYPE_ITERATE, lower_describe(l, dict.type),
                          "; ** takes a dict of constant keys apart");
    uint32_t count = dict.type->count;
    const char **keywords = ARENA_ARRAY(l->arena, const char *, count + 1);
    Operand *values = ARENA_ARRAY(l->arena, Operand, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (dict.type->names[i][0] != '\'')
            return lower_fail(l, DIAG_UNSUPPORTED, "keywords are strings");
        keywords[i] = dict.type->names[i] + 1;
        values[i] = lower_tuple_item(l, dict, i);
    }
    call->keyword_count = count;
    call->keywords = keywords;
    call->keyword_values = values;
    return true;
}

Operand lower_keywords_dict(Lower *l, const char *const *keywords, const Operand *values, uint32_t count)
{
    const char **keys = ARENA_ARRAY(l->arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = arena_format(l->arena, "'%s", keywords[i]);
    return lower_make_dict(l, values, keys, count);
}

const Operand *lower_dict_default(Lower *l, Operand dict, const char *name)
{
    int place = find_key(dict.type, arena_format(l->arena, "'%s", name));
    Operand *value = ARENA_NEW(l->arena, Operand);
    if (place >= 0)
        *value = lower_tuple_item(l, dict, (uint32_t)place);
    return place >= 0 ? value : NULL;
}
