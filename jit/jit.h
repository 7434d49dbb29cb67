/* Public face of the conductor for python/ext: specializations of a function, from cache or compiled, and launch. */
#ifndef CUJIT_JIT_JIT_H
#define CUJIT_JIT_JIT_H

#include "core/ir/ir.h"
#include "core/kernel/kernel_abi.h"
#include "core/snapshot.h"
#include "core/target.h"
#include "runtime/runtime.h"

/* --- argument types as text (signature.c) and as arguments of each other (conversion.c) ------------------------------- */
typedef struct JitSignature {
    const Type *result; /* NULL: not stated */
    uint32_t count;
    const Type *const *arguments;
} JitSignature;

/* Reads "void(float32[:], i4)", "f4(f4)", "(int64, UniTuple(float64, 2))" into the arena. False with a diagnostic. */
bool jit_parse_signature(const char *text, Arena *arena, JitSignature *signature, Diag *diag);
/* Argument types as numba spells them, apart by ", ", for messages. */
void jit_describe_types(Buf *text, const Type *const *types, uint32_t count);

/* What passing an argument of type `from` for a declared parameter of type `to` costs: 0 the same type, more the less
 * the type is kept, -1 it cannot be passed. Numbers convert but never lose an imaginary part or a fraction by kind;
 * arrays keep element type and rank. */
int jit_conversion_cost(const Type *from, const Type *to);
/* The signature of `candidates` that these arguments cost least; -1 when none accepts them. The first of equals; *second:
 * another one, or -1. */
int jit_choose_signature(const JitSignature *candidates, uint32_t candidate_count, const Type *const *types,
                         uint32_t count, int *second);

/* --- compiled functions ------------------------------------------------------------------------------------------------ */
/* A function with its options, and everything compiled of it so far. Thread-safe. */
typedef struct JitFunction JitFunction;
/* One compiled kernel for one device and one list of argument types. Lives as long as its JitFunction. */
typedef struct JitSpecialization JitSpecialization;

/* Borrows the snapshot: it must outlive the function. number: by which the caller finds the function of an exception. NULL
 * when memory is out. */
JitFunction *jit_function_create(const Snapshot *snapshot, const CompileOptions *options, uint32_t number);
/* PTX or machine code from elsewhere, loaded on each device on which something of it is used. Thread-safe. */
typedef struct JitRawModule JitRawModule;
/* Copies the code and the name, which is for messages. NULL when memory is out. */
JitRawModule *jit_raw_module_create(const void *code, size_t size, const char *name, int max_registers);
void jit_raw_module_destroy(JitRawModule *raw);
/* The module on that device, which lives as long as it. NULL with a diagnostic. Call without the GIL. */
RtModule *jit_raw_module_on(JitRawModule *raw, RtDevice *device, Diag *diag);
/* A kernel of a raw module, which must outlive it. There is nothing to inspect in it. NULL when memory is out. */
JitFunction *jit_raw_function_create(JitRawModule *raw, const char *symbol, bool is_cooperative);
/* False where a thread goes on compiling of it and nobody waits any more: then all stays, what it was made of, too. */
bool jit_function_destroy(JitFunction *function);
/* From now on, what is not on disk begins with code that is made quickly; a thread makes the optimized code, which the disk
 * gets, and replaces it. Code that is linked with other code, that tells its launch of anything but exceptions, or that is
 * large, is optimized at once. Before anything is compiled. */
void jit_start_quickly(JitFunction *function);
/* Waits for all such code, of all functions; false where `interrupted` says to stop: then nobody waits for what goes on, and
 * what has not begun is begun by the next launch. */
bool jit_finish_quick_starts(bool (*interrupted)(void));

/* What calls of overloaded functions wait for, with arguments of these types: a list in the arena. Answers make more wishes:
 * ask until there are none. Failures of the kernel's are left to those who compile it. Call without the GIL. */
bool jit_wishes(const JitFunction *function, const Type *const *types, uint32_t count, bool is_kernel, Arena *arena,
                const ImplementationWish **wishes, Diag *diag);
/* Answers a wish for all compilations to come. Takes over the implementation's arena. Threads may answer the same one. */
void jit_add_implementation(JitFunction *function, Implementation *implementation);

/* The kernel for these types on this device: found, or compiled and loaded now. Concurrent first calls compile once.
 * NULL with a diagnostic. Call without the GIL. */
const JitSpecialization *jit_specialize(JitFunction *function, RtDevice *device, const Type *const *types,
                                        uint32_t count, Diag *diag);
