/* Linking and compiling code for GPUs apart from kernels, and where NVIDIA's libraries for that may lie. */
#include "core/base/memory.h"
#include "ext/module_parts.h"
#include "ext/object/device_object.h"
#include "ext/raise.h"
#include "ext/snapshot/foreign_value.h"

/* --- lists of texts ------------------------------------------------------------------------------------------------- */
/* Borrowed texts of a tuple of str; PyMem_Free() it. NULL with an exception. */
static const char **texts_of(PyObject *tuple, uint32_t *count)
{
    Py_ssize_t size = PyTuple_GET_SIZE(tuple);
    const char **texts = PyMem_Calloc((size_t)size + 1, sizeof *texts);
    *count = (uint32_t)size;
    if (!texts)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; texts && i < size; i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        texts[i] = PyUnicode_Check(item) ? PyUnicode_AsUTF8(item) : NULL;
        if (!texts[i]) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_TypeError, "expected text, not %R", item);
            PyMem_Free(texts);
            return NULL;
        }
    }
    return texts;
}

static PyObject *function_toolkit_search(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *libraries, *includes;
    if (!PyArg_ParseTuple(args, "O!O!:toolkit_search", &PyTuple_Type, &libraries, &PyTuple_Type, &includes))
        return NULL;
    uint32_t library_count, include_count;
    const char **library_texts = texts_of(libraries, &library_count);
    const char **include_texts = library_texts ? texts_of(includes, &include_count) : NULL;
    Diag diag = {.id = DIAG_NONE};
    if (include_texts && !rt_toolkit_search(library_texts, library_count, include_texts, include_count, &diag))
        ext_raise(&diag);
    PyMem_Free(library_texts);
    PyMem_Free(include_texts);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* --- linking ---------------------------------------------------------------------------------------------------------- */
/* PyMem_Free() them. NULL with an exception. */
static LinkItem *items_of(const ExtState *state, PyObject *tuple, const LinkItem ***pointers)
{
    Py_ssize_t size = PyTuple_GET_SIZE(tuple);
    LinkItem *items = PyMem_Calloc((size_t)size + 1, sizeof *items + sizeof(LinkItem *));
    if (!items)
        return PyErr_NoMemory(), NULL;
    *pointers = (const LinkItem **)(items + size + 1);
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        bool fits = PyObject_TypeCheck(item, state->link_type);
        if (!fits)
            PyErr_Format(PyExc_TypeError, "expected code to link, not %R", item);
        if (!fits || !ext_read_link(item, &items[i])) {
            PyMem_Free(items);
            return NULL;
        }
        (*pointers)[i] = &items[i];
    }
    return items;
}

static PyObject *link_result(RtCode *code, const Diag *diag)
{
    PyObject *result = code->bytes
                           ? Py_BuildValue("(y#s)", code->bytes, (Py_ssize_t)code->size, code->log ? code->log : "")
                           : ext_raise(diag);
    rt_code_free(code);
    return result;
}

/* link(items, sm, max_registers=0, lineinfo=False, debug=False, lto=False, ptx=False, options=()) -> (code, log). sm None:
 * by the driver, for the current device, unless something needs nvJitLink. */
static PyObject *function_link(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"items", "sm", "max_registers", "lineinfo", "debug", "lto", "ptx", "options", NULL};
    PyObject *items, *sm, *options = NULL;
    int lineinfo = 0, debug = 0, lto = 0, want_ptx = 0;
    ExtState *state = ext_state(module);
    RtLinking linking = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O|ippppO!:link", names, &PyTuple_Type, &items, &sm,
                                     &linking.max_registers, &lineinfo, &debug, &lto, &want_ptx, &PyTuple_Type,
                                     &options))
        return NULL;
    if (PyTuple_GET_SIZE(items) == 0)
        return PyErr_SetString(PyExc_ValueError, "there is nothing to link"), NULL;
    if (sm == Py_None) {
        RtDevice *device = ext_current_device(state);
        if (!device)
            return NULL;
        if (rt_device_kind(device) == RT_CPU)
            return ext_raise_id(DIAG_GPU_ONLY, "what is linked here");
        linking.device = device;
    }
    linking.sm = linking.device ? rt_device_sm(linking.device) : (int)PyLong_AsLong(sm);
    if (PyErr_Occurred())
        return NULL;
    linking.lineinfo = lineinfo, linking.debug = debug, linking.lto = lto, linking.want_ptx = want_ptx;
    const LinkItem **pointers = NULL;
    LinkItem *read = items_of(state, items, &pointers);
    const char **texts = read && options ? texts_of(options, &linking.option_count) : NULL;
    PyObject *result = NULL;
    if (read && (!options || texts)) {
        linking.items = pointers;
        linking.count = (uint32_t)PyTuple_GET_SIZE(items);
        linking.options = texts;
        RtCode code = {0};
        Diag diag = {.id = DIAG_NONE};
        Py_BEGIN_ALLOW_THREADS rt_link(&linking, &code, &diag);
        Py_END_ALLOW_THREADS result = link_result(&code, &diag);
    }
    PyMem_Free(texts);
    PyMem_Free(read);
    return result;
}

