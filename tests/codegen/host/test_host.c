/* What is particular to the CPU device: entries, indices of threads, shared memory, barriers, vector code. */
#include <pthread.h>
#include <stdlib.h>

#include "codegen/host/object/host_jit.h"
#include "codegen_tests.h"
#include "core/base/memory.h"

/* Every thread writes its linear number in the grid's order of blocks; checks all indices and dimensions. */
static const char indices_ir[] = "kernel k(out: i64[1 C])\n"
                                 "block 0:\n"
                                 "  %0: i32 = cuda.threadIdx.x\n"
                                 "  %1: i32 = cuda.threadIdx.y\n"
                                 "  %2: i32 = cuda.threadIdx.z\n"
                                 "  %3: i32 = cuda.blockIdx.x\n"
                                 "  %4: i32 = cuda.blockIdx.y\n"
                                 "  %5: i32 = cuda.blockIdx.z\n"
                                 "  %6: i32 = cuda.blockDim.x\n"
                                 "  %7: i32 = cuda.blockDim.y\n"
                                 "  %8: i32 = cuda.blockDim.z\n"
                                 "  %9: i32 = cuda.gridDim.x\n"
                                 "  %10: i32 = cuda.gridDim.y\n"
                                 "  %11: i32 = mul %2, %7\n"
                                 "  %12: i32 = add %11, %1\n"
                                 "  %13: i32 = mul %12, %6\n"
                                 "  %14: i32 = add %13, %0\n"
                                 "  %15: i32 = mul %5, %10\n"
                                 "  %16: i32 = add %15, %4\n"
                                 "  %17: i32 = mul %16, %9\n"
                                 "  %18: i32 = add %17, %3\n"
                                 "  %19: i32 = mul %6, %7\n"
                                 "  %20: i32 = mul %19, %8\n"
                                 "  %21: i32 = mul %18, %20\n"
                                 "  %22: i32 = add %21, %14\n"
                                 "  %23: i64 = convert %22\n"
                                 "  %24: i32 = cuda.laneid\n"
                                 "  %25: i64 = convert %24\n"
                                 "  %26: i64 = const 1000\n"
                                 "  %27: i64 = mul %25, %26\n"
                                 "  %28: i64 = add %27, %23\n"
                                 "  store out[%23], %28\n"
                                 "  return\n";

static void check_indices(void)
{
    enum { THREADS = 5 * 3 * 4, COUNT = THREADS * 2 * 3 * 2 };
    int64_t *out = calloc(COUNT, sizeof *out);
    struct {
        void *out;
        int64_t extent;
    } parameters = {out, COUNT};
    run_on_host(indices_ir, &parameters, (Grid){.blocks = {2, 3, 2}, .threads = {5, 3, 4}});
    bool ok = true;
    for (int i = 0; i < COUNT; i++)
        ok = ok && out[i] == i + 1000 * (i % THREADS % 32);
    CHECK(ok);
    free(out);
}

/* A grid-stride loop with a hole for what its body and end do. */
#define STRIDE_LOOP(PHI, BODY, END)                                                  \
    "kernel k(x: i64[1 C], out: i64[1 C])\n"                                         \
    "block 0:\n"                                                                     \
    "  %0: i32 = cuda.threadIdx.x\n"                                                 \
    "  %1: i32 = cuda.blockIdx.x\n"                                                  \
    "  %2: i32 = cuda.blockDim.x\n"                                                  \
    "  %3: i32 = cuda.gridDim.x\n"                                                   \
    "  %4: i64 = convert %0\n"                                                       \
    "  %5: i64 = convert %1\n"                                                       \
    "  %6: i64 = convert %2\n"                                                       \
    "  %7: i64 = convert %3\n"                                                       \
    "  %8: i64 = mul %5, %6\n"                                                       \
    "  %9: i64 = add %8, %4\n"                                                       \
    "  %10: i64 = mul %6, %7\n"                                                      \
    "  %11: i64 = extent x, 0\n"                                                     \
    "  jump block 1\n"                                                               \
    "block 1:\n"                                                                     \
    "  %12: i64 = phi block 0: %9, block 4: %14\n" PHI "  %13: bool = lt %12, %11\n" \
    "  branch %13, block 2, block 3\n"                                               \
    "block 2:\n"                                                                     \
    "  %14: i64 = add %12, %10\n"                                                    \
    "  %15: i64 = wrap %12, %11\n"                                                   \
    "  %16: i64 = load x[%15]\n" BODY "block 4:\n"                                   \
    "  jump block 1\n"                                                               \
    "block 3:\n" END "  return\n"

