/* The in-memory cache of one function: find without a lock, append under the function's compile lock. */
#include "jit/cache/cache.h"

#include <assert.h>

#include "core/base/memory.h"

void jit_cache_init(JitCache *cache)
{
    atomic_init(&cache->first, NULL);
    cache->last = NULL;
    cache->count = cache->made = 0;
    long_lock_init(&cache->compiling);
}

void jit_cache_destroy(JitCache *cache)
{
    JitSpecialization *specialization = atomic_load(&cache->first);
    while (specialization) {
        JitSpecialization *next = atomic_load(&specialization->next);
        jit_specialization_destroy(specialization);
        specialization = next;
    }
    long_lock_destroy(&cache->compiling);
}

static bool is_for(const JitSpecialization *specialization, const RtDevice *device, const Type *const *types,
                   uint32_t count)
{
    if (specialization->device != device || specialization->count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (specialization->types[i] != types[i] && !type_equal(specialization->types[i], types[i]))
            return false;
    return true;
}

JitSpecialization *jit_cache_find(const JitCache *cache, const RtDevice *device, const Type *const *types,
                                  uint32_t count)
{
    JitSpecialization *each = atomic_load_explicit(&cache->first, memory_order_acquire);
    while (each && !is_for(each, device, types, count))
        each = atomic_load_explicit(&each->next, memory_order_acquire);
    return each;
}

JitSpecialization *jit_cache_find_twin(const JitCache *cache, const JitSpecialization *wanted)
{
    JitSpecialization *each = atomic_load_explicit(&cache->first, memory_order_acquire);
    while (each && !(each->image.code && rt_device_sm(each->device) == rt_device_sm(wanted->device) &&
                     is_for(each, each->device, wanted->types, wanted->count)))
        each = atomic_load_explicit(&each->next, memory_order_acquire);
    return each;
}

void jit_cache_append_locked(JitCache *cache, JitSpecialization *specialization)
{
    assert(pthread_mutex_trylock(&cache->compiling.mutex)); /* held by the caller */
    assert(!atomic_load(&specialization->next));
    _Atomic(JitSpecialization *) *place = cache->last ? &cache->last->next : &cache->first;
    atomic_store_explicit(place, specialization, memory_order_release);
    cache->last = specialization;
    cache->count++;
}

JitSpecialization *jit_specialization_create(RtDevice *device, const Type *const *types, uint32_t count)
{
    Arena *arena = arena_create();
    const Type **copies = ARENA_ARRAY(arena, const Type *, count);
    for (uint32_t i = 0; i < count; i++)
        copies[i] = type_copy(arena, types[i]);
    JitSpecialization *specialization = memory_alloc(sizeof *specialization);
    *specialization = (JitSpecialization){.arena = arena, .device = device, .count = count, .types = copies};
    atomic_init(&specialization->next, NULL);
    atomic_init(&specialization->kernel, NULL);
    atomic_init(&specialization->is_silent, false);
    atomic_init(&specialization->variants, NULL);
    specialization->abi = kernel_abi_layout(copies, count, false, arena);
    return specialization;
}

bool jit_is_observed(const JitSpecialization *specialization)
{
    return specialization->observation.kind > OBSERVE_NOTHING;
}

void jit_specialization_destroy(JitSpecialization *specialization)
{
    if (!specialization)
        return;
    RtKernel *kernel = jit_current_kernel(specialization);
    QuickStart *quick = specialization->quick;
    if (quick) {
        rt_kernel_unload(quick->first);
        jit_specialization_destroy(quick->made);
        memory_free(quick);
    } else if (kernel)
        rt_kernel_unload(kernel);
    if (specialization->host_code)
        codegen_unlink_host(specialization->host_code);
    for (JitSpecialization *each = atomic_load(&specialization->variants), *next; each; each = next) {
        next = atomic_load(&each->next);
        jit_specialization_destroy(each);
    }
    kernel_image_free(&specialization->image);
    arena_destroy(specialization->arena);
    memory_free(specialization);
}
