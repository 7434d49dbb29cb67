/* Finds a specialization by device and argument types, compiles it on a miss, launches it. */
#include "core/checked_alloc.h"
#include "jit/compile.h"

JitFunction *jit_function_create(const Snapshot *snapshot, const CompileOptions *options)
{
    JitFunction *function = checked_malloc(sizeof *function);
    function->snapshot = snapshot;
    function->options = *options;
    jit_cache_init(&function->cache);
    return function;
}

void jit_function_destroy(JitFunction *function)
{
    if (!function)
        return;
    jit_cache_destroy(&function->cache);
    free(function);
}

static JitSpecialization *compile_locked(JitFunction *function, RtDevice *device, const Type *const *types,
                                         uint32_t count, Diag *diag)
{
    JitSpecialization *specialization = jit_specialization_create(device, types, count);
    if (jit_compile(function, specialization, diag)) {
        jit_cache_append_locked(&function->cache, specialization);
        return specialization;
    }
    jit_specialization_destroy(specialization);
    return NULL;
}

const JitSpecialization *jit_specialize(JitFunction *function, RtDevice *device, const Type *const *types,
                                        uint32_t count, Diag *diag)
{
    JitSpecialization *found = jit_cache_find(&function->cache, device, types, count);
    if (found)
        return found;
    pthread_mutex_lock(&function->cache.compiling);
    found = jit_cache_find(&function->cache, device, types, count);
    if (!found)
        found = compile_locked(function, device, types, count, diag);
    pthread_mutex_unlock(&function->cache.compiling);
    return found;
}

const JitSpecialization *jit_find(const JitFunction *function, const RtDevice *device, const Type *const *types,
                                  uint32_t count)
{
    return jit_cache_find(&function->cache, device, types, count);
}

void jit_each_specialization(JitFunction *function, void (*visit)(const JitSpecialization *, void *user), void *user)
{
    JitSpecialization *each = atomic_load_explicit(&function->cache.first, memory_order_acquire);
    for (; each; each = atomic_load_explicit(&each->next, memory_order_acquire))
        visit(each, user);
}

const KernelAbi *jit_abi(const JitSpecialization *specialization) { return specialization->abi; }

const Type *const *jit_types(const JitSpecialization *specialization, uint32_t *count)
{
    *count = specialization->count;
    return specialization->types;
}

RtKernel *jit_kernel(const JitSpecialization *specialization) { return specialization->kernel; }
RtDevice *jit_device(const JitSpecialization *specialization) { return specialization->device; }
bool jit_from_disk(const JitSpecialization *specialization) { return specialization->from_disk; }
const bool *jit_written(const JitSpecialization *specialization) { return specialization->written; }

bool jit_launch(const JitSpecialization *specialization, RtLaunch launch, Diag *diag)
{
    launch.parameters_size = specialization->abi->size;
    return rt_launch(specialization->kernel, &launch, diag);
}
