/* What a kernel can be asked: to compile for given types, what it is compiled for, and the text of each stage. */
#include "ext/kernel/kernel_inspection.h"

#include "ext/argument/implementations.h"
#include "ext/argument/specialization.h"
#include "ext/object/device_object.h"
#include "ext/kernel/signature_object.h"
#include "ext/guard.h"
#include "ext/interrupt.h"
#include "ext/raise.h"
#include "ext/snapshot/type_value.h"
#include "core/base/memory.h"

/* A record as a parameter is a reference: an array without axes. */
static const Type *parameter_type(Arena *arena, const Type *type)
{
    if (type->kind == TYPE_RECORD)
        return type_array(arena, type, 0, LAYOUT_C, false);
    if (type->kind != TYPE_TUPLE)
        return type;
    const Type **items = ARENA_ARRAY(arena, const Type *, type->count);
    for (uint32_t i = 0; i < type->count; i++)
        items[i] = parameter_type(arena, type->items[i]);
    Type *tuple = arena_copy(arena, type, sizeof *type);
    tuple->items = items;
    return tuple;
}

typedef struct Parameters {
    Arena *arena;
    const Type *const *types;
    uint32_t count;
} Parameters;

static bool make_parameters(void *data)
{
    Parameters *made = data;
    const Type **parameters = ARENA_ARRAY(made->arena, const Type *, made->count);
    for (uint32_t i = 0; i < made->count; i++)
        parameters[i] = parameter_type(made->arena, made->types[i]);
    made->types = parameters;
    return true;
}

/* The parameter types of a tuple, in the arena, where there is one, as many as the function has parameters. */
static bool read_types(ExtKernel *self, PyObject *tuple, Arena *arena, const Type *const **types, uint32_t *count)
{
    if (!arena || !ext_kernel_is_ready(self) || !ext_types_of_tuple(self->state, tuple, arena, types, count))
        return false;
    Py_ssize_t arity = ext_kernel_arity(self);
    Parameters parameters = {arena, *types, *count};
    if (!ext_guard(make_parameters, &parameters))
        return false;
    *types = parameters.types;
    if (*count == (size_t)arity || (*count > (size_t)arity && ext_kernel_takes_rest(self)))
        return true;
    ext_raise_id(DIAG_LAUNCH_ARITY, ext_kernel_name(self), (int)arity, arity == 1 ? "" : "s", (int)*count);
    return false;
}

static const JitSpecialization *specialize(ExtKernel *self, PyObject *tuple)
{
    Arena *arena = ext_arena();
    const Type *const *types;
    uint32_t count;
    const JitSpecialization *found = NULL;
    RtDevice *device = NULL;
    if (read_types(self, tuple, arena, &types, &count) && (device = ext_current_device(self->state)))
        found = ext_kernel_specialize(self, device, types, count);
    arena_destroy(arena);
    return found;
}

static PyObject *result_type(ExtKernel *self, PyObject *tuple, bool is_stored)
{
    Arena *arena = ext_arena();
    const Type *const *types, *result = NULL;
    uint32_t count;
    PyObject *object = NULL;
    if (read_types(self, tuple, arena, &types, &count) && ext_kernel_prepare(self) &&
        ext_choose_implementations(self, types, count)) {
        Diag diag = {.id = DIAG_NONE};
        Py_BEGIN_ALLOW_THREADS result = jit_result_type(self->function, types, count, is_stored, arena, &diag);
        Py_END_ALLOW_THREADS object = result ? ext_type_object(self->state, result) : ext_raise(&diag);
    }
    arena_destroy(arena);
    return object;
}

PyObject *ext_kernel_result_type(ExtKernel *self, PyObject *tuple) { return result_type(self, tuple, false); }

PyObject *ext_kernel_stored_type(ExtKernel *self, PyObject *tuple) { return result_type(self, tuple, true); }

/* Device functions have no code of their own: their types are checked. */
PyObject *ext_kernel_compile(ExtKernel *self, PyObject *tuple)
{
    if (!self->is_device)
        return specialize(self, tuple) ? Py_NewRef(Py_None) : NULL;
    PyObject *result = ext_kernel_result_type(self, tuple);
    if (!result)
        return NULL;
    Py_DECREF(result);
    Py_RETURN_NONE;
}

