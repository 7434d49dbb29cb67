/* The tables of bytecode_pyXYZ.def, with what raw_bytecode.def says of each name. A new CPython version is a file and
 * a line here. */
#include "frontend/bytecode/raw_bytecode.h"

enum { FIRST_MINOR = 11 };

const BytecodeInfo bytecode_info[BYTECODE_COUNT] = {
#define BYTECODE(ID, EFFECT, WORDS) [BYTECODE_##ID] = {#ID, WORDS},
#include "frontend/bytecode/bytecode.def"
#undef BYTECODE
};

/* The same for all versions; later ones have more. */
static const Constant common_constants[] = {
    {.kind = CONSTANT_NAMESPACE, .is_exception = true, .text = "AssertionError", .shown_as = "AssertionError"},
    {.kind = CONSTANT_NAMESPACE,
     .is_exception = true,
     .text = "NotImplementedError",
     .shown_as = "NotImplementedError"},
    {.kind = CONSTANT_UNSUPPORTED, .text = "tuple"},
    {.kind = CONSTANT_UNSUPPORTED, .text = "all"},
    {.kind = CONSTANT_UNSUPPORTED, .text = "any"},
    {.kind = CONSTANT_UNSUPPORTED, .text = "list"},
    {.kind = CONSTANT_UNSUPPORTED, .text = "set"},
    {.kind = CONSTANT_NONE},
    {.kind = CONSTANT_STRING, .text = ""},
    {.kind = CONSTANT_BOOL, .type = TYPE_OF(BOOL), .integer = 1},
    {.kind = CONSTANT_BOOL, .type = TYPE_OF(BOOL), .integer = 0},
    {.kind = CONSTANT_INT, .is_python = true, .type = TYPE_OF(INT64), .integer = -1},
};

const Constant *common_constant(uint32_t number)
{
    return number < sizeof common_constants / sizeof *common_constants ? &common_constants[number] : NULL;
}

int bytecode_effect(Bytecode op, int32_t n)
{
    switch (op) {
#define BYTECODE(ID, EFFECT, WORDS) \
    case BYTECODE_##ID: return EFFECT;
#include "frontend/bytecode/bytecode.def"
#undef BYTECODE
    case BYTECODE_COUNT: break;
    }
    return 0;
}

/* What raw_bytecode.def says, as constants that the tables' rows are made of. */
enum {
#define RAW(NAME, RULE, CANONICAL, EXTRA) \
    RULE_OF_##NAME = RULE_##RULE, CANONICAL_OF_##NAME = BYTECODE_##CANONICAL, EXTRA_OF_##NAME = EXTRA,
#define REFUSED(NAME) RAW(NAME, BARE, UNSUPPORTED, 0)
#include "frontend/bytecode/raw_bytecode.def"
#undef REFUSED
#undef RAW
};

#define ROW(NUMBER, NAME, CACHES, RULE, CANONICAL, EXTRA) \
    [NUMBER] = {.name = #NAME, .rule = RULE, .canonical = CANONICAL, .caches = CACHES, .extra = EXTRA},
#define CACHED(NUMBER, NAME, CACHES) \
    ROW(NUMBER, NAME, CACHES, (RawRule)RULE_OF_##NAME, (Bytecode)CANONICAL_OF_##NAME, EXTRA_OF_##NAME)
#define OPCODE(NUMBER, NAME) CACHED(NUMBER, NAME, 0)
#define EXCEPTION(NUMBER, NAME, CACHES, RULE, CANONICAL, EXTRA) \
    ROW(NUMBER, NAME, CACHES, RULE_##RULE, BYTECODE_##CANONICAL, EXTRA)

/* One for each minor version, from FIRST_MINOR on. */
static const RawInfo tables[][256] = {
    {
#include "frontend/bytecode/bytecode_py311.def"
    },
    {
#include "frontend/bytecode/bytecode_py312.def"
    },
    {
#include "frontend/bytecode/bytecode_py313.def"
    },
    {
#include "frontend/bytecode/bytecode_py314.def"
    },
    {
#include "frontend/bytecode/bytecode_py315.def"
    },
};

const RawInfo *raw_bytecode_table(int python_minor)
{
    int index = python_minor - FIRST_MINOR;
    return index >= 0 && index < (int)(sizeof tables / sizeof *tables) ? tables[index] : NULL;
}
