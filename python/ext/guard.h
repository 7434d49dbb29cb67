/* Memory for what is made of Python's objects: core/base/memory.h's guard, with the references that the work holds; and
 * which exceptions such work may pass over. */
#ifndef CUJIT_EXT_GUARD_H
#define CUJIT_EXT_GUARD_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "ext/py.h"

/* Does the work, which may ask for arena memory; its result, or false with MemoryError. What the work must not leave behind
 * by a jump are references and levels of recursion: it gets them from ext_hold() and ext_enter(). */
bool ext_guard(bool (*work)(void *data), void *data);

/* In a guard: takes over a new reference, to be released where the guard ends, and lends it to the caller. NULL stays
 * NULL. */
PyObject *ext_hold(PyObject *object);
/* In a guard: Py_EnterRecursiveCall and Py_LeaveRecursiveCall. */
bool ext_enter(const char *where);
void ext_leave(void);
/* How many levels have been entered and not left. */
unsigned ext_depth(void);

/* Anywhere: clears a pending exception that only says what a value is not, such as AttributeError. False where one stays
 * pending since nothing was learnt of the value: memory or the stack ran out, or it is none that programs catch
 * (KeyboardInterrupt). */
bool ext_forgive(void);

/* Outside of a guard: an arena, and zeroed memory of one, or NULL with MemoryError. */
Arena *ext_arena(void);
Arena *ext_small_arena(size_t size); /* arena_try_small() */
void *ext_arena_alloc(Arena *arena, size_t size);

#endif
