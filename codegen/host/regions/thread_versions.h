/* A second loop over the same threads, of which the kernel asks which one to run:
 *
 *     if condition:  thread_loop: body
 *     else:          thread_loop: copy of the body */
#ifndef CUJIT_CODEGEN_THREAD_VERSIONS_H
#define CUJIT_CODEGEN_THREAD_VERSIONS_H

#include "codegen/host/regions/loop_body.h"

typedef struct LoopVersions {
    IrFunc *function;
    IrBlock *loop; /* it ends with the thread_loop, and holds nothing else */
    LoopBody body;
    IrBlock *head; /* in front of both, for the caller's condition */
    IrValue *copy; /* the other thread_loop */
    IrValue **values; /* by IrValue.id, of the body: what stands for it in the copy */
} LoopVersions;

/* Whether the loop takes no operands, no value leaves it, and its body is small and of what may stand in two loops. */
bool may_have_versions(const IrBlock *loop, const LoopBody *body);
/* Makes the copy. The head is to be ended by end_versions(). */
LoopVersions make_versions(IrFunc *function, IrBlock *loop, const LoopBody *body, Arena *arena);
/* Where the condition holds the loop as it was runs, else the copy, or the other way round. Ids are others behind that. */
void end_versions(const LoopVersions *versions, IrValue *condition, bool takes_copy);

#endif
