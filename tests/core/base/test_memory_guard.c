/* What happens when a request for memory fails: everywhere in a piece of work, it ends with DIAG_NO_MEMORY, its blocks are
 * freed (the sanitizers see a leak), its cleanups have run, and what was there before is as good as before. */
#include <stdint.h>

#include "check.h"
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/memory.h"
#include "core/base/table.h"
#include "core_tests.h"

enum { MOST = 500 };

typedef struct Work {
    Arena *older;
    int ended[3], count; /* which cleanups ran, in order */
    char *result;
} Work;

typedef struct Step {
    Work *work;
    int number;
} Step;

static void note_end(void *object)
{
    const Step *step = object;
    step->work->ended[step->work->count++] = step->number;
}

static bool fill_table(Arena *arena)
{
    Table *table = table_create();
    for (int i = 0; i < 40; i++)
        table_set(table, &i, sizeof i, arena_format(arena, "%d", i));
    int wanted = 33;
    bool ok = !strcmp(table_get(table, &wanted, sizeof wanted), "33");
    table_destroy(table);
    return ok;
}

static bool some_work(void *data)
{
    Work *work = data;
    Buf text = {0};
    MemoryCleanup first, second;
    Step steps[] = {{work, 1}, {work, 2}};
    Arena *arena = arena_create();
    memory_defer(&first, note_end, &steps[0]);
    CHECK(fill_table(arena));
    memory_defer(&second, note_end, &steps[1]);
    for (int i = 0; i < 20; i++) {
        arena_alloc(arena, 9000);
        arena_alloc(work->older, 9000);
        buf_printf(&text, "%0100d", i);
    }
    memory_end(&second);
    work->result = memory_copy_text(text.text);
    buf_free(&text);
    arena_destroy(arena);
    memory_cancel(&first);
    return true;
}

/* The n-th request fails, and those behind it as `for_good` says. Whether there were as many. */
static bool try_work(long n, bool for_good)
{
    Arena *older = arena_create();
    char *kept = arena_string(older, "kept");
    Work work = {.older = older};
    Diag diag = {.id = DIAG_NONE};
    memory_fail_at(n, for_good);
    bool ok = memory_guard(some_work, &work, &diag), failed = memory_failures() > 0;
    memory_fail_at(0, false);
    CHECK(ok == !failed && diag.id == (failed ? DIAG_NO_MEMORY : DIAG_NONE));
    CHECK(!ok || (work.count == 1 && work.ended[0] == 2 && strlen(work.result) == 2000));
    bool in_order = work.count == 2 ? work.ended[0] == 2 && work.ended[1] == 1 : work.count < 2;
    CHECK(in_order);
    CHECK_TEXT(kept, "kept");
    CHECK_TEXT(arena_format(older, "%09000d", 7) + 8990, "0000000007");
    memory_free(work.result);
    arena_destroy(older);
    return failed;
}

static bool inner_work(void *data) { return (*(char **)data = memory_copy_text("inner")) != NULL; }

/* What one guard has made lives on when the one around it fails: each is for itself. */
static bool outer_work(void *data)
{
    Diag diag = {.id = DIAG_NONE};
    CHECK(memory_guard(inner_work, data, &diag));
    memory_fail_at(1, false);
    CHECK(!memory_guard(inner_work, &(char *){NULL}, &diag) && diag.id == DIAG_NO_MEMORY);
    memory_copy_text("freed by the guard");
    memory_fail_at(1, false);
    memory_copy_text("never");
    return check_that(false, __FILE__, __LINE__, "not reached");
}

void test_memory_guard(void)
{
    for (int for_good = 0; for_good < 2; for_good++) {
        long n = 1;
        while (n < MOST && try_work(n, for_good))
            n++;
        CHECK(n > 50 && n < MOST);
    }
    Diag diag = {.id = DIAG_NONE};
    char *inner = NULL;
    CHECK(!memory_guard(outer_work, &inner, &diag) && diag.id == DIAG_NO_MEMORY);
    CHECK_CONTAINS(diag.message, "out of memory: ");
    CHECK_TEXT(inner, "inner");
    memory_free(inner);
}

void test_memory_that_is_tried(void)
{
    Diag diag = {.id = DIAG_NONE};
    unsigned char *bytes = memory_try(100);
    CHECK(bytes && !bytes[0] && !bytes[99]);
    memory_free(bytes);
    for (int i = 0; i < 3; i++) {
        memory_fail_at(1, false);
        void *failed = i == 0 ? memory_try(1) : i == 1 ? memory_try_aligned(64, 64) : memory_new(12345, &diag);
        CHECK(!failed && memory_failures() == 1);
    }
    memory_fail_at(0, false);
    CHECK(diag.id == DIAG_NO_MEMORY && !memory_try(SIZE_MAX - 8));
    CHECK_CONTAINS(diag.message, "12345");
    memory_free(NULL);
}
