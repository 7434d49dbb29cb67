/* Runs the tests of jit. */
#include "check.h"
#include "jit_tests.h"

CHECK_MAIN(test_disk_cache, test_signature_text, test_signature_errors, test_type_descriptions, test_conversion,
           test_choice, test_cache, test_cache_threads, test_compiled_once, test_cache_key, test_no_memory_for_code,
           test_no_memory_for_a_launch, test_launch_state, test_silent_kernels)
