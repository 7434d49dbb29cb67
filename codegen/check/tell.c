/* Watchers are functions of the module like any other: what is told becomes calls of them, with the state of the launch in
 * hand. A thread keeps what it knows of itself in a local array, which begins with the kernel. */
#include "codegen/check/tell.h"

#include <string.h>

#include "codegen/check/rewrite.h"

enum { MOST_NUMBERS = 16 };

typedef struct Telling {
    IrValue *state, *own; /* of the function at hand; own NULL: the kernel has not begun */
} Telling;

/* --- parameters -------------------------------------------------------------------------------------------------------- */

/* A watcher is told, and what is PTX on a GPU tells nothing. */
static bool tells(const IrFunc *function) { return !function->lacks_body && !function->assembly; }

static const void **grown(Arena *arena, const void *items, uint32_t count)
{
    const void **copy = ARENA_ARRAY(arena, const void *, count + 1);
    if (count)
        memcpy(copy, items, count * sizeof *copy);
    return copy;
}

static void insert_parameter(IrFunc *function, IrValue *parameter)
{
    IrBlock *entry = function->first;
    IrValue *last = parameter->index ? function->parameters[parameter->index - 1] : NULL;
    IrValue **place = last ? &last->next : &entry->first;
    parameter->next = *place;
    *place = parameter;
    if (!parameter->next)
        entry->last = parameter;
}

static void add_parameter(IrFunc *function, const char *name)
{
    Arena *arena = function->module->arena;
    uint32_t count = function->parameter_count++;
    const void **types = grown(arena, function->parameter_types, count);
    const void **names = grown(arena, function->parameter_names, count);
    const void **parameters = grown(arena, function->parameters, count);
    IrValue *parameter = ARENA_NEW(arena, IrValue);
    *parameter = (IrValue){
        .op = IR_PARAM, .type = &type_words, .id = function->value_count++, .block = function->first, .index = count};
    types[count] = &type_words;
    names[count] = name;
    parameters[count] = parameter;
    function->parameter_types = (const Type *const *)types;
    function->parameter_names = (const char *const *)names;
    function->parameters = (IrValue **)parameters;
    insert_parameter(function, parameter);
}

static void add_parameters(IrFunc *function)
{
    add_parameter(function, "launch_state");
    if (!function->is_kernel)
        add_parameter(function, "thread_state");
}

/* --- calls ------------------------------------------------------------------------------------------------------------- */

static IrValue *tell(Rewrite *rewrite, const Telling *telling, WatcherId id, IrValue *const *numbers)
{
    IrValue *operands[2 + MOST_NUMBERS] = {telling->state, telling->own};
    IrFunc *watcher = rewrite->module->watchers[id];
    for (uint32_t i = 0; i < watcher_info[id].count; i++)
        operands[2 + i] = numbers[i];
    IrValue *call = rewrite_emit(rewrite, IR_CALL, watcher->result, watcher->parameter_count, operands);
    call->callee = watcher;
    return call;
}

static IrValue *number(Rewrite *rewrite, int64_t value) { return rewrite_int(rewrite, TYPE_OF(INT64), value); }

/* As a slot of an ExceptionRecord has it. */
static IrValue *slot_of(Rewrite *rewrite, IrValue *value)
{
    if (value->type->kind != TYPE_FLOAT)
        return rewrite_emit(rewrite, IR_CONVERT, TYPE_OF(INT64), 1, &value);
    IrValue *wide = rewrite_emit(rewrite, IR_CONVERT, TYPE_OF(FLOAT64), 1, &value);
    return rewrite_emit(rewrite, IR_BITCAST, TYPE_OF(INT64), 1, &wide);
}

/* Called seldom: out of the way. */
static void tell_note(Rewrite *rewrite, const Telling *telling, IrValue *note)
{
    IrValue *holds = rewrite_emit(rewrite, IR_NOT, TYPE_OF(BOOL), 1, note->operands);
    IrBlock *seldom = rewrite_unless(rewrite, holds), *next = rewrite->block;
    rewrite->block = seldom;
    IrValue *numbers[3] = {number(rewrite, note->index), NULL, NULL};
    for (uint32_t i = 1; i < 3; i++)
        numbers[i] = i < note->operand_count ? slot_of(rewrite, note->operands[i]) : number(rewrite, 0);
    tell(rewrite, telling, WATCHER_NOTE, numbers);
    ir_jump(seldom, next, rewrite->pos);
    rewrite->block = next;
    rewrite_drop(rewrite, note);
}

/* --- functions --------------------------------------------------------------------------------------------------------- */

static void pass_on(Rewrite *rewrite, const Telling *telling, IrValue *call)
{
    uint32_t count = call->operand_count;
    IrValue **operands = ARENA_ARRAY(rewrite->module->arena, IrValue *, count + 2);
    if (count)
        memcpy(operands, call->operands, count * sizeof *operands);
    operands[count] = telling->state;
    operands[count + 1] = telling->own;
    call->operands = operands;
    call->operand_count = count + 2;
}

static void begin(Rewrite *rewrite, Telling *telling)
{
    IrStorage *storage = ARENA_NEW(rewrite->module->arena, IrStorage);
    *storage = (IrStorage){.shape = {OWN_WORDS}};
    telling->own = rewrite_emit(rewrite, IR_LOCAL, &type_words, 0, NULL);
    telling->own->storage = storage;
    tell(rewrite, telling, WATCHER_BEGIN, NULL);
}

static void tell_value(Rewrite *rewrite, IrValue *value, void *user)
{
    Telling *telling = user;
    if (!telling->own && value->op != IR_PARAM)
        begin(rewrite, telling);
    if (value->op == IR_NOTE)
        tell_note(rewrite, telling, value);
    else if (value->op == IR_CALL && tells(value->callee))
        pass_on(rewrite, telling, value);
}

/* --- the module -------------------------------------------------------------------------------------------------------- */

static bool is_watcher(const IrModule *module, const IrFunc *function)
{
    for (int id = 0; id < WATCHER_COUNT; id++)
        if (function == module->watchers[id])
            return true;
    return false;
}

static void mark_called(const IrModule *module, const IrFunc *function, bool *is_called)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_CALL)
                is_called[ir_place_of(module, value->callee)] = true;
}

/* What is called only by what is taken away stays: LLVM drops it. */
static void drop_unused(IrModule *module)
{
    bool *is_called = ARENA_ARRAY(module->arena, bool, module->function_count);
    IrFunc **place = &module->first;
    uint32_t number = 0;
    for (const IrFunc *function = module->first; function; function = function->next)
        mark_called(module, function, is_called);
    for (IrFunc *function = module->first; function; function = function->next, number++)
        if (number == 0 || is_called[number] || !is_watcher(module, function)) {
            *place = module->last = function;
            place = &function->next;
        } else
            module->function_count--;
    *place = NULL;
}

void check_tell(IrModule *module)
{
    Telling telling = {0};
    if (!module->has_notes) {
        drop_unused(module);
        return;
    }
    for (IrFunc *function = module->first; function != module->first_watcher; function = function->next)
        if (tells(function))
            add_parameters(function);
    for (IrFunc *function = module->first; function != module->first_watcher; function = function->next) {
        if (!tells(function))
            continue;
        uint32_t count = function->parameter_count;
        telling.state = function->parameters[function->is_kernel ? count - 1 : count - 2];
        telling.own = function->is_kernel ? NULL : function->parameters[count - 1];
        rewrite_function(function, tell_value, &telling);
    }
    drop_unused(module);
    module->has_state = true;
}
