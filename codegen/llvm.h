/* The only file that includes llvm-c. What differs between LLVM versions ends here: LLVM 22. */
#ifndef CUJIT_CODEGEN_LLVM_H
#define CUJIT_CODEGEN_LLVM_H

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#if LLVM_VERSION_MAJOR != 22
#error "written for LLVM 22"
#endif

/* NVPTX address spaces. */
enum { ADDRESS_GENERIC = 0, ADDRESS_GLOBAL = 1, ADDRESS_SHARED = 3, ADDRESS_CONSTANT = 4 };

#endif
