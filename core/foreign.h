/* Code from elsewhere that kernels use: what is linked beside them, and the functions in it that they call. */
#ifndef CUJIT_CORE_FOREIGN_H
#define CUJIT_CORE_FOREIGN_H

#include <stdbool.h>

#include "core/base/fields.h"
#include "core/type/type.h"

typedef enum LinkKind {
#define LINK_KIND(id, class, word, ending, gpu, host, driver, nvjitlink, doc) LINK_##id,
#include "core/link_kind.def"
#undef LINK_KIND
    LINK_KIND_COUNT
} LinkKind;

typedef struct LinkKindInfo {
    const char *id, *class, *word, *ending, *doc;
    bool on_gpu, on_host;
    int driver, nvjitlink; /* CUjitInputType, nvJitLinkInputType; -1: none */
} LinkKindInfo;

extern const LinkKindInfo link_kind_info[LINK_KIND_COUNT];

#define LINK_ITEM_FIELDS(FIELD)                                                                                 \
    FIELD(LinkKind, kind, , number, )                                                                           \
    FIELD(const char *, name, , none, ) /* in messages and logs only */                                         \
    FIELD(const void *, data, , hash, size) /* a zero byte behind it */                                         \
    FIELD(size_t, size, , number, )                                                                             \
    FIELD(const char *, path, , text, ) /* of a shared library: it is opened there; else NULL */                \
    /* whoever made it wants to be told of modules with it, which are therefore loaded by this process alone */ \
    FIELD(const void *, watcher, , address, )
typedef struct LinkItem {
    LINK_ITEM_FIELDS(DECLARE_FIELD)
} LinkItem;

/* How a function takes arguments and gives its result.
 *   NUMBA: int f(T *result, arguments...): the result through a pointer (to any byte where there is none), a status that
 *          is 0. An array is (void *meminfo, void *parent, int64 items, int64 itemsize, T *data, extents..., strides...).
 *          Tuples and complex numbers are their parts, records pointers.
 *   C:     T f(arguments...). An array is the pointer to its data; tuples, complex numbers and records are structs. */
typedef enum ForeignAbi { FOREIGN_NUMBA, FOREIGN_C, FOREIGN_ABI_COUNT } ForeignAbi;
extern const char *const foreign_abi_names[FOREIGN_ABI_COUNT]; /* "numba", "c" */

/* How a function of ours is called from elsewhere. */
typedef struct ForeignExport {
    ForeignAbi abi;
    bool is_inlined; /* by whoever links it */
} ForeignExport;

#define FOREIGN_FUNCTION_FIELDS(FIELD)                                                                    \
    FIELD(const char *, symbol, , text, )                                                                 \
    FIELD(ForeignAbi, abi, , number, )                                                                    \
    FIELD(bool, is_cooperative, , number, ) /* its threads wait for those of other blocks */              \
    FIELD(const Type *, result, , type, )                                                                 \
    FIELD(uint32_t, parameter_count, , number, )                                                          \
    FIELD(const Type *const *, parameters, , types, parameter_count)                                      \
    FIELD(const bool *, by_pointer, , bytes, parameter_count) /* an array whose data pointer is passed */ \
    FIELD(uint32_t, link_count, , number, )                                                               \
    FIELD(const LinkItem *const *, links, , links, link_count)
typedef struct ForeignFunction {
    FOREIGN_FUNCTION_FIELDS(DECLARE_FIELD)
} ForeignFunction;

#endif
