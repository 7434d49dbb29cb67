/* Calls of intrinsics: handlers.def says who answers them. */
#ifndef CUJIT_FRONTEND_HANDLERS_H
#define CUJIT_FRONTEND_HANDLERS_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

#define HANDLES(id, handler) bool handler(Lower *l, const Call *call, Operand *out);
#define HANDLES_KEYWORDS(id, handler) bool handler(Lower *l, const Call *call, Operand *out);
#define HANDLES_FAMILY(family, handler) bool handler(Lower *l, const Call *call, Operand *out);
#define HANDLES_KIND(kind, handler) bool handler(Lower *l, const Call *call, Operand *out);
#include "frontend/call/handlers.def"

/* The call of an intrinsic by its handler. */
bool lower_intrinsic_call(Lower *l, const Call *call, Operand *out);
/* Whether the handler reads keywords by name; everything else would take them for positional arguments. */
bool handler_takes_keywords(IntrinsicId id);

#endif
