/* Typed SSA: modules of functions of blocks of values. Conversions are explicit, positions are kept; nothing here
 * depends on a Python version, on LLVM or on a device. Everything is arena memory. */
#ifndef CUJIT_CORE_IR_H
#define CUJIT_CORE_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/diagnostic/diag.h"
#include "core/intrinsic/intrinsic.h"
#include "core/kernel/watch_state.h"
#include "core/snapshot.h"
#include "core/type/type.h"
#include "core/watch_kind.h"

typedef enum IrOp {
#define OP(id, text, operands, result, immediate, hint, flags) IR_##id,
#include "core/ir/op.def"
#undef OP
    IR_OP_COUNT
} IrOp;

typedef enum IrResultRule { IR_RESULT_SAME, IR_RESULT_BOOL, IR_RESULT_GIVEN, IR_RESULT_NOTHING } IrResultRule;

typedef enum IrImmediateKind {
    IR_IMMEDIATE_NOTHING,
    IR_IMMEDIATE_INDEX,       /* index */
    IR_IMMEDIATE_NUMBER,      /* integer, or real and imaginary, by the value's type */
    IR_IMMEDIATE_ARRAY,       /* array */
    IR_IMMEDIATE_INTRINSIC,   /* intrinsic */
    IR_IMMEDIATE_ATOMIC,      /* atomic */
    IR_IMMEDIATE_OFFSET,      /* integer: bytes */
    IR_IMMEDIATE_STORAGE,     /* storage */
    IR_IMMEDIATE_CALLEE,      /* callee */
    IR_IMMEDIATE_FOREIGN,     /* foreign */
    IR_IMMEDIATE_TARGETS,     /* targets */
    IR_IMMEDIATE_TEXT,        /* text */
} IrImmediateKind;

/* Which words an operation's hint is one of; what they say stands with their own enumeration. */
typedef enum IrHintKind {
    IR_HINT_KIND_NOTHING,     /* none, or several at once */
    IR_HINT_KIND_CACHE,       /* IrHint */
    IR_HINT_KIND_WRAPS,       /* IrExactness: an integer result may wrap */
    IR_HINT_KIND_DIVIDES,     /* IrExactness: the divisor may be zero */
    IR_HINT_KIND_NARROWS,     /* IrExactness: the result may not have the value */
    IR_HINT_KIND_ESCAPE,      /* IrEscape */
    IR_HINT_KIND_WATCH,       /* WatchKind */
    IR_HINT_KIND_SILENCE,     /* IrSilence */
    IR_HINT_KIND_BOUND,       /* IrBound */
    IR_HINT_KIND_EVENT,       /* ObservedEvent */
    IR_HINT_KIND_PRIVACY,     /* IrPrivacy */
    IR_HINT_KIND_TURNS,       /* IrTurns */
    IR_HINT_KIND_COUNT
} IrHintKind;

enum { IR_FLAG_NONE = 0, IR_FLAG_PURE = 1, IR_FLAG_READS = 2, IR_FLAG_WRITES = 4, IR_FLAG_TERMINATOR = 8 };

typedef struct IrOpInfo {
    const char *text;
    int operands;             /* -1: varies */
    IrResultRule result;
    IrImmediateKind immediate;
    IrHintKind hint;
    unsigned flags;
} IrOpInfo;

extern const IrOpInfo ir_op_info[IR_OP_COUNT];

typedef enum IrAtomic {
    IR_ATOMIC_ADD,
    IR_ATOMIC_SUB,
    IR_ATOMIC_MAX,
    IR_ATOMIC_MIN,
    IR_ATOMIC_NANMAX,
    IR_ATOMIC_NANMIN,
    IR_ATOMIC_AND,
    IR_ATOMIC_OR,
    IR_ATOMIC_XOR,
    IR_ATOMIC_EXCH,
    IR_ATOMIC_INC,
    IR_ATOMIC_DEC,
    IR_ATOMIC_CAS,
    IR_ATOMIC_COUNT
} IrAtomic;

/* Among which threads an atomic is one, and what it orders beside itself. 0 is what Python's calls mean by default. */
typedef enum IrScope { IR_SCOPE_DEVICE, IR_SCOPE_BLOCK, IR_SCOPE_SYSTEM, IR_SCOPE_COUNT } IrScope;
typedef enum IrOrder {
    IR_ORDER_RELAXED,
    IR_ORDER_ACQUIRE,
    IR_ORDER_RELEASE,
    IR_ORDER_ACQ_REL,
    IR_ORDER_SEQ_CST,
    IR_ORDER_COUNT
} IrOrder;

