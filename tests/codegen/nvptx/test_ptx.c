/* What the PTX of typical kernels must and must not contain; what codegen refuses. */
#include <stdlib.h>

#include "codegen_tests.h"
#include "core/base/memory.h"

static const char saxpy_ir[] = "kernel saxpy(a: f32, x: f32[1 C], y: f32[1 C], out: f32[1 C])\n"
                               "block 0:\n"
                               "  %0: i32 = cuda.threadIdx.x\n"
                               "  %1: i32 = cuda.blockIdx.x\n"
                               "  %2: i32 = cuda.blockDim.x\n"
                               "  %3: i64 = convert %0\n"
                               "  %4: i64 = convert %1\n"
                               "  %5: i64 = convert %2\n"
                               "  %6: i64 = mul %4, %5\n"
                               "  %7: i64 = add %6, %3\n"
                               "  %8: i64 = extent x, 0\n"
                               "  %9: bool = lt %7, %8\n"
                               "  branch %9, block 1, block 2\n"
                               "block 1:\n"
                               "  %10: i64 = wrap %7, %8\n"
                               "  %11: f32 = load x[%10]\n"
                               "  %13: f32 = mul a, %11\n"
                               "  %14: i64 = extent y, 0\n"
                               "  %15: i64 = wrap %7, %14\n"
                               "  %16: f32 = load y[%15]\n"
                               "  %17: f32 = add %13, %16\n"
                               "  %18: i64 = extent out, 0\n"
                               "  %19: i64 = wrap %7, %18\n"
                               "  store out[%19], %17\n"
                               "  jump block 2\n"
                               "block 2:\n"
                               "  return\n";

/* A grid-stride loop: %12 is known to be no negative index, and no sign is tested. */
static const char stride_ir[] = "kernel add(x: f32[1 C], out: f32[1 C])\n"
                                "block 0:\n"
                                "  %0: i32 = cuda.threadIdx.x\n"
                                "  %1: i32 = cuda.blockIdx.x\n"
                                "  %2: i32 = cuda.blockDim.x\n"
                                "  %3: i64 = convert %0\n"
                                "  %4: i64 = convert %1\n"
                                "  %5: i64 = convert %2\n"
                                "  %6: i64 = mul %4, %5\n"
                                "  %7: i64 = add %6, %3\n"
                                "  %8: i64 = extent x, 0\n"
                                "  %9: i32 = cuda.gridDim.x\n"
                                "  %10: i64 = convert %9\n"
                                "  %11: i64 = mul %5, %10\n"
                                "  jump block 1\n"
                                "block 1:\n"
                                "  %12: i64 = phi block 0: %7, block 2: %18\n"
                                "  %13: bool = lt %12, %8\n"
                                "  branch %13, block 2, block 3\n"
                                "block 2:\n"
                                "  %14: i64 = wrap %12, %8\n"
                                "  %15: f32 = load x[%14]\n"
                                "  %16: i64 = extent out, 0\n"
                                "  %17: i64 = wrap %12, %16\n"
                                "  store out[%17], %15\n"
                                "  %18: i64 = add %12, %11\n"
                                "  jump block 1\n"
                                "block 3:\n"
                                "  return\n";

static void expect(const char *ir, CompileOptions options, const char *const *present, const char *const *absent)
{
    char *ptx = compile_ptx(ir, 80, options);
    for (; ptx && *present; present++)
        CHECK_CONTAINS(ptx, *present);
    for (; ptx && *absent; absent++)
        if (!CHECK(!strstr(ptx, *absent)))
            fprintf(stderr, "has %s:\n%s\n", *absent, ptx);
    memory_free(ptx);
}

#define LIST(...) \
    (const char *const[]) { __VA_ARGS__, NULL }

static void check_division(void)
{
    char ir[4096];
    snprintf(ir, sizeof ir, "%s", operation_kernel("  %3: f32 = div %1, %2\n  %9: f32 = math.sqrt %3", "f32 f32 f32"));
    expect(ir, (CompileOptions){.opt = 3, .fmad = true}, LIST("div.rn.f32", "sqrt.rn.f32"), LIST("approx"));
    expect(ir, (CompileOptions){.opt = 3, .fmad = true, .fastmath = FLOAT_FAST | FLOAT_FLUSH}, LIST("approx.ftz"),
           LIST("div.rn", "sqrt.rn"));
}

