/* What all that make parts of a snapshot need. */
#include "ext/snapshot/snapshot_builder.h"

const char *ext_arena_text(Arena *arena, PyObject *text)
{
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    return utf8 ? arena_string(arena, utf8) : NULL;
}

const Constant *ext_unsupported(SnapshotBuilder *builder, const char *text, const char *shown)
{
    Constant *constant = ext_new_constant(builder, CONSTANT_UNSUPPORTED, shown);
    constant->text = arena_string(builder->arena, text);
    return constant;
}
