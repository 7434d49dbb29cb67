/* Watchers are functions of the module like any other: what is told becomes calls of them, with the state of the launch in
 * hand, and so do barriers and what else threads meet at where races are looked for. A thread keeps what it knows of itself in a local array, which begins with the kernel. */
#include "codegen/check/tell.h"

#include <string.h>

#include "codegen/check/rewrite.h"

enum { MOST_NUMBERS = 16 };

/* Local arrays of the module: where a thread keeps what it knows of the next one, and its bits. */
typedef struct OwnArrays {
    uint32_t next_at, bits_at, end;
} OwnArrays;

typedef struct Telling {
    IrValue *state, *own; /* of the function at hand; own NULL: the kernel has not begun */
    OwnArrays arrays;
} Telling;

static bool looks_for(const IrModule *module, WatcherId id) { return module->watchers[id] != NULL; }

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

/* --- accesses --------------------------------------------------------------------------------------------------------- */

/* Whether its bits fit a number. */
static bool has_bits(const Type *type)
{
    return type->kind == TYPE_BOOL || type->kind == TYPE_INT || type->kind == TYPE_UINT || type->kind == TYPE_FLOAT;
}

static IrValue *bits_of(Rewrite *rewrite, IrValue *value)
{
    const Type *type = value->type;
    if (type->kind == TYPE_FLOAT) {
        const Type *same = type->size == 8 ? TYPE_OF(INT64) : type->size == 4 ? TYPE_OF(INT32) : TYPE_OF(INT16);
        value = rewrite_emit(rewrite, IR_BITCAST, same, 1, &value);
    }
    return value->type == TYPE_OF(INT64) ? value : rewrite_emit(rewrite, IR_CONVERT, TYPE_OF(INT64), 1, &value);
}

static IrValue *address_of(Rewrite *rewrite, const IrValue *watch)
{
    const Type *array = watch->operands[0]->type;
    const Type *element = type_array_like(rewrite->module->arena, array, 0, LAYOUT_C);
    IrValue *place = rewrite_emit(rewrite, IR_SUBARRAY, element, 1u + array->ndim, watch->operands);
    return rewrite_emit(rewrite, IR_ADDRESS, TYPE_OF(INT64), 1, &place);
}

/* Past the first cache, as another thread may have left it. */
static IrValue *bits_in_memory(Rewrite *rewrite, const IrValue *watch)
{
    const Type *array = watch->operands[0]->type;
    IrValue *load = rewrite_emit(rewrite, IR_LOAD, array->element, 1u + array->ndim, watch->operands);
    load->hint = IR_HINT_CV;
    return bits_of(rewrite, load);
}

static void keep_own(Rewrite *rewrite, const Telling *telling, uint32_t place, IrValue *value)
{
    IrValue *operands[3] = {telling->own, number(rewrite, place), value};
    rewrite_emit(rewrite, IR_STORE, &type_none, 3, operands);
}

static void keep_indices(Rewrite *rewrite, const Telling *telling, const IrValue *watch)
{
    const Type *array = watch->operands[0]->type;
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        keep_own(rewrite, telling, OWN_INDICES + axis, watch->operands[1 + axis]);
    keep_own(rewrite, telling, OWN_NDIM, number(rewrite, array->ndim));
}

/* Goes on in a block of its own, for threads of which the watcher has said something; ends with leave_seldom(). */
static IrBlock *enter_seldom(Rewrite *rewrite, IrValue *said)
{
    IrValue *pair[2] = {said, number(rewrite, 0)};
    IrBlock *seldom = rewrite_unless(rewrite, rewrite_emit(rewrite, IR_EQ, TYPE_OF(BOOL), 2, pair));
    IrBlock *next = rewrite->block;
    rewrite->block = seldom;
    return next;
}

static void leave_seldom(Rewrite *rewrite, IrBlock *next)
{
    ir_jump(rewrite->block, next, rewrite->pos);
    rewrite->block = next;
}

