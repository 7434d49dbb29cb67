/* Loads PTX on a GPU and answers questions about a loaded kernel. Failures carry the log of the driver's compiler. */
#include "runtime/cuda/cuda_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/cuda_context.h"
#include "core/base/memory.h"

/* Options for the driver's compiler and the log it fills; lives on the stack of the call. */
typedef struct JitOptions {
    unsigned int count;
    CUjit_option options[3];
    void *values[3];
    char log[1536];
} JitOptions;

static void jit_options_add(JitOptions *jit, CUjit_option option, uintptr_t value)
{
    jit->options[jit->count] = option;
    jit->values[jit->count++] = (void *)value;
}

static void jit_options_set(JitOptions *jit, const KernelImage *image)
{
    jit->count = 0;
    jit->log[0] = 0;
    jit_options_add(jit, CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)jit->log);
    jit_options_add(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, sizeof jit->log - 1);
    if (image->max_registers)
        jit_options_add(jit, CU_JIT_MAX_REGISTERS, (uintptr_t)image->max_registers);
}

static bool jit_check(JitOptions *jit, const KernelImage *image, CUresult result, Diag *diag)
{
    if (result == CUDA_SUCCESS)
        return true;
    jit->log[sizeof jit->log - 1] = 0;
    size_t length = strlen(jit->log);
    while (length && (jit->log[length - 1] == '\n' || jit->log[length - 1] == ' '))
        jit->log[--length] = 0;
    return diag_fail_code(diag, (int)result, DIAG_DRIVER_LINK, image->name, driver_error_name(result), (int)result,
                          driver_error_text(result), length ? jit->log : "(the driver's log is empty)");
}

/* --- loading -------------------------------------------------------------------------------------------------------- */
static bool prefer_carveout(CudaKernel *kernel, const KernelImage *image, Diag *diag)
{
    return !image->carveout || driver_call(diag, cuFuncSetAttribute, kernel->function,
                                           CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, image->carveout - 1);
}

/* Loads into *module and finds the kernel; on failure nothing stays loaded. Needs the context current. */
static bool load_function(CudaKernel *kernel, const KernelImage *image, Diag *diag)
{
    JitOptions jit;
    jit_options_set(&jit, image);
    CUresult result = driver.cuModuleLoadDataEx(&kernel->module, image->code, jit.count, jit.options, jit.values);
    if (!jit_check(&jit, image, result, diag))
        return false;
    int threads = 0, shared = 0;
    if (driver_call(diag, cuModuleGetFunction, &kernel->function, kernel->module, image->name) &&
        driver_call(diag, cuFuncGetAttribute, &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel->function) &&
        driver_call(diag, cuFuncGetAttribute, &shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel->function) &&
        prefer_carveout(kernel, image, diag)) {
        kernel->reserved = image->static_shared;
        kernel->base.limits =
            (KernelLimits){.threads = (uint32_t)threads, .static_shared = (uint32_t)shared + kernel->reserved};
        return true;
    }
    driver.cuModuleUnload(kernel->module);
    return false;
}

RtKernel *cuda_kernel_load(RtDevice *device, const KernelImage *image, Diag *diag)
{
    CudaScope scope;
    CudaKernel *kernel = memory_new(sizeof *kernel, diag);
    if (!kernel)
        return NULL;
    kernel->base.device = device;
    snprintf(kernel->base.name, sizeof kernel->base.name, "%s", image->name);
    if (!cuda_enter(device, &scope, diag))
        goto failed;
    if (!cuda_leave(&scope, load_function(kernel, image, diag)))
        goto failed;
    uint32_t room = device->limits.shared_default, used = kernel->base.limits.static_shared - kernel->reserved;
    kernel->dynamic_allowed = room > used ? room - used : 0;
    return &kernel->base;

failed:
    memory_free(kernel);
    return NULL;
}

void cuda_kernel_unload(RtKernel *kernel)
{
    CudaScope scope;
    Diag ignored = {0}; /* a process that ends has no one to tell */
    if (cuda_enter(kernel->device, &scope, &ignored))
        cuda_leave(&scope, driver_call(&ignored, cuModuleUnload, ((CudaKernel *)kernel)->module));
    memory_free(kernel);
}

/* --- questions ------------------------------------------------------------------------------------------------------ */
bool cuda_kernel_attribute(RtKernel *kernel, int attribute, int *value, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter(kernel->device, &scope, diag))
        return false;
    bool ok =
        driver_call(diag, cuFuncGetAttribute, value, (CUfunction_attribute)attribute, ((CudaKernel *)kernel)->function);
    if (attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
        *value = (int)kernel->limits.static_shared;
    return cuda_leave(&scope, ok);
}

bool cuda_kernel_occupancy(RtKernel *kernel, size_t dynamic_shared, int *blocks, int *threads, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter(kernel->device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuOccupancyMaxPotentialBlockSize, blocks, threads, ((CudaKernel *)kernel)->function,
                          NULL, dynamic_shared + ((CudaKernel *)kernel)->reserved, 0);
    return cuda_leave(&scope, ok);
}
