/* What LLVM's pipelines do with what they are told. */
#include <string.h>

#include "codegen/llvm.h"
#include "codegen/optimize/pass_builder.h"
#include "codegen_tests.h"

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

/* Whether instsimplify leaves the sum. */
static bool adds(const char *without)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, sum);
    bool found = false;
    if (module) {
        const PipelineSettings settings = {.without = without};
        CHECK(!run_pass_pipeline(module, NULL, "function(instsimplify)", &settings));
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

void test_pass_builder(void)
{
    CHECK(!adds(NULL));
    CHECK(!adds("LoopLoadEliminationPass"));
    CHECK(adds("InstSimplifyPass"));
    test_loops_are_parted();
}
