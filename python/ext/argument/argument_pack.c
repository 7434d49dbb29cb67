/* Arguments -> the parameter buffer of a specialization, checking on the way that their types are its types: on the path
 * of every launch, so nothing is allocated and no type is built. */
#include "ext/argument/launch_frame.h"

#include "core/base/address.h"
#include "core/base/likely.h"
#include "ext/argument/argument_types.h"
#include "ext/array/array_kind.h"
#include "ext/array/array_view.h"
#include "ext/array/element_types.h"
#include "ext/guard.h"
#include "ext/raise.h"
#include "ext/snapshot/class/class_types.h"
#include "ext/snapshot/number.h"
#include "ext/snapshot/type_value.h"

typedef struct Packer {
    ExtLaunchFrame *frame;
    const AbiField *field; /* the next one */
    uint32_t parameter;
    bool holds; /* the values are held by nothing but the packer */
    bool only_pointers; /* arrays are their data pointers */
} Packer;

static ExtMatch pack_value(Packer *packer, PyObject *value, const Type *type);
static uint32_t pack_numbers(Packer *packer, PyObject *const *args, const Type *const *types, uint32_t count);
static ExtMatch pack_array(Packer *packer, PyObject *value, const Type *type);

/* A member of the enum of that type. */
static ExtMatch pack_enum(Packer *packer, PyObject *value, const Type *type)
{
    if ((const void *)Py_TYPE(value) != type->object)
        return EXT_MISMATCH;
    PyObject *number = PyObject_GetAttrString(value, "value");
    ExtMatch match = number ? pack_value(packer, number, type->items[0]) : EXT_ERROR;
    Py_XDECREF(number);
    return match;
}

static void write_number(Packer *packer, const Type *type, const uint8_t *bytes)
{
    uint32_t parts = type->kind == TYPE_COMPLEX ? 2 : 1, size = type->size / parts;
    for (uint32_t i = 0; i < parts; i++)
        memcpy(packer->frame->parameters + packer->field++->offset, bytes + i * size, size);
}

/* As the parameter has it. NULL with an exception. */
static PyObject *stored_integer(const Type *type, const uint8_t *bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, type->size);
    uint32_t unused = 64 - 8 * type->size;
    return type->kind == TYPE_UINT ? PyLong_FromUnsignedLongLong(bits)
                                   : PyLong_FromLongLong((int64_t)(bits << unused) >> unused);
}

static bool add_narrowed(Packer *packer, PyObject *value, const Type *from, const Type *to)
{
    ExtLaunchFrame *frame = packer->frame;
    Buf given = {0}, taken = {0};
    char name[128];
    type_describe(&given, from);
    type_describe(&taken, to);
    ext_parameter_name(frame->kernel, packer->parameter, name, sizeof name);
    PyObject *module = PyImport_ImportModule("cujit._check_report"), *text = NULL;
    if (module)
        text = PyObject_CallMethod(module, "text_of_argument", "OsssO", value, buf_text(&given), buf_text(&taken), name,
                                   frame->kernel->py_func);
    if (text && !frame->narrowed)
        frame->narrowed = PyList_New(0);
    bool ok = text && frame->narrowed && PyList_Append(frame->narrowed, text) == 0;
    Py_XDECREF(text);
    Py_XDECREF(module);
    buf_free(&given);
    buf_free(&taken);
    return ok;
}

/* Of integers for integers: whether the value is that of the bytes is told of before the launch, under the check of that. */
static bool note_narrowed(Packer *packer, PyObject *value, const Type *from, const Type *to, const uint8_t *bytes)
{
    TargetKind target = rt_device_kind(packer->frame->device) == RT_CPU ? TARGET_HOST : TARGET_NVPTX;
    bool is_looked_at = checks_of(&packer->frame->kernel->compile_options, target) & CHECKS_OF_OVERFLOW;
    if (!is_looked_at || !type_is_integer(from) || !type_is_integer(to))
        return true;
    PyObject *stored = stored_integer(to, bytes);
    int is_same = stored ? PyObject_RichCompareBool(value, stored, Py_EQ) : -1;
    Py_XDECREF(stored);
    return is_same == 0 ? add_narrowed(packer, value, from, to) : is_same > 0;
}

