/* Finds out the types of a launch's arguments and chooses: the specialization for exactly these types, or, where the
 * kernel is limited to given signatures, the one that the arguments convert to at least cost. */
#include "ext/argument/specialization.h"

#include "ext/argument/argument_types.h"
#include "ext/guard.h"
#include "ext/raise.h"

static const Type *const *argument_types(ExtKernel *kernel, PyObject *const *args, Py_ssize_t count, Arena *arena)
{
    const Type **types = ext_arena_alloc(arena, (size_t)count * sizeof *types);
    for (Py_ssize_t i = 0; types && i < count; i++) {
        types[i] = ext_argument_type(kernel->state, args[i], arena);
        if (!types[i]) {
            ext_raise_argument(kernel, i);
            return NULL;
        }
    }
    return types;
}

typedef struct Mismatch {
    ExtKernel *kernel;
    const ExtCompiled *compiled;
    const Type *const *types;
    uint32_t count;
    int equals[2]; /* signatures that fit as well */
} Mismatch;

/* Arrays of numbers: what makes one of the other's elements. */
static const char *conversion_hint(const ExtKernel *kernel, const Type *given, const Type *wanted, uint32_t place,
                                   char *hint, size_t size)
{
    char name[100];
    bool is_near = given->kind == TYPE_ARRAY && wanted->kind == TYPE_ARRAY && given->ndim == wanted->ndim;
    if (!is_near || !type_is_scalar(given->element) || !type_is_scalar(wanted->element) ||
        type_equal(given->element, wanted->element))
        return "";
    Buf element = {0};
    type_describe(&element, wanted->element);
    ext_parameter_name(kernel, place, name, sizeof name);
    snprintf(hint, size, "; %s.astype(np.%s) makes one", name, buf_text(&element));
    buf_free(&element);
    return hint;
}

/* No signature takes the arguments. With one signature the parameter at fault is named. */
static bool raise_mismatch(void *data)
{
    const Mismatch *mismatch = data;
    const ExtCompiled *compiled = mismatch->compiled;
    const Type *const *types = mismatch->types;
    char hint[200];
    Buf given = {0}, known = {0};
    const JitSignature *only =
        compiled->count == 1 && compiled->signatures->count == mismatch->count ? compiled->signatures : NULL;
    for (uint32_t i = 0; only && i < mismatch->count; i++) {
        if (jit_conversion_cost(types[i], only->arguments[i]) >= 0)
            continue;
        type_describe(&given, types[i]);
        type_describe(&known, only->arguments[i]);
        PyErr_Format(PyExc_TypeError, "%s does not convert to %s%s", buf_text(&given), buf_text(&known),
                     conversion_hint(mismatch->kernel, types[i], only->arguments[i], i, hint, sizeof hint));
        ext_raise_argument(mismatch->kernel, i);
        goto out;
    }
    jit_describe_types(&given, types, mismatch->count);
    for (uint32_t i = 0; i < compiled->count; i++) {
        buf_add(&known, i ? "; (" : "(");
        jit_describe_types(&known, compiled->signatures[i].arguments, compiled->signatures[i].count);
        buf_add(&known, ")");
    }
    ext_raise_id(DIAG_LAUNCH_SIGNATURE, ext_kernel_name(mismatch->kernel), buf_text(&given),
                 compiled->count ? buf_text(&known) : "nothing");
out:
    buf_free(&given);
    buf_free(&known);
    return false;
}

/* Both signatures fit as well as each other. */
static bool raise_ambiguous(void *data)
{
    const Mismatch *mismatch = data;
    Buf texts[3] = {{0}};
    jit_describe_types(&texts[0], mismatch->types, mismatch->count);
    for (int i = 0; i < 2; i++) {
        buf_add(&texts[1 + i], "(");
        jit_describe_types(&texts[1 + i], mismatch->compiled->signatures[mismatch->equals[i]].arguments,
                           mismatch->count);
        buf_add(&texts[1 + i], ")");
    }
    ext_raise_id(DIAG_LAUNCH_AMBIGUOUS, ext_kernel_name(mismatch->kernel), buf_text(&texts[0]), buf_text(&texts[1]),
                 buf_text(&texts[2]));
    for (int i = 0; i < 3; i++)
        buf_free(&texts[i]);
    return false;
}

static const JitSpecialization *choose_given(ExtKernel *kernel, RtDevice *device, const Type *const *types,
                                             uint32_t count, Arena *arena, bool *converts)
{
    ExtCompiled compiled = {.arena = arena};
    if (!ext_compiled_signatures(kernel, &compiled))
        return NULL;
    int second, chosen = jit_choose_signature(compiled.signatures, compiled.count, types, count, &second);
    if (chosen < 0 || second >= 0) {
        Mismatch mismatch = {kernel, &compiled, types, count, {chosen, second}};
        ext_guard(chosen < 0 ? raise_mismatch : raise_ambiguous, &mismatch);
        return NULL;
    }
    *converts = true;
    return ext_kernel_specialize(kernel, device, compiled.signatures[chosen].arguments, count);
}

const JitSpecialization *ext_choose_specialization(ExtKernel *kernel, RtDevice *device, PyObject *const *args,
                                                   Py_ssize_t count, bool *converts)
{
    Arena *arena = ext_arena();
    const JitSpecialization *found = NULL;
    const Type *const *types = arena ? argument_types(kernel, args, count, arena) : NULL;
    *converts = false;
    if (types && kernel->is_frozen)
        found = choose_given(kernel, device, types, (uint32_t)count, arena, converts);
    else if (types)
        found = ext_kernel_specialize(kernel, device, types, (uint32_t)count);
    arena_destroy(arena);
    return found;
}

/* With several signatures, arguments that convert to this one may fit another one better: only exact ones take the
 * short way. */
void ext_remember_specialization(ExtKernel *kernel, const JitSpecialization *specialization, bool converts)
{
    ExtCompiled compiled = {.arena = converts ? ext_arena() : NULL};
    bool is_known = compiled.arena && ext_compiled_signatures(kernel, &compiled);
    PyErr_Clear(); /* without the memory to know better, this one is an exact one */
    ext_kernel_set_last(kernel, (ExtLast){specialization, is_known && compiled.count == 1});
    arena_destroy(compiled.arena);
}
