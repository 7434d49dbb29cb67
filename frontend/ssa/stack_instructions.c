/* Runs one instruction over the symbolic stack: calls, functions, variables, attributes, loops. What builds and takes apart:
 * stack_displays.c. */
#include <string.h>

#include "frontend/ssa/ssa_build.h"

static void run_call(Builder *b, uint32_t count, const Constant *names)
{
    if (b->depth < (int32_t)count + 2) {
        ssa_fail_broken(b, "a call lacks its operands");
        return;
    }
    SsaValue **arguments = ssa_pop_many(b, count);
    SsaValue *second = ssa_pop(b), *first = ssa_pop(b);
    bool is_method = first->op != SSA_NULL && second->op != SSA_NULL;
    SsaValue *callee = first->op == SSA_NULL ? second : first;
    uint32_t extra = is_method ? 1 : 0;
    SsaValue **operands = ARENA_ARRAY(b->arena, SsaValue *, count + 1 + extra);
    operands[0] = callee;
    if (is_method)
        operands[1] = second;
    memcpy(operands + 1 + extra, arguments, count * sizeof *arguments);
    SsaValue *call = ssa_append(b, SSA_CALL, count + 1 + extra, operands);
    if (names) {
        const char **keywords = ARENA_ARRAY(b->arena, const char *, names->count);
        for (uint32_t i = 0; i < names->count; i++)
            keywords[i] = names->items[i]->text;
        call->keyword_count = names->count;
        call->keywords = keywords;
    }
    ssa_push(b, call);
}

static bool is_name_tuple(const SsaValue *value, uint32_t limit)
{
    if (value->op != SSA_CONSTANT || value->constant->kind != CONSTANT_TUPLE || value->constant->count > limit)
        return false;
    for (uint32_t i = 0; i < value->constant->count; i++)
        if (value->constant->items[i]->kind != CONSTANT_STRING)
            return false;
    return true;
}

/* f(*items): below the tuple lie the two slots of any call. */
static void run_call_starred(Builder *b)
{
    bool has_keywords = b->instruction->argument & 1;
    SsaValue *keywords = has_keywords ? ssa_pop(b) : NULL, *items = ssa_pop(b), *second = ssa_pop(b),
             *first = ssa_pop(b);
    SsaValue *operands[] = {first->op == SSA_NULL ? second : first, items, keywords};
    SsaValue *call = ssa_append(b, SSA_CALL, has_keywords ? 3 : 2, operands);
    call->argument = 1;
    ssa_push(b, call);
}

static void run_call_keywords(Builder *b)
{
    SsaValue *names = ssa_pop(b);
    if (is_name_tuple(names, (uint32_t)b->instruction->argument))
        run_call(b, (uint32_t)b->instruction->argument, names->constant);
    else if (!b->failed)
        ssa_fail_broken(b, "keyword names are not a constant tuple");
}

static void run_make_function(Builder *b)
{
    SsaValue *code = ssa_pop(b);
    if (code->op != SSA_CONSTANT || code->constant->kind != CONSTANT_CODE) {
        ssa_fail_broken(b, "a function is made of something that is not code");
        return;
    }
    SsaValue *function = ssa_append(b, SSA_FUNCTION, 0, NULL);
    function->constant = code->constant;
    ssa_push(b, function);
}

/* Attaches captured cells (8) or defaults (1) to the function on top; keyword defaults (2) join them by name. */
static void run_set_function(Builder *b)
{
    SsaValue *function = ssa_pop(b), *value = ssa_pop(b);
    if (b->failed || function->op != SSA_FUNCTION) {
        if (!b->failed)
            ssa_fail_broken(b, "attributes are set on something that is not a function");
        return;
    }
    if (b->instruction->argument == 4 || b->instruction->argument == 16) { /* annotations mean nothing in a kernel */
        ssa_push(b, function);
        return;
    }
    SsaValue **operands = ARENA_ARRAY(b->arena, SsaValue *, function->count + 1);
    for (uint32_t i = 0; i < function->count; i++)
        operands[i] = function->operands[i];
    operands[function->count] = value;
    SsaValue *changed = ssa_append(b, SSA_FUNCTION, function->count + 1, operands);
    changed->constant = function->constant;
    changed->argument = function->argument | b->instruction->argument;
    ssa_push(b, changed);
}

