/* The way of one module through codegen: LLVM IR, passes, PTX text or a host object. */
#include "codegen/codegen.h"
#include "codegen/emit.h"
#include "codegen/module_emit.h"
#include "codegen/nvptx/nvvm/nvvm_text.h"
#include "codegen/optimize/optimize.h"
#include "codegen/optimize/pass_builder.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/thread/fork_lock.h"
#include "core/thread/own_stack.h"

static void dispose_text(void *text) { LLVMDisposeMessage(text); }
static void free_passes(void *passes) { free_code_passes(passes); }
static void close_emitter(void *emitter) { emitter_close(emitter); }

static void keep_llvm_text(Emitter *emitter, KernelImage *image)
{
    MemoryCleanup cleanup;
    char *text = LLVMPrintModuleToString(emitter->llvm_module);
    memory_defer(&cleanup, dispose_text, text);
    image->llvm = memory_copy_text(text);
    memory_end(&cleanup);
}

/* What LLVM does not forget between two modules: of debug information which section is open; a printer of PTX, which variables
 * are declared in which function, by their addresses; a host's printer of assembly, that it has said .text. After much code the
 * passes' tables are large. */
static bool leaves_passes_as_new(const Emitter *emitter, LLVMCodeGenFileType type, size_t size)
{
    enum { MOST_CODE = 1 << 18 };
    if (emitter->debug || size > MOST_CODE)
        return false;
    return emitter->target->kind == TARGET_NVPTX ? !LLVMGetFirstGlobal(emitter->llvm_module) : type == LLVMObjectFile;
}

/* Code or assembly text, with a NUL behind it. While they run, the passes are nobody's: where memory ends in the middle of it
 * they are not run again. */
static char *emit_code(Emitter *emitter, LLVMCodeGenFileType type, size_t *size)
{
    change_before_selection(emitter->lowering->before_selection, emitter);
    CodePasses *passes = machine_take_passes(emitter->held, type);
    if (!passes) {
        change_before_selection(NULL, NULL);
        diag_fail(emitter->diag, NULL, DIAG_LLVM, "the code generator does not make files of this type");
        return NULL;
    }
    const char *made = run_code_passes(passes, emitter->llvm_module, size);
    change_before_selection(NULL, NULL);
    MemoryCleanup cleanup;
    memory_defer(&cleanup, free_passes, passes);
    char *code = NULL;
    if (emitter->llvm_error[0])
        diag_fail(emitter->diag, NULL, DIAG_LLVM, emitter->llvm_error);
    else if (emitter->lowering->change_text)
        code = emitter->lowering->change_text(made, size);
    else
        code = memcpy(memory_alloc(*size + 1), made, *size + 1);
    if (!code || !leaves_passes_as_new(emitter, type, *size)) {
        memory_end(&cleanup);
        return code;
    }
    memory_cancel(&cleanup);
    machine_keep_passes(emitter->held, type, passes);
    return code;
}

static void fill_image(Emitter *emitter, KernelImage *image)
{
    image->kind = emitter->target->kind;
    const CompileOptions *options = emitter->options;
    image->name = memory_copy_text(emitter->entry ? emitter->entry : "");
    image->name_size = strlen(image->name);
    image->max_registers = options->max_registers; /* on a GPU, what describe_image() says */
    image->max_threads = options->launch_bounds.threads;
    image->carveout = options->shared_memory_carveout;
    image->effects = emitter->effects;
    image->is_quick = emitter->is_quick;
    image->static_shared = emitter->static_shared;
    image->local_size = emitter->local_size;
    if (emitter->lowering->describe_image)
        emitter->lowering->describe_image(emitter, image);
}

typedef struct Generation {
    const IrModule *module;
    const Target *target;
    const CompileOptions *options;
    LlvmText text;
    bool is_quick;
    bool done;
    LLVMCodeGenFileType type;
    KernelImage *image;
    Diag *diag;
} Generation;

static void generate(void *argument)
{
    Generation *work = argument;
    MemoryCleanup whole; /* what LLVM makes once for the process, a forked child would wait for */
    whole_work_begin();
    memory_defer(&whole, whole_work_end, NULL);
    Arena *arena = arena_create();
    Emitter emitter = {.ir = work->module,
                       .target = work->target,
                       .options = work->options,
                       .is_quick = work->is_quick,
                       .arena = arena,
                       .diag = work->diag};
    emitter.for_nvvm = work->text == LLVM_TEXT_FOR_NVVM; /* of which our LLVM cannot make code any more */
    emitter.for_llvm7 = emitter.for_nvvm && nvvm_reads_llvm7(work->target);
    MemoryCleanup cleanup;
    memory_defer(&cleanup, close_emitter, &emitter);
    bool done = emitter_open(&emitter) && emit_module(&emitter) && optimize_module(&emitter);
    if (!done)
        goto out;
    if (emitter.for_nvvm) {
        work->image->llvm = make_nvvm_text(&emitter);
        done = work->image->llvm != NULL;
        goto out;
    }
    if (work->text)
        keep_llvm_text(&emitter, work->image);
    work->image->code = emit_code(&emitter, work->type, &work->image->code_size);
    done = work->image->code != NULL;
    if (done)
        fill_image(&emitter, work->image);
out:
    memory_end(&cleanup);
    arena_destroy(arena);
    memory_end(&whole);
    if (!done)
        kernel_image_free(work->image);
    work->done = done;
}

/* LLVM's passes recurse over what a function is made of: 40 bytes for each value of ours were the most in kernels of
 * thousands of branches, stores, loops and sums. */
static size_t stack_needed(const IrModule *module)
{
    enum { BYTES_FOR_VALUE = 256 };
    size_t values = 0;
    for (const IrFunc *function = module->first; function; function = function->next)
        values += function->value_count;
    return STACK_FOR_NESTING / 2 + values * BYTES_FOR_VALUE;
}

static bool compile(const IrModule *module, const Target *target, const CompileOptions *options, LlvmText text,
                    bool is_quick, LLVMCodeGenFileType type, KernelImage *image, Diag *diag)
{
    Generation work = {module, target, options, text, is_quick, false, type, image, diag};
    return with_stack(stack_needed(module), generate, &work, diag) && work.done;
}

bool codegen_compile(const IrModule *module, const Target *target, const CompileOptions *options, LlvmText text,
                     bool is_quick, KernelImage *image, Diag *diag)
{
    *image = (KernelImage){.kind = target->kind};
    LLVMCodeGenFileType type = target->kind == TARGET_NVPTX ? LLVMAssemblyFile : LLVMObjectFile;
    return compile(module, target, options, text, is_quick, type, image, diag);
}

char *codegen_host_assembly(const IrModule *module, const CompileOptions *options, Diag *diag)
{
    Target target = {.kind = TARGET_HOST};
    KernelImage image = {.kind = TARGET_HOST};
    if (!compile(module, &target, options, LLVM_NO_TEXT, false, LLVMAssemblyFile, &image, diag))
        return NULL;
    char *text = image.code;
    image.code = NULL;
    kernel_image_free(&image);
    return text;
}

const char *codegen_llvm_version(void) { return LLVM_VERSION_STRING; }
