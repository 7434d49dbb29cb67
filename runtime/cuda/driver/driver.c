/* Loads the CUDA driver: dlopen, dlsym by driver.def, cuInit. Translates results of its functions into diagnostics. */
#include "runtime/cuda/driver/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cuda/driver/launch_log.h"

enum { OPTIONAL = 0, REQUIRED = 1 };

const DriverFunctionInfo driver_function_info[DRIVER_FUNCTION_COUNT] = {
#define DRIVER(name, symbol, version, need, parameters, arguments) {#name, #symbol, version, need},
#include "runtime/cuda/driver/driver.def"
#undef DRIVER
};

#define DRIVER(name, symbol, version, need, parameters, arguments) _Static_assert((version) % 10 == 0, #name);
#include "runtime/cuda/driver/driver.def"
#undef DRIVER

Driver driver;

/* The outcome of loading, kept for the process. */
static struct {
    pthread_once_t once;
    pid_t process; /* that has started the driver */
    DriverState state;
    char why[512];          /* DRIVER_ABSENT */
    int missing_symbol;     /* DRIVER_BROKEN: the function that the library lacks, or -1 */
    CUresult init_result;   /* DRIVER_BROKEN otherwise */
    bool lacks[DRIVER_FUNCTION_COUNT];
} loaded = {.once = PTHREAD_ONCE_INIT, .missing_symbol = -1};

/* What an optional function that the library lacks is replaced by, so that a call is never a jump to NULL. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define DRIVER(name, symbol, version, need, parameters, arguments) \
    static CUresult lacking_##name parameters { return CUDA_ERROR_NOT_FOUND; }
#include "runtime/cuda/driver/driver.def"
#undef DRIVER
#pragma GCC diagnostic pop

static bool driver_find(void *library, DriverFunctionId id, void **address)
{
    *address = dlsym(library, driver_function_info[id].symbol);
    if (*address)
        return true;
    loaded.lacks[id] = true;
    if (driver_function_info[id].required && loaded.missing_symbol < 0)
        loaded.missing_symbol = (int)id;
    return false;
}

static void driver_fill(void *library)
{
    void *address;
#define DRIVER(name, symbol, version, need, parameters, arguments) \
    if (driver_find(library, DRIVER_##name, &address))             \
        memcpy(&driver.name, &address, sizeof address);            \
    else                                                           \
        driver.name = lacking_##name;
#include "runtime/cuda/driver/driver.def"
#undef DRIVER
}

static void driver_load_once(void)
{
    const char *chosen = getenv("CUJIT_DRIVER_LIBRARY");
    bool is_default = !chosen || !*chosen;
    void *library = dlopen(is_default ? "libcuda.so.1" : chosen, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        snprintf(loaded.why, sizeof loaded.why, "the NVIDIA driver's library cannot be opened%s: %s",
                 is_default ? "" : " (CUJIT_DRIVER_LIBRARY)", text ? text : "unknown error");
        loaded.state = DRIVER_ABSENT;
        return;
    }
    driver_fill(library);
    if (loaded.missing_symbol >= 0) {
        loaded.state = DRIVER_BROKEN;
        return;
    }
    loaded.process = getpid();
    loaded.init_result = driver.cuInit(0);
    if (loaded.init_result == CUDA_SUCCESS) {
        loaded.state = DRIVER_READY;
    } else if (loaded.init_result == CUDA_ERROR_NO_DEVICE) {
        snprintf(loaded.why, sizeof loaded.why, "the NVIDIA driver reports no device");
        loaded.state = DRIVER_ABSENT;
    } else if (loaded.init_result == CUDA_ERROR_STUB_LIBRARY) {
        snprintf(loaded.why, sizeof loaded.why, "libcuda.so.1 is the CUDA toolkit's stub, not a driver");
        loaded.state = DRIVER_ABSENT;
    } else {
        loaded.state = DRIVER_BROKEN;
    }
}

DriverState driver_load(const char **why, Diag *diag)
{
    pthread_once(&loaded.once, driver_load_once);
    if (why)
        *why = loaded.state == DRIVER_ABSENT ? loaded.why : NULL;
    if (loaded.state != DRIVER_BROKEN)
        return loaded.state;
    if (loaded.missing_symbol >= 0) {
        const DriverFunctionInfo *info = &driver_function_info[loaded.missing_symbol];
        diag_fail(diag, NULL, DIAG_DRIVER_SYMBOL, info->symbol, info->version / 1000, info->version % 1000 / 10);
    } else {
        driver_check(diag, DRIVER_cuInit, loaded.init_result);
    }
    return DRIVER_BROKEN;
}

bool driver_require(Diag *diag)
{
    const char *why;
    DriverState state = driver_load(&why, diag);
    if (state == DRIVER_ABSENT)
        return diag_fail(diag, NULL, DIAG_DRIVER_MISSING, why);
    return state == DRIVER_READY;
}

const char *driver_error_name(CUresult result)
{
    const char *text = NULL;
    if (driver.cuGetErrorName(result, &text) != CUDA_SUCCESS || !text)
        return "unknown CUresult";
    return text;
}

const char *driver_error_text(CUresult result)
{
    const char *text = NULL;
    if (driver.cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        return "no description";
    return text;
}

bool driver_has(DriverFunctionId function) { return !loaded.lacks[function]; }

bool driver_fail(Diag *diag, DriverFunctionId function, CUresult result)
{
    const DriverFunctionInfo *info = &driver_function_info[function];
    if (loaded.lacks[function])
        return diag_fail(diag, NULL, DIAG_DRIVER_SYMBOL, info->symbol, info->version / 1000, info->version % 1000 / 10);
    if (loaded.process != getpid())
        return diag_fail_code(diag, (int)result, DIAG_DRIVER_FORKED, info->name, driver_error_name(result),
                              (int)result);
    diag_fail_code(diag, (int)result, DIAG_DRIVER_CALL, info->name, driver_error_name(result), (int)result,
                   driver_error_text(result));
    launch_log_explain(diag, result);
    return false;
}
