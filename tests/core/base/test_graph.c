/* Order and dominators of graphs, also of long ones and of those that are no program's, against the definition. */
#include "check.h"
#include "core/base/graph.h"
#include "core_tests.h"

enum { MOST_NODES = 64 };

/* Edges as pairs "from to", as many as there are numbers. */
static Graph graph_of(Arena *arena, uint32_t nodes, const uint32_t (*edges)[2], uint32_t count)
{
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, nodes + 1), *successors = ARENA_ARRAY(arena, uint32_t, count + 1);
    uint32_t place = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        first[node] = place;
        for (uint32_t i = 0; i < count; i++)
            if (edges[i][0] == node)
                successors[place++] = edges[i][1];
    }
    first[nodes] = place;
    return (Graph){.node_count = nodes, .first = first, .successors = successors};
}

/* Whether `to` can be reached from the root without passing `without`. */
static bool reaches(const Graph *graph, uint32_t root, uint32_t to, uint32_t without)
{
    bool seen[MOST_NODES] = {0};
    uint32_t stack[MOST_NODES], depth = 0;
    if (root == without)
        return false;
    stack[depth++] = root;
    seen[root] = true;
    while (depth) {
        uint32_t node = stack[--depth];
        for (uint32_t edge = graph->first[node]; edge < graph->first[node + 1]; edge++) {
            uint32_t next = graph->successors[edge];
            if (next == without || seen[next])
                continue;
            seen[next] = true;
            stack[depth++] = next;
        }
    }
    return seen[to];
}

static bool is_above(const uint32_t *dominators, uint32_t a, uint32_t b)
{
    while (b != GRAPH_NONE && b != a)
        b = dominators[b];
    return b == a;
}

/* A dominates b when b cannot be reached without a; the tree must say the same of all pairs. */
static void check_dominators(const Graph *graph, Arena *arena)
{
    const uint32_t *dominators = graph_dominators(graph, 0, arena);
    bool ok = true;
    for (uint32_t b = 0; b < graph->node_count; b++) {
        bool is_reached = reaches(graph, 0, b, GRAPH_NONE);
        ok &= (dominators[b] == GRAPH_NONE) == (!is_reached || b == 0);
        for (uint32_t a = 0; a < graph->node_count && is_reached; a++)
            ok &= is_above(dominators, a, b) == (a == b || !reaches(graph, 0, b, a));
    }
    CHECK(ok);
}

static void test_small(void)
{
    Arena *arena = arena_create();
    /* 0 to 1 and 2, both to 3; 4 is not reached and leads to 3 */
    const uint32_t edges[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {4, 3}};
    Graph graph = graph_of(arena, 5, edges, 5);
    GraphOrder order = graph_order(&graph, 0, arena);
    CHECK(order.count == 4 && order.nodes[0] == 0 && order.nodes[1] == 2 && order.nodes[2] == 1 && order.nodes[3] == 3);
    CHECK(order.rank[1] == 2 && order.rank[4] == GRAPH_NONE);
    Graph back = graph_reversed(&graph, arena);
    CHECK(back.first[4] - back.first[3] == 3 && back.successors[back.first[3]] == 1 &&
          back.successors[back.first[3] + 2] == 4 && back.first[1] == back.first[0]);
    check_dominators(&graph, arena);
    /* a loop that is entered at two places: neither dominates the other */
    const uint32_t irreducible[][2] = {{0, 1}, {0, 2}, {1, 2}, {2, 1}, {2, 3}};
    graph = graph_of(arena, 4, irreducible, 5);
    const uint32_t *dominators = graph_dominators(&graph, 0, arena);
    CHECK(dominators[1] == 0 && dominators[2] == 0 && dominators[3] == 2);
    arena_destroy(arena);
}

static void test_random(void)
{
    uint32_t state = 1;
    for (int round = 0; round < 300; round++) {
        Arena *arena = arena_create();
        uint32_t nodes = 2 + round % 14, count = nodes + round % 9, edges[MOST_NODES][2];
        for (uint32_t i = 0; i < count; i++)
            for (int side = 0; side < 2; side++) {
                state = state * 1664525 + 1013904223;
                edges[i][side] = (state >> 16) % nodes;
            }
        Graph graph = graph_of(arena, nodes, edges, count);
        check_dominators(&graph, arena);
        arena_destroy(arena);
    }
}

/* A chain in which each node also leads to the end, and the last one back to every other. */
static void test_long(void)
{
    enum { NODES = 300000 };
    Arena *arena = arena_create();
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, NODES + 1), *successors = ARENA_ARRAY(arena, uint32_t, 3 * NODES);
    uint32_t place = 0;
    for (uint32_t node = 0; node < NODES; node++) {
        first[node] = place;
        for (uint32_t other = 1; node + 1 == NODES && other < NODES; other++)
            successors[place++] = other;
        if (node + 1 < NODES) {
            successors[place++] = node + 1;
            successors[place++] = NODES - 1;
        }
    }
    first[NODES] = place;
    Graph graph = {.node_count = NODES, .first = first, .successors = successors};
    GraphOrder order = graph_order(&graph, 0, arena);
    const uint32_t *dominators = graph_dominators(&graph, 0, arena);
    CHECK(order.count == NODES && order.nodes[1] == 1 && order.nodes[NODES - 1] == NODES - 1);
    CHECK(dominators[1] == 0 && dominators[2] == 0 && dominators[NODES - 1] == 0);
    arena_destroy(arena);
}

void test_graph(void)
{
    test_small();
    test_random();
    test_long();
}
