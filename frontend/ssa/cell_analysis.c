/* Which variables of a function live in memory that its nested functions share: those that are assigned again after a
 * nested function has captured them or deleted there, or not assigned on each path to there, or changed by one (nonlocal). All others are captured by
 * value. A generator expression or comprehension that is used up at once captures by value too. */
#include <string.h>

#include "core/base/table.h"
#include "frontend/ssa/ssa_build.h"

static bool is_op(const Instructions *list, uint32_t i, Bytecode op)
{
    return i < list->count && list->items[i].op == op;
}

static const CodeSnapshot *code_at(const Instructions *list, uint32_t i)
{
    if (!is_op(list, i, BYTECODE_LOAD_CONST))
        return NULL;
    const Constant *constant = list->items[i].constant;
    return constant->kind == CONSTANT_CODE ? constant->code : NULL;
}

/* The tuple of cells lies right below the code that captures them. */
void decode_cells(Instructions *list)
{
    for (uint32_t i = 1; i < list->count; i++) {
        const CodeSnapshot *nested = code_at(list, i);
        uint32_t count = nested ? nested->free_count : 0;
        if (!count || i <= count || !is_op(list, i - 1, BYTECODE_BUILD_TUPLE) ||
            list->items[i - 1].argument != (int32_t)count)
            continue;
        for (uint32_t k = i - 1 - count; k < i - 1; k++)
            if (list->items[k].op == BYTECODE_LOAD_LOCAL)
                list->items[k].op = BYTECODE_LOAD_CELL;
    }
}

/* Instruction i is the code of a function that captures something. */
static bool is_closure(const Instructions *list, uint32_t i)
{
    const CodeSnapshot *nested = code_at(list, i);
    return nested && i > nested->free_count && is_op(list, i - 1, BYTECODE_BUILD_TUPLE) &&
           is_op(list, i - 2, BYTECODE_LOAD_CELL);
}

/* What a function does to a variable of another one. */
enum { ASSIGNS = 1, DELETES = 2 };

static uint8_t *changed_captures(const CodeSnapshot *code, Arena *arena);

/* What functions within the code do to what it has captured itself. */
static void add_nested_changes(const CodeSnapshot *code, uint8_t *changes, Arena *arena)
{
    uint32_t first = code->local_count - code->free_count;
    Table *places = table_create(); /* names to the place + 1 */
    for (uint32_t i = 0; i < code->free_count; i++)
        table_set(places, code->local_names[first + i], strlen(code->local_names[first + i]),
                  (void *)(uintptr_t)(i + 1));
    for (uint32_t i = 0; i < code->constant_count; i++) {
        const CodeSnapshot *nested = code->constants[i]->kind == CONSTANT_CODE ? code->constants[i]->code : NULL;
        const uint8_t *by_nested = nested && nested->free_count ? changed_captures(nested, arena) : NULL;
        for (uint32_t k = 0; by_nested && k < nested->free_count; k++) {
            const char *name = nested->local_names[nested->local_count - nested->free_count + k];
            uintptr_t place = (uintptr_t)table_get(places, name, strlen(name));
            if (place)
                changes[place - 1] |= by_nested[k];
        }
    }
    table_destroy(places);
}

/* By what the code captured, in its order: what the code, or code nested in it, does to that. */
static uint8_t *changed_captures(const CodeSnapshot *code, Arena *arena)
{
    uint32_t first = code->local_count - code->free_count;
    uint8_t *changes = ARENA_ARRAY(arena, uint8_t, code->free_count);
    Diag scratch = {0};
    const Instructions *list = decode(code, arena, &scratch);
    diag_clear(&scratch);
    for (uint32_t i = 0; list && i < list->count; i++) {
        bool deletes = list->items[i].op == BYTECODE_DELETE_LOCAL;
        if ((deletes || list->items[i].op == BYTECODE_STORE_LOCAL) && list->items[i].argument >= (int32_t)first)
            changes[(uint32_t)list->items[i].argument - first] |= deletes ? DELETES : ASSIGNS;
    }
    add_nested_changes(code, changes, arena);
    return changes;
}

