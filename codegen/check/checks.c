/* Check mode: the checks that are wanted, put into every function of a module. */
#include "codegen/check/bounds.h"
#include "codegen/check/narrow.h"
#include "codegen/check/overflow.h"
#include "codegen/check/plan.h"
#include "codegen/check/records.h"
#include "codegen/check/short_axes.h"
#include "codegen/check/tell.h"
#include "codegen/check/watch.h"
#include "codegen/check/wide_access.h"
#include "codegen/codegen.h"

#include <string.h>

/* What the runtime looks for, and has to know the memory of. */
enum { WATCHED = CHECK_RACE | CHECK_INIT | CHECK_BARRIER | CHECKS_SCHEDULED };

typedef struct Checks {
    CheckSet wanted;
    const Table *demanded; /* by value: what the code has to check of it (plan.h) */
} Checks;

/* Each check looks at the value in turn. */
static void check_value(Rewrite *rewrite, IrValue *value, void *user)
{
    const Checks *checks = user;
    unsigned bits = (unsigned)(uintptr_t)table_get(checks->demanded, &value, sizeof value);
    unsigned axes = bits & ((1u << FIRST_OVERFLOW_PART) - 1);
    unsigned parts = (bits & ~(1u << NEVER_FROM_END)) >> FIRST_OVERFLOW_PART;
    if (axes)
        check_bounds(rewrite, value, axes);
    if (parts)
        check_overflow(rewrite, value, parts, checks->wanted & CHECK_OVERFLOW_RAISES);
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
    if (!(wanted & WATCHED))
        return;
    Arena *arena = arena_create();
    for (IrFunc *function = module->first; function != module->first_watcher; function = function->next) {
        if (function->lacks_body)
            continue;
        watch_function(&watching, function, arena);
        rewrite_function(function, check_watch, &watching);
    }
    arena_destroy(arena);
}

/* What was there for the checks alone: they have taken what they need. */
static void drop_unused(IrModule *module)
{
    for (IrFunc *function = module->first; function; function = function->next) {
        if (function->lacks_body)
            continue;
        prune(function, false);
        ir_renumber(function);
    }
}

/* Indices are what they are where the launch says that they do not count from the end. */
static void leave_out_wraps(IrFunc *function, const Table *demanded)
{
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrValue *value = block->first; value; value = value->next)
            for (uint32_t i = 0; i < value->operand_count; i++) {
                const IrValue *index = value->operands[i];
                if (index && index->op == IR_WRAP &&
                    (uintptr_t)table_get(demanded, &index, sizeof index) >> NEVER_FROM_END & 1)
                    value->operands[i] = index->operands[0];
            }
}

static void add_checks(IrModule *module, Checks *checks)
{
    uint32_t before = module->exception_count;
    for (IrFunc *function = module->first; function; function = function->next)
        if (is_bounded(function))
            rewrite_function(function, check_value, checks);
    for (IrFunc *function = module->first; function; function = function->next) {
        leave_out_wraps(function, checks->demanded);
        overflow_drop_marks(function);
    }
    if (module->exception_count > before)
        mark_reporting(module);
    before = module->exception_count;
    add_watches(module, checks->wanted);
    if (!module->first_watcher)
        module->first->reports |= module->exception_count > before;
    drop_unused(module);
}

/* The kernel is made for launches within limits where somebody tests that, but for a variant for those beyond them. */
static void limit_launches(IrModule *module, const Target *target, const CompileOptions *options,
                           const LaunchTests *failed, LaunchPlan *plan)
{
    LimitTests tests;
    if (!plan || target->kind != TARGET_NVPTX || options->opt < 1)
        return;
    uint64_t wide = parameters_with_wide_access(module);
    if (!plan_limits(module, wide, plan, &tests, module->arena) &&
        !plan_limits(module, wide = 0, plan, &tests, module->arena)) {
        *plan = (LaunchPlan){0};
        return;
    }
    module->first->is_limited = tests.size == RANGE_NONE || !launch_tests_have(failed, tests.size);
    bool is_aligned = tests.alignment != RANGE_NONE && !launch_tests_have(failed, tests.alignment);
    module->first->aligned = is_aligned ? wide : 0;
    module->first->is_apart = tests.overlap != RANGE_NONE && !launch_tests_have(failed, tests.overlap);
}

