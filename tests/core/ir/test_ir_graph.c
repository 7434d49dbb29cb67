/* Order, dominators, postdominators, loops, and what can be said of a loop's values: of functions written as text. */
#include "check.h"
#include "core/ir/ir_graph.h"
#include "core_tests.h"

static Arena *arena;

static const IrGraph *graph_of_text(const char *text)
{
    Diag diag = {0};
    IrModule *module = ir_parse(text, arena, &diag);
    if (!CHECK(module) || !CHECK(ir_verify(module, &diag))) {
        fprintf(stderr, "%s\n", diag.message);
        return NULL;
    }
    return ir_graph(module->first, arena);
}

static const IrBlock *block_of(const IrGraph *graph, uint32_t id)
{
    const IrBlock *block = graph->function->first;
    while (block->id != id)
        block = block->next;
    return block;
}

static void add_value(Buf *out, const IrValue *value)
{
    if (value->op == IR_PARAM)
        buf_add(out, value->block->function->parameter_names[value->index]);
    else
        buf_printf(out, "%%%u", value->id);
}

static void add_number(Buf *out, const IrBlock *block)
{
    if (block)
        buf_printf(out, " %u", block->id);
    else
        buf_add(out, " -");
}

/* "order 0 1; dominators - 0; postdominators 1 -; loop 1 depth 1 in -: 1 2 from 2" */
static void check_graph(const char *text, const char *expected)
{
    arena = arena_create();
    const IrGraph *graph = graph_of_text(text);
    Buf out = {0};
    if (graph) {
        buf_add(&out, "order");
        for (uint32_t i = 0; i < graph->count; i++)
            add_number(&out, graph->order[i]);
        buf_add(&out, "; dominators");
        for (uint32_t id = 0; id < graph->function->block_count; id++)
            add_number(&out, graph->dominator[id]);
        buf_add(&out, "; postdominators");
        for (uint32_t id = 0; id < graph->function->block_count; id++)
            add_number(&out, graph->postdominator[id]);
        for (const IrLoop *loop = graph->loops; loop < graph->loops + graph->loop_count; loop++) {
            buf_printf(&out, "; loop %u depth %u in", loop->header->id, loop->depth);
            add_number(&out, loop->parent ? loop->parent->header : NULL);
            buf_add(&out, ":");
            for (uint32_t i = 0; i < loop->block_count; i++)
                add_number(&out, loop->blocks[i]);
            buf_add(&out, " from");
            for (uint32_t i = 0; i < loop->latch_count; i++)
                add_number(&out, loop->latches[i]);
        }
        CHECK_TEXT(buf_text(&out), expected);
    }
    buf_free(&out);
    arena_destroy(arena);
}

static void test_shapes(void)
{
    check_graph("kernel k(c: bool)\nblock 0:\n  branch c, block 1, block 2\nblock 1:\n  jump block 3\n"
                "block 2:\n  jump block 3\nblock 3:\n  return\nblock 4:\n  jump block 3\n",
                "order 0 2 1 3; dominators - 0 0 0 -; postdominators 3 3 3 - 3");
    /* ways that end in two places meet nowhere; one that ends nowhere has nothing behind it */
    check_graph("kernel k(c: bool)\nblock 0:\n  branch c, block 1, block 2\nblock 1:\n  return\n"
                "block 2:\n  branch c, block 3, block 4\nblock 3:\n  jump block 3\nblock 4:\n  trap\n",
                "order 0 2 4 3 1; dominators - 0 0 2 2; postdominators - - 4 - -; loop 3 depth 1 in -: 3 from 3");
    /* a loop in a loop, left from inside, with two ways back; both targets of block 5 are the same */
    check_graph("kernel k(c: bool)\nblock 0:\n  jump block 1\nblock 1:\n  branch c, block 2, block 6\n"
                "block 2:\n  branch c, block 3, block 5\nblock 3:\n  branch c, block 2, block 4\n"
                "block 4:\n  branch c, block 1, block 7\nblock 5:\n  branch c, block 1, block 1\nblock 6:\n  return\n"
                "block 7:\n  return\n",
                "order 0 1 6 2 5 3 4 7; dominators - 0 1 2 3 2 1 4; postdominators 1 - - - - 1 - -; "
                "loop 1 depth 1 in -: 1 2 5 3 4 from 4 5; loop 2 depth 2 in 1: 2 3 from 3");
    /* entered at two places: no loop */
    check_graph("kernel k(c: bool)\nblock 0:\n  branch c, block 1, block 2\nblock 1:\n  branch c, block 2, block 3\n"
                "block 2:\n  branch c, block 1, block 3\nblock 3:\n  return\n",
                "order 0 1 2 3; dominators - 0 0 0; postdominators 3 3 3 -");
}

