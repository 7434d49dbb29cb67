/* Untyped SSA as text, for CUJIT_DUMP=ssa. Numbers of values have gaps where phis turned out to join nothing. */
#include "frontend/ssa/ssa.h"

#include <ctype.h>

static const char *const op_names[] = {
#define SSA(name) #name,
#include "frontend/ssa/ssa_op.def"
#undef SSA
};

static void print_op(Buf *out, SsaOp op)
{
    for (const char *letter = op_names[op]; *letter; letter++)
        buf_printf(out, "%c", tolower((unsigned char)*letter));
}

static bool is_end(SsaOp op) { return op == SSA_JUMP || op == SSA_BRANCH || op == SSA_RETURN || op == SSA_RAISE; }

static bool has_result(SsaOp op)
{
    return !is_end(op) && op != SSA_STORE_ATTRIBUTE && op != SSA_STORE_SUBSCRIPT && op != SSA_CELL_STORE &&
           op != SSA_YIELD && op != SSA_DELETE && op != SSA_CAPTURE && op != SSA_CELL_DELETE;
}

/* A branch: where it goes if the condition is true, then where it goes if not. */
static void print_ways(Buf *out, const SsaValue *value)
{
    const uint32_t *next = value->block->cfg->successors;
    if (value->op == SSA_BRANCH)
        buf_printf(out, ", block %u, block %u", next[value->argument ? 1 : 0], next[value->argument ? 0 : 1]);
    else if (value->op == SSA_JUMP || value->op == SSA_YIELD)
        buf_printf(out, "%s block %u", value->count ? "," : "", next[0]);
}

/* The operator, a name, a constant, and what else tells the value from others on these operands. */
static void print_what(Buf *out, const SsaValue *value)
{
    if (value->op == SSA_BINARY)
        buf_printf(out, " %s", bytecode_binary_text(value->argument + (value->argument2 ? 13 : 0)));
    else if (value->op == SSA_COMPARE)
        buf_printf(out, " %s", bytecode_compare_text(value->argument));
    else if (value->op != SSA_BRANCH && (value->argument || value->op == SSA_PARAMETER || value->op == SSA_UNPACK))
        buf_printf(out, " %d", value->argument);
    if (value->op != SSA_BINARY && value->argument2)
        buf_printf(out, " of %d", value->argument2);
    if (value->name)
        buf_printf(out, " %s", value->name);
    if (value->constant) {
        buf_add(out, " ");
        constant_print(out, value->constant);
    }
}

static void print_operands(Buf *out, const SsaValue *value)
{
    uint32_t first_keyword = value->op == SSA_CALL ? value->count - value->keyword_count : value->count;
    for (uint32_t i = 0; i < value->count; i++) {
        buf_add(out, i ? ", " : " ");
        if (value->op == SSA_PHI && value->count == value->block->cfg->predecessor_count)
            buf_printf(out, "block %u: ", value->block->cfg->predecessors[i]);
        if (i >= first_keyword)
            buf_printf(out, "%s=", value->keywords[i - first_keyword]);
        buf_printf(out, "%%%u", value->operands[i]->id);
    }
}

static void print_value(Buf *out, const SsaValue *value)
{
    buf_add(out, "  ");
    if (has_result(value->op))
        buf_printf(out, "%%%u = ", value->id);
    print_op(out, value->op);
    print_what(out, value);
    print_operands(out, value);
    print_ways(out, value);
    if (value->is_dead)
        buf_add(out, " !dead");
    if (value->pos.line > 0)
        buf_printf(out, " ; %d", value->pos.line);
    if (value->pos.line > 0 && value->pos.end_column > value->pos.column)
        buf_printf(out, ":%d-%d", value->pos.column, value->pos.end_column);
    buf_add(out, "\n");
}

void ssa_print(Buf *out, const SsaFunction *function)
{
    const SourceFunction *source = &function->code->source;
    buf_printf(out, "ssa of %s, %s:%d\n", source->name, source->file, source->first_line);
    for (uint32_t i = 0; i < function->block_count; i++) {
        const SsaBlock *block = &function->blocks[i];
        buf_printf(out, "block %u:\n", block->id);
        for (const SsaValue *phi = block->phis; phi; phi = phi->next)
            print_value(out, phi);
        for (const SsaValue *value = block->first; value; value = value->next)
            print_value(out, value);
    }
}
