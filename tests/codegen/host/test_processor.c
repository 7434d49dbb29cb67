/* What the key of a kernel on disk has of the processor: the same that the instruction says, and no core's number. */
#include <string.h>

#include "codegen/host/processor.h"
#include "codegen_tests.h"

/* --- other makers' processors -------------------------------------------------------------------------------------------- */
enum { LEAVES = 9, SAVES_STATE = 1 << 27, HAS_AVX10 = 1 << 19, TILES = 3 << 17 };
#define EXTENDED 0x80000000U

static const struct Maker {
    const char *name;
    uint32_t last, last_extended; /* leaves */
    bool saves_state, is_avx10;
    uint32_t saved;
    bool asks_tiles, asks_avx10, asks_extended_21;
} makers[] = {
    {"GenuineIntel", 0x20, EXTENDED + 8, true, false, 0x2e7 | TILES, true, false, false}, /* Sapphire Rapids */
    {"GenuineIntel", 0x24, EXTENDED + 8, true, true, 0x2e7 | TILES, true, true, false}, /* Granite Rapids */
    {"GenuineIntel", 0x1b, EXTENDED + 8, true, false, 0x2e7, false, false, false}, /* Ice Lake */
    {"GenuineIntel", 0x16, EXTENDED + 8, true, true, 0x2e7 | TILES, false, false,
     false}, /* a hypervisor hides leaves */
    {"AuthenticAMD", 0x10, EXTENDED + 0x28, true, false, 0x2e7, false, false, true}, /* Zen 4 */
    {"AuthenticAMD", 0x0d, EXTENDED + 0x1f, true, false, 7, false, false, false}, /* Zen 1 */
    {"HygonGenuine", 0x0d, EXTENDED + 0x1f, true, false, 7, false, false, false},
    {"CentaurHauls", 0x0d, EXTENDED + 8, true, false, 7, false, false, false},
    {"  Shanghai  ", 0x0d, EXTENDED + 8, false, false, 0, false, false,
     false}, /* XGETBV would be an illegal instruction */
};

static const struct Maker *maker;
static bool asked_tiles, asked_avx10, asked_extended_21, asked_state, asked_others;

static const ProcessorLeaf *find_made_up(unsigned number)
{
    static ProcessorLeaf leaves[LEAVES + 1];
    unsigned i = number < LEAVES ? number : LEAVES;
    for (uint32_t j = 0; i < LEAVES && j < PROCESSOR_REGISTERS; j++)
        leaves[i].said[j] = 0x1000 + 16 * i + j;
    leaves[0].said[2] = maker->saves_state ? SAVES_STATE : 0;
    leaves[6].said[3] = maker->is_avx10 ? HAS_AVX10 : 0;
    return &leaves[i];
}

static void ask_made_up(uint32_t leaf, uint32_t part, uint32_t said[PROCESSOR_REGISTERS])
{
    for (uint32_t i = 0; i < PROCESSOR_REGISTERS; i++)
        said[i] = 0x2000 + 16 * (leaf & 0xff) + i;
    if (!leaf) {
        said[0] = maker->last;
        memcpy(&said[1], maker->name, 4);
        memcpy(&said[3], maker->name + 4, 4);
        memcpy(&said[2], maker->name + 8, 4);
    } else if (leaf == EXTENDED) {
        said[0] = maker->last_extended;
    } else {
        bool *asked = leaf == 0x1e && part == 1          ? &asked_tiles
                      : leaf == 0x24 && !part            ? &asked_avx10
                      : leaf == EXTENDED + 0x21 && !part ? &asked_extended_21
                                                         : &asked_others;
        *asked = true;
    }
}

static uint32_t state_made_up(void)
{
    asked_state = true;
    return maker->saved;
}

static const ProcessorLeaf *find_nothing(unsigned number)
{
    (void)number;
    static const ProcessorLeaf none;
    return &none;
}

/* Only what a processor has is asked, and no two have the same words. */
static void check_makers(void)
{
    enum { MAKERS = sizeof makers / sizeof *makers };
    uint32_t words[MAKERS][PROCESSOR_WORDS];
    ProcessorSource source = {find_made_up, ask_made_up, state_made_up};
    for (int i = 0; i < MAKERS; i++) {
        maker = &makers[i];
        asked_tiles = asked_avx10 = asked_extended_21 = asked_state = asked_others = false;
        CHECK(processor_words_of(&source, words[i]));
        CHECK(asked_state == maker->saves_state && !asked_others);
        CHECK(asked_tiles == maker->asks_tiles);
        CHECK(asked_avx10 == maker->asks_avx10);
        CHECK(asked_extended_21 == maker->asks_extended_21);
        for (int j = 0; j < i; j++)
            CHECK(memcmp(words[i], words[j], sizeof *words));
    }
    source.find = find_nothing; /* an older C library */
    CHECK(!processor_words_of(&source, words[0]));
}

/* --- this one ------------------------------------------------------------------------------------------------------------- */

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
    check_makers();
}
