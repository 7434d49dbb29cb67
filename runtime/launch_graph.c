/* Recording. Each stream has a tail: the nodes that its next one depends on. The default stream comes behind all others and
 * they behind it, as when work is done at once. Marks of events are tails, too.
 *
 *     a[..., s](x); b[..., t](y); e.record(s); t.wait_event(e); c[..., t](x, y)
 *
 * gives nodes a, b and c, of which c depends on a and b. Nodes that depend on each other have one level in common: the body
 * of a condition begins with nothing before it, and the condition itself has the dependencies. */
#include "runtime/launch_graph.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "core/base/memory.h"
#include "runtime/backend.h"

enum { ASK_NANOSECONDS = 50000000 };

_Thread_local RtGraph *graph_recorded;
_Atomic uint32_t rt_recording_threads;

static void record(RtGraph *graph)
{
    atomic_fetch_add(&rt_recording_threads, 1);
    graph_recorded = graph;
}

static void stop_recording(void)
{
    graph_recorded = NULL;
    atomic_fetch_sub(&rt_recording_threads, 1);
}

bool graph_refuse(const char *what, const char *remedy, Diag *diag)
{
    return diag_fail(diag, NULL, DIAG_CAPTURE, what, remedy);
}

/* --- lists that grow --------------------------------------------------------------------------------------------------- */
static bool grow(void **items, size_t count, size_t *capacity, size_t size, Diag *diag)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity ? 2 * *capacity : 16;
    void *made = memory_new(larger * size, diag);
    if (!made)
        return false;
    if (count)
        memcpy(made, *items, count * size);
    memory_free(*items);
    *items = made;
    *capacity = larger;
    return true;
}

/* NULL with a diagnostic. */
static GraphNode *add_node(RtGraph *graph, GraphNodeKind kind, const GraphNodes *after, Diag *diag)
{
    if (!grow((void **)&graph->nodes, graph->count, &graph->capacity, sizeof *graph->nodes, diag))
        return NULL;
    GraphNode *node = &graph->nodes[graph->count++];
    *node = (GraphNode){.kind = kind, .after = *after, .end = (uint32_t)graph->count};
    return node;
}

/* --- tails ------------------------------------------------------------------------------------------------------------- */
/* 1 is the default stream by another name. */
static bool is_default(uint64_t stream) { return stream <= 1; }

static GraphTail *find_tail(const GraphLevel *level, uint64_t stream)
{
    for (size_t i = 0; i < level->count; i++)
        if (level->tails[i].stream == stream)
            return &level->tails[i];
    return NULL;
}

static bool has_node(const GraphNodes *nodes, uint32_t number)
{
    for (uint32_t i = 0; i < nodes->count; i++)
        if (nodes->items[i] == number)
            return true;
    return false;
}

/* More than a node can depend on become one that does nothing. */
static bool merge(RtGraph *graph, GraphNodes *into, const GraphNodes *others, Diag *diag)
{
    for (uint32_t i = 0; i < others->count; i++) {
        if (has_node(into, others->items[i]))
            continue;
        if (into->count == GRAPH_MOST_DEPENDENCIES) {
            if (!add_node(graph, GRAPH_JOIN, into, diag))
                return false;
            *into = (GraphNodes){1, {(uint32_t)graph->count - 1}};
        }
        into->items[into->count++] = others->items[i];
    }
    return true;
}

/* What work in the stream depends on. */
static bool read_tail(RtGraph *graph, uint64_t stream, GraphNodes *nodes, Diag *diag)
{
    const GraphLevel *level = &graph->levels[graph->depth];
    const GraphTail *tail = find_tail(level, stream);
    if (!is_default(stream)) {
        *nodes = tail ? tail->nodes : level->base;
        return true;
    }
    *nodes = level->count ? (GraphNodes){0} : level->base;
    for (size_t i = 0; i < level->count; i++)
        if (!merge(graph, nodes, &level->tails[i].nodes, diag))
            return false;
    return true;
}

