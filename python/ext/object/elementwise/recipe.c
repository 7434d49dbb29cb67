/* The launches of recipes. */
#include "ext/object/elementwise/recipe.h"

#include "ext/argument/launch_frame.h"
#include "ext/interrupt.h"
#include "ext/kernel_exception.h"
#include "ext/observation.h"
#include "ext/raise.h"
#include "ext/snapshot/number.h"

/* Whether the type holds an int; those beyond int64 are left to Python, and to its errors. */
static bool is_in_range(PyObject *value, const Type *type)
{
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow)
        return false;
    if (type->kind == TYPE_UINT)
        return number >= 0 && (type->size == 8 || number >> (8 * type->size) == 0);
    int unused = 64 - 8 * (int)type->size;
    return type->kind != TYPE_INT || (long long)((unsigned long long)number << unused) >> unused == number;
}

bool recipe_write_number(RecipeWriter *writer, PyObject *value, const Type *type)
{
    uint8_t bytes[16];
    if ((PyLong_CheckExact(value) && !is_in_range(value, type)) || !ext_store_number(value, type, bytes))
        return PyErr_Clear(), false;
    uint32_t parts = type->kind == TYPE_COMPLEX ? 2 : 1, size = type->size / parts;
    for (uint32_t i = 0; i < parts; i++)
        memcpy(writer->parameters + writer->field++->offset, bytes + i * size, size);
    return true;
}

void recipe_write_array(RecipeWriter *writer, const Type *type, RtPointer pointer, int64_t size)
{
    ext_write_array(writer->parameters, writer->field, type, false, pointer, &size, NULL);
    writer->field += 2; /* pointer and extent */
}

bool recipe_launch(const Recipe *recipe, int64_t size, RtStream *stream, uint8_t *parameters)
{
    Diag diag;
    bool launched, ran;
    JitOverflows overflows = {0};
    diag_clear(&diag);
    int64_t of_block = (int64_t)recipe->block * recipe->width;
    RtLaunch launch = {.grid = {(uint32_t)((size + of_block - 1) / of_block), 1, 1},
                       .block = {recipe->block, 1, 1},
                       .stream = stream,
                       .parameters = parameters,
                       .interrupted = ext_interrupt()};
    if (jit_launched(recipe->specialization)->is_silent) { /* it returns at once */
        launched = jit_launch(recipe->specialization, &launch, &overflows, &ran, &diag);
    } else {
        Py_BEGIN_ALLOW_THREADS launched = jit_launch(recipe->specialization, &launch, &overflows, &ran, &diag);
        Py_END_ALLOW_THREADS
    }
    bool told = ext_warn_of_overflows(&overflows, !launched);
    if (!launched)
        ext_raise(&diag);
    return ext_tell_lines(recipe->specialization) && launched && told;
}
