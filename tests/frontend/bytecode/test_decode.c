/* Decoding: the same canonical bytecode from every version, each rule, each row. */
#include <stdlib.h>

#include "bytecode_sample.h"
#include "check.h"
#include "frontend/ssa/cfg.h"
#include "frontend/bytecode/raw_bytecode.h"
#include "frontend_tests.h"

/* --- samples ------------------------------------------------------------------------------------------------------- */

enum { ARRANGEMENTS = 3 };

/* Where versions' compilers arrange the code in ways of their own: since 3.13 PUSH_NULL stands behind what is called; 3.11
 * takes short cuts through `and` and `or`; since 3.14 a loop has no second test that nothing reaches, dicts are built of
 * pairs, and annotations are made by a function. */
static int arrangement(const char *name, int minor)
{
    if (!strcmp(name, "chained"))
        return (minor > 11) + (minor > 13);
    if (!strcmp(name, "calls"))
        return minor > 12;
    if (!strcmp(name, "closure"))
        return (minor > 12) + (minor > 13);
    bool has_loop = !strcmp(name, "conditions") || !strcmp(name, "none_loop");
    return (has_loop || !strcmp(name, "statements")) && minor > 13;
}

static void decoded_text(Buf *out, const CodeSnapshot *code, Arena *arena)
{
    Diag diag = {0};
    Instructions *instructions = decode(code, arena, &diag);
    if (!CHECK(instructions)) {
        fprintf(stderr, "%s of 3.%d: %s\n", code->source.name, code->python_minor, diag.message);
        return;
    }
    CHECK(!instructions->has_try);
    decode_print(out, code, instructions);
    Cfg *cfg = cfg_build(code, instructions, arena, &diag);
    if (CHECK(cfg))
        cfg_print(out, cfg, instructions);
}

static void test_same_on_all_versions(void)
{
    for (int index = 0; index < sample_count; index++) {
        Buf expected[ARRANGEMENTS] = {0};
        for (int minor = SAMPLE_FIRST_MINOR; minor < SAMPLE_FIRST_MINOR + SAMPLE_VERSIONS; minor++) {
            Arena *arena = arena_create();
            Buf found = {0};
            CodeSnapshot *code = sample_code(index, minor, arena);
            decoded_text(&found, code, arena);
            Buf *same = &expected[arrangement(code->source.name, minor)];
            if (same->text && !CHECK_TEXT(buf_text(&found), buf_text(same)))
                fprintf(stderr, "3.%d differs\n", minor);
            buf_free(same);
            *same = found;
            arena_destroy(arena);
        }
        for (int i = 0; i < ARRANGEMENTS; i++)
            buf_free(&expected[i]);
    }
}

/* Every line of the code is come to; nothing but `pass` is there more than without lines. */
static void check_lines(CodeSnapshot *code, Arena *arena)
{
    enum { UNITS_ON_A_LINE = 5 };
    Diag diag = {0};
    SourcePos *positions = ARENA_ARRAY(arena, SourcePos, code->size / 2);
    for (uint32_t i = 0; i < code->size / 2; i++)
        positions[i].line = positions[i].end_line = (int)(i / UNITS_ON_A_LINE) + 7;
    code->positions = positions;
    const Instructions *plain = decode(code, arena, &diag), *list = decode_with_lines(code, arena, &diag);
    bool *come_to = list ? ARENA_ARRAY(arena, bool, list->line_count + 1) : NULL;
    uint32_t more = 0;
    if (!CHECK(plain && list && !plain->lines && list->line_count))
        return;
    for (uint32_t i = 0; i < list->count; i++) {
        const Instruction *item = &list->items[i];
        more += item->op == BYTECODE_NOTHING;
        if (!item->line || !CHECK(item->line <= list->line_count))
            continue;
        CHECK(list->lines[item->line - 1] == item->pos.line);
        come_to[item->line] = true;
    }
    for (uint32_t line = 1; line <= list->line_count; line++)
        CHECK(come_to[line]);
    CHECK(list->count == plain->count + more);
}

