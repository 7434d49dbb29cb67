/* print in PTX: the driver takes 32 operands at once, and the same text is there once. */
#include <stdlib.h>

#include "codegen_tests.h"
#include "core/base/memory.h"

static int count_of(const char *text, const char *word)
{
    int count = 0;
    for (; text && (text = strstr(text, word)); text++)
        count++;
    return count;
}

static void check_calls(int operands, int calls)
{
    Buf ir = {0};
    buf_add(&ir, "kernel k(a: i64)\nblock 0:\n  print \"");
    for (int i = 0; i < operands; i++)
        buf_add(&ir, "%lld,");
    buf_add(&ir, "\"");
    for (int i = 0; i < operands; i++)
        buf_add(&ir, ", a");
    buf_add(&ir, "\n  return\n");
    char *ptx = compile_ptx(buf_text(&ir), 90, (CompileOptions){.opt = 3, .fmad = true});
    CHECK(count_of(ptx, "call.uni (retval0), vprintf") == calls);
    check_assembles("print", buf_text(&ir), 0);
    memory_free(ptx);
    buf_free(&ir);
}

void test_print_ptx(void)
{
    check_calls(0, 1);
    check_calls(32, 1);
    check_calls(33, 2);
    check_calls(70, 3);
    char *ptx = compile_ptx("kernel k(a: bool)\nblock 0:\n  print \"x %s\", a\n  print \"x %s\", a\n  return\n", 90,
                            (CompileOptions){.opt = 3, .fmad = true});
    CHECK(count_of(ptx, "{120, 32, 37, 115") == 1);
    memory_free(ptx);
}