static ExtMatch pack_scalar(Packer *packer, PyObject *value, const Type *type)
{
    uint8_t *parameters = packer->frame->parameters;
    if (pack_numbers(packer, &value, &type, 1))
        return EXT_MATCH;
    if (type == TYPE_OF(INT64) && PyLong_CheckExact(value)) {
        int overflow;
        int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
        memcpy(parameters + packer->field->offset, &number, sizeof number);
        packer->field += !overflow;
        if (!overflow)
            return EXT_MATCH;
    }
    if (type == TYPE_OF(BOOL) && PyBool_Check(value)) {
        parameters[packer->field++->offset] = value == Py_True;
        return EXT_MATCH;
    }
    const void *held;
    if (ext_numpy_number(value, &held) == type) {
        write_number(packer, type, held);
        return EXT_MATCH;
    }
    const Type *actual = ext_number_type(value);
    if (!actual)
        return PyErr_Occurred() ? EXT_ERROR : EXT_MISMATCH;
    if (actual->scalar != type->scalar && !(packer->frame->converts && jit_conversion_cost(actual, type) >= 0))
        return EXT_MISMATCH;
    uint8_t bytes[16];
    if (!ext_store_number(value, type, bytes) || !note_narrowed(packer, value, actual, type, bytes))
        return EXT_ERROR;
    write_number(packer, type, bytes);
    return EXT_MATCH;
}

static bool array_matches(const Packer *packer, const ExtArrayView *view, const Type *type)
{
    bool same = type_equal(view->element, type->element);
    if (view->ndim != type->ndim ||
        !(same || (packer->frame->converts && type_is_same_integer(view->element, type->element))))
        return false;
    if (!packer->frame->converts)
        return ext_view_layout(view) == type->layout && view->read_only == type->read_only;
    if (view->read_only && !type->read_only && jit_written(packer->frame->specialization)[packer->parameter])
        return false;
    return type->layout == LAYOUT_ANY || (type->layout == LAYOUT_C ? view->c_contiguous : view->f_contiguous);
}

/* Words without gaps, behind which the next array's begin. */
static inline uint8_t *write_array(uint8_t *to, const Type *type, bool only_pointer, RtPointer pointer,
                                   const int64_t *shape, const int64_t *strides)
{
    memcpy(to, &pointer, sizeof pointer);
    to += sizeof pointer;
    if (only_pointer)
        return to;
    for (int axis = 0; axis < type->ndim; axis++, to += sizeof *shape)
        memcpy(to, &shape[axis], sizeof *shape);
    for (int axis = 0; type->layout == LAYOUT_ANY && axis < type->ndim; axis++, to += sizeof *strides)
        memcpy(to, &strides[axis], sizeof *strides);
    return to;
}

void ext_write_array(uint8_t *parameters, const AbiField *field, const Type *type, bool only_pointer, RtPointer pointer,
                     const int64_t *shape, const int64_t *strides)
{
    write_array(parameters + field->offset, type, only_pointer, pointer, shape, strides);
}

static uint32_t array_fields(const Type *type, bool only_pointer)
{
    return only_pointer ? 1 : 1u + type->ndim * (type->layout == LAYOUT_ANY ? 2u : 1u);
}

/* --- memory of other libraries ------------------------------------------------------------------------------------------- */
/* On the CPU device: whether this process can read the array, as it cannot read a GPU's memory. */
static bool is_host_memory(const ExtArrayView *view)
{
    int64_t low = 0, high = view->element->size - 1;
    for (int axis = 0; axis < view->ndim; axis++) {
        int64_t reach = (view->shape[axis] - 1) * view->strides[axis];
        if (view->shape[axis] == 0)
            return true;
        *(reach < 0 ? &low : &high) += reach;
    }
    return address_is_readable(view->pointer + (uint64_t)low) && address_is_readable(view->pointer + (uint64_t)high);
}

static bool add_stream(ExtLaunchFrame *frame, uint64_t handle)
{
    for (uint32_t i = 0; i < frame->stream_count; i++)
        if (frame->streams[i] == handle)
            return true;
    if (frame->stream_count == FRAME_STREAMS)
        frame->wait_for_device = true;
    else
        frame->streams[frame->stream_count++] = handle;
    return true;
}

/* Memory of another device is no failure here: what the launch does about it needs to know of all arguments. */
static void add_home(ExtLaunchFrame *frame, uint64_t home)
{
    frame->at_home |= (home & rt_device_bit(frame->device)) != 0;
    frame->elsewhere |= home & ~rt_device_bit(frame->device);
}

