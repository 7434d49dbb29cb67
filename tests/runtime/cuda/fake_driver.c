/* A CUDA driver without a GPU: every row of driver.def is a function that counts its calls, fails on demand and then
 * does in host memory what act_NAME below says, or nothing. */
#include "fake_driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static struct FakeState {
    _Atomic int alive;
    FakeLaunch last_launch;
    CUcontext launch_context;
    size_t stack; /* bytes of a thread's; 0: as many as a context has at first */
    int last_max_registers;
    int function_attributes[16]; /* value + 1; 0: never set */
    char graph[1024];
    _Atomic FakeCapture capture;
    _Atomic(const char *) captures_end;
} fake_state;
static _Thread_local CUcontext fake_current;
static _Thread_local CUstreamCaptureMode fake_mode;

enum {
#define DRIVER(name, symbol, version, need, parameters, arguments) DRIVER_##name,
#include "runtime/cuda/driver/driver.def"
#undef DRIVER
    FUNCTION_COUNT
};

static const char *const names[FUNCTION_COUNT] = {
#define DRIVER(name, symbol, version, need, parameters, arguments) #name,
#include "runtime/cuda/driver/driver.def"
#undef DRIVER
};

static struct {
    _Atomic int calls, fail_at;
    CUresult result;
} functions[FUNCTION_COUNT];

static int function_by_name(const char *name)
{
    for (int id = 0; id < FUNCTION_COUNT; id++)
        if (!strcmp(names[id], name))
            return id;
    fprintf(stderr, "fake driver: no function %s\n", name);
    abort();
}

static void fake_fail(const char *name, int nth, CUresult result)
{
    int id = function_by_name(name);
    functions[id].result = result;
    functions[id].fail_at = nth ? functions[id].calls + nth : 0;
}

static int fake_calls(const char *name) { return functions[function_by_name(name)].calls; }
static int fake_alive(void) { return fake_state.alive; }
static const FakeLaunch *fake_last_launch(void) { return &fake_state.last_launch; }
static int fake_last_max_registers(void) { return fake_state.last_max_registers; }
static CUcontext fake_launch_context(void) { return fake_state.launch_context; }
static const char *fake_graph(void) { return fake_state.graph; }
static int fake_calls(const char *name);
static int fake_graph_launches(void) { return fake_calls("cuGraphLaunch"); }
static const char *fake_captures_end(void) { return fake_state.captures_end; }

static void fake_capture(FakeCapture capture)
{
    fake_state.capture = capture;
    fake_state.captures_end = NULL;
}

static int fake_function_attribute(int attribute) { return fake_state.function_attributes[attribute] - 1; }

extern EXPORTED const FakeDriver fake_driver;
const FakeDriver fake_driver = {fake_fail,
                                fake_calls,
                                fake_alive,
                                fake_last_launch,
                                fake_last_max_registers,
                                fake_function_attribute,
                                fake_launch_context,
                                fake_graph,
                                fake_graph_launches,
                                0,
                                0,
                                0,
                                fake_capture,
                                fake_captures_end};

__attribute__((constructor)) static void read_environment(void)
{
    char name[64];
    int nth, result;
    const char *text = getenv("FAKE_DRIVER_FAIL");
    if (text && sscanf(text, "%63[^:]:%d:%d", name, &nth, &result) == 3)
        fake_fail(name, nth, (CUresult)result);
}

