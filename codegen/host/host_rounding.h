/* What code for the CPU device calls where libdevice rounds in a direction: host_symbol.def lists the functions. */
#ifndef CUJIT_CODEGEN_HOST_ROUNDING_H
#define CUJIT_CODEGEN_HOST_ROUNDING_H

#include <stdint.h>

#define SYMBOL(name)
#define FUNCTION(name, result, ...) result name(__VA_ARGS__);
#include "codegen/host/object/host_symbol.def"
#undef SYMBOL
#undef FUNCTION

#endif