/* A generator expression made at i whose generator is the argument of the next call: nothing happens in between. */
static bool is_used_at_once(const Instructions *list, uint32_t i)
{
    int depth = 0;
    for (; i < list->count && !bytecode_jumps(list->items[i].op); i++) {
        depth += list->items[i].op == BYTECODE_MAKE_FUNCTION;
        bool makes =
            is_op(list, i, BYTECODE_GET_ITER) && is_op(list, i + 1, BYTECODE_CALL) && list->items[i + 1].argument == 0;
        if (makes && --depth == 0)
            return !is_op(list, i + 2, BYTECODE_STORE_LOCAL) && !is_op(list, i + 2, BYTECODE_GET_ITER);
    }
    return false;
}

typedef struct Capture {
    bool later; /* by something that may run after the variable is assigned again */
    uint8_t changes; /* by nested functions */
    uint32_t first; /* instruction where another function captures it; UINT32_MAX: only the one that it is assigned */
} Capture;

bool is_assigned_function(const Instructions *list, uint32_t i, uint32_t local)
{
    while (is_op(list, i, BYTECODE_LOAD_CELL))
        i++;
    if (!is_op(list, i, BYTECODE_BUILD_TUPLE) || !is_op(list, i + 1, BYTECODE_LOAD_CONST) ||
        !is_op(list, i + 2, BYTECODE_MAKE_FUNCTION))
        return false;
    for (i += 3; is_op(list, i, BYTECODE_SET_FUNCTION); i++) {
    }
    return is_op(list, i, BYTECODE_STORE_LOCAL) && list->items[i].argument == (int32_t)local;
}

/* A generator expression or comprehension. */
static bool is_expression(const CodeSnapshot *code)
{
    return code->local_count && strcmp(code->local_names[0], ".0") == 0;
}

static void look_at_closure(const Instructions *list, uint32_t i, Capture *captures, Arena *arena)
{
    const CodeSnapshot *nested = code_at(list, i);
    bool at_once = is_expression(nested) && (!nested->is_generator || is_used_at_once(list, i));
    const uint8_t *changes = changed_captures(nested, arena);
    uint32_t first = i - 1 - nested->free_count;
    for (uint32_t k = first; k < i - 1; k++) {
        if (list->items[k].op != BYTECODE_LOAD_CELL)
            continue;
        uint32_t local = (uint32_t)list->items[k].argument;
        Capture *capture = &captures[local];
        if (k < capture->first && !is_assigned_function(list, k, local))
            capture->first = k;
        capture->later |= !at_once;
        capture->changes |= changes[k - first];
    }
}

static void look_at_comprehension(const Comprehension *comprehension, Capture *captures)
{
    const CodeSnapshot *made = comprehension->constant->code;
    const Instructions *list = comprehension->instructions;
    uint32_t first = made->local_count - made->free_count;
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t local = (uint32_t)list->items[i].argument;
        if (list->items[i].op == BYTECODE_STORE_LOCAL && local >= first)
            captures[comprehension->captured[local - first]].changes |= ASSIGNS;
    }
    for (uint32_t i = 0; i < list->comprehension_count; i++) {
        const Comprehension *inner = &list->comprehensions[i];
        Capture *own = captures;
        const CodeSnapshot *code = inner->constant->code;
        uint32_t from = code->local_count - code->free_count;
        for (uint32_t k = 0; k < inner->instructions->count; k++) {
            const Instruction *item = &inner->instructions->items[k];
            uint32_t outer = item->op == BYTECODE_STORE_LOCAL && item->argument >= (int32_t)from
                                 ? inner->captured[(uint32_t)item->argument - from]
                                 : 0;
            if (outer >= first)
                own[comprehension->captured[outer - first]].changes |= ASSIGNS;
        }
    }
}

/* How often a variable is assigned, and where first; where it is first read or captured, as the instructions stand. */
typedef struct Stores {
    uint32_t count, first, first_read;
    bool is_deleted;
} Stores;

/* What looks along paths: for reads of variables that nothing has assigned, for what changes those that are captured. */
typedef struct Search {
    const Instructions *list;
    const Stores *stores; /* by local */
    uint32_t first_jump; /* what stands before it runs first, once or more, in that order */
    uint32_t *seen_in, number; /* by instruction: the last search that came there; that of this one */
    uint32_t *left, left_count; /* instructions to go on with */
} Search;