static const char each_ir[] = STRIDE_LOOP("", "  %17: i64 = add %16, %12\n  store out[%15], %17\n  jump block 4\n", "");
/* Ends for good at the first element above 50. */
static const char break_ir[] = STRIDE_LOOP(
    "", "  %18: i64 = const 50\n  %19: bool = gt %16, %18\n  store out[%15], %16\n  branch %19, block 3, block 4\n",
    "");
/* Carries a sum, and stores it behind the loop. */
static const char sum_ir[] = STRIDE_LOOP("  %20: i64 = phi block 0: %9, block 4: %21\n",
                                         "  %21: i64 = add %20, %16\n  jump block 4\n", "  store out[%9], %20\n");

static void run_stride(const char *ir, int64_t *out, Grid grid)
{
    int64_t x[100];
    for (int i = 0; i < 100; i++) {
        x[i] = i * 7 % 100;
        out[i] = -1;
    }
    struct {
        void *x;
        int64_t nx;
        void *out;
        int64_t no;
    } parameters = {x, 100, out, 100};
    run_on_host(ir, &parameters, grid);
}

static void check_stride_loops(void)
{
    static const Grid grids[] = {{.blocks = {1}, .threads = {1}},
                                 {.blocks = {3}, .threads = {7}},
                                 {.blocks = {2}, .threads = {5, 2}},
                                 {.blocks = {4}, .threads = {64}}};
    int64_t out[100];
    for (int g = 0; g < 4; g++) {
        run_stride(each_ir, out, grids[g]);
        bool ok = true;
        for (int i = 0; i < 100; i++)
            ok = ok && out[i] == i * 7 % 100 + i;
        CHECK(ok);
        int threads = grids[g].threads[0] * grids[g].blocks[0];
        run_stride(break_ir, out, grids[g]);
        ok = true;
        for (int thread = 0; thread < threads && thread < 100; thread++)
            for (int i = thread, ended = 0; i < 100; ended |= i * 7 % 100 > 50, i += threads)
                ok = ok && out[i] == (ended ? -1 : i * 7 % 100);
        CHECK(ok);
        run_stride(sum_ir, out, (Grid){.blocks = {2}, .threads = {5}});
        CHECK(out[9] == 9 + 63 + 33 + 3 + 73 + 43 + 13 + 83 + 53 + 23 + 93);
    }
}

/* Compiles for both targets, links and runs; returns what failed as text, NULL when nothing did. */
static void *compile_in_thread(void *unused)
{
    (void)unused;
    Arena *arena = arena_create();
    Diag diag = {0};
    CompileOptions options = {.opt = 2, .fmad = true};
    Target targets[] = {{TARGET_NVPTX, target_gpu(90)}, {TARGET_HOST, NULL}};
    for (int i = 0; i < 8 && !diag_failed(&diag); i++) {
        KernelImage image;
        IrModule *module = ir_parse(each_ir, arena, &diag);
        if (!module || !codegen_run_passes(module, &targets[i % 2], &options, NULL, &diag) ||
            !codegen_compile(module, &targets[i % 2], &options, LLVM_NO_TEXT, false, &image, &diag))
            break;
        HostCode *code = i % 2 ? codegen_link_host(&image, NULL, 0, &diag) : NULL;
        codegen_unlink_host(code);
        kernel_image_free(&image);
    }
    arena_destroy(arena);
    return diag_failed(&diag) ? "failed" : NULL;
}

static void check_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, compile_in_thread, NULL);
    for (int i = 0; i < 4; i++) {
        void *failure = NULL;
        pthread_join(threads[i], &failure);
        CHECK(!failure);
    }
}

/* A module of LLVM IR: there is nobody to compile it. */
static void test_linking_only(void)
{
    LLVMOrcLLJITRef jit = NULL;
    LLVMOrcExecutorAddress address = 0;
    if (!CHECK(!make_linking_jit(&jit, false)))
        return;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("m", context);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, LLVMAddFunction(module, "f", type), ""));
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    LLVMSetDataLayout(module, LLVMOrcLLJITGetDataLayoutStr(jit));
    LLVMOrcThreadSafeContextRef own = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(context);
    LLVMErrorRef error = LLVMOrcLLJITAddLLVMIRModule(jit, LLVMOrcLLJITGetMainJITDylib(jit),
                                                     LLVMOrcCreateNewThreadSafeModule(module, own));
    LLVMOrcDisposeThreadSafeContext(own);
    if (CHECK(!error)) {
        error = LLVMOrcLLJITLookup(jit, &address, "f");
        CHECK(error);
    }
    LLVMConsumeError(error);
    LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
}

void test_host_entries(void)
{
    test_linking_only();
    check_indices();
    check_stride_loops();
    check_threads();
}

/* --- shared memory and barriers ------------------------------------------------------------------------------------------- */

