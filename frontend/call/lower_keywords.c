/* Keywords of intrinsics whose documentation names their parameters, "(array, index, value, *, scope='device') ...": those
 * in front of the star become positional arguments, so that handlers know places only. CALL rows: lower_device.c. */
#include <string.h>

#include "frontend/call/lower_keywords.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"

typedef struct Name {
    const char *text;
    bool has_default;
} Name;

/* Reads the next name of a parameter list; false at its end. A star is a name. */
static bool next_name(Lower *l, const char **list, Name *out)
{
    size_t length = strcspn(*list, "=,)"), whole = strcspn(*list, ",)");
    if (!length)
        return false;
    *out = (Name){arena_format(l->arena, "%.*s", (int)length, *list), (*list)[length] == '='};
    *list += whole;
    *list += strspn(*list, ", ");
    return true;
}

static bool check_keywords(Lower *l, const Call *call, const char *parameters)
{
    for (uint32_t i = 0; i < call->keyword_count; i++) {
        const char *list = parameters;
        bool is_known = false;
        Name name;
        while (!is_known && next_name(l, &list, &name))
            is_known = strcmp(name.text, call->keywords[i]) == 0;
        if (!is_known)
            return lower_fail(l, DIAG_CALL_KEYWORD, call->name, call->keywords[i]);
    }
    return true;
}

/* Behind the positional arguments come those that keywords give, in the order of the parameters. */
static bool place(Lower *l, Call *call, const char *list, Operand *arguments)
{
    uint32_t given = call->count, count = given, number = 0;
    const char *missing = NULL;
    for (Name name; next_name(l, &list, &name) && strcmp(name.text, "*"); number++) {
        const Operand *value = call_keyword(call, name.text);
        if (value && number < given)
            return lower_fail(l, DIAG_UNSUPPORTED,
                              arena_format(l->arena, "%s got two values for parameter '%s'", call->name, name.text));
        if (value && !missing)
            arguments[count++] = *value;
        else if (number >= given && !value && !missing)
            missing = name.text;
        else if (value)
            return call_refuse(l, call, arena_format(l->arena, "; its parameter %s is missing", missing));
    }
    call->arguments = arguments;
    call->count = count;
    return true;
}

/* What is left are the keywords behind the star. */
static void drop_placed(Lower *l, Call *call, const char *list)
{
    const char **names = ARENA_ARRAY(l->arena, const char *, call->keyword_count);
    Operand *values = ARENA_ARRAY(l->arena, Operand, call->keyword_count);
    uint32_t count = 0;
    bool is_behind = false;
    for (Name name; next_name(l, &list, &name); is_behind |= strcmp(name.text, "*") == 0)
        for (uint32_t i = 0; is_behind && i < call->keyword_count; i++)
            if (strcmp(name.text, call->keywords[i]) == 0) {
                names[count] = name.text;
                values[count++] = call->keyword_values[i];
            }
    call->keywords = names;
    call->keyword_values = values;
    call->keyword_count = count;
}

bool call_place_keywords(Lower *l, Call *call)
{
    const char *list = intrinsic_info[call->intrinsic].doc;
    IntrinsicKind kind = intrinsic_info[call->intrinsic].kind;
    bool is_documented = (kind == INTRINSIC_KIND_BUILTIN || kind == INTRINSIC_KIND_DEVICE) && *list++ == '(';
    if (!call->keyword_count || !is_documented)
        return true;
    Operand *arguments = ARENA_ARRAY(l->arena, Operand, call->count + call->keyword_count);
    memcpy(arguments, call->arguments, call->count * sizeof *arguments);
    if (!check_keywords(l, call, list) || !place(l, call, list, arguments))
        return false;
    drop_placed(l, call, list);
    return true;
}
