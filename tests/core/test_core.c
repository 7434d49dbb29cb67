/* Runs the unit tests of core. */
#include "check.h"

#include "core_tests.h"

CHECK_MAIN(test_arena, test_graph, test_own_stack, test_side_thread, test_fork_lock, test_later_work, test_asking_wait,
           test_buf, test_table, test_diag, test_text, test_target, test_type, test_type_text, test_type_promotion,
           test_intrinsic, test_kernel_abi, test_ir_build, test_ir_text, test_ir_verify, test_ir_verify_op,
           test_ir_graph, test_ir_effects, test_ir_comparison, test_hash, test_address, test_kernel_image,
           test_launch_plan, test_memory_guard, test_memory_that_is_tried)
