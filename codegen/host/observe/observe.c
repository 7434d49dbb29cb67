/* Counts the lines of code that is observed, and tells the runtime of what else is. The layout is observe.h's. */
#include "codegen/host/observe/observe.h"

#include <stddef.h>
#include <string.h>

#include "codegen/emit_tools.h"
#include "codegen/host/host_emitter.h"
#include "codegen/host/target_host.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/parts.h"
#include "core/base/buf.h"
#include "core/observed.h"

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
    uint32_t site_count;
    const IrValue **site_values; /* by number */
    LLVMValueRef sites; /* likewise */
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

static uint32_t count_sites(const IrModule *module)
{
    uint32_t count = 0;
    for (const IrFunc *function = module->first; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next)
                if (value->op == IR_OBSERVE && value->index >= count)
                    count = value->index + 1;
    return count;
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

ObservedModule *host_observed_module(Emitter *emitter)
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
    observed->site_count = count_sites(emitter->ir);
    observed->site_values = ARENA_ARRAY(emitter->arena, const IrValue *, observed->site_count + 1);
    return observed;
}

/* --- counting --------------------------------------------------------------------------------------------------------- */

static bool counts(const Emitter *emitter) { return emitter->options->observe == OBSERVE_ACCESSES; }

/* Memory of the code, of zeros, that the host finds by the kernel's symbol and the suffix. */
static LLVMValueRef make_array(Emitter *emitter, const char *suffix, LLVMTypeRef element, uint64_t count)
{
    const char *name = arena_format(emitter->arena, "%s.%s", emitter->entry ? emitter->entry : "", suffix);
    LLVMTypeRef type = LLVMArrayType2(element, count);
    LLVMValueRef array = LLVMAddGlobal(emitter->llvm_module, type, name);
    LLVMSetInitializer(array, LLVMConstNull(type));
    LLVMSetAlignment(array, 64);
    return array;
}

static LLVMValueRef cells(Emitter *emitter, ObservedModule *observed)
{
    if (!observed->cells)
        observed->cells =
            make_array(emitter, "lines", counts(emitter) ? emitter->i64 : emitter->i8, observed->cell_count);
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

static LLVMValueRef site_address(Emitter *emitter, const IrValue *value)
{
    ObservedModule *observed = emitter->host->observed;
    enum { SITE_WORDS = sizeof(ObservedSite) / sizeof(uint64_t) };
    if (!observed->sites)
        observed->sites = make_array(emitter, "sites", emitter->i64, (uint64_t)observed->site_count * SITE_WORDS);
    observed->site_values[value->index] = value;
    return offset_address(emitter, observed->sites, (int64_t)(value->index * sizeof(ObservedSite)));
}

void emit_op_OBSERVE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    if (!emitter->host) {
        diag_fail(emitter->diag, &value->pos, DIAG_IR_INVALID, emitter->function->name, "only the CPU device observes");
        return;
    }
    uint32_t last = value->operand_count - 1;
    LLVMValueRef depth = LLVMBuildTrunc(emitter->builder, operand_scalar(emitter, value, last), emitter->i32, "");
    LLVMValueRef address = LLVMConstNull(emitter->pointer_type), detail = const_i64(emitter, 0);
    if (value->hint == OBSERVED_BRANCH) {
        detail = LLVMBuildZExt(emitter->builder, operand_scalar(emitter, value, 0), emitter->i64, "");
    } else if (observed_is_access((ObservedEvent)value->hint)) {
        const IrValue *array = value->operands[0];
        const Type *element = array->type->element;
        address = element_address(emitter, value, 1);
        int64_t size = (int64_t)size_in_memory(element);
        if (element->kind == TYPE_COMPLEX && access_alignment(array) < element->size)
            size |= OBSERVED_IN_HALVES;
        detail = LLVMBuildMul(emitter->builder, operand_scalar(emitter, value, last - 1), const_i64(emitter, size), "");
    }
    LLVMValueRef arguments[5] = {site_address(emitter, value), const_i32(emitter, value->hint), depth, address, detail};
    call_host_service(emitter, offsetof(HostServices, observe), emitter->void_type, 5, arguments);
}

/* --- what is counted --------------------------------------------------------------------------------------------------- */

static void add_word(Buf *out, const char *text) { buf_add_bytes(out, text ? text : "", strlen(text ? text : "") + 1); }

static void add_number(Buf *out, int64_t number)
{
    buf_printf(out, "%lld", (long long)number);
    buf_add_bytes(out, "", 1);
}

/* NULL: in a block that nothing reaches. */
static void describe_site(Buf *text, const IrValue *value)
{
    static const SourcePos nowhere = {0};
    const SourcePos *pos = value ? &value->pos : &nowhere;
    add_word(text, "site");
    add_word(text, pos->function ? pos->function->file : NULL);
    add_word(text, pos->function ? pos->function->name : NULL);
    add_number(text, pos->line);
    add_number(text, pos->column);
    add_number(text, pos->end_line);
    add_number(text, pos->end_column);
    add_word(text, value ? observed_event_words[value->hint] : "");
}

void host_describe_observed(const Emitter *emitter, KernelImage *image)
{
    const ObservedModule *observed = emitter->host->observed;
    Buf text = {0};
    if (!observed->cells && !observed->sites)
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
    for (uint32_t i = 0; observed->sites && i < observed->site_count; i++)
        describe_site(&text, observed->site_values[i]);
    image->site_count = observed->sites ? observed->site_count : 0;
    image->observation = emitter->options->observe;
    image->line_cells = observed->cells ? observed->cell_count : 0;
    image->observed = text.text;
    image->observed_size = text.length;
}