/* Threads come to a barrier in two ways: they have to be real. */
static const char shared_ir[] = "kernel k(out: i64[1 C])\n"
                                "block 0:\n"
                                "  %0: i32 = cuda.threadIdx.x\n"
                                "  %1: i64 = convert %0\n"
                                "  %2: i64[1 C] = shared (8)\n"
                                "  %3: f32[1 C] = shared (3) align 64\n"
                                "  %4: i32[1 C] = shared (0) dynamic\n"
                                "  store %2[%1], %1\n"
                                "  %14: i64 = const 3\n"
                                "  %15: bool = lt %1, %14\n"
                                "  branch %15, block 1, block 2\n"
                                "block 1:\n"
                                "  cuda.syncthreads\n"
                                "  jump block 3\n"
                                "block 2:\n"
                                "  cuda.syncthreads\n"
                                "  jump block 3\n"
                                "block 3:\n"
                                "  %5: i64 = load %2[%1]\n"
                                "  %6: i64 = extent %4, 0\n"
                                "  %7: i64 = add %5, %6\n"
                                "  store %4[%1], %0\n"
                                "  %8: i32 = load %4[%1]\n"
                                "  %10: i64 = convert %8\n"
                                "  %11: i64 = add %7, %10\n"
                                "  %12: f32 = const 1.0\n"
                                "  %13: i64 = const 2\n"
                                "  store %3[%13], %12\n"
                                "  store out[%1], %11\n"
                                "  cuda.threadfence\n"
                                "  cuda.threadfence_block\n"
                                "  cuda.threadfence_system\n"
                                "  return\n";

static int barriers;

static void count_barrier(HostThread *thread, int32_t line)
{
    CHECK(line >= 0);
    (void)thread;
    barriers++;
}

static void check_barrier(const KernelImage *image)
{
    static const HostServices services = {.barrier = count_barrier};
    Diag diag = {0};
    HostCode *code = codegen_link_host(image, NULL, 0, &diag);
    if (!CHECK(code != NULL))
        return;
    int64_t out[8] = {0};
    struct {
        void *out;
        int64_t extent;
    } parameters = {out, 8};
    _Alignas(128) uint8_t shared[256];
    HostThread thread = {.thread_index = {7},
                         .block_dim = {8, 1, 1},
                         .grid_dim = {1, 1, 1},
                         .shared = shared,
                         .dynamic_shared = shared + 128,
                         .dynamic_size = 128,
                         .parameters = &parameters,
                         .services = &services};
    CHECK(codegen_host_blocks_entry(code) == NULL);
    codegen_host_thread_entry(code)(&thread);
    CHECK(barriers == 1 && out[7] == 7 + 32 + 7);
    codegen_unlink_host(code);
}

/* The thread's number, then the next thread's after each of n rounds; a thread whose number gets large ends. */
static const char rounds_ir[] = "kernel k(out: i64[1 C], n: i64)\n"
                                "block 0:\n"
                                "  %0: i32 = cuda.threadIdx.x\n"
                                "  %1: i64 = convert %0\n"
                                "  %2: i32 = cuda.blockDim.x\n"
                                "  %3: i64 = convert %2\n"
                                "  %4: i32 = cuda.blockIdx.x\n"
                                "  %5: i64 = convert %4\n"
                                "  %6: i64 = mul %5, %3\n"
                                "  %7: i64 = add %6, %1\n"
                                "  %8: i64[1 C] = shared (64)\n"
                                "  %9: i64 = const 0\n"
                                "  %10: i64 = const 1\n"
                                "  %11: i64 = const 2\n"
                                "  jump block 1\n"
                                "block 1:\n"
                                "  %12: i64 = phi block 0: %9, block 3: %22\n"
                                "  %13: i64 = phi block 0: %1, block 3: %21\n"
                                "  %14: bool = lt %12, n\n"
                                "  branch %14, block 2, block 4\n"
                                "block 2:\n"
                                "  store %8[%1], %13\n"
                                "  cuda.syncthreads\n"
                                "  %15: i64 = add %1, %10\n"
                                "  %16: i64 = mod %15, %3\n"
                                "  %17: i64 = load %8[%16]\n"
                                "  cuda.syncthreads\n"
                                "  %18: i64 = mod %1, %11\n"
                                "  %19: bool = eq %18, %12\n"
                                "  %20: i64 = add %17, %10\n"
                                "  %21: i64 = select %19, %20, %17\n"
                                "  %22: i64 = add %12, %10\n"
                                "  %23: bool = gt %21, %3\n"
                                "  branch %23, block 4, block 3\n"
                                "block 3:\n"
                                "  jump block 1\n"
                                "block 4:\n"
                                "  %24: i64 = phi block 1: %13, block 2: %9\n"
                                "  store out[%7], %24\n"
                                "  return\n";

enum { ROUND_THREADS = 40 };

