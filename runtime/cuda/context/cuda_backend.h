/* The functions of a GPU's RtBackend: cuda_<name> for each row of backend.def. */
#ifndef CUJIT_RUNTIME_CUDA_BACKEND_H
#define CUJIT_RUNTIME_CUDA_BACKEND_H

#include "runtime/backend.h"

#define FORWARD(name, face, object, first, done, parameters, arguments) bool cuda_##name parameters;
#define OWN(result, name, parameters) result cuda_##name parameters;
#include "runtime/backend.def"

#endif
