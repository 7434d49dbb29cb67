/* Python functions and their code -> the plain C of core/snapshot.h. Functions may reach each other in circles: each is
 * made once, and is in the table before its insides are made. */
#include "ext/snapshot/function_snapshot.h"

#include "core/diagnostic/guess.h"
#include "ext/guard.h"
#include "ext/snapshot/attribute_uses.h"
#include "ext/snapshot/intrinsic_lookup.h"
#include "ext/snapshot/positions.h"
#include "ext/snapshot/snapshot_builder.h"
#include "ext/snapshot/type_value.h"

static const char *text_attribute(Arena *arena, PyObject *object, const char *name)
{
    return ext_arena_text(arena, ext_hold(PyObject_GetAttrString(object, name)));
}

/* --- code ------------------------------------------------------------------------------------------------------------------ */
/* Takes over the reference. */
static bool copy_bytes(Arena *arena, PyObject *bytes, const uint8_t **out, uint32_t *size)
{
    if (!ext_hold(bytes))
        return false;
    *size = (uint32_t)PyBytes_GET_SIZE(bytes);
    *out = arena_copy(arena, PyBytes_AS_STRING(bytes), *size);
    return true;
}

/* Appends the strings of a tuple to names, leaving out those among the first `known`. */
static bool add_names(Arena *arena, PyObject *tuple, uint32_t known, const char **names, uint32_t *count)
{
    for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple); i++) {
        const char *name = ext_arena_text(arena, PyTuple_GET_ITEM(tuple, i));
        if (!name)
            return false;
        bool is_known = false;
        for (uint32_t k = 0; k < known; k++)
            is_known |= strcmp(names[k], name) == 0;
        if (!is_known)
            names[(*count)++] = name;
    }
    return tuple != NULL;
}

/* Fast locals, then cells that are no locals, then free variables. */
static bool read_locals(Arena *arena, PyCodeObject *code, CodeSnapshot *out)
{
    PyObject *locals = ext_hold(PyCode_GetVarnames(code)), *cells = ext_hold(PyCode_GetCellvars(code));
    PyObject *free = ext_hold(PyCode_GetFreevars(code));
    Py_ssize_t limit = (locals ? PyTuple_GET_SIZE(locals) : 0) + (cells ? PyTuple_GET_SIZE(cells) : 0) +
                       (free ? PyTuple_GET_SIZE(free) : 0);
    const char **names = ARENA_ARRAY(arena, const char *, limit);
    out->local_names = names;
    out->free_count = free ? (uint32_t)PyTuple_GET_SIZE(free) : 0;
    bool ok = add_names(arena, locals, 0, names, &out->local_count);
    ok &= add_names(arena, cells, out->local_count, names, &out->local_count);
    ok &= add_names(arena, free, 0, names, &out->local_count);
    return ok;
}

/* Which of co_names are read as globals; the others are attributes and the like, whose namesakes may be anything. */
static bool *global_names(const SnapshotBuilder *builder, const CodeSnapshot *code)
{
    bool *used = ARENA_ARRAY(builder->arena, bool, code->name_count);
    uint32_t argument = 0;
    for (uint32_t i = 0; i + 1 < code->size; i += 2) {
        argument = argument << 8 | code->bytes[i + 1];
        if (code->bytes[i] == builder->state->opcodes.extended_arg)
            continue;
        if (code->bytes[i] == builder->state->opcodes.load_global && argument >> 1 < code->name_count)
            used[argument >> 1] = true; /* the lowest bit says whether a call follows */
        argument = 0;
    }
    return used;
}

/* What CUDA C calls the thread's place, and C its types: names of kernels that the program binds to nothing. New
 * reference; NULL for others. */
static PyObject *name_of_cuda(ExtState *state, const char *name)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim",
                                        "warpSize",  "idx",      "idy",      "idz"};
    if (strcmp(name, "double") == 0)
        return ext_type_object(state, TYPE_OF(FLOAT64));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return ext_intrinsic_at(state, "cuda", name);
    return NULL;
}

/* Keys of a dict, or items of a tuple. */
static void try_names(Guess *guess, PyObject *names)
{
    PyObject *list = names ? ext_hold(PySequence_List(names)) : NULL; /* others may change a dict */
    Py_ssize_t length;
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); i++) {
        PyObject *name = PyList_GET_ITEM(list, i);
        const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &length) : NULL;
        if (text)
            guess_try(guess, text, (size_t)length);
    }
    ext_forgive();
}