/* What a nested function captures of a variable: its cell if it has one, else its value now. */
static SsaValue *captured(Builder *b, uint32_t local)
{
    return b->cells[local] ? b->cells[local] : ssa_read_variable(b, local, b->block->id);
}

/* Has those look at it that ask whether the variable is assigned there: where it may be not. */
static void look_at(Builder *b, SsaOp op, uint32_t local)
{
    SsaValue *value = ssa_read_variable(b, local, b->block->id);
    if (value->op == SSA_PHI || value->op == SSA_UNDEFINED)
        ssa_append1(b, op, value);
}

/* Of a variable that is memory: what it would be as a value, if that is at least `kind`. */
static void note_lack(Builder *b, uint32_t local, CellKind kind)
{
    if (b->cell_kinds[local] >= kind && !b->function->is_generator)
        look_at(b, SSA_CAPTURE, local);
}

static void write_local(Builder *b, uint32_t local, SsaValue *value)
{
    bool is_cell = b->cells[local] || is_free(b, local);
    if (!is_cell || b->cell_kinds[local] >= CELL_FOLLOWED)
        ssa_write_variable(b, local, b->block->id, value);
    if (!is_cell)
        return;
    ssa_append2(b, SSA_CELL_STORE, captured(b, local), value)->name = b->code->local_names[local];
}

/* A list comprehension is a call of the function that its loop became. */
static void run_comprehension(Builder *b)
{
    const Comprehension *comprehension = &b->instructions->comprehensions[b->instruction->argument];
    SsaValue *iterator = ssa_pop(b), **values = ARENA_ARRAY(b->arena, SsaValue *, comprehension->captured_count);
    for (uint32_t i = 0; i < comprehension->captured_count; i++)
        values[i] = captured(b, comprehension->captured[i]);
    SsaValue *all = ssa_append(b, SSA_TUPLE, comprehension->captured_count, values);
    SsaValue *function = ssa_append1(b, SSA_FUNCTION, all);
    function->argument = 8;
    function->constant = comprehension->constant;
    ssa_push(b, ssa_append2(b, SSA_CALL, function, iterator));
}

static void run_get_iter(Builder *b)
{
    if (b->depth > SLOT_LIMIT) {
        ssa_fail(b, DIAG_UNSUPPORTED_BYTECODE, "a loop inside of so large an expression", "");
        return;
    }
    SsaValue *iterator = ssa_append1(b, SSA_ITERATOR, ssa_pop(b));
    ssa_write_variable(b, position_variable(b, b->depth), b->block->id, ssa_append1(b, SSA_ITER_START, iterator));
    ssa_push(b, iterator);
}

/* A comprehension's function gets its iterator as an argument, called ".0". */
static void run_load_local(Builder *b)
{
    uint32_t local = (uint32_t)b->instruction->argument;
    SsaValue *value = captured(b, local);
    note_lack(b, local, CELL_FOLLOWED);
    if (b->cells[local] || (b->code->is_nested && is_free(b, local))) {
        value = ssa_append1(b, SSA_CELL_LOAD, value);
        value->name = b->code->local_names[local];
    }
    if (strcmp(b->code->local_names[local], ".0") == 0)
        ssa_write_variable(b, position_variable(b, b->depth), b->block->id, ssa_append1(b, SSA_ITER_START, value));
    ssa_push(b, value);
}

static void run_copy(Builder *b)
{
    SsaValue *value = *ssa_peek(b, b->instruction->argument);
    if (!b->failed)
        ssa_push(b, value);
}

static void run_swap(Builder *b)
{
    SsaValue **other = ssa_peek(b, b->instruction->argument), **top = ssa_peek(b, 1);
    SsaValue *value = *other;
    *other = *top;
    *top = value;
}