static bool find_home(ExtLaunchFrame *frame, const ExtArrayView *view)
{
    Diag diag = {.id = DIAG_NONE};
    uint64_t home = 0;
    bool is_here = view->ordinal == rt_device_ordinal(frame->device); /* where the library says so */
    if (!is_here && (!rt_pointer_is_here(frame->device, view->pointer, &is_here, &diag) ||
                     (!is_here && !rt_pointer_home(frame->device, view->pointer, &home, &diag))))
        return ext_raise(&diag), false;
    add_home(frame, is_here ? rt_device_bit(frame->device) : home);
    return true;
}

/* The stream that the library puts its work into now: asked once for all arrays of a launch. */
static bool add_current_stream(ExtLaunchFrame *frame, const ExtArrayView *view)
{
    uint64_t handle;
    int ordinal = view->ordinal < 0 ? rt_device_ordinal(frame->device) : view->ordinal;
    if (frame->asked == view->kind && frame->asked_ordinal == ordinal)
        return true;
    if (!ext_current_stream_of(view->kind, ordinal, &handle))
        return false;
    frame->asked = view->kind;
    frame->asked_ordinal = ordinal;
    return add_stream(frame, handle);
}

static bool check_foreign(ExtLaunchFrame *frame, const ExtArrayView *view)
{
    bool is_gpu = rt_device_kind(frame->device) == RT_GPU;
    if (!is_gpu && !is_host_memory(view)) {
        PyErr_SetString(PyExc_ValueError, "the array is in memory of a GPU, and the kernel runs on the CPU device");
        return false;
    }
    if (!rt_device_is_alone(frame->device) && !find_home(frame, view))
        return false;
    if (!is_gpu || !frame->state->waits_for_arrays)
        return true;
    return view->kind ? add_current_stream(frame, view) : !view->has_stream || add_stream(frame, view->stream_handle);
}

static bool check_device(ExtLaunchFrame *frame, const ExtArrayView *view)
{
    if (view->device == frame->device)
        return frame->at_home = true;
    if (view->pointer == 0)
        return true;
    if (rt_device_kind(view->device) == rt_device_kind(frame->device)) {
        add_home(frame, rt_device_bit(view->device));
        return true;
    }
    char lives[160], runs[160];
    PyErr_Format(PyExc_ValueError, "the array is in memory of %s, and the kernel runs on %s",
                 ext_device_text(view->device, lives, sizeof lives), ext_device_text(frame->device, runs, sizeof runs));
    return false;
}

/* --- arrays ------------------------------------------------------------------------------------------------------------------ */
/* Takes over what owns the array. */
static bool add_host_array(Packer *packer, ExtArrayView *view, const Type *type)
{
    ExtLaunchFrame *frame = packer->frame;
    if (frame->array_count == frame->array_capacity) {
        ExtHostArray *grown = PyMem_Malloc(2 * frame->array_capacity * sizeof *grown);
        if (!grown)
            return PyErr_NoMemory(), false;
        memcpy(grown, frame->arrays, frame->array_count * sizeof *grown);
        if (frame->arrays != frame->small_arrays)
            PyMem_Free(frame->arrays);
        frame->arrays = grown;
        frame->array_capacity *= 2;
    }
    frame->arrays[frame->array_count++] =
        (ExtHostArray){.array = view->host,
                       .type = type,
                       .field = packer->field,
                       .parameter = packer->parameter,
                       .dtype = (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(view->host)),
                       .ndim = PyArray_NDIM(view->host),
                       .flags = PyArray_FLAGS(view->host) & EXT_PACKED_FLAGS,
                       .copy_in = view->copy_in,
                       .copy_out = view->copy_out,
                       .is_owned = packer->holds || view->owner};
    if (packer->holds && !view->owner)
        Py_INCREF(view->host);
    view->owner = NULL;
    return true;
}

/* Keeps what has memory until the kernel has been launched. */
static bool keep(ExtLaunchFrame *frame, PyObject *owner)
{
    if (frame->kept_count < FRAME_KEPT) {
        frame->kept[frame->kept_count++] = Py_NewRef(owner);
        return true;
    }
    if (!frame->kept_more)
        frame->kept_more = PyList_New(0);
    return frame->kept_more && PyList_Append(frame->kept_more, owner) == 0;
}

PyObject *ext_frame_kept(const ExtLaunchFrame *frame)
{
    PyObject *kept = PyList_New(frame->kept_count);
    for (uint32_t i = 0; kept && i < frame->kept_count; i++)
        PyList_SET_ITEM(kept, i, Py_NewRef(frame->kept[i]));
    if (kept && frame->kept_more && PyList_SetSlice(kept, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, frame->kept_more) < 0)
        Py_CLEAR(kept);
    return kept;
}

