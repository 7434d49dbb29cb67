/* Runs the operand stack symbolically, block by block, and names every value once. Local variables, stack slots and the
 * positions of iterators are variables alike (ssa_values.c); instructions are in stack_instructions.c. */
#include "frontend/ssa/ssa_build.h"

static bool is_loop_body(const Builder *b, uint32_t block)
{
    const CfgBlock *cfg = &b->cfg->blocks[block];
    for (uint32_t i = 0; i < cfg->predecessor_count; i++) {
        const CfgBlock *from = &b->cfg->blocks[cfg->predecessors[i]];
        const Instruction *last = ssa_last_instruction(b, from);
        if (last && last->op == BYTECODE_FOR_ITER && from->successors[0] == block)
            return true;
    }
    return false;
}

static void propagate_depth(Builder *b)
{
    const CfgBlock *cfg = b->block->cfg;
    const Instruction *last = ssa_last_instruction(b, cfg);
    for (uint32_t i = 0; i < cfg->successor_count; i++) {
        int32_t depth = b->depth;
        if (last && last->op == BYTECODE_FOR_ITER && i == 1)
            depth--;
        BlockState *to = &b->states[cfg->successors[i]];
        if (to->depth >= 0 && to->depth != depth)
            ssa_fail_broken(b, "paths join with operand stacks of different depth");
        to->depth = depth;
    }
}

static void run_block(Builder *b, uint32_t number)
{
    static const Constant none = {.kind = CONSTANT_NONE};
    BlockState *state = &b->states[number];
    b->block = &b->function->blocks[number];
    b->state = state;
    const CfgBlock *cfg = b->block->cfg;
    b->instruction = cfg->first < cfg->end ? &b->instructions->items[cfg->first] : NULL;
    b->depth = state->depth < 0 ? 0 : state->depth;
    for (int32_t slot = 0; slot < b->depth; slot++)
        b->stack[slot] = ssa_read_variable(b, slot_variable(b, slot), number);
    if (is_loop_body(b, number))
        run_loop_body(b);
    if (ssa_is_resumed_block(b, cfg)) /* nothing is ever sent to a generator */
        ssa_push(b, ssa_append_constant(b, &none));
    for (uint32_t i = cfg->first; i < cfg->end && !b->failed; i++) {
        b->instruction = &b->instructions->items[i];
        if (b->instruction->line)
            run_line(b, b->instruction->line);
        run_instruction(b);
    }
    if (b->failed)
        return;
    if (!b->block->last || b->block->last->op < SSA_JUMP)
        ssa_append(b, SSA_JUMP, 0, NULL);
    if (b->depth > SLOT_LIMIT) {
        ssa_fail(b, DIAG_UNSUPPORTED_BYTECODE, "a branch inside of so large an expression", "");
        return;
    }
    for (int32_t slot = 0; slot < b->depth; slot++)
        ssa_write_variable(b, slot_variable(b, slot), number, b->stack[slot]);
    propagate_depth(b);
}

/* Cells are made where the function begins; a parameter's holds the argument. */
static void write_cells(Builder *b)
{
    for (uint32_t local = 0; local < b->code->local_count; local++) {
        if (!b->cell_kinds[local] || is_free(b, local))
            continue;
        SsaValue *argument = ssa_own_value(b, local, 0), *cell = ssa_append(b, SSA_CELL, 0, NULL);
        cell->name = b->code->local_names[local];
        cell->argument = b->cell_kinds[local] != CELL_ASSIGNED;
        b->cells[local] = cell;
        b->function->has_cells = true;
        if (argument)
            ssa_append2(b, SSA_CELL_STORE, cell, argument)->name = cell->name;
    }
}

static void write_parameters(Builder *b)
{
    const CodeSnapshot *code = b->code;
    uint32_t given =
        code->argument_count + code->keyword_only_count + (code->has_varargs ? 1 : 0) + (code->has_varkeywords ? 1 : 0);
    b->block = &b->function->blocks[0];
    for (uint32_t i = 0; i < given + code->free_count; i++) {
        uint32_t local = i < given ? i : code->local_count - code->free_count + (i - given);
        SsaValue *value = ssa_append(b, SSA_PARAMETER, 0, NULL);
        value->argument = (int32_t)i;
        value->name = code->local_names[local];
        ssa_write_variable(b, local, 0, value);
    }
    b->function->parameter_count = given + code->free_count;
    write_cells(b);
    begin_lines(b);
}

SsaFunction *ssa_build(const CodeSnapshot *code, const Instructions *instructions, const Cfg *cfg, const bool *shared,
                       Arena *arena, Diag *diag)
{
    if (instructions->has_try) {
        diag_fail(diag, &instructions->try_pos, DIAG_UNSUPPORTED_BYTECODE, "try or with",
                  "; write what happened into an array");
        return NULL;
    }
    SsaFunction *function = ARENA_NEW(arena, SsaFunction);
    Builder *b = ARENA_NEW(arena, Builder);
    *b = (Builder){
        .arena = arena, .diag = diag, .code = code, .instructions = instructions, .cfg = cfg, .function = function};
    function->code = code;
    function->instructions = instructions;
    function->cfg = cfg;
    b->cell_kinds = cell_variables(code, instructions, shared, arena);
    function->shared = shared;
    function->loop_captures = loop_captures(code, instructions, b->cell_kinds, arena, &function->loop_capture_count);
    b->cells = ARENA_ARRAY(arena, SsaValue *, code->local_count);
    function->is_list = instructions->is_list;
    function->is_generator = code->is_generator || instructions->is_list;
    function->block_count = cfg->count;
    function->blocks = ARENA_ARRAY(arena, SsaBlock, cfg->count);
    b->states = ARENA_ARRAY(arena, BlockState, cfg->count);
    for (uint32_t i = 0; i < cfg->count; i++) {
        function->blocks[i].id = i;
        function->blocks[i].cfg = &cfg->blocks[i];
        b->states[i].depth = -1;
        b->states[i].waits_for = cfg->blocks[i].predecessor_count;
    }
    ssa_find_places(b);
    if (b->failed)
        return NULL;
    ssa_seal(b, 0);
    write_parameters(b);
    for (uint32_t i = 0; i < cfg->count && !b->failed; i++) {
        run_block(b, i);
        ssa_seal_successors(b, i);
    }
    if (b->failed)
        return NULL;
    ssa_finish(function, arena);
    return function;
}
