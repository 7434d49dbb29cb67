/* Intrinsics as Python's values. */
#ifndef CUJIT_EXT_INTRINSIC_LOOKUP_H
#define CUJIT_EXT_INTRINSIC_LOOKUP_H

#include "ext/snapshot/library_function.h"
#include "ext/state.h"

typedef struct ExtIntrinsic {
    PyObject_HEAD ExtState *state;
    PyObject *path;
    int number; /* library_function.h; INTRINSIC_NONE: only a prefix of others */
} ExtIntrinsic;

/* What the paths of cujit's own intrinsics begin with. */
#define EXT_PACKAGE_PREFIX "cuda."

/* Calls visit for every spelling of every row and library function until one is false, and returns that. */
bool ext_each_intrinsic_path(void *user, bool (*visit)(void *user, const char *path, size_t length, int number));
/* The number (library_function.h) of what an object of builtins, math, numpy, ... is, or INTRINSIC_NONE; -1 with an exception. */
int ext_intrinsic_of_object(ExtState *state, PyObject *object);
/* The Intrinsic below `path` called `name`; NULL without an exception where there is none. New reference. */
PyObject *ext_intrinsic_child(ExtState *state, PyObject *path, PyObject *name);
/* The same by text. */
PyObject *ext_intrinsic_at(ExtState *state, const char *path, const char *name);

#endif