static void test_questions_of_blocks(void)
{
    arena = arena_create();
    const IrGraph *graph =
        graph_of_text("kernel k(c: bool)\nblock 0:\n  jump block 1\nblock 1:\n  branch c, block 2, block 4\n"
                      "block 2:\n  branch c, block 2, block 3\nblock 3:\n  jump block 1\nblock 4:\n  return\n"
                      "block 5:\n  return\n");
    const IrBlock *blocks[6];
    for (uint32_t id = 0; graph && id < 6; id++)
        blocks[id] = block_of(graph, id);
    if (graph && CHECK(graph->loop_count == 2)) {
        CHECK(ir_dominates(graph, blocks[1], blocks[3]) && ir_dominates(graph, blocks[2], blocks[2]));
        CHECK(!ir_dominates(graph, blocks[3], blocks[4]) && !ir_dominates(graph, blocks[2], blocks[1]));
        CHECK(ir_dominates(graph, blocks[3], blocks[5]) && !ir_dominates(graph, blocks[5], blocks[1]));
        const IrLoop *outer = &graph->loops[0], *inner = &graph->loops[1];
        CHECK(graph->loop_of[2] == inner && graph->loop_of[3] == outer && !graph->loop_of[4] && !graph->loop_of[5]);
        CHECK(ir_loop_has(graph, outer, blocks[2]) && !ir_loop_has(graph, inner, blocks[3]) &&
              !ir_loop_has(graph, outer, blocks[0]) && !ir_loop_has(graph, NULL, blocks[0]));
    }
    arena_destroy(arena);
}

/* One line of a kernel's only block: r where it is repeatable, o a routine, e where it has an effect. */
static void check_value(const char *line, const char *expected)
{
    Buf text = {0};
    char found[4] = "";
    arena = arena_create();
    buf_printf(&text,
               "kernel k(x: f64[1 C], n: i64, f: f64, m: u32, b: bool)\nblock 0:\n  %s\n  return\n\n"
               "device d(n: i64)\nblock 0:\n  return\n",
               line);
    const IrGraph *graph = graph_of_text(buf_text(&text));
    const IrValue *value = graph ? graph->function->first->first : NULL;
    while (value && value->op == IR_PARAM)
        value = value->next;
    if (value) {
        snprintf(found, sizeof found, "%s%s%s", ir_is_repeatable(value) ? "r" : "", ir_is_routine(value) ? "o" : "",
                 ir_has_effect(value) ? "e" : "");
        if (!CHECK_TEXT(found, expected))
            fprintf(stderr, "%s\n", line);
    }
    buf_free(&text);
    arena_destroy(arena);
}

static void test_values(void)
{
    check_value("%0: i64 = add n, n", "r");
    check_value("%0: f64 = div f, f", "ro");
    check_value("%0: f64 = math.sin f", "ro");
    check_value("%0: i32 = cuda.threadIdx.x", "r");
    check_value("%0: i64 = extent x, 0", "r");
    check_value("%0: f64[1 C] = shared (4)", "r");
    check_value("%0: f64[1 C] = local (4)", "");
    check_value("%0: u8[0 C] = cell n", "");
    check_value("%0: f64 = load x[n]", "");
    check_value("store x[n], f", "e");
    check_value("%0: f64 = atomic add x[n], f", "e");
    check_value("%0: u32 = cuda.clock", "e");
    check_value("%0: bool = cuda.any_sync m, b", "e");
    check_value("call d(n)", "oe");
    check_value("print \"%s\", b", "e");
}

/* A loop of block 1, with what is in its header and its body, block 2. */
static void check_induction(const char *header, const char *body, const char *targets, const char *expected)
{
    Buf text = {0}, out = {0};
    IrInduction found;
    arena = arena_create();
    buf_printf(&text,
               "kernel k(x: f64[1 C], n: i64, s: i64, f: f64)\nblock 0:\n  %%0: i64 = const 0\n  %%1: i64 = const 1\n"
               "  jump block 1\nblock 1:\n%s  branch %%9, %s\nblock 2:\n%s  jump block 1\nblock 3:\n  return\n",
               header, targets, body);
    const IrGraph *graph = graph_of_text(buf_text(&text));
    if (graph && CHECK(graph->loop_count == 1)) {
        if (!ir_induction(graph, &graph->loops[0], &found)) {
            buf_add(&out, "no");
        } else {
            add_value(&out, found.variable);
            buf_add(&out, " from ");
            add_value(&out, found.start);
            buf_add(&out, " by ");
            add_value(&out, found.step);
            buf_printf(&out, " while %s ", ir_op_info[found.comparison].text);
            add_value(&out, found.bound);
            buf_printf(&out, ", exit %d", found.exit);
            CHECK(found.test == graph->loops[0].header->last->operands[0]);
        }
        CHECK_TEXT(buf_text(&out), expected);
    }
    buf_free(&text);
    buf_free(&out);
    arena_destroy(arena);
}

