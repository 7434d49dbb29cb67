/* Checks the shape of typed IR: numbering, terminators, predecessors, phis, and that definitions dominate uses. What
 * each operation asks of its operands is checked in ir_verify_op.c. */
#include "core/ir/ir_verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/ir/ir_graph.h"

typedef struct Verifier {
    const IrFunc *function;
    Arena *arena;              /* dies with the check */
    Diag *diag;
    const IrValue **values;    /* by id */
    IrBlock **blocks;          /* by id */
    uint32_t *place;           /* of a value in its block, by id */
    const IrGraph *graph;      /* once blocks and their targets are known to be right */
} Verifier;

bool verify_fail(Diag *diag, const IrValue *value, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char place[96];
    const char *op = (unsigned)value->op < IR_OP_COUNT ? ir_op_info[value->op].text : "?";
    if (ir_op_info[(unsigned)value->op < IR_OP_COUNT ? value->op : 0].result != IR_RESULT_NOTHING)
        snprintf(place, sizeof place, "block %u, %%%u = %s", value->block->id, value->id, op);
    else
        snprintf(place, sizeof place, "block %u, %s", value->block->id, op);
    char whole[640];
    snprintf(whole, sizeof whole, "%s: %s", place, text);
    return diag_fail(diag, &value->pos, DIAG_IR_INVALID, value->block->function->name, whole);
}

static bool fail(const Verifier *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(const Verifier *v, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    SourcePos pos = {.function = v->function->source,
                     .line = v->function->source ? v->function->source->first_line : 0};
    return diag_fail(v->diag, &pos, DIAG_IR_INVALID, v->function->name, text);
}

/* --- numbering ---------------------------------------------------------------------------------------------------- */

static bool collect_value(Verifier *v, IrBlock *block, const IrValue *value, uint32_t place)
{
    if ((unsigned)value->op >= IR_OP_COUNT)
        return fail(v, "block %u: unknown operation %u", block->id, (unsigned)value->op);
    if (value->block != block)
        return fail(v, "block %u: value %%%u says it belongs to another block", block->id, value->id);
    if (!value->type)
        return fail(v, "block %u: value %%%u has no type", block->id, value->id);
    if (value->id >= v->function->value_count)
        return fail(v, "block %u: number %%%u is not below value_count", block->id, value->id);
    if (v->values[value->id])
        return fail(v, "block %u: number %%%u occurs twice", block->id, value->id);
    v->values[value->id] = value;
    v->place[value->id] = place;
    return true;
}

static bool collect(Verifier *v)
{
    const IrFunc *function = v->function;
    if (!function->first)
        return fail(v, "no block");
    for (IrBlock *block = function->first; block; block = block->next) {
        if (block->function != function)
            return fail(v, "block %u says it belongs to another function", block->id);
        if (block->id >= function->block_count)
            return fail(v, "number of block %u is not below block_count", block->id);
        if (v->blocks[block->id])
            return fail(v, "number of block %u occurs twice", block->id);
        v->blocks[block->id] = block;
        uint32_t place = 0;
        for (const IrValue *value = block->first; value; value = value->next)
            if (!collect_value(v, block, value, place++))
                return false;
    }
    return true;
}

static bool check_parameters(Verifier *v)
{
    const IrFunc *function = v->function;
    const IrValue *value = function->first->first;
    for (uint32_t i = 0; i < function->parameter_count; i++, value = value->next) {
        if (!value || value != function->parameters[i] || value->op != IR_PARAM || value->index != i)
            return fail(v, "parameter %u is not at its place in the first block", i);
        if (!type_equal(value->type, function->parameter_types[i]))
            return fail(v, "the type of parameter %u differs from its value's", i);
    }
    for (uint32_t i = 0; function->passed && i < function->parameter_count; i++)
        if (function->passed[i] && !(function->is_kernel && type_is_record_parameter(function->parameter_types[i])))
            return fail(v, "parameter %u, which is passed by value, is no record of a kernel", i);
    for (uint32_t i = 0; function->extents && i < function->parameter_count * TYPE_MAX_NDIM; i++) {
        const Type *type = function->parameter_types[i / TYPE_MAX_NDIM];
        bool has_axis = function->is_kernel && type->kind == TYPE_ARRAY && i % TYPE_MAX_NDIM < type->ndim;
        if (function->extents[i] && !has_axis)
            return fail(v, "parameter %u, whose extents are known, is no such array of a kernel", i / TYPE_MAX_NDIM);
    }
    if (function->is_kernel && function->result->kind != TYPE_NONE)
        return fail(v, "a kernel has a result");
    return true;
}

/* --- blocks -------------------------------------------------------------------------------------------------------- */

static bool owns_block(const Verifier *v, const IrBlock *block)
{
    return block && block->id < v->function->block_count && v->blocks[block->id] == block;
}

static bool check_order_in_block(Verifier *v, const IrBlock *block)
{
    bool phis_are_over = false;
    if (!ir_is_terminated(block))
        return fail(v, "block %u does not end in a terminator", block->id);
    if (block->loop >= IR_LOOP_MARK_COUNT || (block->loop && block->last->op != IR_BRANCH))
        return fail(v, "block %u is no header of a loop", block->id);
    for (const IrValue *value = block->first; value; value = value->next) {
        if (ir_op_info[value->op].flags & IR_FLAG_TERMINATOR && value->next)
            return verify_fail(v->diag, value, "a terminator is not the last of its block");
        if (value->op == IR_PHI && phis_are_over)
            return verify_fail(v->diag, value, "a phi stands behind other values");
        phis_are_over |= value->op != IR_PHI;
        if (value->op == IR_PARAM &&
            (value->index >= v->function->parameter_count || v->function->parameters[value->index] != value))
            return verify_fail(v->diag, value, "not one of the function's parameters");
        if (!value->next && block->last != value)
            return fail(v, "block %u: last is not its last value", block->id);
    }
    return true;
}

static bool check_targets(Verifier *v, const IrBlock *block)
{
    IrBlock *targets[2];
    for (int i = 0, count = ir_successors(block, targets); i < count; i++)
        if (!owns_block(v, targets[i]))
            return verify_fail(v->diag, block->last, "target %d is not a block of this function", i);
    return true;
}

/* The stored predecessors must be what ir_link_blocks would store. */
static bool check_predecessors(Verifier *v)
{
    uint32_t *seen = ARENA_ARRAY(v->arena, uint32_t, v->function->block_count);
    IrBlock *targets[2];
    for (IrBlock *block = v->function->first; block; block = block->next)
        for (int i = 0, count = ir_successors(block, targets); i < count; i++) {
            const IrBlock *target = targets[i];
            uint32_t place = seen[target->id]++;
            if (place >= target->predecessor_count || target->predecessors[place] != block)
                return fail(v, "block %u is not predecessor %u of block %u: call ir_link_blocks", block->id, place,
                            target->id);
        }
    for (const IrBlock *block = v->function->first; block; block = block->next)
        if (seen[block->id] != block->predecessor_count)
            return fail(v, "block %u has a predecessor that does not go there", block->id);
    if (v->function->first->predecessor_count)
        return fail(v, "the first block has a predecessor");
    return true;
}

/* --- values --------------------------------------------------------------------------------------------------------- */

static bool check_operand(const Verifier *v, const IrValue *value, uint32_t i)
{
    const IrValue *operand = value->operands[i];
    if (!operand)
        return verify_fail(v->diag, value, "operand %u is missing", i);
    if (operand->id >= v->function->value_count || v->values[operand->id] != operand)
        return verify_fail(v->diag, value, "operand %u is not a value of this function", i);
    if (operand->op != IR_PARAM && !ir_has_result(operand))
        return verify_fail(v->diag, value, "operand %u has no result", i);
    bool dominates = value->op == IR_PHI ? ir_dominates(v->graph, operand->block, value->block->predecessors[i])
                     : operand->block == value->block ? v->place[operand->id] < v->place[value->id]
                                                      : ir_dominates(v->graph, operand->block, value->block);
    if (!dominates)
        return verify_fail(v->diag, value, "operand %u, %%%u, does not dominate its use", i, operand->id);
    return true;
}

static bool check_value(const Verifier *v, const IrValue *value)
{
    if (value->op == IR_PHI && value->operand_count != value->block->predecessor_count)
        return verify_fail(v->diag, value, "%u operands for %u predecessors", value->operand_count,
                           value->block->predecessor_count);
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!check_operand(v, value, i))
            return false;
    return verify_operation(value, v->diag);
}

