/* Reads what observed kernels count behind their launches: hands lines to cujit.coverage, and counts to who asks. */
#include "ext/observation.h"

#include "core/observed.h"
#include "ext/module_parts.h"
#include "ext/raise.h"

/* The numbers of the marks that are set, which are taken back: uint32_t, one after another, in bytes. */
static PyObject *take_marks(const JitObservation *observation)
{
    uint8_t *marks = observation->lines;
    uint32_t count = 0;
    for (uint32_t i = 0; i < observation->line_cells; i++)
        count += __atomic_load_n(&marks[i], __ATOMIC_RELAXED);
    PyObject *taken = count ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count * (Py_ssize_t)sizeof(uint32_t)) : NULL;
    uint32_t *out = taken ? (uint32_t *)(void *)PyBytes_AS_STRING(taken) : NULL, place = 0;
    for (uint32_t i = 0; out && i < observation->line_cells && place < count; i++)
        if (__atomic_load_n(&marks[i], __ATOMIC_RELAXED) && __atomic_exchange_n(&marks[i], 0, __ATOMIC_RELAXED))
            out[place++] = i;
    if (place < count && taken) /* another thread's launch took some */
        _PyBytes_Resize(&taken, (Py_ssize_t)place * (Py_ssize_t)sizeof(uint32_t));
    return taken;
}

static void tell(const JitObservation *observation, void *Py_UNUSED(user))
{
    PyObject *marks = observation->kind == OBSERVE_LINES && !PyErr_Occurred() ? take_marks(observation) : NULL;
    if (!marks)
        return;
    PyObject *module = PyImport_ImportModule("cujit.coverage");
    PyObject *done = module ? PyObject_CallMethod(module, "_record", "y#O", observation->text,
                                                  (Py_ssize_t)observation->text_size, marks)
                            : NULL;
    Py_XDECREF(module);
    Py_DECREF(marks);
    Py_XDECREF(done);
}

bool ext_tell_lines(const JitSpecialization *specialization)
{
    PyObject *class, *value, *traceback;
    if (!jit_is_observed(specialization))
        return true;
    PyErr_Fetch(&class, &value, &traceback);
    jit_each_observation(specialization, tell, NULL);
    if (!class)
        return !PyErr_Occurred();
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(class, value, traceback);
    return true;
}

bool ext_warn_of_uncounted_lines(ExtState *state, const RtDevice *device)
{
    if (!state->observes_lines || rt_device_kind(device) != RT_GPU ||
        atomic_exchange(&state->has_warned_of_lines, true))
        return true;
    return ext_warn("CujitWarning",
                    "lines of kernels that run on a GPU are not counted by coverage.py: CUJIT_DEVICE=cpu "
                    "runs them where they are");
}

/* --- counts ----------------------------------------------------------------------------------------------------------- */

/* Copies the numbers and makes them zero. */
static PyObject *take_counts(void *numbers, size_t size)
{
    PyObject *taken = PyBytes_FromStringAndSize(numbers ? numbers : "", numbers ? (Py_ssize_t)size : 0);
    if (taken && numbers)
        memset(numbers, 0, size);
    return taken;
}

static void add_counts(const JitObservation *observation, void *list)
{
    if (observation->kind != OBSERVE_ACCESSES || PyErr_Occurred())
        return;
    PyObject *row = Py_BuildValue("y#NN", observation->text, (Py_ssize_t)observation->text_size,
                                  take_counts(observation->lines, observation->line_cells * sizeof(uint64_t)),
                                  take_counts(observation->sites, observation->site_count * sizeof(ObservedSite)));
    if (row)
        PyList_Append(list, row);
    Py_XDECREF(row);
}

static void add_all_counts(const JitSpecialization *specialization, void *list)
{
    jit_each_observation(specialization, add_counts, list);
}

static PyObject *take_observed(PyObject *module, PyObject *object)
{
    ExtState *state = ext_state(module);
    if (!PyObject_TypeCheck(object, state->kernel_type)) {
        PyErr_Format(PyExc_TypeError, "expected a kernel, not %.100s", Py_TYPE(object)->tp_name);
        return NULL;
    }
    JitFunction *function = ((ExtKernel *)object)->function;
    PyObject *list = PyList_New(0);
    if (list && function)
        jit_each_specialization(function, add_all_counts, list);
    if (PyErr_Occurred())
        Py_CLEAR(list);
    return list;
}

static PyMethodDef functions[] = {
    {"take_observed", take_observed, METH_O,
     "What a kernel with observe='accesses' has counted since the last time: for each specialization what the numbers "
     "are "
     "of (codegen/host/observe/observe.h), those of lines, and those of sites."},
    {0},
};

/* observed_counts: the names of the numbers of a site. */
bool ext_add_observation(PyObject *module)
{
    PyObject *names = PyTuple_New(OBSERVED_COUNT_COUNT);
    for (int i = 0; names && i < OBSERVED_COUNT_COUNT; i++) {
        PyObject *name = PyUnicode_FromString(observed_count_names[i]);
        if (name)
            PyTuple_SET_ITEM(names, i, name);
        else
            Py_CLEAR(names);
    }
    bool ok = names && PyModule_AddObjectRef(module, "observed_counts", names) == 0;
    Py_XDECREF(names);
    return ok && PyModule_AddFunctions(module, functions) == 0;
}