/* Where the watcher suspects a race, it is told what the memory has, and the indices for the report. */
static void tell_race(Rewrite *rewrite, const Telling *telling, const IrValue *watch, IrValue *const *told)
{
    const Type *array = watch->operands[0]->type;
    keep_indices(rewrite, telling, watch);
    IrValue *numbers[6] = {told[1], told[2],
                           told[3], told[4],
                           told[5], has_bits(array->element) ? bits_in_memory(rewrite, watch) : number(rewrite, 0)};
    tell(rewrite, telling, WATCHER_RACE, numbers);
}

/* A record that is copied may have fields that are not written. */
static void tell_bytes(Rewrite *rewrite, const Telling *telling, const IrValue *watch)
{
    bool writes = watch->hint == WATCH_WRITE || watch->hint == WATCH_STRONG_WRITE;
    if (watch->hint == WATCH_COPY)
        return;
    IrValue *numbers[3] = {address_of(rewrite, watch)};
    numbers[1] = number(rewrite, watch->operands[0]->type->element->size);
    numbers[2] = number(rewrite, writes);
    IrValue *said = tell(rewrite, telling, WATCHER_BYTES, numbers);
    if (writes)
        return;
    IrBlock *next = enter_seldom(rewrite, said);
    keep_indices(rewrite, telling, watch);
    IrValue *fault[2] = {number(rewrite, watch->hint)};
    fault[1] = number(rewrite, watch->index);
    tell(rewrite, telling, WATCHER_UNWRITTEN, fault);
    leave_seldom(rewrite, next);
}

static void tell_shadow(Rewrite *rewrite, const Telling *telling, const IrValue *watch)
{
    const Type *array = watch->operands[0]->type;
    bool has_value = watch->operand_count > 1u + array->ndim, has = has_bits(array->element);
    WatchKind kind = watch->hint == WATCH_COPY ? WATCH_READ : (WatchKind)watch->hint;
    const int64_t known[] = {array->element->size, kind, watch->index, has};
    enum { KNOWN = sizeof known / sizeof *known };
    IrValue *numbers[2 + KNOWN] = {address_of(rewrite, watch)};
    for (uint32_t i = 0; i < KNOWN; i++)
        numbers[1 + i] = number(rewrite, known[i]);
    numbers[1 + KNOWN] = has && has_value ? bits_of(rewrite, watch->operands[1 + array->ndim]) : number(rewrite, 0);
    IrBlock *next = enter_seldom(rewrite, tell(rewrite, telling, WATCHER_ACCESS, numbers));
    tell_race(rewrite, telling, watch, numbers);
    leave_seldom(rewrite, next);
}

static bool is_of_thread(const IrValue *watch) { return ir_memory_of(watch->operands[0])->op == IR_LOCAL; }

static void tell_access(Rewrite *rewrite, const Telling *telling, const IrValue *watch)
{
    if (looks_for(rewrite->module, WATCHER_BYTES))
        tell_bytes(rewrite, telling, watch);
    if (looks_for(rewrite->module, WATCHER_ACCESS) && !is_of_thread(watch))
        tell_shadow(rewrite, telling, watch);
}

/* --- arrays as a whole ------------------------------------------------------------------------------------------------ */

static uint64_t bytes_of(const IrValue *local)
{
    uint64_t bytes = local->type->element->size;
    for (uint32_t axis = 0; axis < local->type->ndim; axis++)
        bytes *= (uint64_t)local->storage->shape[axis];
    return bytes;
}

static uint32_t words_of_bits(uint64_t bytes) { return (uint32_t)((bytes + 63) / 64); }

