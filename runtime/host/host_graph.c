/* Graphs on the CPU device: the nodes one after the other, in the order in which they were recorded. */
#include <string.h>

#include "core/base/clock.h"
#include "runtime/host/host_backend.h"

enum { ASK_NANOSECONDS = 20000000 };

bool host_graph_make(RtGraph *graph, Diag *diag)
{
    (void)graph, (void)diag;
    return true;
}

bool host_graph_replace(RtGraph *graph, GraphNode *node, Diag *diag)
{
    (void)graph, (void)node, (void)diag;
    return true;
}

void host_graph_destroy(RtGraph *graph) { (void)graph; }

typedef struct GraphRun {
    RtGraph *graph;
    bool (*interrupted)(void);
    int64_t next_ask;
    Diag *diag;
} GraphRun;

/* A launch that lasts asks by itself; nodes that are brief, of which there may be many, do not. */
static bool goes_on(GraphRun *run)
{
    int64_t now = run->interrupted ? clock_recent_nanoseconds() : 0;
    if (now < run->next_ask || !run->interrupted)
        return true;
    run->next_ask = now + ASK_NANOSECONDS;
    return !run->interrupted() || diag_fail(run->diag, NULL, DIAG_INTERRUPTED, "a graph");
}

static bool is_set(const GraphNode *node)
{
    uint64_t flag = 0;
    memcpy(&flag, (const void *)(uintptr_t)node->from, node->size);
    return flag != 0;
}

static bool launch(GraphRun *run, GraphNode *node)
{
    node->launch.interrupted = run->interrupted;
    return host_launch(node->kernel, &node->launch, run->diag) &&
           exceptions_check_device(run->graph->device, run->diag);
}

static bool run_nodes(GraphRun *run, size_t first, size_t end);

static bool run_body(GraphRun *run, size_t number)
{
    const GraphNode *node = &run->graph->nodes[number];
    while (is_set(node)) {
        if (!run_nodes(run, number + 1, node->end))
            return false;
        if (node->kind == GRAPH_IF)
            return true;
        if (!goes_on(run)) /* the body may have no nodes */
            return false;
    }
    return true;
}

static bool run_node(GraphRun *run, size_t number)
{
    RtDevice *device = run->graph->device;
    GraphNode *node = &run->graph->nodes[number];
    switch (node->kind) {
    case GRAPH_LAUNCH: return launch(run, node);
    case GRAPH_TO_DEVICE: return host_copy_to_device(device, node->to, node->host, node->size, NULL, run->diag);
    case GRAPH_TO_HOST: return host_copy_to_host(device, node->host, node->from, node->size, NULL, run->diag);
    case GRAPH_ON_DEVICE: return host_copy_on_device(device, node->to, node->from, node->size, NULL, run->diag);
    case GRAPH_FILL: return host_fill(device, node->to, node->byte, node->size, NULL, run->diag);
    case GRAPH_JOIN: return true;
    case GRAPH_IF:
    case GRAPH_WHILE: return run_body(run, number);
    }
    return false;
}

/* Recursion over bodies in each other, which are few (GRAPH_DEEPEST). */
static bool run_nodes(GraphRun *run, size_t first, size_t end)
{
    for (size_t number = first; number < end; number = run->graph->nodes[number].end)
        if (!run_node(run, number) || !goes_on(run))
            return false;
    return true;
}

bool host_graph_launch(RtGraph *graph, RtStream *stream, bool (*interrupted)(void), Diag *diag)
{
    (void)stream;
    GraphRun run = {.graph = graph, .interrupted = interrupted, .diag = diag};
    run.next_ask = interrupted ? clock_recent_nanoseconds() + ASK_NANOSECONDS : 0;
    return run_nodes(&run, 0, graph->count);
}
