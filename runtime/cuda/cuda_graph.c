/* CUDA graphs of recorded nodes. The driver's nodes are made once, when the recording ends; a launch that is replaced later
 * changes its node in the graph that is there.
 *
 * A condition is a node with a graph of its own for the body. The driver does what a handle says, and only kernels set a
 * handle. So a kernel of one thread reads the flag and sets it: before the condition, and at the end of a body that is to
 * run again. It calls a function that drivers with conditions (12.3) have for kernels, as they have printf. */
#include <string.h>

#include "core/base/memory.h"
#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"
#include "runtime/cuda/cuda_kernel.h"

static const char condition_ptx[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    ".visible .entry set_condition(.param .u64 handle, .param .u64 flag, .param .u64 size)\n"
    "{\n"
    "    .reg .b64 %handle, %flag, %end, %any;\n"
    "    .reg .b32 %value;\n"
    "    .reg .b16 %byte;\n"
    "    .reg .pred %p;\n"
    "    ld.param.u64 %handle, [handle];\n"
    "    ld.param.u64 %flag, [flag];\n"
    "    ld.param.u64 %end, [size];\n"
    "    cvta.to.global.u64 %flag, %flag;\n"
    "    add.u64 %end, %end, %flag;\n"
    "    mov.u32 %value, 0;\n"
    "next:\n"
    "    ld.volatile.global.u8 %byte, [%flag];\n"
    "    setp.ne.u16 %p, %byte, 0;\n"
    "    @%p mov.u32 %value, 1;\n"
    "    add.u64 %flag, %flag, 1;\n"
    "    setp.lt.u64 %p, %flag, %end;\n"
    "    @%p bra next;\n"
    "    {\n"
    "        .param .b64 first;\n"
    "        .param .b32 second;\n"
    "        st.param.b64 [first], %handle;\n"
    "        st.param.b32 [second], %value;\n"
    "        call.uni cudaGraphSetConditional, (first, second);\n"
    "    }\n"
    "    ret;\n"
    "}\n";

/* What RtGraph.made has. */
enum { MADE_GRAPH, MADE_EXEC, MADE_MODULE };

typedef struct Making {
    RtGraph *graph;
    CUcontext context;
    Diag *diag;
} Making;

static CUgraphNode handle_of(const GraphNode *node) { return (CUgraphNode)node->made; }

/* The driver's nodes before one. */
static size_t read_dependencies(const Making *making, const GraphNodes *nodes, CUgraphNode out[GRAPH_MOST_DEPENDENCIES])
{
    for (uint32_t i = 0; i < nodes->count; i++)
        out[i] = handle_of(&making->graph->nodes[nodes->items[i]]);
    return nodes->count;
}

/* --- launches ----------------------------------------------------------------------------------------------------------- */
/* extra: of CU_LAUNCH_PARAM_END, which lives as long as the parameters are used. */
typedef struct KernelNode {
    CUDA_KERNEL_NODE_PARAMS_v1 what;
    size_t size;
    void *extra[5];
} KernelNode;

static void read_launch(GraphNode *node, KernelNode *out)
{
    const CudaKernel *kernel = (CudaKernel *)node->kernel;
    const RtLaunch *launch = &node->launch;
    *out = (KernelNode){
        .what = {kernel->function, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                 launch->block[1], launch->block[2], launch->dynamic_shared + kernel->reserved, NULL, NULL},
        .size = launch->parameters_size,
    };
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, launch->parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &out->size,
                     CU_LAUNCH_PARAM_END};
    memcpy(out->extra, extra, sizeof extra);
    if (!out->size)
        out->extra[0] = CU_LAUNCH_PARAM_END;
    out->what.extra = out->extra;
}

static bool set_attributes(const GraphNode *node, Diag *diag)
{
    const RtLaunch *launch = &node->launch;
    CUlaunchAttributeValue value = {{0}};
    value.cooperative = 1;
    if (launch->cooperative &&
        !driver_call(diag, cuGraphKernelNodeSetAttribute, handle_of(node), CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value))
        return false;
    if (!launch->cluster[0])
        return true;
    value = (CUlaunchAttributeValue){{0}};
    value.clusterDim.x = launch->cluster[0];
    value.clusterDim.y = launch->cluster[1] ? launch->cluster[1] : 1;
    value.clusterDim.z = launch->cluster[2] ? launch->cluster[2] : 1;
    return driver_call(diag, cuGraphKernelNodeSetAttribute, handle_of(node), CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                       &value);
}