/* Threads that meet in warps only are run warp by warp on the CPU device, in launches where each has its threads along x; a
 * variant is for others. */
static void limit_to_whole_warps(IrModule *module, const Target *target, const CompileOptions *options,
                                 const LaunchTests *failed, LaunchPlan *plan)
{
    unsigned effects = ir_module_effects(module);
    if (!plan || target->kind != TARGET_HOST || options->opt < 1 || options->observe || module->first_watcher ||
        !(effects & EFFECT_WARP_SYNC) || effects & (EFFECT_BLOCK_SYNC | EFFECT_GRID_SYNC | EFFECT_CLUSTER))
        return;
    uint32_t test = plan_whole_warps(plan, module->arena);
    module->first->by_warps = test != RANGE_NONE && !launch_tests_have(failed, test);
}

/* Threads that meet in blocks are run in loops over the axes of a block, around each part between two meetings. That along z would
 * have one trip as a rule where none asks for its index there; a variant is for launches where it has more. */
static void limit_to_single_axes(IrModule *module, const Target *target, const CompileOptions *options,
                                 const LaunchTests *failed, LaunchPlan *plan)
{
    enum { Z = 1 << 2 };
    if (!plan || target->kind != TARGET_HOST || options->opt < 1 || options->observe || module->first_watcher ||
        module->first->by_warps || !(ir_module_effects(module) & EFFECT_BLOCK_SYNC) ||
        ir_module_effects(module) & (EFFECT_GRID_SYNC | EFFECT_CLUSTER))
        return;
    uint32_t axes = axes_without_index(module) & Z;
    uint32_t test = axes ? plan_single_axes(plan, axes, module->arena) : RANGE_NONE;
    if (test != RANGE_NONE && !launch_tests_have(failed, test))
        module->first->single_axes = (uint8_t)axes;
}

/* Pixels and points are vectors on the CPU device where the launch has arrays of as many elements each as the kernel takes of
 * them; a variant is for others. */
static void limit_to_short_axes(IrModule *module, const Target *target, const CompileOptions *options,
                                const LaunchTests *failed, LaunchPlan *plan)
{
    if (!plan || target->kind != TARGET_HOST || options->opt < 1 || options->observe || module->first_watcher)
        return;
    const uint8_t *extents = find_short_axes(module->first, module->arena);
    uint32_t test = extents ? plan_extents(plan, module->first, extents, module->arena) : RANGE_NONE;
    if (test != RANGE_NONE && !launch_tests_have(failed, test))
        module->first->extents = extents;
}

void codegen_add_checks(IrModule *module, const Target *target, const CompileOptions *options,
                        const LaunchTests *failed, LaunchPlan *plan)
{
    LaunchTests all = {0};
    LaunchPlan unused;
    CheckSet wanted = checks_of(options, target->kind);
    if (plan)
        *plan = (LaunchPlan){0};
    if (!module->first->is_kernel)
        return;
    if (!wanted) {
        limit_launches(module, target, options, failed, plan);
        limit_to_whole_warps(module, target, options, failed, plan);
        limit_to_single_axes(module, target, options, failed, plan);
        limit_to_short_axes(module, target, options, failed, plan);
        if (plan && options->opt > 0)
            pass_records(module, failed, plan);
        return;
    }
    memset(all.words, -1, sizeof all.words); /* one kernel for all launches: what not all of them pass is the code's */
    Checks checks = {.wanted = wanted};
    Table *demanded = plan_checks(module, wanted, plan ? failed : &all, plan ? plan : &unused, module->arena);
    checks.demanded = demanded;
    add_checks(module, &checks);
    table_destroy(demanded);
    if (module->first_watcher)
        check_tell(module);
    limit_to_whole_warps(module, target, options, failed, plan);
    limit_to_single_axes(module, target, options, failed, plan);
    limit_to_short_axes(module, target, options, failed, plan);
    if (plan && options->opt > 0 && !module->first_watcher && !(wanted & WATCHED))
        pass_records(module, failed, plan);
}