/* The base of device arrays is the last but object of what their classes inherit from, wherever programs' own classes do
 * not say otherwise: so it is asked for there first. */
static LAUNCH_PATH bool is_own_array(const Packer *packer, PyObject *value)
{
    PyTypeObject *base = packer->frame->state->device_array_type;
    PyObject *order = Py_TYPE(value)->tp_mro;
    Py_ssize_t count = PyTuple_GET_SIZE(order);
    return (count > 1 && PyTuple_GET_ITEM(order, count - 2) == (PyObject *)base) ||
           (Py_TYPE(value) != &PyVoidArrType_Type && PyObject_TypeCheck(value, base));
}

/* Of cujit's arrays that are on the launch's device and of just that type. */
static inline bool is_as_packed(const ExtDeviceArray *array, const RtDevice *device, const Type *type)
{
    ArrayLayout layout = array->c_contiguous ? LAYOUT_C : array->f_contiguous ? LAYOUT_F : LAYOUT_ANY;
    return array->device == device && type_is_known_equal(array->element, type->element) && array->ndim == type->ndim &&
           layout == type->layout && array->read_only == type->read_only;
}

/* What most arguments are: arrays of cujit's that are on the launch's device. Any other is looked at closer. How many there are
 * at the beginning. *known: a class of such arrays, or NULL; nothing holds it, so it is good for as long as no code of the
 * program runs. */
static inline __attribute__((always_inline)) uint32_t pack_own_arrays(Packer *packer, PyObject *const *args,
                                                                      const Type *const *types, uint32_t count,
                                                                      const PyTypeObject **known)
{
    const RtDevice *device = packer->frame->device;
    uint8_t *first = packer->frame->parameters + packer->field->offset, *to = first;
    bool only_pointers = packer->only_pointers;
    uint32_t i = 0;
    for (; i < count && types[i]->kind == TYPE_ARRAY; i++) {
        const ExtDeviceArray *array = (const ExtDeviceArray *)args[i];
        const Type *type = types[i];
        if (UNLIKELY(Py_TYPE(args[i]) != *known)) {
            if (!is_own_array(packer, args[i]))
                break;
            *known = Py_TYPE(args[i]);
        }
        if (UNLIKELY(!is_as_packed(array, device, type)))
            break;
        if (LIKELY(type->ndim == 1 && type->layout == LAYOUT_C && !only_pointers)) { /* most of them */
            memcpy(to, &array->pointer, sizeof array->pointer);
            memcpy(to + sizeof array->pointer, array->shape, sizeof *array->shape);
            to += sizeof array->pointer + sizeof *array->shape;
        } else {
            to = write_array(to, type, only_pointers, array->pointer, array->shape, array->strides);
        }
    }
    packer->frame->at_home |= i != 0;
    packer->field += (to - first) / (ptrdiff_t)sizeof(uint64_t); /* a field is a word */
    return i;
}

/* --- records ------------------------------------------------------------------------------------------------------------- */
/* The record's bytes, where the kernel takes them among its parameters: it has no pointer. */
static void write_record(Packer *packer, const void *bytes)
{
    const AbiField *field = packer->field++, *value = &jit_abi(packer->frame->specialization)->fields[field->value];
    const RtPointer none = 0;
    memcpy(packer->frame->parameters + field->offset, &none, sizeof none);
    memcpy(packer->frame->parameters + value->offset, bytes, value->size);
}

/* A NumPy record that goes by value. */
static LAUNCH_PATH ExtMatch pack_record_bytes(Packer *packer, const PyVoidScalarObject *record, const Type *type)
{
    const Type *element = ext_element_type(packer->frame->state, record->descr);
    bool is_read_only = !(record->flags & NPY_ARRAY_WRITEABLE);
    if (!element)
        return EXT_ERROR;
    if (packer->frame->converts || !type_is_known_equal(element, type->element) || type->layout != LAYOUT_C ||
        is_read_only != type->read_only) {
        ExtArrayView view = {.element = element, .c_contiguous = true, .f_contiguous = true, .read_only = is_read_only};
        if (!array_matches(packer, &view, type))
            return EXT_MISMATCH;
    }
    write_record(packer, record->obval);
    return EXT_MATCH;
}

