/* Functions of cujit's own that may fail: to the user the exception happens where he calls them. */
#ifndef CUJIT_FRONTEND_RAISE_SITE_H
#define CUJIT_FRONTEND_RAISE_SITE_H

#include "frontend/engine.h"

SourcePos raise_site(Lower *l, const CodeSnapshot *callee);

#endif
