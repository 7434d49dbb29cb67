/* Compiles IR text and runs it on the host, block after block; assembles PTX with ptxas where there is one. */
#include <stdlib.h>
#include <unistd.h>

#include "codegen_tests.h"
#include "core/base/memory.h"

static const int architectures[] = {75, 80, 90, 100, 120};

static bool compile(const char *ir, Target target, CompileOptions options, KernelImage *image)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    IrModule *module = ir_parse(ir, arena, &diag);
    bool ok = module && ir_verify(module, &diag) && codegen_run_passes(module, &target, &options, NULL, &diag) &&
              codegen_compile(module, &target, &options, LLVM_NO_TEXT, false, image, &diag);
    if (!CHECK(ok))
        fprintf(stderr, "%s\n%s\n", diag.message, ir);
    arena_destroy(arena);
    return ok;
}

char *compile_ptx(const char *ir, int sm, CompileOptions options)
{
    KernelImage image;
    if (!compile(ir, (Target){TARGET_NVPTX, target_gpu(sm)}, options, &image))
        return NULL;
    char *text = image.code;
    image.code = NULL;
    kernel_image_free(&image);
    return text;
}

static bool has_ptxas(void)
{
    static int found = -1;
    if (found < 0)
        found = system("ptxas --version > /dev/null 2>&1") == 0;
    return found;
}

enum { ARCHITECTURES = sizeof architectures / sizeof architectures[0] };

/* One ptxas at work; those of all architectures run side by side. */
typedef struct Assembly {
    char path[32], *ptx;
    FILE *process;
} Assembly;

static void start_assembly(Assembly *assembly)
{
    char command[128];
    strcpy(assembly->path, "/tmp/cujit_ptx_XXXXXX");
    int file = mkstemp(assembly->path);
    FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    if (!CHECK(stream))
        return;
    fputs(assembly->ptx, stream);
    fclose(stream);
    const char *target = strstr(assembly->ptx, ".target "); /* sm_90, or sm_90a */
    target = target ? target + strlen(".target ") : "";
    snprintf(command, sizeof command, "exec ptxas -arch=%.*s -o /dev/null %s", (int)strcspn(target, " ,\n"), target,
             assembly->path);
    assembly->process = popen(command, "r");
    CHECK(assembly->process);
}

static void finish_assembly(Assembly *assembly, const char *name, int sm)
{
    if (assembly->process && !CHECK(pclose(assembly->process) == 0))
        fprintf(stderr, "%s for sm_%d:\n%s\n", name, sm, assembly->ptx);
    if (assembly->path[0])
        unlink(assembly->path);
    memory_free(assembly->ptx);
}

void check_assembles(const char *name, const char *ir, int sm)
{
    Assembly assemblies[ARCHITECTURES] = {0};
    for (int i = 0; i < ARCHITECTURES; i++) {
        if (sm < 0 ? architectures[i] == -sm : architectures[i] >= sm)
            assemblies[i].ptx = compile_ptx(ir, architectures[i], (CompileOptions){.opt = 3, .fmad = true});
        if (assemblies[i].ptx && has_ptxas())
            start_assembly(&assemblies[i]);
    }
    for (int i = 0; i < ARCHITECTURES; i++)
        finish_assembly(&assemblies[i], name, architectures[i]);
}

/* That nothing is missing in what libNVVM reads for GPUs of LLVM 7's time. */
static void check_nvvm_text(const char *name, const char *ir, int sm, const CompileOptions *options)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    KernelImage image = {0};
    Target target = {TARGET_NVPTX, target_gpu(sm)};
    IrModule *module = ir_parse(ir, arena, &diag);
    if (!CHECK(module && codegen_compile(module, &target, options, LLVM_TEXT_FOR_NVVM, false, &image, &diag) &&
               image.llvm))
        fprintf(stderr, "%s for sm_%d: %s\n", name, sm, diag.message);
    kernel_image_free(&image);
    arena_destroy(arena);
}

void check_compiles(const char *name, const char *ir, int sm)
{
    CompileOptions all[] = {
        {.opt = 0, .fmad = true}, {.opt = 3, .fmad = true, .fastmath = FLOAT_FAST | FLOAT_FLUSH}, {.opt = 2}};
    check_assembles(name, ir, sm);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        KernelImage image;
        memory_free(compile_ptx(ir, 90, all[i]));
        check_nvvm_text(name, ir, 90, &all[i]);
        if (sm >= 0 && sm <= 75)
            check_nvvm_text(name, ir, 75, &all[i]);
        if (compile(ir, (Target){TARGET_HOST, NULL}, all[i], &image))
            kernel_image_free(&image);
    }
}

