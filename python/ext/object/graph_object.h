/* Graphs, and what they keep alive. */
#ifndef CUJIT_EXT_GRAPH_OBJECT_H
#define CUJIT_EXT_GRAPH_OBJECT_H

#include "ext/state.h"

/* Where this thread records a graph, keeps the object for as long as that. */
bool ext_graph_keep(PyObject *object);
/* The same for a launch that has just been recorded, which the graph may repeat with other arguments. used: what it uses besides. */
bool ext_graph_keep_launch(PyObject *launcher, PyObject *const *args, Py_ssize_t count, PyObject *used);

#endif
