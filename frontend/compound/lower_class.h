/* Classes of named tuples and dataclasses: a call makes one. */
#ifndef CUJIT_FRONTEND_LOWER_CLASS_H
#define CUJIT_FRONTEND_LOWER_CLASS_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool lower_class_call(Lower *l, const Constant *class, const Call *call, Operand *out);
/* The method or property of that name, or NULL. */
const Constant *class_method(const Type *type, const char *name);
bool lower_class_property(Lower *l, Operand receiver, const Constant *property, Operand *out);
bool lower_class_method(Lower *l, Operand receiver, const Constant *method, const Call *call, Operand *out);

#endif
