/* DLPack's dtypes <-> Types. */
#ifndef CUJIT_EXT_DLPACK_TYPE_H
#define CUJIT_EXT_DLPACK_TYPE_H

#include "ext/array/dlpack.h"
#include "ext/state.h"

/* NULL with TypeError, which names the dtype. */
const Type *ext_type_of_dlpack(DlpackType type);
/* False, without an exception, for what DLPack has no dtype for: records, text, times. */
bool ext_dlpack_of_type(const Type *type, DlpackType *out);

#endif