/* Not those about the driver, devices and their pools, and which context there is. */
static bool needs_context(const char *name)
{
    static const char *const others[] = {"cuInit",          "cuDriver",        "cuGetError", "cuDevice",
                                         "cuCtxGetCurrent", "cuCtxSetCurrent", "cuMemPool",  "cuThread"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncmp(name, others[i], strlen(others[i])))
            return false;
    return true;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

/* What no thread may call during a capture: it waits for all streams, or it is no part of any and the thread has not said
 * that it knows. */
static bool loses_capture(const char *name)
{
    static const char *const waits[] = {"cuCtxSynchronize", NULL};
    static const char *const unsafe[] = {
        "cuMemAlloc",     "cuMemFree",          "cuMemAllocManaged",   "cuMemHostAlloc",
        "cuMemFreeHost",  "cuMemHostRegister",  "cuMemHostUnregister", "cuModuleLoadDataEx",
        "cuModuleUnload", "cuLibraryLoadData",  "cuLibraryGetModule",  "cuLibraryUnload",
        "cuStreamCreate", "cuEventQuery",       "cuEventSynchronize",  "cuStreamSynchronize",
        "cuStreamQuery",  "cuMemcpyHtoD",       "cuMemcpyDtoH",        "cuMemcpyPeer",
        "cuCtxSetLimit",  "cuIpcOpenMemHandle", "cuIpcCloseMemHandle", NULL};
    return is_one_of(name, waits) || (fake_mode != CU_STREAM_CAPTURE_MODE_RELAXED && is_one_of(name, unsafe));
}

static CUresult lose_capture(const char *name, CUresult result)
{
    fake_state.captures_end = name;
    return result;
}

/* What every call does first: count, fail when told to, insist on a current context where CUDA does. */
static bool answer(int id, CUresult *result)
{
    int call = ++functions[id].calls;
    if (call == functions[id].fail_at) {
        *result = functions[id].result;
        return true;
    }
    if (fake_state.capture != FAKE_NO_CAPTURE && loses_capture(names[id])) {
        *result = lose_capture(names[id], CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        return true;
    }
    *result = CUDA_ERROR_INVALID_CONTEXT;
    return needs_context(names[id]) && !fake_current;
}

/* --- what they do -------------------------------------------------------------------------------------------------- */
#define DRIVER(name, symbol, version, need, parameters, arguments) \
    CUresult act_##name parameters __attribute__((weak, visibility("hidden")));
#include "runtime/cuda/driver/driver.def"
#undef DRIVER

/* Reachable for leak checkers: what a failing destroy call leaves is counted in alive, and meant. */
typedef struct Made {
    void *handle;
    size_t size;
    CUcontext context; /* NULL: no device's */
    bool is_pools;
} Made;

static struct {
    pthread_mutex_t lock;
    Made entries[1 << 12];
    unsigned count;
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { MADE_ENTRIES = sizeof made.entries / sizeof *made.entries };

static CUresult make_for(CUcontext context, void **handle, size_t size, bool is_pools)
{
    *handle = calloc(1, size);
    pthread_mutex_lock(&made.lock);
    made.entries[made.count++ % MADE_ENTRIES] = (Made){*handle, size, context, is_pools};
    pthread_mutex_unlock(&made.lock);
    fake_state.alive++;
    return CUDA_SUCCESS;
}

static CUresult make(void **handle, size_t size) { return make_for(fake_current, handle, size, false); }

static Made *entry_locked(uintptr_t pointer, size_t reach)
{
    for (Made *entry = made.entries; entry < made.entries + MADE_ENTRIES; entry++) {
        uintptr_t start = (uintptr_t)entry->handle;
        if (start && pointer >= start && pointer - start < (reach ? reach : entry->size))
            return entry;
    }
    return NULL;
}

static Made copy_of_entry(uintptr_t pointer, size_t reach)
{
    pthread_mutex_lock(&made.lock);
    const Made *entry = entry_locked(pointer, reach);
    Made copy = entry ? *entry : (Made){0};
    pthread_mutex_unlock(&made.lock);
    return copy;
}

/* What begins there, and what the address lies in; without a handle: nothing. */
static Made made_at(CUdeviceptr pointer) { return copy_of_entry((uintptr_t)pointer, 1); }
static Made made_around(CUdeviceptr pointer) { return copy_of_entry((uintptr_t)pointer, 0); }

/* The context that memory at this address was made in; NULL: none. */
static CUcontext context_of(CUdeviceptr pointer) { return made_around(pointer).context; }

static CUresult destroy(void *handle)
{
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&made.lock);
    Made *entry = entry_locked((uintptr_t)handle, 1);
    if (entry)
        *entry = (Made){0};
    pthread_mutex_unlock(&made.lock);
    free(handle);
    fake_state.alive--;
    return CUDA_SUCCESS;
}

CUresult act_cuDriverGetVersion(int *version)
{
    const char *text = getenv("FAKE_DRIVER_VERSION");
    *version = text ? atoi(text) : 13000;
    return CUDA_SUCCESS;
}

CUresult act_cuGetErrorName(CUresult result, const char **text)
{
    static const struct {
        CUresult result;
        const char *name;
    } known[] = {
        {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
        {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
        {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
        {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
        {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
        {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].result == result)
            *text = known[i].name;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuGetErrorString(CUresult result, const char **text)
{
    *text = result == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "unknown error";
    return CUDA_SUCCESS;
}

CUresult act_cuDeviceGetCount(int *count)
{
    const char *text = getenv("FAKE_DRIVER_DEVICES");
    *count = text ? atoi(text) : 2;
    return CUDA_SUCCESS;
}

CUresult act_cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal + 10;
    return ordinal >= 0 && ordinal < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuDeviceGetName(char *name, int size, CUdevice device)
{
    snprintf(name, (size_t)size, "Fake GPU %d", device - 10);
    return CUDA_SUCCESS;
}

CUresult act_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    memset(uuid->bytes, device, sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult act_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    static const int values[] = {
        [CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
        [CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X] = 1024,
        [CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y] = 1024,
        [CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z] = 64,
        [CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X] = 0x7fffffff,
        [CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y] = 65535,
        [CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z] = 65535,
        [CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] = 49152,
        [CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 232448,
        [CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 132,
        [CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 9,
        [CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = 1,
        [CU_DEVICE_ATTRIBUTE_WARP_SIZE] = 32,
    };
    enum { PCI_BUS_ID = 33 };
    if ((int)attribute == PCI_BUS_ID) {
        *value = device;
        return CUDA_SUCCESS;
    }
    *value = (size_t)attribute < sizeof values / sizeof *values ? values[attribute] : 0;
    return CUDA_SUCCESS;
}

static int ordinal_of(CUcontext context) { return (int)((uintptr_t)context / 0x1000) - 10; }
static CUcontext context_for(CUdevice device) { return (CUcontext)(uintptr_t)(0x1000 * device); }

CUresult act_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = context_for(device);
    fake_state.alive++;
    return CUDA_SUCCESS;
}

CUresult act_cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    fake_state.alive--;
    return CUDA_SUCCESS;
}

CUresult act_cuCtxGetCurrent(CUcontext *context)
{
    *context = fake_current;
    return CUDA_SUCCESS;
}

CUresult act_cuCtxSetCurrent(CUcontext context)
{
    fake_current = context;
    return CUDA_SUCCESS;
}

/* --- peers: FAKE_DRIVER_PEERS=0 is hardware without ----------------------------------------------------------------- */
CUresult act_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    const char *text = getenv("FAKE_DRIVER_PEERS");
    *can = device != peer && (!text || strcmp(text, "0") != 0);
    return CUDA_SUCCESS;
}

CUresult act_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    static CUcontext enabled[4]; /* by the context that asks: one other is enough */
    CUcontext *place = &enabled[(uintptr_t)fake_current / 0x1000 % 4];
    if (flags || peer == fake_current)
        return CUDA_ERROR_INVALID_VALUE;
    if (*place == peer)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    *place = peer;
    return CUDA_SUCCESS;
}

CUresult act_cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **values,
                                    CUdeviceptr pointer)
{
    CUcontext owner = context_of(pointer);
    for (unsigned int i = 0; i < count; i++) {
        if (attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED)
            *(unsigned char *)values[i] = 0;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
            *(unsigned int *)values[i] = owner ? CU_MEMORYTYPE_DEVICE : 0;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)values[i] = owner ? ordinal_of(owner) : -2;
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* --- memory --------------------------------------------------------------------------------------------------------- */
CUresult act_cuMemGetInfo(size_t *available, size_t *total)
{
    *available = 1 << 20;
    *total = 1 << 21;
    return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr *pointer, size_t size, bool is_pools)
{
    void *memory;
    if (size > (size_t)1 << 40)
        return CUDA_ERROR_OUT_OF_MEMORY;
    make_for(fake_current, &memory, size, is_pools);
    *pointer = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

CUresult act_cuMemAlloc(CUdeviceptr *pointer, size_t size) { return allocate(pointer, size, false); }

/* --- other processes: this one is taken for one. What came from the pool is marked. ---------------------------------- */
CUresult act_cuMemGetAddressRange(CUdeviceptr *start, size_t *size, CUdeviceptr pointer)
{
    Made found = made_around(pointer);
    *start = (CUdeviceptr)(uintptr_t)found.handle;
    *size = found.size;
    return found.handle ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer)
{
    Made found = made_at(pointer);
    if (!found.handle || found.is_pools)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(handle->reserved, &pointer, sizeof pointer);
    return CUDA_SUCCESS;
}

CUresult act_cuIpcOpenMemHandle(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned int flags)
{
    memcpy(pointer, handle.reserved, sizeof *pointer);
    if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    return made_at(*pointer).handle ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult act_cuMemFree(CUdeviceptr pointer) { return destroy((void *)(uintptr_t)pointer); }

CUresult act_cuMemAllocAsync(CUdeviceptr *pointer, size_t size, CUstream stream)
{
    return stream ? CUDA_ERROR_INVALID_VALUE : allocate(pointer, size, true);
}

CUresult act_cuMemFreeAsync(CUdeviceptr pointer, CUstream stream)
{
    return stream ? CUDA_ERROR_INVALID_VALUE : act_cuMemFree(pointer);
}

/* One stream is captured: always, or while the test says so. */
static bool is_captured(CUstream stream)
{
    const char *now = fake_state.capture == FAKE_NON_BLOCKING_CAPTURE ? &fake_driver.non_blocking_stream : NULL;
    return stream && ((const char *)stream == &fake_driver.captured_stream || (const char *)stream == now);
}

/* One stream is another library's, and does not synchronize with the default stream. */
CUresult act_cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
    if (is_captured(stream))
        return lose_capture("cuStreamGetFlags", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    *flags = (const char *)stream == &fake_driver.non_blocking_stream ? CU_STREAM_NON_BLOCKING : 0;
    return CUDA_SUCCESS;
}

CUresult act_cuMemHostAlloc(void **pointer, size_t size, unsigned int flags)
{
    unsigned int known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if ((flags | known) != known || !(flags & CU_MEMHOSTALLOC_PORTABLE))
        return CUDA_ERROR_INVALID_VALUE;
    return make_for(NULL, pointer, size, false);
}

CUresult act_cuMemFreeHost(void *pointer) { return destroy(pointer); }

CUresult act_cuMemHostGetDevicePointer(CUdeviceptr *pointer, void *host, unsigned int flags)
{
    *pointer = (CUdeviceptr)(uintptr_t)host;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult act_cuMemAllocManaged(CUdeviceptr *pointer, size_t size, unsigned int flags)
{
    return flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ? act_cuMemAlloc(pointer, size)
                                                                        : CUDA_ERROR_INVALID_VALUE;
}

/* The driver knows what it has allocated itself. */
CUresult act_cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    CUcontext owner = context_of(pointer);
    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL && owner) {
        *(int *)value = ordinal_of(owner);
        return CUDA_SUCCESS;
    }
    bool known = attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE && made_at(pointer).handle;
    *(unsigned int *)value = known;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size)
{
    memcpy((void *)(uintptr_t)to, from, size);
    return CUDA_SUCCESS;
}

CUresult act_cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size)
{
    memcpy(to, (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}

CUresult act_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    (void)stream;
    return act_cuMemcpyHtoD(to, from, size);
}

CUresult act_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    (void)stream;
    return act_cuMemcpyDtoH(to, from, size);
}

/* Both ends are memory of the context. */
CUresult act_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    (void)stream;
    if (context_of(to) != fake_current || context_of(from) != fake_current)
        return CUDA_ERROR_INVALID_VALUE;
    return act_cuMemcpyHtoD(to, (const void *)(uintptr_t)from, size);
}

CUresult act_cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size)
{
    if (context_of(to) != to_context || context_of(from) != from_context)
        return CUDA_ERROR_INVALID_VALUE;
    return act_cuMemcpyHtoD(to, (const void *)(uintptr_t)from, size);
}

CUresult act_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                               size_t size, CUstream stream)
{
    (void)stream;
    return act_cuMemcpyPeer(to, to_context, from, from_context, size);
}

CUresult act_cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t size, CUstream stream)
{
    (void)stream;
    memset((void *)(uintptr_t)to, byte, size);
    return CUDA_SUCCESS;
}

/* --- streams, events, modules --------------------------------------------------------------------------------------- */
CUresult act_cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : make((void **)stream, 16);
}

CUresult act_cuCtxSynchronize(void)
{
    const char *text = getenv("FAKE_DRIVER_WAIT");
    usleep(text ? (useconds_t)atoi(text) * 1000 : 0);
    return CUDA_SUCCESS;
}

CUresult act_cuStreamDestroy(CUstream stream) { return destroy(stream); }

CUresult act_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = fake_mode;
    fake_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* The default stream is all that synchronize with it. */
static bool is_captured_with_others(CUstream stream) { return !stream && fake_state.capture == FAKE_BLOCKING_CAPTURE; }

CUresult act_cuStreamSynchronize(CUstream stream)
{
    return is_captured_with_others(stream) ? lose_capture("cuStreamSynchronize", CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
                                           : CUDA_SUCCESS;
}

CUresult act_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    if (is_captured_with_others(stream))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *status = is_captured(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult act_cuEventCreate(CUevent *event, unsigned int flags)
{
    (void)flags;
    return make((void **)event, 16);
}

CUresult act_cuEventDestroy(CUevent event) { return destroy(event); }

CUresult act_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    *milliseconds = start && end ? 1.5f : 0.0f;
    return CUDA_SUCCESS;
}

/* The compiler's levels, by the order in which code was loaded. */
__attribute__((visibility("default"))) int fake_levels[8];
static int fake_level_count;

/* Reads the options as the driver's compiler does: a log buffer, its size, registers, a level. "hard" code fails at the highest
 * one. */
static CUresult compile(const char *code, unsigned int count, CUjit_option *options, void **values)
{
    char *log = NULL;
    size_t size = 0;
    int level = 4;
    fake_state.last_max_registers = 0;
    for (unsigned int i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log = values[i];
        else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            size = (size_t)values[i];
        else if (options[i] == CU_JIT_INFO_LOG_BUFFER)
            ((char *)values[i])[0] = 0;
        else if (options[i] == CU_JIT_MAX_REGISTERS)
            fake_state.last_max_registers = (int)(intptr_t)values[i];
        else if (options[i] == CU_JIT_OPTIMIZATION_LEVEL)
            level = (int)(intptr_t)values[i];
        else if (options[i] != CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES && options[i] != CU_JIT_GENERATE_LINE_INFO)
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (fake_level_count < (int)(sizeof fake_levels / sizeof *fake_levels))
        fake_levels[fake_level_count++] = level;
    const char *fault = strstr(code, "bad") ? "bad" : level == 4 && strstr(code, "hard") ? "hard" : NULL;
    if (!fault)
        return CUDA_SUCCESS;
    if (log)
        snprintf(log, size, "ptxas fatal   : %s PTX\n", fault);
    return (CUresult)218;
}

CUresult act_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, CUjit_option *options,
                                void **values)
{
    CUresult result = compile(image, count, options, values);
    return result == CUDA_SUCCESS ? make((void **)module, 16) : result;
}

/* As drivers of CUDA 12.2 and newer. */
CUresult act_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    const char *text = getenv("CUDA_MODULE_LOADING");
    *mode = text && !strcmp(text, "EAGER") ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult act_cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options, void **values,
                               unsigned int count, CUlibraryOption *library_options, void **library_values,
                               unsigned int library_count)
{
    (void)library_options, (void)library_values, (void)library_count;
    return act_cuModuleLoadDataEx((CUmodule *)library, image, count, options, values);
}

CUresult act_cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}

CUresult act_cuLibraryUnload(CUlibrary library) { return destroy(library); }

#include "fake_link.h"

CUresult act_cuModuleGetGlobal(CUdeviceptr *pointer, size_t *size, CUmodule module, const char *name)
{
    *pointer = (CUdeviceptr)(uintptr_t)module;
    *size = 8;
    return strcmp(name, "absent") ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* Every kernel has two parameters of 8 bytes. */
CUresult act_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    (void)function;
    *offset = 8 * index;
    *size = 8;
    return index < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuModuleUnload(CUmodule module) { return destroy(module); }

CUresult act_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    *function = (CUfunction)module;
    return strcmp(name, "absent") ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult act_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    (void)function;
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 512
             : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES   ? 1024
                                                                  : 7;
    return CUDA_SUCCESS;
}

CUresult act_cuCtxGetLimit(size_t *value, CUlimit limit)
{
    (void)limit;
    *value = fake_state.stack ? fake_state.stack : 1024;
    return CUDA_SUCCESS;
}

CUresult act_cuCtxSetLimit(CUlimit limit, size_t value)
{
    (void)limit;
    fake_state.stack = (value + 15) / 16 * 16;
    return CUDA_SUCCESS;
}

CUresult act_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function;
    fake_state.function_attributes[attribute] = value + 1;
    return CUDA_SUCCESS;
}

CUresult act_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                              CUoccupancyB2DSize size_of_block, size_t dynamic, int limit)
{
    (void)function, (void)size_of_block, (void)dynamic, (void)limit;
    *grid = 264;
    *block = 512;
    return CUDA_SUCCESS;
}

CUresult act_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block, size_t dynamic)
{
    (void)function, (void)block, (void)dynamic;
    *blocks = 2;
    return CUDA_SUCCESS;
}

