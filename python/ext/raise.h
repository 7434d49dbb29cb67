/* Exceptions and warnings: raise.c is the only place that makes them of a Diag. */
#ifndef CUJIT_EXT_RAISE_H
#define CUJIT_EXT_RAISE_H

#include "core/diagnostic/diag.h"
#include "core/type/type.h"
#include "ext/py.h"
#include "runtime/runtime.h"

/* Sets the exception; always NULL. Needs no state: cujit.errors is found by name. */
PyObject *ext_raise(const Diag *diag);
/* ext_raise of a diagnostic without a source position. */
/* Whether the tuple has no more values, nor tuples in one another, than it may; else with an exception. */
bool ext_check_tuple(const Type *type);
PyObject *ext_raise_id(DiagId id, ...);
/* The __reduce__ of what other processes cannot have. */
PyObject *ext_refuse_pickle(PyObject *self, PyObject *ignored);
/* A class of cujit.errors, by its name. New reference. */
PyObject *ext_exception_class(const char *name);
/* Warns with a class of cujit.errors. False with an exception where the filters make it one. */
bool ext_warn(const char *category, const char *text);
/* "the CPU device", "GPU 0 (name)", NULL: "the host". Borrowed from the buffer. */
const char *ext_device_text(const RtDevice *device, char *text, size_t size);

#endif
