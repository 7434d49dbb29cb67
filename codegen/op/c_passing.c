/* Conventions of calls. C's: a struct is itself, on GPUs as bytes that are aligned like it, on the CPU device in registers or
 * memory as its processor's convention says. Numba's: the parts of each value one by one, a result through a pointer. */
#include "codegen/op/c_passing.h"

#include <string.h>

#include "codegen/emit_tools.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/parts.h"

enum { RESULT_ALIGNMENT = 16 };

static bool is_gpu(const Emitter *emitter) { return emitter->target->kind == TARGET_NVPTX; }

/* Half precision is a struct of two bytes in CUDA C. */
static bool is_half_struct(Emitter *emitter, const Type *scalar) { return type_is_half(scalar) && is_gpu(emitter); }

static LLVMTypeRef scalar_type(Emitter *emitter, const Type *scalar)
{
    LLVMTypeRef type = memory_type(emitter, scalar);
    return is_half_struct(emitter, scalar) ? LLVMStructTypeInContext(emitter->context, &type, 1, false) : type;
}

static LLVMValueRef pass_scalar(Emitter *emitter, const Type *type, LLVMValueRef part)
{
    if (type->kind == TYPE_BOOL)
        return LLVMBuildZExt(emitter->builder, part, emitter->i8, "");
    if (is_half_struct(emitter, type))
        return LLVMBuildInsertValue(emitter->builder, LLVMGetUndef(scalar_type(emitter, type)), part, 0, "");
    return part;
}

static LLVMValueRef receive_scalar(Emitter *emitter, const Type *type, LLVMValueRef argument)
{
    if (type->kind == TYPE_BOOL)
        return LLVMBuildICmp(emitter->builder, LLVMIntNE, argument, LLVMConstNull(emitter->i8), "");
    return is_half_struct(emitter, type) ? LLVMBuildExtractValue(emitter->builder, argument, 0, "") : argument;
}

/* Who calls widens what is narrower than an int, on most processors; which way is part of the declaration. */
static LLVMAttributeRef extension(Emitter *emitter, const Type *scalar)
{
    bool is_narrow = (is_gpu(emitter) || c_convention.is_widened) && scalar && scalar->size < 4 &&
                     (type_is_integer(scalar) || scalar->kind == TYPE_BOOL);
    return is_narrow ? enum_attribute(emitter, scalar->kind == TYPE_INT ? "signext" : "zeroext", 0) : NULL;
}

static LLVMAttributeRef type_attribute(Emitter *emitter, const char *name, uint64_t size)
{
    return LLVMCreateTypeAttribute(emitter->context, LLVMGetEnumAttributeKindForName(name, strlen(name)),
                                   LLVMArrayType2(emitter->i8, size));
}

/* --- the way of one value ------------------------------------------------------------------------------------------------ */
static void add_argument(CPassing *passing, int kind, const Type *type, uint32_t part, uint32_t axis)
{
    passing->arguments[passing->argument_count++] = (CArgument){.kind = kind, .type = type, .part = part, .axis = axis};
}

/* As numba has arrays: (meminfo, parent, items, itemsize, data, extents, strides). */
static void add_numba_array(CPassing *passing, const Type *array, uint32_t part)
{
    add_argument(passing, ARGUMENT_NULL, NULL, 0, 0);
    add_argument(passing, ARGUMENT_NULL, NULL, 0, 0);
    add_argument(passing, ARGUMENT_ITEMS, array, part, 0);
    add_argument(passing, ARGUMENT_ITEMSIZE, array, part, 0);
    add_argument(passing, ARGUMENT_PART, NULL, part, 0);
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        add_argument(passing, ARGUMENT_PART, TYPE_OF(INT64), part + part_of_extent(axis), 0);
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        add_argument(passing, ARGUMENT_STRIDE, array, part, axis);
}

