/* Names and numbers of the IR's text. */
#include <math.h>
#include <stdint.h>

#include "check.h"
#include "core/base/text.h"
#include "core_tests.h"

static void check_real(double value, const char *expected)
{
    Buf buf = {0};
    text_print_real(&buf, value);
    if (expected)
        CHECK_TEXT(buf_text(&buf), expected);
    const char *at = buf_text(&buf);
    double back = 0;
    CHECK(text_read_real(&at, &back) && !*at && !memcmp(&back, &value, sizeof value));
    buf_free(&buf);
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void test_reals(void)
{
    check_real(1, "1.0");
    check_real(-0.0, "-0.0");
    check_real(0.1, "0.1");
    check_real(1e300, "1e+300");
    check_real(5e-324, "5e-324");
    check_real(1.0 / 3, NULL);
    check_real(1.7976931348623157e308, NULL);
    check_real(INFINITY, "inf");
    check_real(-INFINITY, "-inf");
    check_real(from_bits(0x7FF8000000000000u), "nan");
    check_real(from_bits(0xFFF8000000000000u), "nan:0xfff8000000000000");
    check_real(from_bits(0x7FF0000000000001u), "nan:0x7ff0000000000001");
    double value;
    for (const char *const *bad = (const char *const[]){"", "x", "nan:0x1", "nan:", "+1", ".5", "-", NULL}; *bad;
         bad++) {
        const char *at = *bad;
        CHECK(!text_read_real(&at, &value) && at == *bad);
    }
}

static void check_name(const char *name, const char *expected, Arena *arena)
{
    Buf buf = {0};
    text_print_name(&buf, name);
    CHECK_TEXT(buf_text(&buf), expected);
    const char *at = buf_text(&buf);
    CHECK_TEXT(text_read_name(&at, arena), name);
    CHECK(!*at);
    buf_free(&buf);
}

void test_text(void)
{
    test_reals();
    Arena *arena = arena_create();
    check_name("x", "x", arena);
    check_name("f.<locals>.g", "f.<locals>.g", arena);
    check_name("größe", "größe", arena);
    check_name("", "\"\"", arena);
    check_name("1x", "\"1x\"", arena);
    check_name("a b\"\\\n", "\"a b\\x22\\x5c\\x0a\"", arena);
    for (const char *const *bad = (const char *const[]){"", "1", "\"x", "\"\\q\"", "\"\\x0\"", "\"\\x00\"", "+", NULL};
         *bad; bad++) {
        const char *at = *bad;
        CHECK(!text_read_name(&at, arena) && at == *bad);
    }
    int64_t integer;
    uint64_t count;
    const char *at = "-9223372036854775808 18446744073709551615 18446744073709551616";
    CHECK(text_read_integer(&at, &integer) && integer == INT64_MIN);
    CHECK(text_read_integer(&at, &integer) && integer == -1);
    CHECK(!text_read_integer(&at, &integer));
    at = "-9223372036854775809";
    CHECK(!text_read_integer(&at, &integer));
    at = "8";
    CHECK(!text_read_count(&at, 7, &count) && text_read_count(&at, 8, &count) && count == 8);
    at = " none) nonempty";
    CHECK(!text_accept_word(&at, "no") && text_accept_word(&at, "none") && text_accept(&at, ")") &&
          !text_accept_word(&at, "none"));
    arena_destroy(arena);
}
