/* A kernel from the disk, or from the stages, and then kept for the next process. */
#include "jit/obtain.h"

#include <assert.h>

#include "core/base/memory.h"
#include "core/thread/own_stack.h"
#include "jit/cache/cache_key.h"
#include "jit/cache/disk_cache.h"
#include "jit/compile.h"
#include "jit/dump.h"
#include "jit/quick_start.h"
#include "jit/raw_module.h"

static bool wants_dump(void)
{
    const char *pass;
    TargetKind target;
    for (const char *const *stage = jit_dump_stages; *stage; stage++)
        if (jit_dump_wants(*stage))
            return true;
    for (uint32_t i = 0; (pass = codegen_pass_name(i, &target)); i++)
        if (jit_dump_wants(pass))
            return true;
    return false;
}

/* The image is kept where there are other devices, and freed where there are none. */
static void keep(JitSpecialization *specialization, KernelImage *image)
{
    if (image->is_quick || rt_device_is_alone(specialization->device))
        kernel_image_free(image);
    else
        specialization->image = *image;
}

/* What is on disk is only an optimization: whatever is wrong with it, the kernel is compiled. */
static bool load_kept(const JitFunction *function, const Hash *key, JitSpecialization *specialization)
{
    KernelImage image = {0};
    Diag ignored = {.id = DIAG_NONE};
    bool ok = disk_cache_load(key, &image) && image.parameter_count == specialization->count &&
              jit_restore_exceptions(function, &image, specialization) && jit_load(&image, specialization, &ignored);
    if (!ok && specialization->host_code) {
        codegen_unlink_host(specialization->host_code);
        specialization->host_code = NULL;
    }
    specialization->from_disk = ok;
    keep(specialization, &image);
    return ok;
}

/* Compiled for another device already. Whatever is wrong with it, the kernel is compiled. */
static bool load_twins(const JitFunction *function, JitSpecialization *specialization)
{
    Diag ignored = {.id = DIAG_NONE};
    JitSpecialization *twin = jit_cache_find_twin(&function->cache, specialization);
    if (!twin)
        return false;
    specialization->link_count = twin->link_count;
    specialization->links = twin->links; /* of a specialization that lives as long */
    return jit_restore_exceptions(function, &twin->image, specialization) &&
           jit_load(&twin->image, specialization, &ignored);
}

/* What has been made before. *is_kept: whether the disk is to have it, under *key. */
static bool obtain_made(const JitFunction *function, JitSpecialization *specialization, const Target *target, Hash *key,
                        bool *is_kept)
{
    *is_kept = false;
    if (!specialization->failed && load_twins(function, specialization))
        return true;
    *is_kept = disk_cache_is_on() && !wants_dump() && jit_cache_key(function, specialization, target, key);
    return *is_kept && load_kept(function, key, specialization);
}

static bool obtain(const JitFunction *function, JitSpecialization *specialization, bool compiles, Diag *diag)
{
    KernelImage image = {0};
    Target target;
    Hash key;
    bool is_kept;
    if (function->raw)
        return compiles && jit_obtain_raw(function, specialization, diag);
    if (!jit_target_of_device(specialization->device, &target, diag))
        return false;
    if (obtain_made(function, specialization, &target, &key, &is_kept))
        return true;
    bool is_quick = function->starts_quickly && !specialization->replaces && !wants_dump();
    bool ok = compiles && jit_compile(function, &target, specialization, is_quick, &image, diag);
    specialization->is_quick = image.is_quick;
    if (ok && is_kept && !image.is_quick)
        disk_cache_store(&key, &image);
    keep(specialization, &image);
    return ok;
}

typedef struct Wish {
    const JitFunction *function;
    JitSpecialization *specialization;
    bool compiles;
    Diag *diag;
    bool ok;
} Wish;

static void fulfil(void *argument)
{
    Wish *wish = argument;
    wish->ok = obtain(wish->function, wish->specialization, wish->compiles, wish->diag);
}