static bool reads(const Instructions *list, uint32_t i)
{
    const Instruction *instruction = &list->items[i];
    return instruction->op == BYTECODE_LOAD_LOCAL ||
           (instruction->op == BYTECODE_LOAD_CELL && !is_assigned_function(list, i, (uint32_t)instruction->argument));
}

static void begin(Search *search)
{
    search->number++;
    search->left_count = 0;
}

static void go_on(Search *search, uint32_t i)
{
    if (i >= search->list->count || search->seen_in[i] == search->number)
        return;
    search->seen_in[i] = search->number;
    search->left[search->left_count++] = i;
}

static void go_on_behind(Search *search, uint32_t i)
{
    const Instruction *instruction = &search->list->items[i];
    if (bytecode_jumps(instruction->op))
        go_on(search, instruction->target);
    if (instruction->op != BYTECODE_JUMP && instruction->op != BYTECODE_RETURN && instruction->op != BYTECODE_RAISE)
        go_on(search, i + 1);
}

static void go_on_behind_all(Search *search, Bytecode op, uint32_t local)
{
    for (uint32_t i = 0; i < search->list->count; i++)
        if (is_op(search->list, i, op) && search->list->items[i].argument == (int32_t)local)
            go_on_behind(search, i);
}

/* Whether some path from the function's start, or from where the variable is deleted, reads or captures it before it assigns to
 * it. */
static bool may_lack(Search *search, uint32_t local, bool is_parameter)
{
    const Stores *stores = &search->stores[local];
    uint32_t first = stores->first < stores->first_read ? stores->first : stores->first_read;
    if (!stores->is_deleted && (is_parameter || first < search->first_jump))
        return !is_parameter && first == stores->first_read;
    begin(search);
    if (!is_parameter)
        go_on(search, 0);
    if (stores->is_deleted)
        go_on_behind_all(search, BYTECODE_DELETE_LOCAL, local);
    while (search->left_count) {
        uint32_t i = search->left[--search->left_count];
        const Instruction *instruction = &search->list->items[i];
        bool is_of_local = instruction->argument == (int32_t)local;
        if (is_of_local && instruction->op == BYTECODE_STORE_LOCAL)
            continue;
        if (is_of_local && (reads(search->list, i) || instruction->op == BYTECODE_DELETE_LOCAL))
            return true;
        go_on_behind(search, i);
    }
    return false;
}

/* Whether some path from where a function captures the variable assigns to it again, or deletes it. */
static bool is_changed_later(Search *search, uint32_t local)
{
    begin(search);
    go_on_behind_all(search, BYTECODE_LOAD_CELL, local);
    while (search->left_count) {
        uint32_t i = search->left[--search->left_count];
        bool changes = is_op(search->list, i, BYTECODE_STORE_LOCAL) || is_op(search->list, i, BYTECODE_DELETE_LOCAL);
        if (changes && search->list->items[i].argument == (int32_t)local)
            return true;
        go_on_behind(search, i);
    }
    return false;
}

static uint32_t parameter_count(const CodeSnapshot *code)
{
    return code->argument_count + code->keyword_only_count + code->has_varargs + code->has_varkeywords;
}

/* By local. */
static Stores *count_stores(const CodeSnapshot *code, const Instructions *list, Arena *arena)
{
    uint32_t given = parameter_count(code);
    Stores *stores = ARENA_ARRAY(arena, Stores, code->local_count);
    for (uint32_t local = 0; local < code->local_count; local++)
        stores[local] = (Stores){.count = local < given, .first_read = UINT32_MAX};
    for (uint32_t i = 0; i < list->count; i++) {
        bool is_store = list->items[i].op == BYTECODE_STORE_LOCAL;
        if (list->items[i].op == BYTECODE_DELETE_LOCAL)
            stores[list->items[i].argument].is_deleted = true;
        Stores *of = is_store || reads(list, i) ? &stores[list->items[i].argument] : NULL;
        if (is_store && !of->count++)
            of->first = i;
        else if (of && !is_store && i < of->first_read)
            of->first_read = i;
    }
    return stores;
}

/* Whether functions see what is assigned to the variable after they captured it. */
static bool is_shared(Search *search, const Capture *capture, uint32_t local)
{
    const Stores *stores = &search->stores[local];
    bool may_change = stores->count > 1 || stores->is_deleted || (stores->count && stores->first > capture->first);
    return capture->changes || (capture->later && may_change && is_changed_later(search, local));
}