static void check_functions(void)
{
    static const char device[] = "device twice(x: f32[1 C], i: i64) -> f32\nblock 0:\n  %0: f32 = load x[i]\n"
                                 "  %1: f32 = add %0, %0\n  return %1\n";
    char *ptx = compile_ptx(device, 80, (CompileOptions){.opt = 3, .fmad = true});
    CHECK(ptx && strstr(ptx, ".visible .func") && strstr(ptx, "twice"));
    memory_free(ptx);
}

static void check_lines(void)
{
    static const char ir[] = "kernel k(x: f32[1 C]) ; k \"/folder/k.py\":4\n"
                             "block 0:\n"
                             "  %0: i32 = cuda.threadIdx.x ; 5:8-20\n"
                             "  %1: i64 = convert %0 ; 5:8-20\n"
                             "  %2: f32 = load x[%1] ; 6:8-20\n"
                             "  %3: f32 = call twice(%2) ; 7:8-20\n"
                             "  store x[%1], %3 ; 7:1-2\n"
                             "  return\n"
                             "\n"
                             "device twice(x: f32) -> f32 ; twice \"/folder/k.py\":10\n"
                             "block 0:\n"
                             "  %0: f32 = add x, x ; 11:3-4\n"
                             "  return %0\n";
    expect(ir, (CompileOptions){.opt = 3, .fmad = true, .lineinfo = true},
           LIST(".loc\t1 6 9", ".loc\t1 11 4", ".file\t1 \"/folder/k.py\""), LIST(", debug"));
    expect(ir, (CompileOptions){.debug = true}, LIST(".loc\t1 6 9", ", debug", ".debug_info"), LIST("nothing"));
    expect(ir, (CompileOptions){.opt = 3, .fmad = true}, LIST("ld.global"), LIST(".loc", ".file"));
}

void test_ptx_patterns(void)
{
    CompileOptions usual = {.opt = 3, .fmad = true};
    expect(saxpy_ir, usual, LIST(".visible .entry saxpy", "ld.global", "st.global", "fma.rn.f32", ".target sm_80"),
           LIST(".local", "selp", "mul.f32", "mul.rn", "ld.b32", "cvta"));
    expect(saxpy_ir, (CompileOptions){.opt = 3}, LIST("mul.rn.f32", "add.rn.f32"), LIST("fma"));
    expect(saxpy_ir, (CompileOptions){.opt = 3, .fmad = true, .launch_bounds = {256, 2}, .max_registers = 40},
           LIST(".maxntid 256", ".minnctapersm 2", ".maxnreg 40"), LIST(".local"));
    expect(stride_ir, usual, LIST("ld.global", "st.global"), LIST("selp", "setp.lt.s64 \t%p2, %rd2, 0"));
    check_division();
    check_functions();
    check_lines();
}

/* --- refusals ------------------------------------------------------------------------------------------------------------ */

static void check_refused(const char *ir, Target target, DiagId id)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    KernelImage image;
    CompileOptions options = {.opt = 3, .fmad = true};
    IrModule *module = ir_parse(ir, arena, &diag);
    CHECK(module && !codegen_compile(module, &target, &options, LLVM_NO_TEXT, false, &image, &diag));
    CHECK(diag.id == id && !image.code);
    arena_destroy(arena);
}

void test_errors(void)
{
    char ir[4096];
    snprintf(ir, sizeof ir, "%s", operation_kernel("  %9: i64 = math.sin %1", "i64 i64"));
    check_refused(ir, (Target){TARGET_HOST, NULL}, DIAG_INTRINSIC_TARGET);
    check_refused(ir, (Target){TARGET_NVPTX, target_gpu(90)}, DIAG_INTRINSIC_TARGET);
    CHECK(!strncmp(codegen_llvm_version(), "22.", 3));
}