static void test_lines(void)
{
    for (int index = 0; index < sample_count; index++)
        for (int minor = SAMPLE_FIRST_MINOR; minor < SAMPLE_FIRST_MINOR + SAMPLE_VERSIONS; minor++) {
            Arena *arena = arena_create();
            check_lines(sample_code(index, minor, arena), arena);
            arena_destroy(arena);
        }
}

static void test_saxpy(void)
{
    Arena *arena = arena_create();
    Buf buf = {0};
    decoded_text(&buf, sample_code(0, 12, arena), arena);
    buf.text[strcspn(buf.text, "\n")] = '\0';
    CHECK_TEXT(buf.text, "bytecode of saxpy, samples.py:10");
    CHECK_TEXT(buf.text + strlen(buf.text) + 1, "           0  LOAD_GLOBAL          cuda\n"
                                                "           1  LOAD_METHOD          grid\n"
                                                "           2  LOAD_CONST           1\n"
                                                "           3  CALL                 1\n"
                                                "           4  STORE_LOCAL          i\n"
                                                "           5  LOAD_LOCAL           i\n"
                                                "           6  LOAD_LOCAL           x\n"
                                                "           7  LOAD_ATTRIBUTE       shape\n"
                                                "           8  LOAD_CONST           0\n"
                                                "           9  SUBSCRIPT            0\n"
                                                "          10  COMPARE              <\n"
                                                "          11  JUMP_IF_FALSE        to 26\n"
                                                "          12  LOAD_LOCAL           a\n"
                                                "          13  LOAD_LOCAL           x\n"
                                                "          14  LOAD_LOCAL           i\n"
                                                "          15  SUBSCRIPT            0\n"
                                                "          16  BINARY               *\n"
                                                "          17  LOAD_LOCAL           y\n"
                                                "          18  LOAD_LOCAL           i\n"
                                                "          19  SUBSCRIPT            0\n"
                                                "          20  BINARY               +\n"
                                                "          21  LOAD_LOCAL           out\n"
                                                "          22  LOAD_LOCAL           i\n"
                                                "          23  STORE_SUBSCRIPT      0\n"
                                                "          24  LOAD_CONST           None\n"
                                                "          25  RETURN               0\n"
                                                "          26  LOAD_CONST           None\n"
                                                "          27  RETURN               0\n"
                                                "block 0: 0-11 to 1, 2\n"
                                                "block 1: 12-25 from 0, dominator 0\n"
                                                "block 2: 26-27 from 0, dominator 0\n");
    buf_free(&buf);
    arena_destroy(arena);
}

/* --- rules --------------------------------------------------------------------------------------------------------- */

static int opcode(int minor, const char *name)
{
    const RawInfo *table = raw_bytecode_table(minor);
    for (int i = 0; i < 256; i++)
        if (table[i].name && !strcmp(table[i].name, name))
            return i;
    fprintf(stderr, "3.%d has no %s\n", minor, name);
    abort();
}

/* Code from "NAME argument NAME argument ...", with caches. */
static CodeSnapshot *assemble(const char *text, int minor, Arena *arena)
{
    unsigned char bytes[512] = {0};
    size_t size = 0;
    char name[64];
    unsigned argument;
    int read;
    for (; sscanf(text, "%63s %u%n", name, &argument, &read) == 2; text += read) {
        int number = opcode(minor, name);
        bytes[size++] = (unsigned char)number;
        bytes[size++] = (unsigned char)argument;
        size += 2 * (size_t)raw_bytecode_table(minor)[number].caches;
    }
    return code_of_bytes(bytes, size, minor, arena);
}

/* `expected`: "NAME argument, ..." with targets for jumps; else a part of the message. */
static void check_rule(int minor, const char *text, const char *expected)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    Buf found = {0};
    Instructions *instructions = decode(assemble(text, minor, arena), arena, &diag);
    for (uint32_t i = 0; instructions && i < instructions->count; i++) {
        const Instruction *instruction = &instructions->items[i];
        buf_printf(&found, "%s%s %d", i ? ", " : "", bytecode_info[instruction->op].name,
                   bytecode_jumps(instruction->op) ? (int)instruction->target : instruction->argument);
    }
    if (instructions)
        CHECK_TEXT(buf_text(&found), expected);
    else if (CHECK(diag.id == DIAG_BYTECODE_BROKEN) && !CHECK(strstr(diag.message, expected)))
        fprintf(stderr, "3.%d, %s: found '%s', expected '%s'\n", minor, text, diag.message, expected);
    buf_free(&found);
    arena_destroy(arena);
}

