/* Typed IR + target -> passes -> PTX text or a host object; LLVM IR text for inspection. */
#ifndef CUJIT_CODEGEN_CODEGEN_H
#define CUJIT_CODEGEN_CODEGEN_H

#include "core/ir/ir.h"
#include "core/kernel/kernel_image.h"
#include "core/target.h"

/* Puts what these options check on such a device into a module as the frontend made it: tests that end a thread by
 * exceptions of the module (codegen/check/). What a launch can prove is left to it: the code has no check of these accesses
 * and is right for launches for which the plan, which is the module's arena's, holds. failed: tests of that plan that the
 * code is not to count on. plan NULL: the code checks everything. The module of a device function stays as it is: there is
 * no launch that could raise exceptions. */
void codegen_add_checks(IrModule *module, const Target *target, const CompileOptions *options,
                        const LaunchTests *failed, LaunchPlan *plan);

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

/* Whether the text of the LLVM IR is kept, and for whom; for libNVVM it is all that is made. */
typedef enum LlvmText { LLVM_NO_TEXT, LLVM_TEXT, LLVM_TEXT_FOR_NVVM } LlvmText;

/* Compiles a module as the target's passes left it. False with a diagnostic; *image is then empty. text: also keep
 * LLVM IR text. is_quick: in a fraction of the time, code that is slower; the image says where that was
 * done, which is not where other code would be the same. Thread-safe. */
bool codegen_compile(const IrModule *module, const Target *target, const CompileOptions *options, LlvmText text,
                     bool is_quick, KernelImage *image, Diag *diag);

/* A host object made runnable in this process (LLVM ORC). */
typedef struct HostCode HostCode;
/* Links image (kind TARGET_HOST) with what is for the CPU device among the items. NULL with a diagnostic. */
HostCode *codegen_link_host(const KernelImage *image, const LinkItem *const *links, uint32_t link_count, Diag *diag);
void codegen_unlink_host(HostCode *code);
/* One of the two, the other is NULL: blocks, unless the kernel synchronizes and its threads must be real. */
HostThreadEntry codegen_host_thread_entry(const HostCode *code);
HostBlocksEntry codegen_host_blocks_entry(const HostCode *code);
/* What code that is observed counts: image->line_cells numbers; NULL where it is not. */
void *codegen_host_lines(const HostCode *code);
/* Where the machine code of its functions lies; NULL where that is not known. */
const void *codegen_host_text(const HostCode *code, size_t *size);
/* image->site_count of them; NULL where there are none. */
ObservedSite *codegen_host_sites(const HostCode *code);
/* Assembly text of a host object's code, for inspect_asm on the CPU device. memory_free() it; NULL with a
 * diagnostic. */
char *codegen_host_assembly(const IrModule *module, const CompileOptions *options, Diag *diag);

/* Whether code for the CPU device may call this function of the C library. */
bool codegen_host_has_symbol(const char *name);

/* This processor and what it can do: code for the CPU device depends on it. Static text. */
const char *codegen_host_cpu(void);
/* That which it follows from, in *size bytes, at a fraction of the time: for a key. */
const void *codegen_host_processor(size_t *size);

/* LLVM's version, "22.1.8". */
const char *codegen_llvm_version(void);

#endif
