/* The stages in order; nothing else. */
#include "jit/compile.h"

#include <string.h>

#include "frontend/frontend.h"
#include "jit/dump.h"

static IrModule *lower(const JitFunction *function, const JitSpecialization *specialization, Arena *arena, Diag *diag)
{
    Buf bytecode = {0}, cfg = {0};
    FrontendRequest request = {
        .function = function->snapshot,
        .argument_count = specialization->count,
        .argument_types = specialization->types,
        .is_kernel = true,
        .weak_literals = function->options.weak_literals,
        .dump_bytecode = jit_dump_wants(DUMP_BYTECODE) ? &bytecode : NULL,
        .dump_cfg = jit_dump_wants(DUMP_CFG) ? &cfg : NULL,
    };
    IrModule *module = frontend_lower(&request, arena, diag);
    jit_dump_text(DUMP_BYTECODE, function->snapshot, buf_text(&bytecode));
    jit_dump_text(DUMP_CFG, function->snapshot, buf_text(&cfg));
    buf_free(&bytecode);
    buf_free(&cfg);
    return module;
}

static void dump_ir(const JitFunction *function, const IrModule *module)
{
    if (!jit_dump_wants(DUMP_IR))
        return;
    Buf text = {0};
    ir_print(&text, module, true);
    jit_dump_text(DUMP_IR, function->snapshot, buf_text(&text));
    buf_free(&text);
}

static const bool *written_parameters(const IrModule *module, JitSpecialization *specialization)
{
    bool *written = ARENA_ARRAY(specialization->arena, bool, specialization->count);
    ir_written_parameters(module, written);
    return written;
}

static bool load(const CompileOptions *options, const CodeImage *image, JitSpecialization *specialization, Diag *diag)
{
    RtImage loaded = {.name = image->entry,
                      .code = image->code,
                      .code_size = image->code_size,
                      .max_registers = options->max_registers,
                      .max_threads = options->max_threads,
                      .static_shared = image->static_shared,
                      .cooperative = image->effects & EFFECT_GRID_SYNC,
                      .local_size = image->local_size};
    if (image->kind == TARGET_HOST) {
        HostCode *host = specialization->host_code = codegen_link_host(image, diag);
        if (!host)
            return false;
        loaded.thread_entry = codegen_host_thread_entry(host);
        loaded.blocks_entry = codegen_host_blocks_entry(host);
        loaded.by_warps = image->effects & EFFECT_WARP_SYNC;
    }
    specialization->kernel = rt_kernel_load(specialization->device, &loaded, diag);
    return specialization->kernel != NULL;
}

bool jit_compile(const JitFunction *function, JitSpecialization *specialization, Diag *diag)
{
    bool ok = false;
    Arena *arena = arena_create();
    CodeImage image = {0};
    Target target;
    if (!jit_target_of_device(specialization->device, &target, diag))
        goto out;
    IrModule *module = lower(function, specialization, arena, diag);
    if (!module || !ir_verify(module, diag))
        goto out;
    dump_ir(function, module);
    specialization->written = written_parameters(module, specialization);
    if (!codegen_compile(module, &target, &function->options, jit_dump_wants(DUMP_LLVM), &image, diag))
        goto out;
    jit_dump_text(DUMP_LLVM, function->snapshot, image.llvm);
    if (image.kind == TARGET_NVPTX && jit_dump_wants(DUMP_PTX))
        jit_dump_text(DUMP_PTX, function->snapshot, image.code);
    ok = load(&function->options, &image, specialization, diag);
out:
    code_image_free(&image);
    arena_destroy(arena);
    return ok;
}
