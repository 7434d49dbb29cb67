/* The text of one stage of a compilation, made by compiling anew as far as that stage. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/thread/own_stack.h"
#include "frontend/frontend.h"
#include "jit/cache/cache.h"

bool jit_target_of_device(const RtDevice *device, Target *target, Diag *diag)
{
    if (rt_device_kind(device) == RT_CPU) {
        *target = (Target){.kind = TARGET_HOST};
        return true;
    }
    *target = (Target){.kind = TARGET_NVPTX, .gpu = target_gpu(rt_device_sm(device))};
    if (target->gpu)
        return true;
    char name[32], known[256] = "";
    snprintf(name, sizeof name, "sm_%d", rt_device_sm(device));
    for (int i = 0; i < target_gpu_count; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", target_gpus[i].name);
    return diag_fail(diag, NULL, DIAG_TARGET_UNKNOWN, name, known);
}

/* Takes the text out of a buffer, in memory also where it is empty. */
static char *take_text(Buf *text)
{
    char *taken = text->text ? text->text : memory_copy_text("");
    *text = (Buf){0};
    return taken;
}

/* The LLVM IR of a module for whoever is to read it, or else its code. */
static char *generated_text(IrModule *module, const Target *target, const CompileOptions *options, LlvmText wanted,
                            Diag *diag)
{
    if (!codegen_run_passes(module, target, options, NULL, diag))
        return NULL;
    if (!wanted && target->kind == TARGET_HOST)
        return codegen_host_assembly(module, options, diag);
    KernelImage image = {0};
    char *text = NULL;
    if (codegen_compile(module, target, options, wanted, false, &image, diag)) {
        char **taken = wanted ? &image.llvm : &image.code;
        text = *taken;
        *taken = NULL;
    }
    kernel_image_free(&image);
    return text;
}

/* The object file that the CPU device makes runnable, of *size bytes. */
static char *object_bytes(IrModule *module, const Target *target, const CompileOptions *options, size_t *size,
                          Diag *diag)
{
    KernelImage image = {0};
    char *bytes = NULL;
    if (codegen_run_passes(module, target, options, NULL, diag) &&
        codegen_compile(module, target, options, LLVM_NO_TEXT, false, &image, diag)) {
        bytes = image.code;
        *size = image.code_size;
        image.code = NULL;
    }
    kernel_image_free(&image);
    return bytes;
}

typedef struct PassText {
    const char *pass;
    Buf text;
} PassText;

static void keep_pass(void *user, const char *pass, const IrModule *module)
{
    PassText *wanted = user;
    if (strcmp(pass, wanted->pass) == 0)
        ir_print(&wanted->text, module, true);
}

/* What a pass left of a module; empty where it did not run. */
static char *pass_text(IrModule *module, const Target *target, const CompileOptions *options, const char *pass,
                       Diag *diag)
{
    PassText wanted = {.pass = pass};
    PassWatch watch = {keep_pass, &wanted};
    char *text = codegen_run_passes(module, target, options, &watch, diag) ? take_text(&wanted.text) : NULL;
    buf_free(&wanted.text);
    return text;
}

/* --- stages --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    JitStage stage;
} stages[] = {{"bytecode", JIT_STAGE_FRONTEND}, {"cfg", JIT_STAGE_FRONTEND},   {"ssa", JIT_STAGE_FRONTEND},
              {"ir", JIT_STAGE_FRONTEND},       {"types", JIT_STAGE_FRONTEND}, {"checks", JIT_STAGE_TARGET},
              {"llvm", JIT_STAGE_TARGET},       {"asm", JIT_STAGE_TARGET},     {"widenings", JIT_STAGE_FRONTEND},
              {"warnings", JIT_STAGE_FRONTEND}, {"nvvm", JIT_STAGE_TARGET},    {"object", JIT_STAGE_HOST}};

enum { STAGE_COUNT = sizeof stages / sizeof *stages };

JitStage jit_stage(const char *name)
{
    const char *pass;
    TargetKind target;
    for (int i = 0; i < STAGE_COUNT; i++)
        if (strcmp(name, stages[i].name) == 0)
            return stages[i].stage;
    for (uint32_t i = 0; (pass = codegen_pass_name(i, &target)); i++)
        if (strcmp(name, pass) == 0)
            return target == TARGET_HOST ? JIT_STAGE_HOST : JIT_STAGE_TARGET;
    return JIT_STAGE_UNKNOWN;
}

void jit_list_stages(Buf *out)
{
    const char *pass;
    TargetKind target;
    for (int i = 0; i < STAGE_COUNT; i++)
        buf_printf(out, "%s%s", i ? ", " : "", stages[i].name);
    for (uint32_t i = 0; (pass = codegen_pass_name(i, &target)); i++)
        buf_printf(out, ", %s", pass);
}

/* *size: of what is no text. */
static char *target_text(IrModule *module, const Target *target, const CompileOptions *options, bool any_launch,
                         const char *what, size_t *size, Diag *diag)
{
    static const LaunchTests none;
    LaunchPlan plan;
    LlvmText wanted = strcmp(what, "llvm") == 0   ? LLVM_TEXT
                      : strcmp(what, "nvvm") == 0 ? LLVM_TEXT_FOR_NVVM
                                                  : LLVM_NO_TEXT;
    if (!ir_verify(module, diag))
        return NULL;
    codegen_add_checks(module, target, options, &none, any_launch ? NULL : &plan);
    if (strcmp(what, "checks") == 0) {
        Buf text = {0};
        ir_print(&text, module, true);
        return take_text(&text);
    }
    if (wanted == LLVM_TEXT_FOR_NVVM && target->kind != TARGET_NVPTX)
        return diag_fail(diag, NULL, DIAG_GPU_ONLY, "what libNVVM reads"), NULL;
    if (strcmp(what, "object") == 0)
        return object_bytes(module, target, options, size, diag);
    return wanted || strcmp(what, "asm") == 0 ? generated_text(module, target, options, wanted, diag)
                                              : pass_text(module, target, options, what, diag);
}

