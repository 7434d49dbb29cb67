/* What a thread does that waits for another one's next store, without giving its core away. */
#ifndef CUJIT_RUNTIME_HOST_PAUSE_H
#define CUJIT_RUNTIME_HOST_PAUSE_H

/* Leaves the core's units to its other thread for some 10 to 140 cycles. */
static inline void pause_thread(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

#endif
