/* Variables that nested functions share: arrays of one element in the thread's own memory, one for each number that the
 * value has. The optimizer makes registers of them where the functions are inlined. */
#include "frontend/lower.h"

static uint32_t leaf_count(const Type *type)
{
    if (type->kind != TYPE_TUPLE)
        return type->kind != TYPE_NONE && type->kind != TYPE_OBJECT;
    uint32_t count = 0;
    for (uint32_t i = 0; i < type->count; i++)
        count += leaf_count(type->items[i]);
    return count;
}

bool type_has_cell(const Type *type)
{
    bool found = type->kind == TYPE_TUPLE && type->tag == TUPLE_CELL;
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        found |= type_has_cell(type->items[i]);
    return found;
}

bool type_has_memory(const Type *type)
{
    bool fits = type->kind != TYPE_ARRAY && type->kind != TYPE_RECORD;
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        fits &= type_has_memory(type->items[i]);
    return fits;
}

static void collect_leaves(Lower *l, const Type *type, const Type **leaves, uint32_t *count)
{
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        collect_leaves(l, type->items[i], leaves, count);
    if (type_is_scalar(type))
        leaves[(*count)++] = type_array(l->arena, type, 1, LAYOUT_C, false);
}

/* What is known of a cell while types are inferred: every function that shares it adds what it stores. */
typedef struct CellContent {
    const Type *type; /* of all values; NULL: none yet */
    const Type *cell;
} CellContent;

static const Type *cell_type(Lower *l, CellContent *content)
{
    uint32_t count = 0;
    const Type **leaves = ARENA_ARRAY(l->arena, const Type *, content->type ? leaf_count(content->type) + 1 : 1);
    if (content->type)
        collect_leaves(l, content->type, leaves, &count);
    Type *type = arena_copy(l->arena, type_tuple(l->arena, leaves, count, TUPLE_CELL), sizeof *type);
    type->element = content->type;
    type->object = content;
    return type;
}

static bool widen(Lower *l, CellContent *content, const Type *value)
{
    const Type *type = content->type ? lower_join_types(l, content->type, value) : value;
    if (!type || !type_has_memory(type))
        return false;
    content->type = type;
    return true;
}

bool lower_cell_is_wider(Lower *l, const SsaValue *value)
{
    const Type *type = l->instance->facts[value->id].type;
    const CellContent *content = type ? type->object : NULL;
    return content && content->type && !(type->element && type_equal(type->element, content->type));
}

static Operand emit_storage(Lower *l, const Type *type)
{
    IrValue **leaves = ARENA_ARRAY(l->arena, IrValue *, type->count + 1);
    for (uint32_t i = 0; i < type->count; i++) {
        IrStorage *storage = ARENA_NEW(l->arena, IrStorage);
        storage->shape[0] = 1;
        leaves[i] = emit(l, IR_LOCAL, type->items[i], 0, NULL);
        leaves[i]->storage = storage;
    }
    return operand_value(type, emit(l, IR_TUPLE, type, type->count, leaves));
}

bool lower_cell(Lower *l, const SsaValue *value, Operand *out)
{
    const Type *type = l->instance->facts[value->id].type;
    if (!l->emitting) {
        CellContent *content = type ? (CellContent *)type->object : ARENA_NEW(l->arena, CellContent);
        return *out = operand_value(cell_type(l, content), NULL), true;
    }
    return *out = emit_storage(l, type), true;
}

static Operand load(Lower *l, Operand cell, const Type *type, uint32_t *leaf)
{
    if (type->kind == TYPE_NONE)
        return operand_none();
    if (type->kind == TYPE_OBJECT)
        return (Operand){.type = type, .constant = type->object};
    if (type->kind != TYPE_TUPLE) {
        Operand array = lower_tuple_item(l, cell, (*leaf)++);
        return operand_value(type, emit2(l, IR_LOAD, type, array.ir, emit_int(l, TYPE_OF(INT64), 0)));
    }
    IrValue **items = ARENA_ARRAY(l->arena, IrValue *, type->count + 1);
    for (uint32_t i = 0; i < type->count; i++)
        items[i] = operand_ir(l, load(l, cell, type->items[i], leaf));
    return operand_value(type, emit(l, IR_TUPLE, type, type->count, items));
}

bool lower_cell_load(Lower *l, Operand cell, Operand *out)
{
    if (cell.type->kind != TYPE_TUPLE || cell.type->tag != TUPLE_CELL)
        return *out = cell, true; /* captured by value */
    if (!cell.type->element)
        return true; /* nothing is known to be stored there yet */
    uint32_t leaf = 0;
    return *out = load(l, cell, cell.type->element, &leaf), true;
}

static void store(Lower *l, Operand cell, Operand value, uint32_t *leaf)
{
    if (value.type->kind == TYPE_NONE || value.type->kind == TYPE_OBJECT)
        return;
    if (value.type->kind == TYPE_TUPLE) {
        for (uint32_t i = 0; i < value.type->count; i++)
            store(l, cell, lower_tuple_item(l, value, i), leaf);
        return;
    }
    Operand array = lower_tuple_item(l, cell, (*leaf)++);
    emit3(l, IR_STORE, &type_none, array.ir, emit_int(l, TYPE_OF(INT64), 0), operand_ir(l, value));
}

bool lower_cell_store(Lower *l, const char *name, Operand cell, Operand value, Operand *out)
{
    *out = operand_none();
    name = name ? name : "this variable";
    if (cell.type->kind != TYPE_TUPLE || cell.type->tag != TUPLE_CELL)
        return lower_fail(l, DIAG_UNSUPPORTED,
                          arena_format(l->arena,
                                       "'%s' belongs to a Python function around the kernel, and cannot be assigned",
                                       name));
    CellContent *content = (CellContent *)cell.type->object;
    const Type *type = cell.type->element;
    if (!l->emitting && widen(l, content, value.type))
        return true;
    if (!type || !lower_join_types(l, type, value.type))
        return lower_fail(l, DIAG_TYPE_UNIFY, lower_describe(l, type ? type : &type_none),
                          lower_describe(l, value.type),
                          arena_format(l->arena, " as '%s', which a nested function shares", name));
    Operand converted;
    uint32_t leaf = 0;
    if (!lower_convert(l, value, type, &converted))
        return false;
    store(l, cell, converted, &leaf);
    return true;
}

Operand lower_make_cell(Lower *l, const Type *content)
{
    uint32_t count = 0;
    const Type **leaves = ARENA_ARRAY(l->arena, const Type *, leaf_count(content) + 1);
    collect_leaves(l, content, leaves, &count);
    Type *type = arena_copy(l->arena, type_tuple(l->arena, leaves, count, TUPLE_CELL), sizeof *type);
    type->element = content;
    return l->emitting ? emit_storage(l, type) : operand_value(type, NULL);
}

Operand lower_cell_get(Lower *l, Operand cell)
{
    uint32_t leaf = 0;
    return l->emitting ? load(l, cell, cell.type->element, &leaf) : operand_value(cell.type->element, NULL);
}

void lower_cell_put(Lower *l, Operand cell, Operand value)
{
    uint32_t leaf = 0;
    if (l->emitting)
        store(l, cell, value, &leaf);
}
