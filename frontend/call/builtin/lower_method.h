/* Methods of arrays that need no memory: other views of the same elements, fill, item. */
#ifndef CUJIT_FRONTEND_LOWER_METHOD_H
#define CUJIT_FRONTEND_LOWER_METHOD_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool is_array_method(const Lower *l, const char *name);
bool lower_array_method(Lower *l, Operand array, const Call *call, Operand *out);
/* array.ctypes.name, array.flags.name */
bool lower_array_group(Lower *l, Operand array, const char *group, const char *name, Operand *out);

#endif
