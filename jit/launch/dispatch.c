/* Finds a specialization by device and argument types, compiles it on a miss, launches it. */
#include <assert.h>
#include <string.h>

#include "core/base/likely.h"
#include "core/base/memory.h"
#include "core/thread/later_work.h"
#include "jit/launch/launch_state.h"
#include "jit/obtain.h"
#include "jit/quick_start.h"
#include "jit/launch/variant.h"

JitFunction *jit_function_create(const Snapshot *snapshot, const CompileOptions *options, uint32_t number)
{
    JitFunction *function = memory_try(sizeof *function);
    if (!function)
        return NULL;
    function->snapshot = snapshot;
    function->options = *options;
    function->number = number;
    atomic_init(&function->implementations, NULL);
    jit_cache_init(&function->cache);
    return function;
}

JitFunction *jit_raw_function_create(JitRawModule *raw, const char *symbol, bool is_cooperative)
{
    char *text = memory_try(strlen(symbol) + 1);
    JitFunction *function = text ? jit_function_create(NULL, &default_options, 0) : NULL;
    if (!function) {
        memory_free(text);
        return NULL;
    }
    function->raw = raw;
    function->symbol = strcpy(text, symbol);
    function->is_cooperative = is_cooperative;
    return function;
}

/* Of those behind it in its list, too, and of their variants. */
static bool take_back(JitSpecialization *each)
{
    bool is_back = true;
    for (; each; each = atomic_load(&each->next))
        is_back &= jit_quick_start_take_back(each) & take_back(atomic_load(&each->variants));
    return is_back;
}

bool jit_function_destroy(JitFunction *function)
{
    if (!function)
        return true;
    if (!take_back(atomic_load(&function->cache.first)))
        return false;
    jit_cache_destroy(&function->cache);
    memory_free(function->symbol);
    jit_free_implementations(function);
    memory_free(function);
    return true;
}

/* Without optimizations all code is made quickly. */
void jit_start_quickly(JitFunction *function) { function->starts_quickly = function->options.opt > 0; }

bool jit_finish_quick_starts(bool (*interrupted)(void)) { return later_wait_for_all(interrupted); }

const JitSpecialization *jit_specialize(JitFunction *function, RtDevice *device, const Type *const *types,
                                        uint32_t count, Diag *diag)
{
    JitSpecialization *found = jit_cache_find(&function->cache, device, types, count);
    if (found)
        return found;
    pthread_mutex_lock(&function->cache.compiling.mutex);
    found = jit_cache_find(&function->cache, device, types, count);
    if (!found && (found = jit_make_locked(function, device, types, count, NULL, diag)))
        jit_cache_append_locked(&function->cache, found);
    pthread_mutex_unlock(&function->cache.compiling.mutex);
    return found;
}

