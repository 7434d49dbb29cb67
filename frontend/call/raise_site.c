/* Functions of cujit's own that raise, or index arrays or compute what may wrap while check mode looks at that: to the user
 * it happens where he calls them. Each call of such a function therefore has an instance of its own, which knows the place. */
#include "frontend/call/raise_site.h"
#include "frontend/engine.h"

enum { RAISES = 1, INDEXES = 2, WRAPS = 4 };

static unsigned faults_of(Frontend *frontend, const CodeSnapshot *code);

static unsigned faults_of_constant(Frontend *frontend, const Constant *constant)
{
    if (constant->kind == CONSTANT_CODE)
        return faults_of(frontend, constant->code);
    bool is_function = constant->kind == CONSTANT_FUNCTION || constant->kind == CONSTANT_INTRINSIC;
    const CodeSnapshot *code = is_function && constant->function ? constant->function->code : NULL;
    return code && code->is_library ? faults_of(frontend, code) : 0;
}

/* What was given to it: np.sum's fold(plus, ...). */
static bool calls_parameter(const SsaValue *value)
{
    return value->op == SSA_CALL && value->operands[0]->op == SSA_PARAMETER;
}

static unsigned search(Frontend *frontend, const SsaFunction *ssa)
{
    unsigned faults = 0;
    for (uint32_t i = 0; i < ssa->block_count; i++)
        for (const SsaValue *value = ssa->blocks[i].first; value; value = value->next) {
            faults |= value->op == SSA_RAISE ? RAISES : 0;
            faults |= value->op == SSA_SUBSCRIPT || value->op == SSA_STORE_SUBSCRIPT ? INDEXES : 0;
            faults |= calls_parameter(value) ? WRAPS : 0;
            faults |= value->constant ? faults_of_constant(frontend, value->constant) : 0;
        }
    return faults;
}

/* Of the code, or what it names. */
static unsigned faults_of(Frontend *frontend, const CodeSnapshot *code)
{
    enum { IS_KNOWN = 8 };
    uintptr_t known = (uintptr_t)table_get(frontend->faults, &code, sizeof code);
    if (known)
        return (unsigned)known & ~(unsigned)IS_KNOWN;
    table_set(frontend->faults, &code, sizeof code, (void *)(uintptr_t)IS_KNOWN); /* ends circles */
    Diag scratch = {0};
    const SsaFunction *ssa = frontend_ssa(frontend, code, &scratch);
    diag_clear(&scratch);
    unsigned found = (ssa ? search(frontend, ssa) : 0) | (code->tells_overflow ? WRAPS : 0);
    table_set(frontend->faults, &code, sizeof code, (void *)(uintptr_t)(found | IS_KNOWN));
    return found;
}

SourcePos raise_site(Lower *l, const CodeSnapshot *callee)
{
    const FrontendRequest *request = l->frontend->request;
    unsigned told = (request->exceptions ? RAISES : 0) | (request->checks & CHECK_BOUNDS ? INDEXES : 0) |
                    (request->checks & CHECKS_OF_OVERFLOW ? WRAPS : 0);
    if (!callee->is_library || !told || !(faults_of(l->frontend, callee) & told))
        return (SourcePos){0};
    bool is_inside = l->instance && l->instance->code->is_library;
    return is_inside ? l->instance->raise_site : l->value->pos;
}
