/* The state of a checked launch: made, written to as a kernel of a GPU does, read. By the CPU device, whose memory is the
 * host's. */
#include "check.h"
#include "jit/launch/launch_state.h"
#include "jit/launch/shadow_plan.h"
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

/* --- races -------------------------------------------------------------------------------------------------------------- */

/* Of x: f32[1 C], part: f32[1 A], y: i64[2 C], z: f32[1 C], where part lies in x, which alone is written, with it. */
static void test_shadow_of_arguments(void)
{
    Diag diag = {.id = DIAG_NONE};
    Arena *arena = arena_create();
    const Type *line = type_array(arena, TYPE_OF(FLOAT32), 1, LAYOUT_C, false);
    const Type *any = type_array(arena, TYPE_OF(FLOAT32), 1, LAYOUT_ANY, false);
    const Type *types[] = {line, any, type_array(arena, TYPE_OF(INT64), 2, LAYOUT_C, false), line, &type_words};
    static const bool written[] = {false, true, false, true};
    JitSpecialization specialization = {.device = rt_device(RT_CPU, 0, &diag),
                                        .abi = kernel_abi_layout(types, 5, false, arena),
                                        .count = 4,
                                        .written = written,
                                        .granule = 4};
    /* x: 10 items; part: 3 items from the 9th down, every second one; y: 2 x 3; z has none */
    int64_t parameters[] = {0x10008, 10, 0x10028, 3, -8, 0x20000, 2, 3, 0x30000, 0, 0, 0};
    RtLaunch launch = {.grid = {5, 2, 1}, .block = {32, 1, 1}, .parameters = parameters};
    ShadowPlan plan;
    CHECK(shadow_plan_make(&specialization, &launch, 100, STATE_NOTES, &plan, &diag));
    CHECK(plan.range_count == 1 && plan.ranges[RANGE_BEGIN] == 0x10000 && plan.ranges[RANGE_END] == 0x10030);
    CHECK(plan.header[STATE_SHIFT] == 2 && plan.header[STATE_RANGES] == 1 &&
          plan.header[STATE_RANGES_AT] == STATE_NOTES);
    CHECK(plan.header[STATE_BLOCKS_AT] == STATE_NOTES + RANGE_WORDS);
    CHECK(plan.header[STATE_SLABS] == 10 && plan.header[STATE_SLAB_CELLS] == (1024 + 100) / 4);
    CHECK(plan.header[STATE_SLABS_AT] == plan.header[STATE_BLOCKS_AT] + 10 * BLOCK_WORDS);
    CHECK(plan.ranges[RANGE_CELLS_AT] == plan.header[STATE_SLABS_AT] + 10 * 281 * CELL_WORDS);
    CHECK((int64_t)plan.count == plan.ranges[RANGE_CELLS_AT] + 12 * CELL_WORDS);
    shadow_plan_free(&plan);
    launch.grid[0] = MOST_SHADOWED_BLOCKS;
    CHECK(!shadow_plan_make(&specialization, &launch, 0, STATE_NOTES, &plan, &diag) && diag.id == DIAG_SHADOW_BLOCKS);
    diag_clear(&diag);
    launch.grid[0] = 1;
    parameters[1] = INT64_C(1) << 50;
    CHECK(!shadow_plan_make(&specialization, &launch, 0, STATE_NOTES, &plan, &diag) && diag.id == DIAG_SHADOW);
    diag_clear(&diag);
    arena_destroy(arena);
}

static void test_fault(void)
{
    JitSpecialization specialization = {.tag = 77};
    RtLaunch launch = {.grid = {3, 2, 1}, .block = {4, 4, 1}};
    int64_t words[STATE_NOTES] = {0};
    LaunchState state = {.words = words};
    Diag diag = {.id = DIAG_NONE};
    CHECK(launch_state_fault(&specialization, &launch, &state, &diag) && !diag_failed(&diag));
    words[STATE_FAULT] = 1;
    words[STATE_SITE] = 5;
    words[STATE_THREAD] = 6;
    words[STATE_BLOCK] = 4;
    words[STATE_SLOTS + FAULT_EARLIER_BLOCK] = 5;
    words[STATE_SLOTS + FAULT_EARLIER_THREAD] = 13;
    words[STATE_SLOTS + FAULT_INDICES] = -3;
    CHECK(!launch_state_fault(&specialization, &launch, &state, &diag) && diag.id == DIAG_KERNEL_EXCEPTION);
    const ExceptionRecord *raised = &diag.raised;
    CHECK(raised->code == 5 && raised->tag == 77 && raised->thread_index[0] == 2 && raised->thread_index[1] == 1);
    CHECK(raised->block_index[0] == 1 && raised->block_index[1] == 1);
    CHECK(raised->slots[FAULT_EARLIER_BLOCK] == 2 && raised->slots[FAULT_EARLIER_BLOCK + 1] == 1);
    CHECK(raised->slots[FAULT_EARLIER_THREAD] == 1 && raised->slots[FAULT_EARLIER_THREAD + 1] == 3);
    CHECK((int64_t)raised->slots[FAULT_INDICES] == -3);
}

/* --- all ------------------------------------------------------------------------------------------------------------------ */

void test_launch_state(void)
{
    test_shadow_of_arguments();
    test_fault();
    Diag diag = {.id = DIAG_NONE};
    Arena *arena = arena_create();
    const Type *types[1] = {&type_words};
    JitSpecialization specialization = {.device = rt_device(RT_CPU, 0, &diag),
                                        .abi = kernel_abi_layout(types, 1, false, arena),
                                        .exception_count = 2,
                                        .has_notes = true};
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
