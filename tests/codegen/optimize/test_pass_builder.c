/* What LLVM's pipelines do with what they are told. */
#include <string.h>

#include "codegen/llvm.h"
#include "codegen/optimize/pass_builder.h"
#include "codegen_tests.h"

static const char sum[] = "define i32 @f(i32 %x) {\n"
                          "  %y = add i32 %x, 0\n"
                          "  ret i32 %y\n"
                          "}\n";

/* Whether instsimplify leaves the sum. */
static bool adds(const char *without)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(sum, strlen(sum), "sum");
    LLVMModuleRef module = NULL;
    char *message = NULL;
    bool found = false;
    if (CHECK(!LLVMParseIRInContext(context, text, &module, &message))) {
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

void test_pass_builder(void)
{
    CHECK(!adds(NULL));
    CHECK(!adds("LoopLoadEliminationPass"));
    CHECK(adds("InstSimplifyPass"));
}
