/* How functions of C's and of numba's convention (core/foreign.h) take values and give their result: LLVM's types and what
 * it is told of them, for calls out of the module and for functions that are called from elsewhere. */
#ifndef CUJIT_CODEGEN_C_PASSING_H
#define CUJIT_CODEGEN_C_PASSING_H

#include "codegen/emit.h"
#include "codegen/op/c_registers.h"
#include "codegen/op/value/c_layout.h"
#include "core/foreign.h"

/* What one argument of a value that is passed in parts is. */
typedef struct CArgument {
    enum { ARGUMENT_PART, ARGUMENT_NULL, ARGUMENT_ITEMS, ARGUMENT_ITEMSIZE, ARGUMENT_STRIDE } kind;
    const Type *type; /* of a part that is a number; of an array's arguments the array; else NULL */
    uint32_t part; /* of the array its first one */
    uint32_t axis;
} CArgument;

/* One value on its way. */
typedef struct CPassing {
    enum {
        PASSED_IN_PARTS,
        PASSED_IN_PIECES, /* a struct in registers, read one behind the other from its memory */
        PASSED_IN_MEMORY, /* a struct in memory of its own, whose address is passed */
    } way;
    const Type *type;
    CArgument *arguments; /* in parts */
    uint32_t argument_count;
    CLayout layout; /* of structs */
    LLVMTypeRef pieces[C_MOST_PIECES];
    uint32_t piece_count;
} CPassing;

/* The parameters of one function, and its result. */
typedef struct CFunction {
    ForeignAbi abi;
    CPassing *values, result;
    uint32_t value_count;
    LLVMTypeRef *types, result_type;
    LLVMAttributeRef *attributes, *extensions; /* for each parameter behind the result, which is the first; or NULL */
    uint32_t count;
    bool has_result_pointer; /* is the first parameter */
    uint32_t integers, floats; /* of the CPU device's registers are in use */
} CFunction;

/* How a function passes values of these types. by_pointer: of arrays the address alone; NULL: of none. The type that the
 * convention has no way for is in *refused where that fails. */
bool c_function(Emitter *emitter, ForeignAbi abi, const Type *result, const Type *const *types, const bool *by_pointer,
                uint32_t count, CFunction *out, const Type **refused);
LLVMTypeRef c_function_type(const CFunction *function);
/* What a function, or a call, has to say of its parameters. */
void c_describe_function(const CFunction *function, LLVMValueRef llvm);
void c_describe_call(const CFunction *function, LLVMValueRef call);

/* A value's parts as arguments, and arguments as parts; each returns how many arguments these are. */
uint32_t c_pass(Emitter *emitter, const CPassing *passing, const LLVMValueRef *parts, LLVMValueRef *arguments);
uint32_t c_receive(Emitter *emitter, const CPassing *passing, const LLVMValueRef *arguments, LLVMValueRef *parts);
/* Memory for the result where the caller gives it; NULL: it is returned. */
LLVMValueRef c_result_memory(Emitter *emitter, const CFunction *function);
/* The parts of what a call has given; of a record they say where it is to be. */
void c_take_result(Emitter *emitter, const CFunction *function, LLVMValueRef call, LLVMValueRef memory,
                   LLVMValueRef *parts);
/* Returns these parts from a function whose first parameter may be the result's memory. */
void c_return(Emitter *emitter, const CFunction *function, LLVMValueRef memory, const LLVMValueRef *parts);

#endif
