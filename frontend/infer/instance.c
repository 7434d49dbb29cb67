/* Instances: a function for certain argument types, found or made, and its IR function. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/base/hash.h"
#include "frontend/call/raise_site.h"
#include "frontend/compound/generator.h"
#include "frontend/compound/lower_cell.h"
#include "frontend/engine.h"
#include "frontend/infer/instance.h"
#include "frontend/value/operand.h"

enum { INSTANCE_LIMIT = 20000 };

static void note_comprehensions(Frontend *frontend, const Instructions *instructions)
{
    for (uint32_t i = 0; i < instructions->comprehension_count; i++) {
        const Comprehension *comprehension = &instructions->comprehensions[i];
        const CodeSnapshot *code = comprehension->constant->code;
        table_set(frontend->comprehensions, &code, sizeof code, (void *)comprehension->instructions);
        note_comprehensions(frontend, comprehension->instructions);
    }
}

static Instructions *instructions_of(Frontend *frontend, const CodeSnapshot *code, Diag *diag)
{
    Instructions *instructions = table_get(frontend->comprehensions, &code, sizeof code);
    if (instructions)
        return instructions;
    bool with_lines = frontend->request->lines && !code->is_library;
    instructions = with_lines ? decode_with_lines(code, frontend->arena, diag) : decode(code, frontend->arena, diag);
    if (!instructions)
        return NULL;
    decode_cells(instructions);
    decode_comprehensions(code, instructions, frontend->arena);
    note_comprehensions(frontend, instructions);
    return instructions;
}

static void dump_ssa(const Frontend *frontend, const SsaFunction *ssa)
{
    if (frontend->request->dump_ssa)
        ssa_print(frontend->request->dump_ssa, ssa);
}

SsaFunction *frontend_ssa(Frontend *frontend, const CodeSnapshot *code, Diag *diag)
{
    SsaFunction *ssa = table_get(frontend->ssa, &code, sizeof code);
    if (ssa)
        return ssa;
    Instructions *instructions = instructions_of(frontend, code, diag);
    Cfg *cfg = instructions ? cfg_build(code, instructions, frontend->arena, diag) : NULL;
    ssa = cfg ? ssa_build(code, instructions, cfg, NULL, frontend->arena, diag) : NULL;
    if (!ssa)
        return NULL;
    if (!frontend->request->exceptions)
        ssa_drop_exceptions(ssa, frontend->arena);
    if (frontend->request->dump_bytecode)
        decode_print(frontend->request->dump_bytecode, code, instructions);
    if (frontend->request->dump_cfg)
        cfg_print(frontend->request->dump_cfg, cfg, instructions);
    dump_ssa(frontend, ssa);
    table_set(frontend->ssa, &code, sizeof code, ssa);
    return ssa;
}

static bool same_parameter(Operand a, Operand b)
{
    if (!type_equal(a.type, b.type) || !a.constant != !b.constant || a.weak != b.weak)
        return false;
    return !a.constant || constant_equal(a.constant, b.constant);
}

static bool same_place(SourcePos a, SourcePos b)
{
    return a.function == b.function && a.line == b.line && a.end_line == b.end_line && a.column == b.column &&
           a.end_column == b.end_column;
}

/* A kernel that calls itself calls a function of the same code. */
static bool matches(const Instance *instance, const Snapshot *snapshot, const Operand *parameters, uint32_t count,
                    SourcePos raise_site)
{
    if (instance->is_kernel || instance->snapshot != snapshot || instance->parameter_count != count ||
        !same_place(instance->raise_site, raise_site))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!same_parameter(instance->parameters[i], parameters[i]))
            return false;
    return true;
}

/* Instances that may match: a function that is called for thousands of lists of types has as many instances. */
typedef struct InstanceKey {
    const CodeSnapshot *code;
    uint64_t types;
} InstanceKey;

static InstanceKey key_of(const CodeSnapshot *code, const Operand *parameters, uint32_t count, SourcePos raise_site)
{
    InstanceKey key = {.code = code, .types = (uint64_t)raise_site.line << 32 | (uint32_t)raise_site.column};
    for (uint32_t i = 0; i < count; i++) {
        const Constant *constant = parameters[i].constant;
        key.types = hash_with(key.types, type_digest(parameters[i].type));
        if (constant && constant->kind == CONSTANT_INT)
            key.types = hash_with(key.types, (uint64_t)constant->integer);
    }
    return key;
}

