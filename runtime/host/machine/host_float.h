/* Floating point modes of the thread that runs a kernel: results must not depend on what the caller, or a library it
 * loaded, has set (flush to zero, rounding). */
#ifndef CUJIT_RUNTIME_HOST_FLOAT_H
#define CUJIT_RUNTIME_HOST_FLOAT_H

#include <stdint.h>

typedef uint64_t HostFloatState;

#if defined(__x86_64__)
#include <xmmintrin.h>
static inline HostFloatState host_float_enter(void)
{
    HostFloatState state = _mm_getcsr();
    _mm_setcsr(0x1F80);   /* round to nearest, denormals, no traps */
    return state;
}
static inline void host_float_leave(HostFloatState state) { _mm_setcsr((unsigned)state); }
#elif defined(__aarch64__)
static inline HostFloatState host_float_enter(void)
{
    HostFloatState state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return state;
}
static inline void host_float_leave(HostFloatState state) { __asm__ volatile("msr fpcr, %0" : : "r"(state)); }
#endif

#endif