static void run_attribute(Builder *b)
{
    SsaValue *value = ssa_append1(b, SSA_ATTRIBUTE, ssa_pop(b));
    value->name = b->code->names[b->instruction->argument];
    ssa_push(b, value);
    if (b->instruction->op == BYTECODE_LOAD_METHOD)
        ssa_push(b, ssa_append(b, SSA_NULL, 0, NULL));
}

static void run_pair(Builder *b, SsaOp op)
{
    SsaValue *right = ssa_pop(b), *left = ssa_pop(b);
    SsaValue *value = ssa_append2(b, op, left, right);
    value->argument = op == SSA_BINARY ? b->instruction->argument % 13 : b->instruction->argument;
    value->argument2 = op == SSA_BINARY && b->instruction->argument >= 13;
    ssa_push(b, value);
}

static void run_store_attribute(Builder *b)
{
    SsaValue *object = ssa_pop(b), *value = ssa_pop(b);
    ssa_append2(b, SSA_STORE_ATTRIBUTE, value, object)->name = b->code->names[b->instruction->argument];
}

static bool is_same_index(const SsaValue *a, const SsaValue *b)
{
    if (a == b)
        return true;
    return a->op == SSA_SLICE && b->op == SSA_SLICE && a->operands[0] == b->operands[0] &&
           a->operands[1] == b->operands[1] &&
           (a->operands[2] == b->operands[2] ||
            (a->operands[2]->op == SSA_CONSTANT && b->operands[2]->op == SSA_CONSTANT &&
             a->operands[2]->constant == b->operands[2]->constant));
}

static void run_store_subscript(Builder *b)
{
    SsaValue *index = ssa_pop(b), *container = ssa_pop(b), *value = ssa_pop(b);
    SsaValue *store = ssa_append(b, SSA_STORE_SUBSCRIPT, 3, (SsaValue *[]){value, container, index});
    const SsaValue *old = value->op == SSA_BINARY && value->argument2 ? value->operands[0] : NULL;
    store->argument =
        old && old->op == SSA_SUBSCRIPT && old->operands[0] == container && is_same_index(old->operands[1], index);
}

static void run_format(Builder *b)
{
    uint32_t count = b->instruction->argument & 4 ? 2 : 1;
    SsaValue *value = ssa_append(b, SSA_FORMAT, count, ssa_pop_many(b, count));
    value->argument = b->instruction->argument & 3;
    ssa_push(b, value);
}

/* The variable has no value any more. */
static void clear_local(Builder *b)
{
    uint32_t local = (uint32_t)b->instruction->argument;
    if (!b->cells[local] && !is_free(b, local))
        ssa_write_variable(b, local, b->block->id, ssa_undefined_value(b, local));
}

/* Where it may have had none before, that is looked at as reads are. */
static void run_delete_local(Builder *b)
{
    uint32_t local = (uint32_t)b->instruction->argument;
    bool is_shared = b->cells[local] || is_free(b, local);
    bool is_followed = !is_shared || b->cell_kinds[local] >= CELL_FOLLOWED;
    bool is_looked_at = is_followed && !b->function->is_generator && !b->code->is_library;
    if (is_looked_at)
        look_at(b, SSA_DELETE, local);
    if (is_followed)
        ssa_write_variable(b, local, b->block->id, ssa_undefined_value(b, local));
    if (!is_shared)
        return;
    SsaValue *deleted = ssa_append1(b, SSA_CELL_DELETE, captured(b, local));
    deleted->name = b->code->local_names[local];
    deleted->argument = is_looked_at;
}

static void store_local(Builder *b, uint32_t local, SsaValue *value)
{
    SsaAssignment *assignment = ARENA_NEW(b->arena, SsaAssignment);
    *assignment = (SsaAssignment){.name = b->code->local_names[local],
                                  .value = value,
                                  .pos = b->instruction->pos,
                                  .next = b->function->assignments};
    b->function->assignments = assignment;
    write_local(b, local, value);
}

