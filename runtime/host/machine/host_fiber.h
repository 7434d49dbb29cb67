/* Stacks of threads, and switching between them. */
#ifndef CUJIT_RUNTIME_HOST_FIBER_H
#define CUJIT_RUNTIME_HOST_FIBER_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

/* The mapping that holds the stacks of a block's threads: `count` stacks of `stride` bytes, a guard page below each. */
typedef struct HostStacks {
    uint8_t *base;
    size_t stride;
    uint32_t count;
    int split_guards; /* guards that cost a mapping each */
} HostStacks;

/* Whether there are `count` stacks with at least `usable` bytes each. */
bool host_stacks_suffice(const HostStacks *stacks, uint32_t count, size_t usable);
/* Maps that many in place of the old ones, and where it is cheap no fewer or smaller ones. 0 or errno: then there are
 * none. */
int host_stacks_map(HostStacks *stacks, uint32_t count, size_t usable);
/* The end (highest address, 64-byte aligned) of stack `index`, staggered so that tops do not share cache sets. */
uint8_t *host_stack_top(const HostStacks *stacks, uint32_t index);
/* Threads that left it in the middle are no more: what AddressSanitizer noted of their variables is void. */
void host_stack_forget(const HostStacks *stacks, uint32_t index);
/* A stack pointer that, switched to, calls entry(argument) on the stack that ends at `top`. entry never returns. */
void *host_fiber_prepare(uint8_t *top, void (*entry)(void *argument), void *argument);
/* Saves callee-saved registers and the stack pointer in *save, continues where `load` was saved. No system call. */
void host_fiber_switch(void **save, void *load) __attribute__((visibility("hidden")));

#endif
