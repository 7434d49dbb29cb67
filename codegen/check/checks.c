/* Check mode: the checks that are wanted, put into every function of a module. */
#include "codegen/check/bounds.h"
#include "codegen/codegen.h"

/* Each check looks at the value in turn. */
static void check_value(Rewrite *rewrite, IrValue *value, void *wanted)
{
    if (*(const CheckSet *)wanted & CHECK_BOUNDS)
        check_bounds(rewrite, value);
}

/* What belongs to cujit is right by construction. */
static bool is_library(const IrFunc *function) { return function->source && function->source->is_library; }

static void mark_reporting(IrModule *module)
{
    Arena *arena = arena_create();
    bool *raises = ARENA_ARRAY(arena, bool, module->function_count);
    ir_raising_functions(module, raises);
    module->first->reports = raises[0];
    arena_destroy(arena);
}

void codegen_add_checks(IrModule *module, const Target *target, const CompileOptions *options)
{
    CheckSet wanted = checks_of(options, target->kind);
    uint32_t before = module->exception_count;
    if (!wanted || !module->first->is_kernel)
        return;
    for (IrFunc *function = module->first; function; function = function->next)
        if (!is_library(function) && !function->lacks_body)
            rewrite_function(function, check_value, &wanted);
    if (module->exception_count > before)
        mark_reporting(module);
}
