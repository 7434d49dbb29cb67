/* The frontend's one entry: instance of the function for the argument types, inferred, emitted, with all it calls. */
#include "frontend/engine.h"
#include "frontend/frontend.h"
#include "frontend/report/annotate.h"
#include "frontend/report/unassigned.h"
#include "frontend/report/widening.h"

static SourcePos function_position(const CodeSnapshot *code)
{
    return (SourcePos){.function = &code->source, .line = code->source.first_line, .end_line = code->source.first_line};
}

/* Argument types, then defaults for what is missing, then captured constants. */
static bool request_parameters(Lower *l, const FrontendRequest *request, Operand *parameters, uint32_t *count)
{
    const Snapshot *function = request->function;
    const CodeSnapshot *code = function->code;
    SourcePos pos = function_position(code);
    uint32_t named = code->argument_count + code->keyword_only_count;
    bool has_rest = code->has_varargs && request->is_kernel;
    if ((code->has_varargs && !has_rest) || code->has_varkeywords || code->is_generator || code->is_coroutine)
        return diag_fail(l->diag, &pos, DIAG_UNSUPPORTED_BYTECODE,
                         code->is_coroutine      ? "async"
                         : code->is_generator    ? "a kernel that is a generator"
                         : code->has_varkeywords ? "a ** parameter"
                                                 : "a * parameter of a device function that is compiled alone",
                         "");
    if (has_rest && code->keyword_only_count)
        return diag_fail(l->diag, &pos, DIAG_UNSUPPORTED_BYTECODE, "a parameter behind a * parameter",
                         "; put it before");
    if (request->argument_count < named || (request->argument_count > named && !has_rest))
        return diag_fail(l->diag, &pos, DIAG_CALL_ARITY, code->source.name, arena_format(l->arena, "%u", named),
                         named == 1 ? "" : "s", (int)request->argument_count);
    for (uint32_t i = 0; i < named; i++) {
        parameters[i] = (Operand){.type = request->argument_types[i]};
        if (parameters[i].type->kind == TYPE_NONE)
            parameters[i] = operand_none();
    }
    if (has_rest)
        parameters[named] = (Operand){.type = type_tuple(l->arena, request->argument_types + named,
                                                         request->argument_count - named, TUPLE_PLAIN)};
    for (uint32_t i = 0; i < code->free_count; i++)
        if (!operand_of_capture(l, function->free_values[i], &parameters[named + has_rest + i]))
            return false;
    *count = named + has_rest + code->free_count;
    return true;
}

static Instance *root_instance(Frontend *frontend)
{
    const FrontendRequest *request = frontend->request;
    const CodeSnapshot *code = request->function->code;
    SsaValue at = {.pos = function_position(code)};
    Lower l = {.frontend = frontend, .arena = frontend->arena, .diag = frontend->diag, .value = &at};
    uint32_t count = 0, most = code->argument_count + code->keyword_only_count + code->free_count;
    Operand *parameters = ARENA_ARRAY(frontend->arena, Operand, most + 1);
    if (!request_parameters(&l, request, parameters, &count))
        return NULL;
    Instance *root = instance_get(frontend, frontend->diag, code, request->function, parameters, count, (SourcePos){0});
    if (!root)
        return NULL;
    root->is_kernel = request->is_kernel;
    root->forced_result = request->result;
    return root;
}

static bool emit_all(Frontend *frontend, Instance *root)
{
    instance_declare(frontend, root);
    while (frontend->pending) {
        Instance *instance = frontend->pending;
        frontend->pending = instance->next_pending;
        if (!emit_instance(frontend, instance))
            return false;
        if (frontend->request->annotated)
            annotate(frontend->request->annotated, frontend, instance);
        if (frontend->request->warnings)
            list_unassigned(frontend->request->warnings, frontend, instance);
        if (frontend->request->widenings)
            list_widenings(frontend->request->widenings, frontend, instance);
    }
    return true;
}

/* --- watchers ---------------------------------------------------------------------------------------------------------- */

/* Of the launch's state, what the thread keeps, and numbers. */
static Instance *watcher_instance(Frontend *frontend, const Snapshot *snapshot, uint32_t numbers)
{
    Operand *parameters = ARENA_ARRAY(frontend->arena, Operand, 2 + numbers);
    for (uint32_t i = 0; i < 2 + numbers; i++)
        parameters[i] = (Operand){.type = i < 2 ? &type_words : TYPE_OF(INT64)};
    return instance_get(frontend, frontend->diag, snapshot->code, snapshot, parameters, 2 + numbers, (SourcePos){0});
}

static bool emit_watcher(Frontend *frontend, WatcherId id)
{
    const Constant *function = frontend->request->function->watchers[id];
    Instance *watcher = watcher_instance(frontend, function->function, watcher_info[id].count);
    if (!watcher)
        return false;
    infer_instance(frontend, watcher);
    IrFunc *ir = frontend->module->watchers[id] = instance_declare(frontend, watcher);
    ir->noinline = true;
    if (!frontend->module->first_watcher)
        frontend->module->first_watcher = ir;
    while (frontend->pending) {
        Instance *instance = frontend->pending;
        frontend->pending = instance->next_pending;
        if (!emit_instance(frontend, instance))
            return false;
    }
    return true;
}

/* Behind all that the program has: what they call is theirs alone. */
static bool emit_watchers(Frontend *frontend)
{
    const FrontendRequest *request = frontend->request;
    for (uint32_t id = 0; request->watchers && id < request->function->watcher_count; id++)
        if (watcher_info[id].checks & request->checks && !emit_watcher(frontend, (WatcherId)id))
            return false;
    return true;
}

/* Exceptions that no call reaches need no report. */
static void mark_reporting(IrModule *module)
{
    bool *raises = ARENA_ARRAY(module->arena, bool, module->function_count);
    ir_raising_functions(module, raises);
    module->first->reports = raises[0];
}

IrModule *frontend_lower(const FrontendRequest *request, Arena *arena, Diag *diag)
{
    Frontend frontend = {.arena = arena, .diag = diag, .request = request};
    frontend.instances = table_create();
    frontend.ssa = table_create();
    frontend.objects = table_create();
    frontend.faults = table_create();
    frontend.comprehensions = table_create();
    frontend.module = ir_module(arena);
    Instance *root = root_instance(&frontend);
    bool ok = root != NULL;
    if (ok) {
        infer_instance(&frontend, root);
        ok = emit_all(&frontend, root);
        if (request->inferred)
            *request->inferred = root->result.type;
        ok = ok && emit_watchers(&frontend);
    }
    if (ok && request->is_kernel && frontend.module->exception_count)
        mark_reporting(frontend.module);
    table_destroy(frontend.instances);
    table_destroy(frontend.ssa);
    table_destroy(frontend.objects);
    table_destroy(frontend.faults);
    table_destroy(frontend.comprehensions);
    return ok ? frontend.module : NULL;
}
