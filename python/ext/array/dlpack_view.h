/* What is read of arrays by DLPack, by its table or its methods, and of CuPy's arrays. Each fills the view: 1; or gives -1
 * with an exception. */
#ifndef CUJIT_EXT_DLPACK_VIEW_H
#define CUJIT_EXT_DLPACK_VIEW_H

#include "ext/array/array_kind.h"
#include "ext/array/array_view.h"

/* By the table of the value's type. */
int ext_view_exchange(ExtState *state, PyObject *value, const ExtArrayKind *kind, ExtArrayView *view);
/* By __dlpack__, which is `method`. 0 where the value has no __dlpack_device__. */
int ext_view_dlpack(ExtState *state, PyObject *value, PyObject *method, ExtArrayView *view);
/* cupy.ndarray, which has no table, by its public attributes: its interface costs three times as much. */
int ext_view_cupy(ExtState *state, PyObject *value, const ExtArrayKind *kind, ExtArrayView *view);

/* What a capsule holds; both borrow from it. False with TypeError, ValueError or BufferError for what is no capsule of
 * DLPack's, has been taken over already, or is of another version. */
bool ext_read_capsule(PyObject *capsule, const DlpackTensor **tensor, uint64_t *flags);
/* The capsule of value.__dlpack__, not taken over. `is_gpu`: its work is ordered before that of the default stream. New
 * reference. */
PyObject *ext_ask_capsule(PyObject *method, bool is_gpu);
/* What __dlpack_device__ says: 1; 0 without an exception where there is none; -1 with one. */
int ext_ask_dlpack_device(ExtState *state, PyObject *value, DlpackDevice *device);
/* Fills the view; host memory becomes a NumPy array that keeps `keeper`. False with an exception. */
bool ext_view_tensor(ExtState *state, const DlpackTensor *tensor, uint64_t flags, PyObject *keeper, ExtArrayView *view);

#endif
