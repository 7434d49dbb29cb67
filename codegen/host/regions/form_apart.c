/* Asks, once in the function that is made, whether arguments lie apart: a loop that asks whether checks fail
 * (tested_regions.c) is of no use where threads write to what the answer depends on, by another argument. Layouts with strides
 * are taken for all that lies between their first byte and their last one. */
#include "codegen/host/regions/form.h"
#include "codegen/host/regions/front_values.h"

static IrValue *of_axis(Form *form, IrOp op, IrValue *array, uint32_t axis)
{
    IrValue *made = ir_append(form->entry, op, TYPE_OF(INT64), NULL, 1, &array);
    made->index = axis;
    return made;
}

/* The array's first byte, and the one behind its last. */
static IrValue **bounds_of(Form *form, uint32_t parameter)
{
    IrBlock *to = form->entry;
    IrValue *array = form->out->parameters[parameter], **bounds = form->bounds + 2 * (size_t)parameter;
    if (bounds[0])
        return bounds;
    IrValue *zero = front_number(to, 0), *one = front_number(to, 1),
            *size = front_number(to, array->type->element->size);
    IrValue *low = ir_append(form->entry, IR_ADDRESS, TYPE_OF(INT64), NULL, 1, &array);
    IrValue *high = front_binary(to, IR_ADD, low, size);
    for (uint32_t axis = 0; axis < array->type->ndim; axis++) {
        IrValue *extent = of_axis(form, IR_EXTENT, array, axis), *stride = of_axis(form, IR_STRIDE, array, axis);
        IrValue *last = front_binary(to, IR_SUB, extent, one);
        IrValue *span = front_binary(to, IR_MUL, stride, last);
        IrValue *below = front_binary(to, IR_MIN, span, zero), *above = front_binary(to, IR_MAX, span, zero);
        low = front_binary(to, IR_ADD, low, below);
        high = front_binary(to, IR_ADD, high, above);
    }
    bounds[0] = low;
    bounds[1] = high;
    return bounds;
}

static IrValue *are_apart(Form *form, uint32_t one, uint32_t other)
{
    IrBlock *to = form->entry;
    IrValue **a = bounds_of(form, one), **b = bounds_of(form, other);
    IrValue *is_before = front_binary(to, IR_LE, a[1], b[0]), *is_behind = front_binary(to, IR_LE, b[1], a[0]);
    return front_binary(to, IR_OR, is_before, is_behind);
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
            all = all ? front_binary(form->entry, IR_AND, all, one) : one;
        }
    return all;
}
