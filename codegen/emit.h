/* Shared by the files of codegen that turn typed IR into LLVM IR: the state of one compilation, and how a value lies in
 * LLVM registers. A value is a list of parts, never an LLVM aggregate, so that what an access does not use vanishes:
 *   bool: i1 (i8 in memory); numbers: themselves; complex: real, imaginary; none and objects: nothing
 *   array: pointer (generic address space), extent of each axis, byte stride of each axis where the layout is A
 *   tuple: the parts of its items; records are in memory only */
#ifndef CUJIT_CODEGEN_EMIT_H
#define CUJIT_CODEGEN_EMIT_H

#include "codegen/codegen.h"
#include "codegen/llvm.h"
#include "codegen/host/regions/stride_loop.h"
#include "core/kernel_abi.h"

typedef struct Emitter Emitter;
typedef struct PhaseEmission PhaseEmission; /* phase_emit.c */
typedef struct ThreadRange ThreadRange;

typedef struct EmittedFunction EmittedFunction;

/* What differs between the devices while LLVM IR is made. */
typedef struct TargetLowering {
    /* A machine for LLVM, owned by the caller; NULL with a diagnostic. */
    LLVMTargetMachineRef (*create_machine)(const Target *target, const CompileOptions *options, Diag *diag);
    unsigned pointer_space; /* address space of the data pointers among a kernel's parameters */
    bool splits_unaligned; /* loads and stores must be aligned to their size */
    bool passes_thread; /* every function has the HostThread as its first parameter */
    /* Calling convention, linkage and attributes of the module's kernel. */
    void (*finish_kernel)(Emitter *emitter, LLVMValueRef function);
    LLVMValueRef (*read_register)(Emitter *emitter, IntrinsicId id);
    /* The device's own way to do a DEVICE intrinsic; false when it has none. out: the parts of the result. */
    bool (*device_intrinsic)(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
    /* Generic pointer to the block's shared memory that belongs to this SHARED value. */
    LLVMValueRef (*shared_memory)(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment);
    LLVMValueRef (*dynamic_shared_size)(Emitter *emitter); /* i64, bytes */
    /* Symbol of a MATH intrinsic for float32 or float64; "llvm." in front: an LLVM intrinsic. */
    const char *(*math_symbol)(Emitter *emitter, IntrinsicId id, bool is_double);
    /* What LLVM is told of a call of such a symbol; NULL: nothing. */
    void (*describe_math_call)(Emitter *emitter, const char *symbol, LLVMValueRef call);
    /* Emits the kernel in a way of the device's own; false: it has none for this one. NULL: for any. */
    bool (*emit_kernel)(Emitter *emitter, const EmittedFunction *kernel);
    /* After all functions: entries, libraries. False with a diagnostic. */
    bool (*finish_module)(Emitter *emitter);
    uint32_t print_operands; /* that print takes at most */
    /* Writes a format with a buffer of 8 bytes for each operand; both are generic pointers. */
    void (*print)(Emitter *emitter, LLVMValueRef format, LLVMValueRef buffer);
    /* Ends the thread in a function that no kernel of the module calls. */
    void (*end_thread)(Emitter *emitter);
} TargetLowering;

extern const TargetLowering target_nvptx, target_host;

struct EmittedFunction {
    const IrFunc *ir;
    LLVMValueRef llvm;
    LLVMTypeRef type;
    bool is_gone; /* nobody calls it any more */
    bool is_inlined; /* into every caller, whatever LLVM thinks of it */
    bool raises; /* a device function whose last part of the result says that an exception ends the thread */
};

struct Emitter {
    const IrModule *ir;
    const Target *target;
    const CompileOptions *options;
    const TargetLowering *lowering;
    Arena *arena;
    Diag *diag;

    LLVMContextRef context;
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef data_layout;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef void_type, pointer_type, i1, i8, i32, i64, f32, f64;
    LLVMTypeRef scalar_types[SCALAR_COUNT]; /* in registers; complex: of one part */
    unsigned arithmetic_flags; /* fast-math flags of + - * and what is made of them */
    unsigned division_flags; /* of / and calls of math functions */
    unsigned comparison_flags; /* of comparisons, minimum and maximum */
    EmittedFunction *functions; /* in the module's order */
    const KernelAbi *abi; /* of the first function when it is a kernel */
    const char *entry; /* symbol of the kernel or the visible device function */
    unsigned effects; /* of the module */
    uint32_t static_shared, local_size;
    uint32_t context_size; /* host: bytes that a block keeps for each thread */
    bool runs_phases; /* host: the kernel's function runs all threads of a block */
    const ThreadRange *body_range; /* host: what the kernel's function leaves untested; NULL: nothing */
    uint64_t constant_size; /* bytes of DATA so far */
    uint32_t text_count; /* constant strings so far */
    uint32_t meeting_count; /* host: calls so far at which lanes meet */
    LLVMValueRef dynamic_shared; /* NVPTX: the external symbol */
    LLVMValueRef moved_shared; /* NVPTX: bytes of dynamic memory before the program's own; NULL: nobody asks */
    LLVMDIBuilderRef debug; /* NULL: no source lines wanted */
    char llvm_error[1024]; /* first error of LLVM's diagnostic handler */

    /* the function being emitted */
    const IrFunc *function;
    LLVMValueRef llvm_function;
    const EmittedFunction *emitted; /* the same */
    LLVMValueRef thread; /* host: the HostThread pointer */
    LLVMValueRef record, tag; /* where exceptions go and what the kernel is called there; NULL: nobody is told */
    LLVMBasicBlockRef unwind; /* ends the thread after an exception; NULL: not needed so far */
    LLVMBasicBlockRef report; /* records an exception without values, then unwinds; NULL: likewise */
    LLVMValueRef report_code; /* phi in `report`: i32 */
    LLVMValueRef **parts; /* by IrValue.id */
    LLVMValueRef *parameters; /* parts of all parameters one after another */
    LLVMBasicBlockRef *block_start, *block_end; /* by IrBlock.id; an emitter may add blocks of its own */
    LLVMBasicBlockRef *second_edge; /* by IrBlock.id: where the second target goes through when it is the first, too */
    LLVMBasicBlockRef prologue; /* allocas */
    LLVMMetadataRef scope; /* its subprogram in debug information; NULL: none */
    const StrideLoop *stride; /* the function is one trip of this loop, returns whether there was one; else NULL */
    LLVMValueRef trip; /* its number, i64, the last parameter */
    LLVMBasicBlockRef trip_done;
    const ThreadRange *range; /* threads that fail its tests do not run the function; NULL: all do */
    PhaseEmission *phase_emission; /* the function runs all threads of a block; else NULL */
};

typedef void (*OpEmitter)(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
#define OP(id, text, operands, result, immediate, flags) \
    void emit_op_##id(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
#include "core/ir/op.def"
#undef OP

/* --- module_emit.c ----------------------------------------------------------------------------------------------- */
/* Makes context, machine, module and types. The emitter's inputs are set, the rest zero. */
bool emitter_open(Emitter *emitter);
void emitter_close(Emitter *emitter);
bool emit_module(Emitter *emitter);

/* --- ir_to_llvm.c ------------------------------------------------------------------------------------------------- */
void emit_function_body(Emitter *emitter, const EmittedFunction *function);
/* The same kernel as one trip of its loop: the parameters and the trip's number -> i1. */
void emit_stride_trip(Emitter *emitter, const EmittedFunction *function, const StrideLoop *loop);

/* What both are made of. Builds stay behind in emitter->prologue; blocks are emitted by the caller. */
void begin_ir_function(Emitter *emitter, const EmittedFunction *function);
void emit_ir_value(Emitter *emitter, const IrValue *value);
/* Gives a phi its values, once the blocks that control comes from are emitted. */
void fill_ir_phi(Emitter *emitter, const IrValue *phi);

/* --- phase_emit.c: while emitter->phase_emission is set ------------------------------------------------------------- */
/* Where a thread goes; where it ends. */
LLVMBasicBlockRef phase_target(Emitter *emitter, const IrValue *terminator, uint32_t index);
LLVMBasicBlockRef phase_thread_end(Emitter *emitter);
/* Memory for what this value is to each thread: a local array or a cell. */
LLVMValueRef phase_memory(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment);

/* --- inlining.c -------------------------------------------------------------------------------------------------- */
/* Sets is_inlined of all functions. */
void choose_inlined(Emitter *emitter);

/* --- parts.c ------------------------------------------------------------------------------------------------------ */
static inline uint32_t part_count(const Type *type) { return type_part_count(type); }
/* Writes the types of the parts; returns how many. */
uint32_t part_types(Emitter *emitter, const Type *type, LLVMTypeRef *out);
/* Place of the first part of item `index` of a tuple. */
uint32_t part_of_item(const Type *type, uint32_t index);
static inline uint32_t part_of_extent(uint32_t axis) { return 1 + axis; }
LLVMTypeRef memory_type(Emitter *emitter, const Type *scalar);
LLVMTypeRef part_type(Emitter *emitter, const Type *scalar);
uint64_t size_in_memory(const Type *type);
/* Scalars and vectors from memory and back; the address is a multiple of `alignment` bytes. */
void load_parts(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment, LLVMValueRef *out);
void store_parts(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment,
                 const LLVMValueRef *parts);
/* Values of any type: bytes, and part by part into memory that is a multiple of 8 bytes away from 0, and back. */
uint32_t value_size(Emitter *emitter, const Type *type);
void load_value(Emitter *emitter, const Type *type, LLVMValueRef address, LLVMValueRef *out);
void store_value(Emitter *emitter, const Type *type, LLVMValueRef address, const LLVMValueRef *parts);
/* The parts of an operand; the only part of a scalar operand. */
LLVMValueRef *operand_parts(Emitter *emitter, const IrValue *value, uint32_t index);
LLVMValueRef operand_scalar(Emitter *emitter, const IrValue *value, uint32_t index);

/* --- emit_tools.c --------------------------------------------------------------------------------------------------- */
LLVMValueRef const_i64(Emitter *emitter, int64_t value);
LLVMValueRef const_i32(Emitter *emitter, int32_t value);
LLVMAttributeRef enum_attribute(Emitter *emitter, const char *name, uint64_t value);
void add_function_attribute(Emitter *emitter, LLVMValueRef function, const char *name, uint64_t value);
void add_text_attribute(Emitter *emitter, LLVMValueRef function, const char *name, const char *value);
/* range(type low, high) with high excluded, for a parameter (1 and up) or the result (0). */
LLVMAttributeRef range_attribute(Emitter *emitter, unsigned bits, int64_t low, int64_t high);
/* !range metadata on a load; high excluded. */
void set_load_range(Emitter *emitter, LLVMValueRef load, int64_t low, int64_t high);
LLVMValueRef call_llvm(Emitter *emitter, const char *name, LLVMTypeRef overload, uint32_t count,
                       LLVMValueRef *arguments);
/* An LLVM intrinsic whose overloads are given. */
LLVMValueRef call_llvm_overloaded(Emitter *emitter, const char *name, LLVMTypeRef *overloads, uint32_t overload_count,
                                  uint32_t count, LLVMValueRef *arguments);
/* A declared function of the module without side effects. */
LLVMValueRef call_pure(Emitter *emitter, const char *symbol, LLVMTypeRef result, uint32_t count,
                       LLVMValueRef *arguments);
/* Sets fast-math flags where the value is an instruction that has them; returns the value. */
LLVMValueRef with_flags(LLVMValueRef value, unsigned flags);
LLVMBasicBlockRef new_block(Emitter *emitter);
/* Bytes behind an address; in bounds. */
LLVMValueRef offset_address(Emitter *emitter, LLVMValueRef address, int64_t bytes);
/* A static alloca in the function's prologue. */
LLVMValueRef prologue_alloca(Emitter *emitter, uint64_t size, uint32_t alignment);

/* --- arithmetic, in its files ---------------------------------------------------------------------------------------- */
LLVMValueRef float_add(Emitter *emitter, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef float_subtract(Emitter *emitter, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef float_multiply(Emitter *emitter, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef float_negate(Emitter *emitter, const Type *type, LLVMValueRef x);
LLVMValueRef float_divide(Emitter *emitter, LLVMValueRef a, LLVMValueRef b);
/* out: two parts. */
void complex_multiply(Emitter *emitter, const LLVMValueRef *a, const LLVMValueRef *b, LLVMValueRef *out);
void complex_divide(Emitter *emitter, const LLVMValueRef *a, const LLVMValueRef *b, LLVMValueRef *out);
void complex_power(Emitter *emitter, const Type *type, const LLVMValueRef *a, const LLVMValueRef *b, LLVMValueRef *out);
/* A MATH intrinsic on scalars of this type. */
LLVMValueRef emit_math(Emitter *emitter, IntrinsicId id, const Type *type, uint32_t count, LLVMValueRef *arguments);
void convert_parts(Emitter *emitter, const Type *from, const Type *to, const LLVMValueRef *in, LLVMValueRef *out);

/* --- exception_emit.c --------------------------------------------------------------------------------------------------- */
/* How many parameters a raising function has for them, and their types. */
uint32_t exception_parameters(Emitter *emitter, bool raises, LLVMTypeRef *types);
/* Leaves the function where a call of a raising one said so; emission continues where it did not. */
void emit_unwind_if(Emitter *emitter, LLVMValueRef raised);

/* --- small_float.c ------------------------------------------------------------------------------------------------------ */
/* Whether LLVM's own conversions, fma and negation of bfloat16 are the target's. */
bool has_bfloat_instructions(const Target *target);
/* A float of any size as one of any other, rounded once. */
LLVMValueRef float_cast(Emitter *emitter, LLVMValueRef in, LLVMTypeRef to);
LLVMValueRef integer_to_float(Emitter *emitter, LLVMValueRef in, bool is_signed, LLVMTypeRef to);
/* a * b + c of float16 or bfloat16, rounded once, without an instruction for it. */
LLVMValueRef small_fma(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments);

/* --- array_emit.c ----------------------------------------------------------------------------------------------------- */
/* Address of the element whose indices are value's operands from `first_index` on. */
LLVMValueRef element_address(Emitter *emitter, const IrValue *value, uint32_t first_index);
/* Bytes of a LOCAL value's array, alignment included. */
uint64_t local_array_size(const IrValue *value);
/* cuda.wide.load and cuda.wide.store. */
void emit_wide_load(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
void emit_wide_store(Emitter *emitter, const IrValue *value);

/* --- integer_emit.c --------------------------------------------------------------------------------------------------- */
/* False where it is none of these. */
bool emit_integer_intrinsic(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
/* Bytes of x[0] and x[1] as the selector x[2] picks them; the upper half of x[0] * x[1]; x[2] + |x[0] - x[1]|. */
LLVMValueRef permute_bytes(Emitter *emitter, LLVMValueRef *x);
LLVMValueRef multiply_high(Emitter *emitter, bool with_sign, LLVMValueRef *x);
LLVMValueRef sum_of_difference(Emitter *emitter, bool with_sign, LLVMValueRef *x);

/* --- cache_hint.c ----------------------------------------------------------------------------------------------------- */
/* LOAD and STORE with a hint, of scalars that are aligned. */
void emit_hinted_load(Emitter *emitter, const IrValue *value, LLVMValueRef address, LLVMValueRef *out);
void emit_hinted_store(Emitter *emitter, const IrValue *value, LLVMValueRef address, const LLVMValueRef *parts);

/* --- atomic_scope.c --------------------------------------------------------------------------------------------------- */
/* atomicrmw of a GPU, relaxed, for the system or else for the block. */
LLVMValueRef scoped_read_modify_write(Emitter *emitter, bool is_system, LLVMAtomicRMWBinOp operation,
                                      LLVMValueRef address, LLVMValueRef operand);
/* What the operation makes of the old value. */
LLVMValueRef combine_atomic(Emitter *emitter, LLVMAtomicRMWBinOp operation, LLVMValueRef old, LLVMValueRef operand);
/* The same on either device as a loop of compare-and-exchange; scope: LLVM's number. */
LLVMValueRef read_modify_write_by_exchange(Emitter *emitter, LLVMAtomicRMWBinOp operation, LLVMValueRef address,
                                           LLVMValueRef operand, unsigned scope);

/* --- debug_lines.c ------------------------------------------------------------------------------------------------------ */
void begin_debug_lines(Emitter *emitter);
void begin_debug_function(Emitter *emitter, const EmittedFunction *function);
/* Of what the builder makes next. */
void set_debug_position(Emitter *emitter, const SourcePos *pos);
/* What the builder makes next has no position. */
void end_debug_function(Emitter *emitter);

/* --- libdevice.c -------------------------------------------------------------------------------------------------------- */
/* Links the libdevice functions that the module declares. */
bool link_libdevice(Emitter *emitter);
bool libdevice_has(const char *name);

/* --- host_nvvm.c -------------------------------------------------------------------------------------------------------- */
/* Replaces the intrinsics of NVIDIA GPUs that libdevice's code calls by what computes the same on the host. */
bool lower_nvvm_intrinsics(Emitter *emitter);

/* --- vector_call.c ------------------------------------------------------------------------------------------------------ */
/* Names the vector forms of an elementary function to LLVM; keeps their declarations until loops are vectorized. */
void describe_vector_forms(Emitter *emitter, const char *symbol, LLVMValueRef call);
void keep_vector_forms(Emitter *emitter);

/* --- optimize.c ----------------------------------------------------------------------------------------------------------- */
bool optimize_module(Emitter *emitter);
/* local_atomic.c: for GPUs, behind the passes. */
void make_local_atomics_plain(Emitter *emitter);

/* --- tensor_nvptx.c, tensor_host.c ---------------------------------------------------------------------------------------- */
/* Rows of intrinsic_tensor.def; false for others. */
bool emit_tensor_nvptx(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
bool emit_tensor_host(Emitter *emitter, const IrValue *value, LLVMValueRef *out);

/* --- target_host.c ---------------------------------------------------------------------------------------------------------- */
/* Keeps the line of a call that leads from the user's code into the library's. */
void host_note_call(Emitter *emitter, const IrValue *call);
/* The line of the user's code for messages, an i32. */
LLVMValueRef host_line(Emitter *emitter, const IrValue *value);
/* Calls the service at that offset of HostServices; the thread is its first argument. */
LLVMValueRef call_host_service(Emitter *emitter, size_t offset, LLVMTypeRef result, uint32_t count,
                               const LLVMValueRef *arguments);

/* --- host_entry.c ---------------------------------------------------------------------------------------------------------- */
void emit_host_entries(Emitter *emitter, const EmittedFunction *body);

#endif
