/* Types of kernel values as Python's values. */
#ifndef CUJIT_EXT_TYPE_VALUE_H
#define CUJIT_EXT_TYPE_VALUE_H

#include "ext/state.h"

typedef struct ExtType {
    PyObject_HEAD ExtState *state;
    const Type *type;
    Arena *arena; /* NULL for singletons */
} ExtType;

/* A Type object of a type that lies in this arena, which it owns from then on; NULL: of a static one. New reference. */
PyObject *ext_make_type(ExtState *state, const Type *type, Arena *arena);
/* A Type object of what make() makes in an arena, which it owns. New reference. */
PyObject *ext_make_own_type(ExtState *state, const Type *(*make)(Arena *arena, const void *data), const void *data);
/* The Type object of a type, copied where it is no singleton. New reference. */
PyObject *ext_type_object(ExtState *state, const Type *type);
/* Whether a class or function is of an installed numba. False with an exception where that could not be found out. */
bool ext_is_numbas(PyObject *object);
/* Calls a function of cujit._numba.foreign_types. New reference. */
PyObject *ext_call_foreign(const char *function, PyObject *argument);
/* Borrowed from a Type object, or from a dict where the object is a type of an installed numba's. NULL when it is neither,
 * with an exception only where it is a type that kernels have not. */
const Type *ext_type_of_object(ExtState *state, PyObject *object);
/* Likewise, with TypeError for anything else. */
const Type *ext_type_borrowed(ExtState *state, PyObject *object);

#endif
