/* Asks, once in the function that is made, whether arguments lie apart: a loop that asks whether checks fail
 * (tested_regions.c) is of no use where threads write to what the answer depends on, by another argument. Layouts with strides
 * are taken for all that lies between their first byte and their last one. */
#include "codegen/host/regions/form.h"

static IrValue *whole(Form *form, IrOp op, IrValue *a, IrValue *b)
{
    return ir_append(form->entry, op, TYPE_OF(INT64), NULL, 2, (IrValue *[]){a, b});
}

static IrValue *number(Form *form, int64_t value) { return ir_const_int(form->entry, TYPE_OF(INT64), value, NULL); }

static IrValue *of_axis(Form *form, IrOp op, IrValue *array, uint32_t axis)
{
    IrValue *made = ir_append(form->entry, op, TYPE_OF(INT64), NULL, 1, &array);
    made->index = axis;
    return made;
}

/* The array's first byte, and the one behind its last. */
static IrValue **bounds_of(Form *form, uint32_t parameter)
{
    IrValue *array = form->out->parameters[parameter], **bounds = form->bounds + 2 * (size_t)parameter;
    if (bounds[0])
        return bounds;
    IrValue *zero = number(form, 0), *one = number(form, 1), *size = number(form, array->type->element->size);
    IrValue *low = ir_append(form->entry, IR_ADDRESS, TYPE_OF(INT64), NULL, 1, &array);
    IrValue *high = whole(form, IR_ADD, low, size);
    for (uint32_t axis = 0; axis < array->type->ndim; axis++) {
        IrValue *extent = of_axis(form, IR_EXTENT, array, axis), *stride = of_axis(form, IR_STRIDE, array, axis);
        IrValue *last = whole(form, IR_SUB, extent, one);
        IrValue *span = whole(form, IR_MUL, stride, last);
        IrValue *below = whole(form, IR_MIN, span, zero), *above = whole(form, IR_MAX, span, zero);
        low = whole(form, IR_ADD, low, below);
        high = whole(form, IR_ADD, high, above);
    }
    bounds[0] = low;
    bounds[1] = high;
    return bounds;
}

static IrValue *test(Form *form, IrOp op, IrValue *a, IrValue *b)
{
    return ir_append(form->entry, op, TYPE_OF(BOOL), NULL, 2, (IrValue *[]){a, b});
}

static IrValue *are_apart(Form *form, uint32_t one, uint32_t other)
{
    IrValue **a = bounds_of(form, one), **b = bounds_of(form, other);
    IrValue *is_before = test(form, IR_LE, a[1], b[0]), *is_behind = test(form, IR_LE, b[1], a[0]);
    return test(form, IR_OR, is_before, is_behind);
}

IrValue *form_is_apart(Form *form)
{
    const Regions *regions = form->regions;
    uint32_t count = regions->kernel->parameter_count;
    IrValue *all = NULL;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++) {
            if (!form->region->asks_of[i] || !regions->is_written[k])
                continue;
            IrValue *one = are_apart(form, i, k);
            all = all ? test(form, IR_AND, all, one) : one;
        }
    return all;
}