static void tell_fresh(Rewrite *rewrite, Telling *telling, const IrValue *watch)
{
    IrValue *local = watch->operands[0];
    uint64_t bytes = bytes_of(local);
    IrValue *numbers[4] = {number(rewrite, telling->arrays.next_at)};
    numbers[1] = number(rewrite, telling->arrays.bits_at);
    numbers[2] = rewrite_emit(rewrite, IR_ADDRESS, TYPE_OF(INT64), 1, &local);
    numbers[3] = number(rewrite, (int64_t)bytes);
    tell(rewrite, telling, WATCHER_FRESH, numbers);
    telling->arrays.next_at += OWN_ARRAY_WORDS;
    telling->arrays.bits_at += words_of_bits(bytes);
}

/* From the first element on, as if there were no gaps; or as many bytes as a copy has. */
static void tell_touch(Rewrite *rewrite, const Telling *telling, const IrValue *watch)
{
    IrValue *array = watch->operands[0], *bytes = number(rewrite, (int64_t)array->type->element->size);
    for (uint32_t axis = 0; axis < array->type->ndim; axis++) {
        IrValue *factors[2] = {bytes, rewrite_emit(rewrite, IR_EXTENT, TYPE_OF(INT64), 1, &array)};
        factors[1]->index = axis;
        bytes = rewrite_emit(rewrite, IR_MUL, TYPE_OF(INT64), 2, factors);
    }
    IrValue *numbers[2] = {rewrite_emit(rewrite, IR_ADDRESS, TYPE_OF(INT64), 1, &array)};
    numbers[1] = watch->index ? number(rewrite, watch->index) : bytes;
    tell(rewrite, telling, WATCHER_TOUCH, numbers);
}

static void tell_watch(Rewrite *rewrite, Telling *telling, IrValue *watch)
{
    if (ir_watches_access(watch))
        tell_access(rewrite, telling, watch);
    else if (watch->hint == WATCH_FENCE && looks_for(rewrite->module, WATCHER_FENCE))
        tell(rewrite, telling, WATCHER_FENCE, NULL);
    else if (watch->hint == WATCH_FRESH)
        tell_fresh(rewrite, telling, watch);
    else if (watch->hint == WATCH_TOUCH)
        tell_touch(rewrite, telling, watch);
    rewrite_drop(rewrite, watch);
}

/* --- threads that meet -------------------------------------------------------------------------------------------------- */

typedef enum Meeting { MEETS_NOBODY, MEETS_BLOCK, MEETS_LANES } Meeting;

/* With whom a thread meets there that may miss it. */
static Meeting meeting_of(const IrValue *value)
{
    switch (intrinsic_info[value->intrinsic].family) {
    case FAMILY_BLOCK_BARRIER:
    case FAMILY_BLOCK_VOTE: return MEETS_BLOCK;
    case FAMILY_WARP_BARRIER:
    case FAMILY_SHUFFLE:
    case FAMILY_VOTE:
    case FAMILY_MATCH:
    case FAMILY_WARP_REDUCTION: return MEETS_LANES;
    default: return MEETS_NOBODY;
    }
}

static IrValue *mask_of(Rewrite *rewrite, const IrValue *meeting)
{
    IrValue *mask = meeting->operands[0];
    return rewrite_emit(rewrite, IR_CONVERT, TYPE_OF(INT64), 1, &mask);
}

static bool is_library(const SourceFunction *function) { return function && function->is_library; }

/* In front of it. */
static void tell_waiting(Rewrite *rewrite, const Telling *telling, const IrValue *value)
{
    bool is_of_library = is_library(value->pos.function);
    IrValue *operation = number(rewrite, (int64_t)value->intrinsic);
    IrValue *line = number(rewrite, is_of_library ? 0 : value->pos.line);
    int64_t flags =
        (intrinsic_is_exchange(value->intrinsic) ? MEETING_IS_EXCHANGE : 0) | (is_of_library ? MEETING_IS_LIBRARY : 0);
    switch (meeting_of(value)) {
    case MEETS_NOBODY: return;
    case MEETS_BLOCK: tell(rewrite, telling, WATCHER_MEET_BLOCK, (IrValue *[]){operation, line}); return;
    case MEETS_LANES: {
        IrValue *numbers[4] = {mask_of(rewrite, value), operation, line};
        numbers[3] = number(rewrite, flags);
        tell(rewrite, telling, WATCHER_MEET_LANES, numbers);
        return;
    }
    }
}

