/* Makes a host object runnable in this process: LLVM's ORC, one instance for each object. The functions that it calls are
 * given by address, so that they resolve however they were linked: the processor's elementary functions where it has them,
 * else those of host_symbol.def. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "codegen/host/elementary/elementary.h"
#include "codegen/host/host_rounding.h"
#include "codegen/host/object/host_foreign.h"
#include "codegen/host/object/host_jit.h"
#include "codegen/host/object/host_object.h"
#include "codegen/llvm.h"
#include "core/base/memory.h"

typedef struct HostText {
    const void *at;
    size_t size;
} HostText;

struct HostCode {
    LLVMOrcLLJITRef jit;
    HostThreadEntry thread;
    HostBlocksEntry blocks;
    void *lines;
    ObservedSite *sites;
    HostForeign foreign;
    HostText text;
    char report[512]; /* what ORC said last */
};

typedef void (*AnyFunction)(void);
typedef struct Symbol {
    const char *name;
    AnyFunction function;
} Symbol;

static const Symbol symbols[] = {
#define SYMBOL(name) {#name, (AnyFunction)(name)},
#define FUNCTION(name, ...) {#name, (AnyFunction)(name)},
#include "codegen/host/object/host_symbol.def"
#undef SYMBOL
#undef FUNCTION
};
enum { SYMBOL_COUNT = sizeof symbols / sizeof symbols[0] };

bool codegen_host_has_symbol(const char *name)
{
    for (int i = 0; i < SYMBOL_COUNT; i++)
        if (!strcmp(symbols[i].name, name))
            return true;
    return false;
}

static bool check(LLVMErrorRef error, Diag *diag)
{
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    diag_fail(diag, NULL, DIAG_LLVM, message);
    LLVMDisposeErrorMessage(message);
    return false;
}

static AnyFunction find_symbol(const HostForeign *foreign, const char *name)
{
    AnyFunction function = (AnyFunction)host_foreign_symbol(foreign, name);
    if (!function)
        function = elementary_code(name);
    for (int i = 0; !function && i < SYMBOL_COUNT; i++)
        if (!strcmp(symbols[i].name, name))
            function = symbols[i].function;
    return function;
}

enum { SYMBOLS_AT_ONCE = 32 };

/* Asked by ORC for what the object calls. */
static LLVMErrorRef define_symbols(LLVMOrcDefinitionGeneratorRef generator, void *context, LLVMOrcLookupStateRef *state,
                                   LLVMOrcLookupKind kind, LLVMOrcJITDylibRef library, LLVMOrcJITDylibLookupFlags flags,
                                   LLVMOrcCLookupSet names, size_t count)
{
    (void)generator, (void)state, (void)kind, (void)flags;
    LLVMOrcCSymbolMapPair pairs[SYMBOLS_AT_ONCE];
    LLVMErrorRef error = NULL;
    size_t found = 0;
    for (size_t i = 0; i < count && !error; i++) {
        AnyFunction function = find_symbol(context, LLVMOrcSymbolStringPoolEntryStr(names[i].Name));
        if (function) {
            LLVMOrcRetainSymbolStringPoolEntry(names[i].Name);
            pairs[found].Name = names[i].Name;
            pairs[found].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)function;
            pairs[found++].Sym.Flags =
                (LLVMJITSymbolFlags){LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
        }
        if (found && (found == SYMBOLS_AT_ONCE || i + 1 == count)) {
            error = LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(pairs, found));
            found = 0;
        }
    }
    return error;
}

static void add_symbols(HostCode *code)
{
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(code->jit),
                                LLVMOrcCreateCustomCAPIDefinitionGenerator(define_symbols, &code->foreign, NULL));
}

static bool add_object(LLVMOrcLLJITRef jit, const KernelImage *image, Diag *diag)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(image->code, image->code_size, image->name);
    return check(LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), buffer), diag);
}

/* Nothing but code from elsewhere can be missing. */
static void keep_report(void *context, LLVMErrorRef error)
{
    HostCode *code = context;
    char *message = LLVMGetErrorMessage(error);
    snprintf(code->report, sizeof code->report, "%s", message);
    LLVMDisposeErrorMessage(message);
}

static bool check_lookup(const HostCode *code, LLVMErrorRef error, const char *kernel, Diag *diag)
{
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    diag_fail(diag, NULL, DIAG_LINK, "the CPU device", kernel, "what it calls is not in the code linked with it",
              code->report[0] ? code->report : message);
    LLVMDisposeErrorMessage(message);
    return false;
}

/* *section: of the object, that the symbol is in; at NULL where that is not known. */
static void *look_up(const HostCode *code, const KernelImage *image, const char *suffix, HostText *section, Diag *diag)
{
    const char *entry = image->name;
    size_t size = strlen(entry) + strlen(suffix) + 1;
    char *name = memory_new(size, diag);
    if (!name)
        return NULL;
    memcpy(name, entry, strlen(entry));
    memcpy(name + strlen(entry), suffix, strlen(suffix) + 1);
    LLVMOrcExecutorAddress address = 0;
    uint64_t offset;
    bool found = check_lookup(code, LLVMOrcLLJITLookup(code->jit, &address, name), entry, diag);
    if (found && host_object_text(image->code, image->code_size, name, &offset, &section->size))
        section->at = (const void *)(uintptr_t)(address - offset);
    memory_free(name);
    return found ? (void *)(uintptr_t)address : NULL;
}

static bool link_object(HostCode *code, const KernelImage *image, const LinkItem *const *links, uint32_t link_count,
                        Diag *diag)
{
    if (!check(make_linking_jit(&code->jit, link_count), diag) || !add_object(code->jit, image, diag))
        return false;
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(code->jit), keep_report, code);
    add_symbols(code);
    if (link_count && !host_foreign_open(&code->foreign, code->jit, links, link_count, diag))
        return false;
    if (image->has_real_threads)
        code->thread = (HostThreadEntry)look_up(code, image, ".thread", &code->text, diag);
    else
        code->blocks = (HostBlocksEntry)look_up(code, image, ".blocks", &code->text, diag);
    if (image->line_cells)
        code->lines = look_up(code, image, ".lines", &(HostText){0}, diag);
    if (image->site_count)
        code->sites = look_up(code, image, ".sites", &(HostText){0}, diag);
    return !diag_failed(diag);
}

HostCode *codegen_link_host(const KernelImage *image, const LinkItem *const *links, uint32_t link_count, Diag *diag)
{
    HostCode *code = memory_new(sizeof *code, diag);
    if (!code)
        return NULL;
    if (link_object(code, image, links, link_count, diag))
        return code;
    codegen_unlink_host(code);
    return NULL;
}

void codegen_unlink_host(HostCode *code)
{
    if (!code)
        return;
    if (code->jit)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(code->jit));
    host_foreign_close(&code->foreign);
    memory_free(code);
}

HostThreadEntry codegen_host_thread_entry(const HostCode *code) { return code->thread; }

HostBlocksEntry codegen_host_blocks_entry(const HostCode *code) { return code->blocks; }

void *codegen_host_lines(const HostCode *code) { return code->lines; }

const void *codegen_host_text(const HostCode *code, size_t *size)
{
    *size = code->text.size;
    return code->text.at;
}

ObservedSite *codegen_host_sites(const HostCode *code) { return code->sites; }
