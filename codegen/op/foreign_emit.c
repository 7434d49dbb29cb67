/* Calls of functions from elsewhere, by numba's or C's convention (core/foreign.h). What is linked to them is no business
 * of codegen: here they are symbols. */
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/parts.h"

/* The arguments of one call with their types. */
typedef struct Arguments {
    LLVMValueRef *values;
    LLVMTypeRef *types;
    const Type **scalars; /* NULL: no number of the program's */
    uint32_t count;
} Arguments;

static void add(Arguments *arguments, LLVMValueRef value, const Type *scalar)
{
    arguments->scalars[arguments->count] = scalar;
    arguments->types[arguments->count] = LLVMTypeOf(value);
    arguments->values[arguments->count++] = value;
}

/* Half precision is a struct of two bytes in CUDA C. */
static bool is_struct(Emitter *emitter, const Type *scalar)
{
    return scalar->kind == TYPE_FLOAT && scalar->size == 2 && emitter->target->kind == TARGET_NVPTX;
}

static LLVMTypeRef passed_type(Emitter *emitter, const Type *scalar)
{
    LLVMTypeRef type = memory_type(emitter, scalar);
    return is_struct(emitter, scalar) ? LLVMStructTypeInContext(emitter->context, &type, 1, false) : type;
}

static void add_scalar(Emitter *emitter, Arguments *arguments, const Type *type, LLVMValueRef part)
{
    if (type->kind == TYPE_BOOL)
        part = LLVMBuildZExt(emitter->builder, part, emitter->i8, "");
    else if (is_struct(emitter, type))
        part = LLVMBuildInsertValue(emitter->builder, LLVMGetUndef(passed_type(emitter, type)), part, 0, "");
    add(arguments, part, type);
}

/* As numba has arrays: (meminfo, parent, items, itemsize, data, extents, strides). */
static void add_array(Emitter *emitter, Arguments *arguments, const Type *type, const LLVMValueRef *parts)
{
    LLVMValueRef null = LLVMConstNull(emitter->pointer_type), items = const_i64(emitter, 1);
    for (uint32_t axis = 0; axis < type->ndim; axis++)
        items = LLVMBuildMul(emitter->builder, items, parts[part_of_extent(axis)], "");
    add(arguments, null, NULL);
    add(arguments, null, NULL);
    add(arguments, items, NULL);
    add(arguments, const_i64(emitter, type->element->size), NULL);
    add(arguments, parts[0], NULL);
    for (uint32_t axis = 0; axis < type->ndim; axis++)
        add(arguments, parts[part_of_extent(axis)], NULL);
    for (uint32_t axis = 0; axis < type->ndim; axis++)
        add(arguments, array_stride(emitter, type, parts, axis), NULL);
}

/* As numba has complex numbers: the real part, then the imaginary one. */
static void add_complex(Emitter *emitter, Arguments *arguments, const Type *type, const LLVMValueRef *parts)
{
    const Type *part = type->scalar == SCALAR_COMPLEX64 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
    for (int i = 0; i < 2; i++)
        add_scalar(emitter, arguments, part, parts[i]);
}

static void add_operands(Emitter *emitter, const IrValue *value, Arguments *arguments)
{
    for (uint32_t i = 0; i < value->operand_count; i++) {
        const Type *type = value->operands[i]->type;
        const LLVMValueRef *parts = operand_parts(emitter, value, i);
        if (value->foreign->by_pointer[i])
            add(arguments, parts[0], NULL);
        else if (type->kind == TYPE_ARRAY)
            add_array(emitter, arguments, type, parts);
        else if (type->kind == TYPE_COMPLEX)
            add_complex(emitter, arguments, type, parts);
        else
            add_scalar(emitter, arguments, type, parts[0]);
    }
}

/* C widens what is narrower than an int; which way is part of the declaration. */
static void add_extension(Emitter *emitter, LLVMValueRef function, uint32_t place, const Type *scalar)
{
    bool is_narrow = scalar && scalar->size < 4 && (type_is_integer(scalar) || scalar->kind == TYPE_BOOL);
    if (is_narrow)
        LLVMAddAttributeAtIndex(function, place,
                                enum_attribute(emitter, scalar->kind == TYPE_INT ? "signext" : "zeroext", 0));
}

/* The symbol as a function of that type; NULL with a diagnostic where it is something else already. */
static LLVMValueRef declare(Emitter *emitter, const IrValue *value, LLVMTypeRef type, const Arguments *arguments)
{
    const char *symbol = value->foreign->symbol;
    LLVMValueRef known = LLVMGetNamedFunction(emitter->llvm_module, symbol);
    if (known && (LLVMGlobalGetValueType(known) != type || LLVMCountBasicBlocks(known))) {
        const char *why = LLVMCountBasicBlocks(known) || emitter->functions[0].llvm == known
                              ? "the kernel has a function of that name, too"
                              : "it is declared twice, with different types";
        diag_fail(emitter->diag, &value->pos, DIAG_UNSUPPORTED,
                  arena_format(emitter->arena, "%s cannot be called: %s", symbol, why));
        return NULL;
    }
    if (known)
        return known;
    LLVMValueRef function = LLVMAddFunction(emitter->llvm_module, symbol, type);
    add_function_attribute(emitter, function, "convergent", 0);
    add_function_attribute(emitter, function, "nounwind", 0);
    for (uint32_t i = 0; i < arguments->count; i++)
        add_extension(emitter, function, i + 1, arguments->scalars[i]);
    if (value->foreign->abi == FOREIGN_C && value->type->kind != TYPE_NONE)
        add_extension(emitter, function, 0, value->type);
    return function;
}

static void take_result(Emitter *emitter, const Type *type, LLVMValueRef result, LLVMValueRef *out)
{
    if (is_struct(emitter, type))
        result = LLVMBuildExtractValue(emitter->builder, result, 0, "");
    else if (type->kind == TYPE_BOOL)
        result = LLVMBuildICmp(emitter->builder, LLVMIntNE, result, LLVMConstNull(emitter->i8), "");
    out[0] = result;
}

void emit_op_FOREIGN(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    bool is_numbas = value->foreign->abi == FOREIGN_NUMBA, has_result = value->type->kind != TYPE_NONE;
    uint32_t most = 1 + value->operand_count * (5 + 2 * TYPE_MAX_NDIM);
    Arguments arguments = {.values = ARENA_ARRAY(emitter->arena, LLVMValueRef, most),
                           .types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, most),
                           .scalars = ARENA_ARRAY(emitter->arena, const Type *, most)};
    if (is_numbas)
        add(&arguments, prologue_alloca(emitter, has_result ? size_in_memory(value->type) : 8, 16), NULL);
    add_operands(emitter, value, &arguments);
    LLVMTypeRef result = is_numbas ? emitter->i32 : has_result ? passed_type(emitter, value->type) : emitter->void_type;
    LLVMTypeRef type = LLVMFunctionType(result, arguments.types, arguments.count, false);
    LLVMValueRef function = declare(emitter, value, type, &arguments);
    for (uint32_t i = 0; i < part_count(value->type); i++)
        out[i] = LLVMGetUndef(part_type(emitter, value->type));
    if (!function)
        return;
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, type, function, arguments.values, arguments.count, "");
    if (has_result && is_numbas)
        load_parts(emitter, value->type, arguments.values[0], 16, out);
    else if (has_result)
        take_result(emitter, value->type, call, out);
}
