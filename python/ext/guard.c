/* The references of a guard are a list of its own, released in reverse order. No Diag lies on the stack here: guards
 * stand in one another, and below them Python's code runs. */
#include "ext/guard.h"

#include "core/base/memory.h"

typedef struct Held {
    struct Held *outer;
    PyObject **objects;
    size_t count, capacity;
    unsigned depth; /* ext_enter() without ext_leave() */
} Held;

static _Thread_local Held *innermost;

/* Objects that end may run Python's code, which must not lose the exception. */
static void release(Held *held)
{
    PyObject *type, *value, *traceback;
    if (!held->count)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    while (held->count)
        Py_DECREF(held->objects[--held->count]);
    memory_free(held->objects);
    PyErr_Restore(type, value, traceback);
}

bool ext_guard(bool (*work)(void *), void *data)
{
    Held held = {.outer = innermost};
    size_t wanted;
    innermost = &held;
    bool ok = memory_guard_small(work, data, &wanted);
    innermost = held.outer;
    while (held.depth--)
        Py_LeaveRecursiveCall();
    release(&held);
    if (wanted != MEMORY_ENOUGH)
        PyErr_Format(PyExc_MemoryError, diag_info[DIAG_NO_MEMORY].format, wanted);
    return ok;
}

PyObject *ext_hold(PyObject *object)
{
    Held *held = innermost;
    if (!object)
        return NULL;
    if (held->count == held->capacity) {
        size_t capacity = held->capacity ? 2 * held->capacity : 16;
        PyObject **grown = memory_try(capacity * sizeof *grown);
        if (!grown) {
            Py_DECREF(object);
            memory_fail(capacity * sizeof *grown);
        }
        if (held->count)
            memcpy(grown, held->objects, held->count * sizeof *grown);
        memory_free(held->objects);
        held->objects = grown;
        held->capacity = capacity;
    }
    return held->objects[held->count++] = object;
}

bool ext_enter(const char *where)
{
    if (Py_EnterRecursiveCall(where))
        return false;
    innermost->depth++;
    return true;
}

unsigned ext_depth(void) { return (unsigned)innermost->depth; }

void ext_leave(void)
{
    innermost->depth--;
    Py_LeaveRecursiveCall();
}

bool ext_forgive(void)
{
    bool stays =
        PyErr_Occurred() && (PyErr_ExceptionMatches(PyExc_MemoryError) ||
                             PyErr_ExceptionMatches(PyExc_RecursionError) || !PyErr_ExceptionMatches(PyExc_Exception));
    if (!stays)
        PyErr_Clear();
    return !stays;
}

static Arena *or_exception(Arena *arena)
{
    if (!arena)
        PyErr_NoMemory();
    return arena;
}

Arena *ext_arena(void) { return or_exception(arena_try()); }
Arena *ext_small_arena(size_t size) { return or_exception(arena_try_small(size)); }

typedef struct Request {
    Arena *arena;
    size_t size;
    void *memory;
} Request;

static bool allocate(void *data)
{
    Request *request = data;
    request->memory = arena_alloc(request->arena, request->size);
    return true;
}

void *ext_arena_alloc(Arena *arena, size_t size)
{
    Request request = {arena, size, NULL};
    return ext_guard(allocate, &request) ? request.memory : NULL;
}
