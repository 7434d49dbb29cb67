/* Which device functions are inlined. */
#ifndef CUJIT_CODEGEN_INLINING_H
#define CUJIT_CODEGEN_INLINING_H

#include "core/ir/ir.h"

typedef struct Inlining {
    bool is_inlined; /* into every caller */
    bool gives_memory; /* its result may be an array that it makes */
    uint64_t copies; /* of its body, when all that are to be are inlined */
} Inlining;

/* By the functions' places in the module. */
Inlining *choose_inlined(const IrModule *module, Arena *arena);

#endif