/* --- running ------------------------------------------------------------------------------------------------------------ */

static void no_barrier(HostThread *thread, int32_t line) { (void)thread, (void)line; }

static void run_block_threads(HostThreadEntry entry, HostThread thread)
{
    for (thread.thread_index[2] = 0; thread.thread_index[2] < thread.block_dim[2]; thread.thread_index[2]++)
        for (thread.thread_index[1] = 0; thread.thread_index[1] < thread.block_dim[1]; thread.thread_index[1]++)
            for (thread.thread_index[0] = 0; thread.thread_index[0] < thread.block_dim[0]; thread.thread_index[0]++) {
                HostThread copy = thread;
                copy.lane = thread.linear_thread % 32;
                thread.linear_thread++;
                entry(&copy);
            }
}

static void run_threads(HostThreadEntry entry, const HostThread *frame, int64_t count)
{
    for (int64_t block = 0; block < count; block++) {
        HostThread thread = *frame;
        thread.block_index[0] = (int32_t)(block % frame->grid_dim[0]);
        thread.block_index[1] = (int32_t)(block / frame->grid_dim[0] % frame->grid_dim[1]);
        thread.block_index[2] = (int32_t)(block / frame->grid_dim[0] / frame->grid_dim[1]);
        run_block_threads(entry, thread);
    }
}

/* Once for each index of axes that the entry does not run along by itself. */
static void run_blocks(const KernelImage *image, HostBlocksEntry entry, HostThread frame, int64_t count)
{
    int32_t *index = frame.thread_index, counts[3];
    for (int axis = 0; axis < 3; axis++)
        counts[axis] = image->repeated_axes >> axis & 1 ? frame.block_dim[axis] : 1;
    for (index[2] = 0; index[2] < counts[2]; index[2]++)
        for (index[1] = 0; index[1] < counts[1]; index[1]++)
            for (index[0] = 0; index[0] < counts[0]; index[0]++)
                entry(&frame, 0, count);
}

static void run_image(const KernelImage *image, const HostCode *code, const void *parameters, Grid grid)
{
    static const HostServices services = {.barrier = no_barrier};
    int64_t blocks = 1;
    HostThread frame = {.parameters = parameters, .services = &services, .dynamic_size = grid.dynamic_shared};
    for (int axis = 0; axis < 3; axis++) {
        frame.block_dim[axis] = grid.threads[axis] ? grid.threads[axis] : 1;
        frame.grid_dim[axis] = grid.blocks[axis] ? grid.blocks[axis] : 1;
        blocks *= frame.grid_dim[axis];
    }
    size_t fixed = (image->static_shared + 127) / 128 * 128;
    frame.shared = aligned_alloc(128, fixed + ((size_t)grid.dynamic_shared + 127) / 128 * 128 + 128);
    frame.dynamic_shared = frame.shared + fixed;
    uint32_t threads = (uint32_t)(frame.block_dim[0] * frame.block_dim[1] * frame.block_dim[2]);
    frame.context =
        aligned_alloc(HOST_CONTEXT_STEP, host_context_bytes(image->context_size, threads) + HOST_CONTEXT_STEP);
    if (codegen_host_blocks_entry(code))
        run_blocks(image, codegen_host_blocks_entry(code), frame, blocks);
    else
        run_threads(codegen_host_thread_entry(code), &frame, blocks);
    free(frame.context);
    free(frame.shared);
}

bool run_on_host(const char *ir, const void *parameters, Grid grid)
{
    KernelImage image;
    Diag diag = {0};
    if (!compile(ir, (Target){TARGET_HOST, NULL}, (CompileOptions){.opt = 3, .fmad = true}, &image))
        return false;
    HostCode *code = codegen_link_host(&image, NULL, 0, &diag);
    if (CHECK(code != NULL))
        run_image(&image, code, parameters, grid);
    else
        fprintf(stderr, "%s\n%s\n", diag.message, ir);
    codegen_unlink_host(code);
    kernel_image_free(&image);
    return !diag_failed(&diag);
}