/* How an access goes through the caches: cuda.ldg, ldca, ..., stwt. */
typedef enum IrHint {
    IR_HINT_NONE,
    IR_HINT_NC, /* nobody writes it while the kernel runs */
    IR_HINT_CA,
    IR_HINT_CG,
    IR_HINT_CS,
    IR_HINT_LU,
    IR_HINT_CV,
    IR_HINT_WB,
    IR_HINT_WT,
    IR_HINT_COUNT
} IrHint;

/* Of arithmetic and conversions: whether the result is the true one. */
typedef enum IrExactness {
    IR_MAY_WRAP,
    IR_EXACT, /* an ADD, SUB or MUL of integers that does not wrap; a FLOORDIV or MOD whose divisor is above 0 */
    IR_CHECKED, /* the program's own, of which check mode tells where it wraps; codegen/check/overflow.c takes it away */
    IR_SATURATES, /* an ADD of integers that gives the end of the type where it would wrap */
    IR_EXACTNESS_COUNT
} IrExactness;

/* Of a BRANCH: the function is run only by threads that pass it. */
typedef enum IrBound {
    IR_BOUND_NONE,
    IR_BOUND_IN, /* those for which the condition holds */
    IR_BOUND_OUT, /* those for which it does not */
    IR_BOUND_COUNT
} IrBound;

/* Of a RAISE: the host is not told, and its number says nothing. */
typedef enum IrSilence { IR_HEARD, IR_SILENT, IR_SILENCE_COUNT } IrSilence;

/* Of an ATOMIC: it may go to a copy of the array that the worker has for itself. */
typedef enum IrPrivacy { IR_COMMON, IR_PRIVATE, IR_PRIVACY_COUNT } IrPrivacy;

/* Of a LOCAL where functions have loops over threads: a thread_loop's threads use it in turn, and each fills it first. */
typedef enum IrTurns { IR_FOR_EACH, IR_IN_TURN, IR_TURNS_COUNT } IrTurns;

/* Of an ADDRESS: memory may be written through it. */
typedef enum IrEscape { IR_STAYS, IR_ESCAPES, IR_ESCAPE_COUNT } IrEscape;

/* What is known of a THREAD_LOOP, in IrValue.hint. */
enum {
    IR_THREADS_INDEPENDENT = 1, /* what a thread reads and writes, no other one writes in the loop, in whatever order */
    IR_THREADS_BEGIN = 2, /* with operands: all threads take part, and the slots are made true */
    IR_THREADS_CUT = 4, /* divisors of a thread's place that are no constants are large: host/regions/row_parts.h */
    /* One after the other, upwards or downwards: none reads what one before it has written. Of independent ones, which then may
     * write what one before them has read. */
    IR_THREADS_UP = 8,
    IR_THREADS_DOWN = 16,
    IR_THREADS_MARK_COUNT = 5
};
extern const char *const ir_threads_mark_names[IR_THREADS_MARK_COUNT]; /* "independent", "begin", ... */
extern const char *const ir_index_mark_names[TYPE_MAX_NDIM]; /* of a subarray's axes: "index0", ... */

/* What is to be done with the loop whose header a block is. */
typedef enum IrLoopMark {
    IR_LOOP_PLAIN,
    IR_LOOP_UNROLL, /* written out in full */
    IR_LOOP_BATCH, /* several trips at a time */
    IR_LOOP_ROLLED, /* left as it is: it seldom runs */
    IR_LOOP_MARK_COUNT
} IrLoopMark;

extern const char *const ir_axis_names[3]; /* "x", "y", "z" */
extern const char *const ir_loop_mark_names[IR_LOOP_MARK_COUNT]; /* "", "unroll", "batch", "rolled" */
extern const char *const ir_atomic_names[IR_ATOMIC_COUNT]; /* "add", ..., "cas" */
extern const char *const ir_scope_names[IR_SCOPE_COUNT]; /* "device", ... */
extern const char *const ir_order_names[IR_ORDER_COUNT]; /* "relaxed", ... */
extern const char *const ir_hint_names[IR_HINT_COUNT]; /* "", "nc", "ca", ... */
/* The words for IrValue.hint of this operation, and how many; "" for 0. NULL: it has none, or several at once. */
const char *const *ir_hint_words(IrOp op, uint8_t *count);

