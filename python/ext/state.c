/* The module's state: made, visited by the collector, and given back. */
#define EXT_IMPORTS_NUMPY
#include "ext/state.h"

#include "core/base/memory.h"
#include "ext/guard.h"

ExtState *ext_state_of_type(PyTypeObject *type)
{
    PyObject *module = PyType_GetModuleByDef(type, &ext_module);
    return module ? PyModule_GetState(module) : NULL;
}

/* numbas: the variable that programs for numba.cuda set. */
static bool is_wanted(const char *variable, const char *numbas)
{
    const char *wish = getenv(variable);
    wish = wish ? wish : getenv(numbas);
    return !wish || strcmp(wish, "0") != 0;
}

static bool make_type_constants(void *data)
{
    ExtState *state = data;
    Constant *types = ARENA_ARRAY(state->arena, Constant, SCALAR_COUNT);
    for (int i = 0; i < SCALAR_COUNT; i++) {
        Buf text = {0};
        type_describe(&text, &type_scalars[i]);
        types[i] = (Constant){
            .kind = CONSTANT_TYPE, .type = &type_scalars[i], .text = arena_string(state->arena, buf_text(&text))};
        buf_free(&text);
    }
    state->type_constants = types;
    return true;
}

static bool make_names(ExtState *state)
{
    bool ok = true;
#define OBJECT(class, name)
#define NAME(name, text) ok = ok && (state->name = PyUnicode_InternFromString(text));
#include "ext/state.def"
#undef OBJECT
    return ok;
}

bool ext_state_init(ExtState *state)
{
    if (PyArray_ImportNumPyAPI() < 0)
        return false;
    if (!(state->arena = ext_arena()) || !ext_guard(make_type_constants, state))
        return false;
    state->warns_about_grids = is_wanted("CUJIT_LOW_OCCUPANCY_WARNINGS", "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS");
    state->warns_about_copies = is_wanted("CUJIT_WARN_ON_IMPLICIT_COPY", "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY");
    state->waits_for_arrays = is_wanted("CUJIT_ARRAY_INTERFACE_SYNC", "NUMBA_CUDA_ARRAY_INTERFACE_SYNC");
    state->raising_kernels = PyDict_New();
    state->record_types = PyDict_New();
    state->foreign_types = PyDict_New();
    state->kept_classes = PySet_New(NULL);
    state->overloads = PyDict_New();
    state->member_overloads = PyDict_New();
    state->declared_classes = PyDict_New();
    state->typeof_functions = PyDict_New();
    state->array_kinds = PyDict_New();
    return state->overloads && state->member_overloads && state->declared_classes && state->typeof_functions &&
           state->record_types && state->foreign_types && state->kept_classes && state->raising_kernels &&
           state->array_kinds && make_names(state);
}

PyObject *ext_state_known(PyObject **place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }

PyObject *ext_state_publish(PyObject **place, PyObject *made)
{
    PyObject *known = NULL;
    if (!made || __atomic_compare_exchange_n(place, &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    Py_DECREF(made);
    return known;
}

/* Calls visit for every object of the state until one answers. */
static int each_object(ExtState *state, int (*visit)(PyObject **place, void *user), void *user)
{
    PyObject **const places[] = {
#define OBJECT(class, name) (PyObject **)&state->name,
#include "ext/state.def"
#undef OBJECT
    };
    enum { COUNT = sizeof places / sizeof *places, CLASSES = COUNT + EXT_SINGLETON_COUNT };
    for (size_t i = 0; i < CLASSES + EXT_PLAIN_CLASSES; i++) {
        PyObject **place = i < COUNT     ? places[i]
                           : i < CLASSES ? &state->singletons[i - COUNT]
                                         : &state->plain_classes[i - CLASSES];
        int result = *place ? visit(place, user) : 0;
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
    for (ExtDeferred *each = state->deferred, *next; each; each = next) { /* the driver frees it with the process */
        next = each->next;
        memory_free(each);
    }
    state->deferred = NULL;
    for (ExtMadeType *each = state->made_types, *next; each; each = next) {
        next = each->next;
        ext_made_type_destroy(each);
    }
    state->made_types = NULL;
    arena_destroy(state->arena);
    state->arena = NULL;
}

struct PyModuleDef ext_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "cujit._core",
    .m_doc = "The C core of cujit.",
    .m_size = sizeof(ExtState),
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};
