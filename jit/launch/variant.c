/* Kernels for launches that a specialization's plan does not hold for. The specialization's own code leaves checks out that
 * the launch can prove. Where it cannot, because an index is out of bounds or because the ranges of the plan are wider than
 * the truth, a variant runs whose code checks the accesses in question as well. One of them does for most programs; after
 * a few there is one that checks everything. Each mix of records on the host and on the device has such kernels of its own;
 * after a few there is one for all mixes, which looks where each record lies. */
#include "jit/launch/variant.h"

#include <string.h>

#include "jit/obtain.h"

/* The last of so many checks everything; behind them one is for records in all places. */
enum { MOST_VARIANTS = 3 };

/* A record is where the launch has put it: behind its pointer, or among the parameters. */
static bool finds_records(const JitSpecialization *specialization, const LaunchTests *variant,
                          const LaunchTests *failed)
{
    uint32_t count = specialization->plan.test_count;
    if (variant->finds_any_records)
        return true;
    for (uint32_t i = count - specialization->value_tests; i < count; i++)
        if (launch_tests_have(variant, i) != launch_tests_have(failed, i))
            return false;
    return true;
}

static const JitSpecialization *find(const JitSpecialization *specialization, const LaunchTests *failed)
{
    const JitSpecialization *each = atomic_load_explicit(&specialization->variants, memory_order_acquire);
    while (each && (!launch_tests_cover(each->failed, failed) || !finds_records(specialization, each->failed, failed)))
        each = atomic_load_explicit(&each->next, memory_order_acquire);
    return each;
}

/* Of this launch and of those before: alternating launches are to have one variant. */
static LaunchTests all_failed(const JitSpecialization *specialization, const LaunchTests *failed)
{
    LaunchTests all = *failed;
    uint32_t count = 1, checked = specialization->plan.test_count - specialization->value_tests;
    const JitSpecialization *each = atomic_load(&specialization->variants);
    for (; each; each = atomic_load(&each->next), count++)
        for (uint32_t i = 0; i < checked; i++)
            if (launch_tests_have(each->failed, i))
                launch_tests_add(&all, i);
    all.finds_any_records = specialization->value_tests && count > MOST_VARIANTS;
    uint32_t added = all.finds_any_records ? specialization->plan.test_count : checked;
    for (uint32_t i = 0; count >= MOST_VARIANTS && i < added; i++)
        launch_tests_add(&all, i);
    return all;
}

static const JitSpecialization *make_locked(JitSpecialization *specialization, const LaunchTests *failed, Diag *diag)
{
    LaunchTests all = all_failed(specialization, failed);
    JitSpecialization *made = jit_make_locked(specialization->function, specialization->device, specialization->types,
                                              specialization->count, &all, diag);
    if (!made)
        return NULL;
    atomic_store(&made->next, atomic_load(&specialization->variants));
    atomic_store_explicit(&specialization->variants, made, memory_order_release);
    return made;
}

const JitSpecialization *jit_variant_by_ranges(const JitSpecialization *specialization, const LaunchFacts *facts,
                                               Diag *diag)
{
    LaunchTests failed;
    if (launch_plan_holds(&specialization->plan, facts, &failed))
        return specialization;
    const JitSpecialization *found = find(specialization, &failed);
    if (found)
        return found;
    JitFunction *function = specialization->function;
    pthread_mutex_lock(&function->cache.compiling.mutex);
    found = find(specialization, &failed);
    if (!found)
        found = make_locked((JitSpecialization *)specialization, &failed, diag);
    pthread_mutex_unlock(&function->cache.compiling.mutex);
    return found;
}
