/* The groups of core's tests, one for each source. */
#ifndef CUJIT_TESTS_CORE_TESTS_H
#define CUJIT_TESTS_CORE_TESTS_H

void test_arena(void);
void test_memory_guard(void);
void test_memory_that_is_tried(void);
void test_graph(void);
void test_own_stack(void);
void test_side_thread(void);
void test_fork_lock(void);
void test_later_work(void);
void test_asking_wait(void);
void test_buf(void);
void test_table(void);
void test_diag(void);
void test_text(void);
void test_target(void);
void test_type(void);
void test_type_text(void);
void test_type_promotion(void);
void test_intrinsic(void);
void test_kernel_abi(void);
void test_ir_build(void);
void test_ir_text(void);
void test_ir_verify(void);
void test_ir_verify_op(void);
void test_ir_graph(void);
void test_ir_effects(void);
void test_ir_comparison(void);
void test_hash(void);
void test_address(void);
void test_kernel_image(void);
void test_launch_plan(void);

#endif
