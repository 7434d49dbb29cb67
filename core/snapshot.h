/* Plain-C image of a Python function, made under the GIL by python/ext and read without it by frontend: bytecode, names,
 * positions, and every global or captured value that the code can reach, as Constants. Owned by an arena of its maker
 * that outlives all compilations of the function. Never changed after it is made. */
#ifndef CUJIT_CORE_SNAPSHOT_H
#define CUJIT_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/fields.h"
#include "core/diagnostic/diag.h"
#include "core/foreign.h"
#include "core/intrinsic/intrinsic.h"
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
    CONSTANT_NAMESPACE, /* modules, classes, enums and the like: names, items, count: the attributes the code can name. type:
                           of the members of an enum, of what a named tuple's or a dataclass's class makes; else NULL */
    CONSTANT_INTRINSIC, /* intrinsic */
    CONSTANT_TYPE, /* type: np.float32, cujit.int64, bool, int, float, complex; dtypes. text: Python's name of it,
                              "int" for int, which is not int64 */
    CONSTANT_FUNCTION, /* function: a Python function, decorated with device=True or not */
    CONSTANT_FOREIGN, /* foreign: a function from elsewhere, declared */
    CONSTANT_CODE, /* code: of a lambda, nested function or comprehension */
    CONSTANT_ENUM, /* member of an enum: text its name, items[0] its value; type: TUPLE_ENUM or TUPLE_INT_ENUM, of none
                      where the value is no number */
    CONSTANT_ELLIPSIS,
    CONSTANT_SLICE, /* items: start, stop, step */
    CONSTANT_CLASS, /* of named tuples or dataclasses: text its name; type: of what it makes, with items of none but for fields of a declared type; names: integer fields, then methods; items: the default of a field or
                       NULL, the function of a method, which has text "property" where a call is not written */
    CONSTANT_DICT, /* items, names: its keys as constant_key writes them, count */
    CONSTANT_OVERLOADED, /* what the program has given implementations by type: overloads; text its name; items[0]: what it
                            is where none of them fits; integer: 1 where values of numbers count before types alone */
} ConstantKind;

/* An array captured as a global or closure variable. */
#define CONSTANT_ARRAY_FIELDS(FIELD)                                                                                \
    FIELD(const Type *, element, , type, )                                                                          \
    FIELD(int, ndim, , number, )                                                                                    \
    FIELD(int64_t, shape, [TYPE_MAX_NDIM], leading, ndim)                                                           \
    FIELD(int64_t, strides, [TYPE_MAX_NDIM], leading, ndim) /* bytes */                                             \
    FIELD(ArrayLayout, layout, , number, )                                                                          \
    FIELD(const void *, data, , hash, size) /* host copy in `layout` order (C unless F); NULL for a device array */ \
    FIELD(uint64_t, device_pointer, , address, ) /* device arrays, else 0 */                                        \
    FIELD(size_t, size, , number, ) /* bytes of data */
typedef struct ConstantArray {
    CONSTANT_ARRAY_FIELDS(DECLARE_FIELD)
} ConstantArray;

/* A key of a dict as text: 'name for a string, digits for an integer; NULL for what cannot be a key in a kernel. */
const char *constant_key(Arena *arena, const Constant *key);

#define CONSTANT_FIELDS(FIELD)                                                                                    \
    FIELD(ConstantKind, kind, , number, )                                                                         \
    FIELD(bool, is_unsigned, , number, )                                                                          \
    FIELD(bool, is_python, , number, ) /* numbers: of Python's own int, float or complex, not of NumPy's types */ \
    FIELD(bool, is_exception, , number, ) /* NAMESPACE: a class of exceptions */                                  \
    FIELD(const Type *, type, , type, )                                                                           \
    FIELD(int64_t, integer, , number, )                                                                           \
    FIELD(double, real, , real, )                                                                                 \
    FIELD(double, imaginary, , real, )                                                                            \
    FIELD(const char *, text, , text, )                                                                           \
    FIELD(uint32_t, count, , number, )                                                                            \
    FIELD(const Constant *const *, items, , constants, count)                                                     \
    /* UNSUPPORTED: names[0], where there is one, says what to write instead */                                   \
    FIELD(const char *const *, names, , texts, count)                                                             \
    FIELD(const ConstantArray *, array, , array, )                                                                \
    FIELD(IntrinsicId, intrinsic, , intrinsic, )                                                                  \
    FIELD(const Snapshot *, function, , function, )                                                               \
    FIELD(const CodeSnapshot *, code, , code, )                                                                   \
    FIELD(const ForeignFunction *, foreign, , foreign, )                                                          \
    /* of exceptions: the class object, which text names in every process; NULL: the builtin of that name */      \
    FIELD(const void *, host_class, , none, )                                                                     \
    FIELD(const char *, shown_as, , text, ) /* how the source names it, for messages; may be NULL */              \
    /* OVERLOADED: the object of Python that chooses an implementation; those that are chosen are in the key */   \
    FIELD(const void *, overloads, , none, )
struct Constant {
    CONSTANT_FIELDS(DECLARE_FIELD)
};

