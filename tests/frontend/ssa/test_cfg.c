/* Basic blocks, order, dominators, loops; and bytes that no compiler made. */
#include <stdlib.h>

#include "bytecode/bytecode_sample.h"
#include "check.h"
#include "frontend/ssa/cfg.h"
#include "frontend_tests.h"

typedef struct Step {
    Bytecode op;
    uint32_t target;
} Step;

static void check_cfg(const Step *steps, uint32_t count, const char *expected)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    CodeSnapshot code = {.source = {.file = "f.py", .name = "f"}};
    Instructions instructions = {.count = count, .items = ARENA_ARRAY(arena, Instruction, count)};
    for (uint32_t i = 0; i < count; i++)
        instructions.items[i] = (Instruction){.op = steps[i].op, .target = steps[i].target};
    Buf buf = {0};
    Cfg *cfg = cfg_build(&code, &instructions, arena, &diag);
    if (cfg)
        cfg_print(&buf, cfg, &instructions);
    else
        buf_add(&buf, diag.message);
    CHECK_TEXT(buf_text(&buf), expected);
    buf_free(&buf);
    arena_destroy(arena);
}

#define CHECK_CFG(expected, ...) \
    check_cfg((const Step[]){__VA_ARGS__}, sizeof((const Step[]){__VA_ARGS__}) / sizeof(Step), expected)
#define S(op, ...) {BYTECODE_##op, __VA_ARGS__}

void test_cfg(void)
{
    CHECK_CFG("block 0: 0-1\n", S(POP, 0), S(RETURN, 0));
    CHECK_CFG("malformed bytecode in f: it runs off its end", S(POP, 0));
    CHECK_CFG("malformed bytecode in f: it runs off its end", S(JUMP_IF_TRUE, 1), S(POP, 0));
    /* Behind a return nothing is reached, not even what runs off the end. */
    CHECK_CFG("block 0: 0-0\n", S(RETURN, 0), S(POP, 0));
    CHECK_CFG("block 0: 0-0\n", S(RAISE, 0), S(JUMP, 0));
    CHECK_CFG("block 0: empty to 1\n"
              "block 1: 0-0 from 0, 1 to 1, dominator 0, loop header, depth 1\n",
              S(JUMP, 0));
    /* if without else */
    CHECK_CFG("block 0: 0-0 to 1, 2\n"
              "block 1: 1-1 from 0 to 2, dominator 0\n"
              "block 2: 2-2 from 0, 1, dominator 0\n",
              S(JUMP_IF_FALSE, 2), S(POP, 0), S(RETURN, 0));
    /* a branch whose ways meet at once counts as two edges */
    CHECK_CFG("block 0: 0-0 to 1, 1\n"
              "block 1: 1-1 from 0, 0, dominator 0\n",
              S(JUMP_IF_FALSE, 1), S(RETURN, 0));
    /* a loop in a loop */
    CHECK_CFG("block 0: 0-0 to 1\n"
              "block 1: 1-1 from 0, 4 to 2, 5, dominator 0, loop header, depth 1\n"
              "block 2: 2-2 from 1, 3 to 3, 4, dominator 1, loop header, depth 2\n"
              "block 3: 3-4 from 2 to 2, dominator 2, depth 2\n"
              "block 4: 5-5 from 2 to 1, dominator 2, depth 1\n"
              "block 5: 6-6 from 1, dominator 1\n",
              S(GET_ITER, 0), S(FOR_ITER, 6), S(FOR_ITER, 5), S(POP, 0), S(JUMP, 2), S(JUMP, 1), S(RETURN, 0));
    /* two ways into a cycle: no natural loop */
    CHECK_CFG("block 0: 0-0 to 3, 1\n"
              "block 1: 2-2 from 0, 3 to 2, 3, dominator 0\n"
              "block 2: 3-3 from 1, dominator 1\n"
              "block 3: 1-1 from 0, 1 to 1, dominator 0\n",
              S(JUMP_IF_FALSE, 2), S(POP, 0), S(JUMP_IF_FALSE, 1), S(RETURN, 0));
}

/* Decodes and, where that works, builds and prints everything. */
static void digest(const CodeSnapshot *code, Arena *arena)
{
    Diag diag = {0};
    Buf buf = {0};
    Instructions *instructions = decode(code, arena, &diag);
    Cfg *cfg = NULL;
    if (instructions) {
        decode_print(&buf, code, instructions);
        cfg = cfg_build(code, instructions, arena, &diag);
    }
    if (cfg) {
        cfg_print(&buf, cfg, instructions);
        bool ok = cfg->count > 0 && !cfg->blocks[0].predecessor_count;
        for (uint32_t i = 0; i < cfg->count; i++)
            ok &= cfg_dominates(cfg, 0, i) && cfg_dominates(cfg, cfg->blocks[i].dominator, i);
        CHECK(ok);
    } else
        CHECK(diag.id == DIAG_BYTECODE_BROKEN);
    buf_free(&buf);
}

static unsigned next_random(unsigned *state) { return (*state = *state * 1103515245u + 12345u) >> 8; }

void test_decode_damage(void)
{
    unsigned random = 7;
    for (int i = 0; i < 6000; i++) {
        Arena *arena = arena_create();
        int minor = SAMPLE_FIRST_MINOR + i % SAMPLE_VERSIONS;
        if (i % 2) {
            CodeSnapshot *code = sample_code((int)(next_random(&random) % (unsigned)sample_count), minor, arena);
            uint8_t *bytes = arena_copy(arena, code->bytes, code->size);
            for (int changes = 0; changes < 3; changes++)
                bytes[next_random(&random) % code->size] = (uint8_t)next_random(&random);
            code->bytes = bytes;
            code->size -= i % 5 ? 0 : next_random(&random) % code->size;
            digest(code, arena);
        } else {
            unsigned char bytes[64];
            for (size_t j = 0; j < sizeof bytes; j++)
                bytes[j] = (unsigned char)(j % 2 ? next_random(&random) % 8 : next_random(&random));
            CodeSnapshot *code = code_of_bytes(bytes, next_random(&random) % 64, minor, arena);
            code->exception_table = bytes;
            code->exception_table_size = 16;
            digest(code, arena);
        }
        arena_destroy(arena);
    }
}