/* What no kernel can have: how it is called, and what to write instead. */
static const struct {
    const char *raw_name, *words, *hint;
} refused[] = {
    {"LOAD_BUILD_CLASS", "a class inside of a function", "; define it at the top of the module, as a NamedTuple"},
    {"STORE_GLOBAL", "assignment to a global name", "; write into an array argument"},
    {"DELETE_GLOBAL", "del of a global name", ""},
    {"IMPORT_NAME", "an import inside of a function", "; import at the top of the module"},
    {"BUILD_TEMPLATE", "a template string", "; use an f-string"},
    {"BUILD_INTERPOLATION", "a template string", "; use an f-string"},
    {"MATCH_MAPPING", "a pattern of a dict", "; match numbers, strings and tuples"},
    {"BUILD_SET", "a set", "; use a tuple for 'in', or an array of flags"},
    {"SET_UPDATE", "a set", "; use a tuple for 'in', or an array of flags"},
    {"MAP_ADD", "a dict comprehension", "; use an array, or a dict of constant keys"},
    {"DELETE_SUBSCR", "del of a subscript", "; store another value"},
};

static void run_unsupported(Builder *b)
{
    const Instruction *instruction = b->instruction;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].raw_name, instruction->raw_name) == 0) {
            ssa_fail(b, DIAG_UNSUPPORTED_BYTECODE, refused[i].words, refused[i].hint);
            return;
        }
    bool is_unknown = instruction->op == BYTECODE_UNSUPPORTED;
    ssa_fail(b, DIAG_UNSUPPORTED_BYTECODE, is_unknown ? instruction->raw_name : bytecode_info[instruction->op].words,
             "");
}

/* --- lines --------------------------------------------------------------------------------------------------------- */

/* The line that runs is a variable like any other: phis join it, and a generator keeps it. */
static void set_line(Builder *b, uint32_t line)
{
    Constant *place = ARENA_NEW(b->arena, Constant);
    *place = (Constant){.kind = CONSTANT_INT, .type = TYPE_OF(INT64), .integer = line};
    ssa_write_variable(b, line_variable(b), b->block->id, ssa_append_constant(b, place));
}

void begin_lines(Builder *b)
{
    if (b->instructions->lines)
        set_line(b, 0);
}

void run_line(Builder *b, uint32_t line)
{
    SsaValue *before = ssa_read_variable(b, line_variable(b), b->block->id);
    ssa_append1(b, SSA_LINE, before)->argument = (int32_t)line;
    if (line)
        set_line(b, line);
}

static void run_terminator(Builder *b)
{
    static const Constant none = {.kind = CONSTANT_NONE};
    bool leaves = b->instruction->op == BYTECODE_RETURN || b->instruction->op == BYTECODE_RAISE;
    if (b->instructions->lines && leaves)
        run_line(b, 0);
    uint32_t raised = (uint32_t)b->instruction->argument;
    switch (b->instruction->op) {
    case BYTECODE_JUMP: ssa_append(b, SSA_JUMP, 0, NULL); break;
    case BYTECODE_JUMP_IF_TRUE: ssa_append1(b, SSA_BRANCH, ssa_pop(b))->argument = 1; break;
    case BYTECODE_JUMP_IF_FALSE: ssa_append1(b, SSA_BRANCH, ssa_pop(b))->argument = 0; break;
    case BYTECODE_JUMP_IF_NONE:
    case BYTECODE_JUMP_IF_NOT_NONE: {
        SsaValue *value = ssa_pop(b);
        SsaValue *test = ssa_append2(b, SSA_IS, value, ssa_append_constant(b, &none));
        ssa_append1(b, SSA_BRANCH, test)->argument = b->instruction->op == BYTECODE_JUMP_IF_NONE;
        break;
    }
    case BYTECODE_RETURN: ssa_append1(b, SSA_RETURN, ssa_pop(b)); break;
    case BYTECODE_YIELD: ssa_append1(b, SSA_YIELD, ssa_pop(b)); break;
    case BYTECODE_RAISE: ssa_append(b, SSA_RAISE, raised, ssa_pop_many(b, raised)); break;
    default: break;
    }
}

