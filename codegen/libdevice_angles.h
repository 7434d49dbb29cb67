/* Large angles in functions of libdevice. */
#ifndef CUJIT_CODEGEN_LIBDEVICE_ANGLES_H
#define CUJIT_CODEGEN_LIBDEVICE_ANGLES_H

#include <stdbool.h>

#include "codegen/llvm.h"

/* In a module with one image of libdevice, before it is linked. */
void reduce_angles(LLVMModuleRef library);
/* In the module that all of them have been linked to, which has one table for them all. */
void hide_angle_tables(LLVMModuleRef module);

#endif
