/* The stages in order. */
#include "jit/compile.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "frontend/frontend.h"
#include "jit/exception_table.h"
#include "jit/dump.h"

static IrModule *lower(const JitFunction *function, const JitSpecialization *specialization,
                       const Implementation **used, Buf *warnings, Arena *arena, Diag *diag)
{
    bool is_host = rt_device_kind(specialization->device) == RT_CPU;
    Buf bytecode = {0}, cfg = {0}, ssa = {0};
    FrontendRequest request = {
        .function = function->snapshot,
        .argument_count = specialization->count,
        .argument_types = specialization->types,
        .is_kernel = true,
        .weak_literals = function->options.literals == LITERALS_WEAK,
        .weak_ints = function->options.ints == LITERALS_WEAK,
        .exceptions = function->options.exceptions,
        .checks = checks_of(&function->options, is_host ? TARGET_HOST : TARGET_NVPTX),
        .watchers = !is_host,
        .lines = is_host && function->options.observe > OBSERVE_NOTHING,
        .implementations = jit_implementations(function),
        .used = used,
        .warnings = warnings,
        .dump_bytecode = jit_dump_wants("bytecode") ? &bytecode : NULL,
        .dump_cfg = jit_dump_wants("cfg") ? &cfg : NULL,
        .dump_ssa = jit_dump_wants("ssa") ? &ssa : NULL,
    };
    IrModule *module = frontend_lower(&request, arena, diag);
    jit_dump_text("bytecode", function->snapshot, buf_text(&bytecode));
    jit_dump_text("cfg", function->snapshot, buf_text(&cfg));
    jit_dump_text("ssa", function->snapshot, buf_text(&ssa));
    buf_free(&bytecode);
    buf_free(&cfg);
    buf_free(&ssa);
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

/* What a launch knows of the kernel's exceptions. */
static void describe(const JitFunction *function, const IrModule *module, JitSpecialization *specialization)
{
    bool reports = module->first->reports;
    uint32_t count = specialization->count;
    const Type **types = ARENA_ARRAY(specialization->arena, const Type *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        types[i] = specialization->types[i];
    types[count] = &type_words;
    specialization->has_state = module->has_state;
    specialization->granule = module->granule;
    specialization->has_meetings = module->has_meetings;
    specialization->has_grid_meetings = module->has_grid_meetings;
    specialization->has_bits = module->has_bits;
    specialization->has_far_shared = module->has_far_shared;
    specialization->waits = (function->options.debug && reports) || module->first_watcher; /* or a variant of it does */
    specialization->abi = kernel_abi_layout(types, count + module->has_state, reports, specialization->arena);
    jit_keep_exceptions(module, specialization);
}

/* Whether one kernel has to do for all launches: somebody is told of every one that this is linked with, or it counts what
 * it does. */
static bool is_one_kernel(const JitFunction *function, const IrModule *module)
{
    bool is_watched = function->options.observe > OBSERVE_NOTHING;
    for (uint32_t i = 0; i < module->link_count; i++)
        is_watched |= module->links[i]->watcher != NULL;
    return is_watched;
}

static void *copy_bytes(const void *bytes, size_t size)
{
    void *copy = memory_alloc(size + 1);
    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

/* The plan that launches of the code have to pass; that of a variant is its specialization's. */
static LaunchPlan add_checks(const JitFunction *function, const Target *target, IrModule *module,
                             const JitSpecialization *specialization)
{
    static const LaunchTests none;
    LaunchPlan plan = {0};
    const LaunchTests *failed = specialization->failed;
    codegen_add_checks(module, target, &function->options, failed ? failed : &none,
                       is_one_kernel(function, module) ? NULL : &plan);
    return failed ? (LaunchPlan){0} : plan;
}

static void keep_plan(const LaunchPlan *plan, KernelImage *image)
{
    image->nodes = copy_bytes(plan->nodes, plan->node_count * sizeof *plan->nodes);
    image->node_count = plan->node_count;
    image->tests = copy_bytes(plan->tests, plan->test_count * sizeof *plan->tests);
    image->test_count = plan->test_count;
}

/* --- the stages ----------------------------------------------------------------------------------------------------------- */
static bool generate(const JitFunction *function, const Target *target, IrModule *module, bool is_quick,
                     KernelImage *image, Diag *diag)
{
    PassWatch watch = {dump_pass, (void *)function};
    if (!codegen_run_passes(module, target, &function->options, &watch, diag) ||
        !codegen_compile(module, target, &function->options, jit_dump_wants("llvm") ? LLVM_TEXT : LLVM_NO_TEXT,
                         is_quick, image, diag))
        return false;
    jit_dump_text("llvm", function->snapshot, image->llvm);
    if (image->kind == TARGET_NVPTX && jit_dump_wants("ptx"))
        jit_dump_text("ptx", function->snapshot, image->code);
    return true;
}

/* The PTX becomes machine code of all that the kernel is linked with. On the CPU device that is done where it is loaded. */
static bool link(const JitFunction *function, const JitSpecialization *specialization, KernelImage *image, Diag *diag)
{
    const LinkItem kernel = {.kind = LINK_PTX, .name = image->name, .data = image->code, .size = image->code_size};
    const LinkItem **items = ARENA_ARRAY(specialization->arena, const LinkItem *, specialization->link_count + 1);
    items[0] = &kernel;
    for (uint32_t i = 0; i < specialization->link_count; i++)
        items[i + 1] = specialization->links[i];
    RtLinking linking = {.items = items,
                         .count = specialization->link_count + 1,
                         .device = specialization->device,
                         .sm = rt_device_sm(specialization->device),
                         .max_registers = image->max_registers,
                         .lineinfo = function->options.lineinfo,
                         .debug = function->options.debug};
    RtCode code;
    if (!rt_link(&linking, &code, diag))
        return false;
    memory_free(image->code);
    image->code = code.bytes;
    image->code_size = code.size;
    code.bytes = NULL;
    rt_code_free(&code);
    return true;
}

static void observe(const KernelImage *image, JitSpecialization *specialization)
{
    specialization->observation =
        (JitObservation){.kind = image->observation,
                         .text = arena_copy(specialization->arena, image->observed, image->observed_size),
                         .text_size = image->observed_size,
                         .lines = codegen_host_lines(specialization->host_code),
                         .line_cells = image->line_cells,
                         .sites = codegen_host_sites(specialization->host_code),
                         .site_count = image->site_count};
}

static bool load(KernelImage *image, JitSpecialization *specialization, Diag *diag)
{
    if (image->kind == TARGET_HOST) {
        HostCode *host = specialization->host_code =
            codegen_link_host(image, specialization->links, specialization->link_count, diag);
        if (!host)
            return false;
        image->thread_entry = codegen_host_thread_entry(host);
        image->blocks_entry = codegen_host_blocks_entry(host);
        observe(image, specialization);
        image->text = codegen_host_text(host, &image->text_size);
    }
    bool *written = ARENA_ARRAY(specialization->arena, bool, specialization->count);
    for (uint32_t i = 0; i < specialization->count; i++)
        written[i] = image->written[i];
    specialization->written = written;
    specialization->plan =
        (LaunchPlan){.nodes = arena_copy(specialization->arena, image->nodes, image->node_count * sizeof *image->nodes),
                     .tests = arena_copy(specialization->arena, image->tests, image->test_count * sizeof *image->tests),
                     .node_count = (uint32_t)image->node_count,
                     .test_count = (uint32_t)image->test_count};
    specialization->value_tests = 0; /* of an image before that could not be loaded */
    for (size_t i = 0; i < image->passed_count; i++)
        specialization->value_tests += image->passed[i] != PASSED_BY_POINTER;
    if (image->passed_count)
        specialization->abi =
            kernel_abi_with_values(specialization->types, specialization->count, image->passed,
                                   (uint32_t)image->passed_count, image->reports, specialization->arena);
    specialization->prints = image->effects & EFFECT_PRINTS;
    specialization->checks_init = image->checks & CHECK_INIT;
    specialization->warnings = arena_format(specialization->arena, "%s", image->warnings);
    specialization->kernel = rt_kernel_load(specialization->device, image, diag);
    return specialization->kernel != NULL;
}

/* Adds the time since *from, and begins anew. */
static void count_time(JitSpecialization *specialization, JitStep step, int64_t *from)
{
    int64_t now = clock_nanoseconds();
    specialization->times[step] += now - *from;
    *from = now;
}

bool jit_load(KernelImage *image, JitSpecialization *specialization, Diag *diag)
{
    int64_t from = clock_nanoseconds();
    bool ok = load(image, specialization, diag);
    count_time(specialization, JIT_STEP_load, &from);
    return ok;
}

/* Not of code whose state counts what it does, nor of code that others know by its address. */
static bool may_be_replaced(const JitFunction *function, const IrModule *module,
                            const JitSpecialization *specialization)
{
    return !module->link_count && !module->has_notes && !module->has_state && !specialization->waits &&
           function->options.observe <= OBSERVE_NOTHING;
}

bool jit_compile(const JitFunction *function, const Target *target, JitSpecialization *specialization, bool is_quick,
                 KernelImage *image, Diag *diag)
{
    Arena *arena = arena_create();
    Buf warnings = {0};
    int64_t from = clock_nanoseconds();
    IrModule *module = lower(function, specialization, NULL, &warnings, arena, diag);
    bool ok = module && ir_verify(module, diag);
    count_time(specialization, JIT_STEP_frontend, &from);
    if (ok) {
        dump_ir(function, "ir", module);
        LaunchPlan plan = add_checks(function, target, module, specialization);
        bool reports = module->first->reports;
        dump_ir(function, "checks", module);
        describe(function, module, specialization);
        bool *written = memory_alloc(module->first->parameter_count + specialization->count);
        ir_written_parameters(module, written); /* as the program has it: passes may hide it */
        specialization->link_count = module->link_count;
        specialization->links =
            arena_copy(specialization->arena, module->links, module->link_count * sizeof *module->links);
        is_quick &= may_be_replaced(function, module, specialization);
        ok = generate(function, target, module, is_quick, image, diag);
        count_time(specialization, JIT_STEP_codegen, &from);
        if (ok && module->link_count && target->kind == TARGET_NVPTX)
            ok = link(function, specialization, image, diag);
        count_time(specialization, JIT_STEP_link, &from);
        image->written = written;
        image->reports = reports;
        image->has_notes = module->has_notes;
        image->has_state = module->has_state;
        image->waits = specialization->waits;
        keep_plan(&plan, image);
        image->passed_count = module->first->passed ? specialization->count : 0;
        image->passed = copy_bytes(module->first->passed, image->passed_count);
        image->parameter_count = specialization->count;
        image->warnings_size = warnings.length;
        image->warnings = memory_copy_text(buf_text(&warnings));
    }
    buf_free(&warnings);
    arena_destroy(arena);
    return ok && jit_load(image, specialization, diag);
}

bool jit_restore_exceptions(const JitFunction *function, const KernelImage *image, JitSpecialization *specialization)
{
    Target target;
    Diag ignored = {.id = DIAG_NONE};
    specialization->waits = image->waits;
    if (!image->reports && !image->has_notes && !image->has_state)
        return true;
    if (!jit_target_of_device(specialization->device, &target, &ignored))
        return false;
    Arena *arena = arena_create();
    IrModule *module = lower(function, specialization, NULL, NULL, arena, &ignored);
    if (module) {
        add_checks(function, &target, module, specialization);
        describe(function, module, specialization);
    }
    arena_destroy(arena);
    return module != NULL;
}

const Implementation *jit_used_implementations(const JitFunction *function, const JitSpecialization *specialization,
                                               Arena *arena)
{
    const Implementation *used = NULL;
    Diag ignored = {.id = DIAG_NONE};
    if (jit_implementations(function))
        lower(function, specialization, &used, NULL, arena, &ignored);
    return used;
}
