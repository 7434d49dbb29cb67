/* Flattens parameter types into the fields of one buffer. Two walks: the first counts, the second fills. */
#include "core/kernel/kernel_abi.h"

#include <assert.h>

typedef struct Walk {
    AbiField *fields;     /* NULL while counting */
    uint32_t count, offset, parameter;
} Walk;

static void add_field(Walk *walk, AbiFieldKind kind, const Type *type, uint32_t axis, uint32_t size, uint32_t alignment)
{
    assert(size && alignment && !(alignment & (alignment - 1)));
    uint32_t offset = (walk->offset + alignment - 1) / alignment * alignment;
    if (walk->fields)
        walk->fields[walk->count] = (AbiField){
            .kind = kind, .type = type, .parameter = walk->parameter, .axis = axis, .offset = offset, .size = size};
    walk->count++;
    walk->offset = offset + size;
}

static void add_array(Walk *walk, const Type *type)
{
    add_field(walk, ABI_POINTER, type, 0, 8, 8);
    for (uint32_t axis = 0; axis < type->ndim; axis++)
        add_field(walk, ABI_EXTENT, TYPE_OF(INT64), axis, 8, 8);
    for (uint32_t axis = 0; type->layout == LAYOUT_ANY && axis < type->ndim; axis++)
        add_field(walk, ABI_STRIDE, TYPE_OF(INT64), axis, 8, 8);
}

static void add_type(Walk *walk, const Type *type)
{
    switch (type->kind) {
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_FLOAT: add_field(walk, ABI_SCALAR, type, 0, type->size, type->alignment); return;
    case TYPE_COMPLEX: {
        const Type *part = type->scalar == SCALAR_COMPLEX64 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
        add_field(walk, ABI_SCALAR, part, 0, part->size, part->alignment);
        add_field(walk, ABI_SCALAR, part, 0, part->size, part->alignment);
        return;
    }
    case TYPE_DATETIME:
    case TYPE_TIMEDELTA: add_field(walk, ABI_SCALAR, TYPE_OF(INT64), 0, 8, 8); return;
    case TYPE_ARRAY: add_array(walk, type); return;
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < type->count; i++)
            add_type(walk, type->items[i]);
        return;
    case TYPE_RECORD:
    case TYPE_CHARS:
    case TYPE_NONE:
    case TYPE_OBJECT: return;
    }
}

/* The bytes of one of the parameters that is a record, whose pointer is found. */
static void add_value(Walk *walk, const Type *type, uint32_t parameter)
{
    uint32_t place = walk->count;
    assert(type_is_record_parameter(type));
    walk->parameter = parameter;
    add_field(walk, ABI_VALUE, type, 0, type->element->size, KERNEL_ABI_VALUE_ALIGNMENT);
    for (uint32_t i = 0; walk->fields && i < place; i++)
        if (walk->fields[i].parameter == parameter)
            walk->fields[i].value = place;
}

typedef struct Passing {
    const uint8_t *passed;
    uint32_t count;
    bool reports;
} Passing;

static void add_parameters(Walk *walk, const Type *const *parameters, uint32_t count, Passing passing)
{
    for (uint32_t i = 0; i < count; i++) {
        walk->parameter = i;
        add_type(walk, parameters[i]);
    }
    for (uint32_t i = 0; i < count && i < passing.count; i++)
        if (passing.passed[i] != PASSED_BY_POINTER)
            add_value(walk, parameters[i], i);
    walk->parameter = count;
    if (passing.reports) {
        add_field(walk, ABI_EXCEPTION_RECORD, TYPE_OF(UINT64), 0, 8, 8);
        add_field(walk, ABI_EXCEPTION_TAG, TYPE_OF(UINT64), 0, 8, 8);
    }
}

const KernelAbi *kernel_abi_with_values(const Type *const *parameters, uint32_t count, const uint8_t *passed,
                                        uint32_t passed_count, bool reports, Arena *arena)
{
    Passing passing = {passed, passed_count, reports};
    Walk counting = {0};
    add_parameters(&counting, parameters, count, passing);
    Walk filling = {.fields = ARENA_ARRAY(arena, AbiField, counting.count)};
    add_parameters(&filling, parameters, count, passing);
    assert(filling.count == counting.count && filling.offset == counting.offset);
    KernelAbi *abi = ARENA_NEW(arena, KernelAbi);
    *abi =
        (KernelAbi){.field_count = filling.count, .fields = filling.fields, .size = filling.offset, .reports = reports};
    return abi;
}

const KernelAbi *kernel_abi_layout(const Type *const *parameters, uint32_t count, bool reports, Arena *arena)
{
    return kernel_abi_with_values(parameters, count, NULL, 0, reports, arena);
}

KernelAbi *kernel_abi_pointers(const Type *const *parameters, uint32_t count, Arena *arena)
{
    Walk walk = {.fields = ARENA_ARRAY(arena, AbiField, 2 * (size_t)count)}; /* a complex number has two */
    for (uint32_t i = 0; i < count; i++) {
        const Type *type = parameters[i];
        walk.parameter = i;
        if (type->kind == TYPE_COMPLEX)
            walk.offset = (walk.offset + type->size - 1) / type->size * type->size;
        if (type->kind == TYPE_ARRAY)
            add_field(&walk, ABI_POINTER, type, 0, 8, 8);
        else
            add_type(&walk, type);
    }
    KernelAbi *abi = ARENA_NEW(arena, KernelAbi);
    *abi = (KernelAbi){.field_count = walk.count, .fields = walk.fields, .size = walk.offset, .only_pointers = true};
    return abi;
}
