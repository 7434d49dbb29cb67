/* Code that is made quickly is made by few of LLVM's passes: none of them writes loops out. */
#include "codegen_tests.h"

static const char product[] = "kernel f(x: f64[1 C])\n"
                              "block 0:\n"
                              "  %0: i64 = const 0\n"
                              "  %1: f64 = load x[%0]\n"
                              "  jump block 1\n"
                              "block 1:\n"
                              "  %2: i64 = phi block 0: %0, block 2: %6\n"
                              "  %3: f64 = phi block 0: %1, block 2: %7\n"
                              "  %4: i64 = const 8\n"
                              "  %5: bool = lt %2, %4\n"
                              "  branch %5, block 2, block 3\n"
                              "block 2:\n"
                              "  %8: i64 = const 1\n"
                              "  %6: i64 = add %2, %8\n"
                              "  %7: f64 = mul %3, %1\n"
                              "  jump block 1\n"
                              "block 3:\n"
                              "  store x[%0], %3\n"
                              "  return\n";

static int count(const char *text, const char *word)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        found++;
    return found;
}

/* How many multiplications the code has; -1: none was made. */
static int multiplications(Target target, int opt, bool wants_quick, bool *is_quick)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    CompileOptions options = {.opt = opt};
    KernelImage image = {0};
    IrModule *module = ir_parse(product, arena, &diag);
    bool ok = module && codegen_run_passes(module, &target, &options, NULL, &diag) &&
              codegen_compile(module, &target, &options, LLVM_TEXT, wants_quick, &image, &diag);
    int found = CHECK(ok) ? count(image.llvm, " fmul ") : -1;
    if (!ok)
        fprintf(stderr, "%s\n", diag.message);
    *is_quick = image.is_quick;
    kernel_image_free(&image);
    arena_destroy(arena);
    return found;
}

static void check_target(Target target)
{
    enum { TRIPS = 8 };
    bool is_quick;
    CHECK(multiplications(target, 3, false, &is_quick) >= TRIPS && !is_quick);
    int quick = multiplications(target, 3, true, &is_quick);
    CHECK(quick > 0 && quick < TRIPS && is_quick);
    multiplications(target, 0, true, &is_quick);
    CHECK(!is_quick); /* no other code would replace it */
}

void test_quick_code(void)
{
    check_target((Target){.kind = TARGET_HOST});
    check_target((Target){TARGET_NVPTX, target_gpu(80)});
}
