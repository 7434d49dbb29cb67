/* The optimized code is that of a specialization of its own, which is in no list: what it was compiled from is the same, and so
 * all that a launch asks but the kernel. Code that was launched before stays loaded, as it may be running, or in a graph. */
#include "jit/quick_start.h"

#include <string.h>

#include "core/base/memory.h"

static void optimize(void *argument)
{
    QuickStart *quick = argument;
    JitSpecialization *of = quick->of;
    diag_clear(&quick->diag); /* a process that this one was forked from may have begun it */
    quick->made = quick->make(of, &quick->diag);
    if (quick->made)
        atomic_store_explicit(&of->kernel, jit_current_kernel(quick->made), memory_order_release);
    atomic_store_explicit(&quick->state, quick->made ? QUICK_IS_REPLACED : QUICK_HAS_FAILED, memory_order_release);
    if (quick->made) /* last, since launches of what is silent ask nothing else */
        atomic_store_explicit(&of->is_silent, quick->made->is_silent, memory_order_release);
}

void jit_quick_start_begin(JitSpecialization *specialization,
                           JitSpecialization *(*make)(const JitSpecialization *of, Diag *diag))
{
    QuickStart *quick = memory_alloc(sizeof *quick);
    memset(quick, 0, sizeof *quick);
    quick->later = (LaterWork){.work = optimize, .argument = quick};
    quick->of = specialization;
    quick->make = make;
    quick->first = jit_current_kernel(specialization);
    atomic_init(&quick->state, QUICK_GOES_ON);
    specialization->quick = quick;
    later_begin(&quick->later);
}

QuickState jit_quick_state(const JitSpecialization *specialization)
{
    return atomic_load_explicit(&specialization->quick->state, memory_order_acquire);
}

static bool fail(const JitSpecialization *specialization, Diag *diag)
{
    *diag = specialization->quick->diag;
    return false;
}

bool jit_quick_start_wait(const JitSpecialization *specialization, bool (*interrupted)(void), Diag *diag)
{
    QuickStart *quick = specialization->quick;
    /* Once, unless all that waits is given up meanwhile. */
    while (jit_quick_state(specialization) == QUICK_GOES_ON) {
        later_begin(&quick->later);
        if (!later_wait(&quick->later, interrupted))
            return diag_fail(diag, NULL, DIAG_INTERRUPTED, "the compilation");
    }
    return jit_quick_state(specialization) == QUICK_IS_REPLACED || fail(specialization, diag);
}

bool jit_quick_start_look(const JitSpecialization *specialization, bool (*interrupted)(void), Diag *diag)
{
    QuickStart *quick = specialization->quick;
    switch (jit_quick_state(specialization)) {
    case QUICK_IS_REPLACED: return true;
    case QUICK_HAS_FAILED: return fail(specialization, diag);
    case QUICK_GOES_ON: break;
    }
    if (rt_graph_recorded())
        return jit_quick_start_wait(specialization, interrupted, diag);
    if (later_is_lost(&quick->later))
        later_begin(&quick->later);
    return true;
}

bool jit_quick_start_take_back(JitSpecialization *specialization)
{
    return !specialization->quick || later_take_back(&specialization->quick->later);
}
