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

/* Of x: f32[1 C] of 20 items and y, the second half of it and what lies behind: one allocation that is written in part,
 * with another that is not, and one that is gone. */
static void test_fresh_arrays(void)
{
    Diag diag = {.id = DIAG_NONE};
    Arena *arena = arena_create();
    RtDevice *device = rt_device(RT_CPU, 0, &diag);
    const Type *line = type_array(arena, TYPE_OF(FLOAT32), 1, LAYOUT_C, false);
    const Type *types[] = {line, line, line, &type_words};
    static const bool written[] = {false, true, false};
    static const float items[20];
    JitSpecialization specialization = {.device = device,
                                        .abi = kernel_abi_layout(types, 4, false, arena),
                                        .count = 3,
                                        .written = written,
                                        .has_bits = true};
    RtPointer x = 0, z = 0;
    rt_track_writes();
    CHECK(rt_allocate(device, 160, &x, &diag) && rt_allocate(device, 4096, &z, &diag));
    CHECK(rt_copy_to_device(device, x + 80, items, 40, NULL, &diag));
    int64_t parameters[] = {(int64_t)x, 20, (int64_t)x + 40, 30, (int64_t)z + 100, 1, 0, 0};
    RtLaunch launch = {.grid = {6, 1, 1}, .block = {32, 1, 1}, .parameters = parameters};
    ShadowPlan plan;
    CHECK(shadow_plan_make(&specialization, &launch, 100, STATE_NOTES, &plan, &diag));
    const int64_t *one = plan.fresh, *other = one + FRESH_WORDS, *header = plan.header;
    if (one[FRESH_BEGIN] != (int64_t)x)
        one = other, other = plan.fresh;
    CHECK(plan.range_count == 0 && header[STATE_FRESH] == 2 && header[STATE_FRESH_AT] == STATE_NOTES);
    CHECK(one[FRESH_BEGIN] == (int64_t)x && one[FRESH_END] == (int64_t)x + 160 && other[FRESH_BEGIN] == (int64_t)z);
    uint64_t *bits = (uint64_t *)plan.fresh + (one[FRESH_BITS_AT] - STATE_NOTES);
    uint64_t *others = (uint64_t *)plan.fresh + (other[FRESH_BITS_AT] - STATE_NOTES);
    CHECK(bits[0] == 0 && bits[1] == ((UINT64_C(1) << 40) - 1) << 16 && bits[2] == 0 && others[0] == 0);
    CHECK(plan.fresh_words == 2 * FRESH_WORDS + 3 + 64);
    CHECK(header[STATE_SHARED_WORDS] == (1024 + 100 + 63) / 64 && header[STATE_SHARED_BLOCKS] == 6);
    CHECK(header[STATE_SHARED_AT] == STATE_NOTES + (int64_t)plan.fresh_words);
    CHECK((int64_t)plan.count == header[STATE_SHARED_AT] + 6 * header[STATE_SHARED_WORDS]);
    bits[0] = UINT64_MAX; /* as a kernel does */
    bits[1] |= 0xffff;
    ((int64_t *)other)[FRESH_IS_TOUCHED] = 1;
    shadow_plan_add_written(&plan);
    shadow_plan_free(&plan);
    specialization.has_far_shared = true;
    CHECK(shadow_plan_make(&specialization, &launch, 100, STATE_NOTES, &plan, &diag));
    CHECK(plan.header[STATE_FRESH] == 1 && plan.header[STATE_SHARED_WORDS] == 0);
    CHECK(((uint64_t *)plan.fresh)[FRESH_WORDS] == UINT64_MAX);
    shadow_plan_free(&plan);
    CHECK(rt_free(device, x, &diag) && rt_free(device, z, &diag));
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
    words[STATE_SLOTS + FAULT_KIND] = FAULT_UNINITIALIZED; /* there is no other access; what it led to is no news */
    CHECK(!launch_state_fault(&specialization, &launch, &state, &diag) && diag.raised.slots[FAULT_EARLIER_BLOCK] == 5);
    words[STATE_SITE] = 6;
    words[STATE_SLOTS + FAULT_KIND] = FAULT_HANG; /* the thread that raised is the one missed */
    CHECK(!launch_state_fault(&specialization, &launch, &state, &diag) && diag.raised.code == 5);
}

/* --- all ------------------------------------------------------------------------------------------------------------------ */

void test_launch_state(void)
{
    test_shadow_of_arguments();
    test_fresh_arrays();
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