static bool set_tail(RtGraph *graph, uint64_t stream, const GraphNodes *nodes, Diag *diag)
{
    GraphLevel *level = &graph->levels[graph->depth];
    GraphTail *tail = find_tail(level, stream);
    if (is_default(stream)) {
        level->count = 0;
        level->base = *nodes;
        return true;
    }
    if (!tail) {
        if (!grow((void **)&level->tails, level->count, &level->capacity, sizeof *level->tails, diag))
            return false;
        tail = &level->tails[level->count++];
    }
    *tail = (GraphTail){stream, *nodes};
    return true;
}

static bool is_of(const RtGraph *graph, const RtDevice *device, Diag *diag)
{
    return graph->device == device ||
           graph_refuse("work on another device", "record a graph for each device, and order them by events", diag);
}

/* A node in the stream's order. NULL with a diagnostic. */
static GraphNode *add_in_stream(RtGraph *graph, GraphNodeKind kind, const RtStream *stream, Diag *diag)
{
    GraphNodes after;
    uint64_t handle = stream_handle_or_default(stream);
    if (graph->replaced >= 0) {
        graph_refuse("anything but the launch", "update() is for arguments of kernels", diag);
        return NULL;
    }
    if (!read_tail(graph, handle, &after, diag) || !add_node(graph, kind, &after, diag))
        return NULL;
    GraphNodes own = {1, {(uint32_t)graph->count - 1}};
    return set_tail(graph, handle, &own, diag) ? &graph->nodes[graph->count - 1] : NULL;
}

/* --- nodes ------------------------------------------------------------------------------------------------------------- */
static bool fill_launch(GraphNode *node, RtKernel *kernel, const RtLaunch *launch, Diag *diag)
{
    void *parameters = memory_new(launch->parameters_size + 1, diag);
    if (!parameters)
        return false;
    if (launch->parameters_size)
        memcpy(parameters, launch->parameters, launch->parameters_size);
    memory_free(node->launch.parameters);
    node->kernel = kernel;
    node->launch = *launch;
    node->launch.parameters = parameters;
    node->launch.stream = NULL;
    node->launch.interrupted = NULL;
    return true;
}

/* For this thread. A launch on the CPU device lasts as long as its work; handlers of signals may run in the middle. */
static bool lock_graph(RtGraph *graph, bool (*interrupted)(void), Diag *diag)
{
    int error = pthread_mutex_trylock(&graph->lock);
    while (error == EBUSY || (error == ETIMEDOUT && !(interrupted && interrupted()))) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += (until.tv_nsec + ASK_NANOSECONDS) / 1000000000;
        until.tv_nsec = (until.tv_nsec + ASK_NANOSECONDS) % 1000000000;
        error = pthread_mutex_timedlock(&graph->lock, &until);
    }
    if (error == EDEADLK)
        return diag_fail(diag, NULL, DIAG_GRAPH,
                         "a handler of a signal that interrupts a graph's launch can neither launch, update nor "
                         "close it");
    return !error || diag_fail(diag, NULL, DIAG_INTERRUPTED, "the wait for another thread's launch of a graph");
}

/* Without its lock where it fails. */
static bool is_open_locked(RtGraph *graph, Diag *diag)
{
    if (!graph->is_closed)
        return true;
    pthread_mutex_unlock(&graph->lock);
    return diag_fail(diag, NULL, DIAG_GRAPH, "the graph has been closed");
}

static bool lock_open_graph(RtGraph *graph, bool (*interrupted)(void), Diag *diag)
{
    return lock_graph(graph, interrupted, diag) && is_open_locked(graph, diag);
}

/* The same, where that needs no wait or `busy` is NULL. */
static bool lock_unless_busy(RtGraph *graph, bool (*interrupted)(void), bool *busy, Diag *diag)
{
    if (!busy)
        return lock_open_graph(graph, interrupted, diag);
    *busy = pthread_mutex_trylock(&graph->lock) != 0;
    return !*busy && is_open_locked(graph, diag);
}

