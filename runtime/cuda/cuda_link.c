/* Links a kernel's PTX, or parts alone, with code from elsewhere to machine code: by the driver's linker, or by nvJitLink
 * where there is LTO-IR among it. CUDA C is compiled first. Failures carry the linker's log. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"
#include "runtime/cuda/cuda_source.h"
#include "runtime/cuda/driver/driver.h"
#include "runtime/cuda/driver/toolkit.h"

enum { LOG_BYTES = 1536, MOST_OPTIONS = 32 };

/* One link while it happens. */
typedef struct Link {
    const RtLinking *linking;
    bool by_nvjitlink, optimizes; /* with nvJitLink, all LTO-IR together */
    CUlinkState driver; /* of the driver's linker, which writes to the values while it lives */
    CUjit_option options[8];
    void *values[8];
    unsigned int option_count;
    void *handle; /* of nvJitLink */
    char error_log[LOG_BYTES], info_log[LOG_BYTES];
} Link;

static void trim(char *log)
{
    size_t length = strlen(log);
    while (length && (log[length - 1] == '\n' || log[length - 1] == ' '))
        log[--length] = 0;
}

/* --- the driver's linker -------------------------------------------------------------------------------------------------- */
static bool driver_failed(Link *link, const char *what, CUresult result, Diag *diag)
{
    trim(link->error_log);
    char why[256];
    snprintf(why, sizeof why, "%s (%d)", driver_error_name(result), (int)result);
    return diag_fail_code(diag, (int)result, DIAG_LINK, "the driver", what, why, link->error_log);
}

static void add_option(Link *link, CUjit_option option, uintptr_t value)
{
    link->options[link->option_count] = option;
    link->values[link->option_count++] = (void *)value;
}

static bool driver_begin(Link *link, Diag *diag)
{
    add_option(link, CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)link->error_log);
    add_option(link, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES - 1);
    add_option(link, CU_JIT_INFO_LOG_BUFFER, (uintptr_t)link->info_log);
    add_option(link, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, LOG_BYTES - 1);
    if (link->linking->max_registers)
        add_option(link, CU_JIT_MAX_REGISTERS, (uintptr_t)link->linking->max_registers);
    if (link->linking->lineinfo)
        add_option(link, CU_JIT_GENERATE_LINE_INFO, 1);
    return driver_call(diag, cuLinkCreate, link->option_count, link->options, link->values, &link->driver);
}

static bool driver_add(Link *link, LinkKind kind, const char *name, const void *data, size_t size, Diag *diag)
{
    CUresult result =
        driver.cuLinkAddData(link->driver, link_kind_info[kind].driver, (void *)data, size, name, 0, NULL, NULL);
    return result == CUDA_SUCCESS || driver_failed(link, name, result, diag);
}

static bool driver_end(Link *link, RtCode *out, Diag *diag)
{
    void *code = NULL;
    CUresult result = driver.cuLinkComplete(link->driver, &code, &out->size);
    if (result != CUDA_SUCCESS)
        return driver_failed(link, link->linking->items[0]->name, result, diag);
    out->bytes = memory_new(out->size + 1, diag);
    if (out->bytes)
        memcpy(out->bytes, code, out->size);
    return out->bytes != NULL;
}

/* --- nvJitLink ------------------------------------------------------------------------------------------------------------ */
static void read_log(void *handle, int (*size_of)(void *, size_t *), int (*get)(void *, char *), char *log)
{
    size_t size = 0;
    char *whole = size_of(handle, &size) ? NULL : memory_try(size + 1);
    if (whole && !get(handle, whole)) {
        size_t kept = size < LOG_BYTES - 1 ? size : LOG_BYTES - 1;
        memcpy(log, whole, kept);
        log[kept] = 0;
    }
    memory_free(whole);
}

static bool nvjitlink_failed(Link *link, const char *what, int result, Diag *diag)
{
    char why[64];
    snprintf(why, sizeof why, "nvJitLinkResult %d", result);
    if (link->handle)
        read_log(link->handle, toolkit.nvjitlink.error_log_size, toolkit.nvjitlink.error_log, link->error_log);
    trim(link->error_log);
    return diag_fail_code(diag, result, DIAG_LINK, "nvJitLink", what, why, link->error_log);
}

static bool has_kind(const RtLinking *linking, LinkKind kind)
{
    for (uint32_t i = 0; i < linking->count; i++)
        if (linking->items[i]->kind == kind)
            return true;
    return false;
}

