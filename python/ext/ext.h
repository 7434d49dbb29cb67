/* What the files of python/ext share: the module's state and the objects' fields. Every object holds `state`, which
 * lives as long as its type does. */
#ifndef CUJIT_EXT_EXT_H
#define CUJIT_EXT_EXT_H

#include <pthread.h>

#include "ext/py.h"
#include "jit/jit.h"

enum { EXT_NONE_TYPE = SCALAR_COUNT, EXT_SINGLETON_COUNT };

typedef struct ExtState {
    PyTypeObject *type_type, *signature_type, *intrinsic_type, *device_type, *stream_type, *event_type, *buffer_type,
        *device_array_type, *host_argument_type, *kernel_type, *launcher_type, *elementwise_type;
    PyObject *singletons[EXT_SINGLETON_COUNT];   /* Type objects of the scalars and of none */
    PyObject *intrinsics;                        /* dict: path -> Intrinsic */
    PyObject *intrinsic_ids;                     /* dict: id(object) -> IntrinsicId; NULL before the first snapshot */
    PyObject *intrinsic_objects;                 /* list that keeps those objects alive */
    PyObject *devices;                           /* dict: (kind, ordinal) -> Device */
    PyObject *raising_kernels;                   /* dict: number -> address of the ExtKernel, which it does not own */
    uint32_t kernel_number;                      /* of the last kernel that was prepared */
    PyObject *record_types;                      /* dict: structured dtype -> capsule of a Type in `arena` */
    PyObject *foreign_types;                     /* dict: type of numba's -> Type */
    PyObject *kept_classes;                      /* set: classes whose addresses are in types */
    PyObject *array_interface_name, *cuda_stream_name, *py_func_name;   /* interned attribute names */
    Arena *arena;                                /* lives as long as the module */
    const Constant *type_constants;              /* SCALAR_COUNT: what a scalar type is as a kernel argument */
    RtDevice *default_device;                    /* NULL before the first use */
    pthread_key_t thread_device;                 /* RtDevice of set_current_device; NULL: default_device */
    bool has_thread_device_key;
    bool warns_about_grids, warns_about_copies, waits_for_arrays; /* settings.c */
    uint32_t defer_depth; /* of cuda.defer_cleanup(): memory is not freed but noted in `deferred` */
    size_t deferred_count, deferred_capacity;
    struct ExtDeferred *deferred;
} ExtState;

/* Memory to be freed. */
typedef struct ExtDeferred {
    RtDevice *device;
    RtPointer pointer;
    bool is_shared;
} ExtDeferred;

extern struct PyModuleDef ext_module;

static inline ExtState *ext_state(PyObject *module) { return PyModule_GetState(module); }
/* The state of the module that defines this type or a base of it. NULL with an exception. */
ExtState *ext_state_of_type(PyTypeObject *type);

typedef struct ExtType {
    PyObject_HEAD ExtState *state;
    const Type *type;
    Arena *arena; /* NULL for singletons */
} ExtType;

typedef struct ExtSignature {
    PyObject_HEAD PyObject *args; /* tuple of Type */
    PyObject *return_type; /* Type or None */
} ExtSignature;

typedef struct ExtIntrinsic {
    PyObject_HEAD ExtState *state;
    PyObject *path;
    IntrinsicId id; /* INTRINSIC_NONE: only a prefix of others */
} ExtIntrinsic;

typedef struct ExtDevice {
    PyObject_HEAD RtDevice *device;
} ExtDevice;

typedef struct ExtStream {
    PyObject_HEAD ExtState *state;
    RtDevice *device;
    RtStream *stream; /* owned; NULL: the default stream */
} ExtStream;

typedef struct ExtBuffer {
    PyObject_HEAD ExtState *state;
    RtDevice *device;
    RtPointer pointer;
    size_t size;
    bool is_shared; /* other libraries may know the address */
} ExtBuffer;

typedef struct ExtDeviceArray {
    PyObject_HEAD ExtState *state;
    RtDevice *device;
    RtPointer pointer;
    const Type *element; /* NULL: a dtype that kernels cannot use */
    PyArray_Descr *dtype;
    PyObject *base;
    int ndim;
    bool c_contiguous, f_contiguous, read_only;
    int64_t size; /* elements */
    int64_t shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
} ExtDeviceArray;

typedef struct ExtHostArgument {
    PyObject_HEAD PyObject *array;
    bool copy_in, copy_out;
} ExtHostArgument;

typedef struct ExtLauncher ExtLauncher;

