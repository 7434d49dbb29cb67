/* A specialization for a caller that a signal may end: the thread that compiles goes on, and the next call finds what it
 * has made. */
#include <string.h>

#include "core/base/memory.h"
#include "core/thread/side_thread.h"
#include "jit/cache/cache.h"

typedef struct Request {
    JitFunction *function;
    RtDevice *device;
    Arena *arena; /* of the types */
    const Type **types;
    uint32_t count;
    void (*left)(void *owner);
    void *owner;
    const JitSpecialization *found;
    Diag diag;
} Request;

typedef struct Making {
    const Type *const *types;
    uint32_t count;
    Request *made;
} Making;

static bool make(void *data)
{
    Making *work = data;
    Request *request = memory_alloc(sizeof *request);
    memset(request, 0, sizeof *request);
    work->made = request;
    request->arena = arena_create();
    request->types = ARENA_ARRAY(request->arena, const Type *, work->count);
    request->count = work->count;
    for (uint32_t i = 0; i < work->count; i++)
        request->types[i] = type_copy(request->arena, work->types[i]);
    return true;
}

static void destroy(Request *request)
{
    arena_destroy(request->arena);
    memory_free(request);
}

static void specialize(void *argument)
{
    Request *request = argument;
    request->found = jit_specialize(request->function, request->device, request->types, request->count, &request->diag);
}

static void leave(void *argument)
{
    Request *request = argument;
    void (*left)(void *owner) = request->left;
    void *owner = request->owner;
    destroy(request);
    left(owner);
}

const JitSpecialization *jit_specialize_patiently(JitFunction *function, RtDevice *device, const Type *const *types,
                                                  uint32_t count, const JitPatience *patience, Diag *diag)
{
    const JitSpecialization *found = jit_cache_find(&function->cache, device, types, count);
    Making making = {types, count, NULL};
    if (!found && rt_device_kind(device) == RT_CPU) /* a GPU's driver may compile what the disk has for long */
        found = jit_specialize_kept(function, device, types, count);
    if (found)
        return found;
    if (!memory_guard(make, &making, diag))
        return NULL;
    Request *request = making.made;
    request->function = function;
    request->device = device;
    request->left = patience->left;
    request->owner = patience->owner;
    SideWork work = {specialize, leave, patience->interrupted, request};
    if (!beside(&work, "the compilation", diag)) {
        if (diag->id != DIAG_INTERRUPTED)
            destroy(request);
        return NULL;
    }
    found = request->found;
    if (!found)
        *diag = request->diag;
    destroy(request);
    return found;
}
