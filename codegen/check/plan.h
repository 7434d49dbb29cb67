/* Which accesses of a module a launch can prove to be inside of their arrays, and which the code has to check. */
#ifndef CUJIT_CODEGEN_PLAN_H
#define CUJIT_CODEGEN_PLAN_H

#include "core/base/table.h"
#include "core/ir/ir.h"
#include "core/launch_plan.h"

/* For each access that the code has to check, by its address: the axes, a bit each. failed: tests that do not count. The
 * plan, and the table's numbers, live in the arena; the caller destroys the table. */
Table *plan_bounds(const IrModule *module, const LaunchTests *failed, LaunchPlan *plan, Arena *arena);

#endif
