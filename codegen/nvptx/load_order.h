/* In which order a block's values are emitted for a GPU. */
#ifndef CUJIT_CODEGEN_LOAD_ORDER_H
#define CUJIT_CODEGEN_LOAD_ORDER_H

#include "core/ir/ir.h"

/* What is known of a module's functions. In the arena. */
typedef struct LoadOrder LoadOrder;
LoadOrder *load_order_of_module(const IrModule *module, Arena *arena);

/* Whether a value does more than compute its result from its operands and from memory. */
bool load_order_acts(const LoadOrder *order, const IrValue *value);

/* A block's values, behind the last one NULL, in an order of the same meaning in which loads stand before operations that
 * take long, so that the memory works meanwhile. In the arena. */
const IrValue **order_with_early_loads(LoadOrder *order, const IrBlock *block);

#endif
