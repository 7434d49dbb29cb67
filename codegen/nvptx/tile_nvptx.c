/* Barriers in shared memory and copies of tiles in PTX: rows that have a text, and copies, whose text depends on how many
 * axes there are. */
#include "codegen/emit_tools.h"
#include "codegen/nvptx/inline_ptx.h"
#include "codegen/nvptx/tile_nvptx.h"
#include "codegen/op/value/parts.h"

enum { MOST_OPERANDS = 9 };

/* --- rows that have a text ---------------------------------------------------------------------------------------------- */

static LLVMValueRef row_operand(Emitter *emitter, const IrValue *value, uint32_t index, char shape)
{
    LLVMValueRef operand = operand_scalar(emitter, value, index);
    return shape == 'p' ? shared_word(emitter, operand) : operand;
}

static void emit_row(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
    bool has_result = row->shape[0] != 'n';
    LLVMValueRef arguments[MOST_OPERANDS];
    Buf constraints = {0};
    buf_add(&constraints, has_result ? "=r" : "");
    for (uint32_t i = 0; i < value->operand_count; i++) {
        arguments[i] = row_operand(emitter, value, i, row->shape[1 + i]);
        buf_printf(&constraints, "%s%c", constraints.length ? "," : "", row->shape[1 + i] == 'c' ? 'n' : 'r');
    }
    LLVMValueRef result =
        inline_ptx(emitter, row->assembly, buf_text(&constraints), has_result ? emitter->i32 : emitter->void_type,
                   value->operand_count, arguments, row->effects & EFFECT_CONVERGENT);
    buf_free(&constraints);
    if (has_result)
        out[0] = LLVMBuildICmp(emitter->builder, LLVMIntNE, result, const_i32(emitter, 0), "");
}

/* --- copies of tiles ---------------------------------------------------------------------------------------------------- */

/* "{$4, $3}": PTX has the axis first along which elements are neighbours. */
static void add_index(Buf *text, uint32_t first, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;)
        buf_printf(text, "%s$%u", i + 1 == count ? "{" : ", ", first + i);
    buf_add(text, "}");
}

/* Behind the operands of these constraints come the axes. */
static void emit_text(Emitter *emitter, Buf *text, const char *constraints, uint32_t axes, uint32_t count,
                      LLVMValueRef *arguments)
{
    Buf all = {0};
    buf_add(&all, constraints);
    for (uint32_t i = 0; i < axes; i++)
        buf_add(&all, ",r");
    inline_ptx(emitter, buf_text(text), buf_text(&all), emitter->void_type, count, arguments, false);
    buf_free(&all);
    buf_free(text);
}

static void emit_load(Emitter *emitter, const IrValue *value)
{
    bool is_multicast = value->intrinsic == INTRINSIC_TMA_LOAD_MULTICAST;
    uint32_t axes = value->operand_count - 4;
    LLVMValueRef to = shared_word(emitter, operand_parts(emitter, value, 0)[0]);
    LLVMValueRef barrier = shared_word(emitter, operand_parts(emitter, value, 2)[0]);
    LLVMValueRef arguments[MOST_OPERANDS] = {to, operand_parts(emitter, value, 1)[0], barrier};
    for (uint32_t i = 0; i < 1 + axes; i++)
        arguments[3 + i] = operand_scalar(emitter, value, 3 + i);
    Buf text = {0};
    buf_printf(&text, "%scp.async.bulk.tensor.%ud.shared::cluster.global.mbarrier::complete_tx::bytes%s [$0], [$1, ",
               is_multicast ? "{.reg .b16 %blocks; cvt.u16.u32 %blocks, $3; " : "", axes,
               is_multicast ? ".multicast::cluster" : "");
    add_index(&text, 4, axes);
    buf_add(&text, is_multicast ? "], [$2], %blocks;}" : "], [$2];");
    emit_text(emitter, &text, "r,l,r,r", axes, 4 + axes, arguments);
}

static void emit_store(Emitter *emitter, const IrValue *value)
{
    uint32_t axes = value->operand_count - 2;
    LLVMValueRef arguments[MOST_OPERANDS] = {shared_word(emitter, operand_parts(emitter, value, 0)[0]),
                                             operand_parts(emitter, value, 1)[0]};
    for (uint32_t i = 0; i < axes; i++)
        arguments[2 + i] = operand_scalar(emitter, value, 2 + i);
    Buf text = {0};
    buf_printf(&text, "cp.async.bulk.tensor.%ud.global.shared::cta.bulk_group [$1, ", axes);
    add_index(&text, 2, axes);
    buf_add(&text, "], [$0];");
    emit_text(emitter, &text, "r,l", axes, 2 + axes, arguments);
}

static void emit_prefetch(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef map = operand_parts(emitter, value, 0)[0];
    inline_ptx(emitter, "prefetch.tensormap [$0];", "l", emitter->void_type, 1, &map, false);
}

static void emit_bulk(Emitter *emitter, const IrValue *value)
{
    switch (value->intrinsic) {
    case INTRINSIC_TMA_STORE: emit_store(emitter, value); return;
    case INTRINSIC_TMA_PREFETCH: emit_prefetch(emitter, value); return;
    default: emit_load(emitter, value);
    }
}

bool emit_tile_nvptx(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
    switch (row->assembly ? FAMILY_MBARRIER : row->family) {
    case FAMILY_MBARRIER: emit_row(emitter, value, out); return true;
    case FAMILY_BULK:
    case FAMILY_BULK_CLUSTER: emit_bulk(emitter, value); return true;
    case FAMILY_WGMMA: emit_wgmma_nvptx(emitter, value); return true;
    default: return false;
    }
}
