/* Makes a host object runnable in this process: LLVM's ORC, one instance for each object. The math library's functions
 * are given by address, so that they resolve however they were linked. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "codegen/host_rounding.h"
#include "codegen/llvm.h"

struct HostCode {
    LLVMOrcLLJITRef jit;
    HostThreadEntry thread;
    HostBlocksEntry blocks;
};

typedef void (*AnyFunction)(void);
typedef struct Symbol {
    const char *name;
    AnyFunction function;
} Symbol;

static const Symbol symbols[] = {
#define SYMBOL(name) {#name, (AnyFunction)(name)},
#define FUNCTION(name, ...) {#name, (AnyFunction)(name)},
#include "codegen/host_symbol.def"
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

static bool define_symbols(LLVMOrcLLJITRef jit, Diag *diag)
{
    LLVMOrcCSymbolMapPair pairs[SYMBOL_COUNT];
    for (int i = 0; i < SYMBOL_COUNT; i++) {
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit, symbols[i].name);
        pairs[i].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)symbols[i].function;
        pairs[i].Sym.Flags =
            (LLVMJITSymbolFlags){LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
    }
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, SYMBOL_COUNT);
    return check(LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit), unit), diag);
}

static bool add_object(LLVMOrcLLJITRef jit, const CodeImage *image, Diag *diag)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(image->code, image->code_size, image->entry);
    return check(LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), buffer), diag);
}

static void *look_up(LLVMOrcLLJITRef jit, const char *entry, const char *suffix, Diag *diag)
{
    size_t size = strlen(entry) + strlen(suffix) + 1;
    char *name = malloc(size);
    memcpy(name, entry, strlen(entry));
    memcpy(name + strlen(entry), suffix, strlen(suffix) + 1);
    LLVMOrcExecutorAddress address = 0;
    bool found = check(LLVMOrcLLJITLookup(jit, &address, name), diag);
    free(name);
    return found ? (void *)(uintptr_t)address : NULL;
}

static void initialize_backend(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

static bool link_object(HostCode *code, const CodeImage *image, Diag *diag)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize_backend);
    if (!check(LLVMOrcCreateLLJIT(&code->jit, NULL), diag) || !define_symbols(code->jit, diag) ||
        !add_object(code->jit, image, diag))
        return false;
    if (image->has_real_threads)
        code->thread = (HostThreadEntry)look_up(code->jit, image->entry, ".thread", diag);
    else
        code->blocks = (HostBlocksEntry)look_up(code->jit, image->entry, ".blocks", diag);
    return !diag_failed(diag);
}

HostCode *codegen_link_host(const CodeImage *image, Diag *diag)
{
    HostCode *code = calloc(1, sizeof *code);
    if (link_object(code, image, diag))
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
    free(code);
}

HostThreadEntry codegen_host_thread_entry(const HostCode *code) { return code->thread; }

HostBlocksEntry codegen_host_blocks_entry(const HostCode *code) { return code->blocks; }
