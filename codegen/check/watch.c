/* A WATCH for each access of memory that several threads reach or that may not be written yet. Its site is an exception of
 * the module, of which the host takes the place in the source. */
#include "codegen/check/watch.h"

/* --- sites ------------------------------------------------------------------------------------------------------------ */

static uint32_t add_site(Rewrite *rewrite, const IrValue *array)
{
    Arena *arena = rewrite->module->arena;
    Constant *class = ARENA_NEW(arena, Constant);
    *class = (Constant){.kind = CONSTANT_NAMESPACE, .is_exception = true, .text = "RaceError"};
    IrException site = {.class = class, .pos = *rewrite->pos, .is_check = true, .element = array->type->element};
    site.array = rewrite_name_of(rewrite, array);
    return ir_add_exception(rewrite->module, &site);
}

static void emit_watch(Rewrite *rewrite, WatchKind kind, uint32_t site, uint32_t count, IrValue *const *operands)
{
    IrValue *watch = rewrite_emit(rewrite, IR_WATCH, &type_none, count, operands);
    watch->hint = (uint8_t)kind;
    watch->index = site;
}

static void emit_fence(Rewrite *rewrite) { emit_watch(rewrite, WATCH_FENCE, 0, 0, NULL); }

/* So many bytes from the array's first element on; 0: all of its elements. */
static void emit_touch(Rewrite *rewrite, IrValue *array, uint32_t bytes)
{
    emit_watch(rewrite, WATCH_TOUCH, bytes, 1, &array);
}

/* --- accesses --------------------------------------------------------------------------------------------------------- */

/* Whether what the array is a part of matters: constants are written by nobody, a thread's own arrays by itself. */
static bool is_wanted(const Watching *watching, const IrValue *array)
{
    IrOp root = ir_memory_of(array)->op;
    return root != IR_DATA && (root != IR_LOCAL || watching->wanted & CHECK_INIT) &&
           watching->wanted & (CHECK_RACE | CHECK_INIT | CHECKS_SCHEDULED);
}

/* An index as the program has it. */
static const IrValue *plain_index(const IrValue *index)
{
    while (index->op == IR_WRAP || index->op == IR_CONVERT)
        index = index->operands[0];
    return index;
}

static bool is_same_index(const IrValue *a, const IrValue *b)
{
    a = plain_index(a);
    b = plain_index(b);
    return a == b || (a->op == IR_CONST && b->op == IR_CONST && a->integer == b->integer);
}

static bool is_same_place(const IrValue *a, const IrValue *b)
{
    bool is_same = a->operands[0] == b->operands[0];
    for (uint32_t axis = 0; is_same && axis < a->operands[0]->type->ndim; axis++)
        is_same = is_same_index(a->operands[1 + axis], b->operands[1 + axis]);
    return is_same;
}

/* Whether the function compares and swaps what this reads: what is read is a guess, which the atomic finds right or not. */
static bool is_guess(const Watching *watching, const IrValue *load)
{
    for (uint32_t i = 0; i < watching->swap_count; i++)
        if (is_same_place(load, watching->swaps[i]))
            return true;
    return false;
}

void watch_function(Watching *watching, const IrFunc *function, Arena *arena)
{
    watching->swap_count = 0;
    watching->swaps = ARENA_ARRAY(arena, const IrValue *, function->value_count + 1);
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_ATOMIC && value->atomic == IR_ATOMIC_CAS)
                watching->swaps[watching->swap_count++] = value;
}

/* Whether the load and the store behind it are of one expression: a record, copied by its fields. */
static bool is_copy(const IrValue *load, const IrValue *store)
{
    const IrValue *array = load->operands[0];
    bool is_of_record = false;
    for (; array->op == IR_SUBARRAY; array = array->operands[0])
        is_of_record |= array->operands[0]->type->element->kind == TYPE_RECORD;
    return is_of_record && store && store->op == IR_STORE && store->operands[store->operand_count - 1] == load &&
           store->pos.line == load->pos.line && store->pos.column == load->pos.column;
}

static WatchKind kind_of(const Watching *watching, const IrValue *access)
{
    bool is_load = access->op == IR_LOAD;
    if (is_load && is_guess(watching, access))
        return WATCH_STRONG_READ;
    if (is_load && is_copy(access, access->next))
        return WATCH_COPY;
    switch ((IrHint)access->hint) {
    case IR_HINT_CG:
    case IR_HINT_CV:
    case IR_HINT_WT: return is_load ? WATCH_STRONG_READ : WATCH_STRONG_WRITE;
    default: return is_load ? WATCH_READ : WATCH_WRITE;
    }
}

