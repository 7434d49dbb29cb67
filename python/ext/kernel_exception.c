/* What a thread of a kernel raised -> the Python exception, worded as numba words it: the place in the source, thread and
 * block stand before the first argument. */
#include "ext/kernel_exception.h"

#include "core/base/memory.h"

/* --- kernels by number --------------------------------------------------------------------------------------------------- */
bool ext_number_kernel(ExtKernel *kernel, uint32_t *number)
{
    const CompileOptions *options = &kernel->compile_options;
    *number = 0;
    if (!options->exceptions && !checks_of(options, TARGET_HOST) && !checks_of(options, TARGET_NVPTX))
        return true;
    uint32_t next = atomic_fetch_add(&kernel->state->kernel_number, 1) + 1;
    PyObject *key = PyLong_FromUnsignedLong(next), *weak = PyWeakref_NewRef((PyObject *)kernel, NULL);
    bool ok = key && weak && PyDict_SetItem(kernel->state->raising_kernels, key, weak) == 0;
    Py_XDECREF(key);
    Py_XDECREF(weak);
    *number = ok ? next : 0;
    return ok;
}

void ext_forget_number(ExtState *state, uint32_t number)
{
    if (!number || !state->raising_kernels)
        return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *key = PyLong_FromUnsignedLong(number);
    if (!key || PyDict_DelItem(state->raising_kernels, key) < 0)
        PyErr_Clear();
    Py_XDECREF(key);
    PyErr_Restore(type, value, traceback);
}

/* New reference; NULL where the kernel is gone, with an exception where that could not be found out. */
static ExtKernel *kernel_of(const ExceptionRecord *record)
{
    PyObject *module = PyImport_ImportModule("cujit._core"), *weak = NULL, *kernel = NULL;
    PyObject *key = PyLong_FromUnsignedLong(jit_raising_function(record));
    if (module && key && ext_state(module)->raising_kernels)
        PyDict_GetItemRef(ext_state(module)->raising_kernels, key, &weak);
    if (weak)
        PyWeakref_GetRef(weak, &kernel);
    Py_XDECREF(weak);
    Py_XDECREF(module);
    Py_XDECREF(key);
    return (ExtKernel *)kernel;
}

/* --- arguments --------------------------------------------------------------------------------------------------------------- */
static PyObject *tuple_of_constants(const Constant *constant);

static PyObject *object_of_constant(const Constant *constant)
{
    switch (constant->kind) {
    case CONSTANT_BOOL: return PyBool_FromLong(constant->integer != 0);
    case CONSTANT_INT:
        return constant->is_unsigned ? PyLong_FromUnsignedLongLong((uint64_t)constant->integer)
                                     : PyLong_FromLongLong(constant->integer);
    case CONSTANT_FLOAT: return PyFloat_FromDouble(constant->real);
    case CONSTANT_COMPLEX: return PyComplex_FromDoubles(constant->real, constant->imaginary);
    case CONSTANT_STRING: return PyUnicode_FromString(constant->text);
    case CONSTANT_TUPLE: return tuple_of_constants(constant);
    default: Py_RETURN_NONE;
    }
}