const JitSpecialization *jit_specialize_kept(JitFunction *function, RtDevice *device, const Type *const *types,
                                             uint32_t count)
{
    if (pthread_mutex_trylock(&function->cache.compiling.mutex))
        return NULL;
    JitSpecialization *found = jit_cache_find(&function->cache, device, types, count);
    if (!found && (found = jit_load_locked(function, device, types, count)))
        jit_cache_append_locked(&function->cache, found);
    pthread_mutex_unlock(&function->cache.compiling.mutex);
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

RtKernel *jit_kernel(const JitSpecialization *specialization) { return jit_current_kernel(specialization); }

bool jit_is_optimized(const JitSpecialization *specialization)
{
    return !specialization->quick || jit_quick_state(specialization) == QUICK_IS_REPLACED;
}

RtKernel *jit_optimized_kernel(const JitSpecialization *specialization, bool (*interrupted)(void), Diag *diag)
{
    bool is_there = jit_is_optimized(specialization) || jit_quick_start_wait(specialization, interrupted, diag);
    return is_there ? jit_current_kernel(specialization) : NULL;
}

uint32_t jit_quick_count(const JitSpecialization *specialization, uint32_t *replaced)
{
    uint32_t count = specialization->quick != NULL;
    *replaced = count && jit_is_optimized(specialization);
    const JitSpecialization *each = atomic_load_explicit(&specialization->variants, memory_order_acquire);
    for (; each; each = atomic_load_explicit(&each->next, memory_order_acquire)) {
        count += each->quick != NULL;
        *replaced += each->quick && jit_is_optimized(each);
    }
    return count;
}

const LinkItem *const *jit_links(const JitSpecialization *specialization, uint32_t *count)
{
    *count = specialization->link_count;
    return specialization->links;
}

bool jit_announce(const JitSpecialization *specialization, bool is_announced)
{
    return atomic_exchange(&((JitSpecialization *)specialization)->is_announced, is_announced) != is_announced;
}

const char *const jit_step_names[JIT_STEP_COUNT] = {
#define STEP(name) #name,
    JIT_STEPS(STEP)
#undef STEP
};

const int64_t *jit_take_times(const JitSpecialization *specialization)
{
    bool are_taken = atomic_exchange(&((JitSpecialization *)specialization)->are_times_taken, true);
    return are_taken ? NULL : specialization->times;
}

bool jit_from_disk(const JitSpecialization *specialization) { return specialization->from_disk; }
uint32_t jit_variant_count(const JitSpecialization *specialization)
{
    uint32_t count = 0;
    const JitSpecialization *each = atomic_load_explicit(&specialization->variants, memory_order_acquire);
    for (; each; each = atomic_load_explicit(&each->next, memory_order_acquire))
        count++;
    return count;
}
const char *jit_warnings(const JitSpecialization *specialization)
{
    return specialization->warnings ? specialization->warnings : "";
}
const bool *jit_written(const JitSpecialization *specialization) { return specialization->written; }

void jit_each_observation(const JitSpecialization *specialization, void (*visit)(const JitObservation *, void *user),
                          void *user)
{
    if (!jit_is_observed(specialization))
        return;
    visit(&specialization->observation, user);
    const JitSpecialization *each = atomic_load_explicit(&specialization->variants, memory_order_acquire);
    for (; each; each = atomic_load_explicit(&each->next, memory_order_acquire))
        visit(&each->observation, user);
}

bool jit_prints(const JitSpecialization *specialization) { return specialization->prints; }
bool jit_waits(const JitSpecialization *specialization) { return specialization->waits; }

/* --- launching ------------------------------------------------------------------------------------------------------ */

static void write_exception_fields(const JitSpecialization *specialization, const RtLaunch *launch,
                                   ExceptionRecord *record)
{
    const AbiField *fields = specialization->abi->fields + specialization->abi->field_count - 2;
    assert(specialization->abi->reports && specialization->abi->field_count >= 2);
    assert(fields[0].kind == ABI_EXCEPTION_RECORD && fields[1].kind == ABI_EXCEPTION_TAG);
    uint64_t address = (uint64_t)(uintptr_t)record;
    memcpy((uint8_t *)launch->parameters + fields[0].offset, &address, sizeof address);
    memcpy((uint8_t *)launch->parameters + fields[1].offset, &specialization->tag, sizeof specialization->tag);
}

/* What a kernel without the check `init` writes is not seen. */
static void note_written_arrays(const JitSpecialization *specialization, const RtLaunch *launch)
{
    for (uint32_t i = 0; i < specialization->abi->field_count; i++) {
        const AbiField *field = &specialization->abi->fields[i];
        RtPointer pointer;
        if (field->kind != ABI_POINTER || !specialization->written[field->parameter])
            continue;
        memcpy(&pointer, (const uint8_t *)launch->parameters + field->offset, sizeof pointer);
        rt_note_all_written(pointer);
    }
}

/* Whether threads wait for ever in a launch in which one has raised: that they miss it is a consequence. */
static bool raised_before_hang(ExceptionRecord *record, Diag *diag)
{
    Diag raised = {.id = DIAG_NONE};
    if (diag->id != DIAG_BARRIER_DIVERGED || rt_record_check(record, &raised))
        return false;
    diag_clear(diag);
    *diag = raised;
    return true;
}

/* With a record of its own. After a failure that left the kernel running the record is lost. */
static bool launch_and_wait(const JitSpecialization *specialization, const RtLaunch *launch, bool *ran, Diag *diag)
{
    RtDevice *device = specialization->device;
    ExceptionRecord *record = rt_record_take(device, diag);
    *ran = false;
    if (!record)
        return false;
    write_exception_fields(specialization, launch, record);
    bool launched = rt_launch(jit_current_kernel(specialization), launch, diag);
    if (!launched && diag->id == DIAG_KERNEL_EXCEPTION)
        diag->raised.tag = specialization->tag; /* a check of the runtime's, which knows no more than the site */
    *ran = launched || raised_before_hang(record, diag);
    if (launched && !rt_stream_synchronize(device, launch->stream, diag))
        return false;
    bool quiet = rt_record_check(record, diag);
    rt_record_return(device, record);
    return launched && quiet;
}

static bool launch_reporting(const JitSpecialization *specialization, const RtLaunch *launch, bool *ran, Diag *diag)
{
    bool is_recorded = rt_graph_recorded();
    if (is_recorded && specialization->waits)
        return *ran = diag_fail(diag, NULL, DIAG_CAPTURE, "a kernel with debug=True",
                                "its launch waits; exceptions=True has exceptions found later");
    if (specialization->waits || (rt_device_kind(specialization->device) == RT_CPU && !is_recorded))
        return launch_and_wait(specialization, launch, ran, diag);
    ExceptionRecord *record = rt_stream_record(specialization->device, launch->stream, diag);
    if (!record)
        return *ran = false;
    write_exception_fields(specialization, launch, record);
    return *ran = rt_launch(jit_current_kernel(specialization), launch, diag);
}

static bool launch_raising(const JitSpecialization *specialization, RtLaunch *launch, bool *ran, Diag *diag)
{
    launch->parameters_size = specialization->abi->size;
    if (rt_tracks_writes() && !specialization->checks_init)
        note_written_arrays(specialization, launch);
    return specialization->abi->reports ? launch_reporting(specialization, launch, ran, diag)
                                        : (*ran = rt_launch(jit_current_kernel(specialization), launch, diag));
}

/* Those that happened. */
static void collect_overflows(const JitSpecialization *specialization, const OverflowRecord *records,
                              JitOverflows *overflows)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < specialization->exception_count; i++)
        count += records[i].count != 0;
    *overflows = (JitOverflows){.items = count ? memory_try(count * sizeof *overflows->items) : NULL};
    for (uint32_t i = 0; overflows->items && i < specialization->exception_count; i++)
        if (records[i].count)
            overflows->items[overflows->count++] = (JitOverflow){&specialization->exceptions[i], records[i]};
}

