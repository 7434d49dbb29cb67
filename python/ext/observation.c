/* Reads what observed kernels count behind their launches, and hands it to cujit.coverage. */
#include "ext/observation.h"

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

static bool tell(const JitObservation *observation)
{
    PyObject *marks = take_marks(observation);
    if (!marks)
        return !PyErr_Occurred();
    PyObject *module = PyImport_ImportModule("cujit.coverage");
    PyObject *done = module ? PyObject_CallMethod(module, "_record", "y#O", observation->text,
                                                  (Py_ssize_t)observation->text_size, marks)
                            : NULL;
    Py_XDECREF(module);
    Py_DECREF(marks);
    Py_XDECREF(done);
    return done != NULL;
}

bool ext_tell_lines(const JitSpecialization *specialization)
{
    const JitObservation *observation = jit_observation(specialization);
    PyObject *class, *value, *traceback;
    if (!observation || observation->kind != OBSERVE_LINES)
        return true;
    PyErr_Fetch(&class, &value, &traceback);
    bool told = tell(observation);
    if (class && !told)
        PyErr_WriteUnraisable(NULL);
    if (class)
        PyErr_Restore(class, value, traceback);
    return told || class;
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