/* A NumPy record is an array without axes over its own memory. */
static LAUNCH_PATH ExtMatch pack_record(Packer *packer, PyObject *value, const Type *type)
{
    PyVoidScalarObject *record = (PyVoidScalarObject *)value;
    if (packer->field->value)
        return pack_record_bytes(packer, record, type);
    Py_INCREF(record->descr);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, record->descr, 0, NULL, NULL, record->obval,
                                           record->flags & NPY_ARRAY_WRITEABLE, NULL);
    if (!array || PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(value)) < 0) {
        Py_XDECREF(array);
        return EXT_ERROR;
    }
    bool held = packer->holds;
    packer->holds = true;
    ExtMatch match = pack_array(packer, array, type);
    packer->holds = held;
    Py_DECREF(array);
    return match;
}

/* The memory of an array, as what the parameter says of it. */
static bool pack_memory(Packer *packer, ExtArrayView *view, const Type *type)
{
    bool only_pointer = packer->only_pointers;
    bool is_host = view->host != NULL;
    if (is_host && packer->field->value)
        return write_record(packer, PyArray_DATA(view->host)), true;
    bool ok = is_host ? add_host_array(packer, view, type)
              : view->is_foreign
                  ? check_foreign(packer->frame, view) && (!view->owner || keep(packer->frame, view->owner))
                  : check_device(packer->frame, view);
    if (!ok)
        return false;
    if (!is_host)
        ext_write_array(packer->frame->parameters, packer->field, type, only_pointer, view->pointer, view->shape,
                        view->strides);
    packer->field += array_fields(type, only_pointer);
    return true;
}

static ExtMatch pack_view(Packer *packer, ExtArrayView *view, const Type *type)
{
    if (!array_matches(packer, view, type))
        return EXT_MISMATCH;
    return pack_memory(packer, view, type) ? EXT_MATCH : EXT_ERROR;
}

static LAUNCH_PATH ExtMatch pack_array(Packer *packer, PyObject *value, const Type *type)
{
    ExtArrayView view;
    if (type->ndim == 0 && PyArray_IsScalar(value, Void))
        return pack_record(packer, value, type);
    int is_array = ext_array_view(packer->frame->state, value, &view);
    if (is_array <= 0)
        return is_array ? EXT_ERROR : EXT_MISMATCH;
    ExtMatch match = pack_view(packer, &view, type);
    Py_XDECREF(view.owner);
    return match;
}

/* --- pointers ---------------------------------------------------------------------------------------------------------------- */
/* The address in an integer of any kind. */
static ExtMatch pack_address(Packer *packer, PyObject *value)
{
    PyObject *number = PyNumber_Index(value);
    uint64_t address = number ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    if (PyErr_Occurred())
        return EXT_ERROR;
    memcpy(packer->frame->parameters + packer->field++->offset, &address, sizeof address);
    return EXT_MATCH;
}

/* Where the array lies, which is passed as an array without axes. */
static ExtMatch pack_array_as_pointer(Packer *packer, ExtArrayView *view, const Type *type)
{
    const Type *memory = type->items[0];
    bool fits = type_is_tagged(type, TUPLE_VOID_POINTER) || type_equal(view->element, memory->element);
    if (!packer->frame->converts || !fits || view->read_only || !(view->c_contiguous || view->f_contiguous))
        return EXT_MISMATCH;
    return pack_memory(packer, view, memory) ? EXT_MATCH : EXT_ERROR;
}

static ExtMatch pack_pointer(Packer *packer, PyObject *value, const Type *type)
{
    if (PyLong_Check(value) || PyArray_IsScalar(value, Integer))
        return packer->frame->converts ? pack_address(packer, value) : EXT_MISMATCH;
    ExtArrayView view;
    int is_array = ext_array_view(packer->frame->state, value, &view);
    if (is_array > 0) {
        ExtMatch match = pack_array_as_pointer(packer, &view, type);
        Py_XDECREF(view.owner);
        return match;
    }
    PyObject *found = is_array ? NULL : ext_ctypes_pointer(value);
    const Type *actual =
        found && PyTuple_Check(found) ? ext_type_borrowed(packer->frame->state, PyTuple_GET_ITEM(found, 1)) : NULL;
    bool fits = actual && (packer->frame->converts ? jit_conversion_cost(actual, type) >= 0 : type_equal(actual, type));
    ExtMatch match = fits               ? pack_address(packer, PyTuple_GET_ITEM(found, 0))
                     : PyErr_Occurred() ? EXT_ERROR
                                        : EXT_MISMATCH;
    Py_XDECREF(found);
    return match;
}

