/* What every handler knows: the request, the function being lowered, and what handlers may call upward. One set of
 * handlers serves both type inference and emission: a handler computes its result's type and "emits"; while types are
 * inferred nothing is emitted and IrValues are NULL. */
#ifndef CUJIT_FRONTEND_ENGINE_H
#define CUJIT_FRONTEND_ENGINE_H

#include "core/base/table.h"
#include "frontend/frontend.h"
#include "frontend/value/operand.h"

typedef struct Call Call; /* value/arguments.h */
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
    SourcePos raise_site; /* of cujit's own functions that may fail: the user's call; no function: its own places */
    Instance *next; /* another instance of the same code */
    Instance *next_pending;
};

/* One request to the frontend. */
typedef struct Frontend {
    Arena *arena;
    Diag *diag;
    const FrontendRequest *request;
    Table *instances; /* by code and types (InstanceKey): the first of a list */
    Table *ssa; /* by CodeSnapshot pointer */
    Table *comprehensions; /* by CodeSnapshot pointer: instructions of code that was part of another */
    Table *faults; /* by CodeSnapshot pointer: how what belongs to cujit may fail (raise_site.c) */
    Table *objects; /* by identity: the constant that stands for a compile-time object */
    IrModule *module;
    Instance *pending; /* declared, not emitted yet */
    uint32_t depth; /* of nested instances */
    uint32_t instance_count;
    uint32_t cell_version; /* grows whenever the type of a shared variable does */
    ImplementationWish *last_wish;
    Implementation *last_used; /* the lists of the request end here */
} Frontend;

/* Inferring or emitting one instance. */
struct Lower {
    Frontend *frontend;
    Arena *arena;
    Diag *diag; /* a scratch one while inferring */
    Instance *instance;
    const SsaValue *value; /* being handled */
    bool emitting;
    Operand joined_result; /* of the returns that this pass of inference has come by */
    bool changed;
    IrBlock *block; /* emission goes here */
    bool never_returns; /* what was called last ends the thread on every path */
    IrBlock **ir_blocks; /* first IR block of each SSA block */
    IrValue *frame; /* in a generator: the frame it goes on with */
    IrValue *memory; /* what the caller lent; NULL: cells lie in the function's own memory */
    struct PhiEdge *phi_edges; /* operands of phis to be filled in at the end */
    const bool *may_lack; /* by SSA value: phis that some path leaves unassigned; NULL: nobody is told (unbound.h) */
    IrValue **assigned; /* of these: whether this path has assigned them */
};

/* A phi's operand for one edge, kept until the IR's blocks are linked. */
typedef struct PhiEdge {
    IrValue *phi;
    IrBlock *from;
    IrValue *value;
    struct PhiEdge *next;
} PhiEdge;

/* --- upward: what handlers of a part ask of those of the whole ------------------------------------------------------ */
bool lower_attribute(Lower *l, Operand object, const char *name, Operand *out);
bool lower_subscript(Lower *l, Operand container, Operand index, Operand *out);
bool lower_store_subscript(Lower *l, Operand container, Operand index, Operand value);
/* Stores a scalar or a record, or an array broadcast to its shape, into every element. */
bool lower_fill(Lower *l, Operand target, Operand source);
/* The item at that place of what has a known number of them. */
bool lower_item_at(Lower *l, Operand iterable, Operand index, Operand *out);
/* A call of a function of Python's. */
bool lower_function_call(Lower *l, const Snapshot *snapshot, const Call *call, Operand *out);
/* float(x), np.int32(x) and such of a value of the program's own type: the number that its method __float__, __int__,
 * __complex__ or __bool__ gives. *is_own: it is such a value, and has the method. */
bool lower_overloaded_number(Lower *l, const Type *type, const Call *call, Operand *out, bool *is_own);
/* Runs the handler of one SSA value (no phi, no terminator but RETURN). */
bool lower_value(Lower *l, const SsaValue *value, Operand *out);

/* --- upward: functions (infer/) -------------------------------------------------------------------------------------- */
/* The code as SSA, made once. NULL with a diagnostic. */
SsaFunction *frontend_ssa(Frontend *frontend, const CodeSnapshot *code, Diag *diag);
/* The instance for these parameters and this place of its exceptions, found or new. NULL with a diagnostic. */
Instance *instance_get(Frontend *frontend, Diag *diag, const CodeSnapshot *code, const Snapshot *snapshot,
                       const Operand *parameters, uint32_t count, SourcePos raise_site);
/* The instance for these operands, its types inferred, called by the value being handled. given: the same with all that is
 * known of their values. NULL with a diagnostic. */
Instance *lower_instance(Lower *l, const CodeSnapshot *code, const Snapshot *snapshot, const Operand *given,
                         const Operand *bound, uint32_t count);
/* Infers types to a fixed point; NULL-typed facts remain where something is wrong. */
void infer_instance(Frontend *frontend, Instance *instance);
/* Whether control goes from the one block to the other, as far as types have been inferred. */
bool edge_is_reached(const Instance *instance, uint32_t from, uint32_t to);
/* Declares the IR function of an instance; its body comes later. */
IrFunc *instance_declare(Frontend *frontend, Instance *instance);
/* Emits the instance's IR function unless that is under way or done. False with a diagnostic. */
bool emit_instance(Frontend *frontend, Instance *instance);
/* By SSA value: phis of variables that some path leaves unassigned. NULL: there are none, or nobody wants to be told. */
const bool *unbound_phis(const Frontend *frontend, const Instance *instance);
/* Whether the value, which such a phi has by an edge or goes on with behind a yield, is one that was assigned. */
IrValue *unbound_is_assigned(Lower *l, const SsaValue *value);

#endif