typedef struct IrValue IrValue;
typedef struct IrBlock IrBlock;
typedef struct IrFunc IrFunc;
typedef struct IrModule IrModule;

/* A shared or local array. Layout C. */
typedef struct IrStorage {
    int64_t shape[TYPE_MAX_NDIM];
    uint32_t alignment; /* bytes; 0: the element's */
    bool dynamic; /* shared memory whose size the launch gives; shape[0] is then ignored */
    const char *name; /* of the variable, for reports; NULL: none, or it is the library's */
} IrStorage;

struct IrValue {
    IrOp op;
    const Type *type; /* &type_none: no result */
    SourcePos pos;
    uint32_t id; /* unique in the function; the N of %N */
    uint32_t operand_count;
    IrValue **operands;
    IrBlock *block;
    IrValue *next; /* in the block, in order */
    uint8_t scope, order; /* IrScope and IrOrder of an atomic */
    /* IrHint, IrExactness, IrEscape, IrSilence, IrBound, IrPrivacy or WatchKind, by the operation; IR_THREADS_... of a thread_loop; of a subarray
     * the axes, a bit each, whose start is an index of the program, which may be out of bounds */
    uint8_t hint;
    bool non_negative; /* known from the source: the variable of a range that starts at 0 or more and rises */
    union {
        uint32_t index;
        int64_t integer; /* bool, int, uint (as bits), byte offset */
        struct {
            double real, imaginary;
        };
        const ConstantArray *array;
        IntrinsicId intrinsic;
        IrAtomic atomic;
        const IrStorage *storage;
        IrFunc *callee;
        const ForeignFunction *foreign;
        IrBlock *targets[2];
        const char *text;
    };
};

struct IrBlock {
    uint32_t id;
    IrFunc *function;
    IrValue *first, *last; /* phis first, a terminator last */
    IrBlock *next;
    uint32_t predecessor_count;
    IrBlock **predecessors; /* phi operands follow this order; filled by ir_link_blocks */
    uint8_t loop; /* IrLoopMark */
};

struct IrFunc {
    IrModule *module;
    const char *name; /* unique in the module; identifier characters and dots */
    const SourceFunction *source;
    bool is_kernel;
    bool noinline, forceinline, is_recursive;
    /* On a GPU the function is this PTX: $0 and on are its result, or the items of it, then its parameters. NULL: none. */
    const char *assembly;
    bool assembly_is_pure; /* nothing but the result depends on it */
    bool lacks_body; /* its blocks say nothing: it is for GPUs alone */
    /* Of one of cujit's own: the user's call, where its faults happen; no function: they are not looked for. */
    SourcePos site;
    bool is_limited; /* a kernel for launches within the limits of codegen/check/narrow.h */
    bool is_apart; /* a kernel for launches in which what it only reads is not written as another array */
    uint64_t aligned; /* of a kernel: a bit for each of the first parameters, which begin at a multiple of 16 bytes */
    const uint8_t *passed; /* of a kernel, how each parameter is passed (AbiPassing); NULL: all by pointer */
    bool reports; /* a kernel that tells the host of exceptions: it has the parameters for that */
    uint8_t row_axis; /* of a kernel on the CPU device: the axis of the innermost loop over a block's threads */
    bool joins_rows; /* of one of these: blocks next to each other along that axis may be run as a wider one */
    bool by_rows; /* of one with loops over threads: it runs the threads of one row, not those of a block */
    /* Of a kernel on the CPU device for blocks with whole warps along x: with loops over threads, it runs those of one. */
    bool by_warps;
    bool may_wait; /* of a kernel on the CPU device: it has loops that read what other blocks may write */
    uint8_t single_axes; /* of a kernel on the CPU device for blocks of one thread along these axes, a bit each */
    /* Of a kernel, for launches of these: by parameter TYPE_MAX_NDIM extents, 0: not known before the launch; NULL: none is. */
    const uint8_t *extents;
    const Type *result; /* &type_none: nothing */
    uint32_t parameter_count;
    const Type *const *parameter_types;
    const char *const *parameter_names;
    IrValue **parameters; /* PARAM values, at the start of the first block */
    IrBlock *first, *last; /* blocks, entry first */
    uint32_t block_count, value_count;
    IrFunc *next;
};