static char *inspect(const JitFunction *function, const Type *const *types, uint32_t count, const Target *target,
                     bool is_kernel, bool any_launch, const char *what, const ForeignExport *exported, size_t *size,
                     Diag *diag)
{
    Buf text = {0};
    char *result = NULL;
    Arena *arena = arena_create();
    FrontendRequest request = {.function = function->snapshot,
                               .argument_count = count,
                               .argument_types = types,
                               .is_kernel = is_kernel,
                               .weak_literals = function->options.literals == LITERALS_WEAK,
                               .weak_ints = function->options.ints == LITERALS_WEAK,
                               .exceptions = function->options.exceptions,
                               .checks = checks_of(&function->options, target->kind),
                               .watchers = is_kernel && target->kind == TARGET_NVPTX,
                               .lines = target->kind == TARGET_HOST && function->options.observe > OBSERVE_NOTHING,
                               .implementations = jit_implementations(function)};
    if (strcmp(what, "bytecode") == 0)
        request.dump_bytecode = &text;
    else if (strcmp(what, "cfg") == 0)
        request.dump_cfg = &text;
    else if (strcmp(what, "ssa") == 0)
        request.dump_ssa = &text;
    else if (strcmp(what, "types") == 0)
        request.annotated = &text;
    else if (strcmp(what, "widenings") == 0) {
        request.widenings = &text;
        request.integer_widenings = true;
    } else if (strcmp(what, "warnings") == 0)
        request.warnings = &text;
    IrModule *module = frontend_lower(&request, arena, diag);
    if (!module)
        goto out;
    module->exported = exported;
    if (jit_stage(what) != JIT_STAGE_FRONTEND) {
        result = target_text(module, target, &function->options, any_launch, what, size, diag);
        goto out;
    }
    if (strcmp(what, "ir") == 0)
        ir_print(&text, module, true);
    result = take_text(&text);
out:
    buf_free(&text);
    arena_destroy(arena);
    return result;
}

/* The type without what the compilation alone knows: tuples, named tuples and instances of what outlives it; members of
 * enums of numbers are numbers. NULL for others, such as functions and texts. */
static const Type *lasting_type(Arena *arena, const Type *type)
{
    if (type->kind != TYPE_TUPLE || type_is_vector(type))
        return type->kind == TYPE_OBJECT ? NULL : type;
    if (type_is_tagged(type, TUPLE_INT_ENUM))
        return lasting_type(arena, type->items[0]);
    if (!type_is_plain_tuple(type) && !type_is_tagged(type, TUPLE_INSTANCE))
        return NULL;
    const Type **items = ARENA_ARRAY(arena, const Type *, type->count);
    for (uint32_t i = 0; i < type->count; i++) {
        items[i] = lasting_type(arena, type->items[i]);
        if (!items[i])
            return NULL;
    }
    Type *made = (Type *)type_with_items(arena, type, items);
    if (type_is_tagged(type, TUPLE_NAMED))
        made->object = NULL;
    return made;
}

