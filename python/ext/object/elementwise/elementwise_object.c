/* Elementwise: a callable over arrays whose repeated calls are made here. The subclass, written in Python, makes a call in
 * its method _call and tells by remember() how it was done; a call of the same kind, on device arrays of one shape without
 * gaps and numbers, then needs no Python: a result is allocated, the parameters are written, the kernel is launched. Arrays
 * of libraries that tell about themselves in C or by plain attributes (array_kind.h) are seen as device arrays. Calls on
 * arrays of the host are elementwise_host.c's. */
#include "ext/array/array_kind.h"
#include "ext/guard.h"
#include "ext/module_parts.h"
#include "ext/object/device_array_object.h"
#include "ext/object/device_object.h"
#include "ext/object/elementwise/elementwise_host.h"
#include "ext/object/graph_object.h"
#include "ext/object/stream_object.h"

enum { RECIPES = 8, WIDE_ALIGNMENT = 16 };

/* count and recipes are under the lock of the object, which a GIL is: a call copies what it takes. */
typedef struct ExtElementwise {
    PyObject_HEAD vectorcallfunc vectorcall;
    ExtState *state;
    atomic_uint count;
    Recipe recipes[RECIPES]; /* wide ones first */
} ExtElementwise;

/* What a call gives beside its inputs. */
typedef struct ElementwiseCall {
    PyObject *const *args;
    const ExtDeviceArray *arrays[RECIPE_INPUTS]; /* the arguments that are arrays; NULL: numbers */
    const ExtDeviceArray *shaped; /* the first array */
    PyObject *given_out; /* borrowed; NULL: the result is to be made */
    const ExtDeviceArray *out; /* given_out, or what is seen of it */
    PyObject *stream_object; /* borrowed Stream; NULL: the default stream */
    const ExtArrayKind *asked; /* the library whose current stream is that of the call; NULL: none yet */
    ExtDeviceArray foreign[RECIPE_INPUTS + 1]; /* what is seen of another library's arrays: no objects, no dtype */
} ElementwiseCall;

static void recipe_clear(Recipe *recipe)
{
    for (uint32_t i = 0; i < recipe->count; i++)
        Py_XDECREF(recipe->classes[i]);
    Py_XDECREF(recipe->kernel);
    Py_XDECREF(recipe->dtype);
    Py_XDECREF(recipe->class);
    *recipe = (Recipe){0};
}

