/* Which variables of a function live in memory that its nested functions share: those that are assigned again after a
 * nested function has captured them, or not on each path to there, or assigned by one (nonlocal). All others are captured by
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

static bool *assigned_captures(const CodeSnapshot *code, Arena *arena);

/* What functions within the code assign of what it has captured itself. */
static void add_nested_assignments(const CodeSnapshot *code, bool *assigned, Arena *arena)
{
    uint32_t first = code->local_count - code->free_count;
    Table *places = table_create(); /* names to the place + 1 */
    for (uint32_t i = 0; i < code->free_count; i++)
        table_set(places, code->local_names[first + i], strlen(code->local_names[first + i]),
                  (void *)(uintptr_t)(i + 1));
    for (uint32_t i = 0; i < code->constant_count; i++) {
        const CodeSnapshot *nested = code->constants[i]->kind == CONSTANT_CODE ? code->constants[i]->code : NULL;
        const bool *by_nested = nested && nested->free_count ? assigned_captures(nested, arena) : NULL;
        for (uint32_t k = 0; by_nested && k < nested->free_count; k++) {
            const char *name = nested->local_names[nested->local_count - nested->free_count + k];
            uintptr_t place = (uintptr_t)table_get(places, name, strlen(name));
            if (place)
                assigned[place - 1] |= by_nested[k];
        }
    }
    table_destroy(places);
}

/* By what the code captured, in its order: whether the code, or code nested in it, assigns to that. */
static bool *assigned_captures(const CodeSnapshot *code, Arena *arena)
{
    uint32_t first = code->local_count - code->free_count;
    bool *assigned = ARENA_ARRAY(arena, bool, code->free_count);
    Diag scratch = {0};
    const Instructions *list = decode(code, arena, &scratch);
    diag_clear(&scratch);
    for (uint32_t i = 0; list && i < list->count; i++) {
        bool stores = list->items[i].op == BYTECODE_STORE_LOCAL || list->items[i].op == BYTECODE_DELETE_LOCAL;
        if (stores && list->items[i].argument >= (int32_t)first)
            assigned[(uint32_t)list->items[i].argument - first] = true;
    }
    add_nested_assignments(code, assigned, arena);
    return assigned;
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
    bool assigned; /* by a nested function */
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
    const bool *assigned = assigned_captures(nested, arena);
    uint32_t first = i - 1 - nested->free_count;
    for (uint32_t k = first; k < i - 1; k++) {
        if (list->items[k].op != BYTECODE_LOAD_CELL)
            continue;
        uint32_t local = (uint32_t)list->items[k].argument;
        Capture *capture = &captures[local];
        if (k < capture->first && !is_assigned_function(list, k, local))
            capture->first = k;
        capture->later |= !at_once;
        capture->assigned |= assigned[k - first];
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
            captures[comprehension->captured[local - first]].assigned = true;
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
                own[comprehension->captured[outer - first]].assigned = true;
        }
    }
}

/* How often a variable is assigned, and where first; where it is first read or captured, as the instructions stand. */
typedef struct Stores {
    uint32_t count, first, first_read;
} Stores;

/* What looks for reads of variables that nothing has assigned. */
typedef struct Search {
    const Instructions *list;
    const Stores *stores; /* by local */
    uint32_t first_jump; /* what stands before it runs first, once or more, in that order */
    uint32_t *seen_for; /* by instruction: the local, + 1 */
    uint32_t *left, left_count; /* instructions to go on with */
} Search;

static bool reads(const Instructions *list, uint32_t i)
{
    const Instruction *instruction = &list->items[i];
    return instruction->op == BYTECODE_LOAD_LOCAL ||
           (instruction->op == BYTECODE_LOAD_CELL && !is_assigned_function(list, i, (uint32_t)instruction->argument));
}

static void go_on(Search *search, uint32_t i, uint32_t local)
{
    if (i >= search->list->count || search->seen_for[i] == local + 1)
        return;
    search->seen_for[i] = local + 1;
    search->left[search->left_count++] = i;
}

/* Whether some path from the function's start reads or captures the variable before it assigns to it. */
static bool may_lack(Search *search, uint32_t local)
{
    const Stores *stores = &search->stores[local];
    uint32_t first = stores->first < stores->first_read ? stores->first : stores->first_read;
    if (first < search->first_jump)
        return first == stores->first_read;
    search->left_count = 0;
    go_on(search, 0, local);
    while (search->left_count) {
        uint32_t i = search->left[--search->left_count];
        const Instruction *instruction = &search->list->items[i];
        bool is_of_local = instruction->argument == (int32_t)local;
        if (is_of_local && instruction->op == BYTECODE_STORE_LOCAL)
            continue;
        if (is_of_local && reads(search->list, i))
            return true;
        if (bytecode_jumps(instruction->op))
            go_on(search, instruction->target, local);
        if (instruction->op != BYTECODE_JUMP && instruction->op != BYTECODE_RETURN && instruction->op != BYTECODE_RAISE)
            go_on(search, i + 1, local);
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
        Stores *of = is_store || reads(list, i) ? &stores[list->items[i].argument] : NULL;
        if (is_store && !of->count++)
            of->first = i;
        else if (of && !is_store && i < of->first_read)
            of->first_read = i;
    }
    return stores;
}

CellKind *cell_variables(const CodeSnapshot *code, const Instructions *list, const bool *shared, Arena *arena)
{
    Capture *captures = ARENA_ARRAY(arena, Capture, code->local_count);
    CellKind *cells = ARENA_ARRAY(arena, CellKind, code->local_count);
    const Stores *stores = count_stores(code, list, arena);
    Search search = {.list = list,
                     .stores = stores,
                     .seen_for = ARENA_ARRAY(arena, uint32_t, list->count),
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
        bool lacks = (capture->later || capture->assigned) && stores[local].count && local >= parameter_count(code) &&
                     may_lack(&search, local);
        bool is_cell = (shared && shared[local]) || capture->assigned ||
                       (capture->later &&
                        (stores[local].count > 1 || (stores[local].count && stores[local].first > capture->first)));
        cells[local] = !lacks ? (is_cell ? CELL_ASSIGNED : CELL_NONE) : is_cell ? CELL_THAT_MAY_LACK : CELL_FOR_LACK;
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
