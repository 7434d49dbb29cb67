/* A launch with a state is waited for: what the threads told of themselves is read, and the memory goes. */
#include "jit/launch_state.h"

#include <assert.h>
#include <string.h>

#include "core/base/memory.h"

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

bool launch_state_make(const JitSpecialization *specialization, const RtLaunch *launch, LaunchState *state, Diag *diag)
{
    size_t words = STATE_NOTES + (size_t)specialization->exception_count * NOTE_WORDS, size = words * sizeof(int64_t);
    *state = (LaunchState){.device = specialization->device, .count = words};
    bool ok = rt_allocate_ordered(state->device, size, &state->pointer, diag) &&
              rt_fill(state->device, state->pointer, 0, size, NULL, diag) &&
              rt_stream_synchronize(state->device, NULL, diag);
    if (ok)
        write_parameter(specialization, launch, state->pointer, words);
    return ok;
}

/* --- reading ----------------------------------------------------------------------------------------------------------- */

bool launch_state_read(LaunchState *state, RtStream *stream, Diag *diag)
{
    state->words = memory_new(state->count * sizeof *state->words, diag);
    return state->words && rt_stream_synchronize(state->device, stream, diag) &&
           rt_copy_to_host(state->device, state->words, state->pointer, state->count * sizeof *state->words, NULL,
                           diag);
}

bool launch_state_release(LaunchState *state, Diag *diag)
{
    Diag other = {.id = DIAG_NONE};
    memory_free(state->words);
    state->words = NULL;
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
