/* Compilers recurse: ours over what the user nests, LLVM's passes over the length of a function too. The thread that asks
 * for a kernel may have a small stack; then the work gets another one. */
#ifndef CUJIT_CORE_OWN_STACK_H
#define CUJIT_CORE_OWN_STACK_H

#include <pthread.h>
#include <stddef.h>

#include "core/diagnostic/diag.h"

enum { STACK_FOR_NESTING = 1 << 20 }; /* bytes: for what recurses over nesting only */

/* Calls work(argument) with at least so many bytes of stack, and returns when it is done: here if that much is left, else in
 * another thread, but as if it was this one's call (locks that the caller holds stay held). False with a diagnostic where
 * the system refuses a thread; then nothing was called. A thread costs 0.1 ms, and 0.4 ms of memory that malloc does not
 * have at hand there. */
bool with_stack(size_t bytes, void (*work)(void *argument), void *argument, Diag *diag);

/* pthread_create() of a thread that has no signals but those that a fault of its own raises: they belong to the program's
 * threads. */
int start_without_signals(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument);

#endif
