/* Functions in the kernel language that stand for names of Python: the index of cujit._kernel_functions, which the build
 * makes of the decorators there (scripts/stands_for_index.py), and NumPy's names of UFUNC rows. */
#ifndef CUJIT_EXT_LIBRARY_FUNCTION_H
#define CUJIT_EXT_LIBRARY_FUNCTION_H

#include "core/intrinsic/intrinsic.h"

typedef struct LibraryFunction {
    const char *path; /* "numpy.abs numpy.absolute": spellings apart by spaces */
    const char *module, *name; /* where it is, below cujit._kernel_functions */
    const char *doc; /* "": it is for forms of calls of the intrinsic with that path */
} LibraryFunction;

extern const LibraryFunction library_functions[];
extern const int library_function_count;

/* What a path or an object leads to is a number: an IntrinsicId, or behind those a place in library_functions. */
static inline int library_function_number(int place) { return INTRINSIC_COUNT + place; }
static inline bool library_function_is_form(const LibraryFunction *function) { return !*function->doc; }
/* NULL for an intrinsic. */
const LibraryFunction *library_function_by_number(int number);
/* The function of that module with that path as one of its spellings, or NULL. */
const LibraryFunction *library_function_of_module(const char *module, const char *path);
/* What answers for forms of calls that the intrinsic's handler leaves to it, or NULL. */
const LibraryFunction *library_function_general(IntrinsicId id);

#endif