static CellKind kind_of(const Capture *capture, bool lacks, bool is_cell)
{
    if (!lacks)
        return is_cell ? CELL_ASSIGNED : CELL_NONE;
    return !is_cell ? CELL_FOR_LACK : capture->changes ? CELL_THAT_MAY_LACK : CELL_FOLLOWED;
}

CellKind *cell_variables(const CodeSnapshot *code, const Instructions *list, const bool *shared, Arena *arena)
{
    Capture *captures = ARENA_ARRAY(arena, Capture, code->local_count);
    CellKind *cells = ARENA_ARRAY(arena, CellKind, code->local_count);
    const Stores *stores = count_stores(code, list, arena);
    Search search = {.list = list,
                     .stores = stores,
                     .seen_in = ARENA_ARRAY(arena, uint32_t, list->count),
                     .left = ARENA_ARRAY(arena, uint32_t, list->count)};
    for (uint32_t local = 0; local < code->local_count; local++)
        captures[local].first = UINT32_MAX;
    for (uint32_t i = 1; i < list->count; i++) {
        if (is_closure(list, i))
            look_at_closure(list, i, captures, arena);
    }
    for (uint32_t i = 0; i < list->comprehension_count; i++)
        look_at_comprehension(&list->comprehensions[i], captures);
    while (search.first_jump < list->count && !bytecode_jumps(list->items[search.first_jump].op))
        search.first_jump++;
    for (uint32_t local = 0; local < code->local_count - code->free_count; local++) {
        const Capture *capture = &captures[local];
        bool is_cell = (shared && shared[local]) || is_shared(&search, capture, local);
        bool is_deleted = capture->changes & DELETES || (is_cell && stores[local].is_deleted);
        bool lacks = (capture->later || capture->changes) && stores[local].count &&
                     (is_deleted || may_lack(&search, local, local < parameter_count(code)));
        cells[local] = kind_of(capture, lacks, is_cell);
    }
    return cells;
}

/* --- in loops ----------------------------------------------------------------------------------------------------- */

/* Instructions that share a loop with one of them: from `first` to `last`, which jumps back over it. */
typedef struct Surroundings {
    uint32_t first, last;
} Surroundings;

static Surroundings loops_around(const Instructions *list, uint32_t i)
{
    Surroundings around = {i, i};
    for (uint32_t k = i + 1; k < list->count; k++)
        if (bytecode_jumps(list->items[k].op) && list->items[k].target <= i) {
            around.first = list->items[k].target < around.first ? list->items[k].target : around.first;
            around.last = k;
        }
    return around;
}

/* By local: assigned to in a loop around the instruction; NULL: it is in none. */
static const bool *stored_around(const CodeSnapshot *code, const Instructions *list, uint32_t i, Arena *arena)
{
    Surroundings around = loops_around(list, i);
    if (around.last == i)
        return NULL;
    bool *stored = ARENA_ARRAY(arena, bool, code->local_count);
    for (uint32_t k = around.first; k < around.last; k++)
        if (list->items[k].op == BYTECODE_STORE_LOCAL)
            stored[list->items[k].argument] = true;
    return stored;
}

const LoopCapture *loop_captures(const CodeSnapshot *code, const Instructions *list, const CellKind *cells,
                                 Arena *arena, uint32_t *count)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < list->count; i++)
        most += is_closure(list, i) ? code_at(list, i)->free_count : 0;
    LoopCapture *captures = ARENA_ARRAY(arena, LoopCapture, most);
    for (uint32_t i = *count = 0; i < list->count; i++) {
        const CodeSnapshot *nested = i && is_closure(list, i) ? code_at(list, i) : NULL;
        const bool *stored = nested && !is_expression(nested) ? stored_around(code, list, i, arena) : NULL;
        for (uint32_t k = 1; stored && k <= nested->free_count; k++) {
            const Instruction *load = &list->items[i - 1 - k];
            uint32_t local = (uint32_t)load->argument;
            if (load->op == BYTECODE_LOAD_CELL && local < code->local_count - code->free_count && !cells[local] &&
                stored[local])
                captures[(*count)++] = (LoopCapture){nested, local};
        }
    }
    return captures;
}
