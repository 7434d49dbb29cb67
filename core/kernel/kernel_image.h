/* A compiled kernel: codegen fills it, the disk cache keeps it, the runtime loads it. */
#ifndef CUJIT_CORE_KERNEL_IMAGE_H
#define CUJIT_CORE_KERNEL_IMAGE_H

#include <stddef.h>

#include "core/base/buf.h"
#include "core/host_abi.h"
#include "core/kernel/launch_plan.h"
#include "core/target.h"

/* NUMBER(type, name) is a field, BYTES(type, name, count) two: `count` items, and behind them a zero that does not count.
 * Each row is kept on disk. */
#define KERNEL_IMAGE_FIELDS(NUMBER, BYTES)                                                                         \
    NUMBER(TargetKind, kind)                                                                                       \
    NUMBER(unsigned, effects) /* IntrinsicEffects of the whole module */                                           \
    NUMBER(uint32_t, static_shared) /* bytes of shared arrays; GPU: of those that a launch must give memory for */ \
    NUMBER(uint32_t, local_size) /* host: bytes of local arrays of one thread, for the size of its stack */        \
    NUMBER(uint32_t, context_size) /* host: bytes that a block keeps for each thread (host_context_bytes) */       \
    NUMBER(uint32_t, repeated_axes) /* host: axes of a block, a bit each, that the runtime runs the entry along */ \
    NUMBER(bool, has_real_threads) /* host: the entry runs one thread */                                           \
    NUMBER(bool, may_wait) /* host: for other blocks */                                                            \
    NUMBER(bool, takes_turns) /* host: it adds floats to memory of other workers, which wait for each other */     \
    NUMBER(bool, reports) /* threads may raise what the host is told of */                                         \
    NUMBER(bool, has_notes) /* a launch gives it OverflowRecords, or the state for them */                         \
    NUMBER(bool, has_state) /* GPU: a launch gives it the state of watch_state.h */                                \
    NUMBER(bool, waits) /* a launch waits for its end, to tell what it or a variant of it finds */                 \
    NUMBER(bool, has_deep_stack) /* GPU: of functions that call themselves, and that tell the state */             \
    NUMBER(uint32_t, parameters_size) /* GPU: bytes of the kernel's parameters */                                  \
    NUMBER(unsigned, checks) /* the CheckSet of what the runtime looks for; GPU: of `init` alone */                \
    NUMBER(int, max_registers) /* GPU: 0: no limit */                                                              \
    NUMBER(int, max_threads) /* of a block, by launch bounds; 0: the device's limit */                             \
    NUMBER(int, carveout) /* GPU: of the L1 cache for shared memory, a hint: percent + 1; 0: the driver chooses */ \
    NUMBER(Observation, observation) /* host */                                                                    \
    NUMBER(uint32_t, line_cells) /* host: numbers at NAME.lines (host_abi.h) */                                    \
    NUMBER(uint32_t, site_count) /* host: ObservedSites at NAME.sites */                                           \
    BYTES(char, observed, observed_size) /* host: what they are of (codegen/host/observe/observe.h) */             \
    BYTES(char, name, name_size) /* symbol of the kernel */                                                        \
    BYTES(char, code, code_size) /* PTX text, or a host object file */                                             \
    BYTES(char, warnings, warnings_size) /* of the source: "file:line: text" and a newline each */                 \
    BYTES(RangeNode, nodes, node_count) /* of the plan that a launch has to pass */                                \
    BYTES(RangeTest, tests, test_count)                                                                            \
    BYTES(uint8_t, passed, passed_count) /* the AbiPassing of each parameter; none: all by pointer */              \
    BYTES(bool, written, parameter_count) /* for each parameter: whether the kernel may write through it */

/* Owns its memory; kernel_image_free releases it. */
typedef struct KernelImage {
#define NUMBER(type, name) type name;
#define BYTES(type, name, count) \
    type *name;                  \
    size_t count;
    KERNEL_IMAGE_FIELDS(NUMBER, BYTES)
#undef NUMBER
#undef BYTES
    /* Of this process alone. */
    bool is_quick; /* made quickly, to be replaced: not for the disk */
    char *llvm; /* LLVM IR text as optimized; NULL unless asked for */
    HostThreadEntry thread_entry; /* host: one of the two, where the code is linked */
    HostBlocksEntry blocks_entry;
    const void *text; /* host: where its machine code lies, text_size bytes; NULL: not known */
    size_t text_size;
} KernelImage;

void kernel_image_free(KernelImage *image);
/* Appends what is kept of it. */
void kernel_image_write(Buf *out, const KernelImage *image);
/* Fills a zeroed image from exactly these bytes; false, and zeroed, where they are not an image's. */
bool kernel_image_read(const void *bytes, size_t size, KernelImage *image);

#endif
