/* The state of a checked launch: made, written to as a kernel of a GPU does, read. By the CPU device, whose memory is the
 * host's. */
#include "check.h"
#include "jit/launch_state.h"
#include "jit_tests.h"

static void write_case(int64_t *note, int place, int64_t thread, int64_t operand)
{
    int64_t *words = note + NOTE_FIRST_CASE + place * CASE_WORDS;
    words[CASE_RANK] = NOTE_FIRST_RANK - thread;
    words[CASE_OPERANDS] = operand;
}

/* Of the second of two exceptions: thread (1, 2, 0) of block (0, 1, 0) comes first, and is the second to come. */
static void play(int64_t *words)
{
    int64_t *note = words + STATE_NOTES + NOTE_WORDS;
    note[NOTE_TIMES] = 9;
    note[NOTE_CASES] = 2;
    write_case(note, 0, 4 * STATE_THREADS + 0, 70);
    write_case(note, 1, 3 * STATE_THREADS + 9, 71);
}

void test_launch_state(void)
{
    Diag diag = {.id = DIAG_NONE};
    Arena *arena = arena_create();
    const Type *types[1] = {&type_words};
    JitSpecialization specialization = {
        .device = rt_device(RT_CPU, 0, &diag), .abi = kernel_abi_layout(types, 1, false, arena), .exception_count = 2};
    uint64_t parameters[2] = {0};
    RtLaunch launch = {.grid = {3, 2, 1}, .block = {4, 4, 1}, .parameters = parameters};
    LaunchState state;
    OverflowRecord records[2];
    CHECK(launch_state_make(&specialization, &launch, &state, &diag));
    CHECK(parameters[0] == state.pointer && parameters[1] == STATE_NOTES + 2 * NOTE_WORDS);
    play((int64_t *)(uintptr_t)parameters[0]);
    CHECK(launch_state_read(&state, NULL, &diag));
    launch_state_overflows(&specialization, &launch, &state, records);
    CHECK(records[0].count == 0 && records[1].count == 9 && records[1].first.slots[0] == 71);
    CHECK(records[1].first.thread_index[0] == 1 && records[1].first.thread_index[1] == 2);
    CHECK(records[1].first.block_index[0] == 0 && records[1].first.block_index[1] == 1);
    CHECK(launch_state_release(&state, &diag) && !diag_failed(&diag));
    arena_destroy(arena);
}
