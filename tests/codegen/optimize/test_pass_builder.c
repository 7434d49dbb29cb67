/* What LLVM's pipelines do with what they are told. */
#include <string.h>

#include "codegen/llvm.h"
#include "codegen/optimize/pass_builder.h"
#include "codegen_tests.h"
#include "core/base/buf.h"
#include "core/base/memory.h"

static const char sum[] = "define i32 @f(i32 %x) {\n"
                          "  %y = add i32 %x, 0\n"
                          "  ret i32 %y\n"
                          "}\n";

static LLVMModuleRef parse(LLVMContextRef context, const char *text)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "text");
    LLVMModuleRef module = NULL;
    char *message = NULL;
    return CHECK(!LLVMParseIRInContext(context, buffer, &module, &message)) ? module : NULL;
}

/* Whether instsimplify, behind adce, leaves the sum. */
static bool adds(const char *name, const char *behind)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, sum);
    bool found = false;
    if (module) {
        const LeftPass left[] = {{"LICMPass", NULL}, {name, behind}, {NULL, NULL}};
        CHECK(!run_pass_pipeline(module, NULL, "function(adce,instsimplify)", &(PipelineSettings){.left = left}));
        char *after = LLVMPrintModuleToString(module);
        found = strstr(after, "add i32") != NULL;
        LLVMDisposeMessage(after);
        LLVMDisposeModule(module);
    }
    LLVMContextDispose(context);
    return found;
}

/* A loop behind another; a loop that ends where the one around it goes on, and leaves both. */
static const char loops[] = "define i32 @f(i32 %n, i1 %guard, i1 %leaves) {\n"
                            "entry:\n"
                            "  br i1 %guard, label %first, label %between\n"
                            "first:\n"
                            "  %i = phi i32 [ 0, %entry ], [ %i.next, %first ]\n"
                            "  %i.next = add i32 %i, 1\n"
                            "  %i.goes.on = icmp slt i32 %i.next, %n\n"
                            "  br i1 %i.goes.on, label %first, label %between\n"
                            "between:\n"
                            "  %start = phi i32 [ 7, %entry ], [ %i.next, %first ]\n"
                            "  br i1 %guard, label %outer, label %end\n"
                            "outer:\n"
                            "  %j = phi i32 [ %start, %between ], [ %k.next, %inner.end ]\n"
                            "  %asked = icmp eq i32 %j, 5\n"
                            "  br i1 %asked, label %inner, label %end\n"
                            "inner:\n"
                            "  %k = phi i32 [ %j, %outer ], [ %k.next, %inner.end ]\n"
                            "  %k.next = mul i32 %k, 3\n"
                            "  br i1 %leaves, label %end, label %inner.end\n"
                            "inner.end:\n"
                            "  %k.goes.on = icmp slt i32 %k.next, %n\n"
                            "  br i1 %k.goes.on, label %inner, label %outer\n"
                            "end:\n"
                            "  %result = phi i32 [ %start, %between ], [ %j, %outer ], [ %k.next, %inner ]\n"
                            "  ret i32 %result\n"
                            "}\n";

static size_t count_blocks(LLVMModuleRef module) { return LLVMCountBasicBlocks(LLVMGetNamedFunction(module, "f")); }

/* What puts loops into the code generator's form finds nothing to do behind it. */
static void test_loops_are_parted(void)
{
    const PipelineSettings settings = {0};
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, loops);
    if (module) {
        size_t before = count_blocks(module);
        part_loops_from_others(LLVMGetNamedFunction(module, "f"));
        size_t parted = count_blocks(module);
        CHECK(parted > before && !LLVMVerifyModule(module, LLVMReturnStatusAction, NULL));
        CHECK(!run_pass_pipeline(module, NULL, "function(loop-simplify)", &settings));
        CHECK(count_blocks(module) == parted);
        LLVMDisposeModule(module);
    }
    LLVMContextDispose(context);
}

/* Variables in memory: of a loop with a way out, of a branch that nothing loads behind, of a block that nothing leads to, and one
 * whose address is told. */
