/* Which threads of a row of a block pass the tests that a kernel begins with, such as `if i < n:` around all of it or the
 * test of a grid-stride loop. The CPU device's loop over threads runs these only, and nothing has to be masked in it. */
#ifndef CUJIT_CODEGEN_THREAD_RANGE_H
#define CUJIT_CODEGEN_THREAD_RANGE_H

#include "codegen/emit.h"
#include "codegen/host/regions/stride_loop.h"

enum { MOST_GUARDS = 8 };

struct ThreadRange {
    const IrFunc *kernel;
    const StrideLoop *stride; /* NULL: the kernel is run as a whole */
    const IrValue *guards[MOST_GUARDS]; /* branches: those that do not go on at goes_on have nothing to do */
    uint32_t goes_on[MOST_GUARDS]; /* the target's number */
    uint32_t guard_count;
};

/* False when no test is of a kind that makes a range of threadIdx.x. */
bool find_thread_range(const IrFunc *kernel, const StrideLoop *stride, ThreadRange *out);
/* By how much the value grows with threadIdx.x: 0 or 1; -1: neither, or not known. */
int slope_in_thread(const IrValue *value);
/* The number of the target that all threads of the range go to; -1: the branch is no guard. */
int guard_target(const ThreadRange *range, const IrValue *branch);
/* Emits the tests alone as an internal function: of the body's parameters, where threadIdx.x is 0, to {first, end}, i64. */
EmittedFunction emit_thread_range(Emitter *emitter, const EmittedFunction *body, const ThreadRange *range);

#endif
