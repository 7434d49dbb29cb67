/* Code from elsewhere -> core/foreign.h. The objects own texts and bytes: they live as long as the snapshot. */
#include "ext/snapshot/foreign_value.h"

#include "ext/snapshot/snapshot_builder.h"
#include "ext/snapshot/type_value.h"

bool ext_read_link(PyObject *object, LinkItem *item)
{
    const ExtLinkItem *link = (const ExtLinkItem *)object;
    *item = (LinkItem){.kind = link->kind,
                       .name = PyUnicode_AsUTF8(link->name),
                       .data = PyBytes_AS_STRING(link->data),
                       .size = (size_t)PyBytes_GET_SIZE(link->data),
                       .path = link->path == Py_None ? NULL : PyUnicode_AsUTF8(link->path),
                       .watcher = link->is_watched ? object : NULL};
    return !PyErr_Occurred();
}

/* One LinkItem for each object. NULL with an exception. */
static const LinkItem *link_of(SnapshotBuilder *builder, PyObject *object)
{
    LinkItem *item = table_get(builder->links, &object, sizeof object);
    if (item)
        return item;
    item = ARENA_NEW(builder->arena, LinkItem);
    if (!ext_read_link(object, item) || PyList_Append(builder->keep_alive, object) < 0)
        return NULL;
    table_set(builder->links, &object, sizeof object, item);
    return item;
}

const LinkItem *const *ext_links(SnapshotBuilder *builder, PyObject *tuple, uint32_t *count)
{
    Py_ssize_t size = PyTuple_GET_SIZE(tuple);
    const LinkItem **items = ARENA_ARRAY(builder->arena, const LinkItem *, size);
    *count = 0;
    for (Py_ssize_t i = 0; i < size; i++)
        if (!(items[(*count)++] = link_of(builder, PyTuple_GET_ITEM(tuple, i))))
            return NULL;
    return items;
}

const Constant *ext_foreign_constant(SnapshotBuilder *builder, PyObject *object, const char *shown)
{
    const ExtForeignFunction *function = (const ExtForeignFunction *)object;
    uint32_t count = (uint32_t)PyTuple_GET_SIZE(function->parameters);
    ForeignFunction *out = ARENA_NEW(builder->arena, ForeignFunction);
    const Type **parameters = ARENA_ARRAY(builder->arena, const Type *, count + 1);
    bool *by_pointer = ARENA_ARRAY(builder->arena, bool, count + 1);
    const Type *result = ext_type_borrowed(builder->state, function->result);
    *out = (ForeignFunction){.symbol = ext_arena_text(builder->arena, function->symbol),
                             .abi = function->abi,
                             .is_cooperative = function->is_cooperative,
                             .result = result ? type_copy(builder->arena, result) : NULL,
                             .parameter_count = count,
                             .parameters = parameters,
                             .by_pointer = by_pointer};
    for (uint32_t i = 0; i < count; i++) {
        const Type *type = ext_type_borrowed(builder->state, PyTuple_GET_ITEM(function->parameters, i));
        if (!type)
            return NULL;
        parameters[i] = type_copy(builder->arena, type);
        by_pointer[i] = PyTuple_GET_ITEM(function->by_pointer, i) == Py_True;
    }
    out->links = ext_links(builder, function->links, &out->link_count);
    Constant *constant = ext_new_constant(builder, CONSTANT_FOREIGN, shown);
    constant->foreign = out;
    bool ok = out->symbol && out->result && out->links;
    if (ok) /* one constant for each object: a call knows the function by it */
        table_set(builder->arrays, &object, sizeof object, constant);
    return ok && PyList_Append(builder->held, object) == 0 ? constant : NULL;
}
