/* The CUDA driver as a table of functions, loaded on first use. CUDA types come from here and from nowhere else. */
#ifndef CUJIT_RUNTIME_DRIVER_H
#define CUJIT_RUNTIME_DRIVER_H

#include <stdbool.h>

#include "core/diagnostic/diag.h"
#include "runtime/cuda/driver/driver_types.h"

typedef enum DriverFunctionId {
#define DRIVER(name, symbol, version, need, parameters, arguments) DRIVER_##name,
#include "runtime/cuda/driver/driver.def"
#undef DRIVER
    DRIVER_FUNCTION_COUNT
} DriverFunctionId;

typedef struct DriverFunctionInfo {
    const char *name;     /* "cuMemAlloc" */
    const char *symbol;   /* "cuMemAlloc_v2" */
    int version;          /* CUDA version that introduced the symbol: 3020 is 3.2 */
    bool required;
} DriverFunctionInfo;

typedef struct Driver {
#define DRIVER(name, symbol, version, need, parameters, arguments) CUresult(*name) parameters;
#include "runtime/cuda/driver/driver.def"
#undef DRIVER
} Driver;

extern const DriverFunctionInfo driver_function_info[DRIVER_FUNCTION_COUNT];
/* Valid after driver_load returned DRIVER_READY. Every field can be called: an optional function that the library lacks
 * returns CUDA_ERROR_NOT_FOUND, which driver_check reports as DIAG_DRIVER_SYMBOL. */
extern Driver driver;

typedef enum DriverState {
    DRIVER_READY,
    DRIVER_ABSENT, /* no library, or no device: use the CPU device; *why says it */
    DRIVER_BROKEN, /* there, but unusable: diag says it */
} DriverState;

/* Opens libcuda.so.1 (CUJIT_DRIVER_LIBRARY names another), fills `driver` and calls cuInit, once per process; later
 * calls give the same answer. DRIVER_ABSENT fills no diag; why may be NULL. */
DriverState driver_load(const char **why, Diag *diag);
/* Like driver_load, but an absent driver is a failure too: DIAG_DRIVER_MISSING. */
bool driver_require(Diag *diag);

/* Whether the library has it; true for required ones. */
bool driver_has(DriverFunctionId function);
/* Records DIAG_DRIVER_CALL with the driver's own name and text for the result. Always false. */
bool driver_fail(Diag *diag, DriverFunctionId function, CUresult result);
/* True when result is CUDA_SUCCESS, else as driver_fail. */
static inline bool driver_check(Diag *diag, DriverFunctionId function, CUresult result)
{
    return result == CUDA_SUCCESS || driver_fail(diag, function, result);
}
/* "CUDA_ERROR_INVALID_VALUE" and "invalid argument"; never NULL. Static texts of the driver. */
const char *driver_error_name(CUresult result);
const char *driver_error_text(CUresult result);

/* driver_call(diag, cuMemAlloc, &pointer, size) */
#define driver_call(diag, name, ...) driver_check((diag), DRIVER_##name, driver.name(__VA_ARGS__))

#endif
