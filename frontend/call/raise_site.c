/* Functions of cujit's own that raise: to the user the exception happens where he calls them. Each call of such a function
 * therefore has an instance of its own, which knows the place. */
#include "frontend/call/raise_site.h"
#include "frontend/engine.h"

static bool may_raise(Frontend *frontend, const CodeSnapshot *code);

static bool constant_may_raise(Frontend *frontend, const Constant *constant)
{
    if (constant->kind == CONSTANT_CODE)
        return may_raise(frontend, constant->code);
    bool is_function = constant->kind == CONSTANT_FUNCTION || constant->kind == CONSTANT_INTRINSIC;
    const CodeSnapshot *code = is_function && constant->function ? constant->function->code : NULL;
    return code && code->is_library && may_raise(frontend, code);
}

static bool search(Frontend *frontend, const SsaFunction *ssa)
{
    for (uint32_t i = 0; i < ssa->block_count; i++)
        for (const SsaValue *value = ssa->blocks[i].first; value; value = value->next)
            if (value->op == SSA_RAISE || (value->constant && constant_may_raise(frontend, value->constant)))
                return true;
    return false;
}

/* The code, or what it names. */
static bool may_raise(Frontend *frontend, const CodeSnapshot *code)
{
    static char yes, no;
    const char *known = table_get(frontend->raising, &code, sizeof code);
    if (known)
        return known == &yes;
    table_set(frontend->raising, &code, sizeof code, &no); /* ends circles */
    Diag scratch = {0};
    const SsaFunction *ssa = frontend_ssa(frontend, code, &scratch);
    diag_clear(&scratch);
    bool found = ssa && search(frontend, ssa);
    if (found)
        table_set(frontend->raising, &code, sizeof code, &yes);
    return found;
}

SourcePos raise_site(Lower *l, const CodeSnapshot *callee)
{
    if (!callee->is_library || !l->frontend->request->exceptions || !may_raise(l->frontend, callee))
        return (SourcePos){0};
    bool is_inside = l->instance && l->instance->code->is_library;
    return is_inside ? l->instance->raise_site : l->value->pos;
}
