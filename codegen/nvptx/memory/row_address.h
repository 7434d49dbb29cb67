/* Addresses in arrays of more than one axis, as sums whose parts several accesses share. */
#ifndef CUJIT_CODEGEN_ROW_ADDRESS_H
#define CUJIT_CODEGEN_ROW_ADDRESS_H

#include "codegen/emit.h"

/* Behind LLVM's passes, in front of the code generator's. */
void share_row_addresses(Emitter *emitter);
/* The field of the kernel's parameters that the value is, of that kind; UINT32_MAX: it is none. */
uint32_t field_of(const Emitter *emitter, LLVMValueRef value, AbiFieldKind kind);
/* An address that is another one of the same array and the product of a row, a word without a sign, with the launch's extent:
 * their product with the size of an element, too, is one of words. false: it is none. */
bool is_rows_further(const Emitter *emitter, LLVMValueRef address, LLVMValueRef *row, LLVMValueRef *extent);

#endif
