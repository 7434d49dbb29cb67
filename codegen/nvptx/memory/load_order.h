/* Which values do more than compute a result: loads do not move across them. */
#ifndef CUJIT_CODEGEN_LOAD_ORDER_H
#define CUJIT_CODEGEN_LOAD_ORDER_H

#include "core/ir/ir.h"

/* What is known of a module's functions. */
typedef struct LoadOrder {
    const IrModule *module;
    bool *acts; /* by place in the module: functions that do more than compute a result and return it */
} LoadOrder;

LoadOrder load_order_of_module(const IrModule *module, Arena *arena);
/* Whether a value does more than compute its result from its operands and from memory. */
bool load_order_acts(const LoadOrder *order, const IrValue *value);

#endif