/* An argument of an exception. Run-time values lie in the slots of an ExceptionRecord, 8 bytes each. */
typedef struct IrExceptionArgument {
    const Constant *constant; /* the argument itself; NULL: made of run-time values */
    const char *format; /* Python's format string over the values; NULL: the value is the argument */
    const Type *type; /* of the value: scalars and tuples of them; with a format the tuple of the values */
    uint32_t first_slot;
} IrExceptionArgument;

/* Whether a WATCH is of an access: an array with indices. */
static inline bool ir_watches_access(const IrValue *watch) { return watch->hint < WATCH_FENCE; }

/* How many slots a scalar or a tuple of scalars takes. */
uint32_t ir_exception_slots(const Type *type);

/* What a RAISE raises. */
typedef struct IrException {
    const Constant *class; /* its is_exception is set */
    uint32_t argument_count;
    const IrExceptionArgument *arguments;
    SourcePos pos;
    bool is_check; /* of check mode: its format may name {array}, the array of the expression at pos, or {variable} */
    const char *array; /* what the array is called where the source is not at hand, or the variable; NULL: no name */
    const char *callers; /* from where its function was called: lines of the report. NULL: a kernel's, or not known */
    const Type *element; /* of the array that a WATCH is of: the runtime finds the fault; NULL: it is raised */
} IrException;

struct IrModule {
    Arena *arena;
    IrFunc *first, *last; /* the kernel first, then the device functions it reaches */
    uint32_t function_count;
    uint32_t exception_count, exception_capacity;
    IrException *exceptions; /* by the number of RAISE; empty where nobody is told of exceptions */
    bool has_notes; /* NOTEs, of which the host is told behind the launch */
    IrFunc *watchers[WATCHER_COUNT]; /* behind all other functions, from the first one on that is not NULL */
    IrFunc *first_watcher; /* these and what they call; NULL: there are none */
    bool has_state; /* the kernel's last parameter is the state of watch_state.h */
    bool has_meetings; /* of the state: threads that wait for others, and */
    bool has_grid_meetings; /* whether other blocks may wait for them */
    bool has_bits; /* of the state: what is written, of memory that may not be */
    bool has_far_shared; /* threads reach the shared memory of another block */
    uint32_t granule; /* bytes of a cell of the shadow in which watchers look for races; 0: they do not */
    uint32_t link_count, link_capacity;
    const LinkItem **links; /* what its functions need beside them, each once */
    const ForeignExport *exported; /* how code from elsewhere calls the first function, no kernel; NULL: nobody does */
};

/* --- building (ir_build.c). Builders are sticky: nothing fails, ir_verify finds what is wrong ---------------------- */
IrModule *ir_module(Arena *arena);
/* Appends a function with its entry block and PARAM values. */
IrFunc *ir_function(IrModule *module, const char *name, const SourceFunction *source, bool is_kernel,
                    const Type *result, uint32_t parameter_count, const Type *const *parameter_types,
                    const char *const *parameter_names);
/* Appends a kernel with the name, the parameters and all that launches know of another one, for another body. */
IrFunc *ir_kernel_like(IrModule *module, const IrFunc *kernel);
IrBlock *ir_block(IrFunc *function);
/* A value with `operand_count` operands copied from the array, appended to the block. */
IrValue *ir_append(IrBlock *block, IrOp op, const Type *type, const SourcePos *pos, uint32_t operand_count,
                   IrValue *const *operands);
/* Likewise the same operation, with all that it carries, on other operands. */
IrValue *ir_copy_value(IrBlock *to, const IrValue *value, IrValue *const *operands);
/* A phi placed before the block's other values, with room for one operand per predecessor (NULL until set). */
IrValue *ir_phi(IrBlock *block, const Type *type, const SourcePos *pos, uint32_t operand_count);
IrValue *ir_const_int(IrBlock *block, const Type *type, int64_t value, const SourcePos *pos);
IrValue *ir_const_float(IrBlock *block, const Type *type, double real, double imaginary, const SourcePos *pos);
/* Ends the thread and tells nobody. */
IrValue *ir_raise_silently(IrBlock *block, const SourcePos *pos);
/* Ends the block by an exception of the module; values: scalars, in the order of their slots. */
IrValue *ir_raise(IrBlock *block, uint32_t exception, const SourcePos *pos, uint32_t count, IrValue *const *values);
/* The module is linked with that; no more than once. Borrows it. */
void ir_add_link(IrModule *module, const LinkItem *item);
/* The number of a new exception. Copies the struct, borrows what it points to. */
uint32_t ir_add_exception(IrModule *module, const IrException *exception);
IrValue *ir_jump(IrBlock *block, IrBlock *target, const SourcePos *pos);
IrValue *ir_branch(IrBlock *block, IrValue *condition, IrBlock *yes, IrBlock *no, const SourcePos *pos);
/* Fills the predecessors of every block from the terminators, in block order (a branch with both targets the same
 * counts twice). Call it after all terminators exist; phi operands are in that order. */
