/* The options of a function, as core/option.def lists them: Python's values read, and the rows for the package. */
#include "ext/kernel/kernel_options.h"

#include "ext/guard.h"
#include "ext/module_parts.h"

/* --- one reader for each kind ----------------------------------------------------------------------------------------- */
static bool read_flag(const char *Py_UNUSED(name), PyObject *value, void *out)
{
    int truth = PyObject_IsTrue(value);
    *(bool *)out = truth == 1;
    return truth >= 0;
}

static bool read_number(const char *name, PyObject *value, void *out)
{
    if (!PyIndex_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is an integer, not %.100s", name, Py_TYPE(value)->tp_name);
        return false;
    }
    long number = PyLong_AsLong(value);
    if (PyErr_Occurred())
        return false;
    if (number < 0 || number > INT_MAX)
        PyErr_Format(PyExc_ValueError, "%s is out of range: %ld", name, number);
    *(int *)out = (int)number;
    return !PyErr_Occurred();
}

/* A percentage; -1: the driver chooses. */
static bool read_carveout(const char *name, PyObject *value, void *out)
{
    long percent = PyLong_AsLong(value);
    if (PyErr_Occurred())
        return false;
    if (percent < -1 || percent > 100)
        PyErr_Format(PyExc_ValueError, "%s %ld: expected -1 to 100", name, percent);
    *(int *)out = (int)percent + 1;
    return !PyErr_Occurred();
}

/* True: 3, False: 0, or a number. */
static bool read_level(const char *name, PyObject *value, void *out)
{
    int level = value == Py_True ? 3 : 0;
    if (!PyBool_Check(value) && !read_number(name, value, &level))
        return false;
    if (level > 3)
        PyErr_Format(PyExc_ValueError, "%s is True, False or a level from 0 to 3, not %d", name, level);
    *(int *)out = level;
    return level <= 3;
}

static bool read_launch_bounds(const char *name, PyObject *value, void *out)
{
    LaunchBounds *bounds = out;
    int *const places[] = {&bounds->threads, &bounds->blocks, &bounds->cluster};
    if (PyUnicode_Check(value) || !PySequence_Check(value))
        return read_number(name, value, places[0]);
    Py_ssize_t count = PySequence_Size(value);
    if (count < 1 || count > 3) {
        PyErr_Format(PyExc_ValueError, "%s is threads, or threads, blocks and cluster size", name);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        bool ok = item && (item == Py_None || read_number(name, item, places[i]));
        Py_XDECREF(item);
        if (!ok)
            return false;
    }
    return true;
}

static bool read_literals(const char *name, PyObject *value, void *out)
{
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
    bool is_weak = text && strcmp(text, "weak") == 0;
    *(LiteralTypes *)out = is_weak ? LITERALS_WEAK : LITERALS_WIDE;
    if (is_weak || (text && strcmp(text, "numba") == 0))
        return true;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "%s is 'numba' or 'weak', not %R", name, value);
    return false;
}

static bool read_observation(const char *name, PyObject *value, void *out)
{
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
    Observation *observation = out;
    *observation = OBSERVE_COUNT;
    while (text && *observation > OBSERVE_NOTHING && strcmp(text, observation_words[*observation - 1]))
        (*observation)--;
    if (text && *observation > OBSERVE_NOTHING)
        return --*observation, true;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "%s is 'lines', 'accesses' or '', not %R", name, value);
    return false;
}

static bool add_float_rule(const char *name, PyObject *word, FloatRules *rules)
{
    const char *text = PyUnicode_Check(word) ? PyUnicode_AsUTF8(word) : NULL;
    if (text && strcmp(text, "fast") == 0) {
        *rules |= FLOAT_ALL | FLOAT_FLUSH;
        return true;
    }
    for (int i = 0; text && i < FLOAT_FLAG_COUNT; i++)
        if (strcmp(text, float_flag_words[i]) == 0) {
            *rules |= 1u << i;
            return true;
        }
    char words[128] = "fast";
    for (int i = 0; i < FLOAT_FLAG_COUNT; i++)
        strcat(strcat(words, ", "), float_flag_words[i]);
    PyErr_Format(PyExc_ValueError, "%s is True, False, or a set of these words: %s; not %R", name, words, word);
    return false;
}

