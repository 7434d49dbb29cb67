/* Puts a function's values back one by one, and splits blocks. A block that is split goes on in one right behind it, so
 * that the order of edges stays what it was, and with it the operands of phis. */
#include "codegen/check/rewrite.h"

#include <assert.h>
#include <string.h>

#include "core/diagnostic/exception_record.h"

/* A block in no list yet. */
static IrBlock *new_block(Rewrite *rewrite)
{
    IrBlock *block = ARENA_NEW(rewrite->module->arena, IrBlock);
    block->function = rewrite->function;
    block->id = rewrite->function->block_count++;
    return block;
}

static void insert_behind(IrBlock *before, IrBlock *block)
{
    block->next = before->next;
    before->next = block;
    if (before->function->last == before)
        before->function->last = block;
}

void rewrite_keep(Rewrite *rewrite, IrValue *value)
{
    IrBlock *block = rewrite->block;
    value->next = NULL;
    value->block = block;
    *(block->last ? &block->last->next : &block->first) = value;
    block->last = value;
    rewrite->done = value;
}

void rewrite_drop(Rewrite *rewrite, IrValue *value) { rewrite->done = value; }

IrValue *rewrite_emit(Rewrite *rewrite, IrOp op, const Type *type, uint32_t count, IrValue *const *operands)
{
    return ir_append(rewrite->block, op, type, rewrite->pos, count, operands);
}

IrValue *rewrite_int(Rewrite *rewrite, const Type *type, int64_t value)
{
    return ir_const_int(rewrite->block, type, value, rewrite->pos);
}

IrBlock *rewrite_unless(Rewrite *rewrite, IrValue *holds)
{
    IrBlock *next = new_block(rewrite), *cold = new_block(rewrite);
    ir_branch(rewrite->block, holds, next, cold, rewrite->pos);
    insert_behind(rewrite->block, next);
    *(rewrite->cold ? &rewrite->last_cold->next : &rewrite->cold) = cold;
    rewrite->last_cold = cold;
    rewrite->block = next;
    return cold;
}

static const Type *tuple_of(Arena *arena, uint32_t count, IrValue *const *values)
{
    const Type **items = ARENA_ARRAY(arena, const Type *, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = values[i]->type;
    return type_tuple(arena, items, count, TUPLE_PLAIN);
}

/* The format, with the name in the place of {array}: the expression is a call of the library, its array another one's. */
static const char *named_in_library(Arena *arena, const char *format, const char *name)
{
    const char *place = strstr(format, "{array}");
    if (!place)
        return format;
    const char *shown = name ? arena_format(arena, "'%s'", name) : "an array";
    return arena_format(arena, "%.*s%s%s", (int)(place - format), format, shown, place + strlen("{array}"));
}

/* Its number. */
static uint32_t add_exception(Rewrite *rewrite, const char *class, const char *format, const char *array,
                              uint32_t count, IrValue *const *values)
{
    Arena *arena = rewrite->module->arena;
    Constant *named = ARENA_NEW(arena, Constant);
    *named = (Constant){.kind = CONSTANT_NAMESPACE, .is_exception = true, .text = class};
    IrExceptionArgument *argument = ARENA_NEW(arena, IrExceptionArgument);
    const SourcePos *site = &rewrite->function->site;
    if (site->function)
        format = named_in_library(arena, format, array);
    *argument = (IrExceptionArgument){.format = format, .type = tuple_of(arena, count, values)};
    IrException exception = {.class = named,
                             .argument_count = 1,
                             .arguments = argument,
                             .pos = site->function ? *site : *rewrite->pos,
                             .is_check = true,
                             .array = array};
    return ir_add_exception(rewrite->module, &exception);
}

const char *rewrite_name_of(const Rewrite *rewrite, const IrValue *array)
{
    switch (array->op) {
    case IR_PARAM: return rewrite->function->parameter_names[array->index];
    case IR_LOCAL:
    case IR_SHARED: return array->storage->name;
    default: return NULL;
    }
}

void rewrite_fail(Rewrite *rewrite, IrBlock *block, const char *class, const char *format, const char *array,
                  uint32_t count, IrValue *const *values)
{
    ir_raise(block, add_exception(rewrite, class, format, array, count, values), rewrite->pos, count, values);
}

void rewrite_note(Rewrite *rewrite, IrValue *condition, const char *class, const char *format, uint32_t count,
                  IrValue *const *values)
{
    IrValue *operands[1 + EXCEPTION_SLOTS] = {condition};
    assert(count <= EXCEPTION_SLOTS);
    for (uint32_t i = 0; i < count; i++)
        operands[1 + i] = values[i];
    uint32_t number = add_exception(rewrite, class, format, NULL, count, values);
    rewrite_emit(rewrite, IR_NOTE, &type_none, 1 + count, operands)->index = number;
    rewrite->module->has_notes = true;
}

static bool comes_first(const IrValue *value) { return value && (value->op == IR_PHI || value->op == IR_PARAM); }

static void rewrite_block(Rewrite *rewrite, IrBlock *block, RewriteValue visit, void *user)
{
    IrValue *next = block->first, *value;
    rewrite->block = block;
    block->first = block->last = NULL;
    while (comes_first(next)) {
        value = next;
        next = next->next;
        rewrite_keep(rewrite, value);
    }
    IrValue *last = block->last;
    for (value = last ? block->first : NULL; value; value = value == last ? NULL : value->next) {
        rewrite->pos = &value->pos;
        visit(rewrite, value, user);
    }
    for (; next; next = value) {
        value = next->next;
        rewrite->pos = &next->pos;
        visit(rewrite, next, user);
        if (rewrite->done != next)
            rewrite_keep(rewrite, next);
    }
}

void rewrite_function(IrFunc *function, RewriteValue visit, void *user)
{
    Rewrite rewrite = {.module = function->module, .function = function};
    for (IrBlock *block = function->first, *next; block; block = next) {
        next = block->next;
        rewrite_block(&rewrite, block, visit, user);
    }
    if (rewrite.cold) {
        function->last->next = rewrite.cold;
        function->last = rewrite.last_cold;
    }
    ir_link_blocks(function);
    ir_renumber(function);
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next)
            assert(phi->operand_count == block->predecessor_count);
}
