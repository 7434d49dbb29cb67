/* Finds and opens NVIDIA's compiler libraries by toolkit.def. The version that fits the driver comes first, since code of a newer
 * one may be too new for it. */
#include "runtime/cuda/driver/toolkit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "runtime/cuda/driver/driver.h"
#include "runtime/runtime.h"

enum { MOST_FOLDERS = 32, MOST_NAMES = 4, PATH_BYTES = 4096 };

static const struct {
    const char *words, *package, *variable;
    const char *names[MOST_NAMES];
} libraries[TOOLKIT_COUNT] = {
#define LIBRARY(id, field, words, package, variable, ...) {words, package, variable, {__VA_ARGS__}},
#include "runtime/cuda/driver/toolkit.def"
};

static const struct {
    ToolkitId owner;
    const char *symbol;
    size_t offset; /* in Toolkit */
} functions[] = {
#define ID_OF_nvrtc TOOLKIT_NVRTC
#define ID_OF_nvjitlink TOOLKIT_NVJITLINK
#define ID_OF_nvvm TOOLKIT_NVVM
#define TOOLKIT(library, name, symbol, parameters) {ID_OF_##library, #symbol, offsetof(Toolkit, library.name)},
#include "runtime/cuda/driver/toolkit.def"
};
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

Toolkit toolkit;

static struct {
    pthread_mutex_t lock;
    bool is_loaded[TOOLKIT_COUNT];
    const char *folders[MOST_FOLDERS + 1], *include_folders[MOST_FOLDERS + 1];
} found = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- folders ---------------------------------------------------------------------------------------------------------- */
/* Those that are not known yet, behind the others. Nothing is ever taken away: others may be reading. */
static bool add_folders(const char **known, const char *const *folders, uint32_t count, Diag *diag)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = 0;
        while (known[place] && strcmp(known[place], folders[i]) != 0)
            place++;
        if (known[place] || place == MOST_FOLDERS)
            continue;
        char *copy = memory_new(strlen(folders[i]) + 1, diag);
        if (!copy)
            return false;
        known[place] = strcpy(copy, folders[i]);
    }
    return true;
}

bool rt_toolkit_search(const char *const *libraries_in, uint32_t library_count, const char *const *includes_in,
                       uint32_t include_count, Diag *diag)
{
    pthread_mutex_lock(&found.lock);
    bool ok = add_folders(found.folders, libraries_in, library_count, diag) &&
              add_folders(found.include_folders, includes_in, include_count, diag);
    pthread_mutex_unlock(&found.lock);
    return ok;
}

const char *const *toolkit_include_folders(void) { return found.include_folders; }

/* --- opening ------------------------------------------------------------------------------------------------------------ */
static void *open_in_folders(const char *name)
{
    char path[PATH_BYTES];
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (const char *const *folder = found.folders; !library && *folder; folder++)
        if (snprintf(path, sizeof path, "%s/%s", *folder, name) < PATH_BYTES)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* The driver's CUDA version in text, "13"; "" where there is none. */
static void driver_major(char *text, size_t size)
{
    Diag ignored = {.id = DIAG_NONE};
    int version = 0;
    bool is_there = driver_load(NULL, &ignored) == DRIVER_READY && driver.cuDriverGetVersion(&version) == CUDA_SUCCESS;
    snprintf(text, size, is_there ? "%d" : "", version / 1000);
}

static void *open_library(ToolkitId id)
{
    const char *chosen = getenv(libraries[id].variable);
    if (chosen && *chosen)
        return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    char major[16];
    driver_major(major, sizeof major);
    for (int fits = 1; fits >= 0; fits--)
        for (int i = 0; i < MOST_NAMES && libraries[id].names[i]; i++) {
            const char *version = strstr(libraries[id].names[i], ".so.") + 4;
            bool is_drivers = *major && strncmp(version, major, strlen(major)) == 0;
            void *library = is_drivers == fits ? open_in_folders(libraries[id].names[i]) : NULL;
            if (library)
                return library;
        }
    return NULL;
}

static bool fill(ToolkitId id, void *library, const char **lacks)
{
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        void *address = functions[i].owner == id ? dlsym(library, functions[i].symbol) : NULL;
        if (address)
            memcpy((char *)&toolkit + functions[i].offset, &address, sizeof address);
        else if (functions[i].owner == id)
            return *lacks = functions[i].symbol, false;
    }
    return true;
}

static bool load(ToolkitId id, Diag *diag)
{
    const char *lacks = NULL;
    void *library = open_library(id);
    if (library && fill(id, library, &lacks))
        return found.is_loaded[id] = true;
    char why[512];
    if (library) {
        dlclose(library);
        snprintf(why, sizeof why, "what is installed has no %s", lacks);
    } else {
        const char *text = dlerror();
        snprintf(why, sizeof why, "%s", text ? text : "it was not found");
    }
    return diag_fail(diag, NULL, DIAG_TOOLKIT_MISSING, libraries[id].words, libraries[id].package,
                     libraries[id].variable, why);
}

bool toolkit_need(ToolkitId library, Diag *diag)
{
    pthread_mutex_lock(&found.lock);
    bool ok = found.is_loaded[library] || load(library, diag);
    pthread_mutex_unlock(&found.lock);
    return ok;
}
