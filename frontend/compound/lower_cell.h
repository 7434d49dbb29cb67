/* Variables that nested functions share: memory of the thread's own that holds one value. */
#ifndef CUJIT_FRONTEND_LOWER_CELL_H
#define CUJIT_FRONTEND_LOWER_CELL_H

#include "frontend/engine.h"

bool type_has_cell(const Type *type);
/* Whether the types of the instance depend on what other functions store. */
bool instance_shares_cells(const Instance *instance);
/* Memory for a value of that type; what is in it, and a value of exactly the type into it. */
Operand lower_make_cell(Lower *l, const Type *content);
/* Whether the cells of the instance outlive its call, so that they lie in memory of the caller. */
bool instance_borrows_memory(const Instance *instance);
/* Memory for a call of such an instance, which is emitted for that. False with a diagnostic. */
bool emit_lent_memory(Lower *l, Instance *callee, IrValue **out);
/* Finds the places of the function's own cells in the memory that it was lent, and makes what is made at the entry. */
void place_cells(Lower *l);
/* For what later trips of a loop, or a generator's user, may see: false with a diagnostic where each trip of a loop would
 * need variables of its own in it. */
bool check_cell_kept(Lower *l, const Type *type);
Operand lower_cell_get(Lower *l, Operand cell);
void lower_cell_put(Lower *l, Operand cell, Operand value);
bool lower_cell(Lower *l, const SsaValue *value, Operand *out);
bool lower_cell_load(Lower *l, Operand cell, Operand *out);
bool lower_cell_store(Lower *l, const char *name, Operand cell, Operand value, Operand *out);
bool lower_cell_delete(Lower *l, const SsaValue *value, Operand cell, Operand *out);

#endif
