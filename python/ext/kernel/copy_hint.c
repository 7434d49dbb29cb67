/* The hint that a launch copies host arrays. Python's warnings take longer than the copies to find out that a warning was
 * shown before: line tables, regular expressions, a registry. What they go by is the place in the program and the list of
 * filters, so a kernel remembers those of the launch that warned last, and does not ask again where they are the same. A
 * list that is replaced (catch_warnings, pytest.warns), or changed at its head (simplefilter), is another one. */
#include "ext/kernel/copy_hint.h"

#include "ext/guard.h"
#include "ext/raise.h"

static const char category[] = "PerformanceWarning";
static const char text[] = "for every launch a host array is copied to a GPU and back; cuda.to_device keeps it there";

/* Of references, held but for the code's. */
typedef struct Place {
    PyObject *filters, *head; /* warnings.filters and its first item */
    PyCodeObject *code; /* that launches */
    int at; /* the instruction there */
} Place;

static void release(Place *place)
{
    Py_CLEAR(place->filters);
    Py_CLEAR(place->head);
    Py_CLEAR(place->code);
}

/* False, without an exception, where nothing can be said of later launches. */
static bool find_place(const ExtState *state, Place *place)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyObject *module = frame ? PyImport_GetModule(state->warnings_name) : NULL;
    *place = (Place){.filters = module ? PyObject_GetAttr(module, state->filters_name) : NULL};
    Py_XDECREF(module);
    if (place->filters && PyList_Check(place->filters) && PyList_GET_SIZE(place->filters))
        place->head = PyList_GetItemRef(place->filters, 0);
    if (!place->head) {
        release(place);
        return ext_forgive(), false;
    }
    place->code = PyFrame_GetCode(frame);
    place->at = PyFrame_GetLasti(frame);
    return true;
}

/* --- whether Python would show it again --------------------------------------------------------------------------------- */

static bool is_action(PyObject *action, const char *name)
{
    return PyUnicode_Check(action) && PyUnicode_CompareWithASCIIString(action, name) == 0;
}

/* What a filter says of our warnings: the first one that asks for nothing but a class decides. */
typedef enum Verdict { VERDICT_OPEN, VERDICT_ONCE, VERDICT_EACH_TIME } Verdict;

static Verdict verdict_of(PyObject *filter, PyObject *class)
{
    if (!PyTuple_Check(filter) || PyTuple_GET_SIZE(filter) != 5)
        return VERDICT_EACH_TIME;
    PyObject *action = PyTuple_GET_ITEM(filter, 0);
    int is_for_us = PyObject_IsSubclass(class, PyTuple_GET_ITEM(filter, 2));
    if (is_for_us <= 0)
        return is_for_us ? VERDICT_EACH_TIME : VERDICT_OPEN;
    if (is_action(action, "always") || is_action(action, "all") || is_action(action, "error"))
        return VERDICT_EACH_TIME;
    bool is_plain = PyTuple_GET_ITEM(filter, 1) == Py_None && PyTuple_GET_ITEM(filter, 3) == Py_None &&
                    PyObject_Not(PyTuple_GET_ITEM(filter, 4)) == 1;
    return is_plain ? VERDICT_ONCE : VERDICT_OPEN;
}

/* Where the filters are each thread's own, the list says nothing. */
static bool is_context_aware(void)
{
    PyObject *flags = PySys_GetObject("flags");
    PyObject *flag = flags ? PyObject_GetAttrString(flags, "context_aware_warnings") : NULL;
    bool is_set = flag && PyObject_IsTrue(flag) == 1;
    Py_XDECREF(flag);
    return ext_forgive(), is_set;
}

static bool shows_once(PyObject *filters)
{
    PyObject *class = ext_exception_class(category);
    Verdict verdict = is_context_aware() ? VERDICT_EACH_TIME : VERDICT_OPEN;
    for (Py_ssize_t i = 0; verdict == VERDICT_OPEN && i < PyList_GET_SIZE(filters); i++) {
        PyObject *filter = PyList_GetItemRef(filters, i);
        verdict = filter ? verdict_of(filter, class) : VERDICT_EACH_TIME;
        Py_XDECREF(filter);
    }
    Py_DECREF(class);
    return ext_forgive(), verdict != VERDICT_EACH_TIME;
}

/* --- what is remembered ------------------------------------------------------------------------------------------------- */

/* (filters, head, code, instruction), or NULL. */
static bool is_told(ExtKernel *kernel, const Place *place)
{
    bool is_same;
    Py_BEGIN_CRITICAL_SECTION(kernel);
    PyObject *told = kernel->told_of_copies;
    is_same = told && PyTuple_GET_ITEM(told, 0) == place->filters && PyTuple_GET_ITEM(told, 1) == place->head &&
              PyTuple_GET_ITEM(told, 2) == (PyObject *)place->code &&
              PyLong_AsLong(PyTuple_GET_ITEM(told, 3)) == place->at;
    Py_END_CRITICAL_SECTION();
    return is_same;
}

static bool remember(ExtKernel *kernel, const Place *place)
{
    PyObject *told = shows_once(place->filters)
                         ? Py_BuildValue("(OOOi)", place->filters, place->head, place->code, place->at)
                         : NULL;
    PyObject *before;
    if (!told)
        return !PyErr_Occurred();
    Py_BEGIN_CRITICAL_SECTION(kernel);
    before = kernel->told_of_copies;
    kernel->told_of_copies = told;
    Py_END_CRITICAL_SECTION();
    Py_XDECREF(before);
    return true;
}

bool ext_hint_at_copies(ExtKernel *kernel)
{
    Place place;
    if (!find_place(kernel->state, &place))
        return !PyErr_Occurred() && ext_warn(category, text);
    bool ok = is_told(kernel, &place) || (ext_warn(category, text) && remember(kernel, &place));
    release(&place);
    return ok;
}
