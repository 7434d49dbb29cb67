/* Directed graphs of numbered nodes: the order in which control can come to them, and which one every way to another
 * passes. What the nodes are, blocks or pieces of blocks or functions, is the caller's matter. Nothing here recurses, and
 * time and memory grow with the number of edges. */
#ifndef CUJIT_CORE_GRAPH_H
#define CUJIT_CORE_GRAPH_H

#include <stdbool.h>

#include "core/base/arena.h"

enum { GRAPH_NONE = UINT32_MAX };

typedef struct Graph {
    uint32_t node_count;
    const uint32_t *first; /* node_count + 1 places in `successors`: those of node n, from first[n] to first[n + 1] */
    const uint32_t *successors; /* in an order that the caller chooses; a node twice where two edges lead there */
} Graph;

/* The nodes that can be reached from one, each before its successors but for those that lead back. */
typedef struct GraphOrder {
    uint32_t count;
    uint32_t *nodes;            /* the root first */
    uint32_t *rank;             /* by node: its place in `nodes`; GRAPH_NONE: it cannot be reached */
} GraphOrder;

/* The same nodes with every edge turned around. The predecessors of a node come in the order of their numbers. */
Graph graph_reversed(const Graph *graph, Arena *arena);
/* Reverse postorder of a walk that takes a node's successors from the first to the last: of two that do not lead to each
 * other, the later one comes first. */
GraphOrder graph_order(const Graph *graph, uint32_t root, Arena *arena);
/* By node: its immediate dominator, the last other node that every way from the root passes; GRAPH_NONE for the root and
 * for nodes that cannot be reached. Those of the reversed graph, from an exit that all ends lead to, are postdominators. */
uint32_t *graph_dominators(const Graph *graph, uint32_t root, Arena *arena);

#endif