static bool nvjitlink_begin(Link *link, Diag *diag)
{
    const RtLinking *linking = link->linking;
    const char *options[MOST_OPTIONS];
    char architecture[32], registers[32];
    uint32_t count = 0;
    snprintf(architecture, sizeof architecture, "-arch=sm_%d", linking->sm);
    options[count++] = architecture;
    if (link->optimizes)
        options[count++] = "-lto";
    if (linking->want_ptx)
        options[count++] = "-ptx";
    if (linking->lineinfo)
        options[count++] = "-lineinfo";
    if (linking->debug)
        options[count++] = "-g";
    if (linking->max_registers) {
        snprintf(registers, sizeof registers, "-maxrregcount=%d", linking->max_registers);
        options[count++] = registers;
    }
    for (uint32_t i = 0; i < linking->option_count && count < MOST_OPTIONS; i++)
        options[count++] = linking->options[i];
    int result = toolkit.nvjitlink.create(&link->handle, count, options);
    return !result || nvjitlink_failed(link, "its options", result, diag);
}

static bool nvjitlink_add(Link *link, LinkKind kind, const char *name, const void *data, size_t size, Diag *diag)
{
    int result = toolkit.nvjitlink.add_data(link->handle, link_kind_info[kind].nvjitlink, data, size, name);
    return !result || nvjitlink_failed(link, name, result, diag);
}

static bool nvjitlink_end(Link *link, RtCode *out, Diag *diag)
{
    const NvJitLink *nvjitlink = &toolkit.nvjitlink;
    bool want_ptx = link->linking->want_ptx;
    const char *what = link->linking->items[0]->name;
    int result = nvjitlink->complete(link->handle);
    if (!result)
        result = (want_ptx ? nvjitlink->ptx_size : nvjitlink->cubin_size)(link->handle, &out->size);
    if (result)
        return nvjitlink_failed(link, what, result, diag);
    out->bytes = memory_new(out->size + 1, diag);
    if (!out->bytes)
        return false;
    result = want_ptx ? nvjitlink->ptx(link->handle, out->bytes) : nvjitlink->cubin(link->handle, out->bytes);
    read_log(link->handle, nvjitlink->info_log_size, nvjitlink->info_log, link->info_log);
    while (want_ptx && out->size && !out->bytes[out->size - 1])
        out->size--; /* the zero behind the text counts there */
    return !result || nvjitlink_failed(link, what, result, diag);
}

/* --- either --------------------------------------------------------------------------------------------------------------- */
static bool add_code(Link *link, LinkKind kind, const char *name, const void *data, size_t size, Diag *diag)
{
    if (kind == LINK_PTX)
        size = strlen(data) + 1; /* a text ends with its zero */
    return (link->by_nvjitlink ? nvjitlink_add : driver_add)(link, kind, name, data, size, diag);
}

static bool add_item(Link *link, const LinkItem *item, Diag *diag)
{
    if (item->kind != LINK_CU)
        return add_code(link, item->kind, item->name, item->data, item->size, diag);
    RtCode code;
    bool as_ltoir = link->optimizes;
    if (!cuda_compile_item(item, link->linking->sm, as_ltoir, link->linking, &code, diag))
        return false;
    bool ok = add_code(link, as_ltoir ? LINK_LTOIR : LINK_PTX, item->name, code.bytes, code.size, diag);
    rt_code_free(&code);
    return ok;
}

static bool run(Link *link, RtCode *out, Diag *diag)
{
    if (!(link->by_nvjitlink ? nvjitlink_begin : driver_begin)(link, diag))
        return false;
    for (uint32_t i = 0; i < link->linking->count; i++)
        if (link_kind_info[link->linking->items[i]->kind].on_gpu && !add_item(link, link->linking->items[i], diag))
            return false;
    return (link->by_nvjitlink ? nvjitlink_end : driver_end)(link, out, diag);
}

static bool run_by_driver(Link *link, RtCode *out, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_uncaptured(link->linking->device, &scope, diag))
        return false;
    bool ok = run(link, out, diag);
    if (link->driver)
        driver.cuLinkDestroy(link->driver);
    return cuda_leave(&scope, ok);
}

static bool run_by_nvjitlink(Link *link, RtCode *out, Diag *diag)
{
    bool ok = toolkit_need(TOOLKIT_NVJITLINK, diag) && run(link, out, diag);
    if (link->handle)
        toolkit.nvjitlink.destroy(&link->handle);
    return ok;
}

bool rt_link(const RtLinking *linking, RtCode *out, Diag *diag)
{
    *out = (RtCode){0};
    Link *link = memory_new(sizeof *link, diag);
    if (!link)
        return false;
    link->linking = linking;
    link->optimizes = linking->lto || linking->want_ptx || has_kind(linking, LINK_LTOIR);
    link->by_nvjitlink = link->optimizes || !linking->device;
    bool ok = (link->by_nvjitlink ? run_by_nvjitlink : run_by_driver)(link, out, diag);
    if (ok && link->info_log[0]) {
        out->log = memory_new(strlen(link->info_log) + 1, diag);
        ok = out->log && strcpy(out->log, link->info_log);
    }
    if (!ok)
        rt_code_free(out);
    memory_free(link);
    return ok;
}
