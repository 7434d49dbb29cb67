/* Aligns the lanes of a warp, and counts what they do together.
 *
 * A GPU runs the lanes of a warp at once; here one runs after the other, each as far as the next barrier. Lanes did the same
 * thing together where they came to the same site of the source in the same trip of each loop around it and by the same
 * calls: each thread keeps the loops and calls that it is in (levels), and the hash of those around a site is its context.
 * What the lanes of a warp did is kept by site and context (records) until another warp runs, which is when all lanes of
 * this one wait at a barrier or have ended; then it is counted. A lane that comes to one site in one context again (loops
 * that are entered at several places) is aligned by how often it did.
 *
 *     for k in range(lane):     context of the load: (loop, k)      lanes k+1 to 31 load together in trip k
 *         total += x[k]
 *     out[lane] = total         context: none                       all 32 store together, as behind a GPU's loop
 */
#include "runtime/host/observe/host_profile.h"

#include <pthread.h>
#include <string.h>

#include "core/base/memory.h"
#include "runtime/host/observe/warp_accesses.h"
#include "runtime/host/threads/host_interrupt.h"

enum { FIRST_LEVELS = 8, FIRST_RECORDS = 256, MOST_RECORDS = 1 << 22 };

/* A loop or a call that a thread is in; the first is the kernel. */
typedef struct Level {
    const ObservedSite *site;
    uint64_t trips, context;
    uint32_t caller; /* of a call: the base before it */
} Level;

typedef struct ThreadState {
    Level *levels;
    uint32_t capacity;
    uint32_t base; /* the level of the function that runs */
    uint32_t top; /* the innermost one */
} ThreadState;

typedef struct Record {
    ObservedSite *site;
    uint64_t context;
    uint32_t next; /* of the same hash, from 1 */
    uint32_t taken; /* of a branch: lanes for which its condition holds */
    int32_t event;
    WarpAccess access;
} Record;

static struct {
    pthread_mutex_t lock; /* of the launch */
    int64_t block; /* whose records these are; -1: nobody's */
    int32_t warp;
    uint32_t thread_count;
    int64_t slot_count;
    size_t context_bytes; /* that a block keeps for its threads */
    ThreadState *threads; /* thread_count for each slot */
    Record *records;
    uint32_t record_count, record_capacity;
    uint32_t *heads; /* by hash, from 1; a power of two of them */
    uint32_t head_count;
    WarpAddresses addresses;
    bool is_too_long, lacks_memory;
} profile = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local bool is_profiling; /* this thread has the lock */

/* --- contexts --------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t context, uint64_t site, uint64_t trips)
{
    uint64_t mixed = (context ^ (site >> 3)) * UINT64_C(0x9E3779B97F4A7C15) + trips;
    mixed ^= mixed >> 29;
    mixed *= UINT64_C(0xBF58476D1CE4E5B9);
    return mixed ^ mixed >> 32;
}

static Level *level_at(ThreadState *state, uint32_t place)
{
    if (place >= state->capacity) {
        uint32_t capacity = state->capacity ? 2 * state->capacity : FIRST_LEVELS;
        while (capacity <= place)
            capacity *= 2;
        Level *levels = memory_try(capacity * sizeof *levels);
        if (!levels) {
            profile.lacks_memory = true;
            return NULL;
        }
        if (state->capacity)
            memcpy(levels, state->levels, state->capacity * sizeof *levels);
        memory_free(state->levels);
        state->levels = levels;
        state->capacity = capacity;
    }
    return &state->levels[place];
}

static void begin_thread(ThreadState *state)
{
    Level *level = level_at(state, 0);
    state->base = state->top = 0;
    if (level)
        *level = (Level){.context = 1};
}

static void begin_trip(ThreadState *state, const ObservedSite *site, uint32_t place)
{
    Level *level = level_at(state, place);
    if (!level || !place)
        return;
    bool goes_on = state->top >= place && level->site == site;
    *level = (Level){.site = site, .trips = goes_on ? level->trips + 1 : 0};
    level->context = mix(level[-1].context, (uintptr_t)site, level->trips);
    state->top = place;
}

static void begin_call(ThreadState *state, const ObservedSite *site, uint32_t place)
{
    Level *level = level_at(state, place + 1);
    if (!level)
        return;
    *level = (Level){.site = site, .caller = state->base, .context = mix(level[-1].context, (uintptr_t)site, 0)};
    state->base = state->top = place + 1;
}

static void end_call(ThreadState *state) { state->base = state->top = state->levels[state->base].caller; }

/* --- records ---------------------------------------------------------------------------------------------------------- */