static void add_parts(CPassing *passing, ForeignAbi abi, const Type *type, bool by_pointer, uint32_t part)
{
    if (by_pointer || type_is_pointer(type) || c_record(type)) {
        add_argument(passing, ARGUMENT_PART, NULL, part, 0);
    } else if (type->kind == TYPE_ARRAY && abi == FOREIGN_NUMBA) {
        add_numba_array(passing, type, part);
    } else if (type->kind == TYPE_ARRAY) {
        add_argument(passing, ARGUMENT_PART, NULL, part, 0);
        for (uint32_t i = 1; i < part_count(type); i++)
            add_argument(passing, ARGUMENT_PART, TYPE_OF(INT64), part + i, 0);
    } else if (type_is_optional(type)) { /* the value comes first */
        add_parts(passing, abi, type->items[1], false, part + part_count(type->items[0]));
        add_parts(passing, abi, type->items[0], false, part);
    } else if (type->kind == TYPE_TUPLE) {
        for (uint32_t i = 0; i < type->count; i++)
            add_parts(passing, abi, type->items[i], false, part + part_of_item(type, i));
    } else if (type->kind == TYPE_COMPLEX) {
        const Type *half = type->scalar == SCALAR_COMPLEX64 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
        add_argument(passing, ARGUMENT_PART, half, part, 0);
        add_argument(passing, ARGUMENT_PART, half, part + 1, 0);
    } else if (type_is_scalar(type)) {
        add_argument(passing, ARGUMENT_PART, type, part, 0);
    } else if (abi == FOREIGN_NUMBA) { /* None and its like */
        add_argument(passing, ARGUMENT_NULL, NULL, 0, 0);
    }
}

static void choose_way(Emitter *emitter, CPassing *passing)
{
    const CLayout *layout = &passing->layout;
    passing->way = PASSED_IN_PIECES;
    if (!is_gpu(emitter)) {
        if (!c_convention.choose_registers(emitter, layout, passing->pieces, &passing->piece_count))
            passing->way = PASSED_IN_MEMORY;
        return;
    }
    uint32_t word = layout->alignment < C_EIGHTBYTE ? layout->alignment : C_EIGHTBYTE;
    passing->piece_count = 1;
    passing->pieces[0] = LLVMArrayType2(LLVMIntTypeInContext(emitter->context, 8 * word), layout->size / word);
}

static bool is_struct(ForeignAbi abi, const Type *type)
{
    return abi == FOREIGN_C &&
           (type->kind == TYPE_COMPLEX || c_record(type) || (type->kind == TYPE_TUPLE && !type_is_pointer(type)));
}

/* A member of an enum is its value. */
static const Type *without_enum(const Type *type) { return type_has_trait(type, TRAIT_MEMBER) ? type->items[0] : type; }

static bool find_way(Emitter *emitter, ForeignAbi abi, const Type *type, bool by_pointer, CPassing *out)
{
    type = without_enum(type);
    *out = (CPassing){.type = type};
    if (is_struct(abi, type) && !by_pointer) {
        if (!c_layout(emitter, type, is_gpu(emitter) ? DIALECT_CUDA : DIALECT_C, &out->layout))
            return false;
        choose_way(emitter, out);
        return true;
    }
    out->arguments = ARENA_ARRAY(emitter->arena, CArgument, 5 * (part_count(type) + 1));
    add_parts(out, abi, type, by_pointer, 0);
    return true;
}

/* --- functions ----------------------------------------------------------------------------------------------------------- */
static void add_parameter(CFunction *to, LLVMTypeRef type, LLVMAttributeRef attribute, LLVMAttributeRef second)
{
    bool is_integer = LLVMGetTypeKind(type) == LLVMIntegerTypeKind || LLVMGetTypeKind(type) == LLVMPointerTypeKind;
    to->integers += is_integer;
    to->floats += !is_integer;
    to->types[to->count++] = type;
    to->attributes[to->count] = attribute;
    to->extensions[to->count] = second;
}

static LLVMTypeRef argument_type(Emitter *emitter, const CArgument *argument)
{
    if (argument->kind == ARGUMENT_NULL || (argument->kind == ARGUMENT_PART && !argument->type))
        return emitter->pointer_type;
    return argument->kind == ARGUMENT_PART ? scalar_type(emitter, argument->type) : emitter->i64;
}

static LLVMAttributeRef struct_alignment(Emitter *emitter, const CLayout *layout)
{
    return is_gpu(emitter) && layout->alignment > C_EIGHTBYTE ? enum_attribute(emitter, "alignstack", layout->alignment)
                                                              : NULL;
}

