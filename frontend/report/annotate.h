/* The text behind inspect_types: for every expression of a function's source, line by line, the type inferred. */
#ifndef CUJIT_FRONTEND_ANNOTATE_H
#define CUJIT_FRONTEND_ANNOTATE_H

#include "frontend/engine.h"

/* Prints the types of an instance's expressions (annotate.c). */
void annotate(Buf *out, Frontend *frontend, Instance *instance);

#endif
