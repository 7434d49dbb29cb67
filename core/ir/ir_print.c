/* Typed IR as text. The form is ir_parse.c's grammar: what is printed here is read back there and prints the same. */
#include <string.h>

#include "core/ir/ir.h"
#include "core/base/text.h"

static void print_operand(Buf *out, const IrValue *value)
{
    if (!value)
        buf_add(out, "?");
    else if (value->op == IR_PARAM && value->index < value->block->function->parameter_count)
        text_print_name(out, value->block->function->parameter_names[value->index]);
    else if (ir_has_result(value))
        buf_printf(out, "%%%u", value->id);
    else
        buf_add(out, "?");
}

static const IrValue *operand_at(const IrValue *value, uint32_t i)
{
    return i < value->operand_count ? value->operands[i] : NULL;
}

/* Operands [first, end) apart by commas. */
static void print_operands(Buf *out, const IrValue *value, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        buf_add(out, i > first ? ", " : "");
        print_operand(out, operand_at(value, i));
    }
}

/* `x[%0, %1]`, the first 1 + ndim operands; returns how many. */
static uint32_t print_element(Buf *out, const IrValue *value)
{
    const IrValue *array = operand_at(value, 0);
    uint32_t ndim = array && array->type->kind == TYPE_ARRAY ? array->type->ndim : 0;
    print_operand(out, array);
    buf_add(out, "[");
    print_operands(out, value, 1, 1 + ndim);
    buf_add(out, "]");
    return 1 + ndim;
}

static void print_rest(Buf *out, const IrValue *value, uint32_t first)
{
    if (first < value->operand_count) {
        buf_add(out, ", ");
        print_operands(out, value, first, value->operand_count);
    }
}

static void print_number(Buf *out, const IrValue *value)
{
    switch (value->type->kind) {
    case TYPE_BOOL: buf_add(out, value->integer ? "true" : "false"); return;
    case TYPE_INT: buf_printf(out, "%lld", (long long)value->integer); return;
    case TYPE_UINT: buf_printf(out, "%llu", (unsigned long long)value->integer); return;
    case TYPE_FLOAT: text_print_real(out, value->real); return;
    case TYPE_COMPLEX:
        buf_add(out, "(");
        text_print_real(out, value->real);
        buf_add(out, ", ");
        text_print_real(out, value->imaginary);
        buf_add(out, ")");
        return;
    default: buf_add(out, "none"); return;
    }
}

static void print_numbers(Buf *out, const int64_t *numbers, int count)
{
    buf_add(out, "(");
    for (int i = 0; i < count; i++)
        buf_printf(out, "%s%lld", i ? ", " : "", (long long)numbers[i]);
    buf_add(out, ")");
}

/* `f32[2 C] (2, 3) strides (12, 4) bytes 0000803f...`, or `device 0x7f...` for the data. */
static void print_data(Buf *out, const ConstantArray *array)
{
    if (!array) {
        buf_add(out, "?");
        return;
    }
    type_print(out, array->element);
    buf_printf(out, "[%d %c] ", array->ndim, (char)array->layout);
    print_numbers(out, array->shape, array->ndim);
    buf_add(out, " strides ");
    print_numbers(out, array->strides, array->ndim);
    if (!array->data) {
        buf_printf(out, " device 0x%llx", (unsigned long long)array->device_pointer);
        return;
    }
    buf_add(out, array->size ? " bytes " : " bytes");
    for (size_t i = 0; i < array->size; i++)
        buf_printf(out, "%02x", ((const uint8_t *)array->data)[i]);
}

static void print_storage(Buf *out, const IrValue *value)
{
    const IrStorage *storage = value->storage;
    if (!storage) {
        buf_add(out, "?");
        return;
    }
    print_numbers(out, storage->shape, value->type->kind == TYPE_ARRAY ? value->type->ndim : 0);
    if (storage->alignment)
        buf_printf(out, " align %u", storage->alignment);
    if (storage->dynamic)
        buf_add(out, " dynamic");
}

static void print_target(Buf *out, const IrBlock *block)
{
    if (block)
        buf_printf(out, "block %u", block->id);
    else
        buf_add(out, "?");
}

/* Each operand with the block it comes from, once predecessors are known. */
static void print_phi(Buf *out, const IrValue *value)
{
    bool linked = value->block->predecessor_count == value->operand_count;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        buf_add(out, i ? ", " : "");
        if (linked)
            buf_printf(out, "block %u: ", value->block->predecessors[i]->id);
        print_operand(out, value->operands[i]);
    }
}