PyObject *ext_kernel_compiled_types(ExtKernel *self, PyObject *Py_UNUSED(ignored))
{
    Arena *arena = ext_arena();
    ExtCompiled compiled = {.arena = arena};
    PyObject *list = arena && ext_compiled_signatures(self, &compiled) ? PyList_New(compiled.count) : NULL;
    for (uint32_t i = 0; list && i < compiled.count; i++) {
        const JitSignature *each = &compiled.signatures[i];
        PyObject *types = ext_tuple_of_types(self->state, each->arguments, each->count);
        if (types)
            PyList_SET_ITEM(list, i, types);
        else
            Py_CLEAR(list);
    }
    arena_destroy(arena);
    return list;
}

/* Of a specialization and its types; NULL with an exception, or without one where it has no row. */
typedef PyObject *(*RowOf)(const JitSpecialization *specialization, PyObject *types);

typedef struct RowList {
    ExtState *state;
    RowOf row_of;
    PyObject *list; /* NULL: with an exception */
} RowList;

static void add_row(const JitSpecialization *specialization, void *user)
{
    RowList *rows = user;
    uint32_t count;
    const Type *const *types = jit_types(specialization, &count);
    if (!rows->list)
        return;
    PyObject *tuple = ext_tuple_of_types(rows->state, types, count);
    PyObject *row = tuple ? rows->row_of(specialization, tuple) : NULL;
    if (row ? PyList_Append(rows->list, row) < 0 : PyErr_Occurred() != NULL)
        Py_CLEAR(rows->list);
    Py_XDECREF(row);
    Py_XDECREF(tuple);
}

static PyObject *list_rows(const ExtKernel *self, RowOf row_of)
{
    RowList rows = {self->state, row_of, PyList_New(0)};
    if (self->function)
        jit_each_specialization(self->function, add_row, &rows);
    return rows.list;
}

static PyObject *loaded_row(const JitSpecialization *specialization, PyObject *types)
{
    return jit_from_disk(specialization) ? Py_NewRef(types) : NULL;
}

static PyObject *variant_row(const JitSpecialization *specialization, PyObject *types)
{
    return Py_BuildValue("OI", types, jit_variant_count(specialization));
}

static PyObject *quick_row(const JitSpecialization *specialization, PyObject *types)
{
    uint32_t replaced, quick = jit_quick_count(specialization, &replaced);
    return Py_BuildValue("OII", types, quick, replaced);
}

PyObject *ext_kernel_loaded_types(ExtKernel *self, PyObject *Py_UNUSED(ignored)) { return list_rows(self, loaded_row); }

PyObject *ext_kernel_variant_counts(ExtKernel *self, PyObject *Py_UNUSED(ignored))
{
    return list_rows(self, variant_row);
}

PyObject *ext_kernel_quick_counts(ExtKernel *self, PyObject *Py_UNUSED(ignored)) { return list_rows(self, quick_row); }

bool ext_read_target(ExtState *state, PyObject *sm, Target *target)
{
    if (sm == Py_None) {
        RtDevice *device = ext_current_device(state);
        Diag diag = {.id = DIAG_NONE};
        if (device && !jit_target_of_device(device, target, &diag))
            ext_raise(&diag);
        return !PyErr_Occurred();
    }
    long number = PyLong_AsLong(sm);
    if (number == -1 && PyErr_Occurred())
        return false;
    *target = (Target){.kind = TARGET_NVPTX, .gpu = target_gpu((int)number)};
    if (target->gpu)
        return true;
    char name[32], known[256] = "";
    snprintf(name, sizeof name, "sm_%ld", number);
    for (int i = 0; i < target_gpu_count; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", target_gpus[i].name);
    ext_raise_id(DIAG_TARGET_UNKNOWN, name, known);
    return false;
}

PyObject *ext_take_text(char *text, const Diag *diag)
{
    if (!text)
        return ext_raise(diag);
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    memory_free(text);
    return result;
}

static PyObject *take_bytes(char *bytes, size_t size)
{
    PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    memory_free(bytes);
    return result;
}

static bool raise_unknown_stage(void *what)
{
    Buf known = {0};
    jit_list_stages(&known);
    PyErr_Format(PyExc_ValueError, "'%s' is not one of %s", (const char *)what, buf_text(&known));
    buf_free(&known);
    return false;
}

static bool is_stage(const char *what)
{
    return jit_stage(what) != JIT_STAGE_UNKNOWN || ext_guard(raise_unknown_stage, (void *)what);
}

/* A row of foreign_abi_names; NULL text: none. */
static bool read_abi(const char *text, ForeignAbi *abi)
{
    for (*abi = 0; text && *abi < FOREIGN_ABI_COUNT; (*abi)++)
        if (strcmp(text, foreign_abi_names[*abi]) == 0)
            return true;
    if (text)
        PyErr_Format(PyExc_ValueError, "'%s' is no calling convention", text);
    return !text;
}

PyObject *ext_kernel_inspect(ExtKernel *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"what", "types", "sm", "abi", "forceinline", "any_launch", NULL};
    const char *what, *convention = NULL;
    PyObject *tuple, *sm = Py_None;
    int is_inlined = 0, is_any_launch = 0;
    ForeignAbi abi;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|Ozpp:inspect", names, &what, &tuple, &sm, &convention,
                                     &is_inlined, &is_any_launch) ||
        !is_stage(what) || !read_abi(convention, &abi))
        return NULL;
    Arena *arena = ext_arena();
    const Type *const *types;
    uint32_t count;
    Target target = {.kind = TARGET_HOST};
    PyObject *result = NULL;
    bool wants_target = jit_stage(what) == JIT_STAGE_TARGET;
    if (read_types(self, tuple, arena, &types, &count) && ext_kernel_prepare(self) &&
        ext_choose_implementations(self, types, count) &&
        (!wants_target || ext_read_target(self->state, sm, &target))) {
        Diag diag = {.id = DIAG_NONE};
        char *text;
        size_t size = 0;
        const ForeignExport how = {abi, is_inlined}, *exported = convention ? &how : NULL;
        Py_BEGIN_ALLOW_THREADS text = jit_inspect(self->function, types, count, &target, !self->is_device,
                                                  is_any_launch, what, exported, &size, &diag);
        Py_END_ALLOW_THREADS result =
            text && strcmp(what, "object") == 0 ? take_bytes(text, size) : ext_take_text(text, &diag);
    }
    arena_destroy(arena);
    return result;
}

