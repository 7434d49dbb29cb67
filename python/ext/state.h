/* The module's state. Every object of ours holds `state`, which lives as long as its type does. Threads share it, where
 * Python has no GIL at the same time: what changes is atomic, or a dict that only gets more items. */
#ifndef CUJIT_EXT_STATE_H
#define CUJIT_EXT_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/snapshot.h"
#include "ext/py.h"
#include "runtime/runtime.h"

enum { EXT_NONE_TYPE = SCALAR_COUNT, EXT_SINGLETON_COUNT };

/* Memory to be freed. */
typedef struct ExtDeferred {
    struct ExtDeferred *next;
    RtDevice *device;
    RtPointer pointer;
    bool is_shared;
} ExtDeferred;

/* An arena with a type that was made of a dtype; the node lies in it. */
typedef struct ExtMadeType {
    struct ExtMadeType *next;
    Arena *arena;
    const Type *type;
    /* References to what it was made of: programs may rename the fields of a dtype. nested: a tuple of the dtype and the names of
     * each record in a field, or None. */
    PyObject *dtype, *names, *nested;
} ExtMadeType;

enum { EXT_RECENT_TYPES = 32, EXT_PLAIN_CLASSES = 32 };

static inline void ext_made_type_destroy(ExtMadeType *made)
{
    Py_DECREF(made->dtype);
    Py_XDECREF(made->names);
    Py_DECREF(made->nested);
    arena_destroy(made->arena);
}

/* Those of this Python that snapshots look for; -1: it has none of that name. */
typedef struct ExtOpcodes {
    int load_global, load_deref, load_attr, load_method, extended_arg;
} ExtOpcodes;

typedef struct ExtState {
#define OBJECT(class, name) class *name;
#include "ext/state.def"
#undef OBJECT
    PyObject *singletons[EXT_SINGLETON_COUNT]; /* Type objects of the scalars and of none */
    PyObject *plain_classes[EXT_PLAIN_CLASSES]; /* references to some of those that ext_class_is_plain() was true of */
    _Atomic uint32_t kernel_number; /* of the last kernel that was prepared */
    ExtOpcodes opcodes;
    Arena *arena; /* of type_constants */
    ExtMadeType *_Atomic made_types; /* live as long as the module */
    ExtMadeType *_Atomic recent_types[EXT_RECENT_TYPES]; /* some of them, at a place that the dtype's address gives */
    const Constant *type_constants; /* SCALAR_COUNT: what a scalar type is as a kernel argument */
    RtDevice *_Atomic default_device; /* NULL before the first use */
    pthread_key_t thread_device; /* RtDevice of set_current_device; NULL: default_device */
    bool has_thread_device_key;
    atomic_bool has_chosen_devices; /* a thread has set its own, or had: without any, no thread asks for it */
    atomic_bool warns_about_grids, warns_about_copies, waits_for_arrays, observes_lines; /* settings.c */
    atomic_bool has_warned_of_lines; /* that they are not counted on a GPU */
    _Atomic uint32_t entered_streams; /* of `with stream:` in all threads: without any, no thread asks for its own */
    _Atomic uint32_t defer_depth; /* of cuda.defer_cleanup(): memory is not freed but noted in `deferred` */
    atomic_size_t deferred_count;
    ExtDeferred *_Atomic deferred; /* the last one first */
} ExtState;

/* The module with its state, but without slots: module.c knows what it is made of. */
extern struct PyModuleDef ext_module;

static inline ExtState *ext_state(PyObject *module) { return PyModule_GetState(module); }
/* Imports NumPy's C API and fills a zeroed state. False with an exception. */
bool ext_state_init(ExtState *state);
/* The state of the module that defines this type or a base of it. NULL with an exception. */
ExtState *ext_state_of_type(PyTypeObject *type);
/* An object of the state that is made when it is first asked for: NULL where it has not been. A borrowed reference. */
PyObject *ext_state_known(PyObject **place);
/* Takes what was made for it; of two threads' the first one is it. NULL where `made` is. A borrowed reference. */
PyObject *ext_state_publish(PyObject **place, PyObject *made);

#endif
