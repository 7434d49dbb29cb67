/* The runtime's tests: groups, children, where the fake drivers are. */
#include "runtime_tests.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *from_environment(const char *name)
{
    const char *path = getenv(name);
    return path ? path : "";
}

const char *fake_driver_path(void) { return from_environment("FAKE_DRIVER"); }
const char *fake_driver_old_path(void) { return from_environment("FAKE_DRIVER_OLD"); }
const char *fake_driver_incomplete_path(void) { return from_environment("FAKE_DRIVER_INCOMPLETE"); }

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

void in_child_with(const char *what, void (*body)(void), const char *const *environment)
{
    int *counts = shared_memory(2 * sizeof *counts), status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        alarm(120);
        for (; environment && *environment; environment += 2)
            setenv(environment[0], environment[1], 1);
        check_passed = check_failed = 0;
        body();
        counts[0] = check_passed;
        counts[1] = check_failed;
        exit(0);
    }
    bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
    if (!CHECK(ended))
        fprintf(stderr, "%s: child ended with status %#x\n", what, status);
    if (counts[1])
        fprintf(stderr, "in %s: %d failed\n", what, counts[1]);
    check_passed += counts[0];
    check_failed += counts[1];
    munmap(counts, 2 * sizeof *counts);
}

void in_child(const char *what, void (*body)(void)) { in_child_with(what, body, NULL); }

/* test_host_devices first: it opens devices that the others have open. */
CHECK_MAIN(test_host_devices, test_driver_loading, test_cuda, test_cuda_capture, test_cuda_faults, test_peers,
           test_graphs, test_gpu, test_launch_limits, test_host_device, test_host_launch, test_host_additions,
           test_host_alone, test_host_trial, test_host_pool, test_host_warp, test_host_profile, test_warp_accesses,
           test_clocks, test_race, test_no_memory_for_launches)
