/* Types that classes of the program stand for: class_types.c named tuples, dataclasses and declared classes, enum_types.c enums. */
#ifndef CUJIT_EXT_CLASS_TYPES_H
#define CUJIT_EXT_CLASS_TYPES_H

#include "ext/state.h"

/* A class whose fields the program has declared (cujit.extending.as_type). All borrowed. */
typedef struct ExtDeclaredClass {
    PyObject *class;
    PyObject *names; /* tuple of str */
    PyObject *types; /* tuple: a Type, or None where the value decides */
    PyObject *unpack; /* a function from a value to a tuple of its fields, or None: its attributes */
    bool makes; /* a call of the class in a kernel makes one of its fields */
} ExtDeclaredClass;
/* Whether a class, or a base of it, is declared, or the object is what such a declaration made. */
bool ext_declared_class(ExtState *state, PyObject *class, ExtDeclaredClass *declared);
/* The values of the fields of an instance of that class, as a tuple. New reference; NULL with an exception. */
PyObject *ext_declared_fields(const ExtDeclaredClass *declared, PyObject *value);

/* In a guard: the type of what a class of named tuples or dataclasses makes, with items of none but for fields of
 * declared types. NULL without an exception for any other class. */
const Type *ext_class_type(ExtState *state, PyObject *class, Arena *arena);
/* Whether it is a class of named tuples to which the program has given no methods, as types of those name no class. -1: an
 * exception. */
int ext_class_is_plain(ExtState *state, PyObject *class);
/* The field names of such a class as a tuple. New reference; NULL without an exception for any other class. */
PyObject *ext_class_fields(ExtState *state, PyObject *class);
/* Whether calling the class does more than filling the fields in order. */
bool ext_class_has_own_constructor(ExtState *state, PyObject *class);
/* A dict of field names and their defaults. New reference; NULL with an exception. */
PyObject *ext_class_defaults(ExtState *state, PyObject *class);

/* In a guard: the type of a member of an enum: of none where its value is no number. NULL without an exception for anything
 * else. */
const Type *ext_enum_type(ExtState *state, PyObject *value, Arena *arena);
/* In a guard: the type of an enum's members whatever they are: of the number that most of them have, or of none. */
const Type *ext_enum_class_type(ExtState *state, PyObject *class, Arena *arena);

#endif
