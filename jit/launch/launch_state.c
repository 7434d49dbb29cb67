/* A launch with a state is waited for: what the threads told of themselves is read, and the memory goes. */
#include "jit/launch/launch_state.h"

#include <assert.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/kernel/hang_text.h"

/* --- making ------------------------------------------------------------------------------------------------------------ */

/* The kernel's last parameter: the array's address and extent. */
static void write_parameter(const JitSpecialization *specialization, const RtLaunch *launch, RtPointer pointer,
                            uint64_t extent)
{
    const AbiField *field = specialization->abi->fields;
    while (field->parameter != specialization->count)
        field++;
    assert(field[0].kind == ABI_POINTER && field[1].kind == ABI_EXTENT);
    memcpy((uint8_t *)launch->parameters + field[0].offset, &pointer, sizeof pointer);
    memcpy((uint8_t *)launch->parameters + field[1].offset, &extent, sizeof extent);
}

static bool write_words(const LaunchState *state, const int64_t *words, size_t place, size_t count, Diag *diag)
{
    return !count || rt_copy_to_device(state->device, state->pointer + place * sizeof *words, words,
                                       count * sizeof *words, NULL, diag);
}

static bool write_shadow(const LaunchState *state, const ShadowPlan *plan, Diag *diag)
{
    return !plan->is_made ||
           (write_words(state, plan->header, 0, STATE_NOTES, diag) &&
            write_words(state, plan->ranges, (size_t)plan->header[STATE_RANGES_AT],
                        (size_t)plan->range_count * RANGE_WORDS, diag) &&
            write_words(state, plan->fresh, (size_t)plan->header[STATE_FRESH_AT], plan->fresh_words, diag));
}

static bool make_memory(LaunchState *state, Diag *diag)
{
    size_t size = state->count * sizeof *state->words;
    return rt_allocate_ordered(state->device, size, &state->pointer, diag) &&
           rt_fill(state->device, state->pointer, 0, size, NULL, diag);
}

static bool make_plan(const JitSpecialization *specialization, const RtLaunch *launch, ShadowPlan *plan, Diag *diag)
{
    enum { SHARED_SIZE = 1 }; /* CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES */
    int shared;
    return (!specialization->granule && !specialization->has_bits && !specialization->has_meetings) ||
           (rt_kernel_attribute(jit_current_kernel(specialization), SHARED_SIZE, &shared, diag) &&
            shadow_plan_make(specialization, launch, (uint64_t)shared + launch->dynamic_shared, plan->count, plan,
                             diag));
}

bool launch_state_make(const JitSpecialization *specialization, const RtLaunch *launch, LaunchState *state, Diag *diag)
{
    size_t notes = specialization->has_notes ? specialization->exception_count : 0;
    size_t read_count = STATE_NOTES + notes * NOTE_WORDS;
    *state = (LaunchState){.device = specialization->device, .read_count = read_count, .plan = {.count = read_count}};
    bool ok = make_plan(specialization, launch, &state->plan, diag);
    state->count = state->plan.count;
    ok = ok && make_memory(state, diag) && write_shadow(state, &state->plan, diag) &&
         rt_stream_synchronize(state->device, NULL, diag);
    if (ok)
        write_parameter(specialization, launch, state->pointer, state->count);
    return ok;
}

/* --- reading ----------------------------------------------------------------------------------------------------------- */

/* What the launch has written counts as written, however it ended. */
static bool read_written(LaunchState *state, Diag *diag)
{
    const ShadowPlan *plan = &state->plan;
    size_t place = (size_t)plan->header[STATE_FRESH_AT] * sizeof *plan->fresh;
    if (!plan->fresh_count)
        return true;
    if (!rt_copy_to_host(state->device, plan->fresh, state->pointer + place, plan->fresh_words * sizeof *plan->fresh,
                         NULL, diag))
        return false;
    shadow_plan_add_written(plan);
    return true;
}

bool launch_state_read(LaunchState *state, RtStream *stream, Diag *diag)
{
    state->words = memory_new(state->read_count * sizeof *state->words, diag);
    return state->words && rt_stream_synchronize(state->device, stream, diag) &&
           rt_copy_to_host(state->device, state->words, state->pointer, state->read_count * sizeof *state->words, NULL,
                           diag) &&
           read_written(state, diag);
}

bool launch_state_release(LaunchState *state, Diag *diag)
{
    Diag other = {.id = DIAG_NONE};
    memory_free(state->words);
    state->words = NULL;
    shadow_plan_free(&state->plan);
    return rt_free_ordered(state->device, state->pointer, diag_failed(diag) ? &other : diag);
}

/* --- what it says ------------------------------------------------------------------------------------------------------ */

static void write_index(int32_t *index, uint64_t number, const uint32_t *extents)
{
    index[0] = (int32_t)(number % extents[0]);
    index[1] = (int32_t)(number / extents[0] % extents[1]);
    index[2] = (int32_t)(number / extents[0] / extents[1]);
}

