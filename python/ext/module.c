/* cujit._core: the module, its state, and nothing of what it offers. Importing it touches NumPy's C API and no more: no
 * driver, no LLVM. */
#define EXT_IMPORTS_NUMPY
#include "ext/ext.h"

ExtState *ext_state_of_type(PyTypeObject *type)
{
    PyObject *module = PyType_GetModuleByDef(type, &ext_module);
    return module ? PyModule_GetState(module) : NULL;
}

static bool import_numpy(void) { return PyArray_ImportNumPyAPI() >= 0; }

/* numbas: the variable that programs for numba.cuda set. */
static bool is_wanted(const char *variable, const char *numbas)
{
    const char *wish = getenv(variable);
    wish = wish ? wish : getenv(numbas);
    return !wish || strcmp(wish, "0") != 0;
}

static bool init_state(ExtState *state)
{
    state->arena = arena_create();
    Constant *types = ARENA_ARRAY(state->arena, Constant, SCALAR_COUNT);
    for (int i = 0; i < SCALAR_COUNT; i++) {
        Buf text = {0};
        type_describe(&text, &type_scalars[i]);
        types[i] = (Constant){
            .kind = CONSTANT_TYPE, .type = &type_scalars[i], .text = arena_string(state->arena, buf_text(&text))};
        buf_free(&text);
    }
    state->type_constants = types;
    state->warns_about_grids = is_wanted("CUJIT_LOW_OCCUPANCY_WARNINGS", "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS");
    state->warns_about_copies = is_wanted("CUJIT_WARN_ON_IMPLICIT_COPY", "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY");
    state->waits_for_arrays = is_wanted("CUJIT_ARRAY_INTERFACE_SYNC", "NUMBA_CUDA_ARRAY_INTERFACE_SYNC");
    state->raising_kernels = PyDict_New();
    state->record_types = PyDict_New();
    state->foreign_types = PyDict_New();
    state->kept_classes = PySet_New(NULL);
    state->array_interface_name = PyUnicode_InternFromString("__cuda_array_interface__");
    state->cuda_stream_name = PyUnicode_InternFromString("__cuda_stream__");
    state->py_func_name = PyUnicode_InternFromString("py_func");
    return state->record_types && state->foreign_types && state->kept_classes && state->raising_kernels &&
           state->array_interface_name && state->cuda_stream_name && state->py_func_name;
}

static int execute(PyObject *module)
{
    bool ok = import_numpy() && init_state(ext_state(module)) && ext_add_types(module) && ext_add_signatures(module) &&
              ext_add_intrinsics(module) && ext_add_devices(module) && ext_add_streams(module) &&
              ext_add_buffers(module) && ext_add_device_arrays(module) && ext_add_host_arguments(module) &&
              ext_add_host_memory(module) && ext_add_kernels(module) && ext_add_launchers(module) &&
              ext_add_inspection(module) && ext_add_elementwise(module) && ext_add_settings(module);
    return ok ? 0 : -1;
}

/* Calls visit for every object of the state until one answers. */
static int each_object(ExtState *state, int (*visit)(PyObject **place, void *user), void *user)
{
    PyObject **const places[] = {
        (PyObject **)&state->type_type,
        (PyObject **)&state->signature_type,
        (PyObject **)&state->intrinsic_type,
        (PyObject **)&state->device_type,
        (PyObject **)&state->stream_type,
        (PyObject **)&state->event_type,
        (PyObject **)&state->buffer_type,
        (PyObject **)&state->device_array_type,
        (PyObject **)&state->host_argument_type,
        (PyObject **)&state->kernel_type,
        (PyObject **)&state->launcher_type,
        (PyObject **)&state->elementwise_type,
        &state->intrinsics,
        &state->intrinsic_ids,
        &state->intrinsic_objects,
        &state->devices,
        &state->raising_kernels,
        &state->record_types,
        &state->foreign_types,
        &state->kept_classes,
        &state->array_interface_name,
        &state->cuda_stream_name,
        &state->py_func_name,
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int result = *places[i] ? visit(places[i], user) : 0;
        if (result)
            return result;
    }
    for (int i = 0; i < EXT_SINGLETON_COUNT; i++) {
        int result = state->singletons[i] ? visit(&state->singletons[i], user) : 0;
        if (result)
            return result;
    }
    return 0;
}

typedef struct Visitor {
    visitproc visit;
    void *argument;
} Visitor;

static int visit_one(PyObject **place, void *user)
{
    const Visitor *visitor = user;
    return visitor->visit(*place, visitor->argument);
}

static int clear_one(PyObject **place, void *Py_UNUSED(user))
{
    Py_CLEAR(*place);
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *argument)
{
    ExtState *state = ext_state(module);
    return state ? each_object(state, visit_one, &(Visitor){visit, argument}) : 0;
}

static int clear(PyObject *module)
{
    ExtState *state = ext_state(module);
    return state ? each_object(state, clear_one, NULL) : 0;
}

static void release(void *module)
{
    ExtState *state = ext_state(module);
    if (!state)
        return;
    clear(module);
    if (state->has_thread_device_key)
        pthread_key_delete(state->thread_device);
    state->has_thread_device_key = false;
    PyMem_Free(state->deferred);
    state->deferred = NULL;
    arena_destroy(state->arena);
    state->arena = NULL;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0},
};

struct PyModuleDef ext_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "cujit._core",
    .m_doc = "The C core of cujit.",
    .m_size = sizeof(ExtState),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&ext_module); }
