/* Reverse postorder by a walk with a stack of its own; dominators by semidominators (Lengauer and Tarjan's, with the
 * nearest common ancestor taken as in Georgiadis's Semi-NCA), so that neither long chains nor graphs that cannot be
 * reduced to loops cost more than their edges. */
#include "core/base/graph.h"

#include <assert.h>

Graph graph_reversed(const Graph *graph, Arena *arena)
{
    uint32_t count = graph->node_count, edges = graph->first[count];
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, count + 1), *from = ARENA_ARRAY(arena, uint32_t, edges);
    for (uint32_t edge = 0; edge < edges; edge++) {
        assert(graph->successors[edge] < count);
        first[graph->successors[edge] + 1]++;
    }
    for (uint32_t node = 0; node < count; node++)
        first[node + 1] += first[node];
    uint32_t *next = arena_copy(arena, first, count * sizeof *first);
    for (uint32_t node = 0; node < count; node++)
        for (uint32_t edge = graph->first[node]; edge < graph->first[node + 1]; edge++)
            from[next[graph->successors[edge]]++] = node;
    return (Graph){.node_count = count, .first = first, .successors = from};
}

/* --- a walk in depth ---------------------------------------------------------------------------------------------------- */

typedef struct Walk {
    uint32_t count; /* nodes that have been reached */
    uint32_t *preorder; /* in the order in which they were reached */
    uint32_t *number; /* by node: its place there; GRAPH_NONE: not reached */
    uint32_t *parent; /* by place in preorder: the place of the node from where it was reached */
    uint32_t *postorder; /* in the order in which they were left */
} Walk;

static void reach(Walk *walk, uint32_t node, uint32_t from)
{
    walk->parent[walk->count] = from;
    walk->number[node] = walk->count;
    walk->preorder[walk->count++] = node;
}

static Walk walk_from(const Graph *graph, uint32_t root, Arena *arena)
{
    uint32_t depth = 0, left = 0, nodes = graph->node_count;
    assert(root < nodes);
    Walk walk = {.preorder = ARENA_ARRAY(arena, uint32_t, nodes),
                 .number = ARENA_ARRAY(arena, uint32_t, nodes),
                 .parent = ARENA_ARRAY(arena, uint32_t, nodes),
                 .postorder = ARENA_ARRAY(arena, uint32_t, nodes)};
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, nodes), *next = ARENA_ARRAY(arena, uint32_t, nodes);
    for (uint32_t node = 0; node < nodes; node++) {
        walk.number[node] = GRAPH_NONE;
        next[node] = graph->first[node];
    }
    assert(graph->first[0] == 0 && graph->first[nodes] >= graph->first[nodes - 1]);
    reach(&walk, root, 0);
    stack[depth++] = root;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (next[node] == graph->first[node + 1]) {
            walk.postorder[left++] = node;
            depth--;
            continue;
        }
        uint32_t to = graph->successors[next[node]++];
        assert(to < nodes);
        if (walk.number[to] != GRAPH_NONE)
            continue;
        reach(&walk, to, walk.number[node]);
        stack[depth++] = to;
    }
    return walk;
}

GraphOrder graph_order(const Graph *graph, uint32_t root, Arena *arena)
{
    Walk walk = walk_from(graph, root, arena);
    GraphOrder order = {.count = walk.count, .nodes = ARENA_ARRAY(arena, uint32_t, walk.count), .rank = walk.number};
    for (uint32_t i = 0; i < walk.count; i++) {
        order.nodes[i] = walk.postorder[walk.count - 1 - i];
        order.rank[order.nodes[i]] = i;
    }
    return order;
}

/* --- dominators: by place in preorder ----------------------------------------------------------------------------------- */

typedef struct Dominance {
    uint32_t *semi; /* the first place from which a way leads here by later places only */
    uint32_t *ancestor; /* up the walk's tree; where the way has been shortened, further up */
    uint32_t *best; /* of the places that the shortened way skipped, and this: the one whose semi is first */
    uint32_t *stack;
} Dominance;

/* Of the place and its ancestors from `linked` on: the one whose semi is first. Shortens the way for the next time. */
static uint32_t best_above(Dominance *d, uint32_t place, uint32_t linked)
{
    uint32_t depth = 0, top = place;
    for (; top >= linked && d->ancestor[top] >= linked; top = d->ancestor[top])
        d->stack[depth++] = top;
    while (depth) {
        uint32_t below = d->stack[--depth];
        if (d->semi[d->best[top]] < d->semi[d->best[below]])
            d->best[below] = d->best[top];
        d->ancestor[below] = d->ancestor[top];
        top = below;
    }
    return d->best[place];
}

static void find_semidominators(Dominance *d, const Walk *walk, const Graph *reversed)
{
    for (uint32_t place = walk->count; place-- > 1;) {
        uint32_t node = walk->preorder[place];
        d->semi[place] = walk->parent[place];
        for (uint32_t edge = reversed->first[node]; edge < reversed->first[node + 1]; edge++) {
            uint32_t from = walk->number[reversed->successors[edge]];
            if (from == GRAPH_NONE)
                continue;
            uint32_t semi = d->semi[best_above(d, from, place + 1)];
            if (semi < d->semi[place])
                d->semi[place] = semi;
        }
        assert(d->semi[place] < place);
    }
}

uint32_t *graph_dominators(const Graph *graph, uint32_t root, Arena *arena)
{
    Walk walk = walk_from(graph, root, arena);
    Graph reversed = graph_reversed(graph, arena);
    Dominance d = {.semi = ARENA_ARRAY(arena, uint32_t, walk.count),
                   .ancestor = arena_copy(arena, walk.parent, walk.count * sizeof *walk.parent),
                   .best = ARENA_ARRAY(arena, uint32_t, walk.count),
                   .stack = ARENA_ARRAY(arena, uint32_t, walk.count)};
    uint32_t *dominators = ARENA_ARRAY(arena, uint32_t, graph->node_count), *above = walk.parent;
    for (uint32_t place = 0; place < walk.count; place++)
        d.semi[place] = d.best[place] = place;
    find_semidominators(&d, &walk, &reversed);
    for (uint32_t node = 0; node < graph->node_count; node++)
        dominators[node] = GRAPH_NONE;
    for (uint32_t place = 1; place < walk.count; place++) {
        while (above[place] > d.semi[place])
            above[place] = above[above[place]];
        assert(above[place] < place); /* dominators come earlier in the walk */
        dominators[walk.preorder[place]] = walk.preorder[above[place]];
    }
    return dominators;
}
