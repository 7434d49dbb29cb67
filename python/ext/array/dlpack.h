/* The C structures of DLPack 1.x as other libraries lay them out in memory, by its specification: what capsules hold and
 * what the table behind __dlpack_c_exchange_api__ is made of. Nothing but layout. */
#ifndef CUJIT_EXT_DLPACK_H
#define CUJIT_EXT_DLPACK_H

#include <stdint.h>

/* Version 1 is what is read and made here; a later minor version only knows more devices and dtypes. */
enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 1 };

typedef struct DlpackVersion {
    uint32_t major, minor;
} DlpackVersion;

/* Where memory is. All other numbers belong to hardware that no device of ours reaches. */
typedef enum DlpackDeviceKind {
    DLPACK_CPU = 1,
    DLPACK_CUDA = 2,
    DLPACK_CUDA_HOST = 3, /* page-locked host memory */
    DLPACK_CUDA_MANAGED = 13, /* host and GPUs share the pages */
} DlpackDeviceKind;

typedef struct DlpackDevice {
    int32_t kind; /* a DlpackDeviceKind, or another number */
    int32_t ordinal;
} DlpackDevice;

/* code: a row of dlpack_type.def. lanes: above 1 the element is a vector. */
typedef struct DlpackType {
    uint8_t code, bits;
    uint16_t lanes;
} DlpackType;

typedef struct DlpackTensor {
    void *data;
    DlpackDevice device;
    int32_t ndim;
    DlpackType type;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: C order */
    uint64_t byte_offset;
} DlpackTensor;

/* In a capsule called "dltensor". */
typedef struct DlpackManaged {
    DlpackTensor tensor;
    void *context;
    void (*deleter)(struct DlpackManaged *self); /* NULL: nothing to give back */
} DlpackManaged;

enum { DLPACK_READ_ONLY = 1, DLPACK_IS_COPIED = 2 };

/* In a capsule called "dltensor_versioned". Of another major version only deleter and what is before it may be read. */
typedef struct DlpackVersioned {
    DlpackVersion version;
    void *context;
    void (*deleter)(struct DlpackVersioned *self);
    uint64_t flags;
    DlpackTensor tensor;
} DlpackVersioned;

#define DLPACK_NAME "dltensor"
#define DLPACK_VERSIONED_NAME "dltensor_versioned"
#define DLPACK_USED_NAME "used_dltensor"
#define DLPACK_USED_VERSIONED_NAME "used_dltensor_versioned"
#define DLPACK_EXCHANGE_NAME "dlpack_exchange_api"

/* The table that a type of arrays offers, in a capsule that is its attribute __dlpack_c_exchange_api__. Functions give 0, or
 * -1 with a Python exception; none of them orders the work of streams. Tables are never freed. */
typedef struct DlpackExchange {
    DlpackVersion version;
    const struct DlpackExchange *older; /* a table of an earlier major version, or NULL */
    int (*allocate)(DlpackTensor *like, DlpackVersioned **out, void *error_context,
                    void (*set_error)(void *error_context, const char *kind, const char *message));
    int (*managed_of_object)(void *object, DlpackVersioned **out);
    int (*object_of_managed)(DlpackVersioned *managed, void **out);
    int (*tensor_of_object)(void *object, DlpackTensor *out); /* NULL where the library has none; out borrows */
    int (*current_stream)(int32_t device_kind, int32_t ordinal, void **out);
} DlpackExchange;

#endif