/* --- rows of numbers ---------------------------------------------------------------------------------------------------- */
static inline void copy_number(uint8_t *to, const uint8_t *from, uint32_t size)
{
    switch (size) {
    case 8: memcpy(to, from, 8); return;
    case 4: memcpy(to, from, 4); return;
    default: memcpy(to, from, size);
    }
}

static inline __attribute__((always_inline)) uint32_t copy_alike(uint8_t *to, PyObject *const *args,
                                                                 const Type *const *types, uint32_t count, size_t place,
                                                                 uint32_t size)
{
    const PyTypeObject *class = Py_TYPE(args[0]);
    const Type *type = types[0];
    uint32_t i = 0;
    for (; i < count && types[i] == type && Py_TYPE(args[i]) == class; i++, to += size)
        copy_number(to, (const uint8_t *)args[i] + place, size);
    return i;
}

/* NumPy's numbers of one class and type, of which both are looked at once, and which lie side by side. */
static LAUNCH_PATH uint32_t pack_alike(const Packer *packer, PyObject *const *args, const Type *const *types,
                                       uint32_t count)
{
    const void *held;
    const Type *type = types[0];
    uint8_t *to = packer->frame->parameters + packer->field->offset;
    if (type->kind == TYPE_COMPLEX || ext_numpy_number(args[0], &held) != type)
        return 0;
    size_t place = (size_t)((const uint8_t *)held - (const uint8_t *)args[0]);
    switch (type->size) { /* a loop of its own for each of the usual ones */
    case 8: return copy_alike(to, args, types, count, place, 8);
    case 4: return copy_alike(to, args, types, count, place, 4);
    default: return copy_alike(to, args, types, count, place, type->size);
    }
}

/* Of arguments or items: how many at the beginning are Python's floats and small ints, which most numbers are and which lie
 * side by side, or else numbers of NumPy's, and were packed. */
static LAUNCH_PATH uint32_t pack_numbers(Packer *packer, PyObject *const *args, const Type *const *types,
                                         uint32_t count)
{
    uint32_t i = 0;
    int64_t number;
    if (!type_is_scalar(types[0])) /* it may have no field */
        return 0;
    for (uint8_t *to = packer->frame->parameters + packer->field->offset; i < count; i++, to += sizeof number) {
        if (types[i] == TYPE_OF(FLOAT64) && PyFloat_CheckExact(args[i]))
            memcpy(to, &((const PyFloatObject *)args[i])->ob_fval, sizeof(double));
        else if (types[i] == TYPE_OF(INT64) && PyLong_CheckExact(args[i]) && ext_small_int(args[i], &number))
            memcpy(to, &number, sizeof number);
        else
            break;
    }
    if (i == 0)
        i = pack_alike(packer, args, types, count);
    packer->field += i;
    return i;
}

/* --- everything else ---------------------------------------------------------------------------------------------------------- */
/* Fields may be anything's attributes, and what they give may be made just now: it is held, and kept for the launch where there
 * may be memory in it. Those of declared types convert to these. */
static ExtMatch pack_field(Packer *packer, PyObject *field, const Type *type, bool is_stated)
{
    bool held = packer->holds, converts = packer->frame->converts;
    packer->holds = true;
    packer->frame->converts = converts || is_stated;
    ExtMatch match = pack_value(packer, field, type);
    if (match == EXT_MATCH && (type->kind == TYPE_ARRAY || type->kind == TYPE_TUPLE) && !keep(packer->frame, field))
        match = EXT_ERROR;
    packer->holds = held;
    packer->frame->converts = converts;
    return match;
}

static ExtMatch pack_declared(Packer *packer, const ExtDeclaredClass *declared, PyObject *value, const Type *type)
{
    PyObject *fields = ext_declared_fields(declared, value);
    ExtMatch match = fields ? EXT_MATCH : EXT_ERROR;
    for (uint32_t i = 0; match == EXT_MATCH && i < type->count; i++)
        match = pack_field(packer, PyTuple_GET_ITEM(fields, i), type->items[i],
                           PyTuple_GET_ITEM(declared->types, i) != Py_None);
    Py_XDECREF(fields);
    return match;
}

static ExtMatch pack_instance(Packer *packer, PyObject *value, const Type *type)
{
    ExtDeclaredClass declared;
    if (ext_declared_class(packer->frame->state, (PyObject *)Py_TYPE(value), &declared))
        return (const void *)declared.class == type->object ? pack_declared(packer, &declared, value, type)
                                                            : EXT_MISMATCH;
    if ((const void *)Py_TYPE(value) != type->object)
        return EXT_MISMATCH;
    ExtMatch match = EXT_MATCH;
    for (uint32_t i = 0; match == EXT_MATCH && i < type->count; i++) {
        PyObject *field = PyObject_GetAttrString(value, type->names[i]);
        match = field ? pack_field(packer, field, type->items[i], false) : EXT_ERROR;
        Py_XDECREF(field);
    }
    return match;
}

