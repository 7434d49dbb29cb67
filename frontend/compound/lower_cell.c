/* Variables that nested functions share: memory of the thread's own that holds one value. The optimizer makes registers of
 * it where the functions are inlined. What a variable holds may lead to the variable again, as functions do that call each
 * other: its type is the variable itself, which knows what it holds. */
#include "frontend/compound/generator.h"
#include "frontend/compound/lower_cell.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"

/* --- how functions share variables ---------------------------------------------------------------------------------
 *
 * count = 0                    %1 = cell undefined         memory of the thread for one value def bump(by):
 * cell_store %1, 0
 *         nonlocal count           call bump(2, %1)            what a function captures are more parameters
 *         count += by
 * bump(2)                      device bump(by, count):     cell_store count, (cell_load count) + by
 *
 * A variable that a nested function reads and nobody assigns later is passed as a value; cell_analysis.c finds those
 * that are to be memory. A cell has no type of its own while types are inferred: its content is what all functions that
 * share it have stored so far (CellContent). When one of them widens it, the request's cell_version grows, and every
 * instance that shares cells and has been inferred at an older version is inferred again.
 *
 * Memory of a function is gone when it returns. A function that returns a closure, or a generator with cells, therefore
 * borrows: its caller lends memory_words words, as one more parameter, and the caller of that caller where it returns
 * the closure in turn. So the instance that lends must know the size: the callee's IR is emitted before the call is. */

/* A generator that has memory of its own carries it behind its arguments. */
static bool has_memory(const Type *type)
{
    return type_is_generator(type) && type->count > ((const Instance *)type->object)->parameter_count;
}

bool type_has_cell(const Type *type)
{
    bool found = (type_is_tagged(type, TUPLE_CELL)) || has_memory(type);
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        found |= type_has_cell(type->items[i]);
    return found;
}

static bool is_cell(const Type *type) { return type_is_tagged(type, TUPLE_CELL); }

