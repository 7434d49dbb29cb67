/* Views: array[index] where the index has slices, an ellipsis, None, or fewer integers than the array has axes. */
#include "frontend/array/lower_array.h"
#include "frontend/array/lower_slice.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/operand.h"

typedef struct View {
    Operand array;
    uint32_t axis;                        /* next axis of the array */
    uint32_t ndim;                        /* axes of the result so far */
    IrValue *starts[TYPE_MAX_NDIM];       /* for each axis of the array */
    Operand extents[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    bool is_full[TYPE_MAX_NDIM];          /* axis of the result: a whole axis of the array, in order */
    bool is_dense[TYPE_MAX_NDIM];         /* axis of the result: neighbours of the array, maybe not all */
    bool leading_integers_only, trailing_integers_only, kept_any;
    uint8_t indexed; /* axes of the array whose start is an index */
} View;

static const Type *i64(void) { return TYPE_OF(INT64); }

static Operand axis_extent(Lower *l, Operand array, uint32_t axis)
{
    return operand_value(i64(), emit_extent(l, array, axis));
}

static Operand axis_stride(Lower *l, Operand array, uint32_t axis)
{
    return operand_value(i64(), emit_index_op(l, IR_STRIDE, i64(), array.ir, axis));
}

/* Operands are emitted one after another, not in the order in which a compiler of C evaluates arguments. */
static Operand pair(Lower *l, IrOp op, Operand a, Operand b)
{
    IrValue *right = operand_ir(l, b), *left = operand_ir(l, a);
    return operand_value(i64(), emit2(l, op, i64(), left, right));
}

/* A bound of a slice: negative ones count from the end, and all are cut to [low, high]. What is behind the point of a float
 * falls off, as in bounds of ranges. */
static bool slice_bound(Lower *l, Operand bound, Operand extent, Operand low, Operand high, Operand *out)
{
    int64_t constant;
    Operand converted;
    bool is_float = bound.type->kind == TYPE_FLOAT;
    if (!type_is_integer(bound.type) && bound.type->kind != TYPE_BOOL && !is_float)
        return lower_fail(l, DIAG_TYPE_INDEX, lower_describe(l, extent.type), lower_describe(l, bound.type),
                          "; bounds of a slice are integers");
    if (!lower_convert(l, bound, i64(), &converted))
        return false;
    bool wraps =
        !(operand_const_int(converted, &constant) && constant >= 0) && (bound.type->kind == TYPE_INT || is_float);
    if (wraps)
        converted = pair(l, IR_WRAP, converted, extent);
    *out = pair(l, IR_MIN, pair(l, IR_MAX, converted, low), high);
    return true;
}

typedef struct Slice {
    Operand start, stop, step;
    int sign; /* of the step; 0: known at run time */
} Slice;

static Operand choose(Lower *l, Operand condition, Operand yes, Operand no)
{
    IrValue *no_value = operand_ir(l, no), *yes_value = operand_ir(l, yes);
    return operand_value(i64(), emit3(l, IR_SELECT, i64(), operand_ir(l, condition), yes_value, no_value));
}

/* Start and stop for a step that goes up, or down. */
static bool slice_range(Lower *l, Operand slice, Operand extent, bool up, Operand *start, Operand *stop)
{
    Operand first = lower_tuple_item(l, slice, 0), end = lower_tuple_item(l, slice, 1);
    Operand last = pair(l, IR_SUB, extent, operand_int(l, 1));
    Operand low = operand_int(l, up ? 0 : -1), high = up ? extent : last;
    *start = up ? low : high;
    *stop = up ? high : low;
    if (first.type->kind != TYPE_NONE && !slice_bound(l, first, extent, low, high, start))
        return false;
    return end.type->kind == TYPE_NONE || slice_bound(l, end, extent, low, high, stop);
}

static bool resolve_slice(Lower *l, Operand slice, Operand extent, Slice *out)
{
    Operand step = lower_tuple_item(l, slice, 2);
    int64_t constant = 1;
    out->step = operand_int(l, 1);
    if (step.type->kind != TYPE_NONE && !lower_convert(l, step, i64(), &out->step))
        return false;
    bool known = operand_const_int(out->step, &constant);
    if (known && constant == 0)
        return lower_fail(l, DIAG_CONSTANT_RANGE, "slice step cannot be zero");
    out->sign = !known ? 0 : constant > 0 ? 1 : -1;
    if (known)
        return slice_range(l, slice, extent, constant > 0, &out->start, &out->stop);
    Operand up_start, up_stop, down_start, down_stop, rising;
    if (!slice_range(l, slice, extent, true, &up_start, &up_stop) ||
        !slice_range(l, slice, extent, false, &down_start, &down_stop) ||
        !lower_compare(l, COMPARE_GT, out->step, operand_int(l, 0), &rising))
        return false;
    out->start = choose(l, rising, up_start, down_start);
    out->stop = choose(l, rising, up_stop, down_stop);
    return true;
}

bool lower_slice_indices(Lower *l, Operand slice, Operand length, Operand *out)
{
    Slice resolved;
    Operand wide;
    if (!lower_convert(l, length, i64(), &wide) || !resolve_slice(l, slice, wide, &resolved))
        return false;
    Operand parts[] = {resolved.start, resolved.stop, resolved.step};
    return *out = lower_make_tuple(l, parts, 3, TUPLE_PLAIN), true;
}

/* (stop - start + step -/+ 1) // step, not below 0. */
static bool slice_length(Lower *l, const Slice *slice, Operand *out)
{
    int64_t step;
    Operand distance = pair(l, IR_SUB, slice->stop, slice->start), one = operand_int(l, 1), rounding, length;
    if (operand_const_int(slice->step, &step) && step == 1) {
        *out = pair(l, IR_MAX, distance, operand_int(l, 0));
        return true;
    }
    if (slice->sign) {
        if (!lower_binary(l, slice->sign > 0 ? NB_SUBTRACT : NB_ADD, slice->step, one, &rounding))
            return false;
    } else {
        Operand rising;
        if (!lower_compare(l, COMPARE_GT, slice->step, operand_int(l, 0), &rising))
            return false;
        Operand down = pair(l, IR_ADD, slice->step, one), up = pair(l, IR_SUB, slice->step, one);
        rounding = choose(l, rising, up, down);
    }
    length = pair(l, IR_FLOORDIV, pair(l, IR_ADD, distance, rounding), slice->step);
    *out = pair(l, IR_MAX, length, operand_int(l, 0));
    return true;
}

/* The result has the axis, too. */
static bool keep_axis(View *view)
{
    view->kept_any = true;
    view->trailing_integers_only = view->trailing_integers_only && view->axis == view->ndim;
    view->axis++;
    view->ndim++;
    return true;
}

static bool view_full(Lower *l, View *view)
{
    view->starts[view->axis] = emit_int(l, i64(), 0);
    view->extents[view->ndim] = axis_extent(l, view->array, view->axis);
    view->strides[view->ndim] = axis_stride(l, view->array, view->axis);
    view->is_full[view->ndim] = view->is_dense[view->ndim] = true;
    return keep_axis(view);
}

static bool view_slice(Lower *l, View *view, Operand item)
{
    bool all_none = true;
    for (uint32_t i = 0; i < 3; i++)
        all_none &= item.type->items[i]->kind == TYPE_NONE;
    if (all_none)
        return view_full(l, view);
    Slice slice;
    Operand stride = axis_stride(l, view->array, view->axis);
    if (!resolve_slice(l, item, axis_extent(l, view->array, view->axis), &slice) ||
        !slice_length(l, &slice, &view->extents[view->ndim]))
        return false;
    int64_t step;
    view->starts[view->axis] = operand_ir(l, slice.start);
    view->is_dense[view->ndim] = operand_const_int(slice.step, &step) && step == 1;
    view->strides[view->ndim] = view->is_dense[view->ndim] ? stride : pair(l, IR_MUL, stride, slice.step);
    view->is_full[view->ndim] = false;
    return keep_axis(view);
}

static bool view_integer(Lower *l, View *view, Operand item)
{
    if (view->kept_any)
        view->leading_integers_only = false;
    IrValue *extent = emit_extent(l, view->array, view->axis);
    view->indexed |= (uint8_t)(1u << view->axis);
    return lower_index_value(l, item, extent, &view->starts[view->axis++]);
}

static bool view_new_axis(Lower *l, View *view)
{
    view->extents[view->ndim] = operand_int(l, 1);
    view->strides[view->ndim] = operand_int(l, 0);
    view->is_full[view->ndim] = view->is_dense[view->ndim] = false;
    view->leading_integers_only = view->trailing_integers_only = false;
    view->ndim++;
    return true;
}

static bool view_item(Lower *l, View *view, Operand item, uint32_t items_after)
{
    uint32_t ndim = view->array.type->ndim;
    if (view->ndim >= TYPE_MAX_NDIM)
        return lower_fail(l, DIAG_UNSUPPORTED, "a view of more than 8 dimensions is not supported");
    if (item.type->kind == TYPE_NONE)
        return view_new_axis(l, view);
    if (operand_is_object(item, CONSTANT_ELLIPSIS)) {
        while (view->axis + items_after < ndim)
            view_full(l, view);
        return true;
    }
    bool is_slice = type_is_tagged(item.type, TUPLE_SLICE);
    bool is_integer = type_is_integer(item.type) || item.type->kind == TYPE_BOOL;
    if (view->axis >= ndim)
        return lower_fail(l, DIAG_TYPE_INDEX, lower_describe(l, view->array.type), "so many indices",
                          arena_format(l->arena, "; it has %u %s", ndim, ndim == 1 ? "axis" : "axes"));
    if (!is_slice && !is_integer)
        return lower_fail(l, DIAG_TYPE_INDEX, lower_describe(l, view->array.type), lower_describe(l, item.type),
                          item.type->kind == TYPE_FLOAT ? "; int(...) makes an index of it"
                                                        : lower_index_hint(l, item));
    return is_slice ? view_slice(l, view, item) : view_integer(l, view, item);
}

/* Axes that later items of the index use up. */
static uint32_t axes_used(Lower *l, const Operand *items, uint32_t from, uint32_t count)
{
    uint32_t used = 0;
    (void)l;
    for (uint32_t i = from; i < count; i++)
        used += items[i].type->kind != TYPE_NONE;
    return used;
}

/* Contiguity is kept where whole axes stay at the end (C) or at the start (F) and only the outermost is cut short. */
static ArrayLayout view_layout(const View *view)
{
    const Type *type = view->array.type;
    bool rest_full = true, first_full = true;
    for (uint32_t i = 0; i < view->ndim; i++) {
        rest_full &= i == 0 ? view->is_dense[i] : view->is_full[i];
        first_full &= i + 1 == view->ndim ? view->is_dense[i] : view->is_full[i];
    }
    if (type->layout == LAYOUT_C && view->leading_integers_only && rest_full)
        return LAYOUT_C;
    if (type->layout == LAYOUT_F && view->trailing_integers_only && first_full)
        return view->ndim == 1 ? LAYOUT_C : LAYOUT_F;
    return LAYOUT_ANY;
}

static Operand finish_view(Lower *l, const View *view)
{
    const Type *from = view->array.type;
    const Type *type = type_array_like(l->arena, from, (int)view->ndim, view_layout(view));
    if (!l->emitting)
        return operand_value(type, NULL);
    IrValue *operands[1 + 3 * TYPE_MAX_NDIM] = {view->array.ir};
    uint32_t count = 1;
    for (uint32_t i = 0; i < from->ndim; i++)
        operands[count++] = view->starts[i];
    for (uint32_t i = 0; i < view->ndim; i++)
        operands[count++] = operand_ir(l, view->extents[i]);
    for (uint32_t i = 0; i < view->ndim; i++)
        operands[count++] = operand_ir(l, view->strides[i]);
    IrValue *made = emit(l, IR_SUBARRAY, type, count, operands);
    made->hint = view->indexed;
    return operand_value(type, made);
}

bool lower_view(Lower *l, Operand array, Operand index, Operand *out)
{
    View view = {.array = array, .leading_integers_only = true, .trailing_integers_only = true};
    bool is_tuple = type_is_plain_tuple(index.type);
    uint32_t count = is_tuple ? index.type->count : 1;
    Operand *items = ARENA_ARRAY(l->arena, Operand, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = is_tuple ? lower_tuple_item(l, index, i) : index;
    for (uint32_t i = 0; i < count; i++)
        if (!view_item(l, &view, items[i], axes_used(l, items, i + 1, count)))
            return false;
    while (view.axis < array.type->ndim)
        view_full(l, &view);
    *out = finish_view(l, &view);
    return true;
}