/* --- launching ------------------------------------------------------------------------------------------------------ */
static CUresult record_launch(const CUlaunchConfig *config, void **extra)
{
    fake_state.last_launch = (FakeLaunch){.config = *config};
    fake_state.launch_context = fake_current;
    if (config->numAttrs)
        memcpy(fake_state.last_launch.attributes, config->attrs, config->numAttrs * sizeof *config->attrs);
    const void *bytes = NULL;
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            fake_state.last_launch.parameters_size = *(size_t *)extra[1];
        else if (extra[0] != CU_LAUNCH_PARAM_BUFFER_POINTER)
            return CUDA_ERROR_INVALID_VALUE;
        else
            bytes = extra[1];
    }
    size_t size = fake_state.last_launch.parameters_size, most = sizeof fake_state.last_launch.parameters;
    if (bytes)
        memcpy(fake_state.last_launch.parameters, bytes, size < most ? size : most);
    uint64_t blocks = (uint64_t)config->gridDimX * config->gridDimY * config->gridDimZ;
    for (unsigned int i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && blocks > 264)
            return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return CUDA_SUCCESS;
}

CUresult act_cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                            unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int dynamic,
                            CUstream stream, void **parameters, void **extra)
{
    CUlaunchConfig config = {grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic, stream, NULL, 0};
    return function && !parameters ? record_launch(&config, extra) : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
    return function && !parameters ? record_launch(config, extra) : CUDA_ERROR_INVALID_VALUE;
}

#include "fake_graph.h"

/* --- the functions ------------------------------------------------------------------------------------------------- */
#pragma GCC diagnostic ignored "-Waddress"
#define DRIVER(name, symbol, version, need, parameters, arguments) \
    EXPORTED CUresult symbol parameters;                           \
    CUresult symbol parameters                                     \
    {                                                              \
        CUresult failure;                                          \
        if (answer(DRIVER_##name, &failure))                       \
            return failure;                                        \
        return act_##name ? act_##name arguments : CUDA_SUCCESS;   \
    }
#include "runtime/cuda/driver/driver.def"
#undef DRIVER
