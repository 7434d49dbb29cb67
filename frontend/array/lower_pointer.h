/* Pointers: memory from one value on, of which nobody knows the end. */
#ifndef CUJIT_FRONTEND_LOWER_POINTER_H
#define CUJIT_FRONTEND_LOWER_POINTER_H

#include "frontend/engine.h"

/* pointer[i]: an element, wherever it lies; pointer[a:b]: an array over b - a of them. */
bool lower_pointer_subscript(Lower *l, Operand pointer, Operand index, Operand *out);
bool lower_store_pointer_subscript(Lower *l, Operand pointer, Operand index, Operand value);
/* The element of that index as an array of one axis that holds nothing else. */
bool lower_pointed(Lower *l, Operand pointer, Operand index, Operand *out);
/* The same memory as values of another type. */
Operand lower_pointer_view(Lower *l, Operand pointer, const Type *element);

#endif
