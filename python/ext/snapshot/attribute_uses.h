/* Which attributes code reads of what its globals and free variables mean. */
#ifndef CUJIT_EXT_ATTRIBUTE_USES_H
#define CUJIT_EXT_ATTRIBUTE_USES_H

#include "ext/snapshot/snapshot_builder.h"

/* Of the code and what is nested in it, by a name's bytes alone: a dict of each such name to the list of attributes that are
 * read of it at once (`cuda.grid`), in the code's order, or to None where its value goes anywhere else. In a guard; NULL with
 * an exception. */
PyObject *ext_attribute_uses(const SnapshotBuilder *builder, PyCodeObject *code);

#endif
