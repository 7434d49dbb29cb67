/* Iterators that are values: iter(x), generators that next() is asked of or that are used more than once. */
#ifndef CUJIT_FRONTEND_LOWER_ITERATOR_H
#define CUJIT_FRONTEND_LOWER_ITERATOR_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool call_iter(Lower *l, const Call *call, Operand *out);
bool call_next(Lower *l, const Call *call, Operand *out);
bool type_is_iterator(const Type *type);
bool lower_iterator_step(Lower *l, Operand iterator, Operand *out);
/* What a call gave: an iterator of its own where it is a generator or the like that next() is asked of. */
bool lower_called_iterator(Lower *l, const SsaValue *call, Operand *out);

#endif