/* True is what CUDA's -use_fast_math does; else words of float_flag.def, alone or as any iterable. */
static bool read_float_rules(const char *name, PyObject *value, void *out)
{
    FloatRules *rules = out;
    *rules = FLOAT_EXACT;
    if (PyBool_Check(value) || PyLong_Check(value)) {
        bool is_fast;
        if (!read_flag(name, value, &is_fast))
            return false;
        *rules = is_fast ? FLOAT_FAST | FLOAT_FLUSH : FLOAT_EXACT;
        return true;
    }
    if (PyUnicode_Check(value))
        return add_float_rule(name, value, rules);
    PyObject *words = PyObject_GetIter(value), *word = NULL;
    bool ok = words != NULL;
    while (ok && (word = PyIter_Next(words))) {
        ok = add_float_rule(name, word, rules);
        Py_DECREF(word);
    }
    Py_XDECREF(words);
    return ok && !PyErr_Occurred();
}

static bool add_check(const char *name, const char *word, size_t length, CheckSet *checks)
{
    for (int i = 0; i < CHECK_COUNT; i++)
        if (strlen(check_words[i]) == length && memcmp(word, check_words[i], length) == 0) {
            *checks |= 1u << i;
            return true;
        }
    char words[128] = "";
    for (int i = 0; i < CHECK_COUNT; i++)
        strcat(strcat(words, i ? ", " : ""), check_words[i]);
    PyObject *shown = PyUnicode_DecodeUTF8(word, (Py_ssize_t)(length < 80 ? length : 80), "replace");
    if (shown)
        PyErr_Format(PyExc_ValueError, "%s is True, False, or of these words: %s; not '%U'", name, words, shown);
    Py_XDECREF(shown);
    return false;
}

/* Words apart by commas and spaces. */
static bool add_checks(const char *name, const char *text, CheckSet *checks)
{
    for (text += strspn(text, ", "); *text; text += strspn(text, ", ")) {
        size_t length = strcspn(text, ", ");
        if (!add_check(name, text, length, checks))
            return false;
        text += length;
    }
    return true;
}

static bool add_check_object(const char *name, PyObject *word, CheckSet *checks)
{
    const char *text = PyUnicode_Check(word) ? PyUnicode_AsUTF8(word) : NULL;
    if (text)
        return add_checks(name, text, checks);
    if (!PyErr_Occurred() || ext_forgive())
        PyErr_Format(PyExc_TypeError, "%s is True, False, or words, not %R", name, word);
    return false;
}

/* Words of check.def in a text, or any iterable of them; True: all; False: none. */
static bool read_checks(const char *name, PyObject *value, void *out)
{
    CheckSet *checks = out;
    *checks = value == Py_True ? CHECKS_EVERY : CHECKS_NONE;
    if (PyBool_Check(value))
        return true;
    if (PyUnicode_Check(value))
        return add_check_object(name, value, checks);
    PyObject *words = PyObject_GetIter(value), *word = NULL;
    bool ok = words || add_check_object(name, value, checks);
    while (ok && (word = PyIter_Next(words))) {
        ok = add_check_object(name, word, checks);
        Py_DECREF(word);
    }
    Py_XDECREF(words);
    return ok && !PyErr_Occurred();
}

static bool read_schedule(CheckSet *order)
{
    const char *text = getenv("CUJIT_SCHEDULE");
    char *end;
    *order = text && *text ? CHECKS_SCHEDULED : CHECKS_NONE;
    if (!*order)
        return true;
    strtoull(text, &end, 10);
    if (end != text && !end[strspn(end, " ")])
        return true;
    PyObject *shown = PyUnicode_DecodeFSDefaultAndSize(text, (Py_ssize_t)strnlen(text, 80));
    if (shown)
        PyErr_Format(PyExc_ValueError, "CUJIT_SCHEDULE is a number, an order of threads, not '%U'", shown);
    Py_XDECREF(shown);
    return false;
}

/* Where nothing was said of it, CUJIT_CHECK may have: words, 0 for none, 1 for all. CUJIT_SCHEDULE is for all functions. */
static bool read_environment(CheckSet *checks)
{
    const char *text = getenv("CUJIT_CHECK");
    CheckSet order;
    if (!read_schedule(&order))
        return false;
    if (*checks != CHECKS_DEFAULT || !text || !*text)
        return *checks |= order, true;
    *checks = (strcmp(text, "1") == 0 ? CHECKS_EVERY : CHECKS_NONE) | order;
    return strcmp(text, "1") == 0 || strcmp(text, "0") == 0 || add_checks("CUJIT_CHECK", text, checks);
}