/* --- whether a call is of a kind -------------------------------------------------------------------------------------- */
static bool same_shape(const ExtDeviceArray *a, const ExtDeviceArray *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

static bool is_plain(const ExtDeviceArray *array, const Recipe *recipe, const Type *element)
{
    return array->c_contiguous && array->element == element && array->device == jit_device(recipe->specialization) &&
           (!recipe->is_wide || array->pointer % WIDE_ALIGNMENT == 0);
}

/* Whether writing the one leaves what is still to be read of the other alone. */
static bool is_apart(const ExtDeviceArray *out, const ExtDeviceArray *in)
{
    uint64_t out_end = out->pointer + (uint64_t)out->size * out->element->size;
    uint64_t in_end = in->pointer + (uint64_t)in->size * in->element->size;
    bool same = out->pointer == in->pointer && out->element->size == in->element->size;
    return same || out_end <= in->pointer || in_end <= out->pointer;
}

static bool fits(const Recipe *recipe, ElementwiseCall *call)
{
    const ExtDeviceArray *out = call->out;
    call->shaped = NULL;
    if (out && (!is_plain(out, recipe, recipe->element) || out->read_only))
        return false;
    for (uint32_t i = 0; i < recipe->count; i++) {
        const ExtDeviceArray *array = call->arrays[i];
        if (!recipe->elements[i]) {
            if (Py_TYPE(call->args[i]) != recipe->classes[i])
                return false;
            continue;
        }
        if (!array || !is_plain(array, recipe, recipe->elements[i]) ||
            (call->shaped && !same_shape(array, call->shaped)))
            return false;
        if (out && !is_apart(out, array))
            return false;
        call->shaped = array;
    }
    return call->shaped && call->shaped->size && (!out || same_shape(out, call->shaped));
}

/* --- what a call gives ---------------------------------------------------------------------------------------------------- */
/* Whether the library's work goes where the call's does, so that nothing has to wait. */
static bool is_on_stream(ElementwiseCall *call, const ExtArrayKind *kind, int ordinal)
{
    uint64_t handle, own = call->stream_object ? rt_stream_handle(ext_rt_stream(call->stream_object)) : 0;
    if (call->asked == kind)
        return true;
    if (!ext_current_stream_of(kind, ordinal, &handle))
        return ext_forgive(), false; /* the call in Python meets it again */
    call->asked = handle == own || (handle <= 1 && own <= 1) ? kind : NULL;
    return call->asked != NULL;
}

/* An array of another library as a device array; NULL where the call has to be made in Python. */
static const ExtDeviceArray *foreign_array(const ExtElementwise *self, PyObject *value, RtDevice *device,
                                           ElementwiseCall *call, ExtDeviceArray *seen)
{
    ExtArrayView view;
    const ExtArrayKind *kind = ext_array_kind(self->state, Py_TYPE(value));
    if (!kind)
        return NULL;
    if (ext_array_view(self->state, value, &view) <= 0)
        return ext_forgive(), NULL;
    bool is_here = view.is_foreign && view.kind && !view.owner && view.ordinal == rt_device_ordinal(device) &&
                   rt_device_kind(device) == RT_GPU && is_on_stream(call, kind, view.ordinal);
    Py_XDECREF(view.owner);
    if (!is_here)
        return NULL;
    seen->state = self->state;
    seen->device = device;
    seen->pointer = view.pointer;
    seen->element = view.element;
    seen->ndim = view.ndim;
    seen->c_contiguous = view.c_contiguous;
    seen->read_only = view.read_only;
    seen->size = 1;
    for (int axis = 0; axis < view.ndim; axis++) {
        seen->shape[axis] = view.shape[axis];
        seen->size *= view.shape[axis];
    }
    return seen;
}

static const ExtDeviceArray *array_of(const ExtElementwise *self, PyObject *value, RtDevice *device,
                                      ElementwiseCall *call, ExtDeviceArray *seen)
{
    if (PyObject_TypeCheck(value, self->state->device_array_type))
        return (const ExtDeviceArray *)value;
    bool is_number = PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyArray_CheckAnyScalarExact(value);
    return is_number ? NULL : foreign_array(self, value, device, call, seen);
}

/* The keywords out and stream, the latter of the types that are known here. */
static bool read_keywords(const ExtElementwise *self, PyObject *const *values, PyObject *names, ElementwiseCall *call)
{
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *value = values[i];
        if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
            call->given_out = value == Py_None ? NULL : value;
        } else if (PyUnicode_CompareWithASCIIString(name, "stream") == 0) {
            if (PyLong_CheckExact(value) && PyLong_AsLong(value) == 0)
                continue;
            if (!PyObject_TypeCheck(value, self->state->stream_type))
                return PyErr_Clear(), false;
            call->stream_object = value;
        } else {
            return false;
        }
    }
    return true;
}

/* False where the call has to be made in Python. */
static bool read_arrays(const ExtElementwise *self, size_t count, RtDevice *device, ElementwiseCall *call)
{
    if (count > RECIPE_INPUTS)
        return false;
    for (size_t i = 0; i < count; i++)
        call->arrays[i] = array_of(self, call->args[i], device, call, &call->foreign[i]);
    if (call->given_out)
        call->out = array_of(self, call->given_out, device, call, &call->foreign[RECIPE_INPUTS]);
    return !PyErr_Occurred() && (call->out || !call->given_out);
}

/* --- the call ---------------------------------------------------------------------------------------------------------- */
/* The parameters but for the result's. False where a number has to be converted in Python. */
static bool write_inputs(const Recipe *recipe, const ElementwiseCall *call, RecipeWriter *writer)
{
    uint32_t count;
    const Type *const *types = jit_types(recipe->specialization, &count);
    for (uint32_t i = 0; i < recipe->count; i++) {
        const ExtDeviceArray *array = call->arrays[i];
        if (recipe->elements[i])
            recipe_write_array(writer, types[i], array->pointer, array->size);
        else if (!recipe_write_number(writer, call->args[i], types[i]))
            return false;
    }
    return true;
}

