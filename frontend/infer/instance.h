/* Functions for certain argument types, and the request that all of them are made for. */
#ifndef CUJIT_FRONTEND_INSTANCE_H
#define CUJIT_FRONTEND_INSTANCE_H

#include "core/base/table.h"
#include "frontend/frontend.h"
#include "frontend/value/operand.h"

typedef struct GeneratorFrame GeneratorFrame;
enum { CALL_DEPTH_LIMIT = 500 }; /* functions that call each other in a row: their inference nests on the C stack */

typedef enum InstanceState { INSTANCE_NEW, INSTANCE_RUNNING, INSTANCE_DONE } InstanceState;

/* A function for certain argument types. */
typedef struct Instance Instance;
struct Instance {
    const CodeSnapshot *code;
    const Snapshot *snapshot;
    SsaFunction *ssa;
    uint32_t parameter_count;
    const Operand *parameters; /* facts, one for each SSA parameter; constants occupy no IR parameter */
    Operand *facts; /* by SSA value */
    bool *block_reached;
    bool *edge_reached; /* [2 * block + successor] */
    uint32_t *unroll; /* by block, a for loop's test: for how many items the loop is to be written out; 0: it is not */
    bool is_unrollable; /* false once that would be too much code */
    uint64_t wanted; /* parameters whose value it needs to know: bits (constant_parameter.c) */
    bool fails; /* an expression that is reached has no type */
    Operand result; /* join of all returns; type NULL: no return reached yet */
    InstanceState state;
    bool is_recursive, is_kernel;
    bool provisional; /* rests on the result of an instance that is still being inferred */
    bool emitted;
    bool makes_cells; /* seen while inferring: memory of variables that are shared, its own or of what it calls */
    bool is_complete; /* the IR is all there */
    uint32_t memory_words; /* of 8 bytes, that its callers lend it, once it is complete */
    uint32_t cell_version; /* of the frontend when it was last inferred */
    GeneratorFrame *frame; /* of a generator, once its types are known */
    const Type *forced_result;
    IrFunc *ir;
    const char *name;
    const Instance *called_by; /* who asked for it first; NULL for the kernel */
    SourcePos called_at;
    SourcePos raise_site; /* of cujit's own functions that raise: the user's call; no function: its own places */
    Instance *next; /* another instance of the same code */
    Instance *next_pending;
};

/* One request to the frontend. */
typedef struct Frontend {
    Arena *arena;
    Diag *diag;
    const FrontendRequest *request;
    Table *instances; /* by CodeSnapshot pointer: the first of a list */
    Table *ssa; /* by CodeSnapshot pointer */
    Table *comprehensions; /* by CodeSnapshot pointer: instructions of code that was part of another */
    Table *raising; /* by CodeSnapshot pointer: whether what belongs to cujit raises (raise_site.c) */
    Table *objects; /* by identity: the constant that stands for a compile-time object */
    IrModule *module;
    Instance *pending; /* declared, not emitted yet */
    uint32_t depth; /* of nested instances */
    uint32_t instance_count;
    uint32_t cell_version; /* grows whenever the type of a shared variable does */
} Frontend;

/* --- instance.c, infer_types.c, emit_ir.c, and what goes through a whole instance ---------------------------------- */
/* The instance for these parameters and this place of its exceptions, found or new. NULL with a diagnostic. */
Instance *instance_get(Frontend *frontend, Diag *diag, const CodeSnapshot *code, const Snapshot *snapshot,
                       const Operand *parameters, uint32_t count, SourcePos raise_site);
/* raise_site.c: the place that an instance of the callee has, and that of an exception of the value being handled. */
SourcePos raise_site(Lower *l, const CodeSnapshot *callee);
SourcePos raise_place(const Lower *l);
/* The value being handled failed for want of a constant: notes the parameters of the instance that it depends on. */
void want_constants(Lower *l);
/* Gives the facts of a call the constants that the instance wants. False if there are none; then what the call depends
 * on is wanted of the instance that calls. */
bool keep_constants(Lower *l, const Instance *instance, const Operand *given, uint32_t count, Operand *facts);
/* The instance for these operands, its types inferred, called by the value being handled. given: the same with all that is
 * known of their values. NULL with a diagnostic. */
Instance *lower_instance(Lower *l, const CodeSnapshot *code, const Snapshot *snapshot, const Operand *given,
                         const Operand *bound, uint32_t count);
/* An operand as it is passed to a function: numbers and tuples lose what is known of their value. */
Operand operand_as_argument(Lower *l, Operand operand);
SsaFunction *frontend_ssa(Frontend *frontend, const CodeSnapshot *code, Diag *diag);
/* Writes out the loops for which `unroll` asks: the instance gets an SSA of its own, of which nothing is known yet. */
bool instance_unroll(Frontend *frontend, Instance *instance);
/* Likewise: the variables (by local) live in memory that nested functions share. */
bool instance_share(Frontend *frontend, Instance *instance, const bool *shared);
/* Shares the variables of functions that outlive the trip of a loop they were made in, if there are any (loop_capture.c). */
bool share_loop_captures(Frontend *frontend, Instance *instance);
/* Infers types to a fixed point; NULL-typed facts remain where something is wrong. */
void infer_instance(Frontend *frontend, Instance *instance);
/* Emits the instance's IR function unless that is under way or done. False with a diagnostic. */
bool emit_instance(Frontend *frontend, Instance *instance);
/* Runs the handler of one SSA value (no phi, no terminator but RETURN). */
bool lower_value(Lower *l, const SsaValue *value, Operand *out);
/* Adds to a failure where the types of the value's operands come from, and from where the function is called
 * (explain.c). */
void explain_failure(Lower *l, const SsaValue *value);
/* Adds to a failure where the type of a variable comes from that is assigned on several paths. */
void explain_phi(Lower *l, const SsaValue *phi);
/* The variable that a value is assigned to, the parameter or the global that it is; NULL for other expressions. */
const char *variable_name(Lower *l, const SsaValue *value);
/* The line of an assignment that leads to the phi. */
int assignment_line(Lower *l, const SsaValue *phi);
/* Adds to a failure another return, whose result does not fit `result`. */
void explain_returns(Lower *l, const Type *result);
/* Which parameter of a kernel is its * parameter, whose items are passed one by one. */
#define NO_PARAMETER UINT32_MAX
uint32_t kernel_rest(const Instance *instance);
/* Declares the IR function of an instance; its body comes later. */
IrFunc *instance_declare(Frontend *frontend, Instance *instance);
/* Prints the types of an instance's expressions (annotate.c). */
void annotate(Buf *out, Frontend *frontend, Instance *instance);
/* Why the value computes in float64 (or complex128) although narrower floats go into it; NULL when it does not. In the
 * arena (widening.c). */
const char *widening(Lower *l, const SsaValue *value);
/* Prints every widening of an instance that belongs to the user: "file:line: text". */
void list_widenings(Buf *out, Frontend *frontend, Instance *instance);
/* Whether the parameter is passed at run time. */
bool operand_is_runtime(Operand operand);

#endif
