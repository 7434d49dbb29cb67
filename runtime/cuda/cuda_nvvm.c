/* LLVM IR -> LTO-IR by libNVVM. Failures carry its log. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "runtime/cuda/driver/toolkit.h"
#include "runtime/runtime.h"

enum { MOST_LOG = 1600 };

static bool fail_with_log(void *program, const char *name, Diag *diag)
{
    size_t size = 0;
    char *log = toolkit.nvvm.log_size(program, &size) ? NULL : memory_new(size + 1, diag);
    if (log && !toolkit.nvvm.log(program, log) && size > MOST_LOG)
        log[MOST_LOG] = 0;
    if (log)
        diag_fail(diag, NULL, DIAG_SOURCE, "libNVVM", name, log);
    memory_free(log);
    return diag_failed(diag) ? false : diag_fail(diag, NULL, DIAG_SOURCE, "libNVVM", name, "it does not say why");
}

static bool compile(void *program, const RtSource *source, RtCode *code, Diag *diag)
{
    char architecture[64];
    snprintf(architecture, sizeof architecture, "-arch=compute_%d", source->sm);
    const char *const options[] = {architecture, "-gen-lto"};
    if (toolkit.nvvm.add_module(program, source->text, strlen(source->text), source->name) ||
        toolkit.nvvm.compile(program, sizeof options / sizeof *options, options) ||
        toolkit.nvvm.result_size(program, &code->size))
        return fail_with_log(program, source->name, diag);
    code->bytes = memory_new(code->size + 1, diag);
    return code->bytes && (!toolkit.nvvm.result(program, code->bytes) || fail_with_log(program, source->name, diag));
}

bool rt_compile_llvm(const RtSource *source, RtCode *code, Diag *diag)
{
    void *program = NULL;
    *code = (RtCode){0};
    bool ok = toolkit_need(TOOLKIT_NVVM, diag);
    if (ok && toolkit.nvvm.create(&program))
        ok = diag_fail(diag, NULL, DIAG_SOURCE, "libNVVM", source->name, "it cannot begin");
    ok = ok && compile(program, source, code, diag);
    if (program)
        toolkit.nvvm.destroy(&program);
    if (!ok)
        rt_code_free(code);
    return ok;
}
