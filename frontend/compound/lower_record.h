/* Records: an element of an array of records is a reference to it, in the shape of an array without axes. */
#ifndef CUJIT_FRONTEND_LOWER_RECORD_H
#define CUJIT_FRONTEND_LOWER_RECORD_H

#include "frontend/engine.h"

bool is_record_array(const Type *type);
const TypeField *record_field(const Type *array, const char *name);
/* The field that a constant integer selects from a reference to a record; NULL for anything else. */
const TypeField *record_field_at(const Type *array, Operand index);
bool lower_field(Lower *l, Operand array, const TypeField *field, Operand *out);
bool lower_store_field(Lower *l, Operand array, const TypeField *field, Operand value);
/* Copies a record from one reference's place to another's. */
bool lower_store_record(Lower *l, Operand target, Operand value);

#endif
