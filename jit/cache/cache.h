/* What jit keeps of one function: an append-only list of specializations. Reading takes no lock: a specialization never
 * changes once it is in the list. Appending is for the holder of `compiling`. */
#ifndef CUJIT_JIT_CACHE_H
#define CUJIT_JIT_CACHE_H

#include <stdatomic.h>

#include "codegen/codegen.h"
#include "core/thread/fork_lock.h"
#include "core/thread/later_work.h"
#include "jit/jit.h"

typedef enum QuickState { QUICK_GOES_ON, QUICK_IS_REPLACED, QUICK_HAS_FAILED } QuickState;

/* What replaces code that was made quickly: jit/quick_start.c. */
typedef struct QuickStart {
    LaterWork later;
    JitSpecialization *of, *made; /* made: owned, in no list; NULL: not yet */
    JitSpecialization *(*make)(const JitSpecialization *of, Diag *diag);
    RtKernel *first; /* what `of` began with; owned */
    _Atomic QuickState state;
    Diag diag; /* why there is no optimized code */
} QuickStart;

struct JitSpecialization {
    union {
        JitLaunched launched;
        struct {
            JIT_LAUNCHED_FIELDS
        };
    };
    _Atomic(RtKernel *) kernel; /* owned, but where there was a quick start */
    LaunchPlan plan; /* in the arena */
    _Atomic(JitSpecialization *) next;
    Arena *arena; /* owns types, abi and written */
    uint32_t value_tests; /* the last ones of its plan: of records that are passed by value, or by pointer */
    const bool *written;
    bool from_disk; /* loaded as an earlier process left it */
    uint64_t tag; /* in records of exceptions: the function's number, and below it the specialization's */
    const char *warnings; /* of its source, as KernelImage has them; in the arena. NULL: it has no source */
    bool prints;
    bool has_notes; /* behind a launch the host is told of arithmetic that went wrong */
    bool has_state; /* GPU: a launch gives it the state of watch_state.h, as its last parameter */
    uint32_t granule; /* likewise, with a shadow in which races are looked for: bytes of its cells; 0: none */
    bool has_meetings, has_grid_meetings; /* likewise, with what threads wait for */
    bool has_bits, has_far_shared; /* likewise, with bits of what is written (core/ir/ir.h) */
    bool checks_init; /* what it writes is told of */
    bool waits; /* a launch of it returns when the kernel is done */
    uint32_t exception_count;
    const IrException *exceptions; /* by the code in a record; in the arena */
    QuickStart *quick; /* what replaces the code that it began with; owned. NULL: nothing, and nothing has */
    const JitSpecialization *replaces; /* the one whose quick code it is to replace; NULL: none */
    bool is_quick; /* its code has been made quickly */
    JitObservation observation; /* kind OBSERVE_NOTHING: it is not observed */
    HostCode *host_code; /* owned; NULL on a GPU */
    KernelImage image; /* for other devices of the same architecture; empty where there is none */
    uint32_t link_count;
    const LinkItem *const *links; /* what it is linked with, unless it comes from the disk; in the arena */
    int64_t times[JIT_STEP_COUNT]; /* nanoseconds */
    _Atomic bool are_times_taken;
    _Atomic bool is_announced; /* to who watches what is linked */
    JitFunction *function;
    /* Launches for which the plan does not hold are a variant's (variant.c), whose code checks more. */
    _Atomic(JitSpecialization *) variants; /* a list that grows at its head; owned */
    const LaunchTests *failed; /* of a variant: the tests that its code does not count on; NULL: it is none */
};

/* That which launches run from now on. */
static inline RtKernel *jit_current_kernel(const JitSpecialization *specialization)
{
    return atomic_load_explicit(&specialization->kernel, memory_order_acquire);
}

typedef struct JitCache {
    _Atomic(JitSpecialization *) first;
    JitSpecialization *last; /* for the holder of compiling */
    uint32_t count; /* likewise */
    uint32_t made; /* likewise: kernels so far, variants among them */
    LongLock compiling;
} JitCache;

struct JitFunction {
    const Snapshot *snapshot; /* NULL: of a raw module */
    JitRawModule *raw; /* borrowed; NULL: of a snapshot */
    char *symbol; /* of a kernel of a raw module; owned */
    bool is_cooperative; /* likewise: every launch of it is */
    bool starts_quickly; /* see jit_start_quickly() */
    CompileOptions options;
    uint32_t number;
    _Atomic(const Implementation *) implementations; /* of what is overloaded: a list that grows at its head */
    JitCache cache;
};

static inline const Implementation *jit_implementations(const JitFunction *function)
{
    return atomic_load_explicit(&function->implementations, memory_order_acquire);
}

/* Nobody may read them any more. */
void jit_free_implementations(JitFunction *function);

void jit_cache_init(JitCache *cache);
/* Releases every specialization. Nobody may read any more. */
void jit_cache_destroy(JitCache *cache);
JitSpecialization *jit_cache_find(const JitCache *cache, const RtDevice *device, const Type *const *types,
                                  uint32_t count);
/* One for these types and another device, whose image runs on this one, too; NULL: none. */
JitSpecialization *jit_cache_find_twin(const JitCache *cache, const JitSpecialization *wanted);
void jit_cache_append_locked(JitCache *cache, JitSpecialization *specialization);

/* An empty specialization with an arena of its own and copies of the types. */
JitSpecialization *jit_specialization_create(RtDevice *device, const Type *const *types, uint32_t count);
void jit_specialization_destroy(JitSpecialization *specialization);

#endif
