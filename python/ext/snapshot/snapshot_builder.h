/* What one snapshot is made with: a value contains functions, and functions contain values. All of it runs in one guard:
 * references that are needed for more than a call are held (ext_hold). */
#ifndef CUJIT_EXT_SNAPSHOT_BUILDER_H
#define CUJIT_EXT_SNAPSHOT_BUILDER_H

#include "core/base/table.h"
#include "ext/guard.h"
#include "ext/kernel.h"
#include "ext/snapshot/library_function.h"

typedef struct SnapshotBuilder {
    ExtState *state;
    Arena *arena;
    PyObject *keep_alive; /* for as long as the snapshot lives */
    PyObject *held; /* list: for as long as the builder lives, so that no address is used twice */
    int library_depth; /* above 0: what is read belongs to cujit._kernel_functions */
    int namespace_count; /* how many have been read */
    int namespace_depth; /* how many of them are being read, each an attribute of the one before */
    bool has_overloads; /* something is OVERLOADED, or has a class whose methods are asked for */
    Table *functions; /* function -> Snapshot */
    Table *arrays; /* object -> Constant: arrays, and functions from elsewhere */
    Table *links; /* object -> LinkItem */
} SnapshotBuilder;

/* One function with the code nested in it. */
typedef struct SnapshotScope {
    SnapshotBuilder *builder;
    PyObject *function;
    const Snapshot *snapshot; /* of the function, being filled */
    PyObject *globals, *builtins;
    PyObject *names; /* list of every name in the code's co_names */
    PyObject *uses; /* attribute_uses.h: of the function's code and what is nested in it */
    Table *namespaces; /* object -> Constant: what is restricted to `names` or fewer */
    Table *whole; /* object -> Constant: of which all `names` are read */
} SnapshotScope;

/* snapshot_builder.c: a str as UTF-8 in the arena; NULL with an exception. */
const char *ext_arena_text(Arena *arena, PyObject *text);
/* What kernels cannot use, and why: an error where the code reads it. */
const Constant *ext_unsupported(SnapshotBuilder *builder, const char *text, const char *shown);
/* constant_snapshot.c: any value. shown: how the source names it; NULL for constants of the code. NULL with an
 * exception. */
const Constant *ext_constant(SnapshotScope *scope, PyObject *value, const char *shown);
/* constant_snapshot.c: a module with these attributes, and those that it has been read for already. */
const Constant *ext_module_constant(SnapshotScope *scope, PyObject *module, const char *shown, PyObject *attributes);
/* unsupported_value.c: likewise of any value, with what a kernel has in its place. */
const Constant *ext_unsupported_value(SnapshotBuilder *builder, PyObject *value, const char *shown);
/* function_constant.c: a Python function; kernel: the decorated one that it belongs to, or NULL. */
const Constant *ext_function_constant(SnapshotBuilder *builder, PyObject *value, const ExtKernel *kernel,
                                      const char *shown);
const Constant *ext_intrinsic_constant(SnapshotBuilder *builder, int number, const char *shown);
const Constant *ext_library_function_constant(SnapshotBuilder *builder, const LibraryFunction *function,
                                              const char *shown);
/* A functools.partial. */
const Constant *ext_partial_constant(SnapshotScope *scope, PyObject *value, const char *shown);
/* Namespace.method, where that is a classmethod: its function with the class as first argument. */
const Constant *ext_class_method_constant(SnapshotScope *scope, PyObject *value, const char *shown);
/* An operator.itemgetter or the like. NULL without an exception where the value is nothing of that kind. */
const Constant *ext_function_object_constant(SnapshotScope *scope, PyObject *value, const char *shown);
/* The Python function behind a compiled one of numba (py_func); NULL where there is none, with an exception where that could
 * not be found out. New reference. */
PyObject *ext_wrapped_function(const SnapshotBuilder *builder, PyObject *value);
/* foreign_snapshot.c: a ForeignFunction; and a tuple of LinkItems. NULL with an exception. */
const Constant *ext_foreign_constant(SnapshotBuilder *builder, PyObject *object, const char *shown);
const LinkItem *const *ext_links(SnapshotBuilder *builder, PyObject *tuple, uint32_t *count);
/* class_snapshot.c: a class of named tuples. NULL without an exception where it is none. */
const Constant *ext_class(SnapshotScope *scope, PyObject *value, const char *shown);
/* overload_constant.c: what has implementations by type, for any value: NULL without an exception where it has none. */
const Constant *ext_overloaded_function(SnapshotScope *scope, PyObject *value, const char *shown);
/* Fills in the members that the code can name. */
bool ext_read_members(SnapshotScope *scope, CodeSnapshot *out);
/* constant_snapshot.c: what a value is beside that. */
const Constant *ext_plain_constant(SnapshotScope *scope, PyObject *value, const char *shown);
/* function_snapshot.c */
/* kernel: the decorated one, whose options count, or NULL. */
const Snapshot *ext_function(SnapshotBuilder *builder, PyObject *function, const ExtKernel *kernel);
const CodeSnapshot *ext_code(SnapshotScope *scope, PyCodeObject *code);

/* A fresh Constant of the arena. */
static inline Constant *ext_new_constant(SnapshotBuilder *builder, ConstantKind kind, const char *shown)
{
    Constant *constant = ARENA_NEW(builder->arena, Constant);
    constant->kind = kind;
    constant->shown_as = shown;
    return constant;
}

#endif
