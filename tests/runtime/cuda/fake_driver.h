/* What the tests may ask of the fake driver, through dlsym: which call is to fail, what was called, what is still alive. */
#ifndef CUJIT_TESTS_FAKE_DRIVER_H
#define CUJIT_TESTS_FAKE_DRIVER_H

#include <stddef.h>

#include "runtime/cuda/driver/driver_types.h"

/* The last launch. */
typedef struct FakeLaunch {
    CUlaunchConfig config; /* attrs points to attributes */
    CUlaunchAttribute attributes[4];
    unsigned char parameters[64];
    size_t parameters_size;
} FakeLaunch;

typedef enum FakeCapture { FAKE_NO_CAPTURE, FAKE_NON_BLOCKING_CAPTURE, FAKE_BLOCKING_CAPTURE } FakeCapture;

typedef struct FakeDriver {
    /* The nth call from now of the function with that C name returns result; 0 undoes it. */
    void (*fail)(const char *name, int nth, CUresult result);
    int (*calls)(const char *name);
    /* Allocations, streams, events, modules, links and context retains that were not undone. */
    int (*alive)(void);
    const FakeLaunch *(*last_launch)(void);
    int (*last_max_registers)(void);
    /* The value that cuFuncSetAttribute was given last for that attribute; -1: none. */
    int (*function_attribute)(int attribute);
    /* The context of the last launch: 0x1000 times the device's number and 10. */
    CUcontext (*launch_context)(void);
    /* The nodes of the graph that was made last, "kernel; fill(0); kernel(0 1); while(2){...}": what each depends on. */
    const char *(*graph)(void);
    /* The launches of graphs so far, and of nodes that were replaced. */
    int (*graph_launches)(void);
    /* Streams of another library, by their addresses: one that is captured, and one that does not synchronize with the
     * default stream. */
    char plain_stream, captured_stream, non_blocking_stream;
    /* Another library begins to capture, in the mode of all threads, a stream that synchronizes with the default one or not;
     * or ends that. */
    void (*capture)(FakeCapture capture);
    /* The call that the capture was lost by; NULL: none yet. */
    const char *(*captures_end)(void);
} FakeDriver;

/* The exported variable "fake_driver". In the environment: FAKE_DRIVER_FAIL="cuInit:1:999" does what fail does before
 * anything can be called, FAKE_DRIVER_DEVICES is the number of devices (2), FAKE_DRIVER_VERSION its
 * CUDA version (13000), FAKE_DRIVER_PEERS=0 keeps
 * them from being peers. FAKE_DRIVER_WAIT: how many milliseconds a wait for the context takes, at each (0). PTX that contains "bad" does not load. */

#endif