/* The same where nothing has to be compiled for it, and no other thread compiles for the function: what is in no time. NULL
 * without a diagnostic. */
const JitSpecialization *jit_specialize_kept(JitFunction *function, RtDevice *device, const Type *const *types,
                                             uint32_t count);
/* Who waits for a specialization no longer than it wants to. */
typedef struct JitPatience {
    bool (*interrupted)(void); /* asked every 50 ms: whether to stop waiting */
    void (*left)(
        void *owner); /* called later, on another thread, when what was not waited for is done with the function */
    void *owner;
} JitPatience;
/* The same, but where `interrupted` says so: then it fails with DIAG_INTERRUPTED, and the function, what it was made of and
 * the owner have to live until left(owner). */
const JitSpecialization *jit_specialize_patiently(JitFunction *function, RtDevice *device, const Type *const *types,
                                                  uint32_t count, const JitPatience *patience, Diag *diag);
/* Only what is compiled already; NULL when it is not. Lock-free. */
const JitSpecialization *jit_find(const JitFunction *function, const RtDevice *device, const Type *const *types,
                                  uint32_t count);
void jit_each_specialization(JitFunction *function, void (*visit)(const JitSpecialization *, void *user), void *user);

/* What every launch asks of one: it begins with this, so that nothing is called for it. */
#define JIT_LAUNCHED_FIELDS        \
    RtDevice *device;              \
    const Type *const *types;      \
    const KernelAbi *abi;          \
    uint32_t count; /* of types */ \
    _Atomic bool is_silent; /* on a GPU, and neither prints nor waits nor tells the host of anything behind a launch */
typedef struct JitLaunched {
    JIT_LAUNCHED_FIELDS
} JitLaunched;
static inline const JitLaunched *jit_launched(const JitSpecialization *specialization)
{
    return (const JitLaunched *)specialization;
}
static inline const KernelAbi *jit_abi(const JitSpecialization *specialization)
{
    return jit_launched(specialization)->abi;
}
static inline RtDevice *jit_device(const JitSpecialization *specialization)
{
    return jit_launched(specialization)->device;
}
static inline const Type *const *jit_types(const JitSpecialization *specialization, uint32_t *count)
{
    *count = jit_launched(specialization)->count;
    return jit_launched(specialization)->types;
}
RtKernel *jit_kernel(const JitSpecialization *specialization);
/* The same once it is optimized: waits, unless `interrupted` (JitPatience) says so. NULL with a diagnostic. Without the GIL,
 * where jit_is_optimized() does not say that there is nothing to wait for. */
RtKernel *jit_optimized_kernel(const JitSpecialization *specialization, bool (*interrupted)(void), Diag *diag);
bool jit_is_optimized(const JitSpecialization *specialization);
/* How many kernels, with those of jit_variant_count(), began with code that was made quickly; *replaced: and have other code. */
uint32_t jit_quick_count(const JitSpecialization *specialization, uint32_t *replaced);
/* What the user should hear, once, of a cache's folder that others may write to; false where there is nothing to tell. */
bool jit_tell_cache_refusal(char *text, size_t size);
/* The folder in which compiled kernels are kept for other processes; false where none are. */
bool jit_cache_folder(char *path, size_t size);
/* What is there, a line for each file, in no order: its name, its bytes, when it was used last (seconds since 1970, to the
 * hour), "gpu" or "cpu", the kernel's symbol, with a tab between. Files that are damaged or not to be trusted are not there.
 * Reads all of them: call without the GIL. memory_free() it; NULL with a diagnostic. */
