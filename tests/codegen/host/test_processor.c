/* What the key of a kernel on disk has of the processor: the same that the instruction says, and no core's number. */
#include <string.h>

#include "codegen/host/processor.h"
#include "codegen_tests.h"

#ifdef __x86_64__
#include <cpuid.h>

static bool has_word(const uint32_t words[PROCESSOR_WORDS], uint32_t word)
{
    for (int i = 0; i < PROCESSOR_WORDS; i++)
        if (words[i] == word)
            return true;
    return false;
}

static void check_leaf(const uint32_t words[PROCESSOR_WORDS], uint32_t leaf, uint32_t part, const char *registers)
{
    uint32_t a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaf, part, &a, &b, &c, &d))
        return;
    const uint32_t said[] = {a, b, c, d};
    for (; *registers; registers++)
        CHECK(has_word(words, said[*registers - 'a']));
}

static void check_processor_words(void)
{
    uint32_t words[PROCESSOR_WORDS], again[PROCESSOR_WORDS];
    if (!processor_words(words))
        return; /* a C library that says nothing */
    CHECK(processor_words(again) && !memcmp(words, again, sizeof words));
    check_leaf(words, 0, 0, "abcd");
    check_leaf(words, 1, 0, "acd");
    check_leaf(words, 7, 0, "bcd");
    check_leaf(words, 7, 1, "ad");
    check_leaf(words, 0xd, 1, "a");
    check_leaf(words, 0x14, 0, "b");
    check_leaf(words, 0x19, 0, "b");
    check_leaf(words, 0x80000001, 0, "cd");
    check_leaf(words, 0x80000008, 0, "b");
    check_leaf(words, 0x80000021, 0, "a");
}
#else
static void check_processor_words(void)
{
    uint32_t words[PROCESSOR_WORDS];
    CHECK(!processor_words(words));
}
#endif

void test_processor(void)
{
    size_t size = 0;
    const char *native = codegen_host_processor(&size);
    CHECK(size > 0 && native == codegen_host_processor(&size));
    check_processor_words();
}