static const char variables[] = "declare void @tell(ptr)\n"
                                "declare void @llvm.lifetime.start.p0(ptr)\n"
                                "define double @f(i32 %n, i1 %asked) {\n"
                                "entry:\n"
                                "  %sum = alloca [8 x i8]\n"
                                "  %counter = alloca i32\n"
                                "  %known = alloca double\n"
                                "  %never = alloca i32\n"
                                "  call void @llvm.lifetime.start.p0(ptr %sum)\n"
                                "  store double 0.5, ptr %sum\n"
                                "  store double 0.5, ptr %known\n"
                                "  store i32 0, ptr %counter\n"
                                "  call void @tell(ptr %known)\n"
                                "  br label %head\n"
                                "head:\n"
                                "  %i = load i32, ptr %counter\n"
                                "  %next = add i32 %i, 1\n"
                                "  store i32 %next, ptr %counter\n"
                                "  switch i32 %i, label %body [ i32 7, label %end\n"
                                "                               i32 9, label %end ]\n"
                                "body:\n"
                                "  %before = load double, ptr %sum\n"
                                "  %after = fadd double %before, 1.0\n"
                                "  br i1 %asked, label %add, label %join\n"
                                "add:\n"
                                "  store double %after, ptr %sum\n"
                                "  br label %join\n"
                                "join:\n"
                                "  %goes.on = icmp slt i32 %next, %n\n"
                                "  br i1 %goes.on, label %head, label %last\n"
                                "nowhere:\n"
                                "  %lost = load i32, ptr %never\n"
                                "  store i32 %lost, ptr %counter\n"
                                "  br label %last\n"
                                "last:\n"
                                "  store i32 3, ptr %counter\n"
                                "  br label %end\n"
                                "end:\n"
                                "  %total = load double, ptr %sum\n"
                                "  %told = load double, ptr %known\n"
                                "  %result = fadd double %total, %told\n"
                                "  ret double %result\n"
                                "}\n";

static char *text_without_names(LLVMModuleRef module)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, "f");
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each; each = LLVMGetNextInstruction(each))
            LLVMSetValueName2(each, "", 0);
    return LLVMPrintModuleToString(module);
}

/* As mem2reg, after which nothing is left to promote but what is told, and LLVM finds the same function. */
static void test_promotion(void)
{
    const PipelineSettings settings = {0};
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, variables), reference = parse(context, variables);
    if (module && reference) {
        promote_together(LLVMGetNamedFunction(module, "f"));
        CHECK(!LLVMVerifyModule(module, LLVMReturnStatusAction, NULL));
        char *promoted = LLVMPrintModuleToString(module);
        const char *memory = strstr(promoted, "= alloca");
        CHECK(memory && strstr(promoted, "%known = alloca") && !strstr(memory + 1, "= alloca"));
        CHECK(!strstr(promoted, "call void @llvm.lifetime"));
        LLVMDisposeMessage(promoted);
        CHECK(!run_pass_pipeline(module, NULL, "function(instcombine,adce,simplifycfg)", &settings));
        CHECK(!run_pass_pipeline(reference, NULL, "function(sroa,instcombine,adce,simplifycfg)", &settings));
        char *ours = text_without_names(module), *theirs = text_without_names(reference);
        CHECK_TEXT(ours, theirs);
        LLVMDisposeMessage(ours);
        LLVMDisposeMessage(theirs);
    }
    LLVMDisposeModule(module);
    LLVMDisposeModule(reference);
    LLVMContextDispose(context);
}

static int promotions;

/* The linker has calls of the function come here. */
void __wrap_promote_together(LLVMValueRef function);
void __real_promote_together(LLVMValueRef function);

void __wrap_promote_together(LLVMValueRef function)
{
    promotions++;
    __real_promote_together(function);
}

/* A kernel of `count` variables in memory, each of which another block changes. */
static void add_kernel(Buf *ir, int count)
{
    buf_add(ir, "kernel f(x: f64[1 C], m: i64)\nblock 0:\n  %0: f64 = const 1.5\n  %1: i64 = const 3\n"
                "  %2: bool = gt m, %1\n");
    for (int k = 0; k < count; k++)
        buf_printf(ir, "  %%%d: u8[0 C] = cell %%0\n", 3 + k);
    buf_add(ir, "  jump block 1\n");
    for (int k = 0; k < count; k++)
        buf_printf(ir,
                   "block %d:\n  branch %%2, block %d, block %d\n"
                   "block %d:\n  cell_store %%%d, %%0\n  jump block %d\n",
                   2 * k + 1, 2 * k + 2, 2 * k + 3, 2 * k + 2, 3 + k, 2 * k + 3);
    buf_printf(ir, "block %d:\n", 2 * count + 1);
    for (int k = 0; k < count; k++)
        buf_printf(ir, "  %%%d: f64 = cell_load %%%d\n  store x[%%1], %%%d\n", 3 + count + k, 3 + k, 3 + count + k);
    buf_add(ir, "  return\n");
}

/* Variables times blocks are more than LLVM's own promotion is left with. */
static void test_kernels_are_promoted_together(void)
{
    static const int counts[] = {50, 1500};
    for (int is_large = 0; is_large < 2; is_large++) {
        Buf ir = {0};
        add_kernel(&ir, counts[is_large]);
        promotions = 0;
        memory_free(compile_ptx(buf_text(&ir), 80, (CompileOptions){.opt = 3}));
        CHECK(promotions == is_large);
        buf_free(&ir);
    }
}

void test_pass_builder(void)
{
    CHECK(!adds(NULL, NULL));
    CHECK(!adds("LoopLoadEliminationPass", NULL));
    CHECK(adds("InstSimplifyPass", NULL));
    CHECK(adds("InstSimplifyPass", "ADCEPass"));
    CHECK(!adds("InstSimplifyPass", "DCEPass"));
    test_loops_are_parted();
    test_promotion();
    test_kernels_are_promoted_together();
}