static const Type *refuse_result(const JitFunction *function, const Type *type, Diag *diag)
{
    const SourceFunction *source = &function->snapshot->code->source;
    const SourcePos pos = {.function = source, .line = source->first_line, .end_line = source->first_line};
    const char *hint = type_is_optional(type) ? "; some of its paths return None" : "";
    Buf text = {0};
    type_describe(&text, type);
    diag_fail(diag, &pos, DIAG_RESULT_TYPE, buf_text(&text), hint);
    buf_free(&text);
    return NULL;
}

static const Type *result_type(const JitFunction *function, const Type *const *types, uint32_t count, bool is_stored,
                               Arena *arena, Diag *diag)
{
    Arena *scratch = arena_create();
    const Type *inferred = NULL;
    FrontendRequest request = {.function = function->snapshot,
                               .argument_count = count,
                               .argument_types = types,
                               .weak_literals = function->options.literals == LITERALS_WEAK,
                               .weak_ints = function->options.ints == LITERALS_WEAK,
                               .implementations = jit_implementations(function),
                               .inferred = &inferred};
    IrModule *module = frontend_lower(&request, scratch, diag);
    const Type *lasting = module ? lasting_type(scratch, inferred) : NULL;
    if (module && !lasting && is_stored)
        lasting = refuse_result(function, inferred, diag);
    else if (module && !lasting)
        lasting = module->first->result;
    const Type *result = lasting ? type_copy(arena, lasting) : NULL;
    arena_destroy(scratch);
    return result;
}

static char *compile_ir(const char *text, const Target *target, Diag *diag)
{
    Arena *arena = arena_create();
    char *result = NULL;
    IrModule *module = ir_parse(text, arena, diag);
    if (module && ir_verify(module, diag)) {
        result = generated_text(module, target, &default_options, LLVM_NO_TEXT, diag);
    }
    arena_destroy(arena);
    return result;
}

/* --- with enough stack, in a guard ------------------------------------------------------------------------------------------------ */

typedef struct Inspection {
    const JitFunction *function;
    const Type *const *types;
    uint32_t count;
    const Target *target;
    bool is_kernel, any_launch, is_stored;
    const char *what; /* or the text of IR */
    const ForeignExport *exported;
    Arena *arena;
    Diag *diag;
    char *text;
    size_t size; /* of an object file */
    const Type *type;
} Inspection;

static bool guarded_inspect(void *argument)
{
    Inspection *work = argument;
    work->text = inspect(work->function, work->types, work->count, work->target, work->is_kernel, work->any_launch,
                         work->what, work->exported, &work->size, work->diag);
    return work->text != NULL;
}

static void run_inspect(void *work) { memory_guard(guarded_inspect, work, ((Inspection *)work)->diag); }

char *jit_inspect(const JitFunction *function, const Type *const *types, uint32_t count, const Target *target,
                  bool is_kernel, bool any_launch, const char *what, const ForeignExport *exported, size_t *size,
                  Diag *diag)
{
    Inspection work = {.function = function,
                       .types = types,
                       .count = count,
                       .target = target,
                       .is_kernel = is_kernel,
                       .any_launch = any_launch,
                       .what = what,
                       .exported = exported,
                       .diag = diag};
    char *text = with_stack(STACK_FOR_NESTING, run_inspect, &work, diag) ? work.text : NULL;
    *size = text && !work.size ? strlen(text) : work.size;
    return text;
}

static bool guarded_result_type(void *argument)
{
    Inspection *work = argument;
    work->type = result_type(work->function, work->types, work->count, work->is_stored, work->arena, work->diag);
    return work->type != NULL;
}

static void run_result_type(void *work) { memory_guard(guarded_result_type, work, ((Inspection *)work)->diag); }

const Type *jit_result_type(const JitFunction *function, const Type *const *types, uint32_t count, bool is_stored,
                            Arena *arena, Diag *diag)
{
    Inspection work = {
        .function = function, .types = types, .count = count, .is_stored = is_stored, .arena = arena, .diag = diag};
    return with_stack(STACK_FOR_NESTING, run_result_type, &work, diag) ? work.type : NULL;
}

static bool guarded_compile_ir(void *argument)
{
    Inspection *work = argument;
    work->text = compile_ir(work->what, work->target, work->diag);
    return work->text != NULL;
}

static void run_compile_ir(void *work) { memory_guard(guarded_compile_ir, work, ((Inspection *)work)->diag); }

char *jit_compile_ir(const char *text, const Target *target, Diag *diag)
{
    Inspection work = {.what = text, .target = target, .diag = diag};
    return with_stack(STACK_FOR_NESTING, run_compile_ir, &work, diag) ? work.text : NULL;
}

const char *jit_host_cpu(void) { return codegen_host_cpu(); }

const char *jit_llvm_version(void) { return codegen_llvm_version(); }
