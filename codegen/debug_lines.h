/* Source lines in the generated code, for profilers and debuggers, when the options ask: one compile unit, a subprogram
 * for each function of known source, the line and column of each value. */
#ifndef CUJIT_CODEGEN_DEBUG_LINES_H
#define CUJIT_CODEGEN_DEBUG_LINES_H

#include "codegen/emit.h"

void begin_debug_lines(Emitter *emitter);
void begin_debug_function(Emitter *emitter, const EmittedFunction *function);
/* Of what the builder makes next. */
void set_debug_position(Emitter *emitter, const SourcePos *pos);
/* What the builder makes next has no position. */
void end_debug_function(Emitter *emitter);

#endif
