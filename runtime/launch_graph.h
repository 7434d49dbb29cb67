/* Work that is recorded in place of being done, as nodes that depend on each other, to be done again and again. Both
 * devices record in the same way; a GPU makes a CUDA graph of the nodes, the CPU device does them one after the other. */
#ifndef CUJIT_RUNTIME_LAUNCH_GRAPH_H
#define CUJIT_RUNTIME_LAUNCH_GRAPH_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/runtime.h"

enum { GRAPH_MOST_DEPENDENCIES = 16, GRAPH_DEEPEST = 8 };

/* Nodes by their numbers, of one level: the graph's own, or those of one body. */
typedef struct GraphNodes {
    uint32_t count, items[GRAPH_MOST_DEPENDENCIES];
} GraphNodes;

typedef enum GraphNodeKind {
    GRAPH_LAUNCH,
    GRAPH_TO_DEVICE,
    GRAPH_TO_HOST,
    GRAPH_ON_DEVICE,
    GRAPH_FILL,
    GRAPH_JOIN, /* does nothing */
    GRAPH_IF,
    GRAPH_WHILE,
} GraphNodeKind;

typedef struct GraphNode {
    GraphNodeKind kind;
    GraphNodes after;
    uint32_t end;      /* of a condition: its body are the nodes between it and this one; else the next node */
    RtKernel *kernel;
    RtLaunch launch;   /* its parameters are the node's; its stream is none */
    RtPointer to, from;
    void *host;
    size_t size;       /* of a condition: bytes of the flag, which is at `from` */
    uint8_t byte;
    void *made;        /* by the device: CUgraphNode */
} GraphNode;

/* What comes next in a stream depends on these. */
typedef struct GraphTail {
    uint64_t stream;
    GraphNodes nodes;
} GraphTail;

typedef struct GraphLevel {
    uint32_t condition; /* the node whose body it is */
    GraphNodes base;    /* for streams without a tail of their own */
    GraphTail *tails;
    size_t count, capacity;
} GraphLevel;

struct RtGraph {
    RtDevice *device;
    void *owner;
    uint64_t number; /* no other graph of the process has it */
    GraphNode *nodes;
    size_t count, capacity;
    GraphLevel levels[GRAPH_DEEPEST];
    uint32_t depth;          /* levels[depth] is the one that is recorded */
    int64_t replaced;        /* the node that the next launch takes the place of; -1: none */
    bool is_done, is_closed, lends_memory;
    bool may_run;            /* the device's: it has been launched */
    pthread_mutex_t lock;    /* of launches, replacements and the end; knows its owner */
    struct RtGraph *outer;   /* what the thread recorded before */
    void *made[3];           /* by the device */
};

/* What the thread records; NULL: nothing. */
extern _Thread_local RtGraph *graph_recorded;
/* Each records one node. False with a diagnostic. */
bool graph_add_launch(RtGraph *graph, RtKernel *kernel, const RtLaunch *launch, Diag *diag);
bool graph_add_copy(RtGraph *graph, GraphNodeKind kind, RtDevice *device, RtPointer to, RtPointer from, void *host,
                    size_t size, RtStream *stream, Diag *diag);
bool graph_add_fill(RtGraph *graph, RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream,
                    Diag *diag);
bool graph_add_mark(RtGraph *graph, RtEvent *event, const RtStream *stream, Diag *diag);
bool graph_add_wait(RtGraph *graph, const RtEvent *event, const RtStream *stream, Diag *diag);
/* DIAG_CAPTURE: `what` is nothing that can be recorded. */
bool graph_refuse(const char *what, const char *remedy, Diag *diag);

#endif
