/* From where a fault's function was called, as far as the code alone says it: a function that has one call was called there,
 * and so on up to the kernel; where it has several, they are all named, and that is as far as it goes. */
#include "jit/callers.h"

#include <string.h>

enum { MOST_CALLS = 4, DEEPEST = 8 };

/* Of one function, but those in itself. */
typedef struct Calls {
    const IrValue *calls[MOST_CALLS]; /* of different lines */
    const IrFunc *callers[MOST_CALLS];
    uint32_t count;
    bool is_all; /* there are no more */
} Calls;

static bool is_known(const Calls *found, const IrValue *call)
{
    for (uint32_t i = 0; i < found->count; i++)
        if (found->calls[i]->pos.line == call->pos.line && found->calls[i]->pos.function == call->pos.function)
            return true;
    return false;
}

static void note_call(Callers *callers, const IrFunc *caller, const IrValue *call)
{
    const IrFunc *callee = call->callee;
    Calls *found = table_get(callers->by_function, &callee, sizeof callee);
    if (caller == callee || (found && is_known(found, call)))
        return;
    if (!found) {
        found = ARENA_NEW(callers->arena, Calls);
        found->is_all = true;
        table_set(callers->by_function, &callee, sizeof callee, found);
    }
    if (found->count == MOST_CALLS) {
        found->is_all = false;
        return;
    }
    found->calls[found->count] = call;
    found->callers[found->count++] = caller;
}

void jit_callers_begin(Callers *callers, const IrModule *module, Arena *arena)
{
    *callers = (Callers){table_create(), arena};
    for (const IrFunc *function = module->first; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next)
                if (value->op == IR_CALL)
                    note_call(callers, function, value);
}

void jit_callers_end(Callers *callers) { table_destroy(callers->by_function); }

/* "neighbour" of "test.<locals>.neighbour". */
static const char *short_name(const char *name)
{
    const char *point = name ? strrchr(name, '.') : NULL;
    return point ? point + 1 : name ? name : "?";
}

static void add_level(Buf *text, const Calls *found)
{
    for (uint32_t i = 0; i < found->count; i++) {
        const SourcePos *pos = &found->calls[i]->pos;
        buf_printf(text, "%s \"%s\", line %d, in %s", i ? " or" : "\n  called from",
                   pos->function && pos->function->file ? pos->function->file : "?", pos->line,
                   short_name(pos->function ? pos->function->name : NULL));
    }
    if (!found->is_all)
        buf_add(text, ", and elsewhere");
}

/* A fault of the library's is told of at its call: what comes before that is the user's. */
static bool is_the_library_s(const IrFunc *function) { return function->site.function != NULL; }

const char *jit_callers_of(const Callers *callers, const IrFunc *function)
{
    Buf text = {0};
    const Calls *found = NULL;
    for (int depth = 0; depth < DEEPEST && (!found || found->count == 1) && !function->is_kernel; depth++) {
        found = table_get(callers->by_function, &function, sizeof function);
        if (!found)
            break;
        if (!is_the_library_s(function))
            add_level(&text, found);
        function = found->callers[0];
    }
    const char *result = text.length ? arena_string(callers->arena, buf_text(&text)) : NULL;
    buf_free(&text);
    return result;
}