static void watch_access(Rewrite *rewrite, const Watching *watching, const IrValue *access)
{
    IrValue *array = access->operands[0];
    bool has_value = access->op == IR_STORE;
    if (is_wanted(watching, array))
        emit_watch(rewrite, kind_of(watching, access), add_site(rewrite, array), 1u + array->type->ndim + has_value,
                   access->operands);
}

static void watch_atomic(Rewrite *rewrite, const Watching *watching, IrValue *access)
{
    IrValue *array = access->operands[0];
    if (!is_wanted(watching, array))
        return;
    if (access->order >= IR_ORDER_RELEASE)
        emit_fence(rewrite);
    emit_watch(rewrite, WATCH_ATOMIC, add_site(rewrite, array), 1u + array->type->ndim, access->operands);
    if (access->order != IR_ORDER_ACQUIRE && access->order < IR_ORDER_ACQ_REL)
        return;
    rewrite_keep(rewrite, access);
    emit_fence(rewrite);
}

/* Neighbouring elements of an array of one axis. */
static void watch_wide(Rewrite *rewrite, const Watching *watching, const IrValue *access, bool is_load)
{
    IrValue *array = access->operands[0], *items = is_load ? NULL : access->operands[2];
    uint32_t count = is_load ? access->type->count : items->type->count;
    if (!is_wanted(watching, array))
        return;
    uint32_t site = add_site(rewrite, array);
    for (uint32_t i = 0; i < count; i++) {
        IrValue *place[2] = {access->operands[1], rewrite_int(rewrite, TYPE_OF(INT64), i)};
        IrValue *operands[3] = {array, rewrite_emit(rewrite, IR_ADD, TYPE_OF(INT64), 2, place)};
        if (items) {
            operands[2] = rewrite_emit(rewrite, IR_GET, items->type->items[i], 1, &items);
            operands[2]->index = i;
        }
        emit_watch(rewrite, is_load ? WATCH_READ : WATCH_WRITE, site, is_load ? 2 : 3, operands);
    }
}

/* --- the rest --------------------------------------------------------------------------------------------------------- */

/* Others write these arrays, unseen. */
static void touch_arrays(Rewrite *rewrite, const Watching *watching, const IrValue *value)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (value->operands[i]->type->kind == TYPE_ARRAY && watching->wanted & CHECK_INIT)
            emit_touch(rewrite, value->operands[i], 0);
}

static void watch_intrinsic(Rewrite *rewrite, const Watching *watching, const IrValue *value)
{
    const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
    if (row->family == FAMILY_FENCE && watching->wanted & CHECK_RACE)
        emit_fence(rewrite);
    else if (row->family == FAMILY_WIDE_LOAD || row->family == FAMILY_WIDE_STORE)
        watch_wide(rewrite, watching, value, row->family == FAMILY_WIDE_LOAD);
    else if (row->family == FAMILY_COPY && watching->wanted & CHECK_INIT)
        emit_touch(rewrite, value->operands[0], (uint32_t)row->bytes);
    else if (row->effects & EFFECT_WRITES)
        touch_arrays(rewrite, watching, value);
}

static void watch_local(Rewrite *rewrite, const Watching *watching, IrValue *value)
{
    if (!(watching->wanted & CHECK_INIT))
        return;
    rewrite_keep(rewrite, value);
    emit_watch(rewrite, WATCH_FRESH, 0, 1, &value);
}

void check_watch(Rewrite *rewrite, IrValue *value, void *user)
{
    Watching *watching = user;
    bool is_kept = value->op == IR_PHI || value->op == IR_PARAM;
    if (!watching->has_begun && !is_kept && rewrite->function == watching->kernel) {
        watching->has_begun = true;
        emit_watch(rewrite, WATCH_BEGIN, 0, 0, NULL);
    }
    switch (value->op) {
    case IR_LOAD:
    case IR_STORE: watch_access(rewrite, watching, value); return;
    case IR_ATOMIC: watch_atomic(rewrite, watching, value); return;
    case IR_INTRINSIC: watch_intrinsic(rewrite, watching, value); return;
    case IR_LOCAL: watch_local(rewrite, watching, value); return;
    case IR_FOREIGN: touch_arrays(rewrite, watching, value); return;
    case IR_ADDRESS:
        if (value->hint == IR_ESCAPES)
            touch_arrays(rewrite, watching, value);
        return;
    default: return;
    }
}
