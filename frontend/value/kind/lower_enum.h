/* Members of enums: the value of a member with the identity of its class. */
#ifndef CUJIT_FRONTEND_LOWER_ENUM_H
#define CUJIT_FRONTEND_LOWER_ENUM_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool type_is_enum(const Type *type);
/* The number behind a member of an IntEnum; everything else as it is. */
Operand operand_number_of(Lower *l, Operand operand);
const Type *type_number_of(const Type *type);
Operand lower_enum_value(Lower *l, Operand member);
bool operand_is_enum_class(Operand operand);
bool lower_enum_by_name(Lower *l, Operand class, Operand name, Operand *out);
bool lower_enum_call(Lower *l, Operand class, const Call *call, Operand *out);
/* member: of an enum, or the constant that stands for one whose value is no number */
bool lower_enum_attribute(Lower *l, Operand member, const char *name, Operand *out);
bool lower_enum_equal(Lower *l, Operand a, Operand b, bool negated, Operand *out);

#endif
