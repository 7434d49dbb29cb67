/* CUDA C -> PTX, cubin or LTO-IR by NVRTC. Failures carry its log. */
#include "runtime/cuda/cuda_source.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "runtime/cuda/driver/toolkit.h"

enum { MOST_OPTIONS = 96, MOST_LOG = 1600 };

/* The command line of one compilation. */
typedef struct CommandLine {
    const char *options[MOST_OPTIONS];
    int count;
    char architecture[64];
    char *includes[MOST_OPTIONS]; /* owned */
    int include_count;
} CommandLine;

static void add(CommandLine *line, const char *option)
{
    if (line->count < MOST_OPTIONS)
        line->options[line->count++] = option;
}

static bool add_includes(CommandLine *line, Diag *diag)
{
    for (const char *const *folder = toolkit_include_folders(); *folder && line->include_count < MOST_OPTIONS;
         folder++) {
        size_t size = strlen(*folder) + sizeof "--include-path=";
        char *option = memory_new(size, diag);
        if (!option)
            return false;
        snprintf(option, size, "--include-path=%s", *folder);
        line->includes[line->include_count++] = option;
        add(line, option);
    }
    return true;
}

static bool fill_line(CommandLine *line, const RtSource *source, Diag *diag)
{
    snprintf(line->architecture, sizeof line->architecture, "--gpu-architecture=%s_%d",
             source->output == RT_CODE_CUBIN ? "sm" : "compute", source->sm);
    add(line, line->architecture);
    if (source->is_relocatable)
        add(line, "--relocatable-device-code=true");
    if (source->output == RT_CODE_LTOIR)
        add(line, "--dlink-time-opt");
    if (source->lineinfo)
        add(line, "--generate-line-info");
    if (source->debug)
        add(line, "--device-debug");
    for (uint32_t i = 0; i < source->option_count; i++)
        add(line, source->options[i]);
    return add_includes(line, diag);
}

/* --- results ---------------------------------------------------------------------------------------------------------- */
static bool take(void *program, int (*size_of)(void *, size_t *), int (*get)(void *, char *), char **bytes,
                 size_t *size, Diag *diag)
{
    *size = 0;
    if (size_of(program, size))
        return diag_fail(diag, NULL, DIAG_LINK, "NVRTC", "its result", "it has made none", "");
    *bytes = memory_new(*size + 1, diag);
    return *bytes && !get(program, *bytes);
}

static bool fail_with_log(void *program, const RtSource *source, Diag *diag)
{
    char *log = NULL;
    size_t size = 0;
    if (take(program, toolkit.nvrtc.log_size, toolkit.nvrtc.log, &log, &size, diag)) {
        if (size > MOST_LOG)
            log[MOST_LOG] = 0;
        diag_fail(diag, NULL, DIAG_SOURCE, "NVRTC", source->name, log);
    }
    memory_free(log);
    return false;
}

static bool take_names(void *program, const RtSource *source, char **lowered, Diag *diag)
{
    for (uint32_t i = 0; i < source->expression_count; i++) {
        const char *name = NULL;
        if (toolkit.nvrtc.lowered_name(program, source->expressions[i], &name) || !name)
            return diag_fail(diag, NULL, DIAG_LINK, "NVRTC", source->name, "it has no kernel or variable called",
                             source->expressions[i]);
        lowered[i] = memory_new(strlen(name) + 1, diag);
        if (!lowered[i])
            return false;
        strcpy(lowered[i], name);
    }
    return true;
}

static bool compile(void *program, const RtSource *source, const CommandLine *line, RtCode *code, char **lowered,
                    Diag *diag)
{
    for (uint32_t i = 0; i < source->expression_count; i++)
        if (toolkit.nvrtc.add_name(program, source->expressions[i]))
            return diag_fail(diag, NULL, DIAG_LINK, "NVRTC", source->name, "it takes no name such as",
                             source->expressions[i]);
    if (toolkit.nvrtc.compile(program, line->count, line->options))
        return fail_with_log(program, source, diag);
    const Nvrtc *nvrtc = &toolkit.nvrtc;
    bool ok = source->output == RT_CODE_PTX
                  ? take(program, nvrtc->ptx_size, nvrtc->ptx, &code->bytes, &code->size, diag)
              : source->output == RT_CODE_CUBIN
                  ? take(program, nvrtc->cubin_size, nvrtc->cubin, &code->bytes, &code->size, diag)
                  : take(program, nvrtc->ltoir_size, nvrtc->ltoir, &code->bytes, &code->size, diag);
    return ok && take_names(program, source, lowered, diag);
}

bool rt_compile_source(const RtSource *source, RtCode *code, char **lowered, Diag *diag)
{
    CommandLine line = {.count = 0};
    void *program = NULL;
    *code = (RtCode){0};
    bool ok = toolkit_need(TOOLKIT_NVRTC, diag) && fill_line(&line, source, diag);
    if (ok && toolkit.nvrtc.create(&program, source->text, source->name, 0, NULL, NULL))
        ok = diag_fail(diag, NULL, DIAG_LINK, "NVRTC", source->name, "it takes no such source", "");
    ok = ok && compile(program, source, &line, code, lowered, diag);
    if (program)
        toolkit.nvrtc.destroy(&program);
    for (int i = 0; i < line.include_count; i++)
        memory_free(line.includes[i]);
    if (!ok)
        rt_code_free(code);
    return ok;
}

void rt_code_free(RtCode *code)
{
    memory_free(code->bytes);
    memory_free(code->log);
    *code = (RtCode){0};
}

bool cuda_compile_item(const LinkItem *item, int sm, bool as_ltoir, const RtLinking *linking, RtCode *code, Diag *diag)
{
    RtSource source = {.text = item->data,
                       .name = item->name,
                       .sm = sm,
                       .output = as_ltoir ? RT_CODE_LTOIR : RT_CODE_PTX,
                       .is_relocatable = true,
                       .lineinfo = linking->lineinfo,
                       .debug = linking->debug};
    return rt_compile_source(&source, code, NULL, diag);
}