/* By the thread that has the lock. */
static bool replace_launch(RtGraph *graph, RtKernel *kernel, const RtLaunch *launch, Diag *diag)
{
    GraphNode *node = &graph->nodes[graph->replaced];
    return fill_launch(node, kernel, launch, diag) && graph->device->backend->graph_replace(graph, node, diag);
}

bool graph_add_launch(RtGraph *graph, RtKernel *kernel, const RtLaunch *launch, Diag *diag)
{
    const RtDevice *device = kernel->device;
    if (!is_of(graph, device, diag) || !launch_check(&device->limits, &kernel->limits, kernel->name, launch, diag))
        return false;
    if (graph->replaced >= 0)
        return replace_launch(graph, kernel, launch, diag);
    GraphNode *node = add_in_stream(graph, GRAPH_LAUNCH, launch->stream, diag);
    return node && fill_launch(node, kernel, launch, diag);
}

bool graph_add_copy(RtGraph *graph, GraphNodeKind kind, RtDevice *device, RtPointer to, RtPointer from, void *host,
                    size_t size, RtStream *stream, Diag *diag)
{
    GraphNode *node = is_of(graph, device, diag) ? add_in_stream(graph, kind, stream, diag) : NULL;
    if (!node)
        return false;
    node->to = to;
    node->from = from;
    node->host = host;
    node->size = size;
    return true;
}

bool graph_add_fill(RtGraph *graph, RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream,
                    Diag *diag)
{
    if (!graph_add_copy(graph, GRAPH_FILL, device, to, 0, NULL, size, stream, diag))
        return false;
    graph->nodes[graph->count - 1].byte = byte;
    return true;
}

bool graph_add_mark(RtGraph *graph, RtEvent *event, const RtStream *stream, Diag *diag)
{
    if (!is_of(graph, event->device, diag) ||
        !read_tail(graph, stream_handle_or_default(stream), &event->recorded.nodes, diag))
        return false;
    event->recorded.graph = graph->number;
    event->recorded.condition = graph->levels[graph->depth].condition;
    return true;
}

bool graph_add_wait(RtGraph *graph, const RtEvent *event, const RtStream *stream, Diag *diag)
{
    GraphNodes nodes;
    uint64_t handle = stream_handle_or_default(stream);
    if (event->recorded.graph != graph->number || event->recorded.condition != graph->levels[graph->depth].condition)
        return graph_refuse("waiting for an event that was recorded outside of it",
                            "record the event inside of the same `with`, or wait before the graph is launched", diag);
    return read_tail(graph, handle, &nodes, diag) && merge(graph, &nodes, &event->recorded.nodes, diag) &&
           set_tail(graph, handle, &nodes, diag);
}

/* --- the graph --------------------------------------------------------------------------------------------------------- */
static void make_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

RtGraph *rt_graph_create(RtDevice *device, void *owner, Diag *diag)
{
    static _Atomic uint64_t last_number;
    RtGraph *graph = memory_new(sizeof *graph, diag);
    if (!graph)
        return NULL;
    graph->device = device;
    graph->owner = owner;
    graph->number = ++last_number;
    graph->replaced = -1;
    graph->levels[0].condition = UINT32_MAX;
    make_lock(&graph->lock);
    return graph;
}

bool rt_graph_close(RtGraph *graph, bool (*interrupted)(void), Diag *diag)
{
    if (!lock_graph(graph, interrupted, diag))
        return false;
    if (!graph->is_closed)
        graph->device->backend->graph_destroy(graph);
    graph->is_closed = true;
    pthread_mutex_unlock(&graph->lock);
    return true;
}

void rt_graph_destroy(RtGraph *graph)
{
    if (!graph)
        return;
    if (!graph->is_closed)
        graph->device->backend->graph_destroy(graph);
    for (size_t i = 0; i < graph->count; i++)
        memory_free(graph->nodes[i].launch.parameters);
    for (int i = 0; i < GRAPH_DEEPEST; i++)
        memory_free(graph->levels[i].tails);
    pthread_mutex_destroy(&graph->lock);
    memory_free(graph->nodes);
    memory_free(graph);
}

