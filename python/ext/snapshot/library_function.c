/* The index of cujit._kernel_functions, with the functions that numpy_functions/math.py makes of UFUNC rows, and the way from a path
 * to its row. */
#include "ext/snapshot/library_function.h"

#include <string.h>

const LibraryFunction library_functions[] = {
#define STANDS_FOR(PATH, MODULE, NAME, DOC) {PATH, MODULE, NAME, DOC},
#include "stands_for_index.inc"
#undef STANDS_FOR
#define UFUNC(ID, PATH, NUMPY, ARITY, RULE, F64, F32, HOST64, HOST32, DOC) \
    {NUMPY, "numpy_functions.math", &(NUMPY)[sizeof "numpy." - 1], DOC},
#include "core/intrinsic/intrinsic.def"
};
const int library_function_count = sizeof library_functions / sizeof library_functions[0];

const LibraryFunction *library_function_by_number(int number)
{
    return number < INTRINSIC_COUNT ? NULL : &library_functions[number - INTRINSIC_COUNT];
}

const LibraryFunction *library_function_of_module(const char *module, const char *path)
{
    for (int i = 0; i < library_function_count; i++)
        if (strcmp(library_functions[i].module, module) == 0 && intrinsic_has_spelling(library_functions[i].path, path))
            return &library_functions[i];
    return NULL;
}

const LibraryFunction *library_function_general(IntrinsicId id)
{
    for (int i = 0; i < library_function_count; i++)
        if (library_function_is_form(&library_functions[i]) &&
            strcmp(library_functions[i].path, intrinsic_info[id].path) == 0)
            return &library_functions[i];
    return NULL;
}
