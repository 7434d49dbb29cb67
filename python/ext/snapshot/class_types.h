/* Types that classes of the program stand for: class_types.c named tuples and dataclasses, enum_types.c enums. */
#ifndef CUJIT_EXT_CLASS_TYPES_H
#define CUJIT_EXT_CLASS_TYPES_H

#include "ext/state.h"

/* In a guard: the type of what a class of named tuples or dataclasses makes, with items of none. NULL without an exception
 * for any other class. */
const Type *ext_class_type(ExtState *state, PyObject *class, Arena *arena);
/* The field names of such a class as a tuple. New reference; NULL without an exception for any other class. */
PyObject *ext_class_fields(PyObject *class);
/* Whether calling the class does more than filling the fields in order. */
bool ext_class_has_own_constructor(PyObject *class);
/* A dict of field names and their defaults. New reference; NULL with an exception. */
PyObject *ext_class_defaults(PyObject *class);

/* In a guard: the type of a member of an enum: of none where its value is no number. NULL without an exception for anything
 * else. */
const Type *ext_enum_type(ExtState *state, PyObject *value, Arena *arena);
/* In a guard: the type of an enum's members whatever they are: of the number that most of them have, or of none. */
const Type *ext_enum_class_type(ExtState *state, PyObject *class, Arena *arena);

#endif
