/* The stages in order, and the disk cache in front of them. */
#include "jit/compile.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/own_stack.h"
#include "frontend/frontend.h"
#include "jit/cache_key.h"
#include "jit/disk_cache.h"
#include "jit/exception_table.h"
#include "jit/dump.h"

static IrModule *lower(const JitFunction *function, const JitSpecialization *specialization, Arena *arena, Diag *diag)
{
    Buf bytecode = {0}, cfg = {0};
    FrontendRequest request = {
        .function = function->snapshot,
        .argument_count = specialization->count,
        .argument_types = specialization->types,
        .is_kernel = true,
        .weak_literals = function->options.literals == LITERALS_WEAK,
        .exceptions = function->options.exceptions,
        .dump_bytecode = jit_dump_wants("bytecode") ? &bytecode : NULL,
        .dump_cfg = jit_dump_wants("cfg") ? &cfg : NULL,
    };
    IrModule *module = frontend_lower(&request, arena, diag);
    jit_dump_text("bytecode", function->snapshot, buf_text(&bytecode));
    jit_dump_text("cfg", function->snapshot, buf_text(&cfg));
    buf_free(&bytecode);
    buf_free(&cfg);
    return module;
}

static void dump_ir(const JitFunction *function, const char *stage, const IrModule *module)
{
    if (!jit_dump_wants(stage))
        return;
    Buf text = {0};
    ir_print(&text, module, true);
    jit_dump_text(stage, function->snapshot, buf_text(&text));
    buf_free(&text);
}

static void dump_pass(void *function, const char *pass, const IrModule *module) { dump_ir(function, pass, module); }

static const bool *written_parameters(const IrModule *module, JitSpecialization *specialization)
{
    bool *written = ARENA_ARRAY(specialization->arena, bool, specialization->count);
    ir_written_parameters(module, written);
    return written;
}

/* What a launch knows of the kernel's exceptions. */
static void describe(const JitFunction *function, const IrModule *module, JitSpecialization *specialization)
{
    bool reports = module->first->reports;
    specialization->waits = function->options.debug && reports;
    if (reports)
        specialization->abi =
            kernel_abi_layout(specialization->types, specialization->count, true, specialization->arena);
    jit_keep_exceptions(module, specialization);
}

static bool load(const CompileOptions *options, const CodeImage *image, JitSpecialization *specialization, Diag *diag)
{
    RtImage loaded = {.name = image->entry,
                      .code = image->code,
                      .code_size = image->code_size,
                      .max_registers = options->max_registers,
                      .max_threads = options->launch_bounds.threads,
                      .carveout = options->shared_memory_carveout,
                      .static_shared = image->static_shared,
                      .cooperative = image->effects & EFFECT_GRID_SYNC,
                      .starts_early = image->effects & EFFECT_GRID_DEPENDENCY,
                      .local_size = image->local_size,
                      .context_size = image->context_size};
    if (image->kind == TARGET_HOST) {
        HostCode *host = specialization->host_code = codegen_link_host(image, diag);
        if (!host)
            return false;
        loaded.thread_entry = codegen_host_thread_entry(host);
        loaded.blocks_entry = codegen_host_blocks_entry(host);
        loaded.by_warps = image->effects & EFFECT_WARP_SYNC;
        loaded.by_clusters = image->effects & EFFECT_CLUSTER;
    }
    specialization->prints = image->effects & EFFECT_PRINTS;
    specialization->kernel = rt_kernel_load(specialization->device, &loaded, diag);
    return specialization->kernel != NULL;
}

/* --- the disk cache ----------------------------------------------------------------------------------------------------- */
static bool wants_dump(void)
{
    const char *pass;
    TargetKind target;
    for (const char *const *stage = jit_dump_stages; *stage; stage++)
        if (jit_dump_wants(*stage))
            return true;
    for (uint32_t i = 0; (pass = codegen_pass_name(i, &target)); i++)
        if (jit_dump_wants(pass))
            return true;
    return false;
}

