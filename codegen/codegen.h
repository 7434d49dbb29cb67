/* Typed IR + target -> passes -> PTX text or a host object; LLVM IR text for inspection. */
#ifndef CUJIT_CODEGEN_CODEGEN_H
#define CUJIT_CODEGEN_CODEGEN_H

#include "core/host_abi.h"
#include "core/ir/ir.h"
#include "core/target.h"

/* What compiling yields. Owns malloc memory; code_image_free releases it. */
typedef struct CodeImage {
    TargetKind kind;
    char *entry;                /* symbol of the kernel */
    char *code;                 /* PTX text (NUL-terminated), or the bytes of a host object file */
    size_t code_size;           /* without the NUL */
    char *llvm;                 /* LLVM IR text as optimized; NULL unless asked for */
    unsigned effects;           /* IntrinsicEffects of the whole module */
    uint32_t static_shared;     /* bytes of shared arrays; GPU: of those that a launch must give memory for */
    uint32_t local_size;        /* host: bytes of local arrays of one thread, for the size of its stack */
    uint32_t context_size;      /* host: bytes that a block keeps for each thread (host_context_bytes) */
    bool has_real_threads;      /* host: the entry runs one thread */
} CodeImage;

/* Is told what each pass left. */
typedef struct PassWatch {
    void (*left)(void *user, const char *pass, const IrModule *module);
    void *user;
} PassWatch;

/* Runs the target's passes (passes.c), which change the module. watch may be NULL. False with a diagnostic where a build
 * that checks them finds that a pass left invalid IR. */
bool codegen_run_passes(IrModule *module, const Target *target, const CompileOptions *options, const PassWatch *watch,
                        Diag *diag);
/* The names of all passes, and the target of each; NULL behind the last. */
const char *codegen_pass_name(uint32_t index, TargetKind *target);

/* Compiles a module as the target's passes left it. False with a diagnostic; *image is then empty. want_llvm: also keep
 * LLVM IR text. Thread-safe. */
bool codegen_compile(const IrModule *module, const Target *target, const CompileOptions *options, bool want_llvm,
                     CodeImage *image, Diag *diag);
void code_image_free(CodeImage *image);

/* A host object made runnable in this process (LLVM ORC). */
typedef struct HostCode HostCode;
/* Links image (kind TARGET_HOST). NULL with a diagnostic. */
HostCode *codegen_link_host(const CodeImage *image, Diag *diag);
void codegen_unlink_host(HostCode *code);
/* One of the two, the other is NULL: blocks, unless the kernel synchronizes and its threads must be real. */
HostThreadEntry codegen_host_thread_entry(const HostCode *code);
HostBlocksEntry codegen_host_blocks_entry(const HostCode *code);
/* Assembly text of a host object's code, for inspect_asm on the CPU device. malloc'd; NULL with a diagnostic. */
char *codegen_host_assembly(const IrModule *module, const CompileOptions *options, Diag *diag);

/* Whether code for the CPU device may call this function of the C library. */
bool codegen_host_has_symbol(const char *name);

/* This processor and what it can do: code for the CPU device depends on it. Static text. */
const char *codegen_host_cpu(void);

/* LLVM's version, "22.1.8". */
const char *codegen_llvm_version(void);

#endif
