/* Tests in front of accesses: each index, as an unsigned number, is below the extent of its axis, which a negative one that
 * was not wrapped is not, either. One test for all axes of an access; which of them is at fault is found out where it
 * fails. What is assigned to a whole array has its extents, or 1. */
#include "codegen/check/bounds.h"

#include <assert.h>

bool is_bounded(const IrFunc *function)
{
    bool is_library = function->source && function->source->is_library;
    return !function->lacks_body && (!is_library || function->site.function);
}

/* Of a broadcast: the target's axis that has the first one of what is assigned. */
static uint32_t first_axis(const IrValue *broadcast)
{
    return broadcast->operands[0]->type->ndim - (broadcast->operand_count - 1);
}

IrValue *assigned_extent(const IrValue *broadcast, uint32_t axis)
{
    return broadcast->operands[1 + axis - first_axis(broadcast)];
}

/* The axes of the access that are indexed, a bit each. */
static unsigned indexed_axes(const IrValue *value)
{
    switch (value->op) {
    case IR_LOAD:
    case IR_STORE:
    case IR_ATOMIC: return (1u << value->operands[0]->type->ndim) - 1;
    case IR_SUBARRAY: return value->hint;
    case IR_PICK: return 1;
    case IR_INTRINSIC: return bounded_width(value) > 1;
    case IR_BROADCAST: return ((1u << (value->operand_count - 1)) - 1) << first_axis(value);
    default: return 0;
    }
}

uint32_t bounded_width(const IrValue *value)
{
    if (value->op != IR_INTRINSIC)
        return 1;
    switch (intrinsic_info[value->intrinsic].family) {
    case FAMILY_WIDE_LOAD: return value->type->count;
    case FAMILY_WIDE_STORE: return value->operands[2]->type->count;
    default: return 1;
    }
}

/* From a view to what it is a view of, as long as it has all of that axis. */
static void follow_extent(const IrValue **container, uint32_t *axis)
{
    while ((*container)->op == IR_SUBARRAY) {
        const IrValue *extent = (*container)->operands[1 + (*container)->operands[0]->type->ndim + *axis];
        if (extent->op != IR_EXTENT)
            return;
        *container = extent->operands[0];
        *axis = extent->index;
    }
}

int64_t known_extent(const IrValue *container, uint32_t axis)
{
    follow_extent(&container, &axis);
    if (container->type->kind == TYPE_TUPLE)
        return container->type->count;
    switch (container->op) {
    case IR_SHARED:
    case IR_LOCAL: return container->storage->dynamic ? -1 : container->storage->shape[axis];
    case IR_DATA: return container->array->shape[axis];
    case IR_SUBARRAY: {
        const IrValue *extent = container->operands[1 + container->operands[0]->type->ndim + axis];
        return extent->op == IR_CONST ? extent->integer : -1;
    }
    default: return -1;
    }
}

/* Whether what is assigned is known to have the target's extent, or 1. */
static bool is_known_to_fit(const IrValue *broadcast, uint32_t axis)
{
    const IrValue *target = broadcast->operands[0], *given = assigned_extent(broadcast, axis), *source;
    if (given->op == IR_CONST)
        return given->integer == 1 || given->integer == known_extent(target, axis);
    if (given->op != IR_EXTENT)
        return false;
    uint32_t place = given->index;
    source = given->operands[0];
    int64_t known = known_extent(source, place);
    follow_extent(&target, &axis);
    follow_extent(&source, &place);
    return (source == target && place == axis) || known == 1 || (known >= 0 && known == known_extent(target, axis));
}

static bool is_known_inside(const IrValue *value, uint32_t axis)
{
    if (value->op == IR_BROADCAST)
        return is_known_to_fit(value, axis);
    const IrValue *index = value->operands[1 + axis];
    int64_t behind = (int64_t)bounded_width(value) - 1;
    return index->op == IR_CONST && index->integer >= 0 &&
           index->integer < known_extent(value->operands[0], axis) - behind;
}