static bool run(const Recipe *recipe, const ElementwiseCall *call, uint8_t *parameters)
{
    RtStream *stream = call->stream_object ? ext_rt_stream(call->stream_object) : NULL;
    return recipe_launch(recipe, call->shaped->size, stream, parameters);
}

static PyObject *make_result(const Recipe *recipe, const ElementwiseCall *call)
{
    if (call->given_out)
        return Py_NewRef(call->given_out);
    PyObject *made = ext_device_array_like(call->shaped, recipe->class, recipe->element, recipe->dtype);
    if (made && call->stream_object && PyObject_SetAttrString(made, "stream", call->stream_object) < 0)
        Py_CLEAR(made);
    return made;
}

/* For a graph that the launch has become a part of. */
static bool keep(const Recipe *recipe, const ElementwiseCall *call, PyObject *result)
{
    bool ok = ext_graph_keep(result) && ext_graph_keep((PyObject *)recipe->kernel);
    for (uint32_t i = 0; ok && i < recipe->count; i++)
        ok = ext_graph_keep(call->args[i]);
    return ok;
}

/* The result; NULL without an exception where the call has to be made in Python. */
static PyObject *call_by_recipe(const Recipe *recipe, ElementwiseCall *call)
{
    uint8_t parameters[RECIPE_BYTES];
    RecipeWriter writer = {jit_abi(recipe->specialization)->fields, parameters};
    if (call->stream_object && (((ExtStream *)call->stream_object)->device != jit_device(recipe->specialization) ||
                                !ext_stream_is_open(call->stream_object)))
        return NULL;
    if (!write_inputs(recipe, call, &writer))
        return NULL;
    PyObject *result = make_result(recipe, call);
    uint32_t count;
    const Type *const *types = jit_types(recipe->specialization, &count);
    const ExtDeviceArray *out = call->out ? call->out : (ExtDeviceArray *)result;
    if (result)
        recipe_write_array(&writer, types[recipe->count], out->pointer, out->size);
    if (result && (!run(recipe, call, parameters) || !keep(recipe, call, result)))
        Py_CLEAR(result);
    return result;
}

/* Copies a recipe, with references of its own to what a call needs. Under the lock of the object. */
static void take(const Recipe *recipe, Recipe *taken)
{
    *taken = *recipe;
    Py_INCREF(taken->kernel);
    Py_INCREF(taken->dtype);
    Py_INCREF(taken->class);
}

static void leave(Recipe *taken)
{
    Py_DECREF(taken->kernel);
    Py_DECREF(taken->dtype);
    Py_DECREF(taken->class);
}

/* The recipe for such a call on the device (NULL: any). */
static bool take_recipe(ExtElementwise *self, const RtDevice *device, size_t count, ElementwiseCall *call,
                        Recipe *taken)
{
    bool found = false;
    Py_BEGIN_CRITICAL_SECTION(self);
    for (uint32_t i = 0; !found && i < self->count; i++) {
        const Recipe *recipe = &self->recipes[i];
        bool is_there = !device || jit_device(recipe->specialization) == device;
        found = recipe->count == count && is_there && fits(recipe, call);
        if (found)
            take(recipe, taken);
    }
    Py_END_CRITICAL_SECTION();
    return found;
}

static bool take_host_recipe(ExtElementwise *self, const RtDevice *device, size_t count, const HostCall *call,
                             Recipe *taken)
{
    bool found = false;
    Py_BEGIN_CRITICAL_SECTION(self);
    for (uint32_t i = 0; !found && i < self->count; i++) {
        const Recipe *recipe = &self->recipes[i];
        found =
            recipe->count == count && jit_device(recipe->specialization) == device && ext_host_call_fits(call, recipe);
        if (found)
            take(recipe, taken);
    }
    Py_END_CRITICAL_SECTION();
    return found;
}

static PyObject *call_python(ExtElementwise *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    PyObject *method = PyObject_GetAttrString((PyObject *)self, "_call");
    PyObject *result = method ? PyObject_Vectorcall(method, args, flags, keywords) : NULL;
    Py_XDECREF(method);
    return result;
}

