/* How a kernel's parameters lie in memory: each parameter is flattened, in order and depth first, into fields of
 * natural alignment in one buffer. Codegen takes its parameters from here and launch packs arguments by it; nobody else
 * knows it. PTX parameters have the same offsets, so the buffer can be handed to the driver whole.
 *   scalar: itself (bool is one byte); complex: two fields of its float type, real and imaginary
 *   array: data pointer; extents of all axes; strides in bytes of all axes when the layout is A (else they follow)
 *   tuple: its items;  none, objects: nothing;  records are passed as arrays without axes
 * Behind them, for each record that may be passed by value: its bytes, which count where the pointer is 0. Behind these, of a
 * kernel that reports exceptions: the pointer to the record, and the kernel's tag. */
#ifndef CUJIT_CORE_KERNEL_ABI_H
#define CUJIT_CORE_KERNEL_ABI_H

#include "core/base/arena.h"
#include "core/type/type.h"

/* No extent of an array parameter is negative or above this (no address space is larger; a launch refuses what is), so
 * that compiled code can count on index arithmetic that does not overflow. */
#define KERNEL_ABI_MAX_EXTENT ((int64_t)1 << 57)

enum { KERNEL_ABI_VALUE_ALIGNMENT = 16 };

/* Bytes of parameters that every GPU and driver takes, and the most that any does: drivers of CUDA 12.1 and newer. */
enum { KERNEL_ABI_SMALL_SIZE = 4096, KERNEL_ABI_MOST_SIZE = 32764, KERNEL_ABI_LARGE_DRIVER = 12010 };

typedef enum AbiFieldKind {
    ABI_SCALAR,
    ABI_POINTER,
    ABI_EXTENT,
    ABI_STRIDE,
    ABI_VALUE,              /* the bytes of a record */
    ABI_EXCEPTION_RECORD,   /* pointer to an ExceptionRecord */
    ABI_EXCEPTION_TAG,      /* uint64: what the kernel calls itself there */
} AbiFieldKind;

typedef struct AbiField {
    AbiFieldKind kind;
    const Type *type;       /* ABI_SCALAR: its type; ABI_POINTER, ABI_VALUE: the array's type; else int64 */
    uint32_t parameter;     /* which parameter it belongs to; past the last one: none */
    uint32_t axis;          /* ABI_EXTENT, ABI_STRIDE */
    uint32_t offset, size;  /* bytes in the buffer */
    uint32_t value;         /* ABI_POINTER: which field has the record's bytes; 0: none */
} AbiField;

/* How a kernel's parameter is passed that is a record, an array of one without axes. */
typedef enum AbiPassing {
    PASSED_BY_POINTER,
    PASSED_BESIDE_VALUE,    /* by pointer, in a kernel for launches that have one where others pass the bytes */
    PASSED_BY_VALUE,
    PASSED_ANYWHERE         /* by value where the pointer is 0, in a kernel for launches of all kinds */
} AbiPassing;

static inline bool may_be_passed_by_value(uint8_t passing) { return passing >= PASSED_BY_VALUE; }

typedef struct KernelAbi {
    uint32_t field_count;
    const AbiField *fields;
    uint32_t size;          /* bytes of the whole buffer */
    bool only_pointers;     /* arrays are their data pointers, without extents and strides: kernels from elsewhere */
    bool reports;           /* the last two fields tell where exceptions go; the launch fills them */
} KernelAbi;

/* The parameters of a kernel that was compiled elsewhere, of numbers and arrays: arrays are pointers, and a complex number
 * is a multiple of its own size away from the start. */
KernelAbi *kernel_abi_pointers(const Type *const *parameters, uint32_t count, Arena *arena);
const KernelAbi *kernel_abi_layout(const Type *const *parameters, uint32_t count, bool reports, Arena *arena);
/* passed: an AbiPassing for each of the first passed_count parameters, the others being passed by pointer. */
const KernelAbi *kernel_abi_with_values(const Type *const *parameters, uint32_t count, const uint8_t *passed,
                                        uint32_t passed_count, bool reports, Arena *arena);

#endif
