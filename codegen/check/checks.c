/* Check mode: the checks that are wanted, put into every function of a module. */
#include "codegen/check/bounds.h"
#include "codegen/check/plan.h"
#include "codegen/check/watch.h"
#include "codegen/codegen.h"

typedef struct Checks {
    CheckSet wanted;
    const Table *bounds; /* by access: the axes to check; NULL: all */
} Checks;

static unsigned axes_to_check(const Checks *checks, const IrValue *value)
{
    return checks->bounds ? (unsigned)(uintptr_t)table_get(checks->bounds, &value, sizeof value) : bounded_axes(value);
}

/* Each check looks at the value in turn. */
static void check_value(Rewrite *rewrite, IrValue *value, void *user)
{
    const Checks *checks = user;
    if (checks->wanted & CHECK_BOUNDS)
        check_bounds(rewrite, value, axes_to_check(checks, value));
    if (value->op == IR_BROADCAST)
        rewrite_drop(rewrite, value);
}

static void mark_reporting(IrModule *module)
{
    Arena *arena = arena_create();
    bool *raises = ARENA_ARRAY(arena, bool, module->function_count);
    ir_raising_functions(module, raises);
    module->first->reports = raises[0];
    arena_destroy(arena);
}

/* What the runtime looks for is told to it everywhere: what the library writes, others read. */
static void add_watches(IrModule *module, CheckSet wanted)
{
    Watching watching = {.wanted = wanted, .kernel = module->first};
    if (!(wanted & (CHECK_RACE | CHECK_INIT | CHECK_BARRIER | CHECKS_SCHEDULED)))
        return;
    Arena *arena = arena_create();
    for (IrFunc *function = module->first; function; function = function->next) {
        if (function->lacks_body)
            continue;
        watch_function(&watching, function, arena);
        rewrite_function(function, check_watch, &watching);
    }
    arena_destroy(arena);
}

static void add_checks(IrModule *module, Checks *checks)
{
    uint32_t before = module->exception_count;
    for (IrFunc *function = module->first; function; function = function->next)
        if (is_bounded(function))
            rewrite_function(function, check_value, checks);
    if (module->exception_count > before)
        mark_reporting(module);
    before = module->exception_count;
    add_watches(module, checks->wanted);
    module->first->reports |= module->exception_count > before;
}

void codegen_add_checks(IrModule *module, const Target *target, const CompileOptions *options,
                        const LaunchTests *failed, LaunchPlan *plan)
{
    Checks checks = {.wanted = checks_of(options, target->kind)};
    Table *bounds = NULL;
    if (plan)
        *plan = (LaunchPlan){0};
    if (!checks.wanted || !module->first->is_kernel)
        return;
    if (plan && checks.wanted & CHECK_BOUNDS)
        checks.bounds = bounds = plan_bounds(module, failed, plan, module->arena);
    add_checks(module, &checks);
    if (bounds)
        table_destroy(bounds);
}
