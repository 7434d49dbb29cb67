/* The groups of tests of jit. */
#ifndef CUJIT_TESTS_JIT_TESTS_H
#define CUJIT_TESTS_JIT_TESTS_H

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

#endif