static void test_rules_of_all(void)
{
    for (int minor = SAMPLE_FIRST_MINOR; minor < SAMPLE_FIRST_MINOR + SAMPLE_VERSIONS; minor++) {
        check_rule(minor, "RESUME 0 NOP 0 LOAD_FAST 3 RETURN_VALUE 0", "LOAD_LOCAL 3, RETURN 0");
        check_rule(minor, "LOAD_GLOBAL 5 LOAD_GLOBAL 4", "PUSH_NULL 0, LOAD_GLOBAL 2, LOAD_GLOBAL 2");
        check_rule(minor, "EXTENDED_ARG 1 BUILD_TUPLE 2", "BUILD_TUPLE 258");
        check_rule(minor, "EXTENDED_ARG 1 EXTENDED_ARG 0 EXTENDED_ARG 0 BUILD_TUPLE 2", "BUILD_TUPLE 16777218");
        check_rule(minor, "LOAD_DEREF 1 STORE_DEREF 2 DELETE_FAST 0 DELETE_DEREF 1",
                   "LOAD_LOCAL 1, STORE_LOCAL 2, DELETE_LOCAL 0, DELETE_LOCAL 1");
        check_rule(minor, "JUMP_FORWARD 1 NOP 0 RETURN_VALUE 0", "JUMP 1, RETURN 0");
        check_rule(minor, "RETURN_VALUE 0 EXTENDED_ARG 0 JUMP_FORWARD 0 JUMP_FORWARD 0 RETURN_VALUE 0",
                   "RETURN 0, JUMP 3, JUMP 3, RETURN 0");
        check_rule(minor, "LOAD_BUILD_CLASS 0 IMPORT_NAME 1", "UNSUPPORTED 0, UNSUPPORTED 0");
        check_rule(minor, "LOAD_CONST 4", "LOAD_CONST with argument 4");
        check_rule(minor, "LOAD_FAST 4", "LOAD_FAST with argument 4");
        check_rule(minor, "STORE_ATTR 4", "STORE_ATTR with argument 4");
        check_rule(minor, "LOAD_GLOBAL 8", "LOAD_GLOBAL with argument 4");
        check_rule(minor, "BINARY_OP 27", "BINARY_OP with argument 27");
        check_rule(minor, "IS_OP 2", "IS_OP with argument 2");
        check_rule(minor, "SWAP 1", "SWAP with argument 1");
        check_rule(minor, "COPY 0", "COPY with argument 0");
        check_rule(minor, "BUILD_SLICE 1", "BUILD_SLICE with argument 1");
        check_rule(minor, "RAISE_VARARGS 3", "RAISE_VARARGS with argument 3");
        check_rule(minor, "EXTENDED_ARG 255 EXTENDED_ARG 255 EXTENDED_ARG 255 BUILD_TUPLE 2",
                   "with argument 4294967042");
        check_rule(minor, "EXTENDED_ARG 1 EXTENDED_ARG 1 EXTENDED_ARG 1 EXTENDED_ARG 1 BUILD_TUPLE 2",
                   "EXTENDED_ARG without an instruction");
        check_rule(minor, "LOAD_CONST 0 EXTENDED_ARG 1", "EXTENDED_ARG without an instruction");
        check_rule(minor, "JUMP_FORWARD 9 RETURN_VALUE 0", "JUMP_FORWARD out of the code");
        check_rule(minor, "JUMP_BACKWARD 9 RETURN_VALUE 0", "JUMP_BACKWARD out of the code");
        check_rule(minor, "JUMP_FORWARD 2 LOAD_GLOBAL 0 RETURN_VALUE 0", "into the middle of an instruction");
        check_rule(minor, "JUMP_FORWARD 1 EXTENDED_ARG 1 BUILD_TUPLE 1", "into the middle of an instruction");
        check_rule(minor, "JUMP_FORWARD 1 RETURN_VALUE 0 NOP 0", "to the end of the code");
    }
}

