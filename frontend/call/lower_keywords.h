/* Keywords of intrinsics whose documentation names their parameters, "(array, index, value, *, scope='device') ...":
 * those in front of the star become positional arguments, so that handlers know places only. */
#ifndef CUJIT_FRONTEND_LOWER_KEYWORDS_H
#define CUJIT_FRONTEND_LOWER_KEYWORDS_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool call_place_keywords(Lower *l, Call *call);

#endif