static bool verify_blocks(Verifier *v)
{
    for (const IrBlock *block = v->function->first; block; block = block->next)
        if (!check_order_in_block(v, block) || !check_targets(v, block))
            return false;
    if (!check_predecessors(v))
        return false;
    v->graph = ir_graph(v->function, v->arena);
    for (const IrBlock *block = v->function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (!check_value(v, value))
                return false;
    return true;
}

static bool verify_function(const IrFunc *function, Arena *arena, Diag *diag)
{
    Verifier v = {.function = function,
                  .arena = arena,
                  .diag = diag,
                  .values = ARENA_ARRAY(arena, const IrValue *, function->value_count),
                  .place = ARENA_ARRAY(arena, uint32_t, function->value_count),
                  .blocks = ARENA_ARRAY(arena, IrBlock *, function->block_count)};
    return collect(&v) && check_parameters(&v) && verify_blocks(&v);
}

static bool verify_names(const IrModule *module, Diag *diag)
{
    for (const IrFunc *function = module->first; function; function = function->next)
        for (const IrFunc *other = function->next; other; other = other->next)
            if (!strcmp(function->name, other->name))
                return diag_fail(diag, NULL, DIAG_IR_INVALID, function->name, "two functions have this name");
    return true;
}

bool ir_verify(const IrModule *module, Diag *diag)
{
    if (!module->first)
        return diag_fail(diag, NULL, DIAG_IR_INVALID, "a module", "it has no function");
    if (!verify_names(module, diag))
        return false;
    Arena *arena = arena_create();
    bool ok = arena != NULL;
    for (const IrFunc *function = module->first; function && ok; function = function->next)
        ok = verify_function(function, arena, diag);
    arena_destroy(arena);
    return ok;
}