typedef struct ExtKernel {
    PyObject_HEAD ExtState *state;
    PyObject *py_func;
    PyObject *options; /* dict, as given */
    PyObject *keep_alive; /* list: device arrays that the snapshot points to; NULL before */
    PyObject *last_launcher; /* ExtLauncher, handed out again for the same configuration; NULL: none */
    CompileOptions compile_options;
    bool is_device, is_frozen, forceinline, noinline, warn_float64, tells_of_cache;
    Arena *arena; /* of the snapshot */
    JitFunction *function; /* NULL before the first use */
    uint32_t number; /* of the function, in state->raising_kernels; 0: not there */
    const JitSpecialization *last; /* of the last launch */
    bool last_converts; /* arguments may be converted to its types */
} ExtKernel;

struct ExtLauncher {
    PyObject_HEAD vectorcallfunc vectorcall;
    ExtState *state;
    ExtKernel *kernel;
    PyObject *stream; /* as given: 0, a Stream, ... */
    PyObject *stream_object; /* Stream or None */
    PyObject *callbacks; /* pre_launch_callbacks: a list; NULL: none yet */
    RtLaunch launch; /* all but parameters */
};

/* --- raise.c: the only place that makes exceptions of a Diag -------------------------------------------------------- */
/* Sets the exception; always NULL. Needs no state: cujit.errors is found by name. */
PyObject *ext_raise(const Diag *diag);
/* kernel_exception.c: what a thread of a kernel raised (DIAG_KERNEL_EXCEPTION). Always NULL. */
PyObject *ext_raise_from_kernel(const Diag *diag);
/* Makes the kernel known by a number for that, and forgets it. False with an exception. */
bool ext_number_kernel(ExtKernel *kernel);
void ext_forget_kernel(ExtKernel *kernel);
/* ext_raise of a diagnostic without a source position. */
PyObject *ext_raise_id(DiagId id, ...);
/* Warns with a class of cujit.errors. False with an exception where the filters make it one. */
bool ext_warn(const char *category, const char *text);
/* Turns a pending TypeError, ValueError or OverflowError into LAUNCH_ARGUMENT for that parameter; others stay. */
PyObject *ext_raise_argument(const ExtKernel *kernel, Py_ssize_t index);

/* --- type_object.c, signature_object.c -------------------------------------------------------------------------------- */
bool ext_add_types(PyObject *module);
/* The Type object of a type, copied where it is no singleton. New reference. */
PyObject *ext_type_object(ExtState *state, const Type *type);
/* Whether a class or function is of an installed numba. */
bool ext_is_numbas(PyObject *object);
/* Calls a function of cujit._numba.foreign_types. New reference. */
PyObject *ext_call_foreign(const char *function, PyObject *argument);
/* Borrowed from a Type object, or from a dict where the object is a type of an installed numba's. NULL when it is neither,
 * with an exception only where it is a type that kernels have not. */
const Type *ext_type_of_object(ExtState *state, PyObject *object);
/* Likewise, with TypeError for anything else. */
const Type *ext_type_borrowed(ExtState *state, PyObject *object);
bool ext_add_signatures(PyObject *module);
PyObject *ext_signature_object(ExtState *state, PyObject *args, PyObject *return_type);
/* A tuple of Types as an array in the arena. False with an exception. */
bool ext_types_of_tuple(ExtState *state, PyObject *tuple, Arena *arena, const Type *const **types, uint32_t *count);
PyObject *ext_tuple_of_types(ExtState *state, const Type *const *types, uint32_t count);

/* --- element_types.c: NumPy dtypes <-> Types ---------------------------------------------------------------------------- */
/* The element type of a dtype: static, or in state->arena. NULL with TypeError. */
const Type *ext_element_type(ExtState *state, PyArray_Descr *dtype);
/* The scalar type of a dtype; NULL without an exception when it is no scalar of ours. */
const Type *ext_scalar_of_dtype(PyArray_Descr *dtype);
/* The scalar type of a typestr such as "<f4"; NULL for any other text. */
const Type *ext_scalar_of_typestr(const char *text);
/* New reference. TypeError for what has no dtype. */
PyArray_Descr *ext_dtype_of_type(const Type *type);

/* --- the other objects: each file adds its types and functions ------------------------------------------------------------ */
bool ext_add_intrinsics(PyObject *module);
bool ext_add_devices(PyObject *module);
bool ext_add_streams(PyObject *module);
bool ext_add_buffers(PyObject *module);
bool ext_add_device_arrays(PyObject *module);
bool ext_add_host_arguments(PyObject *module);
bool ext_add_host_memory(PyObject *module);
bool ext_add_kernels(PyObject *module);
bool ext_add_launchers(PyObject *module);
bool ext_add_inspection(PyObject *module);
bool ext_add_settings(PyObject *module);
bool ext_add_elementwise(PyObject *module);