/* What may have been meant by a name that is bound to nothing. */
static const char *hint_for(SnapshotScope *scope, const char *name)
{
    Guess guess = guess_begin(name);
    PyObject *code = PyFunction_GetCode(scope->function);
    try_names(&guess, ext_hold(PyObject_GetAttrString(code, "co_varnames")));
    try_names(&guess, scope->globals);
    try_names(&guess, scope->builtins);
    return guess_hint(&guess, scope->builder->arena, "");
}

/* A name that is bound to nothing. The function's own name means the function: a decorator that compiles at once runs
 * before the name is bound. */
static const Constant *unbound(SnapshotScope *scope, const char *name)
{
    PyObject *own_name = ((PyFunctionObject *)scope->function)->func_name;
    bool is_own = PyUnicode_CompareWithASCIIString(own_name, name) == 0;
    PyObject *known = is_own ? NULL : ext_hold(name_of_cuda(scope->builder->state, name));
    if (known)
        return ext_constant(scope, known, name);
    Constant *constant = ext_new_constant(scope->builder, is_own ? CONSTANT_FUNCTION : CONSTANT_UNDEFINED, name);
    constant->function = is_own ? scope->snapshot : NULL;
    const char **names = ARENA_ARRAY(scope->builder->arena, const char *, 1);
    names[0] = is_own ? "" : hint_for(scope, name);
    constant->names = is_own ? NULL : names;
    return PyErr_Occurred() ? NULL : constant;
}

/* What the name means; of a module the attributes that are used only. */
static const Constant *named_constant(SnapshotScope *scope, PyObject *value, PyObject *name, const char *shown)
{
    PyObject *attributes = PyModule_Check(value) ? PyDict_GetItemWithError(scope->uses, name) : NULL;
    if (attributes && attributes != Py_None)
        return ext_module_constant(scope, value, shown, attributes);
    return PyErr_Occurred() ? NULL : ext_constant(scope, value, shown);
}

static const Constant *global_value(SnapshotScope *scope, PyObject *name, const char *shown)
{
    PyObject *value;
    if (PyDict_GetItemRef(scope->globals, name, &value) == 0)
        PyDict_GetItemRef(scope->builtins, name, &value);
    if (!ext_hold(value))
        return PyErr_Occurred() ? NULL : unbound(scope, shown);
    PyObject *lazy = scope->builder->state->lazy_class;
    if (lazy && Py_IS_TYPE(value, (PyTypeObject *)lazy))
        value = ext_hold(PyObject_CallMethod(value, "resolve", NULL));
    return value ? named_constant(scope, value, name, shown) : NULL;
}

static bool read_globals(SnapshotScope *scope, PyObject *names, CodeSnapshot *out)
{
    SnapshotBuilder *builder = scope->builder;
    const char **texts = ARENA_ARRAY(builder->arena, const char *, PyTuple_GET_SIZE(names));
    out->names = texts;
    if (!add_names(builder->arena, names, 0, texts, &out->name_count))
        return false;
    const bool *used = global_names(builder, out);
    const Constant **globals = ARENA_ARRAY(builder->arena, const Constant *, out->name_count);
    out->globals = globals;
    for (uint32_t i = 0; i < out->name_count; i++) {
        globals[i] = used[i] ? global_value(scope, PyTuple_GET_ITEM(names, i), texts[i])
                             : ext_new_constant(builder, CONSTANT_UNDEFINED, texts[i]);
        if (!globals[i])
            return false;
    }
    return true;
}

/* NumPy's reductions are methods of arrays, too. NULL for every other name: what arrays have that is no method, as most
 * kernels ask for their size, is not searched for. */
static const LibraryFunction *reduction(Arena *arena, PyObject *name, const char *text)
{
    PyObject *method = NULL;
    if (!ext_hold(PyDict_GetItemRef(PyArray_Type.tp_dict, name, &method) > 0 ? method : NULL) ||
        !PyCallable_Check(method))
        return NULL;
    return library_function_of_module("numpy_functions.reduce", arena_format(arena, "numpy.%s", text));
}