/* The index as the program has it: before a negative one was counted from the end. */
static IrValue *written_index(IrValue *index)
{
    bool is_from_end = index->op == IR_ADD && index->operands[0]->op == IR_EXTENT &&
                       index->operands[1]->op == IR_CONST && index->operands[1]->integer < 0;
    if (index->op == IR_WRAP)
        index = index->operands[0];
    else if (is_from_end)
        index = index->operands[1];
    return index;
}

static IrValue *emit_extent(IrBlock *block, IrValue *container, uint32_t axis, const SourcePos *pos)
{
    if (container->type->kind == TYPE_TUPLE)
        return ir_const_int(block, TYPE_OF(INT64), container->type->count, pos);
    IrValue *extent = ir_append(block, IR_EXTENT, TYPE_OF(INT64), pos, 1, &container);
    extent->index = axis;
    return extent;
}

static IrValue *as_unsigned(IrBlock *block, IrValue *value, const SourcePos *pos)
{
    return ir_append(block, IR_BITCAST, TYPE_OF(UINT64), pos, 1, &value);
}

static IrValue *is_below(IrBlock *block, IrValue *index, IrValue *extent, const SourcePos *pos)
{
    IrValue *pair[2] = {as_unsigned(block, index, pos)};
    pair[1] = as_unsigned(block, extent, pos);
    return ir_append(block, IR_LT, TYPE_OF(BOOL), pos, 2, pair);
}

/* The target's extent, or 1. */
static IrValue *does_fit(IrBlock *block, const IrValue *broadcast, uint32_t axis, const SourcePos *pos)
{
    const Type *boolean = TYPE_OF(BOOL);
    IrValue *given = assigned_extent(broadcast, axis), *one = ir_const_int(block, TYPE_OF(INT64), 1, pos);
    IrValue *extent = emit_extent(block, broadcast->operands[0], axis, pos);
    IrValue *is_same = ir_append(block, IR_EQ, boolean, pos, 2, (IrValue *[]){given, extent});
    IrValue *is_one = ir_append(block, IR_EQ, boolean, pos, 2, (IrValue *[]){given, one});
    return ir_append(block, IR_OR, boolean, pos, 2, (IrValue *[]){is_same, is_one});
}

/* The first element, and where there are several the last one. */
static IrValue *is_inside(IrBlock *block, const IrValue *value, uint32_t axis, const SourcePos *pos)
{
    if (value->op == IR_BROADCAST)
        return does_fit(block, value, axis, pos);
    IrValue *index = value->operands[1 + axis], *extent = emit_extent(block, value->operands[0], axis, pos);
    IrValue *first = is_below(block, index, extent, pos);
    uint32_t width = bounded_width(value);
    if (width == 1)
        return first;
    IrValue *behind = ir_const_int(block, TYPE_OF(INT64), width - 1, pos);
    IrValue *last = ir_append(block, IR_ADD, TYPE_OF(INT64), pos, 2, (IrValue *[]){index, behind});
    last = is_below(block, last, extent, pos);
    return ir_append(block, IR_AND, TYPE_OF(BOOL), pos, 2, (IrValue *[]){first, last});
}

unsigned bounded_axes(const IrValue *value)
{
    unsigned axes = indexed_axes(value), left = 0;
    for (uint32_t axis = 0; axes >> axis; axis++)
        if (axes >> axis & 1 && !is_known_inside(value, axis))
            left |= 1u << axis;
    return left;
}

/* --- the report ----------------------------------------------------------------------------------------------------- */

/* "({}, {})" */
static void add_shape(Buf *text, uint32_t ndim)
{
    buf_add(text, "(");
    for (uint32_t axis = 0; axis < ndim; axis++)
        buf_add(text, axis ? ", {}" : "{}");
    buf_add(text, ndim == 1 ? ",)" : ")");
}