/* --- the rows ----------------------------------------------------------------------------------------------------------- */
static const struct {
    const char *name, *kind, *default_text, *doc;
    bool (*read)(const char *name, PyObject *value, void *out);
    size_t offset; /* in ExtKernel */
    bool is_of_code, loops;
} rows[] = {
#define OPTION(name, kind, type, value, default, loops, doc) \
    {#name, #kind, #default, doc, read_##kind, offsetof(ExtKernel, compile_options.name), true, loops},
#define HOST_OPTION(name, kind, type, value, default, loops, doc) \
    {#name, #kind, #default, doc, read_##kind, offsetof(ExtKernel, name), false, loops},
#include "core/option.def"
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* None, for every option: nothing is said of it. */
static bool read_option(ExtKernel *self, const char *name, PyObject *value)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (strcmp(name, rows[i].name) == 0)
            return value == Py_None || rows[i].read(name, value, (char *)self + rows[i].offset);
    PyErr_Format(PyExc_TypeError, "unknown option '%s'", name);
    return false;
}

/* (RawModule, symbol, is_cooperative) */
static bool read_raw(ExtKernel *self, PyObject *value)
{
    bool ok = PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 3 &&
              Py_IS_TYPE(PyTuple_GET_ITEM(value, 0), self->state->raw_module_type) &&
              PyUnicode_Check(PyTuple_GET_ITEM(value, 1)) && PyBool_Check(PyTuple_GET_ITEM(value, 2));
    if (ok)
        Py_XSETREF(self->raw, Py_NewRef(value));
    else
        PyErr_Format(PyExc_TypeError, "raw is (RawModule, symbol, whether it is cooperative), not %R", value);
    return ok;
}

/* A tuple of LinkItems. */
static bool read_links(ExtKernel *self, PyObject *value)
{
    bool ok = PyTuple_Check(value);
    for (Py_ssize_t i = 0; ok && i < PyTuple_GET_SIZE(value); i++)
        ok = PyObject_TypeCheck(PyTuple_GET_ITEM(value, i), self->state->link_type);
    if (!ok)
        PyErr_Format(PyExc_TypeError, "link is a tuple of LinkItem, not %R", value);
    else if (PyTuple_GET_SIZE(value))
        Py_XSETREF(self->links, Py_NewRef(value));
    return ok;
}

/* One option of those that a function was decorated with. False with an exception. */
static bool read_given(ExtKernel *self, PyObject *name, PyObject *value, PyObject *options)
{
    const char *text = PyUnicode_AsUTF8(name);
    if (!text)
        return false;
    if (strcmp(text, "device") == 0)
        return read_flag(text, value, &self->is_device);
    if (strcmp(text, "raw") == 0)
        return read_raw(self, value);
    if (strcmp(text, "link") == 0)
        return read_links(self, value) && PyDict_SetItem(options, name, value) == 0;
    return strcmp(text, "function") == 0 ||
           (read_option(self, text, value) && PyDict_SetItem(options, name, value) == 0);
}

/* Where nothing was said of it. */
static void read_quick_start(ExtKernel *self, PyObject *options)
{
    const char *text = getenv("CUJIT_QUICK_START");
    PyObject *said = PyDict_GetItemString(options, "quick_start");
    if (!said || said == Py_None)
        self->quick_start = text && strcmp(text, "1") == 0;
}

PyObject *ext_read_options(ExtKernel *self, PyObject *keywords)
{
    PyObject *options = PyDict_New(), *name, *value;
    Py_ssize_t position = 0;
    self->compile_options = default_options;
    while (options && keywords && PyDict_Next(keywords, &position, &name, &value))
        if (!read_given(self, name, value, options))
            Py_CLEAR(options);
    if (options && !read_environment(&self->compile_options.check))
        Py_CLEAR(options);
    if (options)
        read_quick_start(self, options);
    if (options && checks_of(&self->compile_options, TARGET_HOST) & CHECK_INIT)
        rt_track_writes();
    return options;
}

/* option_table: a dict for each row; the default as source text. */
bool ext_add_options(PyObject *module)
{
    PyObject *table = PyTuple_New(ROW_COUNT);
    for (int i = 0; table && i < ROW_COUNT; i++) {
        PyObject *row =
            Py_BuildValue("{sssssssssOsO}", "name", rows[i].name, "kind", rows[i].kind, "default", rows[i].default_text,
                          "doc", rows[i].doc, "is_of_code", rows[i].is_of_code ? Py_True : Py_False, "loops",
                          rows[i].loops ? Py_True : Py_False);
        if (row)
            PyTuple_SET_ITEM(table, i, row);
        else
            Py_CLEAR(table);
    }
    bool ok = table && PyModule_AddObjectRef(module, "option_table", table) == 0;
    Py_XDECREF(table);
    return ok;
}