/* A new array on the device of `like`, of its shape in C order, of a subclass of DeviceArrayBase. New reference. */
PyObject *ext_device_array_like(const ExtDeviceArray *like, PyTypeObject *class, const Type *element,
                                PyArray_Descr *dtype);
/* A DeviceBuffer. New reference. */
PyObject *ext_buffer_create(ExtState *state, PyTypeObject *class, RtDevice *device, size_t size);

/* The intrinsic that an object of builtins, math, numpy, ... is, or INTRINSIC_NONE; -1 with an exception. */
int ext_intrinsic_of_object(ExtState *state, PyObject *object);
/* The Intrinsic below `path` called `name`, borrowed; NULL without an exception. */
PyObject *ext_intrinsic_child(ExtState *state, PyObject *path, PyObject *name);
/* The same by text. */
PyObject *ext_intrinsic_at(ExtState *state, const char *path, const char *name);

/* The device of this thread; NULL with an exception. */
RtDevice *ext_current_device(ExtState *state);
/* The Device object of a device. New reference. */
PyObject *ext_device_object(ExtState *state, RtDevice *device);
/* "the CPU device", "GPU 0 (name)". Borrowed from the buffer. */
const char *ext_device_text(const RtDevice *device, char *text, size_t size);

/* A Stream or None for what a program may give as stream: None, 0, a Stream, a handle, an object with __cuda_stream__.
 * New reference. */
PyObject *ext_stream_object(ExtState *state, PyObject *stream, RtDevice *device);
static inline RtStream *ext_rt_stream(PyObject *stream_object)
{
    return stream_object == Py_None ? NULL : ((ExtStream *)stream_object)->stream;
}

/* --- kernel_object.c, launcher_object.c --------------------------------------------------------------------------------------- */
/* Makes the snapshot and the JitFunction where there are none yet. */
bool ext_kernel_prepare(ExtKernel *kernel);
const char *ext_kernel_name(const ExtKernel *kernel);
/* The number of the kernel's positional parameters. */
Py_ssize_t ext_kernel_arity(const ExtKernel *kernel);
/* Whether a * parameter takes any arguments behind those. */
bool ext_kernel_takes_rest(const ExtKernel *kernel);
/* The kernel for these types on this device, compiled where there is none. Releases the GIL. NULL with an exception. */
const JitSpecialization *ext_kernel_specialize(ExtKernel *kernel, RtDevice *device, const Type *const *types,
                                               uint32_t count);
/* Whether __init__ was called; else with an exception. */
bool ext_kernel_is_ready(const ExtKernel *kernel);
/* configuration: what stands in kernel[...]; with_hints: it is the user's, who is warned where it suits no GPU. New
 * reference. */
PyObject *ext_launcher_create(ExtKernel *kernel, PyObject *configuration, bool with_hints);

/* --- kernel_inspection.c: methods of KernelBase, and what other inspecting functions share ------------------------------------ */
PyObject *ext_kernel_compile(ExtKernel *self, PyObject *types);
PyObject *ext_kernel_signatures(ExtKernel *self, PyObject *ignored);
PyObject *ext_kernel_loaded_signatures(ExtKernel *self, PyObject *ignored);
PyObject *ext_kernel_result_type(ExtKernel *self, PyObject *types);
PyObject *ext_kernel_inspect(ExtKernel *self, PyObject *args, PyObject *kwargs);
PyObject *ext_kernel_attribute(ExtKernel *self, PyObject *args);
PyObject *ext_kernel_resident_blocks(ExtKernel *self, PyObject *args);
PyObject *ext_kernel_occupancy(ExtKernel *self, PyObject *args, PyObject *kwargs);
/* sm: a number, or None for the current device. False with an exception. */
bool ext_read_target(ExtState *state, PyObject *sm, Target *target);
/* A str of malloc'd text, which is freed; text NULL: the diagnostic's exception. */
PyObject *ext_take_text(char *text, const Diag *diag);

/* --- function_snapshot.c ------------------------------------------------------------------------------------------------------- */
/* The function of the kernel with all it reaches, in the arena. Objects whose memory it points to are appended to the
 * list keep_alive. NULL with an exception. */
const Snapshot *ext_snapshot(ExtState *state, const ExtKernel *kernel, Arena *arena, PyObject *keep_alive);

#endif