/* "index {} is out of bounds for axis {} of {array}, whose shape is ({}, {})" */
static const char *report_format(Arena *arena, const IrValue *value)
{
    const Type *type = value->operands[0]->type;
    uint32_t width = bounded_width(value);
    Buf text = {0};
    if (type->kind == TYPE_TUPLE)
        return "index {0} is out of bounds for {array}, which has {2} items";
    buf_add(&text, "index {}");
    if (width > 1)
        buf_printf(&text, " with the %u behind it", width - 1);
    buf_add(&text, " is out of bounds for axis {} of {array}, whose shape is ");
    add_shape(&text, type->ndim);
    const char *format = arena_string(arena, buf_text(&text));
    buf_free(&text);
    return format;
}

/* Both shapes, in NumPy's words. */
static void report_broadcast(Rewrite *rewrite, IrBlock *block, const IrValue *broadcast)
{
    IrValue *array = broadcast->operands[0], *values[2 * TYPE_MAX_NDIM];
    uint32_t given = broadcast->operand_count - 1, ndim = array->type->ndim;
    Buf text = {0};
    buf_add(&text, "could not broadcast input array from shape ");
    add_shape(&text, given);
    buf_add(&text, " into shape ");
    add_shape(&text, ndim);
    for (uint32_t i = 0; i < given; i++)
        values[i] = broadcast->operands[1 + i];
    for (uint32_t axis = 0; axis < ndim; axis++)
        values[given + axis] = emit_extent(block, array, axis, rewrite->pos);
    const char *format = arena_string(rewrite->module->arena, buf_text(&text));
    buf_free(&text);
    rewrite_fail(rewrite, block, "ValueError", format, rewrite_name_of(rewrite, array), given + ndim, values);
}

/* The first axis whose index is outside, and that index. */
static void report_index(Rewrite *rewrite, IrBlock *block, const IrValue *value, unsigned axes)
{
    IrValue *array = value->operands[0], *values[2 + TYPE_MAX_NDIM] = {NULL};
    uint32_t ndim = array->type->kind == TYPE_TUPLE ? 1 : array->type->ndim;
    const Type *i64 = TYPE_OF(INT64);
    for (uint32_t axis = ndim; axis-- > 0;) {
        values[2 + axis] = emit_extent(block, array, axis, rewrite->pos);
        if (!(axes >> axis & 1))
            continue;
        IrValue *place = ir_const_int(block, i64, axis, rewrite->pos),
                *index = written_index(value->operands[1 + axis]);
        if (values[0]) {
            IrValue *inside = is_inside(block, value, axis, rewrite->pos);
            index = ir_append(block, IR_SELECT, i64, rewrite->pos, 3, (IrValue *[]){inside, values[0], index});
            place = ir_append(block, IR_SELECT, i64, rewrite->pos, 3, (IrValue *[]){inside, values[1], place});
        }
        values[0] = index;
        values[1] = place;
    }
    assert(values[0]);
    if (values[0]->op == IR_CONVERT && type_equal(values[0]->operands[0]->type, TYPE_OF(UINT64)))
        values[0] = values[0]->operands[0]; /* an index of more than 63 bits */
    rewrite_fail(rewrite, block, "IndexError", report_format(rewrite->module->arena, value),
                 rewrite_name_of(rewrite, array), 2 + ndim, values);
}

/* --- the test --------------------------------------------------------------------------------------------------------- */

void check_bounds(Rewrite *rewrite, const IrValue *value, unsigned axes)
{
    IrValue *holds = NULL;
    for (uint32_t axis = 0; axes >> axis; axis++) {
        if (!(axes >> axis & 1))
            continue;
        IrValue *inside = is_inside(rewrite->block, value, axis, rewrite->pos);
        holds = holds ? rewrite_emit(rewrite, IR_AND, TYPE_OF(BOOL), 2, (IrValue *[]){holds, inside}) : inside;
    }
    if (holds && value->op == IR_BROADCAST)
        report_broadcast(rewrite, rewrite_unless(rewrite, holds), value);
    else if (holds)
        report_index(rewrite, rewrite_unless(rewrite, holds), value, axes);
}