static void test_rules_of_some(void)
{
    check_rule(11, "LOAD_METHOD 1 PRECALL 0 CALL 0", "LOAD_METHOD 1, CALL 0");
    check_rule(11, "KW_NAMES 2 PRECALL 1 CALL 1 CALL 0", "LOAD_CONST 2, CALL_KEYWORDS 1, CALL 0");
    check_rule(12, "KW_NAMES 2 CALL 1 CALL 0", "LOAD_CONST 2, CALL_KEYWORDS 1, CALL 0");
    check_rule(12, "KW_NAMES 2 LOAD_CONST 0 CALL 1", "LOAD_CONST between keyword names and their call");
    check_rule(13, "CALL_KW 2 CALL 1", "CALL_KEYWORDS 2, CALL 1");
    check_rule(11, "LOAD_ATTR 3 COMPARE_OP 5", "LOAD_ATTRIBUTE 3, COMPARE 5");
    check_rule(12, "LOAD_ATTR 6 LOAD_ATTR 7 COMPARE_OP 92", "LOAD_ATTRIBUTE 3, LOAD_METHOD 3, COMPARE 5");
    check_rule(13, "LOAD_ATTR 6 LOAD_ATTR 7 COMPARE_OP 188", "LOAD_ATTRIBUTE 3, LOAD_METHOD 3, COMPARE 5");
    check_rule(11, "COMPARE_OP 6", "COMPARE_OP with argument 6");
    check_rule(13, "COMPARE_OP 255", "COMPARE_OP with argument 7");
    check_rule(11, "MAKE_FUNCTION 15",
               "MAKE_FUNCTION 0, SET_FUNCTION 8, SET_FUNCTION 4, SET_FUNCTION 2, SET_FUNCTION 1");
    check_rule(12, "MAKE_FUNCTION 5", "MAKE_FUNCTION 0, SET_FUNCTION 4, SET_FUNCTION 1");
    check_rule(12, "MAKE_FUNCTION 16", "MAKE_FUNCTION with argument 16");
    check_rule(13, "MAKE_FUNCTION 0 SET_FUNCTION_ATTRIBUTE 8", "MAKE_FUNCTION 0, SET_FUNCTION 8");
    check_rule(13, "SET_FUNCTION_ATTRIBUTE 3", "SET_FUNCTION_ATTRIBUTE with argument 3");
    check_rule(12, "RETURN_CONST 3", "LOAD_CONST 3, RETURN 0");
    check_rule(12, "BINARY_SLICE 0 STORE_SLICE 0", "BUILD_SLICE 2, SUBSCRIPT 0, BUILD_SLICE 2, STORE_SUBSCRIPT 0");
    check_rule(13, "LOAD_FAST_LOAD_FAST 18 STORE_FAST_LOAD_FAST 35 STORE_FAST_STORE_FAST 1",
               "LOAD_LOCAL 1, LOAD_LOCAL 2, STORE_LOCAL 2, LOAD_LOCAL 3, STORE_LOCAL 0, STORE_LOCAL 1");
    check_rule(13, "LOAD_FAST_LOAD_FAST 79", "LOAD_FAST_LOAD_FAST with argument 4");
    check_rule(12, "LOAD_FAST_AND_CLEAR 1 LOAD_FAST_CHECK 2 LOAD_CLOSURE 0",
               "LOAD_LOCAL_CLEAR 1, LOAD_LOCAL 2, LOAD_LOCAL 0");
    check_rule(12, "CALL_INTRINSIC_1 5 CALL_INTRINSIC_1 6 CALL_INTRINSIC_1 3",
               "POSITIVE 0, LIST_TO_TUPLE 0, UNSUPPORTED 0");
    check_rule(11, "UNARY_POSITIVE 0 LIST_TO_TUPLE 0", "POSITIVE 0, LIST_TO_TUPLE 0");
    check_rule(11, "FORMAT_VALUE 6", "FORMAT_VALUE 6");
    check_rule(13, "CONVERT_VALUE 2 LOAD_CONST 0 FORMAT_WITH_SPEC 0 FORMAT_SIMPLE 0",
               "LOAD_CONST 0, FORMAT_VALUE 6, FORMAT_VALUE 0");
    check_rule(13, "TO_BOOL 0 UNARY_NOT 0", "NOT 0");
    check_rule(13, "FOR_ITER 3 POP_TOP 0 JUMP_BACKWARD 5 END_FOR 0 POP_TOP 0 RETURN_VALUE 0",
               "FOR_ITER 3, POP 0, JUMP 0, RETURN 0");
    check_rule(12, "FOR_ITER 2 POP_TOP 0 JUMP_BACKWARD 4 END_FOR 0 RETURN_VALUE 0",
               "FOR_ITER 3, POP 0, JUMP 0, RETURN 0");
    check_rule(14, "LOAD_SMALL_INT 200 LOAD_COMMON_CONSTANT 0 BINARY_OP 26 NOT_TAKEN 0",
               "LOAD_CONST 0, LOAD_CONST 0, SUBSCRIPT 0");
    check_rule(15, "LOAD_COMMON_CONSTANT 12", "LOAD_COMMON_CONSTANT with argument 12");
    check_rule(14, "LOAD_COMMON_CONSTANT 4", "LOAD_COMMON_CONSTANT of any");
    check_rule(14, "LOAD_GLOBAL 0 COPY 1 LOAD_COMMON_CONSTANT 4 IS_OP 0 POP_JUMP_IF_FALSE 1 POP_TOP 0 RETURN_VALUE 0",
               "LOAD_GLOBAL 0, JUMP 3, POP 0, RETURN 0");
    check_rule(14, "PUSH_NULL 0 LOAD_CONST 0 PUSH_NULL 0 CALL_FUNCTION_EX 0",
               "PUSH_NULL 0, LOAD_CONST 0, CALL_STARRED 0");
    check_rule(14, "BUILD_MAP 0 CALL_FUNCTION_EX 0", "BUILD_MAP 0, CALL_STARRED 1");
    check_rule(14, "LOAD_FAST_BORROW 1 GET_ITER 0 LIST_APPEND 2 POP_ITER 0",
               "LOAD_LOCAL 1, GET_ITER 0, LIST_APPEND 2, POP 0");
    /* [list, iterator, NULL, item]: the slot above the iterator goes, and what counts slots knows. */
    check_rule(15, "BUILD_LIST 0 LOAD_FAST 1 GET_ITER 0 LOAD_FAST 2 COPY 3 LIST_APPEND 4 SWAP 3 POP_TOP 0 POP_TOP 0",
               "BUILD_LIST 0, LOAD_LOCAL 1, GET_ITER 0, LOAD_LOCAL 2, COPY 2, LIST_APPEND 3, SWAP 2, POP 0");
    check_rule(15, "LOAD_FAST 1 GET_ITER 0 FOR_ITER 3 POP_TOP 0 JUMP_BACKWARD 5 END_FOR 0 POP_ITER 0 RETURN_VALUE 0",
               "LOAD_LOCAL 1, GET_ITER 0, FOR_ITER 5, POP 0, JUMP 2, RETURN 0");
    check_rule(11, "FOR_ITER 2 POP_TOP 0 JUMP_BACKWARD 3 RETURN_VALUE 0", "FOR_ITER 3, POP 0, JUMP 0, RETURN 0");
    check_rule(11, "JUMP_IF_FALSE_OR_POP 1 NOP 0 RETURN_VALUE 0", "COPY 1, JUMP_IF_FALSE 3, POP 0, RETURN 0");
    check_rule(11, "JUMP_IF_TRUE_OR_POP 0 RETURN_VALUE 0", "COPY 1, JUMP_IF_TRUE 3, POP 0, RETURN 0");
    check_rule(11, "POP_TOP 0 POP_JUMP_BACKWARD_IF_TRUE 2 RETURN_VALUE 0", "POP 0, JUMP_IF_FALSE 3, JUMP 0, RETURN 0");
    check_rule(11, "POP_TOP 0 POP_JUMP_BACKWARD_IF_NONE 2 RETURN_VALUE 0",
               "POP 0, JUMP_IF_NOT_NONE 3, JUMP 0, RETURN 0");
    check_rule(11, "POP_TOP 0 POP_JUMP_BACKWARD_IF_TRUE 2", "out of the code");
    check_rule(12, "POP_JUMP_IF_NONE 0 POP_JUMP_IF_NOT_NONE 0 RETURN_VALUE 0",
               "JUMP_IF_NONE 1, JUMP_IF_NOT_NONE 2, RETURN 0");
}

