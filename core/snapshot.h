/* Plain-C image of a Python function, made under the GIL by python/ext and read without it by frontend: bytecode, names,
 * positions, and every global or captured value that the code can reach, as Constants. Owned by an arena of its maker
 * that outlives all compilations of the function. Never changed after it is made. What code depends on here stands in
 * jit/cache_key.c too. */
#ifndef CUJIT_CORE_SNAPSHOT_H
#define CUJIT_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/diag.h"
#include "core/intrinsic.h"
#include "core/type/type.h"

typedef struct Constant Constant;
typedef struct Snapshot Snapshot;
typedef struct CodeSnapshot CodeSnapshot;

typedef enum ConstantKind {
    CONSTANT_UNDEFINED, /* a name that is bound to nothing: an error once the code reads it */
    CONSTANT_UNSUPPORTED, /* a value no kernel can use: an error once the code reads it; text: its Python type */
    CONSTANT_NONE,
    CONSTANT_BOOL, /* integer */
    CONSTANT_INT, /* integer; is_unsigned: it needs uint64. type: int64 or uint64, or a NumPy scalar's own */
    CONSTANT_FLOAT, /* real; type float64, or a NumPy scalar's own */
    CONSTANT_COMPLEX, /* real, imaginary */
    CONSTANT_TIME, /* integer; type: a datetime or timedelta */
    CONSTANT_STRING, /* text */
    CONSTANT_TUPLE, /* items, count; type: of named tuples and dataclasses the type of a like one, whose items say nothing */
    CONSTANT_ARRAY, /* array */
    CONSTANT_MODULE, /* also classes, enums and namespaces: names, items, count: the attributes the code can name. type:
                        of the members of an enum, of what a named tuple's or a dataclass's class makes; else NULL */
    CONSTANT_INTRINSIC, /* intrinsic */
    CONSTANT_TYPE, /* type: np.float32, cujit.int64, bool, int, float, complex; dtypes. text: Python's name of it,
                              "int" for int, which is not int64 */
    CONSTANT_FUNCTION, /* function: a Python function, decorated with device=True or not */
    CONSTANT_CODE, /* code: of a lambda, nested function or comprehension */
    CONSTANT_ENUM, /* member of an enum: text its name, items[0] its value; type: TUPLE_ENUM or TUPLE_INT_ENUM, of none
                      where the value is no number */
    CONSTANT_ELLIPSIS,
    CONSTANT_SLICE, /* items: start, stop, step */
    CONSTANT_CLASS, /* of named tuples or dataclasses: text its name; type: of what it makes, with items of none; names: integer fields, then methods; items: the default of a field or
                       NULL, the function of a method, which has text "property" where a call is not written */
    CONSTANT_DICT, /* items, names: its keys as constant_key writes them, count */
} ConstantKind;

/* An array captured as a global or closure variable. */
typedef struct ConstantArray {
    const Type *element;
    int ndim;
    int64_t shape[TYPE_MAX_NDIM];
    int64_t strides[TYPE_MAX_NDIM]; /* bytes */
    ArrayLayout layout;
    const void *data; /* host copy in `layout` order (C unless F); NULL for a device array */
    uint64_t device_pointer; /* device arrays, else 0 */
    size_t size; /* bytes of data */
} ConstantArray;

/* A key of a dict as text: 'name for a string, digits for an integer; NULL for what cannot be a key in a kernel. */
const char *constant_key(Arena *arena, const Constant *key);

struct Constant {
    ConstantKind kind;
    bool is_unsigned;
    bool is_python; /* numbers: of Python's own int, float or complex, not of NumPy's types */
    bool is_exception; /* MODULE: a class of exceptions */
    const Type *type;
    int64_t integer;
    double real, imaginary;
    const char *text;
    uint32_t count;
    const Constant *const *items;
    const char *const *names; /* UNSUPPORTED: names[0], where there is one, says what to write instead */
    const ConstantArray *array;
    IntrinsicId intrinsic;
    const Snapshot *function;
    const CodeSnapshot *code;
    const void *host_class; /* of exceptions: the class object, NULL: the builtin that text names */
    const char *shown_as; /* how the source names it, for messages; may be NULL */
};

/* One code object. */
struct CodeSnapshot {
    SourceFunction source;
    int python_minor; /* 11 and later: chooses the bytecode table */
    const uint8_t *bytes; /* co_code: de-specialized, caches zeroed */
    uint32_t size;
    const SourcePos *positions; /* one for each 2-byte unit */
    const uint8_t *exception_table;
    uint32_t exception_table_size;
    uint32_t argument_count; /* positional, with positional-only */
    uint32_t positional_only_count, keyword_only_count;
    bool has_varargs, has_varkeywords, is_generator, is_coroutine; /* is_coroutine: async def */
    bool is_nested; /* in another function of the snapshot */
    bool is_library; /* belongs to cujit._kernel_functions, not to the user */
    uint32_t local_count; /* fast locals, cells and free variables, as LOAD_FAST and LOAD_DEREF number them */
    const char *const *local_names;
    uint32_t free_count; /* the last free_count locals are free variables */
    uint32_t name_count;
    const char *const *names; /* co_names */
    uint32_t constant_count;
    const Constant *const *constants; /* co_consts */
    const Constant *const *globals; /* for each of names that LOAD_GLOBAL reads: the global or builtin of that name;
                                         the others are UNDEFINED */
    uint32_t method_count;
    const char *const
        *method_names; /* those of names that arrays have as a method and _kernel_functions as a function */
    const Constant *const *methods; /* these functions */
};

/* A function: its code with what it closes over. */
struct Snapshot {
    const CodeSnapshot *code;
    const Constant *const *free_values; /* code->free_count cells' contents */
    uint32_t default_count;
    const Constant *const *defaults; /* of the last default_count positional parameters */
    uint32_t keyword_default_count;
    const char *const *keyword_default_names;
    const Constant *const *keyword_defaults;
    uint64_t constant_parameters; /* bit i: the value of parameter i is known where the function is compiled */
    bool forceinline;
};

#endif
