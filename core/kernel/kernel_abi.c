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

static void add_parameters(Walk *walk, const Type *const *parameters, uint32_t count, bool reports)
{
    for (uint32_t i = 0; i < count; i++) {
        walk->parameter = i;
        add_type(walk, parameters[i]);
    }
    walk->parameter = count;
    if (reports) {
        add_field(walk, ABI_EXCEPTION_RECORD, TYPE_OF(UINT64), 0, 8, 8);
        add_field(walk, ABI_EXCEPTION_TAG, TYPE_OF(UINT64), 0, 8, 8);
    }
}

const KernelAbi *kernel_abi_layout(const Type *const *parameters, uint32_t count, bool reports, Arena *arena)
{
    Walk counting = {0};
    add_parameters(&counting, parameters, count, reports);
    Walk filling = {.fields = ARENA_ARRAY(arena, AbiField, counting.count)};
    add_parameters(&filling, parameters, count, reports);
    assert(filling.count == counting.count && filling.offset == counting.offset);
    KernelAbi *abi = ARENA_NEW(arena, KernelAbi);
    *abi =
        (KernelAbi){.field_count = filling.count, .fields = filling.fields, .size = filling.offset, .reports = reports};
    return abi;
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
