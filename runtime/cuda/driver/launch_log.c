/* The last launches of the process in a ring, without a lock. Names are never freed, since kernels may be unloaded before
 * a fault is heard of; equal ones are one. */
#include "runtime/cuda/driver/launch_log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/base/likely.h"
#include "core/base/memory.h"

enum { LAUNCHES = 16, SHOWN_NAMES = 6, LONGEST_NAME = 60 };

typedef struct Launched {
    _Atomic(const char *) name; /* NULL: done */
    _Atomic uint64_t stream, number;
    _Atomic int device;
} Launched;

static Launched launches[LAUNCHES];
static _Atomic uint64_t launch_count;

/* --- names -------------------------------------------------------------------------------------------------------------- */
typedef struct Name {
    struct Name *next;
    char text[];
} Name;

static _Atomic(Name *) names;

const char *launch_log_name(const char *text)
{
    size_t size = strlen(text) + 1;
    for (Name *each = names; each; each = each->next)
        if (strcmp(each->text, text) == 0)
            return each->text;
    Name *made = memory_try(sizeof *made + size);
    if (!made)
        return NULL;
    memcpy(made->text, text, size);
    made->next = names;
    while (!atomic_compare_exchange_weak(&names, &made->next, made))
        ;
    return made->text;
}

/* --- launches ----------------------------------------------------------------------------------------------------------- */
LAUNCH_PATH void launch_log_add(const char *name, int device, uint64_t stream)
{
    uint64_t number = atomic_fetch_add_explicit(&launch_count, 1, memory_order_relaxed);
    Launched *launched = &launches[number % LAUNCHES];
    atomic_store_explicit(&launched->number, number, memory_order_relaxed);
    atomic_store_explicit(&launched->stream, stream, memory_order_relaxed);
    atomic_store_explicit(&launched->device, device, memory_order_relaxed);
    atomic_store_explicit(&launched->name, name, memory_order_release);
}

uint64_t launch_log_count(void) { return atomic_load_explicit(&launch_count, memory_order_relaxed); }

void launch_log_forget(uint64_t count, int device, uint64_t stream)
{
    for (int i = 0; i < LAUNCHES; i++) {
        Launched *each = &launches[i];
        if (each->number < count && each->device == device && (!stream || each->stream == stream))
            each->name = NULL;
    }
}

/* --- what a fault says -------------------------------------------------------------------------------------------------- */
static bool broke_the_context(CUresult result)
{
    switch ((int)result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED: return true;
    default: return false;
    }
}

/* Each name once, the last launch first. */
static int collect(const char *found[LAUNCHES])
{
    uint64_t count = launch_log_count();
    int known = 0;
    for (uint64_t i = 1; i <= LAUNCHES && i <= count; i++) {
        const char *name = atomic_load_explicit(&launches[(count - i) % LAUNCHES].name, memory_order_acquire);
        int at = 0;
        while (at < known && found[at] != name)
            at++;
        if (name && at == known)
            found[known++] = name;
    }
    return known;
}

void launch_log_explain(Diag *diag, CUresult result)
{
    const char *found[LAUNCHES];
    char text[sizeof diag->notes[0].message - 64] = "";
    if (!broke_the_context(result))
        return;
    int known = collect(found), shown = known < SHOWN_NAMES ? known : SHOWN_NAMES;
    for (int i = 0; i < shown; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%.*s", i ? ", " : "", LONGEST_NAME, found[i]);
    }
    if (known) {
        diag_note(diag, NULL, "launched since the last synchronization: %s%s", text, shown < known ? ", ..." : "");
        diag_note(diag, NULL, "CUJIT_CHECK=bounds names the line of an access out of bounds, and prevents it");
    }
    /* Measured with driver 580 on an H200: once the primary context is reset and released, nothing but this result comes of
     * retaining it, nor of cuCtxCreate, after any of these. */
    diag_note(diag, NULL, "the driver does no more work in this process, in whatever context: start it again");
}