static PyObject *tuple_of_constants(const Constant *constant)
{
    PyObject *tuple = PyTuple_New(constant->count);
    for (uint32_t i = 0; tuple && i < constant->count; i++) {
        PyObject *item = object_of_constant(constant->items[i]);
        if (item)
            PyTuple_SET_ITEM(tuple, i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static double real_of(uint64_t slot)
{
    double real;
    memcpy(&real, &slot, sizeof real);
    return real;
}

/* The value of that type in the slots from *slot on. */
static PyObject *object_of_slots(const Type *type, const uint64_t **slot)
{
    switch (type->kind) {
    case TYPE_BOOL: return PyBool_FromLong(*(*slot)++ != 0);
    case TYPE_INT: return PyLong_FromLongLong((int64_t)*(*slot)++);
    case TYPE_UINT: return PyLong_FromUnsignedLongLong(*(*slot)++);
    case TYPE_FLOAT: return PyFloat_FromDouble(real_of(*(*slot)++));
    case TYPE_COMPLEX: *slot += 2; return PyComplex_FromDoubles(real_of((*slot)[-2]), real_of((*slot)[-1]));
    case TYPE_TUPLE: break;
    default: Py_RETURN_NONE;
    }
    PyObject *tuple = PyTuple_New(type->count);
    for (uint32_t i = 0; tuple && i < type->count; i++) {
        PyObject *item = object_of_slots(type->items[i], slot);
        if (item)
            PyTuple_SET_ITEM(tuple, i, item);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* format.format(*values) */
static PyObject *formatted(const char *format, PyObject *values)
{
    PyObject *text = values ? PyUnicode_FromString(format) : NULL;
    PyObject *method = text ? PyObject_GetAttrString(text, "format") : NULL;
    PyObject *result = method ? PyObject_CallObject(method, values) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(method);
    Py_XDECREF(values);
    return result;
}

static PyObject *argument_object(const IrExceptionArgument *argument, const ExceptionRecord *record)
{
    const uint64_t *slot = record->slots + argument->first_slot;
    if (argument->constant)
        return object_of_constant(argument->constant);
    PyObject *value = object_of_slots(argument->type, &slot);
    return argument->format ? formatted(argument->format, value) : value;
}

/* --- the exception ------------------------------------------------------------------------------------------------------------- */
/* "In function 'f', file /x/y.py, line 7, tid=[z, y, x] ctaid=[z, y, x]" */
static PyObject *place_text(const IrException *exception, const ExceptionRecord *record)
{
    const int32_t *thread = record->thread_index, *block = record->block_index;
    const SourceFunction *source = exception->pos.function;
    PyObject *numbers = PyUnicode_FromFormat("tid=[%d, %d, %d] ctaid=[%d, %d, %d]", thread[2], thread[1], thread[0],
                                             block[2], block[1], block[0]);
    if (!numbers || !source)
        return numbers;
    const char *local = strrchr(source->name, '.');
    PyObject *path = PyImport_ImportModule("os.path");
    PyObject *file = path ? PyObject_CallMethod(path, "abspath", "s", source->file) : NULL;
    PyObject *text = NULL;
    if (file)
        text = PyUnicode_FromFormat("In function '%s', file %U, line %d, %U", local ? local + 1 : source->name, file,
                                    exception->pos.line, numbers);
    Py_XDECREF(path);
    Py_XDECREF(file);
    Py_DECREF(numbers);
    return text;
}

/* The arguments, with the place before the first one. */
static PyObject *all_arguments(const IrException *exception, const ExceptionRecord *record, PyObject *place)
{
    uint32_t count = exception->argument_count;
    PyObject *arguments = PyTuple_New(count ? count : 1);
    for (uint32_t i = 0; arguments && i < count; i++) {
        PyObject *item = argument_object(&exception->arguments[i], record);
        if (item && i == 0)
            Py_SETREF(item, PyUnicode_FromFormat("%U: %S", place, item));
        if (item)
            PyTuple_SET_ITEM(arguments, i, item);
        else
            Py_CLEAR(arguments);
    }
    if (arguments && count == 0)
        PyTuple_SET_ITEM(arguments, 0, Py_NewRef(place));
    return arguments;
}

/* New reference. */
static PyObject *class_of(const Constant *class)
{
    if (class->host_class)
        return Py_NewRef((PyObject *)(uintptr_t)class->host_class);
    PyObject *builtins = PyImport_ImportModule("builtins");
    PyObject *found = builtins ? PyObject_GetAttrString(builtins, class->text) : NULL;
    Py_XDECREF(builtins);
    return found;
}

/* Of a check: a builtin's, or one of cujit.errors. New reference. */
static PyObject *class_of_check(const Constant *class)
{
    PyObject *errors = PyImport_ImportModule("cujit.errors");
    PyObject *found = errors && PyObject_HasAttrString(errors, class->text)
                          ? PyObject_GetAttrString(errors, class->text)
                          : class_of(class);
    Py_XDECREF(errors);
    return found;
}

/* cujit._check_report makes the text, which shows the source. New reference. */
static PyObject *check_report(const IrException *exception, const ExceptionRecord *record)
{
    const SourcePos *pos = &exception->pos;
    const IrExceptionArgument *argument = &exception->arguments[0];
    const uint64_t *slot = record->slots + argument->first_slot;
    const int32_t *block = record->block_index, *thread = record->thread_index;
    PyObject *module = PyImport_ImportModule("cujit._check_report");
    PyObject *values = module ? object_of_slots(argument->type, &slot) : NULL;
    PyObject *text = NULL;
    if (values)
        text =
            PyObject_CallMethod(module, "text", "sOzzz(iiii)(iii)(iii)z", argument->format, values, exception->array,
                                pos->function ? pos->function->file : NULL, pos->function ? pos->function->name : NULL,
                                pos->line, pos->end_line, pos->column, pos->end_column, block[0], block[1], block[2],
                                thread[0], thread[1], thread[2], exception->callers);
    Py_XDECREF(values);
    Py_XDECREF(module);
    return text;
}

/* (file, function, line, end_line, column, end_column, whether the library's). New reference. */
static PyObject *place_of_site(const IrException *site)
{
    const SourcePos *pos = &site->pos;
    const SourceFunction *source = pos->function;
    return Py_BuildValue("(zziiiii)", source ? source->file : NULL, source ? source->name : NULL, pos->line,
                         pos->end_line, pos->column, pos->end_column, source && source->is_library);
}

/* A fault that the runtime has found at a WATCH: cujit._check_report says which exception it is, and its text. */
static bool raise_watched(const ExtKernel *kernel, const IrException *site, const ExceptionRecord *record)
{
    ExceptionRecord other = *record;
    Buf element = {0};
    type_describe(&element, site->element);
    other.code = (uint32_t)record->slots[FAULT_EARLIER_SITE];
    const IrException *earlier =
        record->slots[FAULT_KIND] == FAULT_RACE ? jit_exception(kernel->function, &other) : NULL;
    PyObject *slots = PyTuple_New(EXCEPTION_SLOTS), *places[2] = {place_of_site(site), NULL};
    places[1] = earlier ? place_of_site(earlier) : Py_NewRef(Py_None);
    for (Py_ssize_t i = 0; slots && i < EXCEPTION_SLOTS; i++) {
        PyObject *slot = PyLong_FromUnsignedLongLong(record->slots[i]);
        if (slot)
            PyTuple_SET_ITEM(slots, i, slot);
        else
            Py_CLEAR(slots);
    }
    const int32_t *block = record->block_index, *thread = record->thread_index;
    PyObject *module = slots && places[0] && places[1] ? PyImport_ImportModule("cujit._check_report") : NULL;
    PyObject *raised = NULL;
    if (module)
        raised = PyObject_CallMethod(module, "watched", "OszOO(iii)(iii)O", slots, buf_text(&element), site->array,
                                     places[0], places[1], block[0], block[1], block[2], thread[0], thread[1],
                                     thread[2], kernel->py_func);
    if (raised)
        PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    buf_free(&element);
    Py_XDECREF(raised);
    Py_XDECREF(module);
    Py_XDECREF(slots);
    Py_XDECREF(places[0]);
    Py_XDECREF(places[1]);
    return false;
}

static bool raise_check(const IrException *exception, const ExceptionRecord *record)
{
    PyObject *text = check_report(exception, record);
    PyObject *class = text ? class_of_check(exception->class) : NULL;
    if (class)
        PyErr_SetObject(class, text);
    Py_XDECREF(class);
    Py_XDECREF(text);
    return false;
}

static bool raise_exception(const IrException *exception, const ExceptionRecord *record)
{
    if (exception->is_check)
        return raise_check(exception, record);
    PyObject *place = place_text(exception, record);
    PyObject *arguments = place ? all_arguments(exception, record, place) : NULL;
    PyObject *class = arguments ? class_of(exception->class) : NULL;
    PyObject *raised = class ? PyObject_CallObject(class, arguments) : NULL;
    if (raised && PyExceptionInstance_Check(raised))
        PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    else if (raised)
        PyErr_Format(PyExc_TypeError, "calling %R should have returned an exception", class);
    Py_XDECREF(raised);
    Py_XDECREF(class);
    Py_XDECREF(arguments);
    Py_XDECREF(place);
    return false;
}

PyObject *ext_raise_from_kernel(const Diag *diag)
{
    const ExceptionRecord *record = &diag->raised;
    ExtKernel *kernel = kernel_of(record);
    const IrException *exception = kernel && kernel->function ? jit_exception(kernel->function, record) : NULL;
    if (exception && exception->element)
        raise_watched(kernel, exception, record);
    else if (exception)
        raise_exception(exception, record);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a thread of a kernel that is gone raised an exception");
    Py_XDECREF(kernel);
    return NULL;
}

/* --- arithmetic that went wrong ---------------------------------------------------------------------------------------------------- */

/* (format, values, place, block, thread, how many times). New reference. */
static PyObject *overflow_object(const JitOverflow *overflow)
{
    const OverflowCase *first = &overflow->record.first;
    const IrExceptionArgument *argument = &overflow->what->arguments[0];
    const uint64_t *slot = first->slots;
    const int32_t *block = first->block_index, *thread = first->thread_index;
    PyObject *values = object_of_slots(argument->type, &slot), *place = place_of_site(overflow->what), *object = NULL;
    if (values && place)
        object = Py_BuildValue("(sOO(iii)(iii)K)", argument->format, values, place, block[0], block[1], block[2],
                               thread[0], thread[1], thread[2], (unsigned long long)overflow->record.count);
    Py_XDECREF(values);
    Py_XDECREF(place);
    return object;
}

/* cujit._check_report.warn_of_overflows does it. */
static bool warn_of(const JitOverflows *overflows)
{
    PyObject *list = PyList_New(0), *module = list ? PyImport_ImportModule("cujit._check_report") : NULL;
    bool ok = module != NULL;
    for (uint32_t i = 0; ok && i < overflows->count; i++) {
        PyObject *object = overflow_object(&overflows->items[i]);
        ok = object && PyList_Append(list, object) == 0;
        Py_XDECREF(object);
    }
    PyObject *done = ok ? PyObject_CallMethod(module, "warn_of_overflows", "O", list) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(module);
    Py_XDECREF(list);
    return done != NULL;
}

bool ext_warn_of_overflows(JitOverflows *overflows, bool has_failed)
{
    PyObject *class, *value, *traceback;
    if (!overflows->count)
        return true;
    PyErr_Fetch(&class, &value, &traceback);
    bool ok = warn_of(overflows);
    memory_free(overflows->items);
    *overflows = (JitOverflows){0};
    if (!class && !has_failed)
        return ok;
    if (!ok)
        PyErr_Clear();
    PyErr_Restore(class, value, traceback);
    return true;
}

bool ext_warn_of_arguments(PyObject *texts, bool raises)
{
    if (raises)
        return PyErr_SetObject(PyExc_OverflowError, PyList_GET_ITEM(texts, 0)), false;
    PyObject *module = PyImport_ImportModule("cujit._check_report");
    PyObject *done = module ? PyObject_CallMethod(module, "warn_of_arguments", "O", texts) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(module);
    return done != NULL;
}