/* One code object. */
#define CODE_SNAPSHOT_FIELDS(FIELD)                                                                              \
    FIELD(SourceFunction, source, , source, )                                                                    \
    FIELD(int, python_minor, , number, ) /* 11 and later: chooses the bytecode table */                          \
    FIELD(const uint8_t *, bytes, , bytes, size) /* co_code: de-specialized, caches zeroed */                    \
    FIELD(uint32_t, size, , number, )                                                                            \
    FIELD(const SourcePos *, positions, , positions, size) /* one for each 2-byte unit */                        \
    FIELD(const uint8_t *, exception_table, , bytes, exception_table_size)                                       \
    FIELD(uint32_t, exception_table_size, , number, )                                                            \
    FIELD(uint32_t, argument_count, , number, ) /* positional, with positional-only */                           \
    FIELD(uint32_t, positional_only_count, , number, )                                                           \
    FIELD(uint32_t, keyword_only_count, , number, )                                                              \
    FIELD(bool, has_varargs, , number, )                                                                         \
    FIELD(bool, has_varkeywords, , number, )                                                                     \
    FIELD(bool, is_generator, , number, )                                                                        \
    FIELD(bool, is_coroutine, , number, ) /* async def */                                                        \
    FIELD(bool, is_nested, , number, ) /* in another function of the snapshot */                                 \
    FIELD(bool, is_library, , number, ) /* belongs to cujit._kernel_functions, not to the user */                \
    FIELD(bool, tells_overflow, , number, ) /* of the library: check mode looks at its arithmetic */             \
    /* fast locals, cells and free variables, as LOAD_FAST and LOAD_DEREF number them */                         \
    FIELD(uint32_t, local_count, , number, )                                                                     \
    FIELD(const char *const *, local_names, , texts, local_count)                                                \
    FIELD(uint32_t, free_count, , number, ) /* the last free_count locals are free variables */                  \
    FIELD(uint32_t, name_count, , number, )                                                                      \
    FIELD(const char *const *, names, , texts, name_count) /* co_names */                                        \
    FIELD(uint32_t, constant_count, , number, )                                                                  \
    FIELD(const Constant *const *, constants, , constants, constant_count) /* co_consts */                       \
    /* for each of names that LOAD_GLOBAL reads: the global or builtin of that name; the others are UNDEFINED */ \
    FIELD(const Constant *const *, globals, , constants, name_count)                                             \
    FIELD(uint32_t, method_count, , number, )                                                                    \
    /* those of names that arrays have as a method and _kernel_functions as a function */                        \
    FIELD(const char *const *, method_names, , texts, method_count)                                              \
    FIELD(const Constant *const *, methods, , constants, method_count) /* these functions */                     \
    /* OVERLOADED attributes, methods and operators ("operator.add") that the code can name */                   \
    FIELD(uint32_t, member_count, , number, )                                                                    \
    FIELD(const Constant *const *, members, , constants, member_count)
struct CodeSnapshot {
    CODE_SNAPSHOT_FIELDS(DECLARE_FIELD)
};

/* A function: its code with what it closes over. */
#define SNAPSHOT_FIELDS(FIELD)                                                            \
    FIELD(const CodeSnapshot *, code, , code, )                                           \
    /* code->free_count cells' contents */                                                \
    FIELD(const Constant *const *, free_values, , constants, code->free_count)            \
    FIELD(uint32_t, default_count, , number, )                                            \
    /* of the last default_count positional parameters */                                 \
    FIELD(const Constant *const *, defaults, , constants, default_count)                  \
    FIELD(uint32_t, keyword_default_count, , number, )                                    \
    FIELD(const char *const *, keyword_default_names, , texts, keyword_default_count)     \
    FIELD(const Constant *const *, keyword_defaults, , constants, keyword_default_count)  \
    /* bit i: the value of parameter i is known where the function is compiled */         \
    FIELD(uint64_t, constant_parameters, , number, )                                      \
    FIELD(bool, forceinline, , number, )                                                  \
    FIELD(const char *, assembly, , text, ) /* IrFunc's; NULL: none */                    \
    FIELD(bool, assembly_is_pure, , number, )                                             \
    FIELD(bool, lacks_body, , number, )                                                   \
    /* what is linked beside every kernel that has the function */                        \
    FIELD(uint32_t, link_count, , number, )                                               \
    FIELD(const LinkItem *const *, links, , links, link_count)                            \
    /* of a kernel that is checked: the functions of core/kernel/watcher.def, for GPUs */ \
    FIELD(uint32_t, watcher_count, , number, )                                            \
    FIELD(const Constant *const *, watchers, , constants, watcher_count)
struct Snapshot {
    SNAPSHOT_FIELDS(DECLARE_FIELD)
};

/* --- overloads ------------------------------------------------------------------------------------------------- */
typedef enum OverloadForm { OVERLOAD_CALL, OVERLOAD_ATTRIBUTE, OVERLOAD_METHOD } OverloadForm;

/* What an overloaded function or member is for certain types of arguments. Never changed once it is in a list. */
typedef struct Implementation Implementation;
struct Implementation {
    const Implementation *next;
    const char *key; /* of the wish that it answers */
    const Snapshot *function; /* NULL: there is none */
    bool is_method; /* an attribute: there is none, but methods of that name */
    const char *error; /* why the choice failed; else NULL */
    Arena *arena; /* has all of it, and is owned by who has the list */
};

/* An argument of a call: its type and, where that is known, its value. */
typedef struct WishArgument {
    const Type *type;
    const Constant *constant;
} WishArgument;

/* A call of what is overloaded that waits for its implementation. */
typedef struct ImplementationWish ImplementationWish;
struct ImplementationWish {
    ImplementationWish *next;
    const char *key; /* equal for equal wishes, in all compilations of a function */
    const void *overloads; /* what cujit.extending keeps; where member is not NULL, the class of a dataclass */
    const char *member; /* which attribute of that class is asked for, else NULL */
    OverloadForm form;
    bool with_values; /* the types of numbers that are known are those of literals */
    uint32_t count; /* all; the last keyword_count by name */
    const WishArgument *arguments;
    uint32_t keyword_count;
    const char *const *keywords;
};

#endif
