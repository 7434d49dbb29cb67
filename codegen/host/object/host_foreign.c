/* What kernels of the CPU device call beside themselves: shared libraries; C and CUDA C, of which a compiler of the machine
 * makes one shared library; object files and archives, which LLVM links. Files live no longer than the linking. */
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

enum { PATH_BYTES = 1024, LOG_BYTES = 1400, NAMES_BYTES = 256, MOST_ARGUMENTS = 24 };

/* A folder of its own with inputs by their numbers, an output and what the compiler says. */
typedef struct Workshop {
    char folder[PATH_BYTES / 2], output[PATH_BYTES], log[PATH_BYTES];
} Workshop;

/* What is compiled and linked together: functions in one source call those in another. */
typedef struct Sources {
    const LinkItem **items;
    char (*paths)[PATH_BYTES];
    uint32_t count;
    bool has_cuda;
} Sources;

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

static bool open_workshop(Workshop *shop, const LinkItem *item, Diag *diag)
{
    const char *parent = getenv("TMPDIR");
    int length = snprintf(shop->folder, sizeof shop->folder, "%s/cujit-XXXXXX", parent && *parent ? parent : "/tmp");
    if (length >= (int)sizeof shop->folder || !mkdtemp(shop->folder)) {
        shop->folder[0] = 0;
        return diag_fail(diag, NULL, DIAG_HOST_COMPILER, item->name, "no temporary folder can be made", "");
    }
    snprintf(shop->output, sizeof shop->output, "%s/output.so", shop->folder);
    snprintf(shop->log, sizeof shop->log, "%s/log", shop->folder);
    return true;
}

static bool write_input(const Workshop *shop, const LinkItem *item, uint32_t number, char *path, Diag *diag)
{
    snprintf(path, PATH_BYTES, "%s/input%u.%s", shop->folder, number, link_kind_info[item->kind].ending);
    return write_file(path, item->data, item->size) ||
           diag_fail(diag, NULL, DIAG_HOST_COMPILER, item->name, "its copy in a temporary folder cannot be written",
                     "");
}

static void close_workshop(const Workshop *shop)
{
    if (!shop->folder[0])
        return;
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

static void join_names(const Sources *sources, char *names)
{
    size_t at = 0;
    names[0] = 0;
    for (uint32_t i = 0; i < sources->count && at < NAMES_BYTES; i++)
        at += (size_t)snprintf(names + at, NAMES_BYTES - at, "%s%s", i ? ", " : "", sources->items[i]->name);
}

/* CUDA C is C++ whose words for places mean nothing here. */
static int add_words_of_cuda(const char **arguments)
{
    static const char *const words[] = {
        "-D__device__=",  "-D__host__=", "-D__forceinline__=inline", "-D__noinline__=", "-D__constant__=const",
        "-D__managed__=", "-include", /* as NVRTC, which knows size_t without a header */
        "stddef.h"};
    int count = sizeof words / sizeof *words;
    for (int i = 0; i < count; i++)
        arguments[i] = words[i];
    return count;
}

static bool compile_by(const char *program, const char **arguments, const Sources *sources, const Workshop *shop,
                       bool *done, Diag *diag)
{
    arguments[0] = program;
    int status = run_compiler(program, arguments, shop);
    *done = status >= 0;
    if (status <= 0)
        return true;
    char log[LOG_BYTES], names[NAMES_BYTES];
    join_names(sources, names);
    read_log(shop->log, log);
    return diag_fail(diag, NULL, DIAG_HOST_COMPILER, names, program, log);
}

static bool compile_with(const char **arguments, const Sources *sources, const Workshop *shop, Diag *diag)
{
    bool is_cuda = sources->has_cuda, done = false;
    const char *wished = getenv(is_cuda ? "CXX" : "CC");
    const char *programs[] = {wished && *wished ? wished
                              : is_cuda         ? "c++"
                                                : "cc",
                              is_cuda ? "clang++" : "clang", is_cuda ? "g++" : "gcc"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs && !done; i++)
        if (!compile_by(programs[i], arguments, sources, shop, &done, diag))
            return false;
    char names[NAMES_BYTES];
    join_names(sources, names);
    return done || diag_fail(diag, NULL, DIAG_HOST_COMPILER, names,
                             is_cuda ? "there is no C++ compiler (c++, clang++ or g++)"
                                     : "there is no C compiler (cc, clang or gcc)",
                             "");
}

static bool compile(const Sources *sources, const Workshop *shop, Diag *diag)
{
    const char **arguments = memory_new((MOST_ARGUMENTS + 3 * (size_t)sources->count) * sizeof *arguments, diag);
    if (!arguments)
        return false;
    static const char *const first[] = {"cc", "-shared", "-fPIC", "-O2", "-w", "-o"};
    int count = 0;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        arguments[count++] = first[i];
    arguments[count++] = shop->output;
    if (sources->has_cuda)
        count += add_words_of_cuda(arguments + count);
    for (uint32_t i = 0; i < sources->count; i++) {
        arguments[count++] = "-x";
        arguments[count++] = sources->items[i]->kind == LINK_CU ? "c++" : "c";
        arguments[count++] = sources->paths[i];
    }
    arguments[count++] = "-lm";
    arguments[count] = NULL;
    bool ok = compile_with(arguments, sources, shop, diag);
    memory_free(arguments);
    return ok;
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

static bool add_archive(LLVMOrcLLJITRef jit, const LinkItem *item, const char *path, Diag *diag)
{
    LLVMOrcDefinitionGeneratorRef generator = NULL;
    LLVMErrorRef error =
        LLVMOrcCreateStaticLibrarySearchGeneratorForPath(&generator, LLVMOrcLLJITGetObjLinkingLayer(jit), path);
    if (!check(error, item, diag))
        return false;
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), generator);
    return true;
}

