/* Numbers of Python and NumPy. */
#ifndef CUJIT_EXT_NUMBER_H
#define CUJIT_EXT_NUMBER_H

#include "core/type/type.h"
#include "ext/py.h"

/* The type of a Python or NumPy number; NULL without an exception for anything else, and with OverflowError for an int
 * beyond 64 bits. */
const Type *ext_number_type(PyObject *value);
/* The type of a NumPy number and where its bytes are, in its object; NULL without an exception for anything else, and for
 * the rarer classes of numbers. */
const Type *ext_numpy_number(PyObject *value, const void **bytes);
/* Writes a number as a scalar of that type, cast as C does; complex: both parts. False with an exception. */
bool ext_store_number(PyObject *value, const Type *type, uint8_t *out);

#endif