static void tell_order(Rewrite *rewrite, const Telling *telling, IrValue *value)
{
    IrValue *all = NULL;
    switch (intrinsic_info[value->intrinsic].family) {
    case FAMILY_BLOCK_BARRIER:
    case FAMILY_BLOCK_VOTE:
        tell(rewrite, telling, WATCHER_MEETING, NULL);
        rewrite_keep(rewrite, value);
        tell(rewrite, telling, WATCHER_BARRIER, NULL);
        return;
    case FAMILY_NUMBERED_BARRIER:
        tell(rewrite, telling, WATCHER_MEETING, NULL);
        tell(rewrite, telling, WATCHER_RELEASE, NULL);
        rewrite_keep(rewrite, value);
        tell(rewrite, telling, WATCHER_ACQUIRE, NULL);
        return;
    case FAMILY_CLUSTER_BARRIER:
        tell(rewrite, telling, WATCHER_MEETING, NULL);
        tell(rewrite, telling, WATCHER_RELEASE, NULL);
        rewrite_keep(rewrite, value);
        tell(rewrite, telling, WATCHER_GRID, NULL);
        return;
    case FAMILY_GRID_BARRIER:
        tell(rewrite, telling, WATCHER_MEETING, NULL);
        tell(rewrite, telling, WATCHER_GRID_MEETING, NULL);
        rewrite_keep(rewrite, value);
        tell(rewrite, telling, WATCHER_GRID, NULL);
        return;
    case FAMILY_WARP_BARRIER:
    case FAMILY_SHUFFLE:
    case FAMILY_VOTE:
    case FAMILY_MATCH:
    case FAMILY_WARP_REDUCTION:
        tell(rewrite, telling, WATCHER_MEETING, NULL);
        rewrite_keep(rewrite, value);
        all = mask_of(rewrite, value);
        tell(rewrite, telling, WATCHER_LANES, &all);
        return;
    case FAMILY_MMA:
    case FAMILY_LDMATRIX:
        rewrite_keep(rewrite, value);
        all = number(rewrite, -1);
        tell(rewrite, telling, WATCHER_LANES, &all);
        return;
    default: return;
    }
}

static void tell_meeting(Rewrite *rewrite, const Telling *telling, IrValue *value)
{
    if (rewrite->module->has_meetings)
        tell_waiting(rewrite, telling, value);
    if (rewrite->module->granule)
        tell_order(rewrite, telling, value);
}

/* --- functions --------------------------------------------------------------------------------------------------------- */

/* Than of arithmetic. */
static bool tells_more(const IrModule *module) { return module->granule || module->has_bits || module->has_meetings; }

/* What is at fault in the library is told of at the user's call. */
static void note_call(Rewrite *rewrite, const Telling *telling, const IrValue *call)
{
    if (tells_more(rewrite->module) && !is_library(call->pos.function) && is_library(call->callee->source))
        keep_own(rewrite, telling, OWN_CALL_LINE, number(rewrite, call->pos.line));
}

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
    *storage = (IrStorage){.shape = {tells_more(rewrite->module) ? telling->arrays.end : OWN_WORDS_OF_NOTES}};
    telling->own = rewrite_emit(rewrite, IR_LOCAL, &type_words, 0, NULL);
    telling->own->storage = storage;
    tell(rewrite, telling, WATCHER_BEGIN, NULL);
}

static void tell_end(Rewrite *rewrite, const Telling *telling, const IrValue *value)
{
    IrValue *raises = number(rewrite, value->op == IR_RAISE);
    tell(rewrite, telling, WATCHER_GONE, &raises);
}

