/* How the CPU device's processor takes structs of C by value. */
#ifndef CUJIT_CODEGEN_C_REGISTERS_H
#define CUJIT_CODEGEN_C_REGISTERS_H

#include "codegen/emit.h"
#include "codegen/op/value/c_layout.h"

enum { C_MOST_PIECES = 2, C_EIGHTBYTE = 8 };

/* A processor's convention, beyond what LLVM knows of it by itself. */
typedef struct CConvention {
    /* What a struct is in registers, read one behind the other from its memory; false: it is in memory. */
    bool (*choose_registers)(Emitter *emitter, const CLayout *layout, LLVMTypeRef *pieces, uint32_t *count);
    uint32_t integer_registers, float_registers; /* a struct that finds fewer is in memory; 0: LLVM sees to that */
    bool is_copied_to_stack; /* a struct in memory; else its address is an argument like others */
    bool is_widened; /* by who calls: what is narrower than an int */
} CConvention;

/* Of x86-64 System V's, of 64-bit Arm AAPCS64. */
extern const CConvention c_convention;

#endif
