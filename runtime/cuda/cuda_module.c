/* Loads PTX on a GPU and answers questions about a loaded kernel. Failures carry the log of the driver's compiler. */
#include "runtime/cuda/cuda_kernel.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/kernel/kernel_abi.h"
#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"
#include "runtime/cuda/driver/launch_log.h"

/* Options for the driver's compiler and the log it fills; lives on the stack of the call. */
typedef struct JitOptions {
    unsigned int count;
    CUjit_option options[4];
    void *values[4];
    char log[1536];
} JitOptions;

static void jit_options_add(JitOptions *jit, CUjit_option option, uintptr_t value)
{
    jit->options[jit->count] = option;
    jit->values[jit->count++] = (void *)value;
}

static void jit_options_set(JitOptions *jit, int max_registers, bool is_quick)
{
    jit->count = 0;
    jit->log[0] = 0;
    jit_options_add(jit, CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)jit->log);
    jit_options_add(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, sizeof jit->log - 1);
    if (max_registers)
        jit_options_add(jit, CU_JIT_MAX_REGISTERS, (uintptr_t)max_registers);
    if (is_quick)
        jit_options_add(jit, CU_JIT_OPTIMIZATION_LEVEL, 0);
}

static bool jit_check(JitOptions *jit, const char *name, CUresult result, Diag *diag)
{
    if (result == CUDA_SUCCESS)
        return true;
    jit->log[sizeof jit->log - 1] = 0;
    size_t length = strlen(jit->log);
    while (length && (jit->log[length - 1] == '\n' || jit->log[length - 1] == ' '))
        jit->log[--length] = 0;
    diag_fail_code(diag, (int)result, DIAG_DRIVER_LINK, name, driver_error_name(result), (int)result,
                   driver_error_text(result), length ? jit->log : "(the driver's log is empty)");
    launch_log_explain(diag, result); /* a module is often the next that is asked for */
    return false;
}

/* --- loading -------------------------------------------------------------------------------------------------------- */
static bool prefer_carveout(CudaKernel *kernel, const KernelImage *image, Diag *diag)
{
    return !image->carveout || driver_call(diag, cuFuncSetAttribute, kernel->function,
                                           CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, image->carveout - 1);
}

/* Frames of functions that call themselves are at most twice as large where they tell a state, behind that of the kernel with
 * what a thread keeps: the depth that the context's stack has room for without the check it has with it, too. */
static bool deepen_stack(CudaKernel *kernel, const KernelImage *image, Diag *diag)
{
    CudaDevice *device = (CudaDevice *)kernel->base.device;
    size_t has = 0, wanted;
    int frame = 0;
    if (!image->has_deep_stack)
        return true;
    if (!driver_call(diag, cuCtxGetLimit, &has, CU_LIMIT_STACK_SIZE) ||
        !driver_call(diag, cuFuncGetAttribute, &frame, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel->function))
        return false;
    if (has != atomic_load(&device->stack)) /* the program has set it, or nobody */
        atomic_store(&device->own_stack, has);
    wanted = 2 * atomic_load(&device->own_stack) + (size_t)frame;
    if (has >= wanted)
        return true;
    if (!driver_call(diag, cuCtxSetLimit, CU_LIMIT_STACK_SIZE, wanted) ||
        !driver_call(diag, cuCtxGetLimit, &has, CU_LIMIT_STACK_SIZE)) /* the driver may round */
        return false;
    atomic_store(&device->stack, has);
    return true;
}

/* While the driver compiles a module, no thread launches anything in its context; libraries are compiled beside launches.
 * Where all is loaded eagerly, a library would be loaded for the contexts that come later, too, with options that are gone
 * by then. */
static bool loads_libraries(void)
{
    enum { UNKNOWN, LIBRARIES, MODULES };
    static _Atomic int kept; /* the driver has read its variables when it started */
    CUmoduleLoadingMode mode;
    if (atomic_load(&kept) != UNKNOWN)
        return atomic_load(&kept) == LIBRARIES;
    const char *data = getenv("CUDA_MODULE_DATA_LOADING"); /* the mode does not tell of it */
    bool is_eager = (data && strcmp(data, "EAGER") == 0) || !driver_has(DRIVER_cuLibraryLoadData) ||
                    !driver_has(DRIVER_cuModuleGetLoadingMode);
    if (!is_eager && driver.cuModuleGetLoadingMode(&mode) != CUDA_SUCCESS)
        return false;
    atomic_store(&kept, is_eager || mode != CU_MODULE_LAZY_LOADING ? MODULES : LIBRARIES);
    return atomic_load(&kept) == LIBRARIES;
}