/* Python's name with only what a symbol may hold, and a number to tell instances apart. */
static const char *symbol(Frontend *frontend, const CodeSnapshot *code)
{
    const char *full = code->source.name ? code->source.name : "function";
    char *name = arena_format(frontend->arena, "%s", full);
    const char *local = strstr(name, "<locals>.");
    for (const char *next = local; next; next = strstr(local + 1, "<locals>."))
        local = next;
    if (local)
        name = arena_format(frontend->arena, "%s", local + strlen("<locals>."));
    for (char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_'))
            *c = '_';
    if (name[0] >= '0' && name[0] <= '9')
        name = arena_format(frontend->arena, "_%s", name);
    if (frontend->instance_count == 0)
        return name;
    return arena_format(frontend->arena, "%s.%u", name, frontend->instance_count);
}

static void forget_facts(Frontend *frontend, Instance *instance)
{
    const SsaFunction *ssa = instance->ssa;
    instance->facts = ARENA_ARRAY(frontend->arena, Operand, ssa->value_count);
    instance->block_reached = ARENA_ARRAY(frontend->arena, bool, ssa->block_count);
    instance->edge_reached = ARENA_ARRAY(frontend->arena, bool, 2 * ssa->block_count);
    instance->unroll = ARENA_ARRAY(frontend->arena, uint32_t, ssa->block_count);
    instance->result = (Operand){0};
}

bool edge_is_reached(const Instance *instance, uint32_t from, uint32_t to)
{
    const CfgBlock *cfg = instance->ssa->blocks[from].cfg;
    for (uint32_t k = 0; k < cfg->successor_count; k++)
        if (cfg->successors[k] == to && instance->edge_reached[2 * from + k])
            return true;
    return false;
}

bool instance_unroll(Frontend *frontend, Instance *instance)
{
    const SsaFunction *old = instance->ssa;
    Diag scratch = {0};
    Cfg *cfg = cfg_unroll(old->code, old->instructions, old->cfg, instance->unroll, frontend->arena, &scratch);
    SsaFunction *ssa =
        cfg ? ssa_build(old->code, old->instructions, cfg, old->shared, frontend->arena, &scratch) : NULL;
    assert(instance->is_unrollable && !instance->ir);
    instance->is_unrollable = ssa != NULL;
    if (!ssa)
        return false;
    if (frontend->request->dump_cfg)
        cfg_print(frontend->request->dump_cfg, cfg, old->instructions);
    dump_ssa(frontend, ssa);
    ssa->is_one_for_one = old->is_one_for_one;
    instance->ssa = ssa;
    forget_facts(frontend, instance);
    return true;
}

bool instance_share(Frontend *frontend, Instance *instance, const bool *shared)
{
    const SsaFunction *old = instance->ssa;
    Diag scratch = {0};
    SsaFunction *ssa = ssa_build(old->code, old->instructions, old->cfg, shared, frontend->arena, &scratch);
    diag_clear(&scratch);
    if (!ssa)
        return false;
    ssa->is_one_for_one = old->is_one_for_one;
    if (!frontend->request->exceptions)
        ssa_drop_exceptions(ssa, frontend->arena);
    dump_ssa(frontend, ssa);
    instance->ssa = ssa;
    forget_facts(frontend, instance);
    return true;
}

static Instance *instance_new(Frontend *frontend, Diag *diag, const CodeSnapshot *code, const Snapshot *snapshot,
                              const Operand *parameters, uint32_t count)
{
    SsaFunction *ssa = frontend_ssa(frontend, code, diag);
    if (!ssa)
        return NULL;
    Instance *instance = ARENA_NEW(frontend->arena, Instance);
    instance->code = code;
    instance->snapshot = snapshot;
    instance->ssa = ssa;
    instance->parameter_count = count;
    instance->parameters = arena_copy(frontend->arena, parameters, count * sizeof *parameters);
    forget_facts(frontend, instance);
    instance->is_unrollable = true;
    instance->name = symbol(frontend, code);
    frontend->instance_count++;
    return instance;
}

Instance *instance_get(Frontend *frontend, Diag *diag, const CodeSnapshot *code, const Snapshot *snapshot,
                       const Operand *parameters, uint32_t count, SourcePos raise_site)
{
    InstanceKey key = key_of(code, parameters, count, raise_site);
    Instance *first = table_get(frontend->instances, &key, sizeof key);
    for (Instance *instance = first; instance; instance = instance->next)
        if (matches(instance, snapshot, parameters, count, raise_site))
            return instance;
    SourcePos pos = {.function = &code->source, .line = code->source.first_line};
    if (frontend->depth > CALL_DEPTH_LIMIT || frontend->instance_count > INSTANCE_LIMIT) {
        diag_fail(diag, &pos, DIAG_CALL_DEPTH, CALL_DEPTH_LIMIT, code->source.name);
        return NULL;
    }
    Instance *instance = instance_new(frontend, diag, code, snapshot, parameters, count);
    if (!instance)
        return NULL;
    instance->raise_site = raise_site;
    instance->next = first;
    table_set(frontend->instances, &key, sizeof key, instance);
    return instance;
}

uint32_t kernel_rest(const Instance *instance)
{
    const CodeSnapshot *code = instance->code;
    return instance->is_kernel && code->has_varargs ? code->argument_count + code->keyword_only_count : NO_PARAMETER;
}

IrFunc *instance_declare(Frontend *frontend, Instance *instance)
{
    if (instance->ir)
        return instance->ir;
    uint32_t count = 0, given = instance->parameter_count;
    const CodeSnapshot *code = instance->code;
    uint32_t own = given - code->free_count, rest = kernel_rest(instance);
    uint32_t most = given + 2 + (rest != NO_PARAMETER ? instance->parameters[rest].type->count : 0);
    const Type **types = ARENA_ARRAY(frontend->arena, const Type *, most);
    const char **names = ARENA_ARRAY(frontend->arena, const char *, most);
    for (uint32_t i = 0; i < given; i++) {
        if (!instance->is_kernel && !operand_is_runtime(instance->parameters[i]))
            continue;
        if (instance->is_kernel && i >= own)
            continue;   /* captured values of a kernel are constants */
        const Type *items = instance->parameters[i].type;
        for (uint32_t k = 0; i == rest && k < items->count; k++) {
            types[count] = erased_type(frontend->arena, items->items[k]);
            names[count++] = arena_format(frontend->arena, "%s%u", code->local_names[i], k);
        }
        if (i == rest)
            continue;
        types[count] = erased_type(frontend->arena, instance->parameters[i].type);
        names[count++] = code->local_names[i < own ? i : code->local_count - code->free_count + (i - own)];
    }
    const Type *result = &type_none;
    if (operand_is_runtime(instance->result))
        result = erased_type(frontend->arena, instance->result.type);
    if (instance_borrows_memory(instance)) {
        types[count] = &type_memory;
        names[count++] = "memory";
    }
    if (instance->ssa->is_generator) {
        result = erased_type(frontend->arena, generator_step_type(frontend, instance));
        types[count] = erased_type(frontend->arena, generator_frame_type(frontend, instance));
        names[count++] = "frame";
    }
    assert(count <= most);
    IrFunc *ir =
        ir_function(frontend->module, instance->name, &code->source, instance->is_kernel, result, count, types, names);
    ir->is_recursive = instance->is_recursive;
    ir->site = instance->raise_site;
    ir->forceinline = instance->snapshot && instance->snapshot->forceinline;
    ir->forceinline |= instance->ssa->is_generator; /* so that the frame can become registers */
    if (instance->snapshot && instance->snapshot->assembly && instance->code == instance->snapshot->code) {
        ir->assembly = instance->snapshot->assembly;
        ir->assembly_is_pure = instance->snapshot->assembly_is_pure;
        ir->lacks_body = instance->snapshot->lacks_body;
        ir->forceinline = true;
    }
    instance->ir = ir;
    instance->next_pending = frontend->pending;
    frontend->pending = instance;
    return ir;
}
