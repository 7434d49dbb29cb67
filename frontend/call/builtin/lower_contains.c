/* x in y and x not in y. */
#include <string.h>

#include "frontend/array/lower_range.h"
#include "frontend/call/builtin/lower_contains.h"
#include "frontend/call/builtin/lower_reduce.h"
#include "frontend/compound/lower_dict.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"

bool lower_contains(Lower *l, Operand item, Operand container, bool negated, Operand *out)
{
    if (type_is_tagged(container.type, TUPLE_RANGE) && type_is_real(item.type)) {
        Operand found;
        if (!lower_in_range(l, item, container, &found))
            return false;
        return negated ? lower_unary(l, SSA_NOT, found, out) : (*out = found, true);
    }
    if (operand_is_object(container, CONSTANT_STRING) && operand_is_object(item, CONSTANT_STRING)) {
        bool has = strstr(container.constant->text, item.constant->text) != NULL;
        return *out = operand_bool(l, has != negated), true;
    }
    Operand found = operand_bool(l, false);
    if (type_is_tagged(container.type, TUPLE_DICT))
        return lower_dict_contains(l, container, item, &found) &&
               (negated ? lower_unary(l, SSA_NOT, found, out) : (*out = found, true));
    bool is_vector = container.type->kind == TYPE_ARRAY && container.type->ndim == 1;
    if (is_vector || type_is_tagged(container.type, TUPLE_GENERATOR)) {
        if (!lower_found(l, item, container, &found))
            return false;
        return negated ? lower_unary(l, SSA_NOT, found, out) : (*out = found, true);
    }
    if (!type_is_plain_tuple(container.type))
        return lower_refuse_operands(l, negated ? "not in" : "in", item, container,
                                     "; 'in' works on tuples, ranges, 1-dimensional arrays and generators");
    for (uint32_t i = 0; i < container.type->count; i++) {
        Operand same;
        if (!lower_compare(l, COMPARE_EQ, item, lower_tuple_item(l, container, i), &same))
            return false;
        if (same.constant && !same.constant->integer)
            continue;
        if (same.constant) {
            found = same;
            break;
        }
        if (!lower_binary(l, NB_OR, found, same, &found) || !lower_truth(l, found, &found))
            return false;
    }
    return negated ? lower_unary(l, SSA_NOT, found, out) : (*out = found, true);
}
