/* What files that allocate memory of a GPU share. */
#ifndef CUJIT_RUNTIME_CUDA_MEMORY_H
#define CUJIT_RUNTIME_CUDA_MEMORY_H

#include "runtime/backend.h"
#include "runtime/cuda/driver/driver.h"

/* True for CUDA_SUCCESS; out of memory has a Diag of its own. */
bool cuda_check_allocation(RtDevice *device, DriverFunctionId function, CUresult result, size_t size, Diag *diag);

/* Atomic operations on 8 and 16 bits work on the word around them: the last one of an array must be there. */
static inline size_t cuda_whole_words(size_t size) { return (size + 3) / 4 * 4; }
/* The bytes behind an allocation up to a whole word become 0: those atomic operations read them. */
bool cuda_clear_rest(CUdeviceptr address, size_t size, Diag *diag);

#endif