static SsaValue *append_iteration(Builder *b, SsaOp op, SsaValue *iterator, SsaValue *position, const CfgBlock *test)
{
    SsaValue *value = ssa_append2(b, op, iterator, position);
    value->argument = (int32_t)test->iteration;
    value->argument2 = test->is_rest;
    return value;
}

/* The test at the head of a for loop. The item is made in the body, where it is known to be there. */
static void run_for_iter(Builder *b)
{
    SsaValue *iterator = *ssa_peek(b, 1);
    if (b->failed)
        return;
    uint32_t variable = position_variable(b, b->depth - 1);
    const CfgBlock *test = b->block->cfg;
    SsaValue *step = append_iteration(b, SSA_ITER_STEP, iterator, ssa_read_variable(b, variable, b->block->id), test);
    ssa_write_variable(b, variable, b->block->id, step);
    ssa_append1(b, SSA_BRANCH, append_iteration(b, SSA_ITER_HAS, iterator, step, test))->argument = 0;
}

void run_loop_body(Builder *b)
{
    if (b->block->cfg->predecessor_count != 1 || b->depth < 1) {
        ssa_fail_broken(b, "the body of a for loop is entered from elsewhere");
        return;
    }
    SsaValue *iterator = b->stack[b->depth - 1];
    uint32_t variable = position_variable(b, b->depth - 1);
    SsaValue *step = ssa_read_variable(b, variable, b->block->id);
    const CfgBlock *test = &b->cfg->blocks[b->block->cfg->predecessors[0]];
    SsaValue *item = append_iteration(b, SSA_ITER_VALUE, iterator, step, test);
    ssa_write_variable(b, variable, b->block->id, append_iteration(b, SSA_ITER_NEXT, iterator, step, test));
    ssa_push(b, item);
}

/* The variable is assigned the function that is about to be made of what is captured here. */
static bool is_captured_by_itself(const Builder *b, uint32_t local)
{
    uint32_t i = (uint32_t)(b->instruction - b->instructions->items);
    return !b->cells[local] && !is_free(b, local) && is_assigned_function(b->instructions, i, local);
}

static void run_load_cell(Builder *b, uint32_t local)
{
    if (is_captured_by_itself(b, local)) {
        ssa_push(b, ssa_append(b, SSA_SELF, 0, NULL));
        return;
    }
    note_lack(b, local, CELL_FOR_LACK);
    ssa_push(b, captured(b, local));
}