static CUresult load_library(CudaCode *loaded, const void *code, JitOptions *jit)
{
    CUresult result =
        driver.cuLibraryLoadData(&loaded->owner, code, jit->options, jit->values, jit->count, NULL, NULL, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = driver.cuLibraryGetModule(&loaded->module, loaded->owner);
    if (result != CUDA_SUCCESS)
        driver.cuLibraryUnload(loaded->owner);
    return result;
}

static bool load_code(CudaCode *loaded, const void *code, const char *name, int max_registers, bool is_quick,
                      Diag *diag)
{
    JitOptions jit;
    jit_options_set(&jit, max_registers, is_quick);
    *loaded = (CudaCode){0};
    CUresult result = loads_libraries()
                          ? load_library(loaded, code, &jit)
                          : driver.cuModuleLoadDataEx(&loaded->module, code, jit.count, jit.options, jit.values);
    return jit_check(&jit, name, result, diag);
}

static bool unload_code(const CudaCode *loaded, Diag *diag)
{
    return loaded->owner ? driver_call(diag, cuLibraryUnload, loaded->owner)
                         : driver_call(diag, cuModuleUnload, loaded->module);
}

/* Finds the kernel in its module. reserved: bytes of dynamic shared memory that are its own arrays. */
static bool find_function(CudaKernel *kernel, const char *name, uint32_t reserved, Diag *diag)
{
    int threads = 0, shared = 0;
    if (!driver_call(diag, cuModuleGetFunction, &kernel->function, kernel->code.module, name) ||
        !driver_call(diag, cuFuncGetAttribute, &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel->function) ||
        !driver_call(diag, cuFuncGetAttribute, &shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel->function))
        return false;
    kernel->reserved = reserved;
    kernel->base.limits =
        (KernelLimits){.threads = (uint32_t)threads, .static_shared = (uint32_t)shared + kernel->reserved};
    return true;
}

/* An older driver would say "a PTX JIT compilation failed". */
static bool check_parameters(const KernelImage *image, Diag *diag)
{
    int version = 0;
    if (image->parameters_size <= KERNEL_ABI_SMALL_SIZE)
        return true;
    if (!driver_call(diag, cuDriverGetVersion, &version))
        return false;
    return version >= KERNEL_ABI_LARGE_DRIVER ||
           diag_fail(diag, NULL, DIAG_DRIVER_PARAMETERS, image->name, image->parameters_size, KERNEL_ABI_SMALL_SIZE,
                     KERNEL_ABI_LARGE_DRIVER / 1000, KERNEL_ABI_LARGE_DRIVER % 1000 / 10);
}

/* Loads the module and finds the kernel; on failure nothing stays loaded. Needs the context current. */
static bool load_function(CudaKernel *kernel, const KernelImage *image, Diag *diag)
{
    if (!check_parameters(image, diag) ||
        !load_code(&kernel->code, image->code, image->name, image->max_registers, image->is_quick, diag))
        return false;
    if (find_function(kernel, image->name, image->static_shared, diag) && prefer_carveout(kernel, image, diag) &&
        deepen_stack(kernel, image, diag))
        return true;
    unload_code(&kernel->code, &(Diag){0});
    return false;
}

static void allow_dynamic(CudaKernel *kernel)
{
    uint32_t room = kernel->base.device->limits.shared_default,
             used = kernel->base.limits.static_shared - kernel->reserved;
    kernel->dynamic_allowed = room > used ? room - used : 0;
}

RtKernel *cuda_kernel_load(RtDevice *device, const KernelImage *image, Diag *diag)
{
    CudaScope scope;
    CudaKernel *kernel = memory_new(sizeof *kernel, diag);
    if (!kernel)
        return NULL;
    kernel->base.device = device;
    snprintf(kernel->base.name, sizeof kernel->base.name, "%s", image->name);
    kernel->logged_name = launch_log_name(image->name);
    if (!cuda_enter_uncaptured(device, &scope, diag) || !cuda_leave(&scope, load_function(kernel, image, diag))) {
        memory_free(kernel);
        return NULL;
    }
    allow_dynamic(kernel);
    return &kernel->base;
}

void cuda_kernel_unload(RtKernel *kernel)
{
    CudaScope scope;
    Diag ignored = {0}; /* a process that ends has no one to tell */
    if (!((CudaKernel *)kernel)->is_lent && cuda_enter_uncaptured(kernel->device, &scope, &ignored))
        cuda_leave(&scope, unload_code(&((CudaKernel *)kernel)->code, &ignored));
    memory_free(kernel);
}

/* --- modules with several kernels ------------------------------------------------------------------------------------- */
static CudaCode code_of(const RtModule *module)
{
    return (CudaCode){(CUmodule)(uintptr_t)module->handle, (CUlibrary)(uintptr_t)module->owner};
}

RtModule *cuda_module_load(RtDevice *device, const void *code, const char *name, int max_registers, Diag *diag)
{
    CudaScope scope;
    CudaCode loaded;
    RtModule *module = memory_new(sizeof *module, diag);
    if (!module)
        return NULL;
    module->device = device;
    snprintf(module->name, sizeof module->name, "%s", name);
    if (!cuda_enter_uncaptured(device, &scope, diag) ||
        !cuda_leave(&scope, load_code(&loaded, code, name, max_registers, false, diag))) {
        memory_free(module);
        return NULL;
    }
    module->handle = (uint64_t)(uintptr_t)loaded.module;
    module->owner = (uint64_t)(uintptr_t)loaded.owner;
    return module;
}

void cuda_module_unload(RtModule *module)
{
    CudaScope scope;
    Diag ignored = {0};
    CudaCode code = code_of(module);
    if (cuda_enter_uncaptured(module->device, &scope, &ignored))
        cuda_leave(&scope, unload_code(&code, &ignored));
    memory_free(module);
}

RtKernel *cuda_module_kernel(RtModule *module, const char *name, Diag *diag)
{
    CudaScope scope;
    CudaKernel *kernel = memory_new(sizeof *kernel, diag);
    if (!kernel)
        return NULL;
    kernel->base.device = module->device;
    kernel->code = code_of(module);
    kernel->is_lent = true;
    snprintf(kernel->base.name, sizeof kernel->base.name, "%s", name);
    kernel->logged_name = launch_log_name(name);
    if (!cuda_enter_uncaptured(module->device, &scope, diag) ||
        !cuda_leave(&scope, find_function(kernel, name, 0, diag))) {
        memory_free(kernel);
        return NULL;
    }
    allow_dynamic(kernel);
    return &kernel->base;
}

bool cuda_module_global(RtModule *module, const char *name, RtPointer *pointer, size_t *size, Diag *diag)
{
    CudaScope scope;
    CUdeviceptr address = 0;
    if (!cuda_enter(module->device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuModuleGetGlobal, &address, size, code_of(module).module, name);
    *pointer = address;
    return cuda_leave(&scope, ok);
}

uint64_t cuda_kernel_module(RtKernel *kernel) { return (uint64_t)(uintptr_t)((CudaKernel *)kernel)->code.module; }

bool cuda_kernel_parameter(RtKernel *kernel, uint32_t index, size_t *offset, size_t *size, bool *is_there,
                           bool *is_known, Diag *diag)
{
    CudaScope scope;
    *is_there = *is_known = driver_has(DRIVER_cuFuncGetParamInfo);
    if (!*is_known)
        return true;
    if (!cuda_enter(kernel->device, &scope, diag))
        return false;
    CUresult result = driver.cuFuncGetParamInfo(((CudaKernel *)kernel)->function, index, offset, size);
    *is_there = result != CUDA_ERROR_INVALID_VALUE;
    return cuda_leave(&scope, !*is_there || driver_check(diag, DRIVER_cuFuncGetParamInfo, result));
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
