/* What the threads of every block have, whoever schedules them: a fiber each, a clock, a debugger. */
#include "runtime/host/threads/host_thread.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"

/* Fibers stay with the worker from one block, and one kernel, to the next. */
static void fiber_main(void *argument)
{
    HostFiber *fiber = argument;
    for (;;)
        fiber->worker->run_fiber(fiber);
}

HostFiber *host_fiber_take(HostWorker *worker)
{
    uint32_t index = worker->fibers_used++;
    uintptr_t place = (uintptr_t)host_stack_top(&worker->stacks, index) - sizeof(HostFiber);
    HostFiber *fiber = (HostFiber *)(place & ~(uintptr_t)63);
    if (index >= worker->fibers_made) {
        worker->fibers_made = index + 1;
        host_stack_forget(&worker->stacks, index);
        fiber->worker = worker;
        fiber->stack_pointer = host_fiber_prepare((uint8_t *)fiber, fiber_main, fiber);
    }
    return fiber;
}

void host_leave_block(HostWorker *worker)
{
    void *left = NULL;
    host_fiber_switch(&left, worker->stack_pointer);
    /* Nobody comes back. Were this plain to the compiler, AddressSanitizer would look for the thread's stack first. */
    if (left)
        abort();
}

uint64_t host_clock(HostThread *thread)
{
    (void)thread;
    return (uint64_t)clock_nanoseconds();
}

/* Whether another process traces this one; asked each time, since debuggers come and go. */
static bool is_traced(void)
{
    char text[2048];
    FILE *status = fopen("/proc/self/status", "r");
    size_t length = status ? fread(text, 1, sizeof text - 1, status) : 0;
    text[length] = 0;
    if (status)
        fclose(status);
    const char *tracer = strstr(text, "\nTracerPid:");
    return tracer && strtol(tracer + strlen("\nTracerPid:"), NULL, 10) != 0;
}

void host_debug(HostThread *thread)
{
    (void)thread;
    if (is_traced())
        raise(SIGTRAP);
}
