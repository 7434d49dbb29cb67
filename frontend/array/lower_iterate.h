/* Iteration without iterator objects: an iterable stays what it is, and a position moves along it. */
#ifndef CUJIT_FRONTEND_LOWER_ITERATE_H
#define CUJIT_FRONTEND_LOWER_ITERATE_H

#include "frontend/engine.h"

/* What a loop runs over. A tuple of items that differ in type stays what it is: loops over it are unrolled. */
bool lower_iterator(Lower *l, Operand iterable, Operand *out);
/* The same items, all of one type. */
bool lower_uniform_iterator(Lower *l, Operand iterable, Operand *out);
bool lower_iter_start(Lower *l, Operand iterator, Operand *out);
bool lower_iter_step(Lower *l, Operand iterator, Operand position, Operand *out);
/* The step if `has` is true; otherwise one without an item. */
bool lower_guarded_step(Lower *l, Operand has, Operand iterator, Operand position, Operand *out);
bool lower_iter_has(Lower *l, Operand iterator, Operand position, Operand *out);
bool lower_iter_value(Lower *l, Operand iterator, Operand position, Operand *out);
bool lower_iter_next(Lower *l, Operand iterator, Operand position, Operand *out);
bool lower_length(Lower *l, Operand iterable, Operand *out);
/* Whether it makes its items as it goes: a range, enumerate, zip or reversed. */
bool type_is_lazy(const Type *type);
/* A tuple of all the items of what has a known number of them. */
bool lower_all_items(Lower *l, Operand iterable, Operand *out);

#endif
