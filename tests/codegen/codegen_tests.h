/* The groups of codegen's tests, and what they share: compiling IR text and running it on the host. */
#ifndef CUJIT_TESTS_CODEGEN_TESTS_H
#define CUJIT_TESTS_CODEGEN_TESTS_H

#include "check.h"
#include "codegen/codegen.h"

void test_operation_values(void);
void test_power_values(void);
void test_conversion_values(void);
void test_control(void);
void test_every_operation(void);
void test_every_intrinsic(void);
void test_arrays(void);
void test_atomics(void);
void test_exceptions(void);
void test_exception_ptx(void);
void test_print_ptx(void);
void test_shared_memory(void);
void test_regions(void);
void test_host_entries(void);
void test_waiting_loops(void);
void test_elementary(void);
void test_processor(void);
void test_pass_builder(void);
void test_quick_code(void);
void test_host_map(void);
void test_host_relocation(void);
void test_ptx_patterns(void);
void test_errors(void);
void test_llvm7_rewrite(void);
void test_limits(void);
void test_machines(void);
void test_forks(void);

typedef struct Grid {
    int blocks[3], threads[3];   /* 0 counts as 1 */
    int64_t dynamic_shared;
} Grid;

/* Compiles for the host and runs all blocks by the blocks entry, or thread by thread when it has none. The buffer is that
 * of kernel_abi.h. */
bool run_on_host(const char *ir, const void *parameters, Grid grid);
/* PTX of the module, malloc'd; NULL and a failed check when it does not compile. */
char *compile_ptx(const char *ir, int sm, CompileOptions options);
/* Compiles for every architecture that is tested, from `sm` on (below 0: for -sm alone), and assembles each PTX where ptxas is installed. */
void check_assembles(const char *name, const char *ir, int sm);
/* Compiles for both kinds of target with all options that change code. */
void check_compiles(const char *name, const char *ir, int sm);

/* Runs `body`, which makes %9 of %1, %2, ... , once for each row of numbers: operands, then the result. `types`: words,
 * the last one the result's. Complex numbers are two numbers. tolerance: in units of the last place. */
void check_values(const char *body, const char *types, const char *rows, double tolerance);
/* The kernel that check_values runs. Valid until the next call. */
const char *operation_kernel(const char *body, const char *types);

#endif