static bool rehash(uint32_t count)
{
    uint32_t *heads = memory_try(count * sizeof *heads);
    if (!heads)
        return false;
    memory_free(profile.heads);
    profile.heads = heads;
    profile.head_count = count;
    for (uint32_t i = 0; i < profile.record_count; i++) {
        uint32_t *head = &heads[profile.records[i].context & (count - 1)];
        profile.records[i].next = *head;
        *head = i + 1;
    }
    return true;
}

static bool grow_records(void)
{
    uint32_t capacity = profile.record_capacity ? 2 * profile.record_capacity : FIRST_RECORDS;
    if (capacity > MOST_RECORDS)
        return profile.is_too_long = true, false;
    Record *records = memory_try(capacity * sizeof *records);
    if (!records || !rehash(capacity)) {
        memory_free(records);
        return profile.lacks_memory = true, false;
    }
    if (profile.record_count)
        memcpy(records, profile.records, profile.record_count * sizeof *records);
    memory_free(profile.records);
    profile.records = records;
    profile.record_capacity = capacity;
    return true;
}

/* The first record of this site and context that does not have the lane yet. NULL: it cannot be kept. */
static Record *record_for(ObservedSite *site, uint64_t context, int32_t lane, int32_t event, int64_t size)
{
    uint64_t key = mix(context, (uintptr_t)site, 0);
    uint32_t found = UINT32_MAX;
    for (uint32_t i = profile.head_count ? profile.heads[key & (profile.head_count - 1)] : 0; i;
         i = profile.records[i - 1].next) {
        const Record *record = &profile.records[i - 1];
        if (record->context == key && record->site == site && !(record->access.lanes >> lane & 1) && i < found)
            found = i;
    }
    if (found != UINT32_MAX)
        return &profile.records[found - 1];
    if (profile.record_count == profile.record_capacity && !grow_records())
        return NULL;
    uint32_t *head = &profile.heads[key & (profile.head_count - 1)];
    Record *record = &profile.records[profile.record_count++];
    *record = (Record){.site = site, .context = key, .next = *head, .event = event, .access = {.size = (uint32_t)size}};
    *head = profile.record_count;
    return record;
}

static void count_record(const Record *record)
{
    uint64_t *counts = record->site->counts;
    counts[OBSERVED_COUNT_THREADS] += (uint64_t)__builtin_popcount(record->access.lanes);
    counts[OBSERVED_COUNT_WARPS]++;
    if (record->event == OBSERVED_BRANCH)
        counts[OBSERVED_COUNT_DIVERGENT] += record->taken && record->taken != record->access.lanes;
    else
        warp_count_access(&record->access, &profile.addresses, record->event == OBSERVED_ATOMIC, counts);
}

/* All lanes of the warp have come as far as they get before another one runs. */
static void count_warp(void)
{
    for (uint32_t i = 0; i < profile.record_count; i++) {
        count_record(&profile.records[i]);
        profile.heads[profile.records[i].context & (profile.head_count - 1)] = 0;
    }
    profile.record_count = profile.addresses.count = 0;
}

/* --- the service ------------------------------------------------------------------------------------------------------ */

static int64_t block_number(const HostThread *thread)
{
    int64_t row = (int64_t)thread->block_index[2] * thread->grid_dim[1] + thread->block_index[1];
    return row * thread->grid_dim[0] + thread->block_index[0];
}