void ir_link_blocks(IrFunc *function);
bool ir_is_terminated(const IrBlock *block);
/* The blocks that the terminator goes to: 0, 1 or 2 of them. */
int ir_successors(const IrBlock *block, IrBlock *successors[2]);
/* What a view is a part of: a parameter, an array of the thread or of the block, ... */
const IrValue *ir_memory_of(const IrValue *array);
/* Whether the text gives the value a name of its own: all but parameters, which go by theirs, values of operations
 * without a result, and calls and intrinsics of type none. */
/* Whether the operation has a result or none, by its type. */
bool ir_may_be_silent(IrOp op);
bool ir_has_result(const IrValue *value);
/* Numbers blocks and values anew in the order of the text, without gaps: what the frontend does last, so that the text
 * does not show how it came about. */
void ir_renumber(IrFunc *function);

/* --- text (ir_print.c, ir_parse.c): parse(print(module)) prints the same ------------------------------------------- */
void ir_print(Buf *out, const IrModule *module, bool with_positions);
IrModule *ir_parse(const char *text, Arena *arena, Diag *diag);

/* --- checking (ir_verify.c) ----------------------------------------------------------------------------------------- */
/* Every rule of op.def, SSA dominance, phi shape, terminators. False with DIAG_IR_INVALID. */
bool ir_verify(const IrModule *module, Diag *diag);

/* --- questions (ir_effects.c) ---------------------------------------------------------------------------------------- */
/* For each parameter of the module's kernel: whether the kernel or a function it calls may write to memory reached
 * through it. Exact for what can be traced, true otherwise. written: parameter_count entries. */
void ir_written_parameters(const IrModule *module, bool *written);
/* The function's place among the module's, function_count where it is none of them. */
uint32_t ir_place_of(const IrModule *module, const IrFunc *function);
/* For each function of the module, in order: whether it has a value that is wanted, or calls a function that has one.
 * found: function_count entries. */
void ir_functions_with(const IrModule *module, bool (*is_wanted)(const IrValue *value), bool *found);
/* For each function of the module, in order: whether a call of it may end the thread by an exception. raises:
 * function_count entries. */
void ir_raising_functions(const IrModule *module, bool *raises);
/* Whether the module's first function, or one that it calls, does. */
bool ir_kernel_raises(const IrModule *module, Arena *arena);
/* By place: functions whose result may be an array of the thread's own that they make. It lives on with the caller, so that
 * they are inlined wherever they are called. */
void ir_memory_givers(const IrModule *module, bool *gives);
/* Union of the effects of every reachable intrinsic, and of print (IntrinsicEffects). */
unsigned ir_module_effects(const IrModule *module);

/* --- comparisons of two values (ir_comparison.c) ---------------------------------------------------------------------- */
bool ir_is_comparison(IrOp op);
/* What b and a are where a and b are this: > for <, and = for itself. */
IrOp ir_mirrored(IrOp comparison);
/* What integers are where they are not this: >= for <. */
IrOp ir_negated(IrOp comparison);

/* --- making it short (known_tests.c, simplify_blocks.c, prune.c) ----------------------------------------------------- */
/* Takes tests away that end the thread where a variable lacks a value, if it has one wherever they are made. Blocks to which
 * nothing leads stay. */
void leave_out_known_tests(IrFunc *function);
/* Joins and orders blocks. */
void simplify_blocks(IrFunc *function);
/* Removes values of no effect that nothing uses. asks_checks: but for those that check mode looks at for their own sake,
 * as Python does what they stand for whoever uses it: reads, views, items, and operations that are marked. */
void prune(IrFunc *function, bool asks_checks);

#endif