static uint32_t memory_alignment(const CLayout *layout)
{
    return layout->alignment > C_EIGHTBYTE ? layout->alignment : C_EIGHTBYTE;
}

/* A struct is in registers as a whole or not at all. */
static void keep_in_registers(CFunction *to, CPassing *passing)
{
    uint32_t floats = 0;
    for (uint32_t i = 0; i < passing->piece_count; i++)
        floats += LLVMGetTypeKind(passing->pieces[i]) != LLVMIntegerTypeKind;
    uint32_t integers = passing->piece_count - floats;
    if ((floats && to->floats + floats > c_convention.float_registers) ||
        (integers && to->integers + integers > c_convention.integer_registers))
        passing->way = PASSED_IN_MEMORY;
}

static void add_value(Emitter *emitter, CFunction *to, CPassing *passing)
{
    if (passing->way == PASSED_IN_PARTS) {
        for (uint32_t i = 0; i < passing->argument_count; i++) {
            const CArgument *argument = &passing->arguments[i];
            const Type *scalar = argument->kind == ARGUMENT_PART ? argument->type : NULL;
            add_parameter(to, argument_type(emitter, argument), NULL, extension(emitter, scalar));
        }
        return;
    }
    if (!is_gpu(emitter) && passing->way == PASSED_IN_PIECES && c_convention.integer_registers)
        keep_in_registers(to, passing);
    if (passing->way == PASSED_IN_MEMORY && !c_convention.is_copied_to_stack) {
        add_parameter(to, emitter->pointer_type, NULL, NULL);
        return;
    }
    if (passing->way == PASSED_IN_MEMORY) {
        add_parameter(to, emitter->pointer_type, type_attribute(emitter, "byval", passing->layout.size),
                      enum_attribute(emitter, "align", memory_alignment(&passing->layout)));
        to->integers--; /* its place is on the stack */
        return;
    }
    for (uint32_t i = 0; i < passing->piece_count; i++)
        add_parameter(to, passing->pieces[i], struct_alignment(emitter, &passing->layout), NULL);
}

/* numba's: what the pointer leads to. An array is a struct of what it is passed as. */
static bool choose_numba_result(Emitter *emitter, CFunction *to, const Type *type)
{
    to->result_type = emitter->i32;
    to->has_result_pointer = true;
    add_parameter(to, emitter->pointer_type, NULL, NULL);
    return type->kind == TYPE_NONE || (type->kind == TYPE_ARRAY && type->ndim > 0) ||
           c_layout(emitter, type, DIALECT_C, &to->result.layout);
}

static bool choose_result(Emitter *emitter, CFunction *to, const Type *type)
{
    to->result_type = emitter->void_type;
    if (type->kind != TYPE_NONE && !find_way(emitter, to->abi, type, false, &to->result))
        return false;
    if (to->abi == FOREIGN_NUMBA)
        return choose_numba_result(emitter, to, to->result.type ? to->result.type : type);
    const CPassing *result = &to->result;
    if (type->kind == TYPE_NONE)
        return true;
    if (result->way == PASSED_IN_MEMORY) {
        to->has_result_pointer = true;
        add_parameter(to, emitter->pointer_type, type_attribute(emitter, "sret", result->layout.size),
                      enum_attribute(emitter, "align", memory_alignment(&result->layout)));
    } else if (result->way == PASSED_IN_PIECES) {
        to->result_type =
            result->piece_count == 1
                ? result->pieces[0]
                : LLVMStructTypeInContext(emitter->context, (LLVMTypeRef *)result->pieces, result->piece_count, false);
        to->attributes[0] = struct_alignment(emitter, &result->layout);
    } else {
        if (result->argument_count != 1 || type->kind == TYPE_ARRAY)
            return result->argument_count == 0;
        to->result_type = argument_type(emitter, &result->arguments[0]);
        to->extensions[0] = extension(emitter, result->arguments[0].type);
    }
    return true;
}