/* `!index0 x[%0], extents [%1], strides [%2], offset 8` */
static void print_subarray(Buf *out, const IrValue *value)
{
    for (int i = 0; i < TYPE_MAX_NDIM; i++)
        if (value->hint >> i & 1)
            buf_printf(out, "!%s ", ir_index_mark_names[i]);
    uint32_t next = print_element(out, value);
    uint32_t ndim = value->type->kind == TYPE_ARRAY ? value->type->ndim : 0;
    buf_add(out, ", extents [");
    print_operands(out, value, next, next + ndim);
    buf_add(out, "], strides [");
    print_operands(out, value, next + ndim, next + 2 * ndim);
    buf_printf(out, "], offset %lld", (long long)value->integer);
}

static void print_intrinsic(Buf *out, const IrValue *value)
{
    const IntrinsicInfo *info = &intrinsic_info[value->intrinsic];
    size_t length = strcspn(info->path, " ");
    if (length)
        buf_add_bytes(out, info->path, length);
    else
        buf_printf(out, "intrinsic.%s", info->id);
    buf_add(out, value->operand_count ? " " : "");
    print_operands(out, value, 0, value->operand_count);
}

/* `!independent block 5, block 4, %1, %2` */
static void print_thread_loop(Buf *out, const IrValue *value)
{
    for (int i = 0; i < IR_THREADS_MARK_COUNT; i++)
        if (value->hint >> i & 1)
            buf_printf(out, "!%s ", ir_threads_mark_names[i]);
    print_target(out, value->targets[0]);
    buf_add(out, ", ");
    print_target(out, value->targets[1]);
    print_rest(out, value, 0);
}

/* `c !cooperative "name"(*x, %1)` */
static void print_foreign(Buf *out, const IrValue *value)
{
    const ForeignFunction *foreign = value->foreign;
    buf_printf(out, "%s ", foreign->abi < FOREIGN_ABI_COUNT ? foreign_abi_names[foreign->abi] : "?");
    if (foreign->is_cooperative)
        buf_add(out, "!cooperative ");
    if (foreign->result->kind == TYPE_RECORD) { /* its memory is the last operand */
        buf_add(out, "!into ");
        type_print(out, foreign->result);
        buf_add(out, " ");
    }
    text_print_name(out, foreign->symbol);
    buf_add(out, "(");
    for (uint32_t i = 0; i < value->operand_count; i++) {
        buf_printf(out, "%s%s", i ? ", " : "", i < foreign->parameter_count && foreign->by_pointer[i] ? "*" : "");
        print_operand(out, value->operands[i]);
    }
    buf_add(out, ")");
}

static void print_operation(Buf *out, const IrValue *value)
{
    const IrOpInfo *info = &ir_op_info[value->op];
    if (value->op == IR_INTRINSIC) {
        print_intrinsic(out, value);
        return;
    }
    buf_add(out, info->text);
    if (value->operand_count || info->immediate != IR_IMMEDIATE_NOTHING)
        buf_add(out, " ");
    uint8_t hint_count;
    const char *const *hints = ir_hint_words(value->op, &hint_count);
    if (hints && value->hint)
        buf_printf(out, "!%s ", value->hint < hint_count ? hints[value->hint] : "?");
    switch (value->op) {
    case IR_CONST: print_number(out, value); return;
    case IR_DATA: print_data(out, value->array); return;
    case IR_PHI: print_phi(out, value); return;
    case IR_LOAD:
    case IR_STORE: print_rest(out, value, print_element(out, value)); return;
    case IR_ATOMIC:
        buf_printf(out, "%s ", value->atomic < IR_ATOMIC_COUNT ? ir_atomic_names[value->atomic] : "?");
        if (value->scope)
            buf_printf(out, "!%s ", value->scope < IR_SCOPE_COUNT ? ir_scope_names[value->scope] : "?");
        if (value->order)
            buf_printf(out, "!%s ", value->order < IR_ORDER_COUNT ? ir_order_names[value->order] : "?");
        print_rest(out, value, print_element(out, value));
        return;
    case IR_SUBARRAY: print_subarray(out, value); return;
    case IR_SHARED:
    case IR_LOCAL: print_storage(out, value); return;
    case IR_CALL:
        text_print_name(out, value->callee ? value->callee->name : "?");
        buf_add(out, "(");
        print_operands(out, value, 0, value->operand_count);
        buf_add(out, ")");
        return;
    case IR_FOREIGN: print_foreign(out, value); return;
    case IR_PRINT:
        text_print_name(out, value->text ? value->text : "?");
        print_rest(out, value, 0);
        return;
    case IR_OBSERVE:
    case IR_NOTE:
    case IR_RAISE:
        buf_printf(out, "%u", value->index);
        print_rest(out, value, 0);
        return;
    case IR_WATCH:
        buf_printf(out, "%u", value->index);
        buf_add(out, ir_watches_access(value) ? ", " : "");
        print_rest(out, value, ir_watches_access(value) ? print_element(out, value) : 0);
        return;
    case IR_EXCHANGE: print_intrinsic(out, value); return;
    case IR_THREAD_LOOP: print_thread_loop(out, value); return;
    case IR_JUMP: print_target(out, value->targets[0]); return;
    case IR_BRANCH:
        print_operand(out, operand_at(value, 0));
        buf_add(out, ", ");
        print_target(out, value->targets[0]);
        buf_add(out, ", ");
        print_target(out, value->targets[1]);
        return;
    default:
        print_operands(out, value, 0, value->operand_count);
        if (info->immediate == IR_IMMEDIATE_INDEX)
            buf_printf(out, ", %u", value->index);
        return;
    }
}

