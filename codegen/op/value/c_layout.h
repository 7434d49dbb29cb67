/* Where the numbers of a value lie in memory as C has it: those of a tuple, a vector or a complex number as members of a
 * struct, those of a record where its type says. */
#ifndef CUJIT_CODEGEN_C_LAYOUT_H
#define CUJIT_CODEGEN_C_LAYOUT_H

#include "codegen/emit.h"

typedef struct CMember {
    const Type *scalar; /* a number of one part: no complex one; NULL: a pointer */
    uint32_t offset;
} CMember;

/* Members are the value's parts in order; those of a record are its fields, whose value is an address. */
typedef struct CLayout {
    uint32_t size, alignment;
    CMember *members;
    uint32_t count;
} CLayout;

/* Whose structs: CUDA C aligns vectors and complex numbers as a whole; plain C does not. */
typedef enum CDialect { DIALECT_C, DIALECT_CUDA } CDialect;

/* False for a type that has no such form: an array among a tuple's items, nothing at all, an optional. A record of that
 * type and an array of one are both the record. */
bool c_layout(Emitter *emitter, const Type *type, CDialect dialect, CLayout *out);
/* The record that a value of the type leads to; NULL: it is none. */
const Type *c_record(const Type *type);
/* The value into memory that is aligned as the layout says, and back; of a record its bytes. */
void store_c(Emitter *emitter, const Type *type, const CLayout *layout, LLVMValueRef address,
             const LLVMValueRef *parts);
/* A record's parts are given: where it is to be. */
void load_c(Emitter *emitter, const Type *type, const CLayout *layout, LLVMValueRef address, LLVMValueRef *parts);

#endif
