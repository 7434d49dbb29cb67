/* Copies a module's exceptions out of the arena of its compilation. */
#include "jit/exception_table.h"

#include "jit/callers.h"

static const char *copy_text(Arena *arena, const char *text) { return text ? arena_string(arena, text) : NULL; }

/* Numbers, text, tuples of them, and classes: what exceptions are made of. */
static const Constant *copy_constant(Arena *arena, const Constant *constant)
{
    if (!constant)
        return NULL;
    Constant *copy = ARENA_NEW(arena, Constant);
    *copy = (Constant){.kind = constant->kind,
                       .is_unsigned = constant->is_unsigned,
                       .integer = constant->integer,
                       .real = constant->real,
                       .imaginary = constant->imaginary,
                       .text = copy_text(arena, constant->text),
                       .is_exception = constant->is_exception,
                       .host_class = constant->host_class};
    if (constant->kind != CONSTANT_TUPLE)
        return copy;
    const Constant **items = ARENA_ARRAY(arena, const Constant *, constant->count);
    for (uint32_t i = 0; i < constant->count; i++)
        items[i] = copy_constant(arena, constant->items[i]);
    copy->items = items;
    copy->count = constant->count;
    return copy;
}

static void copy_exception(Arena *arena, const IrException *from, IrException *to)
{
    IrExceptionArgument *arguments = ARENA_ARRAY(arena, IrExceptionArgument, from->argument_count);
    for (uint32_t i = 0; i < from->argument_count; i++)
        arguments[i] = (IrExceptionArgument){.constant = copy_constant(arena, from->arguments[i].constant),
                                             .format = copy_text(arena, from->arguments[i].format),
                                             .type = type_copy(arena, from->arguments[i].type),
                                             .first_slot = from->arguments[i].first_slot};
    *to = (IrException){.class = copy_constant(arena, from->class),
                        .argument_count = from->argument_count,
                        .arguments = arguments,
                        .pos = from->pos,
                        .is_check = from->is_check,
                        .array = copy_text(arena, from->array),
                        .element = from->element ? type_copy(arena, from->element) : NULL};
}

/* Those of one function have the same. */
static void note_callers(const Callers *callers, const IrFunc *function, IrException *exceptions)
{
    const char *text = jit_callers_of(callers, function);
    for (const IrBlock *block = function->first; text && block; block = block->next) {
        const IrValue *last = block->last;
        if (last && last->op == IR_RAISE && last->hint != IR_SILENT && exceptions[last->index].is_check)
            exceptions[last->index].callers = text;
    }
}

static void note_all_callers(const IrModule *module, Arena *arena, IrException *exceptions)
{
    Callers callers;
    jit_callers_begin(&callers, module, arena);
    for (const IrFunc *function = module->first; function; function = function->next)
        note_callers(&callers, function, exceptions);
    jit_callers_end(&callers);
}

void jit_keep_exceptions(const IrModule *module, JitSpecialization *specialization)
{
    specialization->has_notes = module->has_notes;
    if (!module->first->reports && !module->has_notes && !module->has_state)
        return;
    IrException *exceptions = ARENA_ARRAY(specialization->arena, IrException, module->exception_count);
    for (uint32_t i = 0; i < module->exception_count; i++)
        copy_exception(specialization->arena, &module->exceptions[i], &exceptions[i]);
    note_all_callers(module, specialization->arena, exceptions);
    specialization->exceptions = exceptions;
    specialization->exception_count = module->exception_count;
}