/* None is false and zeros, a value is true and the value. */
static ExtMatch pack_optional(Packer *packer, PyObject *value, const Type *type)
{
    uint8_t *parameters = packer->frame->parameters;
    if (!packer->frame->converts)
        return EXT_MISMATCH; /* only a signature says that None may be given */
    parameters[packer->field++->offset] = value != Py_None;
    if (value != Py_None)
        return pack_value(packer, value, type->items[1]);
    for (uint32_t left = type_part_count(type->items[1]); left; left--, packer->field++)
        memset(parameters + packer->field->offset, 0, packer->field->size);
    return EXT_MATCH;
}

/* Names are short: a call would take longer. */
static inline bool is_name(PyObject *text, const char *name)
{
    const char *at = !PyUnicode_Check(text)             ? NULL
                     : PyUnicode_IS_COMPACT_ASCII(text) ? PyUnicode_DATA(text)
                                                        : PyUnicode_AsUTF8(text);
    for (; at && *at && *at == *name; at++)
        name++;
    return at && *at == *name;
}

/* Whether the class has the type's name and fields, as many of one name may have, and no methods. */
static ExtMatch match_class(Packer *packer, PyTypeObject *class, const Type *type)
{
    if (strcmp(class->tp_name, type->name) != 0)
        return EXT_MISMATCH;
    int is_plain = packer->frame->converts ? 1 : ext_class_is_plain(packer->frame->state, (PyObject *)class);
    if (is_plain <= 0)
        return is_plain ? EXT_ERROR : EXT_MISMATCH;
    PyObject *fields = NULL, *name_of_fields = packer->frame->state->fields_name;
    if (class->tp_dict && PyDict_GetItemRef(class->tp_dict, name_of_fields, &fields) < 0)
        return EXT_ERROR;
    if (!fields) /* of a class that it is derived from */
        fields = PyObject_GetAttr((PyObject *)class, name_of_fields);
    bool same = fields && PyTuple_Check(fields) && PyTuple_GET_SIZE(fields) == type->count;
    for (uint32_t i = 0; same && i < type->count; i++) {
        same = is_name(PyTuple_GET_ITEM(fields, i), type->names[i]);
    }
    Py_XDECREF(fields);
    return same ? EXT_MATCH : !PyErr_Occurred() || ext_forgive() ? EXT_MISMATCH : EXT_ERROR;
}

/* Python's tuples and named tuples. */
static LAUNCH_PATH ExtMatch pack_items(Packer *packer, PyObject *value, const Type *type)
{
    if (!PyTuple_Check(value) || PyTuple_GET_SIZE(value) != type->count)
        return EXT_MISMATCH;
    bool is_named = type->tag == TUPLE_NAMED;
    if (is_named == PyTuple_CheckExact(value) && !packer->frame->converts)
        return EXT_MISMATCH;
    if (is_named && type->class && type->class != Py_TYPE(value) && !packer->frame->converts)
        return EXT_MISMATCH;
    ExtMatch match = is_named && type->class != Py_TYPE(value) ? match_class(packer, Py_TYPE(value), type) : EXT_MATCH;
    PyObject *const *items = ((PyTupleObject *)value)->ob_item;
    for (uint32_t i = 0, packed; match == EXT_MATCH && i < type->count; i += packed) {
        packed = pack_numbers(packer, items + i, type->items + i, type->count - i);
        if (packed)
            continue;
        packed = 1;
        match = pack_value(packer, items[i], type->items[i]);
    }
    return match;
}

static LAUNCH_PATH ExtMatch pack_tuple(Packer *packer, PyObject *value, const Type *type)
{
    if (LIKELY(type->tag == TUPLE_PLAIN || type->tag == TUPLE_NAMED))
        return pack_items(packer, value, type);
    switch (type->tag) {
    case TUPLE_POINTER:
    case TUPLE_VOID_POINTER: return pack_pointer(packer, value, type);
    case TUPLE_OPTIONAL: return pack_optional(packer, value, type);
    case TUPLE_INSTANCE: return pack_instance(packer, value, type);
    default:
        return type_has_trait(type, TRAIT_MEMBER) ? pack_enum(packer, value, type) : pack_items(packer, value, type);
    }
}

