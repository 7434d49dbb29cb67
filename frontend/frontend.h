/* Snapshot of a Python function + argument types -> typed IR. */
#ifndef CUJIT_FRONTEND_FRONTEND_H
#define CUJIT_FRONTEND_FRONTEND_H

#include "core/ir/ir.h"
#include "core/snapshot.h"
#include "core/target.h"

typedef struct FrontendRequest {
    const Snapshot *function;
    uint32_t argument_count;
    const Type *const *argument_types;
    bool is_kernel; /* true: must return nothing */
    bool weak_literals; /* Python's numbers take the precision of the floats that they meet */
    bool weak_ints; /* integers of at most 32 bits stay so, and widen no float */
    bool exceptions; /* the host is told of them; and what Python's operators raise is checked */
    CheckSet checks; /* what check mode looks for in the code; any: reads of what is unassigned, too */
    bool watchers; /* the module has the function's watchers, too */
    bool lines; /* what runs is told line by line (LINE) */
    const Type *result; /* device functions: convert the result to this; NULL: as inferred */
    const Type **inferred; /* where to put the type of the result as programs see it, which the module's may not be */
    const Implementation *implementations; /* of what is overloaded: those known so far */
    const ImplementationWish **wishes; /* where to put what is missing of them, a list in the arena; NULL: nowhere */
    const Implementation **used; /* where to put those that the code calls, a list of copies; NULL: nowhere */
    Buf *dump_bytecode, *dump_cfg, *dump_ssa; /* where to print these stages; NULL: do not */
    Buf *annotated; /* inspect_types text; NULL: do not */
    Buf *warnings; /* variables that may be read unassigned: file:line and text, a line each; NULL: do not */
    bool integer_widenings; /* among them, where integers of at most 32 bits become int64 */
    Buf *widenings; /* where float16 and float32 become float64: file:line and text, a line each; NULL: do not */
} FrontendRequest;

/* The typed module, kernel or device function first, in the arena; NULL with a diagnostic. Reads the snapshot only:
 * needs no GIL. */
IrModule *frontend_lower(const FrontendRequest *request, Arena *arena, Diag *diag);

#endif
