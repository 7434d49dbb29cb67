/* Which accesses of the same bytes race, and memory that nothing has written, beside a map of bytes. */
#include "runtime/host/check/race.h"

#include "runtime/host/check/initialized.h"
#include "runtime_tests.h"

enum { THREADS = 64 };

typedef struct Scene {
    Shadow shadow;
    BlockClock blocks[2];
    Group earlier;
    _Alignas(64) unsigned char memory[64];
} Scene;

static void begin(Scene *scene)
{
    *scene = (Scene){0};
    for (uint32_t i = 0; i < 2; i++)
        CHECK(clocks_begin_block(&scene->blocks[i], i, THREADS));
}

static void end(Scene *scene)
{
    shadow_clear(&scene->shadow);
    for (uint32_t i = 0; i < 2; i++)
        clocks_end_block(&scene->blocks[i]);
}

/* An access at `offset` of the memory by a thread of a block, in a site of the source of the thread's own number; writes
 * have the value. */
static bool races(Scene *scene, uint32_t block, uint32_t thread, AccessKind kind, uint32_t offset, uint32_t size,
                  uint64_t value)
{
    Access access = {.address = (uint64_t)(uintptr_t)scene->memory + offset,
                     .value = value,
                     .size = size,
                     .site = thread,
                     .thread = thread,
                     .kind = kind,
                     .has_value = kind == ACCESS_WRITE};
    RaceResult result = race_access(&scene->shadow, &scene->blocks[block], &access, &scene->earlier);
    CHECK(result != RACE_NO_MEMORY);
    if (kind == ACCESS_WRITE)
        memcpy(scene->memory + offset, &value, size);
    return result == RACE_FOUND;
}

