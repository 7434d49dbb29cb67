/* Runs the unit tests of codegen. */
#include "codegen_tests.h"

CHECK_MAIN(test_operation_values, test_power_values, test_conversion_values, test_control, test_arrays, test_atomics,
           test_exceptions, test_exception_ptx, test_print_ptx, test_shared_memory, test_regions, test_host_entries,
           test_waiting_loops, test_elementary, test_processor, test_host_map, test_host_relocation, test_pass_builder,
           test_quick_code, test_ptx_patterns, test_errors, test_every_operation, test_every_intrinsic,
           test_llvm7_rewrite, test_limits, test_machines, test_forks)
