/* Calls of functions over arrays of the host, by a recipe. The CPU device computes in place. For a GPU the elements go
 * through page-locked memory, which its kernel reads and writes by itself: no copy is ordered, no memory of the device is
 * asked for. Arrays of more than one slot take turns in several: the host copies while the device computes, and where there
 * are many parts a second thread takes the results out. */
#include "ext/object/elementwise/elementwise_host.h"

#include "core/thread/own_stack.h"
#include "ext/array/element_types.h"
#include "ext/guard.h"
#include "ext/raise.h"

/* Memory is copied fastest while it is in the host's caches. Two parts let copies and the device overlap where there is
 * something to win; each costs a launch (2^16 floats on an H100, C: one part 79 us, two 74, four 82). From MANY_PARTS on a
 * thread that takes out is worth its start. Results of MOST_BYTES are copied by as many threads as there are cores
 * (cuda_staging.c). */
enum {
    SLOTS = 3,
    SLOT_BYTES = 768 << 10,
    LEAST_SLOT_BYTES = 384 << 10,
    FEW_PARTS = 2,
    MANY_PARTS = 8,
    MOST_BYTES = 16 << 20,
    SLOT_ALIGNMENT = 256
};

/* --- whether a call is of a kind -------------------------------------------------------------------------------------- */
/* The element type of an array that kernels can use in place; NULL where they cannot. */
static const Type *element_of(ExtState *state, PyObject *value)
{
    PyArrayObject *array = (PyArrayObject *)value;
    if (!PyArray_CheckExact(value) || !PyArray_IS_C_CONTIGUOUS(array) || !PyArray_ISALIGNED(array) ||
        PyArray_NDIM(array) == 0)
        return NULL;
    const Type *element = ext_element_type(state, PyArray_DESCR(array));
    if (!element)
        ext_forgive();
    return element;
}

bool ext_host_call_read(ExtState *state, PyObject *const *args, size_t count, PyObject *given_out, HostCall *call)
{
    if (count > RECIPE_INPUTS)
        return false;
    call->args = args;
    call->shaped = call->out = NULL;
    call->out_element = NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_array = PyArray_Check(args[i]);
        call->arrays[i] = is_array ? (PyArrayObject *)args[i] : NULL;
        call->elements[i] = is_array ? element_of(state, args[i]) : NULL;
        if (is_array && !call->elements[i])
            return false;
        if (is_array && !call->shaped)
            call->shaped = call->arrays[i];
    }
    if (given_out && PyArray_Check(given_out)) {
        call->out = (PyArrayObject *)given_out;
        call->out_element = element_of(state, given_out);
    }
    return call->shaped && PyArray_SIZE(call->shaped) > 0 && (!given_out || call->out_element);
}

