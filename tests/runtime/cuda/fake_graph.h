/* A part of fake_driver.c: graphs, each a text, in which a body's stands in braces. */
#ifndef CUJIT_TESTS_FAKE_GRAPH_H
#define CUJIT_TESTS_FAKE_GRAPH_H

typedef struct FakeGraph {
    char text[600];
    int count;
    struct FakeGraph *body[4];
    int bodies;
} FakeGraph;

typedef struct FakeNode {
    int number;
} FakeNode;

/* Of a graph: nodes go with it, and bodies. */
static struct FakeParts {
    FakeGraph graphs[64];
    FakeNode nodes[1024];
    int graph_count, node_count;
} parts;

CUresult act_cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    fake_state.alive++;
    FakeGraph *made = &parts.graphs[parts.graph_count++ % 64];
    *made = (FakeGraph){.count = 0};
    *graph = (CUgraph)made;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult add_fake_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                              const char *what)
{
    FakeGraph *into = (FakeGraph *)graph;
    size_t used = strlen(into->text);
    used += (size_t)snprintf(into->text + used, sizeof into->text - used, "%s%s", into->count ? "; " : "", what);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(into->text + used, sizeof into->text - used, "%s%d", i ? " " : "(",
                                 ((FakeNode *)after[i])->number);
    if (count)
        snprintf(into->text + used, sizeof into->text - used, ")");
    FakeNode *made = &parts.nodes[parts.node_count++ % 1024];
    made->number = into->count++;
    *node = (CUgraphNode)made;
    return CUDA_SUCCESS;
}

CUresult act_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                  const CUDA_KERNEL_NODE_PARAMS_v1 *what)
{
    return what->func ? add_fake_node(node, graph, after, count, what->kernelParams ? "set" : "kernel")
                      : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                  const CUDA_MEMCPY3D_v2 *what, CUcontext context)
{
    bool in = what->srcMemoryType == CU_MEMORYTYPE_HOST, out = what->dstMemoryType == CU_MEMORYTYPE_HOST;
    bool is_whole = (in ? !!what->srcHost : !!what->srcDevice) && (out ? !!what->dstHost : !!what->dstDevice) &&
                    what->Height == 1 && what->Depth == 1 && context;
    return is_whole ? add_fake_node(node, graph, after, count,
                                    in    ? "in"
                                    : out ? "out"
                                          : "copy")
                    : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                  const CUDA_MEMSET_NODE_PARAMS_v1 *what, CUcontext context)
{
    bool is_whole = what->dst && what->elementSize == 1 && what->height == 1 && context;
    return is_whole ? add_fake_node(node, graph, after, count, "fill") : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count)
{
    return add_fake_node(node, graph, after, count, "join");
}

CUresult act_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context,
                                            unsigned int value, unsigned int flags)
{
    *handle = 77;
    return graph && context && !value && !flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The body's text comes when the graph is made: its place is marked. */
CUresult act_cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, const CUgraphEdgeData *edges,
                            size_t count, CUgraphNodeParams *what)
{
    FakeGraph *into = (FakeGraph *)graph, *body = &parts.graphs[parts.graph_count++ % 64];
    bool is_if = what->conditional.type == CU_GRAPH_COND_TYPE_IF;
    if (what->type != CU_GRAPH_NODE_TYPE_CONDITIONAL || what->conditional.size != 1 || edges ||
        what->conditional.handle != 77)
        return CUDA_ERROR_INVALID_VALUE;
    *body = (FakeGraph){.count = 0};
    into->body[into->bodies] = body;
    what->conditional.phGraph_out = (CUgraph *)&into->body[into->bodies++];
    return add_fake_node(node, graph, after, count, is_if ? "if{}" : "while{}");
}

static void write_graph(const FakeGraph *graph, char **out)
{
    int body = 0;
    for (const char *c = graph->text; *c; c++) {
        *(*out)++ = *c;
        if (*c == '{')
            write_graph(graph->body[body++], out);
    }
    **out = 0;
}

CUresult act_cuGraphInstantiateWithFlags(CUgraphExec *made, CUgraph graph, unsigned long long flags)
{
    char *out = fake_state.graph;
    write_graph((FakeGraph *)graph, &out);
    fake_state.alive++;
    *made = (CUgraphExec)graph;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult act_cuGraphExecDestroy(CUgraphExec made)
{
    fake_state.alive--;
    return made ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult act_cuGraphDestroy(CUgraph graph)
{
    fake_state.alive--;
    return graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

#endif
