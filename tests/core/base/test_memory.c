/* arena, buf, table. */
#include <stdint.h>

#include "check.h"
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/table.h"
#include "core_tests.h"

void test_arena(void)
{
    Arena *arena = arena_create();
    CHECK(arena_used(arena) == 0);
    unsigned char *first = arena_alloc(arena, 3), *second = arena_alloc(arena, 5);
    CHECK((uintptr_t)first % 16 == 0 && (uintptr_t)second % 16 == 0 && first != second);
    CHECK(!first[0] && !first[2] && !second[4]);
    CHECK(arena_used(arena) == 8);
    CHECK(arena_alloc(arena, 0) != arena_alloc(arena, 0));
    CHECK_TEXT(arena_string(arena, "kernel"), "kernel");
    CHECK_TEXT(arena_format(arena, "%s[%d]", "x", 3), "x[3]");
    CHECK(!memcmp(arena_copy(arena, "abc", 3), "abc", 3));
    bool zeroed = true;
    for (int i = 0; i < 2000; i++) {
        unsigned char *memory = arena_alloc(arena, (size_t)i * 37 % 9000);
        for (int j = 0; j < i * 37 % 9000; j++)
            zeroed &= !memory[j];
        memset(memory, 0xFF, (size_t)i * 37 % 9000);
    }
    unsigned char *large = arena_alloc(arena, 5 << 20);
    large[(5 << 20) - 1] = 1;
    CHECK(zeroed && !large[0]);
    uint32_t capacity = 0, *numbers = NULL;
    for (uint32_t i = 0; i < 100; i++) {
        numbers = arena_grow(arena, numbers, i, &capacity, sizeof *numbers);
        numbers[i] = i;
    }
    CHECK(capacity == 128 && numbers[0] == 0 && numbers[7] == 7 && numbers[99] == 99);
    arena_destroy(arena);
    arena_destroy(NULL);
    arena = arena_try_small(64);
    unsigned char *little = arena_alloc(arena, 60), *more = arena_alloc(arena, 60), *most = arena_alloc(arena, 5000);
    memset(little, 1, 60);
    memset(more, 2, 60);
    memset(most, 3, 5000);
    CHECK(little[59] == 1 && more[59] == 2 && arena_used(arena) == 60 + 60 + 5000);
    arena_destroy(arena);
}

void test_buf(void)
{
    Buf buf = {0};
    CHECK_TEXT(buf_text(&buf), "");
    buf_add(&buf, "");
    CHECK_TEXT(buf_text(&buf), "");
    for (int i = 0; i < 500; i++)
        buf_printf(&buf, "%d,", i);
    CHECK(buf.length == 10 * 2 + 90 * 3 + 400 * 4 && !buf.text[buf.length]);
    buf_free(&buf);
    CHECK(!buf.text && !buf.length);
    buf_printf(&buf, "%0300d", 7);
    CHECK(buf.length == 300 && buf.text[299] == '7');
    buf_add_bytes(&buf, "\0z", 2);
    CHECK(buf.length == 302 && buf.text[301] == 'z');
    buf_free(&buf);
}

void test_table(void)
{
    Table *table = table_create();
    CHECK(!table_get(table, "x", 1) && table_count(table) == 0);
    static char values[3];
    table_set(table, "x", 1, &values[0]);
    table_set(table, "xy", 2, &values[1]);
    table_set(table, "", 0, &values[2]);
    CHECK(table_get(table, "x", 1) == &values[0] && table_get(table, "xy", 2) == &values[1]);
    CHECK(table_get(table, "", 0) == &values[2] && !table_get(table, "y", 1));
    table_set(table, "x", 1, &values[1]);
    CHECK(table_get(table, "x", 1) == &values[1] && table_count(table) == 3);
    table_destroy(table);

    table = table_create();
    for (int i = 0; i < 5000; i++)
        table_set(table, &i, sizeof i, (void *)(uintptr_t)(i + 1));
    bool found = table_count(table) == 5000;
    for (int i = 0; i < 5000; i++)
        found &= table_get(table, &i, sizeof i) == (void *)(uintptr_t)(i + 1);
    CHECK(found);
    table_destroy(table);
    table_destroy(NULL);
}