bool c_function(Emitter *emitter, ForeignAbi abi, const Type *result, const Type *const *types, const bool *by_pointer,
                uint32_t count, CFunction *out, const Type **refused)
{
    *out = (CFunction){.abi = abi, .values = ARENA_ARRAY(emitter->arena, CPassing, count + 1)};
    uint32_t most = 2;
    for (uint32_t i = 0; i < count; i++) {
        *refused = types[i];
        if (!find_way(emitter, abi, types[i], by_pointer && by_pointer[i], &out->values[i]))
            return false;
        most += out->values[i].argument_count + C_MOST_PIECES;
    }
    out->value_count = count;
    out->types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, most);
    out->attributes = ARENA_ARRAY(emitter->arena, LLVMAttributeRef, most);
    out->extensions = ARENA_ARRAY(emitter->arena, LLVMAttributeRef, most);
    out->attributes[0] = out->extensions[0] = NULL;
    *refused = result;
    if (!choose_result(emitter, out, result))
        return false;
    for (uint32_t i = 0; i < count; i++)
        add_value(emitter, out, &out->values[i]);
    return true;
}

LLVMTypeRef c_function_type(const CFunction *function)
{
    return LLVMFunctionType(function->result_type, function->types, function->count, false);
}

static void describe(const CFunction *function, LLVMValueRef llvm,
                     void (*add)(LLVMValueRef, LLVMAttributeIndex, LLVMAttributeRef))
{
    for (uint32_t i = 0; i <= function->count; i++) {
        if (function->attributes[i])
            add(llvm, i, function->attributes[i]);
        if (function->extensions[i])
            add(llvm, i, function->extensions[i]);
    }
}

void c_describe_function(const CFunction *function, LLVMValueRef llvm)
{
    describe(function, llvm, LLVMAddAttributeAtIndex);
}

void c_describe_call(const CFunction *function, LLVMValueRef call)
{
    describe(function, call, LLVMAddCallSiteAttribute);
}

/* --- values -------------------------------------------------------------------------------------------------------------- */
static LLVMValueRef pass_argument(Emitter *emitter, const CArgument *argument, const LLVMValueRef *parts)
{
    const LLVMValueRef *own = parts + argument->part;
    LLVMValueRef items = const_i64(emitter, 1);
    switch (argument->kind) {
    case ARGUMENT_PART: return argument->type ? pass_scalar(emitter, argument->type, own[0]) : own[0];
    case ARGUMENT_NULL: return LLVMConstNull(emitter->pointer_type);
    case ARGUMENT_ITEMSIZE: return const_i64(emitter, argument->type->element->size);
    case ARGUMENT_STRIDE: return array_stride(emitter, argument->type, own, argument->axis);
    case ARGUMENT_ITEMS: break;
    }
    for (uint32_t axis = 0; axis < argument->type->ndim; axis++)
        items = LLVMBuildMul(emitter->builder, items, own[part_of_extent(axis)], "");
    return items;
}

static LLVMValueRef struct_memory(Emitter *emitter, const CLayout *layout)
{
    uint32_t alignment = memory_alignment(layout);
    return prologue_alloca(emitter, (layout->size + C_EIGHTBYTE - 1) / C_EIGHTBYTE * C_EIGHTBYTE, alignment);
}

static LLVMValueRef piece_address(Emitter *emitter, LLVMValueRef memory, uint32_t index)
{
    return offset_address(emitter, memory, (int64_t)index * C_EIGHTBYTE);
}

uint32_t c_pass(Emitter *emitter, const CPassing *passing, const LLVMValueRef *parts, LLVMValueRef *arguments)
{
    if (passing->way == PASSED_IN_PARTS) {
        for (uint32_t i = 0; i < passing->argument_count; i++)
            arguments[i] = pass_argument(emitter, &passing->arguments[i], parts);
        return passing->argument_count;
    }
    LLVMValueRef memory = struct_memory(emitter, &passing->layout);
    store_c(emitter, passing->type, &passing->layout, memory, parts);
    if (passing->way == PASSED_IN_MEMORY) {
        arguments[0] = memory;
        return 1;
    }
    for (uint32_t i = 0; i < passing->piece_count; i++)
        arguments[i] = LLVMBuildLoad2(emitter->builder, passing->pieces[i], piece_address(emitter, memory, i), "");
    return passing->piece_count;
}

