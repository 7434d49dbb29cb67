/* The groups of tests of jit. */
#ifndef CUJIT_TESTS_JIT_TESTS_H
#define CUJIT_TESTS_JIT_TESTS_H

#include "core/snapshot.h"

/* def f(x): pass */
const Snapshot *jit_tests_snapshot(void);

void test_signature_text(void);
void test_signature_errors(void);
void test_type_descriptions(void);
void test_conversion(void);
void test_choice(void);
void test_cache(void);
void test_cache_threads(void);
void test_compiled_once(void);
void test_disk_cache(void);
void test_cache_key(void);
void test_no_memory_for_code(void);
void test_no_memory_for_a_launch(void);
void test_launch_state(void);
void test_silent_kernels(void);

#endif
