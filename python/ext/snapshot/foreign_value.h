/* Code from elsewhere as Python's objects: what is linked, and functions declared of it. */
#ifndef CUJIT_EXT_FOREIGN_VALUE_H
#define CUJIT_EXT_FOREIGN_VALUE_H

#include "ext/state.h"

typedef struct ExtLinkItem {
    PyObject_HEAD PyObject *data; /* bytes */
    PyObject *name; /* str */
    PyObject *path; /* str or None */
    LinkKind kind;
    bool is_watched;
} ExtLinkItem;

typedef struct ExtForeignFunction {
    PyObject_HEAD PyObject *symbol; /* str */
    PyObject *result; /* Type */
    PyObject *parameters; /* tuple of Type */
    PyObject *by_pointer; /* tuple of bool, as long */
    PyObject *links; /* tuple of LinkItem */
    ForeignAbi abi;
    bool is_cooperative;
} ExtForeignFunction;

/* The item as C has it, whose texts and bytes belong to the object. False with an exception. */
bool ext_read_link(PyObject *object, LinkItem *item);

#endif
