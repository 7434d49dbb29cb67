/* Graphs, and what they keep alive. */
#ifndef CUJIT_EXT_GRAPH_OBJECT_H
#define CUJIT_EXT_GRAPH_OBJECT_H

#include "ext/state.h"

/* Where this thread records a graph, keeps the object for as long as that. */
bool ext_graph_keep(PyObject *object);
/* The same for a launch that has just been recorded, which the graph may repeat with other arguments. */
bool ext_graph_keep_recorded(RtGraph *graph, PyObject *launcher, PyObject *const *args, Py_ssize_t count);
static inline bool ext_graph_keep_launch(PyObject *launcher, PyObject *const *args, Py_ssize_t count)
{
    RtGraph *graph = rt_graph_recorded();
    return !graph || ext_graph_keep_recorded(graph, launcher, args, count);
}

#endif
