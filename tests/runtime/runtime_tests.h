/* Groups of the runtime's tests, and what they share. The driver and the pool are loaded once per process, so cases that
 * need another environment run in a child. */
#ifndef CUJIT_RUNTIME_TESTS_H
#define CUJIT_RUNTIME_TESTS_H

#include "check.h"
#include "runtime/runtime.h"

void test_driver_loading(void);
void test_cuda(void);
void test_cuda_capture(void);
void test_cuda_faults(void);
void test_peers(void);
void test_graphs(void);
void test_gpu(void);
void test_launch_limits(void);
void test_host_device(void);
void test_host_devices(void);
void test_host_launch(void);
void test_host_additions(void);
void test_host_alone(void);
void test_host_trial(void);
void test_host_pool(void);
void test_host_warp(void);
void test_host_profile(void);
void test_warp_accesses(void);
void test_clocks(void);
void test_race(void);
void test_no_memory_for_launches(void);

/* Runs the body in a fork of this process and adds its counts; a crash or a leak (under sanitizers) is a failure. */
void in_child(const char *what, void (*body)(void));
/* The same with environment variables set: names and values, ended by NULL. */
void in_child_with(const char *what, void (*body)(void), const char *const *environment);

/* ThreadSanitizer keeps signals until a call of the C library, knows no threads of a child after a fork, and takes a second
 * for a fork. */
#ifdef __SANITIZE_THREAD__
enum { under_thread_sanitizer = true };
#else
enum { under_thread_sanitizer = false };
#endif
/* Its shadow memory needs the address space, and lies where CUDA's driver wants to map. */
#ifdef __SANITIZE_ADDRESS__
enum { under_address_sanitizer = true };
#else
enum { under_address_sanitizer = false };
#endif

/* Zeroed memory that children share with their parent. */
void *shared_memory(size_t size);

/* Fake drivers, from the environment: all of driver.def, without its optional functions, without a required one. */
const char *fake_driver_path(void);
const char *fake_driver_old_path(void);
const char *fake_driver_incomplete_path(void);

/* Fails the test with the Diag's message when there is one. */
#define CHECK_OK(call, diag)                 \
    do {                                     \
        CHECK(call);                         \
        if (diag_failed(diag))               \
            CHECK_TEXT((diag)->message, ""); \
        diag_clear(diag);                    \
    } while (0)

/* The call fails with this id and a message that contains the text. */
#define CHECK_FAILS(call, diag, expected_id, text) \
    do {                                           \
        CHECK(!(call));                            \
        CHECK((diag)->id == (expected_id));        \
        CHECK_CONTAINS((diag)->message, text);     \
        diag_clear(diag);                          \
    } while (0)

#endif