/* The call on device arrays, or NULL, without an exception where it has to be made in Python. */
static PyObject *call_on_device(ExtElementwise *self, RtDevice *device, size_t count, ElementwiseCall *call)
{
    bool is_fixed = rt_device_is_alone(device) || ext_chosen_device(self->state);
    Recipe recipe;
    if (!read_arrays(self, count, device, call) || !take_recipe(self, is_fixed ? device : NULL, count, call, &recipe))
        return NULL;
    PyObject *result = call_by_recipe(&recipe, call);
    leave(&recipe);
    return result;
}

/* The call on arrays of the host, likewise. */
static PyObject *call_on_host(ExtElementwise *self, RtDevice *device, size_t count, const ElementwiseCall *call)
{
    HostCall host;
    Recipe recipe;
    if (call->stream_object || rt_graph_recorded() ||
        !ext_host_call_read(self->state, call->args, count, call->given_out, &host) ||
        !take_host_recipe(self, device, count, &host, &recipe))
        return NULL;
    PyObject *result = ext_host_call_run(&host, &recipe);
    leave(&recipe);
    return result;
}

static bool has_host_array(PyObject *const *args, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found |= PyArray_CheckExact(args[i]);
    return found;
}

static PyObject *elementwise_vectorcall(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    ExtElementwise *self = (ExtElementwise *)callable;
    size_t count = (size_t)PyVectorcall_NARGS(flags);
    ElementwiseCall call;
    call.args = args;
    call.given_out = call.stream_object = NULL;
    call.out = NULL;
    call.asked = NULL;
    RtDevice *device = self->count ? ext_current_device(self->state) : NULL;
    bool known = device && read_keywords(self, args + count, keywords, &call);
    if (known && !call.stream_object)
        call.stream_object = ext_current_stream(self->state, device);
    if (known) {
        bool is_of_host = has_host_array(args, count);
        PyObject *result =
            is_of_host ? call_on_host(self, device, count, &call) : call_on_device(self, device, count, &call);
        if (result)
            return result;
    }
    return PyErr_Occurred() ? NULL : call_python(self, args, flags, keywords);
}

/* --- learning ---------------------------------------------------------------------------------------------------------- */
/* Whether a parameter takes such an array as one of one axis. Another thread may have launched the kernel since, with others. */
static bool is_of_array(const Type *type, const ExtDeviceArray *array)
{
    return type->kind == TYPE_ARRAY && type->ndim == 1 && type->layout == LAYOUT_C && array->element &&
           type_equal(type->element, array->element);
}

/* Fills a recipe; false where the call is of no kind that is made here. */
static bool recipe_read(const ExtElementwise *self, Recipe *recipe, PyObject *args, ExtKernel *kernel,
                        ExtDeviceArray *target)
{
    uint32_t parameters;
    const JitSpecialization *last = ext_kernel_last(kernel).specialization;
    const Type *const *types = last ? jit_types(last, &parameters) : NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (!last || count > RECIPE_INPUTS || parameters != (uint32_t)count + 1 || jit_abi(last)->size > RECIPE_BYTES)
        return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = PyTuple_GET_ITEM(args, i);
        bool is_array = PyObject_TypeCheck(value, self->state->device_array_type);
        if (is_array ? !is_of_array(types[i], (ExtDeviceArray *)value) : types[i]->kind == TYPE_ARRAY)
            return false;
        if (is_array)
            recipe->elements[i] = ((ExtDeviceArray *)value)->element;
        else
            recipe->classes[i] = (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(value));
        recipe->count++;
    }
    if (!is_of_array(types[count], target) || target->read_only)
        return false;
    recipe->kernel = (ExtKernel *)Py_NewRef((PyObject *)kernel);
    recipe->specialization = last;
    recipe->element = target->element;
    recipe->dtype = (PyArray_Descr *)Py_NewRef((PyObject *)target->dtype);
    recipe->class = (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(target));
    return true;
}

/* The one that is dropped for it; empty where none is. Under the lock of the object. */
static Recipe add_recipe(ExtElementwise *self, const Recipe *recipe)
{
    Recipe dropped = {0};
    uint32_t count = self->count;
    if (count == RECIPES)
        dropped = self->recipes[--count];
    uint32_t place = recipe->is_wide ? 0 : count;
    memmove(self->recipes + place + 1, self->recipes + place, (count - place) * sizeof *recipe);
    self->recipes[place] = *recipe;
    self->count = count + 1;
    return dropped;
}

