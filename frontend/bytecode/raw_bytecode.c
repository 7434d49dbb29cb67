/* The tables of bytecode_pyXYZ.def. A new CPython version is a file and a row here. */
#include "frontend/bytecode/raw_bytecode.h"

const BytecodeInfo bytecode_info[BYTECODE_COUNT] = {
#define BYTECODE(ID, WORDS) [BYTECODE_##ID] = {#ID, WORDS},
#include "frontend/bytecode/bytecode.def"
#undef BYTECODE
};

#define RAW(NUMBER, NAME, CACHES, RULE, CANONICAL, EXTRA) \
    [NUMBER] = {                                          \
        .name = #NAME, .rule = RULE_##RULE, .canonical = BYTECODE_##CANONICAL, .caches = CACHES, .extra = EXTRA},

static const RawInfo table_311[256] = {
#include "frontend/bytecode/bytecode_py311.def"
};
static const RawInfo table_312[256] = {
#include "frontend/bytecode/bytecode_py312.def"
};
static const RawInfo table_313[256] = {
#include "frontend/bytecode/bytecode_py313.def"
};

#undef RAW

static const struct {
    int minor;
    const RawInfo *table;
} versions[] = {
    {11, table_311},
    {12, table_312},
    {13, table_313},
};

const RawInfo *raw_bytecode_table(int python_minor)
{
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (versions[i].minor == python_minor)
            return versions[i].table;
    return NULL;
}
