/* Python runs its handlers of signals in the main thread alone, and only where that asks for it. */
#include "ext/interrupt.h"

#include <pthread.h>
#include <stdatomic.h>

#include "ext/guard.h"

typedef struct Exception {
    PyObject *type, *value, *traceback;
} Exception;

static _Thread_local Exception kept;
static _Atomic unsigned forks = 1; /* of which this process comes: the thread that forks is the child's main one */
static _Thread_local unsigned asked; /* forks when it was found out whether this is the main thread; 0: never */
static _Thread_local ExtInterrupt found;

static void count_fork(void) { forks++; }
static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

static PyObject *attribute(PyObject *object, const char *name)
{
    PyObject *found = object ? PyObject_GetAttrString(object, name) : NULL;
    Py_XDECREF(object);
    return found;
}

/* As `threading` sees it, from its variables: a call of threading.main_thread() would run a handler that waits to be run, and
 * an exception of that would be lost here. */
static bool find_main(void)
{
    PyObject *name = PyUnicode_FromString("threading");
    PyObject *threading = name ? PyImport_GetModule(name) : NULL;
    PyObject *number = attribute(attribute(threading, "_main_thread"), "_ident");
    bool is_main = number && PyLong_Check(number) && PyLong_AsUnsignedLong(number) == PyThread_get_thread_ident();
    Py_XDECREF(number);
    Py_XDECREF(name);
    if (PyErr_Occurred())
        PyErr_Clear(); /* no thread is the main one, then: signals wait for the launch's end */
    return is_main && PyInterpreterState_Get() == PyInterpreterState_Main();
}

static bool run_handlers(void)
{
    PyGILState_STATE state = PyGILState_Ensure();
    bool raised = PyErr_CheckSignals() < 0;
    if (raised) {
        Exception before = kept;
        PyErr_Fetch(&kept.type, &kept.value, &kept.traceback);
        Py_XDECREF(before.type);
        Py_XDECREF(before.value);
        Py_XDECREF(before.traceback);
    }
    PyGILState_Release(state);
    return raised;
}

ExtInterrupt ext_interrupt(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (asked != forks) {
        pthread_once(&once, watch_forks);
        found = find_main() ? run_handlers : NULL;
        asked = forks;
    }
    return found;
}

bool ext_raise_interruption(void)
{
    if (!kept.type)
        return false;
    Exception raised = kept;
    kept = (Exception){0};
    PyErr_Restore(raised.type, raised.value, raised.traceback);
    return true;
}