static PyObject *elementwise_remember(ExtElementwise *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"kernel", "args", "target", "block", "width", "is_wide", NULL};
    PyObject *kernel, *arguments, *target;
    unsigned block, width;
    int is_wide;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!O!IIp:remember", names, self->state->kernel_type, &kernel,
                                     &PyTuple_Type, &arguments, self->state->device_array_type, &target, &block, &width,
                                     &is_wide))
        return NULL;
    Recipe recipe = {.block = block, .width = width, .is_wide = is_wide};
    if (!block || !width || !recipe_read(self, &recipe, arguments, (ExtKernel *)kernel, (ExtDeviceArray *)target)) {
        recipe_clear(&recipe);
        Py_RETURN_NONE;
    }
    Recipe dropped;
    Py_BEGIN_CRITICAL_SECTION(self);
    dropped = add_recipe(self, &recipe);
    Py_END_CRITICAL_SECTION();
    recipe_clear(&dropped);
    Py_RETURN_NONE;
}

static PyObject *elementwise_forget(ExtElementwise *self, PyObject *Py_UNUSED(ignored))
{
    Recipe dropped[RECIPES];
    uint32_t count;
    Py_BEGIN_CRITICAL_SECTION(self);
    count = self->count;
    memcpy(dropped, self->recipes, count * sizeof *dropped);
    self->count = 0;
    Py_END_CRITICAL_SECTION();
    for (uint32_t i = 0; i < count; i++)
        recipe_clear(&dropped[i]);
    Py_RETURN_NONE;
}

/* --- the object -------------------------------------------------------------------------------------------------------- */
static PyObject *elementwise_new(PyTypeObject *class, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    ExtState *state = ext_state_of_type(class);
    ExtElementwise *self = state ? (ExtElementwise *)class->tp_alloc(class, 0) : NULL;
    if (self) {
        self->vectorcall = elementwise_vectorcall;
        self->state = state;
    }
    return (PyObject *)self;
}

static int elementwise_traverse(ExtElementwise *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    for (uint32_t i = 0; i < self->count; i++)
        Py_VISIT(self->recipes[i].kernel);
    return 0;
}

static int elementwise_clear(ExtElementwise *self)
{
    Py_XDECREF(elementwise_forget(self, NULL));
    return 0;
}

static void elementwise_dealloc(ExtElementwise *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    elementwise_clear(self);
    class->tp_free(self);
    Py_DECREF(class);
}

static PyMethodDef elementwise_methods[] = {
    {"remember", (PyCFunction)(void (*)(void))elementwise_remember, METH_VARARGS | METH_KEYWORDS,
     "remember(kernel, args, target, block, width, is_wide): the call with these arguments launched the kernel with a "
     "C-ordered "
     "view of one axis of each array and of the target, one thread for `width` elements, which must lie at multiples "
     "of 16 "
     "bytes if it is wide."},
    {"forget", (PyCFunction)elementwise_forget, METH_NOARGS, "forget(): from now on calls are made in Python."},
    {0},
};

static PyMemberDef elementwise_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ExtElementwise, vectorcall), READONLY, NULL},
    {0},
};

static PyType_Slot elementwise_slots[] = {
    {Py_tp_doc, "A callable over arrays; a subclass's method _call makes the calls that are not remembered."},
    {Py_tp_new, elementwise_new},
    {Py_tp_dealloc, elementwise_dealloc},
    {Py_tp_traverse, elementwise_traverse},
    {Py_tp_clear, elementwise_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_methods, elementwise_methods},
    {Py_tp_members, elementwise_members},
    {0},
};

static PyType_Spec elementwise_spec = {
    .name = "cujit._core.Elementwise",
    .basicsize = sizeof(ExtElementwise),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = elementwise_slots,
};

bool ext_add_elementwise(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->elementwise_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &elementwise_spec, NULL);
    return state->elementwise_type && PyModule_AddType(module, state->elementwise_type) == 0;
}