bool rt_graph_begin(RtGraph *graph, Diag *diag)
{
    if (graph_recorded)
        return graph_refuse("another capture", "leave the one before it begins", diag);
    if (graph->count || graph->is_done)
        return diag_fail(diag, NULL, DIAG_GRAPH,
                         "the graph has been recorded already; a new one is made by cuda.graph()");
    record(graph);
    return true;
}

void rt_graph_leave(RtGraph *graph)
{
    if (graph_recorded == graph)
        stop_recording();
}

bool rt_graph_end(RtGraph *graph, Diag *diag)
{
    rt_graph_leave(graph);
    if (graph->depth)
        return diag_fail(diag, NULL, DIAG_GRAPH, "a body is still open at the end of the capture");
    graph->is_done = graph->device->backend->graph_make(graph, diag);
    return graph->is_done;
}

RtGraph *rt_graph_of_thread(void) { return graph_recorded; }
void *rt_graph_owner(const RtGraph *graph) { return graph->owner; }
size_t rt_graph_size(const RtGraph *graph) { return graph->count; }
void rt_graph_lend_memory(RtGraph *graph, bool lends) { graph->lends_memory = lends; }

bool rt_graph_begin_body(RtGraph *graph, bool repeats, RtPointer flag, size_t size, RtStream *stream, Diag *diag)
{
    if (graph_recorded != graph)
        return diag_fail(diag, NULL, DIAG_GRAPH, "a body is recorded inside of its graph's `with`, in the same thread");
    if (graph->depth + 1 == GRAPH_DEEPEST)
        return diag_fail(diag, NULL, DIAG_GRAPH, "bodies are nested too deeply: seven in each other is the most");
    GraphNode *node = add_in_stream(graph, repeats ? GRAPH_WHILE : GRAPH_IF, stream, diag);
    if (!node)
        return false;
    node->from = flag;
    node->size = size;
    GraphLevel *level = &graph->levels[++graph->depth];
    level->condition = (uint32_t)graph->count - 1;
    level->base.count = 0;
    level->count = 0;
    return true;
}

bool rt_graph_end_body(RtGraph *graph, Diag *diag)
{
    if (!graph->depth)
        return diag_fail(diag, NULL, DIAG_GRAPH, "no body is open");
    graph->nodes[graph->levels[graph->depth--].condition].end = (uint32_t)graph->count;
    return true;
}

bool rt_graph_begin_replacing(RtGraph *graph, size_t node, bool (*interrupted)(void), bool *busy, Diag *diag)
{
    if (graph_recorded)
        return graph_refuse("update()", "a graph is updated before or after", diag);
    if (!graph->is_done || node >= graph->count || graph->nodes[node].kind != GRAPH_LAUNCH)
        return diag_fail(diag, NULL, DIAG_GRAPH, "there is no such launch in the graph");
    if (!lock_unless_busy(graph, interrupted, busy, diag))
        return false;
    graph->replaced = (int64_t)node;
    record(graph);
    return true;
}

void rt_graph_end_replacing(RtGraph *graph)
{
    graph->replaced = -1;
    rt_graph_leave(graph);
    pthread_mutex_unlock(&graph->lock);
}

bool rt_graph_launch(RtGraph *graph, RtStream *stream, bool (*interrupted)(void), bool *busy, Diag *diag)
{
    if (graph_recorded)
        return graph_refuse("the launch of a graph", "record the work itself, or launch the graph afterwards", diag);
    if (!graph->is_done)
        return diag_fail(diag, NULL, DIAG_GRAPH, "the graph has not been recorded to its end");
    if (!exceptions_check_stream(&graph->device->exceptions, stream, diag))
        return false;
    if (!lock_unless_busy(graph, interrupted, busy, diag))
        return false;
    bool ok = graph->device->backend->graph_launch(graph, stream, interrupted, diag);
    pthread_mutex_unlock(&graph->lock);
    return ok;
}
