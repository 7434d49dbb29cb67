/* The functions of the CPU device's RtBackend: host_<name> for each row of backend.def. */
#ifndef CUJIT_RUNTIME_HOST_BACKEND_H
#define CUJIT_RUNTIME_HOST_BACKEND_H

#include "runtime/backend.h"

#define FORWARD(name, face, object, first, done, parameters, arguments) bool host_##name parameters;
#define OWN(result, name, parameters) result host_##name parameters;
#include "runtime/backend.def"

#endif
