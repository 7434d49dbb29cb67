/* The launches that most kernels are made for. */
#ifndef CUJIT_CODEGEN_NARROW_H
#define CUJIT_CODEGEN_NARROW_H

#include "core/ir/ir.h"
#include "core/kernel/launch_plan.h"

/* The plan that launches within these limits pass, and no others: one test at most. Its parts are the arena's. False: the
 * kernel has more parameters than a plan has room for. */
bool plan_limits(const IrModule *module, LaunchPlan *plan, Arena *arena);

#endif
