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
#include "runtime/host/machine/thread_sanitizer.h"

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

#ifdef HAS_THREAD_SANITIZER
#define SWITCH "host_stack_switch" /* host_fiber_switch says first who goes on */
#else
#define SWITCH "host_fiber_switch"
#endif

#if defined(__x86_64__)
/* The initial stack holds, upwards: r15, r14, r13 = entry, r12 = argument, rbx, rbp, return address. */
__asm__(".text\n"
        ".balign 16\n"
        ".globl " SWITCH "\n"
        ".hidden " SWITCH "\n"
        ".type " SWITCH ", @function\n" SWITCH ":\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size " SWITCH ", .-" SWITCH "\n"
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
        ".globl " SWITCH "\n"
        ".hidden " SWITCH "\n"
        ".type " SWITCH ", %function\n" SWITCH ":\n"
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
        ".size " SWITCH ", .-" SWITCH "\n"
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

static void *prepare(uint8_t *top, void (*entry)(void *argument), void *argument)
{
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

static uint8_t *lowest_byte(const HostStacks *stacks, uint32_t index)
{
    return stacks->base + index * stacks->stride + (size_t)sysconf(_SC_PAGESIZE);
}

/* ThreadSanitizer takes a fiber for a thread, which has an identity: noted in the lowest word of the fiber's stack. */
static void forget_identity(const HostStacks *stacks, uint32_t index)
{
#ifdef HAS_THREAD_SANITIZER
    void **noted = (void **)lowest_byte(stacks, index);
    if (*noted)
        __tsan_destroy_fiber(*noted);
    *noted = NULL;
#else
    (void)stacks, (void)index;
#endif
}

static void stacks_unmap(HostStacks *stacks)
{
    for (uint32_t i = 0; i < stacks->count; i++)
        forget_identity(stacks, i);
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

uint8_t *host_stack_top(const HostStacks *stacks, uint32_t index)
{
    assert(index < stacks->count);
    return stacks->base + (index + 1) * stacks->stride - index % STAGGER_STEPS * STAGGER_STEP;
}

/* --- fibers --------------------------------------------------------------------------------------------------------- */
#ifdef HAS_THREAD_SANITIZER
/* What is saved of a fiber: with its stack pointer, who it is to the sanitizer. */
typedef struct Saved {
    void *stack_pointer, *identity;
} Saved;

void host_stack_switch(void **save, void *load) __attribute__((visibility("hidden")));

__attribute__((no_sanitize("thread"))) void host_fiber_switch(void **save, void *load)
{
    Saved saved = {.identity = __tsan_get_current_fiber()}, *next = load;
    *save = &saved;
    __tsan_switch_to_fiber(next->identity, 0);
    host_stack_switch(&saved.stack_pointer, next->stack_pointer);
}
#endif

void *host_fiber_prepare(const HostStacks *stacks, uint32_t index, uint8_t *top, void (*entry)(void *argument),
                         void *argument)
{
    assert(index < stacks->count && top && entry);
    uint8_t *lowest = lowest_byte(stacks, index);
    memory_unpoison(lowest, (size_t)(stacks->base + (index + 1) * stacks->stride - lowest));
#ifdef HAS_THREAD_SANITIZER
    Saved *saved = (Saved *)((uintptr_t)top & ~(uintptr_t)63) - 1;
    forget_identity(stacks, index);
    *(void **)lowest = saved->identity = __tsan_create_fiber(0);
    saved->stack_pointer = prepare((uint8_t *)saved, entry, argument);
    return saved;
#else
    return prepare(top, entry, argument);
#endif
}
