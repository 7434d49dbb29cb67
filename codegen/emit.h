/* Shared by the files of codegen that turn typed IR into LLVM IR: the state of one compilation, and how a value lies in
 * LLVM registers. A value is a list of parts, never an LLVM aggregate, so that what an access does not use vanishes:
 *   bool: i1 (i8 in memory); numbers: themselves; complex: real, imaginary; none and objects: nothing
 *   array: pointer (generic address space), extent of each axis, byte stride of each axis where the layout is A
 *   tuple: the parts of its items; records are in memory only */
#ifndef CUJIT_CODEGEN_EMIT_H
#define CUJIT_CODEGEN_EMIT_H

#include "codegen/codegen.h"
#include "codegen/llvm.h"
#include "codegen/machine.h"
#include "core/ir/ir_graph.h"
#include "core/kernel/kernel_abi.h"

typedef struct Emitter Emitter;
typedef struct HostEmitter HostEmitter; /* host/host_emitter.h */
typedef struct EmittedFunction EmittedFunction;

/* What differs between the devices while LLVM IR is made. */
typedef struct TargetLowering {
    /* The machine of LLVM's code generator, with texts that live as long as the emitter; false with a diagnostic. */
    bool (*choose_machine)(const Emitter *emitter, MachineKind *kind);
    unsigned pointer_space; /* address space of the data pointers among a kernel's parameters */
    bool splits_unaligned; /* loads and stores must be aligned to their size */
    bool passes_thread; /* every function has the HostThread as its first parameter */
    /* Begins what the device knows besides, before any function; NULL: nothing. */
    void (*begin)(Emitter *emitter);
    /* Calling convention, linkage and attributes of the module's kernel. */
    void (*finish_kernel)(Emitter *emitter, LLVMValueRef function);
    LLVMValueRef (*read_register)(Emitter *emitter, IntrinsicId id);
    /* The device's own way to do a DEVICE intrinsic; false when it has none. out: the parts of the result. */
    bool (*device_intrinsic)(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
    /* Generic pointer to memory for a LOCAL or CELL value; NULL: the thread's stack. NULL function: always there. */
    /* The copy of an array that atomics marked as private go to, and its size, i64, 0 where there is none. */
    LLVMValueRef (*private_copy)(Emitter *emitter, LLVMValueRef *size);
    LLVMValueRef (*thread_memory)(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment);
    /* Generic pointer to the block's shared memory that belongs to this SHARED value. */
    LLVMValueRef (*shared_memory)(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment);
    LLVMValueRef (*dynamic_shared_size)(Emitter *emitter); /* i64, bytes */
    /* Symbol of a MATH intrinsic for float32 or float64; "llvm." in front: an LLVM intrinsic. */
    const char *(*math_symbol)(Emitter *emitter, IntrinsicId id, bool is_double);
    /* What LLVM is told of a call of such a symbol; NULL: nothing. */
    void (*describe_math_call)(Emitter *emitter, const char *symbol, LLVMValueRef call);
    /* Emits the kernel in a way of the device's own; false: it has none for this one. NULL: for any. */
    bool (*emit_kernel)(Emitter *emitter, const EmittedFunction *kernel);
    /* Emits a function that has assembly, where that is the device's; false: its body is, or with a diagnostic. */
    bool (*emit_assembly)(Emitter *emitter, const EmittedFunction *function);
    /* After all functions: entries, libraries. False with a diagnostic. */
    bool (*finish_module)(Emitter *emitter);
    /* Each function, emitter in front, when the code generator is about to choose instructions; NULL: nothing is left to do. */
    void (*before_selection)(void *emitter, LLVMValueRef function);
    /* A copy of the code, a text with a NUL behind it, as the device is to get it, and its size; NULL: as LLVM wrote it. */
    char *(*change_text)(const char *text, size_t *size);
    /* What a launch must know that other devices do not have; NULL: nothing. */
    void (*describe_image)(const Emitter *emitter, KernelImage *image);
    /* One part of a LOAD or STORE with a hint, as it lies in memory; NULL: as without the hint. */
    LLVMValueRef (*load_with_hint)(Emitter *emitter, const IrValue *value, LLVMTypeRef memory, LLVMValueRef address);
    void (*store_with_hint)(Emitter *emitter, const IrValue *value, const Type *scalar, LLVMValueRef address,
                            LLVMValueRef part);
    /* atomicrmw, relaxed, for the system or else for the block; NULL: LLVM's own keeps the scope. */
    LLVMValueRef (*scoped_read_modify_write)(Emitter *emitter, bool is_system, LLVMAtomicRMWBinOp operation,
                                             LLVMValueRef address, LLVMValueRef operand);
    bool converts_by_tests; /* LLVM's conversion of floats to integers that saturates is not one for vectors */
    uint32_t print_operands; /* that print takes at most */
    /* Writes a format with a buffer of 8 bytes for each operand; both are generic pointers. */
    void (*print)(Emitter *emitter, LLVMValueRef format, LLVMValueRef buffer);
    /* Ends the thread in a function that no kernel of the module calls. */
    void (*end_thread)(Emitter *emitter);
} TargetLowering;

extern const TargetLowering target_nvptx, target_host;

/* Whether a thread had the trip, and whether it has ended in it by an exception. */
typedef enum TripResult { TRIP_LACKING, TRIP_HAD, TRIP_RAISED } TripResult;

struct EmittedFunction {
    const IrFunc *ir;
    LLVMValueRef llvm;
    LLVMTypeRef type;
    bool is_inlined; /* into every caller, whatever LLVM thinks of it */
    bool gives_memory; /* its result may be an array that it makes */
    uint64_t copies; /* of its body, where it gives memory: each has arrays of its own */
    bool is_trip; /* host: of a kernel's loop; its number is the last parameter, the result a TripResult, i8 */
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
    Machine *held;
    LLVMTargetMachineRef machine; /* the same, as LLVM has it */
    LLVMTargetDataRef data_layout;
    LLVMModuleRef llvm_module;
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
    bool takes_turns; /* KernelImage */
    bool is_quick; /* it is to be compiled quickly, and as its size is known: is */
    uint32_t static_shared, local_size;
    uint64_t constant_size; /* bytes of DATA so far */
    uint32_t text_count; /* constant strings so far */
    HostEmitter *host; /* what the CPU device knows besides; NULL: it is for another device */
    LLVMValueRef dynamic_shared; /* NVPTX: the external symbol */
    LLVMValueRef moved_shared; /* NVPTX: bytes of dynamic memory before the program's own; NULL: nobody asks */
    bool for_nvvm; /* NVPTX: what is made is text for libNVVM, not code */
    bool for_llvm7; /* NVPTX: what is made is text for libNVVM, where it reads LLVM 7's */
    LLVMDIBuilderRef debug; /* NULL: no source lines wanted */
    char llvm_error[1024]; /* first error of LLVM's diagnostic handler */

    /* the function being emitted */
    const IrFunc *function;
    const IrGraph *graph; /* its own */
    LLVMValueRef llvm_function;
    const EmittedFunction *emitted; /* the same */
    LLVMValueRef thread; /* host: the HostThread pointer */
    LLVMValueRef record, tag; /* where exceptions go and what the kernel is called there; NULL: nobody is told */
    LLVMBasicBlockRef unwind; /* ends the thread after an exception; NULL: not needed so far */
    LLVMBasicBlockRef exit; /* where many results come together; NULL: not needed so far */
    LLVMValueRef *results; /* phis in it */
    struct Report *reports; /* record exceptions, then unwind: one for each number of values that these have */
    struct LargeTuple *tuples; /* the last one first */
    LLVMValueRef **parts; /* by IrValue.id */
    LLVMValueRef *parameters; /* parts of all parameters one after another */
    LLVMBasicBlockRef *block_start, *block_end; /* by IrBlock.id; an emitter may add blocks of its own */
    LLVMBasicBlockRef *second_edge; /* by IrBlock.id: where the second target goes through when it is the first, too */
    LLVMBasicBlockRef prologue; /* allocas */
    LLVMMetadataRef scope; /* its subprogram in debug information; NULL: none */
};

typedef void (*OpEmitter)(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
#define OP(id, text, operands, result, immediate, hint, flags) \
    void emit_op_##id(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
#include "core/ir/op.def"
#undef OP

#endif
