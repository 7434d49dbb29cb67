/* Large angles in functions of libdevice. */
#ifndef CUJIT_CODEGEN_LIBDEVICE_ANGLES_H
#define CUJIT_CODEGEN_LIBDEVICE_ANGLES_H

#include <stdbool.h>

#include "codegen/llvm.h"

/* In a module with one image of libdevice, before it is linked. */
void reduce_angles(LLVMModuleRef library);

#endif