static void pairs(void)
{
    static const struct {
        AccessKind first, second;
        bool is_race;
    } rows[] = {{ACCESS_READ, ACCESS_READ, false},
                {ACCESS_READ, ACCESS_WRITE, true},
                {ACCESS_WRITE, ACCESS_READ, true},
                {ACCESS_WRITE, ACCESS_WRITE, true},
                {ACCESS_ATOMIC, ACCESS_ATOMIC, false},
                {ACCESS_ATOMIC, ACCESS_READ, true},
                {ACCESS_READ, ACCESS_ATOMIC, true},
                {ACCESS_WRITE, ACCESS_ATOMIC, true},
                {ACCESS_ATOMIC, ACCESS_WRITE, true},
                {ACCESS_STRONG_READ, ACCESS_ATOMIC, false},
                {ACCESS_STRONG_WRITE, ACCESS_STRONG_READ, false},
                {ACCESS_STRONG_WRITE, ACCESS_READ, true},
                {ACCESS_STRONG_READ, ACCESS_WRITE, true},
                {ACCESS_STRONG_READ, ACCESS_READ, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t other = 0; other < 2; other++) { /* a thread of the block, and one of another block */
            Scene scene;
            begin(&scene);
            CHECK(!races(&scene, 0, 3, rows[i].first, 8, 8, 5));
            CHECK(!races(&scene, 0, 3, rows[i].second, 8, 8, 6)); /* its own */
            CHECK(!races(&scene, other, 40, rows[i].second, 16, 8, 7)); /* elsewhere */
            end(&scene);
            begin(&scene);
            races(&scene, 0, 3, rows[i].first, 8, 8, 5);
            bool is_race = races(&scene, other, 40, rows[i].second, 8, 8, 7);
            CHECK(is_race == rows[i].is_race);
            CHECK(!is_race || (scene.earlier.site == 3 && scene.earlier.kind == rows[i].first));
            end(&scene);
        }
}

static void order(void)
{
    Scene scene;
    begin(&scene);
    CHECK(!races(&scene, 0, 1, ACCESS_WRITE, 0, 8, 1));
    CHECK(clocks_barrier(&scene.blocks[0]));
    CHECK(!races(&scene, 0, 2, ACCESS_WRITE, 0, 8, 2)); /* behind a barrier */
    CHECK(clocks_meet(&scene.blocks[0], 0, 1u << 2 | 1u << 5));
    CHECK(!races(&scene, 0, 5, ACCESS_READ, 0, 8, 0)); /* lanes have met */
    CHECK(races(&scene, 0, 6, ACCESS_READ, 0, 8, 0) && scene.earlier.site == 2); /* this one has not */
    CHECK(races(&scene, 1, 6, ACCESS_WRITE, 0, 8, 9)); /* a block's barrier says nothing to others */
    end(&scene);
}

/* Bytes of one number, and numbers across them. */
static void sizes(void)
{
    Scene scene;
    begin(&scene);
    CHECK(!races(&scene, 0, 1, ACCESS_WRITE, 8, 8, 1));
    CHECK(races(&scene, 0, 2, ACCESS_READ, 15, 1, 0) && scene.earlier.site == 1);
    CHECK(!races(&scene, 0, 2, ACCESS_READ, 16, 1, 0) && !races(&scene, 0, 2, ACCESS_READ, 7, 1, 0));
    CHECK(!races(&scene, 0, 4, ACCESS_WRITE, 33, 1, 3));
    CHECK(races(&scene, 0, 5, ACCESS_READ, 32, 4, 0) && scene.earlier.site == 4);
    shadow_forget(&scene.shadow, (uint64_t)(uintptr_t)scene.memory, sizeof scene.memory);
    CHECK(!races(&scene, 0, 6, ACCESS_WRITE, 8, 8, 4)); /* memory of another array */
    end(&scene);
}

/* All threads write the same. */
static void same_values(void)
{
    Scene scene;
    begin(&scene);
    for (uint32_t thread = 0; thread < THREADS; thread++)
        CHECK(!races(&scene, 0, thread, ACCESS_WRITE, 0, 8, 17));
    CHECK(!races(&scene, 0, 9, ACCESS_READ, 0, 8, 0));
    CHECK(races(&scene, 0, 9, ACCESS_WRITE, 0, 8, 18));
    end(&scene);
}

/* More readers than are kept apart: a write behind them still races with one, and with none behind a barrier. */
static void many_readers(void)
{
    Scene scene;
    begin(&scene);
    for (uint32_t thread = 1; thread < THREADS; thread++)
        CHECK(!races(&scene, 0, thread, ACCESS_READ, 0, 8, 0));
    CHECK(races(&scene, 0, 0, ACCESS_WRITE, 0, 8, 4) && scene.earlier.kind == ACCESS_READ);
    end(&scene);
    begin(&scene);
    for (uint32_t thread = 0; thread < THREADS; thread++)
        races(&scene, 0, thread, ACCESS_READ, 0, 8, 0);
    CHECK(clocks_barrier(&scene.blocks[0]));
    CHECK(!races(&scene, 0, 0, ACCESS_WRITE, 0, 8, 4));
    end(&scene);
}

/* --- initialized.c ---------------------------------------------------------------------------------------------------- */

enum { SPACE = 3 << 12, BASE = 0x7000000 };

static void unwritten(void)
{
    static bool is_unwritten[SPACE];
    Unwritten all = {0};
    uint64_t random = 11;
    CHECK(!unwritten_has(&all, BASE, SPACE)); /* what nobody began counts as written */
    for (int i = 0; i < 3000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t start = (uint32_t)(random >> 40) % (SPACE - 300), size = 1 + (uint32_t)(random >> 20) % 299;
        bool begins = i % 5 == 0, has = false;
        if (begins)
            CHECK(unwritten_begin(&all, BASE + start, size));
        else if (i % 5 < 3)
            unwritten_write(&all, BASE + start, size);
        for (uint32_t k = start; k < start + size; k++) {
            is_unwritten[k] = begins || (is_unwritten[k] && i % 5 >= 3);
            has |= is_unwritten[k];
        }
        if (!CHECK(unwritten_has(&all, BASE + start, size) == has))
            break;
    }
    unwritten_free(&all);
    CHECK(!unwritten_has(&all, BASE, SPACE));
}

/* Arrays of the device count as written until somebody tracks them, and by their addresses. */
static void arrays(void)
{
    host_note_allocation(BASE, 64);
    CHECK(!host_has_unwritten(BASE, 64));
    host_track_writes();
    CHECK(rt_tracks_writes() && !host_has_unwritten(BASE, 64));
    host_note_allocation(BASE, 64);
    CHECK(host_has_unwritten(BASE, 1) && host_has_unwritten(BASE + 63, 1) && !host_has_unwritten(BASE + 64, 8));
    host_note_written(BASE + 8, 8);
    CHECK(!host_has_unwritten(BASE + 8, 8) && host_has_unwritten(BASE + 8, 9) && host_has_unwritten(BASE, 64));
    host_note_all_written(BASE + 40);
    CHECK(!host_has_unwritten(BASE, 64));
    host_note_release(BASE);
    host_note_allocation(BASE, 32); /* the address is used again */
    CHECK(host_has_unwritten(BASE, 32) && !host_has_unwritten(BASE + 32, 8));
    host_note_release(BASE);
    CHECK(!host_has_unwritten(BASE, 32));
}

/* As GPUs take them: a bit for each byte, the first one lowest. */
static void bits(void)
{
    uint64_t begin = 0, end = 0, words[3] = {7, 7, 7}, some[3] = {1, 0, UINT64_MAX},
             most[3] = {~UINT64_C(1), UINT64_MAX, 3};
    CHECK(!host_next_unwritten(0, UINT64_MAX, &begin, &end));
    host_track_writes();
    host_note_allocation(BASE, 130);
    host_note_allocation(BASE + 256, 8);
    CHECK(host_next_unwritten(BASE - 100, BASE + 1, &begin, &end) && begin == BASE && end == BASE + 130);
    CHECK(host_next_unwritten(BASE + 129, BASE + 130, &begin, &end) && begin == BASE);
    CHECK(host_next_unwritten(BASE + 130, BASE + 300, &begin, &end) && begin == BASE + 256 && end == BASE + 264);
    CHECK(!host_next_unwritten(BASE + 130, BASE + 256, &begin, &end));
    host_get_written_bits(BASE, words, 3);
    CHECK(words[0] == 0 && words[1] == 0 && words[2] == 0);
    host_add_written_bits(BASE, words, 3);
    CHECK(host_has_unwritten(BASE, 1));
    host_note_written(BASE + 4, 62);
    host_add_written_bits(BASE, some, 3);
    host_get_written_bits(BASE, words, 3);
    CHECK(words[0] == (UINT64_MAX << 4 | 1) && words[1] == 3 && (words[2] & 3) == 3);
    CHECK(!host_has_unwritten(BASE + 128, 2) && host_has_unwritten(BASE + 127, 1) && !host_has_unwritten(BASE, 1));
    host_add_written_bits(BASE, most, 3);
    CHECK(!host_next_unwritten(BASE, BASE + 130, &begin, &end) && !host_has_unwritten(BASE, 130));
    host_get_written_bits(BASE, words, 3);
    CHECK(words[0] == UINT64_MAX && words[2] == UINT64_MAX);
    host_note_release(BASE + 256);
}

void test_race(void)
{
    pairs();
    order();
    sizes();
    same_values();
    many_readers();
    unwritten();
    in_child("arrays", arrays);
    in_child("bits of arrays", bits);
}
