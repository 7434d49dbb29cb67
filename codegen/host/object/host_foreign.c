/* What kernels of the CPU device call beside themselves: shared libraries; C and CUDA C, which a compiler of the machine
 * makes shared libraries of; object files and archives, which LLVM links. Files live no longer than the linking. */
#include "codegen/host/object/host_foreign.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/memory.h"

extern char **environ;

enum { PATH_BYTES = 1024, LOG_BYTES = 1400 };

/* A folder of its own with an input, an output and what the compiler says. */
typedef struct Workshop {
    char folder[PATH_BYTES / 2], input[PATH_BYTES], output[PATH_BYTES], log[PATH_BYTES];
} Workshop;

/* --- files -------------------------------------------------------------------------------------------------------------- */
static bool write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(bytes, 1, size, file) == size;
    return (!file || fclose(file) == 0) && ok;
}

static void read_log(const char *path, char *text)
{
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, LOG_BYTES - 1, file) : 0;
    while (size && text[size - 1] == '\n')
        size--;
    text[size] = 0;
    if (file)
        fclose(file);
}

static bool open_workshop(Workshop *shop, const LinkItem *item, const char *ending, Diag *diag)
{
    const char *parent = getenv("TMPDIR");
    int length = snprintf(shop->folder, sizeof shop->folder, "%s/cujit-XXXXXX", parent && *parent ? parent : "/tmp");
    if (length >= (int)sizeof shop->folder || !mkdtemp(shop->folder)) {
        shop->folder[0] = 0;
        return diag_fail(diag, NULL, DIAG_HOST_COMPILER, item->name, "no temporary folder can be made", "");
    }
    snprintf(shop->input, sizeof shop->input, "%s/input.%s", shop->folder, ending);
    snprintf(shop->output, sizeof shop->output, "%s/output.so", shop->folder);
    snprintf(shop->log, sizeof shop->log, "%s/log", shop->folder);
    return write_file(shop->input, item->data, item->size) ||
           diag_fail(diag, NULL, DIAG_HOST_COMPILER, item->name, "its copy in a temporary folder cannot be written",
                     "");
}

static void close_workshop(const Workshop *shop)
{
    if (!shop->folder[0])
        return;
    unlink(shop->input);
    unlink(shop->output);
    unlink(shop->log);
    rmdir(shop->folder);
}

/* --- compiling ------------------------------------------------------------------------------------------------------------ */
/* The exit status; -1: there is no such program. */
static int run_compiler(const char *program, const char *const *arguments, const Workshop *shop)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, shop->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    bool started = posix_spawnp(&child, program, &actions, NULL, (char *const *)arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!started || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

/* CUDA C is C++ whose words for places mean nothing here. */
static bool compile(const LinkItem *item, const Workshop *shop, Diag *diag)
{
    bool is_cuda = item->kind == LINK_CU;
    const char *wished = getenv(is_cuda ? "CXX" : "CC");
    const char *programs[] = {wished && *wished ? wished
                              : is_cuda         ? "c++"
                                                : "cc",
                              is_cuda ? "clang++" : "clang", is_cuda ? "g++" : "gcc"};
    const char *arguments[24] = {
        "cc", "-shared", "-fPIC", "-O2", "-w", "-o", shop->output, "-x", is_cuda ? "c++" : "c"};
    int count = 9;
    static const char *const words[] = {"-D__device__=",   "-D__host__=",          "-D__forceinline__=inline",
                                        "-D__noinline__=", "-D__constant__=const", "-D__managed__="};
    for (size_t i = 0; is_cuda && i < sizeof words / sizeof *words; i++)
        arguments[count++] = words[i];
    if (is_cuda) { /* as NVRTC, which knows size_t without a header */
        arguments[count++] = "-include";
        arguments[count++] = "stddef.h";
    }
    arguments[count++] = shop->input;
    arguments[count++] = "-lm";
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        arguments[0] = programs[i];
        int status = run_compiler(programs[i], arguments, shop);
        if (status < 0)
            continue;
        char log[LOG_BYTES];
        read_log(shop->log, log);
        return status == 0 || diag_fail(diag, NULL, DIAG_HOST_COMPILER, item->name, programs[i], log);
    }
    return diag_fail(
        diag, NULL, DIAG_HOST_COMPILER, item->name,
        is_cuda ? "there is no C++ compiler (c++, clang++ or g++)" : "there is no C compiler (cc, clang or gcc)", "");
}

