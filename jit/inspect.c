/* The text of one stage of a compilation, made by compiling anew as far as that stage. */
#include <stdlib.h>
#include <string.h>

#include "frontend/frontend.h"
#include "jit/cache.h"

bool jit_target_of_device(const RtDevice *device, Target *target, Diag *diag)
{
    if (rt_device_kind(device) == RT_CPU) {
        *target = (Target){.kind = TARGET_HOST};
        return true;
    }
    *target = (Target){.kind = TARGET_NVPTX, .gpu = target_gpu(rt_device_sm(device))};
    if (target->gpu)
        return true;
    Buf known = {0}, name = {0};
    for (int i = 0; i < target_gpu_count; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", target_gpus[i].name);
    buf_printf(&name, "sm_%d", rt_device_sm(device));
    diag_fail(diag, NULL, DIAG_TARGET_UNKNOWN, buf_text(&name), buf_text(&known));
    buf_free(&known);
    buf_free(&name);
    return false;
}

/* Takes the text out of a buffer, malloc'd also where it is empty. */
static char *take_text(Buf *text)
{
    char *taken = text->text ? text->text : strdup("");
    *text = (Buf){0};
    return taken;
}

/* "llvm" or "asm" of a module. */
static char *generated_text(const IrModule *module, const Target *target, const CompileOptions *options, bool want_llvm,
                            Diag *diag)
{
    if (!want_llvm && target->kind == TARGET_HOST)
        return codegen_host_assembly(module, options, diag);
    CodeImage image = {0};
    char *text = NULL;
    if (codegen_compile(module, target, options, want_llvm, &image, diag)) {
        char **taken = want_llvm ? &image.llvm : &image.code;
        text = *taken;
        *taken = NULL;
    }
    code_image_free(&image);
    return text;
}

char *jit_inspect(const JitFunction *function, const Type *const *types, uint32_t count, const Target *target,
                  bool is_kernel, const char *what, Diag *diag)
{
    Buf text = {0};
    char *result = NULL;
    Arena *arena = arena_create();
    FrontendRequest request = {.function = function->snapshot,
                               .argument_count = count,
                               .argument_types = types,
                               .is_kernel = is_kernel,
                               .weak_literals = function->options.weak_literals,
                               .exceptions = function->options.exceptions};
    if (strcmp(what, "bytecode") == 0)
        request.dump_bytecode = &text;
    else if (strcmp(what, "cfg") == 0)
        request.dump_cfg = &text;
    else if (strcmp(what, "types") == 0)
        request.annotated = &text;
    else if (strcmp(what, "widenings") == 0)
        request.widenings = &text;
    bool wants_frontend = request.dump_bytecode || request.dump_cfg || request.annotated || request.widenings;
    IrModule *module = frontend_lower(&request, arena, diag);
    if (!module)
        goto out;
    if (!wants_frontend && strcmp(what, "ir") == 0)
        ir_print(&text, module, true);
    else if (!wants_frontend) {
        CompileOptions options = function->options;
        options.device_function = !is_kernel;
        if (ir_verify(module, diag))
            result = generated_text(module, target, &options, strcmp(what, "llvm") == 0, diag);
        goto out;
    }
    result = take_text(&text);
out:
    buf_free(&text);
    arena_destroy(arena);
    return result;
}

const Type *jit_result_type(const JitFunction *function, const Type *const *types, uint32_t count, Arena *arena,
                            Diag *diag)
{
    Arena *scratch = arena_create();
    const Type *inferred = NULL;
    FrontendRequest request = {.function = function->snapshot,
                               .argument_count = count,
                               .argument_types = types,
                               .weak_literals = function->options.weak_literals,
                               .inferred = &inferred};
    IrModule *module = frontend_lower(&request, scratch, diag);
    if (!inferred || !type_is_element(inferred)) /* tuples may lead to what the compilation alone knows */
        inferred = module ? module->first->result : NULL;
    const Type *result = module ? type_copy(arena, inferred) : NULL;
    arena_destroy(scratch);
    return result;
}

char *jit_compile_ir(const char *text, const Target *target, Diag *diag)
{
    Arena *arena = arena_create();
    CompileOptions options = {.optimization = 3};
    char *result = NULL;
    IrModule *module = ir_parse(text, arena, diag);
    if (module && ir_verify(module, diag)) {
        options.device_function = module->first && !module->first->is_kernel;
        result = generated_text(module, target, &options, false, diag);
    }
    arena_destroy(arena);
    return result;
}

const char *jit_llvm_version(void) { return codegen_llvm_version(); }