char *jit_list_cached(Diag *diag);
/* What it was linked with, where somebody may watch that (LinkItem.watcher); else none. */
const LinkItem *const *jit_links(const JitSpecialization *specialization, uint32_t *count);
/* Notes that those who watch know of it, or no more; whether that is new. */
bool jit_announce(const JitSpecialization *specialization, bool is_announced);
/* What making a kernel consists of. From the disk only the last step. */
#define JIT_STEPS(STEP) STEP(frontend) STEP(codegen) STEP(link) STEP(load)
typedef enum JitStep {
#define STEP(name) JIT_STEP_##name,
    JIT_STEPS(STEP)
#undef STEP
        JIT_STEP_COUNT
} JitStep;
extern const char *const jit_step_names[JIT_STEP_COUNT];
/* How many nanoseconds each step took; NULL but for the first who asks. */
const int64_t *jit_take_times(const JitSpecialization *specialization);
/* Whether the disk cache had it. */
bool jit_from_disk(const JitSpecialization *specialization);
/* How many kernels were made besides for launches that it does not hold for. */
uint32_t jit_variant_count(const JitSpecialization *specialization);
/* What the user should hear of its source: "file:line: text" and a newline each. */
const char *jit_warnings(const JitSpecialization *specialization);
/* parameter_count entries: whether the kernel may write through that parameter. */
const bool *jit_written(const JitSpecialization *specialization);
/* Whether the kernel writes to standard output. */
bool jit_prints(const JitSpecialization *specialization);
/* Whether a launch returns when the kernel is done, on every device: debug kernels that can raise. */
bool jit_waits(const JitSpecialization *specialization);
/* What a kernel of the CPU device counts while it runs, if it is observed. */
typedef struct JitObservation {
    Observation kind;
    const char *text; /* what the numbers are of: codegen/host/observe/observe.h */
    size_t text_size;
    void *lines; /* uint8_t for OBSERVE_LINES, uint64_t for OBSERVE_ACCESSES; kernels that run write them */
    uint32_t line_cells;
    ObservedSite *sites; /* with OBSERVE_ACCESSES */
    uint32_t site_count;
} JitObservation;
/* cache.c */
bool jit_is_observed(const JitSpecialization *specialization);
/* That of each code that launches of the specialization may have run; none where it is not observed. */
void jit_each_observation(const JitSpecialization *specialization, void (*visit)(const JitObservation *, void *user),
                          void *user);
/* What went wrong in the arithmetic of a launch: not a failure. */
typedef struct JitOverflow {
    const IrException *what; /* lives as long as the function */
    OverflowRecord record;
} JitOverflow;
typedef struct JitOverflows {
    JitOverflow *items; /* by memory_free() */
    uint32_t count;
} JitOverflows;
/* Launches with the parameter buffer that jit_abi describes, and writes its fields for exceptions; launch->parameters_size is
 * set here. DIAG_KERNEL_EXCEPTION: a thread raised; in this launch if the device is the CPU or the launch waits, else in an
 * earlier one on the stream. *overflows, if there is memory for it, and not NULL: what it is told of. *ran: whether the kernel
 * was launched, which it may have been before a failure. */
bool jit_launch(const JitSpecialization *specialization, RtLaunch *launch, JitOverflows *overflows, bool *ran,
                Diag *diag);
/* The number of the function that a record of an exception is of. */
static inline uint32_t jit_raising_function(const ExceptionRecord *record) { return (uint32_t)(record->tag >> 32); }
/* What the record, which is of this function, says was raised. */
const IrException *jit_exception(JitFunction *function, const ExceptionRecord *record);

/* --- looking inside ------------------------------------------------------------------------------------------------------ */
/* What code for this device is generated for. */
bool jit_target_of_device(const RtDevice *device, Target *target, Diag *diag);

/* What inspect() shows: of the frontend, what a pass for the CPU device left, or what is made for a target. */
typedef enum JitStage { JIT_STAGE_UNKNOWN, JIT_STAGE_FRONTEND, JIT_STAGE_HOST, JIT_STAGE_TARGET } JitStage;
JitStage jit_stage(const char *name);
/* The names of all stages and passes, apart by commas. */
void jit_list_stages(Buf *out);
/* The text of one stage, compiled anew ("asm": PTX for a GPU target), or the bytes of "object". Empty for a pass that does
 * not run. *size: its bytes.
 * Device functions too: exported says how code from elsewhere calls it; NULL: nobody does. memory_free() it; NULL with a
 * diagnostic. */
char *jit_inspect(const JitFunction *function, const Type *const *types, uint32_t count, const Target *target,
                  bool is_kernel, bool any_launch, const char *what, const ForeignExport *exported, size_t *size,
                  Diag *diag);
/* The inferred result of a device function, in the arena. is_stored: values are to be stored, so that a result that no
 * memory holds, such as a text, is an error; else it is what code passes in its place. */
const Type *jit_result_type(const JitFunction *function, const Type *const *types, uint32_t count, bool is_stored,
                            Arena *arena, Diag *diag);

/* IR text -> "asm" of the target. memory_free() it; NULL with a diagnostic. */
char *jit_compile_ir(const char *text, const Target *target, Diag *diag);
const char *jit_llvm_version(void);
/* This processor and what it can do, as LLVM knows it. Static text. */
const char *jit_host_cpu(void);

#endif