static bool same_shape(PyArrayObject *a, PyArrayObject *b)
{
    return PyArray_NDIM(a) == PyArray_NDIM(b) &&
           PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

/* Whether writing the one leaves what is still to be read of the other alone. */
static bool is_apart(PyArrayObject *out, PyArrayObject *in)
{
    const char *first = PyArray_BYTES(out), *other = PyArray_BYTES(in);
    bool same = first == other && PyArray_ITEMSIZE(out) == PyArray_ITEMSIZE(in);
    return same || first + PyArray_NBYTES(out) <= other || other + PyArray_NBYTES(in) <= first;
}

bool ext_host_call_fits(const HostCall *call, const Recipe *recipe)
{
    PyArrayObject *out = call->out;
    if (out && (call->out_element != recipe->element || !PyArray_ISWRITEABLE(out) || !same_shape(out, call->shaped)))
        return false;
    for (uint32_t i = 0; i < recipe->count; i++) {
        PyArrayObject *array = call->arrays[i];
        if (call->elements[i] != recipe->elements[i])
            return false;
        if (!array && Py_TYPE(call->args[i]) != recipe->classes[i])
            return false;
        if (array && (!same_shape(array, call->shaped) || (out && !is_apart(out, array))))
            return false;
    }
    return true;
}

/* --- the parameters ------------------------------------------------------------------------------------------------------- */
/* pointers: of each array among the inputs, and of the result. False where a number has to be converted in Python. */
static bool write_parameters(const HostCall *call, const Recipe *recipe, const RtPointer *pointers, int64_t size,
                             uint8_t *parameters)
{
    uint32_t count;
    const Type *const *types = jit_types(recipe->specialization, &count);
    RecipeWriter writer = {jit_abi(recipe->specialization)->fields, parameters};
    for (uint32_t i = 0; i < recipe->count; i++) {
        if (call->arrays[i])
            recipe_write_array(&writer, types[i], pointers[i], size);
        else if (!recipe_write_number(&writer, call->args[i], types[i]))
            return false;
    }
    recipe_write_array(&writer, types[recipe->count], pointers[recipe->count], size);
    return true;
}

static RtPointer address(PyArrayObject *array) { return (RtPointer)(uintptr_t)PyArray_DATA(array); }

/* --- the CPU device --------------------------------------------------------------------------------------------------------- */
static bool run_in_place(const HostCall *call, const Recipe *recipe, PyArrayObject *out)
{
    uint8_t parameters[RECIPE_BYTES];
    RtPointer pointers[RECIPE_INPUTS + 1] = {0};
    for (uint32_t i = 0; i < recipe->count; i++)
        if (call->arrays[i])
            pointers[i] = address(call->arrays[i]);
    pointers[recipe->count] = address(out);
    return write_parameters(call, recipe, pointers, PyArray_SIZE(out), parameters) &&
           recipe_launch(recipe, PyArray_SIZE(out), NULL, parameters);
}

/* --- a GPU -------------------------------------------------------------------------------------------------------------------- */
/* The page-locked memory of a call: in each slot, behind each other, a part of each operand. */
typedef struct Slots {
    RtDevice *device;
    RtHostBuffer memory;
    int64_t elements; /* of a slot */
    size_t offsets[RECIPE_INPUTS + 1], size; /* of an operand in a slot, of a slot */
    uint32_t count;
    RtEvent *done[SLOTS]; /* only where there are several slots */
} Slots;

/* Elements of a slot of so many bytes, with so many bytes for each element; at least 1024, of which kernels are made. */
static int64_t elements_in(size_t bytes, size_t of_element)
{
    int64_t whole = (int64_t)(bytes / of_element) / 1024 * 1024;
    return whole ? whole : 1024;
}

static size_t aligned(size_t size) { return (size + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT; }

static void lay_out(Slots *slots, const HostCall *call, const Recipe *recipe)
{
    size_t of_element = recipe->element->size;
    for (uint32_t i = 0; i < recipe->count; i++)
        of_element += call->arrays[i] ? recipe->elements[i]->size : 0;
    int64_t all = PyArray_SIZE(call->shaped), most = elements_in(SLOT_BYTES, of_element);
    int64_t least = elements_in(LEAST_SLOT_BYTES, of_element), wanted = (all / FEW_PARTS + 1023) / 1024 * 1024;
    slots->elements = wanted < least ? least : wanted > most ? most : wanted;
    if (slots->elements > all)
        slots->elements = all;
    slots->count = slots->elements == all ? 1 : SLOTS;
    slots->size = 0;
    for (uint32_t i = 0; i <= recipe->count; i++) {
        const Type *element = i < recipe->count ? recipe->elements[i] : recipe->element;
        slots->offsets[i] = slots->size;
        slots->size += element ? aligned((size_t)slots->elements * element->size) : 0;
    }
}

static bool open_slots(Slots *slots, Diag *diag)
{
    bool ok; /* it may wait for the device */
    Py_BEGIN_ALLOW_THREADS ok =
        rt_allocate_host(slots->device, RT_HOST_PINNED, slots->size * slots->count, &slots->memory, diag);
    Py_END_ALLOW_THREADS if (!ok) return false;
    for (uint32_t i = 0; slots->count > 1 && i < slots->count; i++)
        if (!(slots->done[i] = rt_event_create(slots->device, false, diag)))
            return false;
    return true;
}

/* Where not all is taken out, a kernel may still be at work in a slot. */
static bool close_slots(Slots *slots, bool is_done, Diag *diag)
{
    Diag ignored;
    Diag *own = diag_failed(diag) ? &ignored : diag;
    diag_clear(&ignored);
    bool ok = is_done || rt_stream_synchronize(slots->device, NULL, own);
    slots->memory.is_idle = ok;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (slots->done[i])
            rt_event_destroy(slots->done[i]);
    if (slots->memory.host)
        ok = rt_free_host(slots->device, &slots->memory, own) && ok;
    return ok;
}

/* A part of the elements, and the slot that it is in. */
typedef struct Part {
    int64_t first, size;
    uint32_t slot;
} Part;

static Part part_of(const Slots *slots, int64_t number, int64_t all)
{
    Part part = {.first = number * slots->elements, .slot = (uint32_t)(number % slots->count)};
    part.size = all - part.first < slots->elements ? all - part.first : slots->elements;
    return part;
}

static void copy_in(const Slots *slots, const HostCall *call, const Recipe *recipe, Part part)
{
    char *slot = (char *)slots->memory.host + part.slot * slots->size;
    for (uint32_t i = 0; i < recipe->count; i++)
        if (call->arrays[i]) {
            size_t item = recipe->elements[i]->size;
            memcpy(slot + slots->offsets[i], PyArray_BYTES(call->arrays[i]) + (size_t)part.first * item,
                   (size_t)part.size * item);
        }
}

static void copy_out(const Slots *slots, const Recipe *recipe, PyArrayObject *out, Part part)
{
    size_t item = recipe->element->size;
    const char *slot = (const char *)slots->memory.host + part.slot * slots->size;
    memcpy(PyArray_BYTES(out) + (size_t)part.first * item, slot + slots->offsets[recipe->count],
           (size_t)part.size * item);
}

/* Waits for what the slot has, and takes it out. */
static bool take_out(const Slots *slots, const Recipe *recipe, PyArrayObject *out, Part part, Diag *diag)
{
    bool done;
    Py_BEGIN_ALLOW_THREADS done = slots->count > 1 ? rt_event_synchronize(slots->done[part.slot], diag)
                                                   : rt_stream_synchronize(slots->device, NULL, diag);
    if (done)
        copy_out(slots, recipe, out, part);
    Py_END_ALLOW_THREADS return done;
}

/* False with an exception or with a diagnostic. */
static bool start(const Slots *slots, const HostCall *call, const Recipe *recipe, Part part, Diag *diag)
{
    uint8_t parameters[RECIPE_BYTES];
    RtPointer pointers[RECIPE_INPUTS + 1];
    for (uint32_t i = 0; i <= recipe->count; i++)
        pointers[i] = slots->memory.device + part.slot * slots->size + slots->offsets[i];
    Py_BEGIN_ALLOW_THREADS copy_in(slots, call, recipe, part);
    Py_END_ALLOW_THREADS return write_parameters(call, recipe, pointers, part.size, parameters) &&
        recipe_launch(recipe, part.size, NULL, parameters) &&
        (slots->count == 1 || rt_event_record(slots->done[part.slot], NULL, diag));
}

static bool run_parts(const Slots *slots, const HostCall *call, const Recipe *recipe, PyArrayObject *out, Diag *diag)
{
    int64_t all = PyArray_SIZE(out), count = (all + slots->elements - 1) / slots->elements;
    for (int64_t i = 0; i < count + slots->count; i++) {
        int64_t before = i - slots->count;
        if (before >= 0 && before < count && !take_out(slots, recipe, out, part_of(slots, before, all), diag))
            return false;
        if (i < count && !start(slots, call, recipe, part_of(slots, i, all), diag))
            return false;
    }
    return true;
}

/* --- a thread that takes results out ------------------------------------------------------------------------------------- */
typedef struct Taker {
    const Slots *slots;
    const Recipe *recipe;
    PyArrayObject *out;
    int64_t all, count; /* elements, parts */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int64_t started, taken; /* parts; by the caller, by the thread */
    bool is_over; /* one of the two has failed */
    Diag diag; /* of the thread */
} Taker;

/* Waits until there are so many. False where it is over before. */
static bool reaches(Taker *taker, const int64_t *counter, int64_t wanted)
{
    pthread_mutex_lock(&taker->lock);
    while (*counter < wanted && !taker->is_over)
        pthread_cond_wait(&taker->moved, &taker->lock);
    bool reached = *counter >= wanted && !taker->is_over;
    pthread_mutex_unlock(&taker->lock);
    return reached;
}

static void advance(Taker *taker, int64_t *counter, bool ok)
{
    pthread_mutex_lock(&taker->lock);
    *counter += ok;
    taker->is_over = taker->is_over || !ok;
    pthread_cond_broadcast(&taker->moved);
    pthread_mutex_unlock(&taker->lock);
}

static void *take_parts(void *argument)
{
    Taker *taker = argument;
    for (int64_t i = 0; i < taker->count && reaches(taker, &taker->started, i + 1); i++) {
        Part part = part_of(taker->slots, i, taker->all);
        bool done = rt_event_synchronize(taker->slots->done[part.slot], &taker->diag);
        if (done)
            copy_out(taker->slots, taker->recipe, taker->out, part);
        advance(taker, &taker->taken, done);
    }
    return NULL;
}

static bool start_parts(Taker *taker, const HostCall *call, Diag *diag)
{
    bool ok = true;
    for (int64_t i = 0; i < taker->count && ok; i++) {
        Py_BEGIN_ALLOW_THREADS ok = reaches(taker, &taker->taken, i + 1 - taker->slots->count);
        Py_END_ALLOW_THREADS if (!ok) break;
        ok = start(taker->slots, call, taker->recipe, part_of(taker->slots, i, taker->all), diag);
        advance(taker, &taker->started, ok);
    }
    return ok;
}

/* *ok: as run_parts(). False where the system refuses a thread; then nothing was done. */
static bool run_with_taker(const Slots *slots, const HostCall *call, const Recipe *recipe, PyArrayObject *out, bool *ok,
                           Diag *diag)
{
    int64_t all = PyArray_SIZE(out);
    Taker taker = {.slots = slots, .recipe = recipe, .out = out, .all = all};
    taker.count = (all + slots->elements - 1) / slots->elements;
    diag_clear(&taker.diag);
    pthread_mutex_init(&taker.lock, NULL);
    pthread_cond_init(&taker.moved, NULL);
    bool is_there = taker.count >= MANY_PARTS && start_without_signals(&taker.thread, NULL, take_parts, &taker) == 0;
    if (is_there) {
        *ok = start_parts(&taker, call, diag);
        Py_BEGIN_ALLOW_THREADS pthread_join(taker.thread, NULL);
        Py_END_ALLOW_THREADS if (diag_failed(&taker.diag))
        {
            *ok = false;
            if (!diag_failed(diag))
                *diag = taker.diag;
        }
    }
    pthread_cond_destroy(&taker.moved);
    pthread_mutex_destroy(&taker.lock);
    return is_there;
}

static bool run_through_slots(const HostCall *call, const Recipe *recipe, PyArrayObject *out)
{
    Diag diag;
    Slots slots = {.device = jit_device(recipe->specialization)};
    diag_clear(&diag);
    lay_out(&slots, call, recipe);
    bool ok = open_slots(&slots, &diag);
    if (ok && !run_with_taker(&slots, call, recipe, out, &ok, &diag))
        ok = run_parts(&slots, call, recipe, out, &diag);
    ok = close_slots(&slots, ok, &diag) && ok;
    if (diag_failed(&diag) && !PyErr_Occurred())
        ext_raise(&diag);
    return ok;
}

/* --- the call ----------------------------------------------------------------------------------------------------------------- */
static bool is_done_here(const HostCall *call, const Recipe *recipe)
{
    RtDevice *device = jit_device(recipe->specialization);
    if (rt_device_kind(device) == RT_CPU)
        return !rt_graph_recorded();
    return (size_t)PyArray_SIZE(call->shaped) * recipe->element->size < MOST_BYTES && !rt_graph_recorded();
}

/* Whether all numbers can be written; parameters that come of it are not used. */
static bool can_write_numbers(const HostCall *call, const Recipe *recipe)
{
    uint8_t parameters[RECIPE_BYTES];
    RtPointer pointers[RECIPE_INPUTS + 1] = {0};
    return write_parameters(call, recipe, pointers, 0, parameters);
}

PyObject *ext_host_call_run(const HostCall *call, const Recipe *recipe)
{
    if (!is_done_here(call, recipe) || !can_write_numbers(call, recipe))
        return NULL;
    PyObject *out = Py_XNewRef((PyObject *)call->out);
    if (!out)
        out = PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)recipe->dtype),
                                   PyArray_NDIM(call->shaped), PyArray_DIMS(call->shaped), NULL, NULL, 0, NULL);
    if (!out)
        return NULL;
    bool ok = rt_device_kind(jit_device(recipe->specialization)) == RT_CPU
                  ? run_in_place(call, recipe, (PyArrayObject *)out)
                  : run_through_slots(call, recipe, (PyArrayObject *)out);
    if (!ok)
        Py_CLEAR(out);
    return out;
}