/* On a GPU, where the host is told behind it. A thread that has raised is the launch's failure, unless watchers have found a
 * fault, of which that may be a consequence; and the rest is read. */
static bool launch_with_state(const JitSpecialization *specialization, RtLaunch *launch, bool *ran, Diag *diag)
{
    LaunchState state;
    Diag unread = {.id = DIAG_NONE};
    bool ok =
        launch_state_make(specialization, launch, &state, diag) && launch_raising(specialization, launch, ran, diag);
    if (*ran && launch_state_read(&state, launch->stream, ok ? diag : &unread) && launch->overflows)
        launch_state_overflows(specialization, launch, &state, launch->overflows);
    if (*ran && state.words && (!diag_failed(diag) || diag->id == DIAG_KERNEL_EXCEPTION))
        launch_state_fault(specialization, launch, &state, diag);
    ok = ok && !diag_failed(diag);
    return launch_state_release(&state, diag) && ok;
}

static bool launch_telling(const JitSpecialization *specialization, RtLaunch *launch, bool *ran, Diag *diag)
{
    *ran = false;
    return specialization->has_state ? launch_with_state(specialization, launch, ran, diag)
                                     : launch_raising(specialization, launch, ran, diag);
}

static bool launch_this(const JitSpecialization *specialization, RtLaunch *launch, JitOverflows *overflows, bool *ran,
                        Diag *diag)
{
    if (!(specialization->has_notes | specialization->has_state))
        return launch_raising(specialization, launch, ran, diag);
    if (rt_graph_recorded())
        return *ran = diag_fail(diag, NULL, DIAG_CAPTURE,
                                "a kernel with check=\"overflow\", \"race\", \"init\" or \"barrier\"",
                                "it tells at its return; overflow=raise raises later");
    if (!specialization->has_notes)
        return launch_telling(specialization, launch, ran, diag);
    launch->overflows = memory_new(specialization->exception_count * sizeof *launch->overflows, diag);
    if (!launch->overflows)
        return *ran = false;
    bool ok = launch_telling(specialization, launch, ran, diag);
    if (overflows)
        collect_overflows(specialization, launch->overflows, overflows);
    memory_free(launch->overflows);
    launch->overflows = NULL;
    return ok;
}

