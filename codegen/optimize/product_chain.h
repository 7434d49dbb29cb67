/* Chains of products by constants, which the code generator makes as they stand there. */
#ifndef CUJIT_CODEGEN_OPTIMIZE_PRODUCT_CHAIN_H
#define CUJIT_CODEGEN_OPTIMIZE_PRODUCT_CHAIN_H

#include "codegen/emit.h"

/* Behind LLVM's passes, which would take what hides a factor away. */
void keep_product_chains(Emitter *emitter);

#endif
