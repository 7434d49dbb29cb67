/* Where in the program memory is allocated: the innermost line that is not cujit's own. */
#include "ext/allocation_place.h"

#include <stdio.h>
#include <string.h>

/* The package's files lie in a folder of this name, in which nothing else is installed. */
static const char own_folder[] = "/cujit/";
static const char *const own_parts[] = {"cuda/", "_ufunc/", "_memory/", "_kernel_functions/", "_numba/", "comm/"};

static bool is_own(const char *file)
{
    for (const char *found = file; (found = strstr(found, own_folder)); found++)
        for (size_t i = 0; i < sizeof own_parts / sizeof *own_parts; i++)
            if (strncmp(found + sizeof own_folder - 1, own_parts[i], strlen(own_parts[i])) == 0)
                return true;
    return false;
}

/* False where the frame is cujit's own. */
static bool tell_place(PyFrameObject *frame, char *text, size_t size)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    bool is_told = file && !is_own(file);
    if (is_told) {
        size_t length = strlen(file), most = size - 16; /* the end tells more */
        snprintf(text, size, "%s:%d", length > most ? file + length - most : file, PyFrame_GetLineNumber(frame));
    }
    Py_DECREF(code);
    return is_told;
}

void ext_note_place(RtDevice *device, RtPoolKind kind, RtPointer pointer)
{
    char text[96];
    if (!pointer || !rt_pool_wants_place(device, kind))
        return;
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (frame && !tell_place(frame, text, sizeof text)) {
        PyFrameObject *outer = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = outer;
    }
    if (PyErr_Occurred())
        PyErr_Clear();
    if (frame)
        rt_pool_note_place(device, kind, pointer, text);
    Py_XDECREF(frame);
}