static bool is_source(const LinkItem *item) { return item->kind == LINK_C || item->kind == LINK_CU; }

/* What is no source. */
static bool open_item(LLVMOrcLLJITRef jit, const LinkItem *item, void **library, Diag *diag)
{
    if (item->kind == LINK_OBJECT)
        return add_object(jit, item, diag);
    if (item->kind == LINK_SHARED && item->path)
        return open_library(item->path, item, library, diag);
    Workshop shop;
    char path[PATH_BYTES] = "";
    bool ok = open_workshop(&shop, item, diag) && write_input(&shop, item, 0, path, diag);
    if (ok && item->kind == LINK_ARCHIVE)
        ok = add_archive(jit, item, path, diag);
    else if (ok)
        ok = open_library(path, item, library, diag);
    if (path[0])
        unlink(path);
    close_workshop(&shop);
    return ok;
}

/* --- sources ---------------------------------------------------------------------------------------------------------------- */
/* Several functions may be declared with the same text each. */
static bool is_known(const Sources *sources, const LinkItem *item)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        const LinkItem *known = sources->items[i];
        if (known->kind == item->kind && known->size == item->size && memcmp(known->data, item->data, item->size) == 0)
            return true;
    }
    return false;
}

static void gather(Sources *sources, const LinkItem *const *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_source(items[i]) && !is_known(sources, items[i])) {
            sources->has_cuda |= items[i]->kind == LINK_CU;
            sources->items[sources->count++] = items[i];
        }
}

static bool build(Sources *sources, void **library, Diag *diag)
{
    Workshop shop;
    uint32_t written = 0;
    bool ok = open_workshop(&shop, sources->items[0], diag);
    for (; ok && written < sources->count; written++)
        ok = write_input(&shop, sources->items[written], written, sources->paths[written], diag);
    ok = ok && compile(sources, &shop, diag) && open_library(shop.output, sources->items[0], library, diag);
    for (uint32_t i = 0; i < written; i++)
        unlink(sources->paths[i]);
    close_workshop(&shop);
    return ok;
}

static bool open_sources(const LinkItem *const *items, uint32_t count, void **library, Diag *diag)
{
    Sources sources = {.items = memory_new((count + 1) * sizeof *sources.items, diag),
                       .paths = memory_new((count + 1) * sizeof *sources.paths, diag)};
    bool ok = sources.items && sources.paths;
    if (ok)
        gather(&sources, items, count);
    ok = ok && (sources.count == 0 || build(&sources, library, diag));
    memory_free(sources.items);
    memory_free(sources.paths);
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
    if (!foreign->libraries || !open_sources(items, count, &foreign->libraries[0], diag))
        return false;
    foreign->count = 1; /* the sources' */
    for (uint32_t i = 0; i < count; i++) {
        const LinkItem *item = items[i];
        if (!link_kind_info[item->kind].on_host || is_source(item))
            continue;
        if (!open_item(jit, item, &foreign->libraries[foreign->count++], diag))
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