/* Of the thread that came before all others, or before most where there was no room for more. */
static const int64_t *first_case(const int64_t *note)
{
    const int64_t *found = note + NOTE_FIRST_CASE;
    for (int64_t i = 1; i < note[NOTE_CASES] && i < MOST_CASES; i++) {
        const int64_t *other = note + NOTE_FIRST_CASE + i * CASE_WORDS;
        if (other[CASE_RANK] > found[CASE_RANK])
            found = other;
    }
    return found;
}

void launch_state_overflows(const JitSpecialization *specialization, const RtLaunch *launch, const LaunchState *state,
                            OverflowRecord *records)
{
    for (uint32_t i = 0; i < specialization->exception_count; i++) {
        const int64_t *note = state->words + STATE_NOTES + (size_t)i * NOTE_WORDS, *found = first_case(note);
        uint64_t number = (uint64_t)(NOTE_FIRST_RANK - found[CASE_RANK]);
        records[i] = (OverflowRecord){.count = (uint64_t)note[NOTE_TIMES]};
        if (!records[i].count)
            continue;
        write_index(records[i].first.thread_index, number % STATE_THREADS, launch->block);
        write_index(records[i].first.block_index, number / STATE_THREADS, launch->grid);
        memcpy(records[i].first.slots, found + CASE_OPERANDS, sizeof records[i].first.slots);
    }
}

/* What the block's threads wait for, as the device has it. */
static bool read_waits(const LaunchState *state, uint64_t block, uint32_t threads, HangWait *waits, Diag *diag)
{
    const int64_t *header = state->plan.header;
    int64_t *words = memory_new(threads * sizeof *words, diag);
    uint64_t place =
        (uint64_t)header[STATE_MEETINGS_AT] + block * (uint64_t)header[STATE_MEETING_WORDS] + MEETING_WAITS;
    bool ok = words && rt_copy_to_host(state->device, words, state->pointer + place * sizeof *words,
                                       threads * sizeof *words, NULL, diag);
    for (uint32_t i = 0; ok && i < threads; i++)
        waits[i] = (HangWait){.operation = (int32_t)(words[i] >> WAIT_OPERATION) - 1,
                              .line = (int32_t)(words[i] >> WAIT_LINE & ((1 << WAIT_LINE_BITS) - 1)),
                              .mask = (uint32_t)words[i]};
    memory_free(words);
    return ok;
}

static bool fail_waiting(const JitSpecialization *specialization, const RtLaunch *launch, const LaunchState *state,
                         Diag *diag)
{
    char text[1024];
    int32_t index[3];
    const int64_t *words = state->words;
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    HangWait *waits = memory_new(threads * sizeof *waits, diag);
    write_index(index, (uint64_t)words[STATE_BLOCK], launch->grid);
    HangBlock block = {rt_kernel_name(jit_current_kernel(specialization)), index, waits, 0, threads};
    if (waits && read_waits(state, (uint64_t)words[STATE_BLOCK], threads, waits, diag)) {
        if (words[STATE_SLOTS + FAULT_KIND] == FAULT_ABSENT)
            hang_text_absent(text, sizeof text, &block, (uint32_t)words[STATE_THREAD], &waits[words[STATE_THREAD]],
                             (uint32_t)words[STATE_SLOTS + FAULT_VALUE]);
        else
            hang_text(text, sizeof text, &block, true);
        diag_fail(diag, NULL, DIAG_BARRIER_DIVERGED, text);
    }
    memory_free(waits);
    return false;
}

bool launch_state_fault(const JitSpecialization *specialization, const RtLaunch *launch, const LaunchState *state,
                        Diag *diag)
{
    const int64_t *words = state->words;
    ExceptionRecord *raised = &diag->raised;
    if (!words[STATE_FAULT])
        return true;
    bool waits = words[STATE_SLOTS + FAULT_KIND] >= FAULT_HANG;
    if (waits && diag->id == DIAG_KERNEL_EXCEPTION)
        return false;
    diag_clear(diag);
    if (waits)
        return fail_waiting(specialization, launch, state, diag);
    diag_fail(diag, NULL, DIAG_KERNEL_EXCEPTION, "a thread of a kernel raised an exception");
    *raised = (ExceptionRecord){.code = (uint32_t)words[STATE_SITE], .tag = specialization->tag};
    write_index(raised->thread_index, (uint64_t)words[STATE_THREAD], launch->block);
    write_index(raised->block_index, (uint64_t)words[STATE_BLOCK], launch->grid);
    memcpy(raised->slots, words + STATE_SLOTS, sizeof raised->slots);
    if (raised->slots[FAULT_KIND] != FAULT_RACE)
        return false;
    int32_t earlier[3];
    uint64_t *slots = raised->slots, block = slots[FAULT_EARLIER_BLOCK], thread = slots[FAULT_EARLIER_THREAD];
    write_index(earlier, block, launch->grid);
    for (int axis = 0; axis < 3; axis++)
        slots[FAULT_EARLIER_BLOCK + axis] = (uint64_t)earlier[axis];
    write_index(earlier, thread, launch->block);
    for (int axis = 0; axis < 3; axis++)
        slots[FAULT_EARLIER_THREAD + axis] = (uint64_t)earlier[axis];
    return false;
}