/* `; 7:17-25`, or `; 7:17-9:4` over several lines. */
static void print_position(Buf *out, const SourcePos *pos)
{
    if (pos->line <= 0)
        return;
    buf_printf(out, " ; %d:%d-", pos->line, pos->column);
    if (pos->end_line != pos->line)
        buf_printf(out, "%d:", pos->end_line);
    buf_printf(out, "%d", pos->end_column);
}

static void print_value(Buf *out, const IrValue *value, bool with_positions)
{
    if (value->op == IR_PARAM)
        return;
    buf_add(out, "  ");
    if (ir_has_result(value)) {
        buf_printf(out, "%%%u: ", value->id);
        type_print(out, value->type);
        buf_add(out, " = ");
    }
    print_operation(out, value);
    if (with_positions)
        print_position(out, &value->pos);
    buf_add(out, "\n");
}

static void print_header(Buf *out, const IrFunc *function, bool with_positions)
{
    buf_add(out, function->is_kernel ? "kernel " : "device ");
    text_print_name(out, function->name);
    buf_add(out, "(");
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        buf_add(out, i ? ", " : "");
        text_print_name(out, function->parameter_names[i]);
        buf_add(out, ": ");
        type_print(out, function->parameter_types[i]);
    }
    buf_add(out, ")");
    if (function->result->kind != TYPE_NONE) {
        buf_add(out, " -> ");
        type_print(out, function->result);
    }
    buf_add(out, function->noinline ? " noinline" : "");
    buf_add(out, function->forceinline ? " forceinline" : "");
    buf_add(out, function->is_recursive ? " recursive" : "");
    buf_add(out, function->reports ? " reports" : "");
    buf_add(out, function->is_limited ? " limited" : "");
    buf_add(out, function->is_apart ? " apart" : "");
    if (function->aligned)
        buf_printf(out, " aligned %llu", (unsigned long long)function->aligned);
    buf_add(out, function->passed ? " passed" : "");
    for (uint32_t i = 0; function->passed && i < function->parameter_count; i++)
        buf_printf(out, " %u", function->passed[i]);
    if (function->row_axis)
        buf_printf(out, " rows %s", ir_axis_names[function->row_axis]);
    buf_add(out, function->joins_rows ? " joined" : "");
    buf_add(out, function->by_rows ? " by_rows" : "");
    buf_add(out, function->by_warps ? " by_warps" : "");
    buf_add(out, function->may_wait ? " may_wait" : "");
    for (uint32_t axis = 0; axis < 3; axis++)
        if (function->single_axes >> axis & 1)
            buf_printf(out, " single %s", ir_axis_names[axis]);
    for (uint32_t i = 0; function->extents && i < function->parameter_count * TYPE_MAX_NDIM; i++)
        if (function->extents[i])
            buf_printf(out, " extent %u %u %u", i / TYPE_MAX_NDIM, i % TYPE_MAX_NDIM, function->extents[i]);
    if (function->assembly) {
        buf_printf(out, " assembly%s%s ", function->assembly_is_pure ? " pure" : "",
                   function->lacks_body ? " only" : "");
        text_print_name(out, function->assembly);
    }
    if (with_positions && function->source) {
        buf_add(out, " ; ");
        text_print_name(out, function->source->name);
        buf_add(out, " ");
        text_print_name(out, function->source->file);
        buf_printf(out, ":%d", function->source->first_line);
    }
    buf_add(out, "\n");
}

/* `block 3:`, or `block 3 !unroll:` where something is to be done with its loop. */
static void print_label(Buf *out, const IrBlock *block)
{
    buf_printf(out, "block %u", block->id);
    if (block->loop)
        buf_printf(out, " !%s", block->loop < IR_LOOP_MARK_COUNT ? ir_loop_mark_names[block->loop] : "?");
    buf_add(out, ":\n");
}

void ir_print(Buf *out, const IrModule *module, bool with_positions)
{
    for (const IrFunc *function = module->first; function; function = function->next) {
        buf_add(out, function == module->first ? "" : "\n");
        print_header(out, function, with_positions);
        for (const IrBlock *block = function->first; block; block = block->next) {
            print_label(out, block);
            for (const IrValue *value = block->first; value; value = value->next)
                print_value(out, value, with_positions);
        }
    }
}