static bool make_launch(const Making *making, CUgraph into, GraphNode *node, const CUgraphNode *after, size_t count)
{
    KernelNode kernel;
    CUgraphNode made = NULL;
    if (!cuda_allow_launch((CudaKernel *)node->kernel, &node->launch, making->diag))
        return false;
    read_launch(node, &kernel);
    bool ok = driver_call(making->diag, cuGraphAddKernelNode, &made, into, after, count, &kernel.what);
    node->made = made;
    return ok && set_attributes(node, making->diag);
}

/* --- copies ------------------------------------------------------------------------------------------------------------- */
static bool make_copy(const Making *making, CUgraph into, GraphNode *node, const CUgraphNode *after, size_t count)
{
    bool from_host = node->kind == GRAPH_TO_DEVICE, to_host = node->kind == GRAPH_TO_HOST;
    CUgraphNode made = NULL;
    CUDA_MEMCPY3D_v2 what = {
        .srcMemoryType = from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .srcHost = from_host ? node->host : NULL,
        .srcDevice = from_host ? 0 : node->from,
        .dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .dstHost = to_host ? node->host : NULL,
        .dstDevice = to_host ? 0 : node->to,
        .WidthInBytes = node->size,
        .Height = 1,
        .Depth = 1,
    };
    bool ok = driver_call(making->diag, cuGraphAddMemcpyNode, &made, into, after, count, &what, making->context);
    node->made = made;
    return ok;
}

static bool make_fill(const Making *making, CUgraph into, GraphNode *node, const CUgraphNode *after, size_t count)
{
    CUgraphNode made = NULL;
    CUDA_MEMSET_NODE_PARAMS_v1 what = {
        .dst = node->to, .value = node->byte, .elementSize = 1, .width = node->size, .height = 1};
    bool ok = driver_call(making->diag, cuGraphAddMemsetNode, &made, into, after, count, &what, making->context);
    node->made = made;
    return ok;
}

static bool make_join(const Making *making, CUgraph into, GraphNode *node, const CUgraphNode *after, size_t count)
{
    CUgraphNode made = NULL;
    bool ok = driver_call(making->diag, cuGraphAddEmptyNode, &made, into, after, count);
    node->made = made;
    return ok;
}

/* --- conditions --------------------------------------------------------------------------------------------------------- */
static bool find_setter(const Making *making, CUfunction *function)
{
    RtModule *module = making->graph->made[MADE_MODULE];
    if (!module)
        module = cuda_module_load(making->graph->device, condition_ptx, "set_condition", 0, making->diag);
    making->graph->made[MADE_MODULE] = module;
    return module && driver_call(making->diag, cuModuleGetFunction, function, (CUmodule)(uintptr_t)module->handle,
                                 "set_condition");
}

/* A node that sets the handle to what the flag says. */
static bool make_setter(const Making *making, CUgraph into, const GraphNode *node, CUgraphConditionalHandle handle,
                        const CUgraphNode *after, size_t count, CUgraphNode *made)
{
    CUfunction function;
    uint64_t flag = node->from, size = node->size;
    void *parameters[] = {&handle, &flag, &size};
    if (!find_setter(making, &function))
        return false;
    CUDA_KERNEL_NODE_PARAMS_v1 what = {function, 1, 1, 1, 1, 1, 1, 0, parameters, NULL};
    return driver_call(making->diag, cuGraphAddKernelNode, made, into, after, count, &what);
}

static bool make_nodes(const Making *making, CUgraph into, size_t first, size_t end);

/* What of a body nothing else of it depends on: the whole of it is done when they are. */
static size_t last_nodes(const Making *making, size_t first, size_t end, CUgraphNode *out)
{
    const GraphNode *nodes = making->graph->nodes;
    size_t count = 0;
    for (size_t i = first; i < end; i = nodes[i].end) {
        bool is_last = true;
        for (size_t k = i + 1; k < end && is_last; k++)
            for (uint32_t n = 0; n < nodes[k].after.count; n++)
                is_last &= nodes[k].after.items[n] != i;
        if (is_last)
            out[count++] = handle_of(&nodes[i]);
    }
    return count;
}

static bool repeat_body(const Making *making, CUgraph body, size_t number, CUgraphConditionalHandle handle)
{
    const GraphNode *node = &making->graph->nodes[number];
    CUgraphNode made, *last = memory_new((node->end - number) * sizeof *last, making->diag);
    if (!last)
        return false;
    size_t count = last_nodes(making, number + 1, node->end, last);
    bool ok = make_setter(making, body, node, handle, last, count, &made);
    memory_free(last);
    return ok;
}