/* The pieces of a struct in memory, whose address is the parts of a record. */
static void unpack_pieces(Emitter *emitter, const CPassing *passing, const LLVMValueRef *pieces, LLVMValueRef *parts)
{
    LLVMValueRef memory = struct_memory(emitter, &passing->layout);
    for (uint32_t i = 0; i < passing->piece_count; i++)
        LLVMBuildStore(emitter->builder, pieces[i], piece_address(emitter, memory, i));
    load_c(emitter, passing->type, &passing->layout, memory, parts);
}

uint32_t c_receive(Emitter *emitter, const CPassing *passing, const LLVMValueRef *arguments, LLVMValueRef *parts)
{
    if (passing->way == PASSED_IN_PARTS) {
        for (uint32_t i = 0; i < passing->argument_count; i++) {
            const CArgument *argument = &passing->arguments[i];
            if (argument->kind == ARGUMENT_PART)
                parts[argument->part] =
                    argument->type ? receive_scalar(emitter, argument->type, arguments[i]) : arguments[i];
            else if (argument->kind == ARGUMENT_STRIDE && argument->type->layout == LAYOUT_ANY)
                parts[argument->part + 1 + argument->type->ndim + argument->axis] = arguments[i];
        }
        return passing->argument_count;
    }
    if (c_record(passing->type)) /* a copy of the function's own, which it may change */
        parts[0] = struct_memory(emitter, &passing->layout);
    if (passing->way == PASSED_IN_MEMORY)
        load_c(emitter, passing->type, &passing->layout, arguments[0], parts);
    else
        unpack_pieces(emitter, passing, arguments, parts);
    return passing->way == PASSED_IN_MEMORY ? 1 : passing->piece_count;
}

/* --- results ------------------------------------------------------------------------------------------------------------- */
LLVMValueRef c_result_memory(Emitter *emitter, const CFunction *function)
{
    if (!function->has_result_pointer)
        return NULL;
    uint32_t size = function->result.layout.size;
    return prologue_alloca(emitter, size > C_EIGHTBYTE ? size : C_EIGHTBYTE, RESULT_ALIGNMENT);
}

void c_take_result(Emitter *emitter, const CFunction *function, LLVMValueRef call, LLVMValueRef memory,
                   LLVMValueRef *parts)
{
    const CPassing *result = &function->result;
    if (!result->type)
        return;
    LLVMValueRef pieces[C_MOST_PIECES] = {call};
    if (memory)
        load_c(emitter, result->type, &result->layout, memory, parts);
    else if (result->way == PASSED_IN_PARTS)
        c_receive(emitter, result, &call, parts);
    else {
        for (uint32_t i = 0; i < result->piece_count && result->piece_count > 1; i++)
            pieces[i] = LLVMBuildExtractValue(emitter->builder, call, i, "");
        unpack_pieces(emitter, result, pieces, parts);
    }
}

static void store_numba_array(Emitter *emitter, const CPassing *result, LLVMValueRef memory, const LLVMValueRef *parts)
{
    for (uint32_t i = 0; i < result->argument_count; i++) {
        LLVMValueRef piece = pass_argument(emitter, &result->arguments[i], parts);
        LLVMBuildStore(emitter->builder, piece, piece_address(emitter, memory, i));
    }
}

void c_return(Emitter *emitter, const CFunction *function, LLVMValueRef memory, const LLVMValueRef *parts)
{
    const CPassing *result = &function->result;
    LLVMValueRef values[C_MOST_PIECES];
    if (memory && result->type && !result->layout.size)
        store_numba_array(emitter, result, memory, parts);
    else if (memory && result->type)
        store_c(emitter, result->type, &result->layout, memory, parts);
    else if (result->type)
        c_pass(emitter, result, parts, values);
    if (function->abi == FOREIGN_NUMBA)
        LLVMBuildRet(emitter->builder, const_i32(emitter, 0));
    else if (function->result_type == emitter->void_type)
        LLVMBuildRetVoid(emitter->builder);
    else if (result->way == PASSED_IN_PIECES && result->piece_count > 1)
        LLVMBuildAggregateRet(emitter->builder, values, result->piece_count);
    else
        LLVMBuildRet(emitter->builder, values[0]);
}
