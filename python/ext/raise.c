/* Diag -> Python exception: the class that diag.def names, and a message that shows the line with a caret under the
 * expression. The only place that makes exceptions of cujit's own. */
#include "ext/raise.h"

#include "ext/guard.h"
#include "ext/interrupt.h"

#include "ext/kernel_exception.h"

enum { MESSAGE_LINES = 10 };

PyObject *ext_exception_class(const char *name)
{
    static const char *const modules[] = {"cujit.errors", "builtins"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        PyObject *module = PyImport_ImportModule(modules[i]);
        PyObject *found = module ? PyObject_GetAttrString(module, name) : NULL;
        Py_XDECREF(module);
        if (found && PyExceptionClass_Check(found))
            return found;
        Py_XDECREF(found);
        PyErr_Clear();
    }
    return Py_NewRef(PyExc_RuntimeError);
}

bool ext_warn(const char *category, const char *text)
{
    PyObject *class = ext_exception_class(category);
    int result = PyErr_WarnEx(class, text, 1);
    Py_DECREF(class);
    return result == 0;
}

/* A range of source text as messages show it. */
typedef struct Place {
    const char *file;
    int line, end_line, column, end_column;
} Place;

/* The source line without its end; NULL without an exception when there is none. New reference, a str. */
static PyObject *source_line(const Place *place)
{
    if (!*place->file || place->line <= 0)
        return NULL;
    PyObject *linecache = PyImport_ImportModule("linecache");
    /* a file that was edited since it was read is read again */
    PyObject *checked = linecache ? PyObject_CallMethod(linecache, "checkcache", "s", place->file) : NULL;
    Py_XDECREF(checked);
    PyErr_Clear();
    PyObject *line = linecache ? PyObject_CallMethod(linecache, "getline", "si", place->file, place->line) : NULL;
    PyObject *stripped = line ? PyObject_CallMethod(line, "rstrip", NULL) : NULL;
    Py_XDECREF(linecache);
    Py_XDECREF(line);
    if (stripped && PyUnicode_Check(stripped) && PyUnicode_GET_LENGTH(stripped) > 0)
        return stripped;
    Py_XDECREF(stripped);
    PyErr_Clear();
    return NULL;
}

