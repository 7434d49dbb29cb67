/* What the CPUID instruction answers. Under a hypervisor each answer takes microseconds, and LLVM asks two dozen times; the
 * C library has asked for most of it when the process began, and tells (glibc 2.34 and newer). */
#define _GNU_SOURCE
#include "codegen/host/processor.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum {
    A,
    B,
    C,
    D,
    LEAF_1 = 0,
    LEAF_7_1 = 6,
    NO_LEAF = 0x7fffffff,
    SAVES_STATE = 1 << 27, /* leaf 1, C: XGETBV tells what the system saves */
    SAVES_TILES = 3 << 17, /* what it tells */
    HAS_AVX10 = 1 << 19, /* leaf 7.1, D */
    LEAF_TILES = 0x1e,
    LEAF_AVX10 = 0x24,
};
#define EXTENDED 0x80000000U
#define EXTENDED_21 0x80000021U

/* Those that LLVM looks at, and of leaf 1 not B, which has the number of the core. */
static const struct {
    uint8_t number, count, registers[PROCESSOR_REGISTERS];
} kept[] = {
    {LEAF_1, 3, {A, C, D}}, /* 1 */
    {1, 4, {A, B, C, D}}, /* 7 */
    {2, 2, {C, D}}, /* 0x80000001 */
    {3, 1, {A}}, /* 0xd.1 */
    {5, 1, {B}}, /* 0x80000008 */
    {LEAF_7_1, 2, {A, D}}, /* 7.1 */
    {7, 1, {B}}, /* 0x19 */
    {8, 1, {B}}, /* 0x14 */
};

typedef struct Words {
    uint32_t *words;
    uint32_t count;
} Words;

static void add(Words *out, uint32_t word)
{
    assert(out->count < PROCESSOR_WORDS);
    out->words[out->count++] = word;
}

static void add_leaf(Words *out, const ProcessorSource *source, bool is_there, uint32_t leaf, uint32_t part)
{
    uint32_t said[PROCESSOR_REGISTERS] = {0};
    if (is_there)
        source->ask(leaf, part, said);
    for (int i = 0; i < PROCESSOR_REGISTERS; i++)
        add(out, said[i]);
}

bool processor_words_of(const ProcessorSource *source, uint32_t words[PROCESSOR_WORDS])
{
    const ProcessorLeaf *none = source->find(NO_LEAF);
    Words out = {words, 0};
    uint32_t said[PROCESSOR_REGISTERS];
    memset(words, 0, PROCESSOR_WORDS * sizeof *words);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const ProcessorLeaf *leaf = source->find(kept[i].number);
        if (leaf == none)
            return false;
        for (int j = 0; j < kept[i].count; j++)
            add(&out, leaf->said[kept[i].registers[j]]);
    }
    uint32_t saved = source->find(LEAF_1)->said[C] & SAVES_STATE ? source->saved_state() : 0;
    add(&out, saved);
    source->ask(0, 0, said); /* its maker */
    uint32_t last = said[A];
    for (int i = 0; i < PROCESSOR_REGISTERS; i++)
        add(&out, said[i]);
    add_leaf(&out, source, last >= LEAF_TILES && saved & SAVES_TILES, LEAF_TILES, 1);
    add_leaf(&out, source, last >= LEAF_AVX10 && source->find(LEAF_7_1)->said[D] & HAS_AVX10, LEAF_AVX10, 0);
    source->ask(EXTENDED, 0, said);
    add_leaf(&out, source, said[A] >= EXTENDED_21, EXTENDED_21, 0);
    return true;
}

#ifdef __x86_64__

#include <cpuid.h>
#include <dlfcn.h>

static void ask(uint32_t leaf, uint32_t part, uint32_t said[PROCESSOR_REGISTERS])
{
    __cpuid_count(leaf, part, said[A], said[B], said[C], said[D]);
}

static uint32_t saved_state(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

bool processor_words(uint32_t words[PROCESSOR_WORDS])
{
    const ProcessorLeaf *(*find)(unsigned) =
        (const ProcessorLeaf *(*)(unsigned))dlsym(RTLD_DEFAULT, "__x86_get_cpuid_feature_leaf");
    ProcessorSource source = {find, ask, saved_state};
    memset(words, 0, PROCESSOR_WORDS * sizeof *words);
    return find && processor_words_of(&source, words);
}

#else

bool processor_words(uint32_t words[PROCESSOR_WORDS])
{
    (void)words;
    return false;
}

#endif
