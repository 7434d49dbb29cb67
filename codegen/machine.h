/* Machines of LLVM's code generators, kept from one compilation to the next with their passes: to make one, and to read what the
 * processor can do, takes a fifteenth of a small kernel's compilation, its passes a twentieth. */
#ifndef CUJIT_CODEGEN_MACHINE_H
#define CUJIT_CODEGEN_MACHINE_H

#include "codegen/llvm.h"
#include "codegen/optimize/pass_builder.h"

/* What a machine is made for. Texts are the caller's. */
typedef struct MachineKind {
    LLVMTargetRef backend;
    const char *triple, *cpu, *features;
    LLVMCodeGenOptLevel level;
    LLVMRelocMode relocation;
    LLVMCodeModel model;
} MachineKind;

typedef struct Machine Machine;

/* One that nobody else has until it is given back. */
Machine *machine_take(const MachineKind *kind);
LLVMTargetMachineRef machine_of_llvm(const Machine *machine);
/* It was changed: nobody gets it again. */
void machine_spoil(Machine *machine);
/* From now on its passes are without those, CODE_WITHOUT_...; spoils it. */
void machine_leave_passes(Machine *machine, unsigned left);
void machine_give_back(Machine *machine);
/* The machine's passes that make such code, new or as they were kept; the caller's. NULL: it makes none. */
CodePasses *machine_take_passes(Machine *machine, LLVMCodeGenFileType type);
/* To be taken again, before the machine is given back. */
void machine_keep_passes(Machine *machine, LLVMCodeGenFileType type, CodePasses *passes);

#endif
