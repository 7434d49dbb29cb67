/* Calls of functions from elsewhere. */
#ifndef CUJIT_FRONTEND_LOWER_FOREIGN_H
#define CUJIT_FRONTEND_LOWER_FOREIGN_H

#include "frontend/engine.h"

bool lower_foreign_call(Lower *l, const ForeignFunction *foreign, const Call *call, Operand *out);

#endif