/* What rounds_ir does with the threads of one block. */
static void compute_rounds(int64_t *out, int n)
{
    int64_t value[ROUND_THREADS], shared[ROUND_THREADS];
    bool ended[ROUND_THREADS] = {false};
    for (int t = 0; t < ROUND_THREADS; t++)
        value[t] = shared[t] = t;
    for (int k = 0; k < n; k++) {
        for (int t = 0; t < ROUND_THREADS; t++)
            shared[t] = ended[t] ? shared[t] : value[t];
        for (int t = 0; t < ROUND_THREADS; t++) {
            if (ended[t])
                continue;
            value[t] = shared[(t + 1) % ROUND_THREADS] + (t % 2 == k);
            ended[t] = value[t] > ROUND_THREADS;
            value[t] = ended[t] ? 0 : value[t];
        }
    }
    for (int t = 0; t < ROUND_THREADS; t++)
        out[t] = value[t];
}

static void check_rounds(void)
{
    int64_t out[3 * ROUND_THREADS], expected[ROUND_THREADS];
    for (int64_t n = 0; n < 6; n++) {
        struct {
            void *out;
            int64_t extent, n;
        } parameters = {out, 3 * ROUND_THREADS, n};
        compute_rounds(expected, (int)n);
        run_on_host(rounds_ir, &parameters, (Grid){.blocks = {3}, .threads = {ROUND_THREADS}});
        for (int block = 0; block < 3; block++)
            CHECK(!memcmp(out + block * ROUND_THREADS, expected, sizeof expected));
    }
}

/* A barrier that all threads reach together needs none that are real. */
static void check_entry(void)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    KernelImage image;
    IrModule *module = ir_parse(rounds_ir, arena, &diag);
    Target host = {TARGET_HOST, NULL};
    CompileOptions options = {.opt = 2, .fmad = true};
    if (CHECK(module && codegen_run_passes(module, &host, &options, NULL, &diag) &&
              codegen_compile(module, &host, &options, LLVM_TEXT, false, &image, &diag))) {
        CHECK(!image.has_real_threads && image.context_size > 0);
        CHECK(image.llvm && strstr(image.llvm, "@k.blocks") && !strstr(image.llvm, "@k.thread"));
        kernel_image_free(&image);
    }
    arena_destroy(arena);
}

static void check_refused(const char *ir)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    KernelImage image;
    IrModule *module = ir_parse(ir, arena, &diag);
    Target host = {TARGET_HOST, NULL};
    CompileOptions options = {.opt = 2, .fmad = true};
    CHECK(module && ir_verify(module, &diag) &&
          !codegen_compile(module, &host, &options, LLVM_NO_TEXT, false, &image, &diag));
    CHECK(diag.id == DIAG_IR_INVALID);
    arena_destroy(arena);
}

/* What only passes make, where they would not have made it. */
static void check_refusals(void)
{
    check_refused("kernel k()\nblock 0:\n  %0: u64 = slot\n  return\n");
    check_refused("kernel k()\nblock 0:\n  %0: i64 = trip\n  return\n");
    check_refused(
        "kernel k(a: bool)\nblock 0:\n  branch a, block 1, block 2\nblock 1:\n  branch !in a, block 2, block 3\n"
        "block 2:\n  return\nblock 3:\n  return\n");
    check_refused("kernel k()\nblock 0:\n  %0: u64 = slot\n  %1: u64 = slot_load %0\n  jump block 1\nblock 1:\n"
                  "  thread_loop block 3, block 2\nblock 2:\n  jump block 1\nblock 3:\n  return\n");
}

void test_regions(void)
{
    check_refusals();
    check_entry();
    check_rounds();
    check_compiles("rounds", rounds_ir, 0);
}

void test_shared_memory(void)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    KernelImage image;
    IrModule *module = ir_parse(shared_ir, arena, &diag);
    Target host = {TARGET_HOST, NULL};
    CompileOptions options = {.opt = 3, .fmad = true};
    if (CHECK(module && codegen_run_passes(module, &host, &options, NULL, &diag) &&
              codegen_compile(module, &host, &options, LLVM_TEXT, false, &image, &diag))) {
        CHECK(image.static_shared == 64 + 12);
        CHECK(image.effects & EFFECT_BLOCK_SYNC && image.has_real_threads);
        CHECK(image.llvm && strstr(image.llvm, "@k.thread") && !strstr(image.llvm, "@k.blocks"));
        check_barrier(&image);
        kernel_image_free(&image);
    }
    char *assembly = module ? codegen_host_assembly(module, &options, &diag) : NULL;
    CHECK(assembly && strstr(assembly, "k.thread"));
    memory_free(assembly);
    arena_destroy(arena);
    check_compiles("shared", shared_ir, 0);
}