/* Every row of every table gives its canonical bytecode or a diagnostic. */
static void test_rows(void)
{
    for (int minor = SAMPLE_FIRST_MINOR; minor < SAMPLE_FIRST_MINOR + SAMPLE_VERSIONS; minor++)
        for (int number = 0; number < 256; number++) {
            Arena *arena = arena_create();
            Diag diag = {0};
            const RawInfo *info = &raw_bytecode_table(minor)[number];
            unsigned char bytes[40] = {(unsigned char)number, 1};
            Instructions *instructions =
                decode(code_of_bytes(bytes, 2 + 2 * (size_t)info->caches, minor, arena), arena, &diag);
            CHECK(instructions || diag.id == DIAG_BYTECODE_BROKEN);
            if (!info->name)
                CHECK(!instructions && strstr(diag.message, "unknown opcode"));
            if (instructions && info->rule == RULE_BARE)
                CHECK(instructions->count == 1 && instructions->items[0].op == info->canonical &&
                      !instructions->items[0].argument && !strcmp(instructions->items[0].raw_name, info->name));
            if (info->caches) {
                diag_clear(&diag);
                CHECK(!decode(code_of_bytes(bytes, 2 * (size_t)info->caches, minor, arena), arena, &diag));
                CHECK_CONTAINS(diag.message, "is cut off");
            }
            arena_destroy(arena);
        }
}