void run_instruction(Builder *b)
{
    const Instruction *instruction = b->instruction;
    uint32_t n = (uint32_t)instruction->argument;
    switch (instruction->op) {
    case BYTECODE_RETURN_GENERATOR: ssa_push(b, ssa_append(b, SSA_NULL, 0, NULL)); break;
    case BYTECODE_COMPREHENSION: run_comprehension(b); break;
    case BYTECODE_LOAD_CONST: ssa_push(b, ssa_append_constant(b, instruction->constant)); break;
    case BYTECODE_LOAD_LOCAL: run_load_local(b); break;
    case BYTECODE_LOAD_CELL: run_load_cell(b, n); break;
    case BYTECODE_LOAD_LOCAL_CLEAR:
        run_load_local(b);
        clear_local(b);
        break;
    case BYTECODE_STORE_LOCAL: store_local(b, n, ssa_pop(b)); break;
    case BYTECODE_DELETE_LOCAL: run_delete_local(b); break;
    case BYTECODE_LOAD_GLOBAL: {
        SsaValue *value = ssa_append_constant(b, b->code->globals[n]);
        value->name = b->code->names[n];
        ssa_push(b, value);
        break;
    }
    case BYTECODE_LOAD_ATTRIBUTE:
    case BYTECODE_LOAD_METHOD: run_attribute(b); break;
    case BYTECODE_STORE_ATTRIBUTE: run_store_attribute(b); break;
    case BYTECODE_PUSH_NULL: ssa_push(b, ssa_append(b, SSA_NULL, 0, NULL)); break;
    case BYTECODE_BINARY: run_pair(b, SSA_BINARY); break;
    case BYTECODE_COMPARE: run_pair(b, SSA_COMPARE); break;
    case BYTECODE_IS: run_pair(b, SSA_IS); break;
    case BYTECODE_CONTAINS: run_pair(b, SSA_CONTAINS); break;
    case BYTECODE_NEGATIVE: ssa_push(b, ssa_append1(b, SSA_NEGATIVE, ssa_pop(b))); break;
    case BYTECODE_POSITIVE: ssa_push(b, ssa_append1(b, SSA_POSITIVE, ssa_pop(b))); break;
    case BYTECODE_INVERT: ssa_push(b, ssa_append1(b, SSA_INVERT, ssa_pop(b))); break;
    case BYTECODE_NOT: ssa_push(b, ssa_append1(b, SSA_NOT, ssa_pop(b))); break;
    case BYTECODE_SUBSCRIPT: run_pair(b, SSA_SUBSCRIPT); break;
    case BYTECODE_STORE_SUBSCRIPT: run_store_subscript(b); break;
    case BYTECODE_BUILD_TUPLE: run_sequence(b, SSA_TUPLE); break;
    case BYTECODE_BUILD_LIST: run_sequence(b, SSA_LIST); break;
    case BYTECODE_BUILD_STRING: run_sequence(b, SSA_TEXT); break;
    case BYTECODE_FORMAT_VALUE: run_format(b); break;
    case BYTECODE_LIST_TO_TUPLE: ssa_push(b, ssa_append1(b, SSA_AS_TUPLE, ssa_pop(b))); break;
    case BYTECODE_BUILD_SLICE: run_slice(b); break;
    case BYTECODE_UNPACK: run_unpack(b); break;
    case BYTECODE_UNPACK_STARRED: run_unpack_starred(b); break;
    case BYTECODE_BUILD_MAP: run_build_map(b); break;
    case BYTECODE_BUILD_CONST_KEY_MAP: run_build_constant_map(b); break;
    case BYTECODE_DICT_MERGE: run_dict_merge(b); break;
    case BYTECODE_MAP_ADD: /* where the dict does not lie on top, a comprehension's loop adds to it */
        b->instruction->argument == 1 ? run_map_add(b) : run_unsupported(b);
        break;
    case BYTECODE_MATCH_SEQUENCE: run_match_sequence(b); break;
    case BYTECODE_GET_LENGTH: run_get_length(b); break;
    case BYTECODE_MATCH_CLASS: run_match_class(b); break;
    case BYTECODE_MAKE_FUNCTION: run_make_function(b); break;
    case BYTECODE_SET_FUNCTION: run_set_function(b); break;
    case BYTECODE_POP: ssa_pop(b); break;
    case BYTECODE_COPY: run_copy(b); break;
    case BYTECODE_SWAP: run_swap(b); break;
    case BYTECODE_CALL: run_call(b, n, NULL); break;
    case BYTECODE_CALL_KEYWORDS: run_call_keywords(b); break;
    case BYTECODE_CALL_STARRED: run_call_starred(b); break;
    case BYTECODE_LIST_EXTEND: run_list_extend(b); break;
    case BYTECODE_LIST_APPEND: run_list_append(b); break;
    case BYTECODE_GET_ITER: run_get_iter(b); break;
    case BYTECODE_FOR_ITER: run_for_iter(b); break;
    case BYTECODE_NOTHING: break;
    case BYTECODE_JUMP:
    case BYTECODE_JUMP_IF_TRUE:
    case BYTECODE_JUMP_IF_FALSE:
    case BYTECODE_JUMP_IF_NONE:
    case BYTECODE_JUMP_IF_NOT_NONE:
    case BYTECODE_RETURN:
    case BYTECODE_YIELD:
    case BYTECODE_RAISE: run_terminator(b); break;
    default: run_unsupported(b); break;
    }
}
