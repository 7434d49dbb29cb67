/* Which accesses of a module a launch can prove to be inside of their arrays, and which operations to be right; and which
 * the code has to check. */
#ifndef CUJIT_CODEGEN_PLAN_H
#define CUJIT_CODEGEN_PLAN_H

#include "core/base/table.h"
#include "core/ir/ir.h"
#include "core/kernel/launch_plan.h"
#include "core/target.h"

/* The parts of operations stand behind the axes of accesses; the last bit is that of an index which the program may count from
 * the end (WRAP), and which no launch of these does. */
enum { FIRST_OVERFLOW_PART = 16, NEVER_FROM_END = 31 };

/* For each value that the code has to check, by its address, a bit each: the axes of accesses that may be out of bounds (if
 * that is wanted), and from FIRST_OVERFLOW_PART on the parts of operations that may go wrong (likewise); and the indices for which it
 * has nothing to do, NEVER_FROM_END. failed: tests that
 * do not count. The plan, and the table's numbers, live in the arena; the caller destroys the table. */
Table *plan_checks(const IrModule *module, CheckSet wanted, const LaunchTests *failed, LaunchPlan *plan, Arena *arena);

#endif