static void tell_value(Rewrite *rewrite, IrValue *value, void *user)
{
    Telling *telling = user;
    if (!telling->own && value->op != IR_PARAM)
        begin(rewrite, telling);
    if (value->op == IR_NOTE)
        tell_note(rewrite, telling, value);
    else if (value->op == IR_WATCH)
        tell_watch(rewrite, telling, value);
    else if (rewrite->module->has_meetings &&
             (value->op == IR_RAISE || (value->op == IR_RETURN && rewrite->function->is_kernel)))
        tell_end(rewrite, telling, value);
    else if (value->op == IR_INTRINSIC)
        tell_meeting(rewrite, telling, value);
    else if (value->op == IR_CALL && tells(value->callee)) {
        note_call(rewrite, telling, value);
        pass_on(rewrite, telling, value);
    }
}

/* --- cells ------------------------------------------------------------------------------------------------------------ */

/* The most bytes that each such access is a multiple of, and begins at a multiple of: a cell is all of it or nothing. */
static uint32_t granule_of(const IrValue *watch, uint32_t granule)
{
    const Type *array = watch->operands[0]->type;
    uint32_t size = array->element->size, alignment = type_element_alignment(array);
    while (granule > 1 && (size % granule || alignment % granule))
        granule /= 2;
    return granule;
}

/* What is told of that a value says: cells, bits, arrays that a thread has. */
static void note_watch(IrModule *module, const IrValue *value, OwnArrays *arrays)
{
    enum { LARGEST = 8 };
    bool is_access = ir_watches_access(value), is_cell = is_access && looks_for(module, WATCHER_ACCESS);
    if (is_cell && !is_of_thread(value))
        module->granule = granule_of(value, module->granule ? module->granule : LARGEST);
    if (is_access || value->hint == WATCH_TOUCH || value->hint == WATCH_FRESH)
        module->has_bits |= looks_for(module, WATCHER_BYTES);
    if (value->hint == WATCH_FRESH) {
        arrays->bits_at += OWN_ARRAY_WORDS;
        arrays->end += OWN_ARRAY_WORDS + words_of_bits(bytes_of(value->operands[0]));
    }
}

static void note_intrinsic(IrModule *module, const IrValue *value)
{
    IntrinsicFamily family = intrinsic_info[value->intrinsic].family;
    module->has_far_shared |= family == FAMILY_CLUSTER_MEMORY;
    module->has_grid_meetings |= family == FAMILY_GRID_BARRIER || family == FAMILY_CLUSTER_BARRIER;
    module->has_meetings |= looks_for(module, WATCHER_MEET_BLOCK) && meeting_of(value) != MEETS_NOBODY;
}

static void note_watches(IrModule *module, OwnArrays *arrays)
{
    for (const IrFunc *function = module->first; function != module->first_watcher; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next)
                if (value->op == IR_WATCH)
                    note_watch(module, value, arrays);
                else if (value->op == IR_INTRINSIC)
                    note_intrinsic(module, value);
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

static void drop_watch(Rewrite *rewrite, IrValue *value, void *user)
{
    (void)user;
    if (value->op == IR_WATCH)
        rewrite_drop(rewrite, value);
}

void check_tell(IrModule *module)
{
    Telling telling = {.arrays = {OWN_WORDS, OWN_WORDS, OWN_WORDS}};
    note_watches(module, &telling.arrays);
    module->has_state = module->has_notes || tells_more(module);
    for (IrFunc *function = module->first; module->has_state && function != module->first_watcher;
         function = function->next)
        if (tells(function))
            add_parameters(function);
    for (IrFunc *function = module->first; function != module->first_watcher; function = function->next) {
        if (!tells(function))
            continue;
        if (!module->has_state) {
            rewrite_function(function, drop_watch, NULL);
            continue;
        }
        uint32_t count = function->parameter_count;
        telling.state = function->parameters[function->is_kernel ? count - 1 : count - 2];
        telling.own = function->is_kernel ? NULL : function->parameters[count - 1];
        rewrite_function(function, tell_value, &telling);
    }
    drop_unused(module);
}