/* Classes of exceptions are objects of this process: the frontend finds them again, in the order of their numbers. */
static bool restore_exceptions(const JitFunction *function, JitSpecialization *specialization)
{
    if (!function->options.exceptions)
        return true;
    Arena *arena = arena_create();
    Diag ignored = {.id = DIAG_NONE};
    const IrModule *module = lower(function, specialization, arena, &ignored);
    if (module)
        describe(function, module, specialization);
    arena_destroy(arena);
    return module != NULL;
}

/* What is on disk is only an optimization: whatever is wrong with it, the kernel is compiled. */
static bool load_cached(const JitFunction *function, const Hash *key, JitSpecialization *specialization)
{
    CachedKernel cached = {0};
    Diag ignored = {.id = DIAG_NONE};
    bool ok = disk_cache_load(key, &cached) && cached.parameter_count == specialization->count &&
              restore_exceptions(function, specialization) &&
              load(&function->options, &cached.image, specialization, &ignored);
    if (ok) {
        bool *written = ARENA_ARRAY(specialization->arena, bool, cached.parameter_count);
        for (uint32_t i = 0; i < cached.parameter_count; i++)
            written[i] = cached.written[i];
        specialization->written = written;
        specialization->from_disk = true;
    } else if (specialization->host_code) {
        codegen_unlink_host(specialization->host_code);
        specialization->host_code = NULL;
    }
    cached_kernel_free(&cached);
    return ok;
}

static void keep(const Hash *key, CodeImage *image, const JitSpecialization *specialization)
{
    CachedKernel kept = {
        .image = *image, .parameter_count = specialization->count, .written = (bool *)specialization->written};
    disk_cache_store(key, &kept);
}

/* --- the stages ----------------------------------------------------------------------------------------------------------- */
static bool generate(const JitFunction *function, const Target *target, JitSpecialization *specialization,
                     CodeImage *image, Arena *arena, Diag *diag)
{
    IrModule *module = lower(function, specialization, arena, diag);
    if (!module || !ir_verify(module, diag))
        return false;
    dump_ir(function, "ir", module);
    specialization->written = written_parameters(module, specialization);
    describe(function, module, specialization);
    PassWatch watch = {dump_pass, (void *)function};
    if (!codegen_run_passes(module, target, &function->options, &watch, diag) ||
        !codegen_compile(module, target, &function->options, jit_dump_wants("llvm"), image, diag))
        return false;
    jit_dump_text("llvm", function->snapshot, image->llvm);
    if (image->kind == TARGET_NVPTX && jit_dump_wants("ptx"))
        jit_dump_text("ptx", function->snapshot, image->code);
    return true;
}

static bool compile(const JitFunction *function, JitSpecialization *specialization, Diag *diag)
{
    CodeImage image = {0};
    Target target;
    Hash key;
    if (!jit_target_of_device(specialization->device, &target, diag))
        return false;
    bool is_cached = disk_cache_is_on() && !wants_dump() && jit_cache_key(function, specialization, &target, &key);
    if (is_cached && load_cached(function, &key, specialization))
        return true;
    Arena *arena = arena_create();
    bool ok = generate(function, &target, specialization, &image, arena, diag);
    ok = ok && load(&function->options, &image, specialization, diag);
    if (ok && is_cached)
        keep(&key, &image, specialization);
    code_image_free(&image);
    arena_destroy(arena);
    return ok;
}

typedef struct Compilation {
    const JitFunction *function;
    JitSpecialization *specialization;
    Diag *diag;
    bool ok;
} Compilation;

static void run_compilation(void *argument)
{
    Compilation *work = argument;
    work->ok = compile(work->function, work->specialization, work->diag);
}

bool jit_compile(const JitFunction *function, JitSpecialization *specialization, Diag *diag)
{
    Compilation work = {function, specialization, diag, false};
    return with_stack(STACK_FOR_NESTING, run_compilation, &work, diag) && work.ok;
}