/* By another kernel, whose parameters begin as this one's and may go on. */
static __attribute__((noinline)) bool launch_variant(const JitSpecialization *variant,
                                                     const JitSpecialization *specialization, RtLaunch launch,
                                                     JitOverflows *overflows, bool *ran, Diag *diag)
{
    void *given = launch.parameters;
    launch.parameters = memory_new(variant->abi->size, diag);
    if (!launch.parameters)
        return *ran = false;
    uint32_t size = variant->abi->size < specialization->abi->size ? variant->abi->size : specialization->abi->size;
    memcpy(launch.parameters, given, size);
    bool ok = launch_this(variant, &launch, overflows, ran, diag);
    memory_free(launch.parameters);
    return ok;
}

/* Whether all that there is to do is to give the parameters to the device. */
static inline bool is_launched_as_it_is(const JitSpecialization *specialization)
{
    return atomic_load_explicit(&specialization->is_silent, memory_order_relaxed) && !specialization->abi->reports &&
           !rt_tracks_writes();
}

/* variant: the specialization itself, or one of its own. */
static inline bool launch_as(const JitSpecialization *variant, const JitSpecialization *specialization,
                             RtLaunch *launch, JitOverflows *overflows, bool *ran, Diag *diag)
{
    return variant == specialization ? launch_this(variant, launch, overflows, ran, diag)
                                     : launch_variant(variant, specialization, *launch, overflows, ran, diag);
}

/* Quick code may take more registers: a block that does not fit waits for the optimized code. */
static __attribute__((noinline)) bool launch_quickly(const JitSpecialization *variant,
                                                     const JitSpecialization *specialization, RtLaunch *launch,
                                                     JitOverflows *overflows, bool *ran, Diag *diag)
{
    bool is_optimized = jit_is_optimized(variant);
    if (!jit_quick_start_look(variant, launch->interrupted, diag))
        return *ran = false;
    if (launch_as(variant, specialization, launch, overflows, ran, diag))
        return true;
    if (is_optimized || *ran || diag->id != DIAG_LAUNCH_SHAPE)
        return false;
    Diag other = {.id = DIAG_NONE};
    bool is_there = jit_quick_start_wait(variant, launch->interrupted, &other);
    if (is_there || other.id == DIAG_INTERRUPTED)
        *diag = other;
    return is_there && launch_as(variant, specialization, launch, overflows, ran, diag);
}

static OFF_LAUNCH_PATH bool launch_in_another_way(const JitSpecialization *variant,
                                                  const JitSpecialization *specialization, RtLaunch *launch,
                                                  JitOverflows *overflows, bool *ran, Diag *diag)
{
    if (overflows)
        *overflows = (JitOverflows){0};
    if (!variant)
        return *ran = false;
    return variant->quick ? launch_quickly(variant, specialization, launch, overflows, ran, diag)
                          : launch_as(variant, specialization, launch, overflows, ran, diag);
}

LAUNCH_PATH bool jit_launch(const JitSpecialization *specialization, RtLaunch *launch, JitOverflows *overflows,
                            bool *ran, Diag *diag)
{
    const JitSpecialization *variant = specialization;
    if (specialization->plan.test_count)
        variant = jit_variant(specialization, launch, diag);
    if (UNLIKELY(variant != specialization || overflows || !is_launched_as_it_is(specialization)))
        return launch_in_another_way(variant, specialization, launch, overflows, ran, diag);
    launch->parameters_size = specialization->abi->size; /* quick code is not launched as it is */
    return *ran = rt_launch(jit_current_kernel(specialization), launch, diag);
}

/* The specialization or the variant of one with that tag. */
static const JitSpecialization *find_tag(const JitSpecialization *each, uint64_t tag)
{
    const JitSpecialization *found = NULL;
    for (; each && !found; each = atomic_load_explicit(&each->next, memory_order_acquire))
        found = each->tag == tag ? each : find_tag(atomic_load_explicit(&each->variants, memory_order_acquire), tag);
    return found;
}

const IrException *jit_exception(JitFunction *function, const ExceptionRecord *record)
{
    const JitSpecialization *each =
        find_tag(atomic_load_explicit(&function->cache.first, memory_order_acquire), record->tag);
    return each && record->code < each->exception_count ? &each->exceptions[record->code] : NULL;
}