static bool open_library(const char *path, const LinkItem *item, void **library, Diag *diag)
{
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = *library ? NULL : dlerror();
    return *library ||
           diag_fail(diag, NULL, DIAG_LINK, "the CPU device", item->name, "it cannot be opened", why ? why : "");
}

/* --- one item --------------------------------------------------------------------------------------------------------------- */
static bool check(LLVMErrorRef error, const LinkItem *item, Diag *diag)
{
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    diag_fail(diag, NULL, DIAG_LINK, "the CPU device", item->name, "it is no such file of this machine", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

static bool add_object(LLVMOrcLLJITRef jit, const LinkItem *item, Diag *diag)
{
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(item->data, item->size, item->name);
    return check(LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), buffer), item, diag);
}

static bool add_archive(LLVMOrcLLJITRef jit, const LinkItem *item, const Workshop *shop, Diag *diag)
{
    LLVMOrcDefinitionGeneratorRef generator = NULL;
    LLVMErrorRef error =
        LLVMOrcCreateStaticLibrarySearchGeneratorForPath(&generator, LLVMOrcLLJITGetObjLinkingLayer(jit), shop->input);
    if (!check(error, item, diag))
        return false;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
    return true;
}

static bool open_item(LLVMOrcLLJITRef jit, const LinkItem *item, void **library, Diag *diag)
{
    if (item->kind == LINK_OBJECT)
        return add_object(jit, item, diag);
    if (item->kind == LINK_SHARED && item->path)
        return open_library(item->path, item, library, diag);
    Workshop shop;
    bool is_source = item->kind == LINK_C || item->kind == LINK_CU;
    bool ok = open_workshop(&shop, item, link_kind_info[item->kind].ending, diag);
    if (ok && item->kind == LINK_ARCHIVE)
        ok = add_archive(jit, item, &shop, diag);
    else if (ok)
        ok = (!is_source || compile(item, &shop, diag)) &&
             open_library(is_source ? shop.output : shop.input, item, library, diag);
    close_workshop(&shop);
    return ok;
}

/* --- all ---------------------------------------------------------------------------------------------------------------------- */
/* What objects call of the C library. */
static bool add_process(LLVMOrcLLJITRef jit, const LinkItem *item, Diag *diag)
{
    LLVMOrcDefinitionGeneratorRef generator = NULL;
    if (!check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&generator, 0, NULL, NULL), item, diag))
        return false;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
    return true;
}

bool host_foreign_open(HostForeign *foreign, LLVMOrcLLJITRef jit, const LinkItem *const *items, uint32_t count,
                       Diag *diag)
{
    const LinkItem *object = NULL;
    foreign->libraries = memory_new((count + 1) * sizeof *foreign->libraries, diag);
    if (!foreign->libraries)
        return false;
    for (; foreign->count < count; foreign->count++) {
        const LinkItem *item = items[foreign->count];
        if (!link_kind_info[item->kind].on_host)
            continue;
        if (!open_item(jit, item, &foreign->libraries[foreign->count], diag))
            return false;
        if (item->kind == LINK_OBJECT || item->kind == LINK_ARCHIVE)
            object = item;
    }
    return !object || add_process(jit, object, diag);
}

void *host_foreign_symbol(const HostForeign *foreign, const char *name)
{
    void *address = NULL;
    for (uint32_t i = 0; !address && i < foreign->count; i++)
        address = foreign->libraries[i] ? dlsym(foreign->libraries[i], name) : NULL;
    return address;
}

void host_foreign_close(HostForeign *foreign)
{
    for (uint32_t i = 0; i < foreign->count; i++)
        if (foreign->libraries[i])
            dlclose(foreign->libraries[i]);
    memory_free(foreign->libraries);
    *foreign = (HostForeign){0};
}