static MemorySpace space_of(const HostThread *thread, const uint8_t *here, const uint8_t *at)
{
    const uint8_t *context = thread->context;
    if (at >= thread->shared && at < thread->dynamic_shared + thread->dynamic_size)
        return SPACE_SHARED;
    if (context && at >= context && at < context + profile.context_bytes)
        return SPACE_LOCAL;
    return at >= here && at < (const uint8_t *)thread->stack_end ? SPACE_LOCAL : SPACE_GLOBAL;
}

static void note(const HostThread *thread, const ThreadState *state, ObservedSite *site, int32_t event, uint32_t place,
                 const void *address, int64_t detail)
{
    bool is_branch = event == OBSERVED_BRANCH;
    Record *record = record_for(site, state->levels[place].context, thread->lane, event, is_branch ? 0 : detail);
    if (!record)
        return;
    if (is_branch) {
        record->access.lanes |= 1u << thread->lane;
        record->taken |= (uint32_t)(detail != 0) << thread->lane;
    } else if (!warp_note_access(&record->access, &profile.addresses, thread->lane, (uintptr_t)address,
                                 space_of(thread, __builtin_frame_address(0), address))) {
        profile.lacks_memory = true;
    }
}

void host_observe(HostThread *thread, ObservedSite *site, int32_t event, int32_t depth, const void *address,
                  int64_t detail)
{
    int64_t block = block_number(thread);
    int32_t warp = thread->linear_thread / HOST_WARP;
    host_attend_here();
    if (profile.is_too_long || profile.lacks_memory)
        return;
    if (block != profile.block || warp != profile.warp) {
        count_warp();
        profile.block = block;
        profile.warp = warp;
    }
    int64_t slot = block % profile.slot_count;
    ThreadState *state = &profile.threads[slot * profile.thread_count + thread->linear_thread];
    uint32_t place = state->base + (uint32_t)depth;
    if (event != OBSERVED_BEGIN && event != OBSERVED_TRIP && state->top > place)
        state->top = place;
    switch ((ObservedEvent)event) {
    case OBSERVED_BEGIN: begin_thread(state); return;
    case OBSERVED_TRIP: begin_trip(state, site, place); return;
    case OBSERVED_CALL: begin_call(state, site, place); return;
    case OBSERVED_CALLED: end_call(state); return;
    default: note(thread, state, site, event, place, address, detail); return;
    }
}

/* --- a launch --------------------------------------------------------------------------------------------------------- */

static void release(void)
{
    for (int64_t i = 0; profile.threads && i < profile.slot_count * profile.thread_count; i++)
        memory_free(profile.threads[i].levels);
    memory_free(profile.threads);
    memory_free(profile.records);
    memory_free(profile.heads);
    warp_free_addresses(&profile.addresses);
    profile.threads = NULL;
    profile.records = NULL;
    profile.heads = NULL;
    profile.record_count = profile.record_capacity = profile.head_count = 0;
    is_profiling = false;
    pthread_mutex_unlock(&profile.lock);
}

bool host_profile_begin(const HostKernel *kernel, const RtLaunch *launch, int64_t blocks, Diag *diag)
{
    if (is_profiling) /* a handler of a signal, while a kernel runs */
        return diag_fail(diag, NULL, DIAG_PROFILE_NESTED, kernel->base.name);
    pthread_mutex_lock(&profile.lock);
    is_profiling = true;
    profile.block = -1;
    profile.thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    profile.slot_count = blocks;
    profile.context_bytes = host_context_bytes(kernel->context_size, profile.thread_count);
    profile.is_too_long = profile.lacks_memory = false;
    profile.threads = memory_new((size_t)blocks * profile.thread_count * sizeof *profile.threads, diag);
    if (!profile.threads)
        release();
    return profile.threads != NULL;
}

bool host_profile_end(const HostKernel *kernel, Diag *diag)
{
    count_warp();
    bool is_too_long = profile.is_too_long, lacks_memory = profile.lacks_memory;
    release();
    if (is_too_long)
        return diag_fail(diag, NULL, DIAG_PROFILE_LENGTH, kernel->base.name, MOST_RECORDS);
    return !lacks_memory || diag_fail(diag, NULL, DIAG_PROFILE_MEMORY, kernel->base.name);
}