static bool obtain_with_stack(const JitFunction *function, JitSpecialization *specialization, bool compiles, Diag *diag)
{
    Wish wish = {function, specialization, compiles, diag, false};
    return with_stack(STACK_FOR_NESTING, fulfil, &wish, diag) && wish.ok;
}

/* --- one kernel -------------------------------------------------------------------------------------------------------- */

typedef struct Compilation {
    JitFunction *function;
    RtDevice *device;
    const Type *const *types;
    uint32_t count;
    const LaunchTests *failed;
    const JitSpecialization *replaces;
    uint32_t number; /* among the function's kernels */
    bool compiles; /* what was not made before */
    JitSpecialization *made;
    Diag *diag;
} Compilation;

static void destroy_specialization(void *specialization) { jit_specialization_destroy(specialization); }

static bool is_silent(const JitSpecialization *specialization)
{
    return rt_device_kind(specialization->device) == RT_GPU && !specialization->prints && !specialization->waits &&
           !specialization->has_notes && !specialization->has_state && !jit_is_observed(specialization) &&
           !specialization->is_quick;
}

static JitSpecialization *make_optimized(const JitSpecialization *quick, Diag *diag);

static bool compile(void *data)
{
    Compilation *work = data;
    MemoryCleanup cleanup;
    JitSpecialization *specialization = jit_specialization_create(work->device, work->types, work->count);
    memory_defer(&cleanup, destroy_specialization, specialization);
    specialization->tag = (uint64_t)work->function->number << 32 | work->number;
    specialization->function = work->function;
    specialization->replaces = work->replaces;
    if (work->failed)
        specialization->failed = arena_copy(specialization->arena, work->failed, sizeof *work->failed);
    bool ok = obtain_with_stack(work->function, specialization, work->compiles, work->diag);
    specialization->is_silent = is_silent(specialization);
    if (ok && specialization->is_quick)
        jit_quick_start_begin(specialization, make_optimized);
    if (ok)
        memory_cancel(&cleanup);
    else
        memory_end(&cleanup);
    work->made = ok ? specialization : NULL;
    return ok;
}

/* Needs no lock. */
static JitSpecialization *make_optimized(const JitSpecialization *quick, Diag *diag)
{
    Compilation work = {.function = quick->function,
                        .device = quick->device,
                        .types = quick->types,
                        .count = quick->count,
                        .failed = quick->failed,
                        .replaces = quick,
                        .number = (uint32_t)quick->tag,
                        .compiles = true,
                        .diag = diag};
    return memory_guard(compile, &work, diag) ? work.made : NULL;
}

static JitSpecialization *make_locked(Compilation work)
{
    assert(pthread_mutex_trylock(&work.function->cache.compiling.mutex)); /* held by the caller */
    work.number = work.function->cache.made;
    if (!memory_guard(compile, &work, work.diag))
        return NULL;
    work.function->cache.made++;
    return work.made;
}

JitSpecialization *jit_make_locked(JitFunction *function, RtDevice *device, const Type *const *types, uint32_t count,
                                   const LaunchTests *failed, Diag *diag)
{
    return make_locked((Compilation){.function = function,
                                     .device = device,
                                     .types = types,
                                     .count = count,
                                     .failed = failed,
                                     .compiles = true,
                                     .diag = diag});
}

JitSpecialization *jit_load_locked(JitFunction *function, RtDevice *device, const Type *const *types, uint32_t count)
{
    Diag ignored = {.id = DIAG_NONE};
    return make_locked(
        (Compilation){.function = function, .device = device, .types = types, .count = count, .diag = &ignored});
}

bool jit_tell_cache_refusal(char *text, size_t size) { return disk_cache_tell_refusal(text, size); }

bool jit_cache_folder(char *path, size_t size) { return disk_cache_folder(path, size); }

char *jit_list_cached(Diag *diag) { return disk_cache_list(diag); }
