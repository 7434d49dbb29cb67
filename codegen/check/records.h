/* Records that go to a kernel by value. */
#ifndef CUJIT_CODEGEN_RECORDS_H
#define CUJIT_CODEGEN_RECORDS_H

#include "core/ir/ir.h"
#include "core/kernel/launch_plan.h"

/* Records that the kernel only reads are read among the parameters, where they fit there. A launch that has the pointer of
 * one, because it lies on the device, does not pass: behind the plan's tests stands one for each record, in the order of
 * parameters. What such a test failed for is read behind its pointer; or code for launches of all kinds looks for each. */
void pass_records(IrModule *module, const LaunchTests *failed, LaunchPlan *plan);

#endif