static ExtMatch pack_time(Packer *packer, PyObject *value, const Type *type)
{
    if (!(type->kind == TYPE_DATETIME ? PyArray_IsScalar(value, Datetime) : PyArray_IsScalar(value, Timedelta)))
        return EXT_MISMATCH;
    const PyDatetimeScalarObject *time = (PyDatetimeScalarObject *)value;
    if ((int)time->obmeta.base != time_unit_number(type->unit) || (uint32_t)time->obmeta.num != type->multiple)
        return EXT_MISMATCH;
    memcpy(packer->frame->parameters + packer->field++->offset, &time->obval, sizeof time->obval);
    return EXT_MATCH;
}

/* Values known at compile time: the type says it all. */
static ExtMatch pack_object(Packer *packer, PyObject *value, const Type *type)
{
    Arena *arena = ext_arena();
    if (!arena)
        return EXT_ERROR;
    const Type *actual = ext_argument_type(packer->frame->state, value, arena);
    ExtMatch match = !actual ? EXT_ERROR : type_equal(actual, type) ? EXT_MATCH : EXT_MISMATCH;
    arena_destroy(arena);
    return match;
}

static ExtMatch pack_any_array(Packer *packer, PyObject *value, const Type *type)
{
    const PyTypeObject *known = NULL;
    return pack_own_arrays(packer, &value, &type, 1, &known) ? EXT_MATCH : pack_array(packer, value, type);
}

static LAUNCH_PATH ExtMatch pack_value(Packer *packer, PyObject *value, const Type *type)
{
    switch (type->kind) {
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX: return pack_scalar(packer, value, type);
    case TYPE_DATETIME:
    case TYPE_TIMEDELTA: return pack_time(packer, value, type);
    case TYPE_ARRAY: return pack_any_array(packer, value, type);
    case TYPE_TUPLE: return pack_tuple(packer, value, type);
    case TYPE_NONE: return value == Py_None ? EXT_MATCH : EXT_MISMATCH;
    case TYPE_OBJECT: return pack_object(packer, value, type);
    case TYPE_CHARS:
    case TYPE_RECORD: return EXT_MISMATCH; /* parameters are references to them */
    }
    return EXT_MISMATCH;
}

static LAUNCH_PATH ExtMatch pack_arguments(Packer *packer, PyObject *const *args, const Type *const *types,
                                           uint32_t count, Py_ssize_t *failed_at)
{
    PyObject *const *first = args;
    const Type *const *end = types + count;
    const PyTypeObject *known = NULL;
    for (uint32_t packed; types < end; args += packed, types += packed) {
        packed = types[0]->kind == TYPE_ARRAY ? pack_own_arrays(packer, args, types, (uint32_t)(end - types), &known)
                                              : pack_numbers(packer, args, types, (uint32_t)(end - types));
        if (LIKELY(packed))
            continue;
        packed = 1;
        packer->parameter = (uint32_t)(args - first);
        known = NULL; /* from here on, the program's code may run */
        ExtMatch match = types[0]->kind == TYPE_ARRAY ? pack_array(packer, args[0], types[0])
                                                      : pack_value(packer, args[0], types[0]);
        if (match != EXT_MATCH) {
            *failed_at = args - first;
            return match;
        }
    }
    return EXT_MATCH;
}

/* For more parameters than nearly all kernels have. */
static OFF_LAUNCH_PATH bool make_room(ExtLaunchFrame *frame, uint32_t size)
{
    uint8_t *larger = PyMem_Realloc(frame->parameters == frame->small ? NULL : frame->parameters, size);
    if (!larger)
        return PyErr_NoMemory(), false;
    frame->parameters = larger;
    return true;
}

LAUNCH_PATH ExtMatch ext_frame_pack(ExtLaunchFrame *frame, const JitSpecialization *specialization, bool converts,
                                    PyObject *const *args, Py_ssize_t *failed_at)
{
    uint32_t count;
    const Type *const *types = jit_types(specialization, &count);
    const KernelAbi *abi = jit_abi(specialization);
    frame->specialization = specialization;
    frame->converts = converts;
    if (UNLIKELY(abi->size > FRAME_BYTES && !make_room(frame, abi->size)))
        return EXT_ERROR;
    Packer packer = {.frame = frame, .field = abi->fields, .only_pointers = abi->only_pointers};
    return pack_arguments(&packer, args, types, count, failed_at);
}