static bool read_methods(SnapshotBuilder *builder, PyObject *given, CodeSnapshot *out)
{
    const char **names = ARENA_ARRAY(builder->arena, const char *, out->name_count);
    const Constant **methods = ARENA_ARRAY(builder->arena, const Constant *, out->name_count);
    out->method_names = names;
    out->methods = methods;
    for (uint32_t i = 0; i < out->name_count && !builder->library_depth; i++) {
        const LibraryFunction *function = reduction(builder->arena, PyTuple_GET_ITEM(given, i), out->names[i]);
        if (!function)
            continue;
        names[out->method_count] = out->names[i];
        methods[out->method_count] = ext_library_function_constant(builder, function, out->names[i]);
        if (!methods[out->method_count++])
            return false;
    }
    return true;
}

/* The items of a tuple; NULL with an exception. */
static const Constant *const *read_values(SnapshotScope *scope, PyObject *tuple, uint32_t *count)
{
    *count = (uint32_t)PyTuple_GET_SIZE(tuple);
    const Constant **values = ARENA_ARRAY(scope->builder->arena, const Constant *, *count);
    for (uint32_t i = 0; i < *count; i++)
        if (!(values[i] = ext_constant(scope, PyTuple_GET_ITEM(tuple, i), NULL)))
            return NULL;
    return values;
}

/* The function's attribute, of _kernel_functions/tells_overflow.py; functions inside of it have it, too. */
static bool tells_overflow(const SnapshotScope *scope)
{
    PyObject *attributes = ((PyFunctionObject *)scope->function)->func_dict;
    return scope->builder->library_depth > 0 && attributes && PyDict_GetItemString(attributes, "tells_overflow");
}

const CodeSnapshot *ext_code(SnapshotScope *scope, PyCodeObject *code)
{
    Arena *arena = scope->builder->arena;
    PyObject *object = (PyObject *)code;
    CodeSnapshot *out = ARENA_NEW(arena, CodeSnapshot);
    out->source = (SourceFunction){.file = text_attribute(arena, object, "co_filename"),
                                   .name = text_attribute(arena, object, "co_qualname"),
                                   .first_line = code->co_firstlineno,
                                   .is_library = scope->builder->library_depth > 0};
    out->python_minor = PY_MINOR_VERSION;
    out->argument_count = (uint32_t)code->co_argcount;
    out->positional_only_count = (uint32_t)code->co_posonlyargcount;
    out->keyword_only_count = (uint32_t)code->co_kwonlyargcount;
    out->has_varargs = code->co_flags & CO_VARARGS;
    out->has_varkeywords = code->co_flags & CO_VARKEYWORDS;
    out->is_library = scope->builder->library_depth > 0;
    out->tells_overflow = tells_overflow(scope);
    out->is_generator = code->co_flags & CO_GENERATOR;
    out->is_coroutine = code->co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR);
    bool ok = out->source.file && out->source.name &&
              copy_bytes(arena, PyCode_GetCode(code), &out->bytes, &out->size) &&
              copy_bytes(arena, PyObject_GetAttrString(object, "co_exceptiontable"), &out->exception_table,
                         &out->exception_table_size) &&
              (out->positions = ext_positions(arena, code, &out->source, out->size / 2)) &&
              read_locals(arena, code, out) && read_globals(scope, code->co_names, out) &&
              read_methods(scope->builder, code->co_names, out) && ext_read_members(scope, out) &&
              (out->constants = read_values(scope, code->co_consts, &out->constant_count)) != NULL;
    return ok ? out : NULL;
}

/* --- functions -------------------------------------------------------------------------------------------------------------- */
/* Appends the names of the code and of the code nested in it. */
static bool collect_names(PyObject *set, PyCodeObject *code)
{
    bool takes_names = false; /* getattr(x, "name") */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_names); i++) {
        PyObject *name = PyTuple_GET_ITEM(code->co_names, i);
        takes_names |= PyUnicode_CompareWithASCIIString(name, "getattr") == 0 ||
                       PyUnicode_CompareWithASCIIString(name, "hasattr") == 0;
        if (PySet_Add(set, name) < 0)
            return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *constant = PyTuple_GET_ITEM(code->co_consts, i);
        if (PyCode_Check(constant) && !collect_names(set, (PyCodeObject *)constant))
            return false;
        if (takes_names && PyUnicode_Check(constant) && PySet_Add(set, constant) < 0)
            return false;
    }
    return true;
}

/* Functions that a function closes over may be called with what else it closes over. */
static bool collect_captured_names(PyObject *set, PyObject *closure)
{
    for (Py_ssize_t i = 0; closure && i < PyTuple_GET_SIZE(closure); i++) {
        PyObject *value = PyCell_Get(PyTuple_GET_ITEM(closure, i));
        bool ok = !value || !PyFunction_Check(value) || collect_names(set, (PyCodeObject *)PyFunction_GetCode(value));
        Py_XDECREF(value);
        if (!ok)
            return false;
    }
    return true;
}