static bool make_condition(const Making *making, CUgraph into, size_t number, const CUgraphNode *after, size_t count)
{
    GraphNode *node = &making->graph->nodes[number];
    CUgraphConditionalHandle handle;
    CUgraphNode setter = NULL, made = NULL;
    CUgraphNodeParams what = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    if (!driver_call(making->diag, cuGraphConditionalHandleCreate, &handle, into, making->context, 0, 0) ||
        !make_setter(making, into, node, handle, after, count, &setter))
        return false;
    what.conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
        .handle = handle,
        .type = node->kind == GRAPH_IF ? CU_GRAPH_COND_TYPE_IF : CU_GRAPH_COND_TYPE_WHILE,
        .size = 1,
        .ctx = making->context,
    };
    if (!driver_call(making->diag, cuGraphAddNode, &made, into, &setter, NULL, 1, &what))
        return false;
    node->made = made;
    CUgraph body = what.conditional.phGraph_out[0];
    return make_nodes(making, body, number + 1, node->end) &&
           (node->kind == GRAPH_IF || repeat_body(making, body, number, handle));
}

/* --- the graph ---------------------------------------------------------------------------------------------------------- */
static bool make_node(const Making *making, CUgraph into, size_t number)
{
    GraphNode *node = &making->graph->nodes[number];
    CUgraphNode after[GRAPH_MOST_DEPENDENCIES];
    size_t count = read_dependencies(making, &node->after, after);
    switch (node->kind) {
    case GRAPH_LAUNCH: return make_launch(making, into, node, after, count);
    case GRAPH_TO_DEVICE:
    case GRAPH_TO_HOST:
    case GRAPH_ON_DEVICE: return make_copy(making, into, node, after, count);
    case GRAPH_FILL: return make_fill(making, into, node, after, count);
    case GRAPH_JOIN: return make_join(making, into, node, after, count);
    case GRAPH_IF:
    case GRAPH_WHILE: return make_condition(making, into, number, after, count);
    }
    return false;
}

/* Recursion over bodies in each other, which are few (GRAPH_DEEPEST). */
static bool make_nodes(const Making *making, CUgraph into, size_t first, size_t end)
{
    for (size_t number = first; number < end; number = making->graph->nodes[number].end)
        if (!make_node(making, into, number))
            return false;
    return true;
}

bool cuda_graph_make(RtGraph *graph, Diag *diag)
{
    CudaScope scope;
    CUgraph made = NULL;
    CUgraphExec exec = NULL;
    Making making = {graph, ((CudaDevice *)graph->device)->context, diag};
    if (!cuda_enter_uncaptured(graph->device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuGraphCreate, &made, 0);
    graph->made[MADE_GRAPH] = made;
    ok = ok && make_nodes(&making, made, 0, graph->count) &&
         driver_call(diag, cuGraphInstantiateWithFlags, &exec, made, 0);
    graph->made[MADE_EXEC] = exec;
    return cuda_leave(&scope, ok);
}

bool cuda_graph_replace(RtGraph *graph, GraphNode *node, Diag *diag)
{
    CudaScope scope;
    KernelNode kernel;
    if (!cuda_enter(graph->device, &scope, diag))
        return false;
    bool ok = cuda_allow_launch((CudaKernel *)node->kernel, &node->launch, diag);
    read_launch(node, &kernel);
    ok = ok && driver_call(diag, cuGraphExecKernelNodeSetParams, (CUgraphExec)graph->made[MADE_EXEC], handle_of(node),
                           &kernel.what);
    return cuda_leave(&scope, ok);
}

bool cuda_graph_launch(RtGraph *graph, RtStream *stream, bool (*interrupted)(void), Diag *diag)
{
    CudaScope scope;
    (void)interrupted;
    if (!cuda_enter_stream(graph->device, stream, &scope, diag))
        return false;
    graph->may_run = true;
    return cuda_leave(&scope,
                      driver_call(diag, cuGraphLaunch, (CUgraphExec)graph->made[MADE_EXEC], cuda_stream_of(stream)));
}

/* What is under way ends first: the driver keeps the graph for that, but not its kernels' modules and memory. No capture of
 * another library survives the wait. */
void cuda_graph_destroy(RtGraph *graph)
{
    CudaScope scope;
    Diag ignored = {0};
    if (graph->made[MADE_GRAPH] && cuda_enter_uncaptured(graph->device, &scope, &ignored)) {
        if (graph->made[MADE_EXEC]) {
            if (graph->may_run)
                driver_call(&ignored, cuCtxSynchronize);
            driver_call(&ignored, cuGraphExecDestroy, (CUgraphExec)graph->made[MADE_EXEC]);
        }
        driver_call(&ignored, cuGraphDestroy, (CUgraph)graph->made[MADE_GRAPH]);
        cuda_leave(&scope, true);
    }
    if (graph->made[MADE_MODULE])
        cuda_module_unload(graph->made[MADE_MODULE]);
}
