/* Counts what code that is observed does: lines so far. The layout is observe.h's. */
#include "codegen/host/observe.h"

#include <string.h>

#include "codegen/emit_tools.h"
#include "codegen/host/host_emitter.h"
#include "codegen/op/value/parts.h"
#include "core/base/buf.h"

typedef struct LineTable {
    const SourceFunction *source;
    uint32_t count; /* of lines: the table has a row and a column more */
    uint32_t first_cell;
    int32_t *lines; /* by place, from 1 */
} LineTable;

struct ObservedModule {
    uint32_t table_count, cell_count;
    LineTable *tables;
    LLVMValueRef cells; /* the array; made where the first of them is counted */
};

/* --- layout ----------------------------------------------------------------------------------------------------------- */

/* Instances of a function share its table. */
static LineTable *table_of(const ObservedModule *observed, const SourceFunction *source)
{
    for (uint32_t i = 0; i < observed->table_count; i++)
        if (observed->tables[i].source == source)
            return &observed->tables[i];
    return NULL;
}

static void visit_lines(const IrFunc *function, ObservedModule *observed,
                        void (*visit)(LineTable *table, const IrValue *line))
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            if (value->op != IR_LINE)
                continue;
            LineTable *table = table_of(observed, function->source);
            if (!table)
                *(table = &observed->tables[observed->table_count++]) = (LineTable){.source = function->source};
            visit(table, value);
        }
}

static void count_line(LineTable *table, const IrValue *line)
{
    if (table->count < line->index)
        table->count = line->index;
}

static void keep_line(LineTable *table, const IrValue *line)
{
    if (line->index)
        table->lines[line->index] = line->pos.line;
}

ObservedModule *host_observe(Emitter *emitter)
{
    ObservedModule *observed = ARENA_NEW(emitter->arena, ObservedModule);
    observed->tables = ARENA_ARRAY(emitter->arena, LineTable, emitter->ir->function_count + 1);
    for (const IrFunc *function = emitter->ir->first; function; function = function->next)
        visit_lines(function, observed, count_line);
    for (uint32_t i = 0; i < observed->table_count; i++) {
        LineTable *table = &observed->tables[i];
        table->lines = ARENA_ARRAY(emitter->arena, int32_t, table->count + 1);
        table->first_cell = observed->cell_count;
        observed->cell_count += (table->count + 1) * (table->count + 1);
    }
    for (const IrFunc *function = emitter->ir->first; function; function = function->next)
        visit_lines(function, observed, keep_line);
    return observed;
}

/* --- counting --------------------------------------------------------------------------------------------------------- */

static bool counts(const Emitter *emitter) { return emitter->options->observe == OBSERVE_ACCESSES; }

static LLVMValueRef cells(Emitter *emitter, ObservedModule *observed)
{
    if (observed->cells)
        return observed->cells;
    const char *name = arena_format(emitter->arena, "%s.lines", emitter->entry ? emitter->entry : "");
    LLVMTypeRef type = LLVMArrayType2(counts(emitter) ? emitter->i64 : emitter->i8, observed->cell_count);
    observed->cells = LLVMAddGlobal(emitter->llvm_module, type, name);
    LLVMSetInitializer(observed->cells, LLVMConstNull(type));
    LLVMSetAlignment(observed->cells, 64);
    return observed->cells;
}

/* Workers mark the same byte: it is written once only, so that they do not take its cache line from each other. */
static void mark_cell(Emitter *emitter, LLVMValueRef cell)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMBasicBlockRef unset = new_block(emitter), after = new_block(emitter);
    LLVMValueRef before = LLVMBuildLoad2(builder, emitter->i8, cell, "");
    LLVMSetOrdering(before, LLVMAtomicOrderingMonotonic);
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntEQ, before, LLVMConstNull(emitter->i8), ""), unset, after);
    LLVMPositionBuilderAtEnd(builder, unset);
    LLVMValueRef store = LLVMBuildStore(builder, LLVMConstInt(emitter->i8, 1, false), cell);
    LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
    LLVMBuildBr(builder, after);
    LLVMPositionBuilderAtEnd(builder, after);
}

/* A launch that counts has one worker. */
static void count_cell(Emitter *emitter, LLVMValueRef cell)
{
    LLVMValueRef before = LLVMBuildLoad2(emitter->builder, emitter->i64, cell, "");
    LLVMBuildStore(emitter->builder, LLVMBuildAdd(emitter->builder, before, const_i64(emitter, 1), ""), cell);
}

void emit_op_LINE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    if (!emitter->host) /* lines are counted on the CPU device alone */
        return;
    ObservedModule *observed = emitter->host->observed;
    const LineTable *table = table_of(observed, emitter->function->source);
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef row =
        LLVMBuildMul(builder, operand_scalar(emitter, value, 0), const_i64(emitter, table->count + 1), "");
    LLVMValueRef place = LLVMBuildAdd(builder, row, const_i64(emitter, (int64_t)table->first_cell + value->index), "");
    LLVMTypeRef element = counts(emitter) ? emitter->i64 : emitter->i8;
    LLVMValueRef cell = LLVMBuildInBoundsGEP2(builder, element, cells(emitter, observed), &place, 1, "");
    if (counts(emitter))
        count_cell(emitter, cell);
    else
        mark_cell(emitter, cell);
}

/* --- what is counted --------------------------------------------------------------------------------------------------- */

static void add_word(Buf *out, const char *text) { buf_add_bytes(out, text ? text : "", strlen(text ? text : "") + 1); }

static void add_number(Buf *out, int64_t number)
{
    buf_printf(out, "%lld", (long long)number);
    buf_add_bytes(out, "", 1);
}

void host_describe_observed(const Emitter *emitter, KernelImage *image)
{
    const ObservedModule *observed = emitter->host->observed;
    Buf text = {0};
    if (!observed->cells)
        return;
    for (uint32_t i = 0; i < observed->table_count; i++) {
        const LineTable *table = &observed->tables[i];
        const SourceFunction *source = table->source;
        add_word(&text, "function");
        add_word(&text, source ? source->file : NULL);
        add_word(&text, source ? source->name : NULL);
        add_number(&text, source ? source->first_line : 0);
        add_number(&text, table->count);
        for (uint32_t k = 1; k <= table->count; k++)
            add_number(&text, table->lines[k]);
    }
    image->observation = emitter->options->observe;
    image->line_cells = observed->cell_count;
    image->observed = text.text;
    image->observed_size = text.length;
}
