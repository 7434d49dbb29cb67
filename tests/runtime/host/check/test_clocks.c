/* Happens-before beside sets of events: each thread has the set of all accesses that come before what it does next, and
 * everything that tells one of others hands whole sets on. A release hands on what its thread knew at its last fence; what
 * it was told since by lanes or a barrier may be handed on, too, and is where a fence comes right before. */
#include "runtime/host/check/clocks.h"

#include "runtime_tests.h"

enum { BLOCKS = 3, THREADS = 4, PLACES = 2, MOST_EVENTS = 64, ROUNDS = 400, STEPS = 90 };

typedef uint64_t Events; /* a bit each */

typedef struct Model {
    Events own[BLOCKS][THREADS]; /* what the thread has done */
    Events known[BLOCKS][THREADS], seen[BLOCKS][THREADS];
    Events fenced[BLOCKS][THREADS], released[PLACES];
    bool has_fenced[BLOCKS][THREADS];
} Model;

typedef struct Event {
    Stamp stamp;
    uint32_t thread;
} Event;

typedef struct World {
    BlockClock blocks[BLOCKS];
    Released released;
    Model model;
    Event events[MOST_EVENTS];
    uint32_t count;
    uint64_t random;
    bool is_exact; /* a fence comes right before each release */
} World;

static uint32_t draw(World *world, uint32_t below)
{
    world->random = world->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(world->random >> 33) % below;
}

static void access_memory(World *world, uint32_t block, uint32_t thread)
{
    const BlockClock *clock = &world->blocks[block];
    if (world->count == MOST_EVENTS)
        return;
    world->model.own[block][thread] |= (Events)1 << world->count;
    world->events[world->count++] = (Event){{block, thread, clock->threads[thread].clock, clock->epoch}, thread};
}

static void meet(World *world, uint32_t block, uint32_t lanes)
{
    Model *model = &world->model;
    Events all = 0;
    for (uint32_t i = 0; i < THREADS; i++)
        if (lanes >> i & 1)
            all |= model->own[block][i] | model->known[block][i] | model->seen[block][i];
    for (uint32_t i = 0; i < THREADS; i++)
        if (lanes >> i & 1) {
            model->known[block][i] |= all;
            model->seen[block][i] = 0;
        }
}

static void fence(World *world, uint32_t block, uint32_t thread)
{
    Model *model = &world->model;
    CHECK(clocks_fence(&world->blocks[block], thread));
    model->known[block][thread] |= model->seen[block][thread];
    model->seen[block][thread] = 0;
    model->fenced[block][thread] = model->known[block][thread] | model->own[block][thread];
    model->has_fenced[block][thread] = true;
}

static void release(World *world, uint32_t block, uint32_t thread, uint32_t place, bool is_store)
{
    Model *model = &world->model;
    if (world->is_exact)
        fence(world, block, thread);
    CHECK(clocks_release(&world->released, &world->blocks[block], thread, 0x1000 + place, is_store));
    if (is_store)
        model->released[place] = 0;
    if (model->has_fenced[block][thread])
        model->released[place] |= model->fenced[block][thread];
}

static void step(World *world)
{
    uint32_t block = draw(world, BLOCKS), thread = draw(world, THREADS), place = draw(world, PLACES);
    Model *model = &world->model;
    switch (draw(world, 8)) {
    case 0:
        CHECK(clocks_barrier(&world->blocks[block]));
        meet(world, block, (1u << THREADS) - 1);
        break;
    case 1: {
        uint32_t lanes = 1 + draw(world, (1u << THREADS) - 1);
        CHECK(clocks_meet(&world->blocks[block], 0, lanes));
        meet(world, block, lanes);
        break;
    }
    case 2: fence(world, block, thread); break;
    case 3: release(world, block, thread, place, draw(world, 2)); break;
    case 4:
        CHECK(clocks_acquire(&world->released, &world->blocks[block], thread, 0x1000 + place));
        model->seen[block][thread] |= model->released[place];
        break;
    default: access_memory(world, block, thread); break;
    }
}

/* What each thread knows of the others' accesses is what the sets say, or more. */
static bool agrees(const World *world)
{
    bool ok = true;
    for (uint32_t block = 0; block < BLOCKS; block++)
        for (uint32_t thread = 0; thread < THREADS; thread++)
            for (uint32_t i = 0; i < world->count; i++) {
                const Stamp *stamp = &world->events[i].stamp;
                bool is_own = stamp->block == block && stamp->thread == thread;
                bool is_known = world->model.known[block][thread] >> i & 1;
                bool knows = clocks_knows(&world->blocks[block], thread, stamp);
                ok &= is_own || knows == is_known || (knows && !world->is_exact);
            }
    return ok;
}

static void orders(void)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        World world = {.random = round, .is_exact = round % 2};
        bool ok = true;
        for (uint32_t i = 0; i < BLOCKS; i++)
            CHECK(clocks_begin_block(&world.blocks[i], i, THREADS));
        for (int i = 0; ok && i < STEPS; i++) {
            step(&world);
            ok = agrees(&world);
        }
        CHECK(ok);
        for (uint32_t i = 0; i < BLOCKS; i++)
            clocks_end_block(&world.blocks[i]);
        released_free(&world.released);
    }
}

/* Blocks of a grid that meet know all of each other. */
static void grids(void)
{
    BlockClock blocks[2] = {0};
    Stamp stamp = {.block = 1, .thread = 2, .clock = 1};
    for (uint32_t i = 0; i < 2; i++)
        CHECK(clocks_begin_block(&blocks[i], i, THREADS));
    CHECK(!clocks_knows(&blocks[0], 3, &stamp));
    CHECK(clocks_barrier(&blocks[0]) && clocks_barrier(&blocks[1]));
    CHECK(!clocks_knows(&blocks[0], 3, &stamp));
    CHECK(clocks_tell_block(&blocks[0], &blocks[1]) && clocks_tell_block(&blocks[1], &blocks[0]));
    CHECK(clocks_knows(&blocks[0], 3, &stamp));
    stamp.epoch = 1; /* behind the barrier */
    CHECK(!clocks_knows(&blocks[0], 3, &stamp));
    for (uint32_t i = 0; i < 2; i++)
        clocks_end_block(&blocks[i]);
}

static void tables(void)
{
    enum { KEYS = 500 };
    Knowledge knowledge = {0}, other = {0};
    uint32_t expected[KEYS] = {0};
    World world = {.random = 3};
    CHECK(!knowledge_of(&knowledge, 7));
    for (int i = 0; i < 4000; i++) {
        uint32_t key = draw(&world, KEYS), value = 1 + draw(&world, 1000);
        Knowledge *table = i % 3 ? &knowledge : &other;
        CHECK(knowledge_learn(table, (uint64_t)key << 40, value));
        expected[key] = expected[key] < value ? value : expected[key];
    }
    CHECK(knowledge_learn_all(&knowledge, &other));
    bool ok = true;
    for (uint64_t key = 0; key < KEYS; key++)
        ok &= knowledge_of(&knowledge, key << 40) == expected[key] && !knowledge_of(&knowledge, (key << 40) + 1);
    CHECK(ok);
    knowledge_clear(&knowledge);
    CHECK(!knowledge_of(&knowledge, 0) && !knowledge.count && knowledge.capacity);
    knowledge_free(&knowledge);
    knowledge_free(&other);
}

void test_clocks(void)
{
    tables();
    orders();
    grids();
}
