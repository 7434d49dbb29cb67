/* Public face of the conductor for python/ext: specializations of a function, from cache or compiled, and launch. */
#ifndef CUJIT_JIT_JIT_H
#define CUJIT_JIT_JIT_H

#include "core/ir.h"
#include "core/kernel_abi.h"
#include "core/snapshot.h"
#include "core/target.h"
#include "runtime/runtime.h"

/* A function with its options, and everything compiled of it so far. Thread-safe. */
typedef struct JitFunction JitFunction;
/* One compiled kernel for one device and one list of argument types. Lives as long as its JitFunction. */
typedef struct JitSpecialization JitSpecialization;

/* Borrows the snapshot: it must outlive the function. */
JitFunction *jit_function_create(const Snapshot *snapshot, const CompileOptions *options);
void jit_function_destroy(JitFunction *function);

/* The kernel for these types on this device: found, or compiled and loaded now. Concurrent first calls compile once.
 * NULL with a diagnostic. Call without the GIL. */
const JitSpecialization *jit_specialize(JitFunction *function, RtDevice *device, const Type *const *types,
                                        uint32_t count, Diag *diag);
/* Only what is compiled already; NULL when it is not. Lock-free. */
const JitSpecialization *jit_find(const JitFunction *function, const RtDevice *device, const Type *const *types,
                                  uint32_t count);
void jit_each_specialization(JitFunction *function, void (*visit)(const JitSpecialization *, void *user), void *user);

const KernelAbi *jit_abi(const JitSpecialization *specialization);
const Type *const *jit_types(const JitSpecialization *specialization, uint32_t *count);
RtKernel *jit_kernel(const JitSpecialization *specialization);
RtDevice *jit_device(const JitSpecialization *specialization);
/* parameter_count entries: whether the kernel may write through that parameter. */
const bool *jit_written(const JitSpecialization *specialization);

/* The text of one stage, compiled anew: "bytecode", "cfg", "ir", "types", "llvm", "asm" (PTX for a GPU target).
 * Device functions too. malloc'd; NULL with a diagnostic. */
char *jit_inspect(const JitFunction *function, const Type *const *types, uint32_t count, const Target *target,
                  bool is_kernel, const char *what, Diag *diag);
/* The inferred result of a device function, in the arena. */
const Type *jit_result_type(const JitFunction *function, const Type *const *types, uint32_t count, Arena *arena,
                            Diag *diag);

#endif
