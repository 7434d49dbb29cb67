/* Stacks for the threads of a block and the switch between them. A thread that overflows its stack touches the guard page
 * below it and the process gets SIGSEGV there, rather than writing over a neighbour's stack. */
#define _GNU_SOURCE
#include "runtime/host/machine/host_fiber.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/poison.h"

/* Linux 6.13: a guard inside a mapping, without splitting it. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum {
    KEEP_BYTES = 256 << 20, /* a worker's stacks grow for alternating kernels up to this */
    STAGGER_STEP = 128,
    STAGGER_STEPS = 32, /* tops spread over 4 KB */
    /* Guards made by mprotect split mappings, of which a process may have 65530: later stacks go without. */
    MAX_SPLIT_GUARDS = 16384,
};

#if defined(__x86_64__)
/* The initial stack holds, upwards: r15, r14, r13 = entry, r12 = argument, rbx, rbp, return address. */
__asm__(".text\n"
        ".balign 16\n"
        ".globl host_fiber_switch\n"
        ".hidden host_fiber_switch\n"
        ".type host_fiber_switch, @function\n"
        "host_fiber_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size host_fiber_switch, .-host_fiber_switch\n"
        ".type host_fiber_start, @function\n"
        "host_fiber_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n"
        "    movq %r12, %rdi\n"
        "    callq *%r13\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size host_fiber_start, .-host_fiber_start\n");
enum { SAVED_WORDS = 7, SAVED_ENTRY = 2, SAVED_ARGUMENT = 3, SAVED_RETURN = 6 };
#elif defined(__aarch64__)
/* The initial stack holds, upwards: x19 = entry, x20 = argument, x21..x28, x29, x30 = return address, d8..d15. */
__asm__(".text\n"
        ".balign 16\n"
        ".globl host_fiber_switch\n"
        ".hidden host_fiber_switch\n"
        ".type host_fiber_switch, %function\n"
        "host_fiber_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, "
        "#144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, "
        "#144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size host_fiber_switch, .-host_fiber_switch\n"
        ".type host_fiber_start, %function\n"
        "host_fiber_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined x30\n"
        "    mov x0, x20\n"
        "    blr x19\n"
        "    brk #1\n"
        "    .cfi_endproc\n"
        ".size host_fiber_start, .-host_fiber_start\n");
enum { SAVED_WORDS = 20, SAVED_ENTRY = 0, SAVED_ARGUMENT = 1, SAVED_RETURN = 11 };
#else
#error "the CPU device needs host_fiber_switch for this architecture"
#endif

extern const char host_fiber_start[] __attribute__((visibility("hidden")));

void *host_fiber_prepare(uint8_t *top, void (*entry)(void *argument), void *argument)
{
    assert(top && entry);
    uintptr_t *saved = (uintptr_t *)(((uintptr_t)top & ~(uintptr_t)15) - SAVED_WORDS * sizeof(uintptr_t));
    for (int i = 0; i < SAVED_WORDS; i++)
        saved[i] = 0;
    saved[SAVED_ENTRY] = (uintptr_t)entry;
    saved[SAVED_ARGUMENT] = (uintptr_t)argument;
    saved[SAVED_RETURN] = (uintptr_t)host_fiber_start;
    return saved;
}

/* --- stacks --------------------------------------------------------------------------------------------------------- */
static _Atomic int split_guards;

static void protect_guards(HostStacks *stacks, size_t page)
{
    bool in_place = true;
    for (uint32_t i = 0; i < stacks->count; i++) {
        uint8_t *guard = stacks->base + i * stacks->stride;
        if (in_place && !madvise(guard, page, MADV_GUARD_INSTALL))
            continue;
        in_place = false;
        if (split_guards >= MAX_SPLIT_GUARDS || mprotect(guard, page, PROT_NONE))
            return;
        split_guards++;
        stacks->split_guards++;
    }
}

static void stacks_unmap(HostStacks *stacks)
{
    if (stacks->base)
        munmap(stacks->base, stacks->count * stacks->stride);
    assert(split_guards >= stacks->split_guards);
    split_guards -= stacks->split_guards;
    *stacks = (HostStacks){0};
}

static size_t stride_for(size_t usable, size_t page)
{
    return ((usable + STAGGER_STEP * STAGGER_STEPS + page - 1) & ~(page - 1)) + page;
}

bool host_stacks_suffice(const HostStacks *stacks, uint32_t count, size_t usable)
{
    return stacks->count >= count && stacks->stride >= stride_for(usable, (size_t)sysconf(_SC_PAGESIZE));
}

int host_stacks_map(HostStacks *stacks, uint32_t count, size_t usable)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), stride = stride_for(usable, page);
    size_t both_stride = stride < stacks->stride ? stacks->stride : stride;
    uint32_t both_count = count < stacks->count ? stacks->count : count;
    if (both_stride * both_count <= KEEP_BYTES) { /* fit for the launches before, too */
        stride = both_stride;
        count = both_count;
    }
    stacks_unmap(stacks);
    void *base = mmap(NULL, count * stride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED)
        return errno;
    madvise(base, count * stride, MADV_NOHUGEPAGE); /* a page or two of each stack is touched */
    *stacks = (HostStacks){.base = base, .stride = stride, .count = count};
    protect_guards(stacks, page);
    return 0;
}

void host_stack_forget(const HostStacks *stacks, uint32_t index)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert(index < stacks->count && stacks->stride > page);
    memory_unpoison(stacks->base + index * stacks->stride + page, stacks->stride - page);
}

uint8_t *host_stack_top(const HostStacks *stacks, uint32_t index)
{
    assert(index < stacks->count);
    return stacks->base + (index + 1) * stacks->stride - index % STAGGER_STEPS * STAGGER_STEP;
}
