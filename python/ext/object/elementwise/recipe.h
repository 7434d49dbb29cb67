/* How one kind of call of a function over arrays was launched, for the next call of that kind: the parameters of its kernel are
 * arrays of one axis without gaps, and numbers. */
#ifndef CUJIT_EXT_RECIPE_H
#define CUJIT_EXT_RECIPE_H

#include "ext/kernel.h"
#include "ext/state.h"

enum { RECIPE_INPUTS = 8, RECIPE_BYTES = 512 };

typedef struct Recipe {
    uint32_t count;
    const Type *elements[RECIPE_INPUTS]; /* of an array; NULL: a number */
    PyTypeObject *classes[RECIPE_INPUTS]; /* of a number; owned, else NULL */
    ExtKernel *kernel; /* owned */
    const JitSpecialization *specialization;
    const Type *element; /* of the result */
    PyArray_Descr *dtype; /* owned */
    PyTypeObject *class; /* owned */
    uint32_t block, width; /* threads of a block, elements of a thread */
    bool is_wide; /* arrays must lie at multiples of 16 bytes */
} Recipe;

/* Where the parameters of a launch are written. */
typedef struct RecipeWriter {
    const AbiField *field;
    uint8_t *parameters; /* RECIPE_BYTES */
} RecipeWriter;

/* False where the number has to be converted in Python. */
bool recipe_write_number(RecipeWriter *writer, PyObject *value, const Type *type);
void recipe_write_array(RecipeWriter *writer, const Type *type, RtPointer pointer, int64_t size);
/* For so many elements. False with an exception. Gives up the GIL where it may last. */
bool recipe_launch(const Recipe *recipe, int64_t size, RtStream *stream, uint8_t *parameters);

#endif