static void test_inductions(void)
{
    static const char counter[] = "  %2: i64 = phi block 0: %0, block 2: %3\n  %9: bool = lt %2, n\n";
    static const char inward[] = "block 2, block 3", outward[] = "block 3, block 2";
    check_induction(counter, "  %3: i64 = add %2, %1\n", inward, "%2 from %0 by %1 while lt n, exit 1");
    check_induction(counter, "  %3: i64 = add s, %2\n", inward, "%2 from %0 by s while lt n, exit 1");
    check_induction(counter, "  %3: i64 = add %2, %1\n", outward, "%2 from %0 by %1 while ge n, exit 0");
    /* the variable at the right; a bound and a step that are made anew in each trip, alike */
    check_induction("  %2: i64 = phi block 0: n, block 2: %3\n  %4: i64 = mul n, s\n  %9: bool = le %4, %2\n",
                    "  %5: i64 = neg s\n  %3: i64 = add %2, %5\n", inward, "%2 from n by %5 while ge %4, exit 1");
    check_induction("  %2: i64 = phi block 0: %0, block 2: %3\n  %9: bool = eq %2, n\n", "  %3: i64 = add %2, %1\n",
                    outward, "%2 from %0 by %1 while ne n, exit 0");
    /* goes on while equal; does not add; adds what changes; is compared with what changes; is no integer */
    check_induction("  %2: i64 = phi block 0: %0, block 2: %3\n  %9: bool = eq %2, n\n", "  %3: i64 = add %2, %1\n",
                    inward, "no");
    check_induction(counter, "  %3: i64 = mul %2, %1\n", inward, "no");
    check_induction(counter, "  %3: i64 = add %2, %2\n", inward, "no");
    check_induction("  %2: i64 = phi block 0: %0, block 2: %3\n  %4: i64 = add %2, n\n  %9: bool = lt %2, %4\n",
                    "  %3: i64 = add %2, %1\n", inward, "no");
    check_induction("  %2: f64 = phi block 0: f, block 2: %3\n  %9: bool = lt %2, f\n", "  %3: f64 = add %2, f\n",
                    inward, "no");
    /* no trip tests it */
    check_induction("  %2: i64 = phi block 0: %0, block 2: %3\n  %9: bool = lt n, s\n", "  %3: i64 = add %2, %1\n",
                    inward, "no");
}

/* One way in by two edges; a chain longer than anybody looks back. */
static void test_odd_loops(void)
{
    Buf text = {0};
    IrInduction found;
    arena = arena_create();
    const IrGraph *graph =
        graph_of_text("kernel k(n: i64, c: bool)\nblock 0:\n  %0: i64 = const 0\n  branch c, block 1, block 2\n"
                      "block 1:\n  jump block 3\nblock 2:\n  jump block 3\n"
                      "block 3:\n  %1: i64 = phi block 1: %0, block 2: %0, block 4: %2, block 5: %3\n"
                      "  %4: bool = lt %1, n\n  branch %4, block 6, block 7\nblock 4:\n  %2: i64 = add %1, n\n"
                      "  jump block 3\nblock 5:\n  %3: i64 = add %1, n\n  jump block 3\n"
                      "block 6:\n  branch c, block 4, block 5\nblock 7:\n  return\n");
    if (graph && CHECK(graph->loop_count == 1))
        CHECK(ir_induction(graph, graph->loops, &found) && found.start->op == IR_CONST && found.step->op == IR_PARAM);
    buf_add(&text, "kernel k(n: i64)\nblock 0:\n  jump block 1\nblock 1:\n");
    for (int i = 0; i < 100; i++)
        buf_printf(&text, i ? "  %%%d: i64 = neg %%%d\n" : "  %%%d: i64 = neg n\n", i, i - 1);
    buf_add(&text, "  %100: bool = lt %99, n\n  branch %100, block 1, block 2\nblock 2:\n  return\n");
    graph = graph_of_text(buf_text(&text));
    const IrValue *value = graph ? block_of(graph, 1)->first : NULL;
    for (int i = 0; value && i < 100; i++, value = value->next)
        if (i == 20 || i == 99)
            CHECK(ir_is_invariant(graph, graph->loops, value) == (i == 20));
    buf_free(&text);
    arena_destroy(arena);
}

void test_ir_graph(void)
{
    test_shapes();
    test_questions_of_blocks();
    test_values();
    test_inductions();
    test_odd_loops();
}
