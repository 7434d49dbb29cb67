/* A device function as code from elsewhere calls it. */
#ifndef CUJIT_CODEGEN_EXPORT_EMIT_H
#define CUJIT_CODEGEN_EXPORT_EMIT_H

#include "codegen/emit.h"

/* The function under that name, by the convention that the module is exported by; it calls `inner`. A diagnostic where the
 * convention has no way for one of its types. */
void emit_export(Emitter *emitter, const EmittedFunction *inner, const char *name);

#endif
