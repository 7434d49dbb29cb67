/* How large the functions of a module are, and what LLVM leaves undone in those that are very large. */
#ifndef CUJIT_CODEGEN_MODULE_SIZE_H
#define CUJIT_CODEGEN_MODULE_SIZE_H

#include "codegen/emit.h"

/* Of each the most that one function has when what must be inlined is. */
typedef struct ModuleSize {
    uint64_t instructions;
    uint64_t branches; /* conditional ones, and those of atomics that become loops in a code generator */
    uint64_t loops; /* branches back */
    uint64_t chain; /* of operations each of which needs the one before, on the CPU device */
    uint64_t exits; /* of one loop: blocks that lead out of it */
    uint64_t guarded; /* of one loop: conditional branches times computed addresses */
    uint64_t phis; /* of one block */
    uint64_t copies; /* what all ways to one block give to its phis */
    uint64_t addresses; /* computed ones */
    uint64_t members; /* put into structs and taken out of them */
    uint64_t parts; /* parameters and results of a function that others call */
} ModuleSize;

ModuleSize measure_module(Emitter *emitter);

/* What is done in another way than in modules of ordinary size; bits. */
enum {
    PIPELINE_INLINE_FIRST = 1, /* what must be inlined is before any other pass, and structs of results are gone */
    PIPELINE_NO_SLP = 2, /* operations of one thread are not put together to vectors */
    PIPELINE_NO_STRAIGHT_LINES = 4, /* a GPU's addresses are not made from those above them by a difference */
    PIPELINE_LINEAR = 8, /* only passes whose time is proportional to the size, and code without further ones */
    PIPELINE_FAST_CODE = 16, /* also without passes over control flow; values are in registers in a block only */
    PIPELINE_KEEP_COPIES = 32, /* a GPU's copies between registers are left to ptxas */
    PIPELINE_QUICK = 64 /* of no size: the passes and the code of PIPELINE_LINEAR, until other code replaces it */
};

unsigned pipeline_for_size(const ModuleSize *size, TargetKind device);

#endif