/* A sorted list: the snapshot of a function is the same in every process. */
static PyObject *all_names(PyObject *function)
{
    PyObject *set = PySet_New(NULL);
    bool ok = set && collect_names(set, (PyCodeObject *)PyFunction_GetCode(function)) &&
              collect_captured_names(set, PyFunction_GetClosure(function));
    PyObject *list = ok ? PySequence_List(set) : NULL;
    Py_XDECREF(set);
    if (list && PyList_Sort(list) < 0)
        Py_CLEAR(list);
    return list;
}

static bool read_free_values(SnapshotScope *scope, PyObject *closure, Snapshot *out)
{
    const CodeSnapshot *code = out->code;
    PyObject *names = ext_hold(PyCode_GetFreevars((PyCodeObject *)PyFunction_GetCode(scope->function)));
    const Constant **values = ARENA_ARRAY(scope->builder->arena, const Constant *, code->free_count);
    out->free_values = values;
    for (uint32_t i = 0; names && i < code->free_count; i++) {
        const char *name = code->local_names[code->local_count - code->free_count + i];
        PyObject *value = closure ? ext_hold(PyCell_Get(PyTuple_GET_ITEM(closure, i))) : NULL;
        values[i] = value ? named_constant(scope, value, PyTuple_GET_ITEM(names, i), name) : unbound(scope, name);
        if (!values[i])
            return false;
    }
    return names != NULL;
}

static bool read_defaults(SnapshotScope *scope, PyObject *defaults, Snapshot *out)
{
    if (!defaults || !PyTuple_Check(defaults))
        return true;
    out->defaults = read_values(scope, defaults, &out->default_count);
    return out->defaults != NULL;
}

static bool read_keyword_defaults(SnapshotScope *scope, PyObject *defaults, Snapshot *out)
{
    if (!defaults || !PyDict_Check(defaults))
        return true;
    Arena *arena = scope->builder->arena;
    const char **names = ARENA_ARRAY(arena, const char *, PyDict_GET_SIZE(defaults));
    const Constant **values = ARENA_ARRAY(arena, const Constant *, PyDict_GET_SIZE(defaults));
    PyObject *items = ext_hold(PyDict_Items(defaults));
    out->keyword_default_names = names;
    out->keyword_defaults = values;
    for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items); i++) {
        PyObject *item = PyList_GET_ITEM(items, i);
        names[i] = ext_arena_text(arena, PyTuple_GET_ITEM(item, 0));
        values[i] = names[i] ? ext_constant(scope, PyTuple_GET_ITEM(item, 1), NULL) : NULL;
        if (!values[i])
            return false;
        out->keyword_default_count++;
    }
    return items != NULL;
}

/* The function's attribute constant_parameters, a tuple of names: _kernel_functions/constant.py. */
static bool read_constant_parameters(PyObject *function, Snapshot *out)
{
    PyObject *names = PyObject_GetAttrString(function, "constant_parameters");
    if (!ext_forgive())
        return false;
    for (uint32_t i = 0; names && PyTuple_Check(names) && i < out->code->argument_count && i < 64; i++) {
        PyObject *name = PyUnicode_FromString(out->code->local_names[i]);
        int found = name ? PySequence_Contains(names, name) : -1;
        Py_XDECREF(name);
        if (found < 0)
            break;
        out->constant_parameters |= (uint64_t)found << i;
    }
    Py_XDECREF(names);
    return !PyErr_Occurred();
}

/* The function's attribute __assembly__: (text, whether it is pure, whether the function is for GPUs alone), of
 * extending/assembly.py. */
static bool read_assembly(SnapshotBuilder *builder, PyObject *function, Snapshot *out)
{
    PyObject *attributes = ((PyFunctionObject *)function)->func_dict;
    PyObject *given = attributes ? PyDict_GetItemString(attributes, "__assembly__") : NULL, *text;
    int is_pure, lacks_body;
    if (!given)
        return true;
    if (!PyArg_ParseTuple(given, "Upp", &text, &is_pure, &lacks_body))
        return false;
    out->assembly = ext_arena_text(builder->arena, text);
    out->assembly_is_pure = is_pure;
    out->lacks_body = lacks_body;
    return out->assembly != NULL;
}