/* Characters in the first `bytes` bytes of UTF-8 text. */
static int characters_before(const char *text, Py_ssize_t length, int bytes)
{
    int count = 0;
    for (Py_ssize_t i = 0; i < length && i < bytes; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* The line, four spaces in, and the caret line below; each begins with the end of the line before. */
static void add_line(Buf *message, const Place *place, PyObject *line)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(line, &length);
    if (!text) {
        PyErr_Clear();
        return;
    }
    int indent = (int)strspn(text, " \t");
    buf_printf(message, "\n    %s", text + indent);
    int end = place->end_line == place->line && place->end_column > place->column ? place->end_column : (int)length;
    int start = place->column > indent ? place->column : indent;
    if (start >= end || end > length)
        return;
    int first = characters_before(text, length, start) - indent;
    int carets = characters_before(text, length, end) - indent - first;
    buf_printf(message, "\n    %*s", first, "");
    while (carets-- > 0)
        buf_add(message, "^");
}

/* The source line of a place with its carets, if the source is at hand; how many lines that took. */
static int add_source(Buf *message, const Place *place)
{
    PyObject *line = ext_hold(source_line(place));
    if (!line)
        return 0;
    add_line(message, place, line);
    return 2;
}

/* A note is one line, and two more where its source is shown, as long as the message stays at ten lines. */
static void add_notes(Buf *message, const Diag *diag, int lines)
{
    int room = MESSAGE_LINES - lines - diag->note_count;
    for (int i = 0; i < diag->note_count; i++) {
        const DiagNote *note = &diag->notes[i];
        Place place = {note->file, note->line, note->end_line, note->column, note->end_column};
        buf_printf(message, "\n  %s", note->message);
        if (room < 2)
            continue;
        int taken = add_source(message, &place);
        room -= taken;
    }
}

typedef struct FullMessage {
    const Diag *diag;
    PyObject *text;
} FullMessage;

static bool make_message(void *data)
{
    FullMessage *made = data;
    const Diag *diag = made->diag;
    Buf message = {0};
    int lines = 1;
    if (*diag->file) {
        Place place = {diag->file, diag->line, diag->end_line, diag->column, diag->end_column};
        buf_printf(&message, "%s:%d%s%s", diag->file, diag->line, *diag->function ? " in " : "", diag->function);
        lines += 1 + add_source(&message, &place);
        buf_add(&message, "\n");
    }
    buf_add(&message, diag->message);
    add_notes(&message, diag, lines);
    made->text = PyUnicode_DecodeUTF8(buf_text(&message), (Py_ssize_t)message.length, "replace");
    buf_free(&message);
    return made->text != NULL;
}

/* That memory is out takes none of it to say. */
static PyObject *full_message(const Diag *diag)
{
    FullMessage made = {diag, NULL};
    if (diag->id == DIAG_NO_MEMORY)
        return PyUnicode_FromString(diag->message);
    return ext_guard(make_message, &made) ? made.text : NULL;
}

/* Sets an attribute to a new value, which is consumed; the exception is as good without it. */
static void set_attribute(PyObject *exception, const char *name, PyObject *value)
{
    if (!value || PyObject_SetAttrString(exception, name, value) < 0)
        PyErr_Clear();
    Py_XDECREF(value);
}

PyObject *ext_raise(const Diag *diag)
{
    if (diag->id == DIAG_KERNEL_EXCEPTION)
        return ext_raise_from_kernel(diag);
    if (diag->id == DIAG_INTERRUPTED && ext_raise_interruption())
        return NULL;
    const DiagInfo *info = &diag_info[diag->id];
    PyObject *class = ext_exception_class(diag_failed(diag) ? info->exception : "InternalError");
    PyObject *text = diag_failed(diag) ? full_message(diag) : PyUnicode_FromString("a failure without a reason");
    PyObject *exception = text ? PyObject_CallOneArg(class, text) : NULL;
    if (exception) {
        if (*diag->file) {
            set_attribute(exception, "filename", PyUnicode_DecodeFSDefault(diag->file));
            set_attribute(exception, "lineno", PyLong_FromLong(diag->line));
            set_attribute(exception, "offset", PyLong_FromLong(diag->column + 1));
        }
        set_attribute(exception, "code", diag->code ? PyLong_FromLong(diag->code) : PyUnicode_FromString(info->name));
        PyErr_SetObject(class, exception);
    }
    Py_XDECREF(exception);
    Py_XDECREF(text);
    Py_DECREF(class);
    return NULL;
}

PyObject *ext_raise_id(DiagId id, ...)
{
    Diag diag;
    diag_clear(&diag);
    diag.id = id;
    va_list arguments;
    va_start(arguments, id);
    vsnprintf(diag.message, sizeof diag.message, diag_info[id].format, arguments);
    va_end(arguments);
    return ext_raise(&diag);
}

PyObject *ext_refuse_pickle(PyObject *self, PyObject *ignored)
{
    const char *name = Py_TYPE(self)->tp_name, *dot = strrchr(name, '.');
    (void)ignored;
    return ext_raise_id(DIAG_NOT_PICKLED, dot ? dot + 1 : name);
}

bool ext_check_tuple(const Type *type)
{
    DiagId wrong = type_check_size(type);
    return !wrong || ext_raise_id(wrong, wrong == DIAG_TUPLE_SIZE ? TYPE_MOST_VALUES : TYPE_MOST_NESTING);
}

const char *ext_device_text(const RtDevice *device, char *text, size_t size)
{
    if (!device)
        snprintf(text, size, "the host");
    else if (rt_device_kind(device) == RT_CPU && rt_device_is_alone(device))
        snprintf(text, size, "the CPU device");
    else if (rt_device_kind(device) == RT_CPU)
        snprintf(text, size, "CPU device %d", rt_device_ordinal(device));
    else
        snprintf(text, size, "GPU %d (%s)", rt_device_ordinal(device), rt_device_name(device));
    return text;
}
