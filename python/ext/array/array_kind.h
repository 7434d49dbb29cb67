/* What the types of other libraries' arrays offer beside their protocols, found out once for each type. */
#ifndef CUJIT_EXT_ARRAY_KIND_H
#define CUJIT_EXT_ARRAY_KIND_H

#include "ext/array/dlpack.h"
#include "ext/state.h"

/* Attributes of cupy.ndarray, and from CUPY_PTR on of its MemoryPointer. */
typedef enum ExtCupyAttribute {
    CUPY_DATA,
    CUPY_DTYPE,
    CUPY_SIZE,
    CUPY_NDIM,
    CUPY_SHAPE,
    CUPY_STRIDES,
    CUPY_IS_CONTIGUOUS,
    CUPY_PTR,
    CUPY_DEVICE_ID,
    CUPY_ATTRIBUTES
} ExtCupyAttribute;

/* An attribute that is a function in C, as its descriptor calls it. */
typedef struct ExtGetter {
    getter get;
    void *closure;
} ExtGetter;

typedef struct ExtArrayKind {
    const DlpackExchange *exchange; /* DLPack's table; NULL: none */
    bool has_lazy_signs; /* torch's is_conj() and is_neg() */
    PyObject *cupy_stream; /* of cupy.ndarray itself: cupy.cuda.get_current_stream; else NULL */
    PyTypeObject *cupy_memory; /* cupy.cuda.MemoryPointer */
    ExtGetter cupy[CUPY_ATTRIBUTES];
} ExtArrayKind;

/* NULL for a type that offers neither; with an exception where that could not be found out (ext_forgive). */
const ExtArrayKind *ext_array_kind(ExtState *state, PyTypeObject *type);
/* Notes that a type has arrays and offers neither, so that it is not asked again. */
void ext_array_kind_is_plain(ExtState *state, PyTypeObject *type);
/* The stream that the library puts its work into now, on that GPU. False with an exception. */
bool ext_current_stream_of(const ExtArrayKind *kind, int ordinal, uint64_t *handle);

#endif
