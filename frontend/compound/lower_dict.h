/* Dicts of constant keys: their values as a tuple whose type has the keys. */
#ifndef CUJIT_FRONTEND_LOWER_DICT_H
#define CUJIT_FRONTEND_LOWER_DICT_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

Operand lower_make_dict(Lower *l, const Operand *values, const char *const *keys, uint32_t count);
bool lower_dict_item(Lower *l, Operand dict, Operand index, Operand *out);
bool lower_dict_contains(Lower *l, Operand dict, Operand index, Operand *out);
bool lower_dict_merge(Lower *l, Operand a, Operand b, Operand *out);
/* f(**dict): the dict's items as keywords of the call. */
bool lower_dict_keywords(Lower *l, Operand dict, Call *call);
/* The dict of a ** parameter. */
Operand lower_keywords_dict(Lower *l, const char *const *keywords, const Operand *values, uint32_t count);
/* The value of a keyword, or NULL. */
const Operand *lower_dict_default(Lower *l, Operand dict, const char *name);

#endif