/* What is asked of a GPU's kernel is asked of its optimized code. NULL with an exception. */
static RtKernel *optimized(const JitSpecialization *found)
{
    Diag diag = {.id = DIAG_NONE};
    ExtInterrupt interrupt = ext_interrupt();
    if (rt_device_kind(jit_device(found)) == RT_CPU || jit_is_optimized(found))
        return jit_kernel(found);
    RtKernel *kernel;
    Py_BEGIN_ALLOW_THREADS kernel = jit_optimized_kernel(found, interrupt, &diag);
    Py_END_ALLOW_THREADS if (!kernel) ext_raise(&diag);
    return kernel;
}

PyObject *ext_kernel_attribute(ExtKernel *self, PyObject *args)
{
    PyObject *tuple;
    int number, value;
    if (!PyArg_ParseTuple(args, "Oi:attribute", &tuple, &number))
        return NULL;
    const JitSpecialization *found = specialize(self, tuple);
    RtKernel *kernel = found ? optimized(found) : NULL;
    Diag diag = {.id = DIAG_NONE};
    if (!kernel)
        return NULL;
    return rt_kernel_attribute(kernel, number, &value, &diag) ? PyLong_FromLong(value) : ext_raise(&diag);
}

PyObject *ext_kernel_occupancy(ExtKernel *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"types", "shared", NULL};
    PyObject *tuple;
    Py_ssize_t shared = 0;
    int blocks, threads;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|n:occupancy", names, &tuple, &shared))
        return NULL;
    const JitSpecialization *found = specialize(self, tuple);
    RtKernel *kernel = found ? optimized(found) : NULL;
    Diag diag = {.id = DIAG_NONE};
    if (!kernel)
        return NULL;
    bool ok = rt_kernel_occupancy(kernel, (size_t)(shared < 0 ? 0 : shared), &blocks, &threads, &diag);
    return ok ? Py_BuildValue("ii", blocks, threads) : ext_raise(&diag);
}

PyObject *ext_kernel_resident_blocks(ExtKernel *self, PyObject *args)
{
    PyObject *tuple;
    Py_ssize_t shared;
    int threads, blocks;
    if (!PyArg_ParseTuple(args, "Oin:resident_blocks", &tuple, &threads, &shared))
        return NULL;
    const JitSpecialization *found = specialize(self, tuple);
    RtKernel *kernel = found ? optimized(found) : NULL;
    Diag diag = {.id = DIAG_NONE};
    if (!kernel)
        return NULL;
    size_t bytes = (size_t)(shared < 0 ? 0 : shared);
    return rt_kernel_resident_blocks(kernel, threads, bytes, &blocks, &diag) ? PyLong_FromLong(blocks)
                                                                             : ext_raise(&diag);
}
