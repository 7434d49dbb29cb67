/* Calls of CALL rows: arguments go to parameters by place or by name, and each becomes what the row's shape says. */
#ifndef CUJIT_FRONTEND_LOWER_DEVICE_H
#define CUJIT_FRONTEND_LOWER_DEVICE_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

enum { CALL_MAX_PARAMETERS = 8 };
bool call_bind(Lower *l, const Call *call, Operand *out);
/* The argument as the row's shape wants parameter `index`; not for x where the value may be no integer. */
bool call_shaped_argument(Lower *l, const Call *call, uint32_t index, Operand given, IrValue **out);
/* A call that is all in its row. */
bool lower_shaped_call(Lower *l, const Call *call, Operand *out);

#endif