/* What is known of a shared variable while types are inferred: every function that shares it adds what it stores. */
typedef struct CellContent {
    const Type *type; /* of all values; NULL: none yet */
    const Instance *owner; /* whose variable it is */
    bool may_lack; /* a value, where it is read, which somebody wants to be told of */
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

/* The memory `offset` bytes behind the start of an array. */
static IrValue *emit_place(Lower *l, IrValue *array, int64_t offset)
{
    IrValue *operands[] = {array, array->type->ndim ? emit_int(l, TYPE_OF(INT64), 0) : NULL};
    IrValue *place = emit(l, IR_SUBARRAY, &type_memory, 1u + array->type->ndim, operands);
    place->integer = offset;
    return place;
}

/* The next words of what the function was lent. */
static IrValue *emit_part_of_memory(Lower *l, uint32_t words)
{
    uint32_t before = l->instance->memory_words;
    l->instance->memory_words += words;
    return emit_place(l, l->memory, 8 * (int64_t)before);
}

/* Beside its value lies whether it is assigned. Of a function nothing may lie there; one that shares variables is asked
 * itself (check_assigned). */
static bool has_flag(const Type *cell)
{
    const CellContent *content = cell->object;
    return content && content->may_lack && content->type && content->type->kind != TYPE_NONE &&
           content->type->kind != TYPE_OBJECT && !type_has_cell(content->type);
}

/* What lies in the cell's memory; NULL: nothing was stored so far. */
static const Type *memory_type(Lower *l, const Type *cell)
{
    const Type *content = content_type(cell);
    if (!has_flag(cell))
        return content;
    return type_tuple(l->arena, (const Type *[]){erased_type(l->arena, content), TYPE_OF(BOOL)}, 2, TUPLE_PLAIN);
}

static uint32_t word_count(Lower *l, const Type *content)
{
    return content ? type_part_count(erased_type(l->arena, content)) : 0;
}

/* Zero, as nothing is stored there yet. lent: where the memory is if it is no memory of the function's own. */
static IrValue *emit_memory(Lower *l, const Type *content, IrValue *lent)
{
    IrValue *nothing = emit(l, IR_UNDEFINED, content ? content : &type_none, 0, NULL);
    if (!lent)
        return emit1(l, IR_CELL, &type_memory, nothing);
    emit2(l, IR_CELL_STORE, &type_none, lent, nothing);
    return lent;
}

bool instance_borrows_memory(const Instance *instance)
{
    if (instance->ssa->is_generator)
        return instance->ssa->has_cells || instance->makes_cells;
    return !instance->is_kernel && instance->called_by && instance->result.type && type_has_cell(instance->result.type);
}

bool emit_lent_memory(Lower *l, Instance *callee, IrValue **out)
{
    if (!emit_instance(l->frontend, callee))
        return false;
    if (!callee->is_complete)
        return lower_fail(l, DIAG_UNSUPPORTED,
                          "a function that calls itself cannot return a function that shares variables; call that "
                          "function where it is made");
    if (l->memory)
        return *out = emit_part_of_memory(l, callee->memory_words), true;
    const Type *words = type_array(l->arena, TYPE_OF(INT64), 1, LAYOUT_C, false);
    IrValue *memory = emit(l, IR_LOCAL, words, 0, NULL);
    IrStorage *storage = ARENA_NEW(l->arena, IrStorage);
    storage->shape[0] = callee->memory_words;
    memory->storage = storage;
    return *out = emit_place(l, memory, 0), true;
}

void place_cells(Lower *l)
{
    for (const SsaValue *value = l->instance->ssa->blocks[0].first; value; value = value->next) {
        Operand *fact = &l->instance->facts[value->id];
        if (value->op == SSA_CELL && fact->type)
            fact->ir = emit_part_of_memory(l, word_count(l, memory_type(l, fact->type)));
    }
    for (uint32_t i = 0; i < l->instance->ssa->block_count; i++)
        for (const SsaValue *value = l->instance->ssa->blocks[i].first; value; value = value->next) {
            Operand *fact = &l->instance->facts[value->id];
            if (value->is_at_entry && fact->type)
                lower_value(l, value, fact);
        }
}

bool lower_cell(Lower *l, const SsaValue *value, Operand *out)
{
    Operand fact = l->instance->facts[value->id];
    if (!fact.type) {
        CellContent *content = ARENA_NEW(l->arena, CellContent);
        content->owner = l->instance;
        content->may_lack =
            value->argument && l->frontend->request->checks & CHECKS_ALL && !l->instance->code->is_library;
        fact.type = cell_type(l, content, NULL);
    }
    return *out = operand_value(fact.type, emit_memory(l, memory_type(l, fact.type), fact.ir)), true;
}

static void check_flag(Lower *l, const Type *cell, IrValue *memory)
{
    IrValue *is_missing = emit1(l, IR_NOT, TYPE_OF(BOOL), emit_index_op(l, IR_GET, TYPE_OF(BOOL), memory, 1));
    bool is_own = ((const CellContent *)cell->object)->owner == l->instance;
    (is_own ? emit_unbound_check : emit_unbound_capture_check)(l, is_missing, l->value->name);
}

static Operand load(Lower *l, Operand cell)
{
    const Type *type = content_type(cell.type);
    if (type->kind == TYPE_NONE)
        return operand_none();
    if (type->kind == TYPE_OBJECT)
        return (Operand){.type = type, .constant = type->object};
    if (!l->emitting || !has_flag(cell.type))
        return operand_value(type, emit1(l, IR_CELL_LOAD, type, cell.ir));
    const Type *both = memory_type(l, cell.type);
    IrValue *memory = emit1(l, IR_CELL_LOAD, both, cell.ir);
    check_flag(l, cell.type, memory);
    return operand_value(type, emit_index_op(l, IR_GET, both->items[0], memory, 0));
}

static void store(Lower *l, Operand cell, Operand value)
{
    if (value.type->kind == TYPE_NONE || value.type->kind == TYPE_OBJECT)
        return;
    IrValue *memory = operand_ir(l, value);
    if (l->emitting && has_flag(cell.type)) {
        IrValue *parts[] = {memory, operand_ir(l, operand_bool(l, true))};
        memory = emit(l, IR_TUPLE, memory_type(l, cell.type), 2, parts);
    }
    emit2(l, IR_CELL_STORE, &type_none, cell.ir, memory);
}

/* A cell that is part of the value; NULL where there is none. */
static IrValue *cell_inside(Lower *l, Operand value)
{
    IrValue *found = is_cell(value.type) ? value.ir : NULL;
    for (uint32_t i = 0; value.type->kind == TYPE_TUPLE && !found && i < value.type->count; i++)
        if (type_has_cell(value.type->items[i]))
            found = cell_inside(l, lower_tuple_item(l, value, i));
    return found;
}

/* A function that shares variables leads nowhere while it is not assigned. Only such values are looked at: what other
 * variables hold before they are assigned does no harm. */
static void check_assigned(Lower *l, Operand value)
{
    IrValue *inside = l->emitting && type_has_cell(value.type) ? cell_inside(l, value) : NULL;
    if (!inside)
        return;
    const Type *i64 = TYPE_OF(INT64);
    IrValue *address = emit1(l, IR_ADDRESS, i64, inside);
    IrValue *is_missing = emit2(l, IR_EQ, TYPE_OF(BOOL), address, emit_int(l, i64, 0));
    const char *name = l->value->name ? l->value->name : "this function";
    emit_check_or_trap(l, is_missing, "NameError",
                       arena_format(l->arena, "variable '%s' is not associated with a value", name));
}

bool lower_cell_load(Lower *l, Operand cell, Operand *out)
{
    if (!is_cell(cell.type))
        return *out = cell, true; /* captured by value */
    if (!content_type(cell.type))
        return true; /* nothing is known to be stored there yet */
    *out = load(l, cell);
    check_assigned(l, *out);
    return true;
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
    if (l->emitting && !check_cell_kept(l, value.type))
        return false;
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

/* What it held is left, where nobody asks whether it is there: functions that share variables are (check_assigned). */
bool lower_cell_delete(Lower *l, const SsaValue *value, Operand cell, Operand *out)
{
    *out = operand_none();
    if (!is_cell(cell.type))
        return lower_fail(l, DIAG_UNSUPPORTED,
                          arena_format(l->arena,
                                       "'%s' belongs to a Python function around the kernel, and cannot be deleted",
                                       value->name));
    const Type *content = content_type(cell.type);
    if (!l->emitting || !content || !(has_flag(cell.type) || type_has_cell(content)))
        return true;
    const Type *type = memory_type(l, cell.type);
    if (has_flag(cell.type) && !value->argument)
        check_flag(l, cell.type, emit1(l, IR_CELL_LOAD, type, cell.ir));
    emit2(l, IR_CELL_STORE, &type_none, cell.ir, emit(l, IR_UNDEFINED, type, 0, NULL));
    return true;
}

Operand lower_make_cell(Lower *l, const Type *content)
{
    IrValue *lent = l->memory ? emit_part_of_memory(l, word_count(l, content)) : NULL;
    l->instance->makes_cells = true;
    return operand_value(cell_type(l, NULL, content), emit_memory(l, content, lent));
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

/* --- memory that each trip of a loop would need anew --------------------------------------------------------------- */

static bool has_content(const Type *type, const CellContent *content)
{
    if (type->kind != TYPE_TUPLE)
        return false;
    bool found = type_is_tagged(type, TUPLE_CELL) && type->object == content;
    for (uint32_t i = 0; !found && i < type->count; i++)
        found = has_content(type->items[i], content);
    return found;
}

/* Both types lead to one variable, of another function than this. */
static bool share_foreign_cell(const Lower *l, const Type *a, const Type *b)
{
    if (a->kind != TYPE_TUPLE)
        return false;
    const CellContent *content = type_is_tagged(a, TUPLE_CELL) ? a->object : NULL;
    bool found = content && content->owner != l->instance && has_content(b, content);
    for (uint32_t i = 0; !found && i < a->count; i++)
        found = share_foreign_cell(l, a->items[i], b);
    return found;
}

/* A call in a loop gives such a value: each trip has the memory of the one before. */
static bool is_made_in_loop(Lower *l, const Type *type)
{
    const SsaFunction *ssa = l->instance->ssa;
    int64_t trips;
    if (ssa->is_one_for_one && generator_known_count(l->instance->parameters[0].type, NULL, &trips) && trips == 1)
        return false;
    for (uint32_t i = 0; i < ssa->block_count; i++) {
        if (!l->instance->block_reached[i] || !ssa->blocks[i].cfg->loop_depth)
            continue;
        for (const SsaValue *value = ssa->blocks[i].first; value; value = value->next) {
            const Type *result = value->op == SSA_CALL ? l->instance->facts[value->id].type : NULL;
            if (result && share_foreign_cell(l, type, result))
                return true;
        }
    }
    return false;
}

bool check_cell_kept(Lower *l, const Type *type)
{
    return !type_has_cell(type) || !is_made_in_loop(l, type) ||
           lower_fail(
               l, DIAG_UNSUPPORTED,
               "a function that shares variables and is made in a loop by a call cannot outlive the loop's trip; "
               "make it before the loop, or give it the values as arguments");
}
