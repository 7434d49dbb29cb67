/* Makes a host object runnable in this process: by itself (host_map.c), or, where other code is linked with it or it has
 * what is not known there, by LLVM's ORC, one instance for each object. The functions that it calls are given by address, so
 * that they resolve however they were linked: the processor's elementary functions where it has them, else those of
 * host_symbol.def. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "codegen/host/elementary/elementary.h"
#include "codegen/host/host_rounding.h"
#include "codegen/host/object/host_foreign.h"
#include "codegen/host/object/host_jit.h"
#include "codegen/host/object/host_map.h"
#include "codegen/host/object/host_object.h"
#include "codegen/llvm.h"
#include "core/base/memory.h"
#include "core/thread/fork_lock.h"

typedef struct HostText {
    const void *at;
    size_t size;
} HostText;

struct HostCode {
    HostMap map;
    LLVMOrcLLJITRef jit; /* NULL: it is mapped */
    HostThreadEntry thread;
    HostBlocksEntry blocks;
    void *lines;
    ObservedSite *sites;
    HostForeign foreign;
    HostText text;
    char report[512]; /* what ORC said last */
};

typedef struct Symbol {
    const char *name;
    HostFunction function;
} Symbol;

static const Symbol symbols[] = {
#define SYMBOL(name) {#name, (HostFunction)(name)},
#define FUNCTION(name, ...) {#name, (HostFunction)(name)},
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

static HostFunction find_symbol(const void *foreign, const char *name)
{
    HostFunction function = (HostFunction)host_foreign_symbol(foreign, name);
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
        HostFunction function = find_symbol(context, LLVMOrcSymbolStringPoolEntryStr(names[i].Name));
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

static bool find_address(const HostCode *code, const HostObject *object, const KernelImage *image, const char *name,
                         uint8_t **address, HostText *section, Diag *diag)
{
    LLVMOrcExecutorAddress found = 0;
    Elf64_Shdr around;
    Elf64_Sym symbol = {0};
    bool is_read = host_object_find(object, name, &symbol, &around);
    if (code->jit) {
        if (!check_lookup(code, LLVMOrcLLJITLookup(code->jit, &found, name), image->name, diag))
            return false;
        *address = (uint8_t *)(uintptr_t)found;
    } else {
        uint8_t *place = is_read && symbol.st_shndx < HOST_MAP_SECTIONS ? code->map.places[symbol.st_shndx] : NULL;
        if (!place)
            return diag_fail(diag, NULL, DIAG_LLVM, "an object without its kernel");
        *address = place + symbol.st_value;
    }
    if (is_read)
        *section = (HostText){*address - symbol.st_value, around.sh_size};
    return true;
}

/* *section: of the object, that the symbol is in; at NULL where that is not known. */
static void *look_up(const HostCode *code, const HostObject *object, const KernelImage *image, const char *suffix,
                     HostText *section, Diag *diag)
{
    const char *entry = image->name;
    size_t size = strlen(entry) + strlen(suffix) + 1;
    char *name = memory_new(size, diag);
    uint8_t *address = NULL;
    if (!name)
        return NULL;
    memcpy(name, entry, strlen(entry));
    memcpy(name + strlen(entry), suffix, strlen(suffix) + 1);
    bool found = find_address(code, object, image, name, &address, section, diag);
    memory_free(name);
    return found ? address : NULL;
}

static bool link_by_jit(HostCode *code, const KernelImage *image, const LinkItem *const *links, uint32_t link_count,
                        Diag *diag)
{
    if (!check(make_linking_jit(&code->jit, link_count), diag) || !add_object(code->jit, image, diag))
        return false;
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(code->jit), keep_report, code);
    add_symbols(code);
    return !link_count || host_foreign_open(&code->foreign, code->jit, links, link_count, diag);
}

static bool link_object(HostCode *code, const KernelImage *image, const LinkItem *const *links, uint32_t link_count,
                        Diag *diag)
{
    HostObject object;
    bool is_mapped = host_object_open(&object, image->code, image->code_size) && !link_count &&
                     host_map_object(&code->map, &object, find_symbol, &code->foreign);
    if (!is_mapped && !link_by_jit(code, image, links, link_count, diag))
        return false;
    if (image->has_real_threads)
        code->thread = (HostThreadEntry)look_up(code, &object, image, ".thread", &code->text, diag);
    else
        code->blocks = (HostBlocksEntry)look_up(code, &object, image, ".blocks", &code->text, diag);
    if (image->line_cells)
        code->lines = look_up(code, &object, image, ".lines", &(HostText){0}, diag);
    if (image->site_count)
        code->sites = look_up(code, &object, image, ".sites", &(HostText){0}, diag);
    return !diag_failed(diag);
}

HostCode *codegen_link_host(const KernelImage *image, const LinkItem *const *links, uint32_t link_count, Diag *diag)
{
    HostCode *code = memory_new(sizeof *code, diag);
    if (!code)
        return NULL;
    MemoryCleanup whole; /* as of what makes code */
    whole_work_begin();
    memory_defer(&whole, whole_work_end, NULL);
    bool done = link_object(code, image, links, link_count, diag);
    memory_end(&whole);
    if (done)
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
    host_unmap(&code->map);
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
