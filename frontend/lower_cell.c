/* Variables that nested functions share: memory of the thread's own that holds one value. The optimizer makes registers of
 * it where the functions are inlined. What a variable holds may lead to the variable again, as functions do that call each
 * other: its type is the variable itself, which knows what it holds. */
#include "frontend/generator.h"

bool type_has_cell(const Type *type)
{
    bool found = type->kind == TYPE_TUPLE && type->tag == TUPLE_CELL;
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        found |= type_has_cell(type->items[i]);
    return found;
}

static bool is_cell(const Type *type) { return type->kind == TYPE_TUPLE && type->tag == TUPLE_CELL; }

/* What is known of a shared variable while types are inferred: every function that shares it adds what it stores. */
typedef struct CellContent {
    const Type *type; /* of all values; NULL: none yet */
} CellContent;

static const Type *content_type(const Type *cell)
{
    const CellContent *content = cell->object;
    return content ? content->type : cell->element;
}

static const Type *cell_type(Lower *l, const CellContent *content, const Type *value)
{
    Type *type = arena_copy(l->arena, type_tuple(l->arena, NULL, 0, TUPLE_CELL), sizeof *type);
    type->element = value;
    type->object = content;
    return type;
}

/* Whoever has looked at a cell before looks again. */
static bool widen(Lower *l, CellContent *content, const Type *value)
{
    const Type *type = content->type ? lower_join_types(l, content->type, value) : value;
    if (!type || type_has_generator(type))
        return false;
    if (!content->type || !type_equal(content->type, type))
        l->frontend->cell_version++;
    content->type = type;
    return true;
}

static IrValue *emit_memory(Lower *l, const Type *content)
{
    IrValue *nothing = emit(l, IR_UNDEFINED, content ? content : &type_none, 0, NULL);
    return emit1(l, IR_CELL, &type_memory, nothing);
}

bool lower_cell(Lower *l, const SsaValue *value, Operand *out)
{
    const Type *type = l->instance->facts[value->id].type;
    if (!type)
        type = cell_type(l, ARENA_NEW(l->arena, CellContent), NULL);
    return *out = operand_value(type, emit_memory(l, content_type(type))), true;
}

static Operand load(Lower *l, Operand cell)
{
    const Type *type = content_type(cell.type);
    if (type->kind == TYPE_NONE)
        return operand_none();
    if (type->kind == TYPE_OBJECT)
        return (Operand){.type = type, .constant = type->object};
    return operand_value(type, emit1(l, IR_CELL_LOAD, type, cell.ir));
}

static void store(Lower *l, Operand cell, Operand value)
{
    if (value.type->kind != TYPE_NONE && value.type->kind != TYPE_OBJECT)
        emit2(l, IR_CELL_STORE, &type_none, cell.ir, operand_ir(l, value));
}

bool lower_cell_load(Lower *l, Operand cell, Operand *out)
{
    if (!is_cell(cell.type))
        return *out = cell, true; /* captured by value */
    if (!content_type(cell.type))
        return true; /* nothing is known to be stored there yet */
    return *out = load(l, cell), true;
}

bool lower_cell_store(Lower *l, const char *name, Operand cell, Operand value, Operand *out)
{
    *out = operand_none();
    name = name ? name : "this variable";
    if (!is_cell(cell.type))
        return lower_fail(l, DIAG_UNSUPPORTED,
                          arena_format(l->arena,
                                       "'%s' belongs to a Python function around the kernel, and cannot be assigned",
                                       name));
    if (!l->emitting && widen(l, (CellContent *)cell.type->object, value.type))
        return true;
    if (type_has_generator(value.type))
        return lower_fail(l, DIAG_GENERATOR_USE, "a generator that nested functions share",
                          "; call the generator function where the items are used");
    if (l->value->operands[0]->op != SSA_CELL && type_has_cell(value.type))
        return lower_fail(l, DIAG_UNSUPPORTED,
                          arena_format(l->arena,
                                       "'%s' belongs to a function around this one, and cannot hold a function that "
                                       "shares variables; assign to it in the function that it belongs to",
                                       name));
    const Type *type = content_type(cell.type);
    if (!type || !lower_join_types(l, type, value.type))
        return lower_fail(l, DIAG_TYPE_UNIFY, lower_describe(l, type ? type : &type_none),
                          lower_describe(l, value.type),
                          arena_format(l->arena, " as '%s', which a nested function shares", name));
    Operand converted;
    if (!lower_convert(l, value, type, &converted))
        return false;
    store(l, cell, converted);
    return true;
}

Operand lower_make_cell(Lower *l, const Type *content)
{
    return operand_value(cell_type(l, NULL, content), emit_memory(l, content));
}

Operand lower_cell_get(Lower *l, Operand cell) { return load(l, cell); }

void lower_cell_put(Lower *l, Operand cell, Operand value) { store(l, cell, value); }

bool instance_shares_cells(const Instance *instance)
{
    for (uint32_t i = 0; i < instance->parameter_count; i++)
        if (type_has_cell(instance->parameters[i].type))
            return true;
    return instance->ssa->has_cells;
}