/* --- compiling --------------------------------------------------------------------------------------------------------- */
static bool read_output(const char *name, RtCodeKind *kind)
{
    static const char *const kinds[] = {[RT_CODE_PTX] = "ptx", [RT_CODE_CUBIN] = "cubin", [RT_CODE_LTOIR] = "ltoir"};
    for (int i = 0; i < 3; i++)
        if (strcmp(kinds[i], name) == 0)
            return *kind = (RtCodeKind)i, true;
    PyErr_Format(PyExc_ValueError, "'%s' is not ptx, cubin or ltoir", name);
    return false;
}

/* (code, names) of what NVRTC made; takes over the names. */
static PyObject *source_result(RtCode *code, char **lowered, uint32_t count, RtCodeKind kind, const Diag *diag)
{
    PyObject *names = PyTuple_New(count), *result = NULL;
    for (uint32_t i = 0; code->bytes && names && i < count; i++) {
        PyObject *name = PyUnicode_FromString(lowered[i]);
        if (name)
            PyTuple_SET_ITEM(names, i, name);
        else
            Py_CLEAR(names);
    }
    Py_ssize_t size = code->bytes && kind == RT_CODE_PTX ? (Py_ssize_t)strlen(code->bytes) : (Py_ssize_t)code->size;
    if (!code->bytes)
        ext_raise(diag);
    else if (names)
        result = Py_BuildValue("(y#O)", code->bytes, size, names);
    for (uint32_t i = 0; i < count; i++)
        memory_free(lowered[i]);
    Py_XDECREF(names);
    rt_code_free(code);
    return result;
}

/* compile_source(text, name, sm, output, options=(), expressions=(), relocatable=False) -> (code, symbols). */
static PyObject *function_compile_source(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"text", "name", "sm", "output", "options", "expressions", "relocatable", NULL};
    PyObject *options = NULL, *expressions = NULL;
    const char *output;
    int relocatable = 0;
    RtSource source = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "ssis|O!O!p:compile_source", names, &source.text, &source.name,
                                     &source.sm, &output, &PyTuple_Type, &options, &PyTuple_Type, &expressions,
                                     &relocatable) ||
        !read_output(output, &source.output))
        return NULL;
    source.is_relocatable = relocatable;
    PyObject *empty = PyTuple_New(0);
    const char **option_texts = empty ? texts_of(options ? options : empty, &source.option_count) : NULL;
    const char **names_of = option_texts ? texts_of(expressions ? expressions : empty, &source.expression_count) : NULL;
    char **lowered = names_of ? PyMem_Calloc(source.expression_count + 1u, sizeof *lowered) : NULL;
    PyObject *result = NULL;
    if (names_of && !lowered)
        PyErr_NoMemory();
    if (lowered) {
        source.options = option_texts;
        source.expressions = names_of;
        RtCode code = {0};
        Diag diag = {.id = DIAG_NONE};
        Py_BEGIN_ALLOW_THREADS rt_compile_source(&source, &code, lowered, &diag);
        Py_END_ALLOW_THREADS result = source_result(&code, lowered, source.expression_count, source.output, &diag);
    }
    PyMem_Free(lowered);
    PyMem_Free(names_of);
    PyMem_Free(option_texts);
    Py_XDECREF(empty);
    return result;
}

/* compile_llvm(text, name, sm) -> LTO-IR. */
static PyObject *function_compile_llvm(PyObject *Py_UNUSED(module), PyObject *args)
{
    RtSource source = {.output = RT_CODE_LTOIR};
    if (!PyArg_ParseTuple(args, "ssi:compile_llvm", &source.text, &source.name, &source.sm))
        return NULL;
    RtCode code = {0};
    Diag diag = {.id = DIAG_NONE};
    Py_BEGIN_ALLOW_THREADS rt_compile_llvm(&source, &code, &diag);
    Py_END_ALLOW_THREADS PyObject *result =
        code.bytes ? PyBytes_FromStringAndSize(code.bytes, (Py_ssize_t)code.size) : ext_raise(&diag);
    rt_code_free(&code);
    return result;
}

static PyMethodDef functions[] = {
    {"toolkit_search", function_toolkit_search, METH_VARARGS, "Folders of NVIDIA's libraries, and of headers."},
    {"link", (PyCFunction)(void (*)(void))function_link, METH_VARARGS | METH_KEYWORDS,
     "Machine code of LinkItems, and what the linker said."},
    {"compile_source", (PyCFunction)(void (*)(void))function_compile_source, METH_VARARGS | METH_KEYWORDS,
     "CUDA C compiled by NVRTC, and the symbols of C++ names."},
    {"compile_llvm", function_compile_llvm, METH_VARARGS, "LTO-IR that libNVVM has made of LLVM IR."},
    {0},
};

bool ext_add_linking(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