/* The exception table: a try statement's handler begins with PUSH_EXC_INFO, a comprehension's does not. */
static void test_try(void)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    static const uint8_t table[] = {0x80 | 1, 1, 4, 0}, broken_table[] = {0x80 | 1, 1};
    static const char *const texts[] = {"NOP 0 POP_TOP 0 NOP 0 RETURN_VALUE 0 PUSH_EXC_INFO 0 RERAISE 0",
                                        "NOP 0 POP_TOP 0 NOP 0 RETURN_VALUE 0 SWAP 2 RERAISE 0"};
    for (int i = 0; i < 2; i++) {
        CodeSnapshot *code = assemble(texts[i], 12, arena);
        SourcePos *positions = ARENA_ARRAY(arena, SourcePos, 6);
        for (int unit = 0; unit < 6; unit++)
            positions[unit].line = 10 + unit;
        code->positions = positions;
        code->exception_table = table;
        code->exception_table_size = sizeof table;
        Instructions *instructions = decode(code, arena, &diag);
        CHECK(instructions && instructions->has_try == (i == 0));
        CHECK(i || instructions->try_pos.line == 10);
        CHECK(instructions->items[0].pos.line == 11);
        code->exception_table = broken_table;
        code->exception_table_size = sizeof broken_table;
        instructions = decode(code, arena, &diag);
        CHECK(instructions && !instructions->has_try);
    }
    arena_destroy(arena);
}

static void test_odd_code(void)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    CodeSnapshot *code = assemble("RETURN_VALUE 0", 12, arena);
    code->python_minor = 10;
    CHECK(!decode(code, arena, &diag) && diag.id == DIAG_UNSUPPORTED_PYTHON);
    CHECK_TEXT(diag.message, "bytecode of Python 3.10 is not supported");
    for (uint32_t size = 0; size < 4; size++) {
        diag_clear(&diag);
        Instructions *instructions =
            decode(code_of_bytes((const uint8_t[]){36, 0, 36, 0}, size, 13, arena), arena, &diag);
        CHECK(size == 2 ? instructions != NULL : !instructions && diag.id == DIAG_BYTECODE_BROKEN);
    }
    arena_destroy(arena);
}

void test_decode(void)
{
    test_same_on_all_versions();
    test_lines();
    test_saxpy();
    test_rules_of_all();
    test_rules_of_some();
    test_rows();
    test_try();
    test_odd_code();
}