static bool fill_function(SnapshotBuilder *builder, PyObject *function, Snapshot *out)
{
    PyCodeObject *code = (PyCodeObject *)ext_hold(Py_NewRef(PyFunction_GetCode(function)));
    SnapshotScope scope = {.builder = builder,
                           .function = function,
                           .snapshot = out,
                           .globals = PyFunction_GetGlobals(function),
                           .names = ext_hold(all_names(function)),
                           .uses = ext_attribute_uses(builder, code),
                           .builtins = ext_hold(PyObject_GetAttrString(function, "__builtins__")),
                           .namespaces = table_create(),
                           .whole = table_create()};
    bool ok = scope.builtins && scope.names && scope.uses && (out->code = ext_code(&scope, code)) &&
              read_assembly(builder, function, out) && read_free_values(&scope, PyFunction_GetClosure(function), out) &&
              read_constant_parameters(function, out) &&
              read_defaults(&scope, ext_hold(Py_XNewRef(PyFunction_GetDefaults(function))), out) &&
              read_keyword_defaults(&scope, ext_hold(Py_XNewRef(PyFunction_GetKwDefaults(function))), out);
    table_destroy(scope.namespaces);
    table_destroy(scope.whole);
    return ok;
}

/* What the decorator said of the function. */
static bool add_options(SnapshotBuilder *builder, const ExtKernel *kernel, Snapshot *snapshot)
{
    snapshot->forceinline |= kernel && kernel->forceinline;
    if (!kernel || !kernel->links || snapshot->link_count)
        return true;
    snapshot->links = ext_links(builder, kernel->links, &snapshot->link_count);
    return snapshot->links != NULL;
}

const Snapshot *ext_function(SnapshotBuilder *builder, PyObject *function, const ExtKernel *kernel)
{
    Snapshot *snapshot = table_get(builder->functions, &function, sizeof function);
    if (snapshot)
        return add_options(builder, kernel, snapshot) ? snapshot : NULL;
    snapshot = ARENA_NEW(builder->arena, Snapshot);
    table_set(builder->functions, &function, sizeof function, snapshot);
    if (PyList_Append(builder->held, function) < 0 || !add_options(builder, kernel, snapshot) ||
        !fill_function(builder, function, snapshot))
        return NULL;
    return snapshot;
}

/* --- the whole ----------------------------------------------------------------------------------------------------------------- */
static bool begin(SnapshotBuilder *builder)
{
    builder->functions = table_create();
    builder->arrays = table_create();
    builder->links = table_create();
    builder->held = ext_hold(PyList_New(0));
    return builder->held != NULL;
}

typedef struct Making {
    SnapshotBuilder builder;
    PyObject *function;
    const ExtKernel *kernel;
    const Snapshot *made;
} Making;

/* A GPU's kernels call them; the CPU device knows by itself. */
static bool read_watchers(SnapshotBuilder *builder, const ExtKernel *kernel, Snapshot *snapshot)
{
    if (!kernel || kernel->is_device || !(checks_of(&kernel->compile_options, TARGET_NVPTX) & CHECKS_TOLD))
        return true;
    const Constant **watchers = ARENA_ARRAY(builder->arena, const Constant *, WATCHER_COUNT);
    for (int id = 0; id < WATCHER_COUNT; id++) {
        LibraryFunction function = {.module = "watchers", .name = watcher_info[id].name};
        if (!(watchers[id] = ext_library_function_constant(builder, &function, function.name)))
            return false;
    }
    snapshot->watchers = watchers;
    snapshot->watcher_count = WATCHER_COUNT;
    return true;
}

static bool make(void *data)
{
    Making *making = data;
    SnapshotBuilder *builder = &making->builder;
    const Snapshot *made = begin(builder) ? ext_function(builder, making->function, making->kernel) : NULL;
    if (made && read_watchers(builder, making->kernel, (Snapshot *)made))
        making->made = made;
    table_destroy(making->builder.functions);
    table_destroy(making->builder.arrays);
    table_destroy(making->builder.links);
    return making->made != NULL;
}

const Snapshot *ext_snapshot(ExtState *state, PyObject *function, const ExtKernel *kernel, Arena *arena,
                             PyObject *keep_alive, bool *has_overloads)
{
    Making making = {
        .builder = {.state = state, .arena = arena, .keep_alive = keep_alive}, .function = function, .kernel = kernel};
    bool ok = ext_guard(make, &making);
    *has_overloads = making.builder.has_overloads;
    return ok ? making.made : NULL;
}
