/* Functions for tests of single rooms, and what the compiler can do: IR text, targets, versions, diagnostics. */
#include "core/ir/ir.h"
#include "ext/module_parts.h"
#include "ext/guard.h"
#include "ext/kernel/kernel_inspection.h"
#include "ext/raise.h"

typedef struct RoundTrip {
    const char *text;
    PyObject *printed;
} RoundTrip;

static bool print_again(void *data)
{
    RoundTrip *trip = data;
    Arena *arena = arena_create();
    Diag diag = {.id = DIAG_NONE};
    Buf printed = {0};
    IrModule *ir = ir_parse(trip->text, arena, &diag);
    bool ok = ir && ir_verify(ir, &diag);
    if (ok)
        ir_print(&printed, ir, true);
    trip->printed = ok ? PyUnicode_FromStringAndSize(buf_text(&printed), (Py_ssize_t)printed.length) : ext_raise(&diag);
    buf_free(&printed);
    arena_destroy(arena);
    return trip->printed != NULL;
}

static PyObject *function_ir_roundtrip(PyObject *Py_UNUSED(module), PyObject *text)
{
    RoundTrip trip = {PyUnicode_AsUTF8(text), NULL};
    return trip.text && ext_guard(print_again, &trip) ? trip.printed : NULL;
}

static PyObject *function_ir_compile(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"text", "sm", NULL};
    const char *text;
    PyObject *sm = Py_None;
    Target target = {.kind = TARGET_HOST};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|O:ir_compile", names, &text, &sm) ||
        (sm != Py_None && !ext_read_target(ext_state(module), sm, &target)))
        return NULL;
    Diag diag = {.id = DIAG_NONE};
    char *code;
    Py_BEGIN_ALLOW_THREADS code = jit_compile_ir(text, &target, &diag);
    Py_END_ALLOW_THREADS return ext_take_text(code, &diag);
}

static PyObject *function_llvm_version(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyUnicode_FromString(jit_llvm_version());
}

static PyObject *function_host_cpu(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyUnicode_FromString(jit_host_cpu());
}

static PyObject *function_targets(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *tuple = PyTuple_New(target_gpu_count);
    for (int i = 0; tuple && i < target_gpu_count; i++) {
        PyObject *sm = PyLong_FromLong(target_gpus[i].sm);
        if (sm)
            PyTuple_SET_ITEM(tuple, i, sm);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyMethodDef functions[] = {
    {"ir_roundtrip", function_ir_roundtrip, METH_O, "IR text, parsed, verified and printed."},
    {"ir_compile", (PyCFunction)(void (*)(void))function_ir_compile, METH_VARARGS | METH_KEYWORDS,
     "IR text -> PTX, or assembly of the host where sm is None."},
    {"llvm_version", function_llvm_version, METH_NOARGS, NULL},
    {"host_cpu", function_host_cpu, METH_NOARGS, "This processor and what it can do, as LLVM knows it."},
    {"targets", function_targets, METH_NOARGS, "The GPU architectures that code can be made for."},
    {0},
};

static bool add_diagnostics(PyObject *module)
{
    PyObject *table = PyTuple_New(DIAG_COUNT - 1);
    for (int id = 1; table && id < DIAG_COUNT; id++) {
        const DiagInfo *info = &diag_info[id];
        PyObject *row = Py_BuildValue("sss", info->name, info->exception, info->format);
        if (row)
            PyTuple_SET_ITEM(table, id - 1, row);
        else
            Py_CLEAR(table);
    }
    bool ok = table && PyModule_AddObjectRef(module, "diagnostics", table) == 0;
    Py_XDECREF(table);
    return ok;
}

bool ext_add_inspection(PyObject *module)
{
    return PyModule_AddFunctions(module, functions) == 0 && add_diagnostics(module);
}
