/* Multiplication of matrices by four warps in PTX. Accumulators go through registers: what an instruction changes later is
 * an operand and a result of it, and of the one that waits for it, so that LLVM keeps each in one register all the while. */
#include "codegen/emit_tools.h"
#include "codegen/nvptx/inline_ptx.h"
#include "codegen/nvptx/tile_nvptx.h"
#include "codegen/op/value/parts.h"
#include "core/intrinsic/wgmma.h"

/* Arrays of the thread whose elements an instruction takes and gives back. */
typedef struct Registers {
    uint32_t count, capacity;
    LLVMValueRef *addresses, *values;
    LLVMTypeRef *types;
} Registers;

static void add_array(Emitter *emitter, Registers *registers, const IrValue *value, uint32_t index, uint32_t count)
{
    const Type *element = value->operands[index]->type->element;
    LLVMTypeRef type = element->kind == TYPE_FLOAT && element->size == 4 ? emitter->f32 : emitter->i32;
    LLVMValueRef address = operand_parts(emitter, value, index)[0];
    uint32_t words = count * element->size / 4;
    for (uint32_t i = 0; i < words; i++) {
        uint32_t place = registers->count++;
        registers->types[place] = type;
        registers->addresses[place] = offset_address(emitter, address, 4 * i);
        registers->values[place] = LLVMBuildLoad2(emitter->builder, type, registers->addresses[place], "");
        LLVMSetAlignment(registers->values[place], element->size);
    }
}

static Registers make_registers(Emitter *emitter, uint32_t most)
{
    return (Registers){.capacity = most,
                       .addresses = ARENA_ARRAY(emitter->arena, LLVMValueRef, most + 1),
                       .values = ARENA_ARRAY(emitter->arena, LLVMValueRef, most + 8),
                       .types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, most + 1)};
}

static void store_back(Emitter *emitter, const Registers *registers, LLVMValueRef result)
{
    for (uint32_t i = 0; i < registers->count; i++) {
        LLVMValueRef word = registers->count == 1 ? result : LLVMBuildExtractValue(emitter->builder, result, i, "");
        LLVMSetAlignment(LLVMBuildStore(emitter->builder, word, registers->addresses[i]), 4);
    }
}

/* Runs the text with the registers as results $0, $1, ..., then `own` operands, then the registers as what they were. */
static void run(Emitter *emitter, const Registers *registers, const char *text, const char *own_constraints,
                uint32_t own, const LLVMValueRef *own_arguments)
{
    Buf constraints = {0};
    uint32_t count = registers->count;
    LLVMValueRef *arguments = ARENA_ARRAY(emitter->arena, LLVMValueRef, own + count + 1);
    for (uint32_t i = 0; i < count; i++)
        buf_printf(&constraints, "%s=%c", i ? "," : "", registers->types[i] == emitter->f32 ? 'f' : 'r');
    buf_printf(&constraints, "%s%s", count && own ? "," : "", own_constraints);
    for (uint32_t i = 0; i < own; i++)
        arguments[i] = own_arguments[i];
    for (uint32_t i = 0; i < count; i++) {
        buf_printf(&constraints, ",%u", i);
        arguments[own + i] = registers->values[i];
    }
    LLVMTypeRef result = count == 0   ? emitter->void_type
                         : count == 1 ? registers->types[0]
                                      : LLVMStructTypeInContext(emitter->context, registers->types, count, false);
    LLVMValueRef made = inline_ptx(emitter, text, buf_text(&constraints), result, own + count, arguments, true);
    buf_free(&constraints);
    store_back(emitter, registers, made);
}

/* --- fence and wait -------------------------------------------------------------------------------------------------------- */

/* Pairs of an array and a count, from the operand on. */
static Registers paired_registers(Emitter *emitter, const IrValue *value, uint32_t first)
{
    uint32_t most = 0;
    for (uint32_t i = first; i < value->operand_count; i += 2)
        most += (uint32_t)value->operands[i + 1]->integer;
    Registers registers = make_registers(emitter, most);
    for (uint32_t i = first; i < value->operand_count; i += 2)
        add_array(emitter, &registers, value, i, (uint32_t)value->operands[i + 1]->integer);
    return registers;
}

static void emit_wait(Emitter *emitter, const IrValue *value)
{
    Registers registers = paired_registers(emitter, value, 1);
    const char *text =
        arena_format(emitter->arena, "wgmma.wait_group.sync.aligned %lld;", (long long)value->operands[0]->integer);
    run(emitter, &registers, text, "", 0, NULL);
}

static void emit_fence(Emitter *emitter, const IrValue *value)
{
    Registers registers = paired_registers(emitter, value, 0);
    run(emitter, &registers, "wgmma.fence.sync.aligned;", "", 0, NULL);
}

/* --- descriptors of tiles in shared memory: the PTX ISA's "Matrix descriptor format" ------------------------------------------ */

enum {
    UNIT = 4, /* addresses and steps are in 16 bytes: bits less */
    LEADING_BIT = 16,
    STRIDE_BIT = 32,
    MODE_BIT = 62,
    GROUP_ROWS = 8, /* rows of shared memory after which the exchange of pieces repeats */
};

static uint64_t swizzle_mode(uint8_t swizzle) { return swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3; }

/* Rows along k: from 8 of them to the next 8. Transposed, the rows of shared memory are k, and `step` leads to the next
 * columns. */
static LLVMValueRef descriptor(Emitter *emitter, const IrValue *value, uint32_t place)
{
    LLVMBuilderRef builder = emitter->builder;
    uint8_t swizzle = value->operands[place]->type->swizzle;
    LLVMValueRef start = shared_word(emitter, operand_parts(emitter, value, place)[0]);
    start = LLVMBuildLShr(builder, LLVMBuildAnd(builder, start, const_i32(emitter, 0x3ffff), ""),
                          const_i32(emitter, UNIT), "");
    uint64_t fixed = swizzle_mode(swizzle) << MODE_BIT | (uint64_t)(GROUP_ROWS * swizzle >> UNIT) << STRIDE_BIT;
    LLVMValueRef leading =
        LLVMBuildLShr(builder, operand_scalar(emitter, value, place + 1), const_i32(emitter, UNIT), "");
    leading =
        LLVMBuildShl(builder, LLVMBuildZExt(builder, leading, emitter->i64, ""), const_i64(emitter, LEADING_BIT), "");
    LLVMValueRef words = LLVMBuildOr(builder, LLVMBuildZExt(builder, start, emitter->i64, ""), leading, "");
    return LLVMBuildOr(builder, words, const_i64(emitter, (int64_t)fixed), "");
}

/* --- mma ------------------------------------------------------------------------------------------------------------------------ */

static void add_names(Buf *text, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        buf_printf(text, "%s$%u", i ? ", " : "{", first + i);
    buf_add(text, "}");
}

/* The text between the operands: $0 on: c, then a (so many registers, or 0: a descriptor), b, whether it accumulates. */
static void write_mma(Buf *text, const IrValue *value, uint32_t sums, uint32_t fragment)
{
    const WgmmaKindInfo *kind = &wgmma_kinds[value->operands[WGMMA_ELEMENTS]->integer];
    int64_t transposed = value->operands[WGMMA_TRANSPOSED]->integer;
    uint32_t next = sums + (fragment ? fragment : 1);
    buf_printf(text,
               "{.reg .pred %%accumulate; setp.ne.b32 %%accumulate, $%u, 0; "
               "wgmma.mma_async.sync.aligned.m64n%lldk%u.%s.%s.%s ",
               next + 1, (long long)value->operands[WGMMA_COLUMNS]->integer, wgmma_depth(kind),
               kind->traits & WGMMA_WHOLE ? "s32" : "f32", kind->word, kind->word);
    add_names(text, 0, sums);
    buf_add(text, ", ");
    if (fragment)
        add_names(text, sums, fragment);
    else
        buf_printf(text, "$%u", sums);
    buf_printf(text, ", $%u, %%accumulate", next);
    buf_add(text, kind->traits & WGMMA_SCALES ? ", 1, 1" : "");
    if (kind->traits & WGMMA_TRANSPOSES && !fragment)
        buf_printf(text, ", %d", (int)(transposed & 1));
    if (kind->traits & WGMMA_TRANSPOSES)
        buf_printf(text, ", %d", (int)(transposed >> 1));
    buf_add(text, ";}");
}

static void emit_mma(Emitter *emitter, const IrValue *value)
{
    const WgmmaKindInfo *kind = &wgmma_kinds[value->operands[WGMMA_ELEMENTS]->integer];
    uint32_t sums = wgmma_sum_count((uint32_t)value->operands[WGMMA_COLUMNS]->integer);
    Registers c = make_registers(emitter, sums), a = make_registers(emitter, wgmma_fragment_count(kind));
    add_array(emitter, &c, value, WGMMA_C, sums);
    if (!value->operands[WGMMA_A]->type->swizzle)
        add_array(emitter, &a, value, WGMMA_A, wgmma_fragment_count(kind));
    else
        a.values[0] = descriptor(emitter, value, WGMMA_A);
    uint32_t given = a.count ? a.count : 1;
    a.values[given] = descriptor(emitter, value, WGMMA_B);
    a.values[given + 1] =
        LLVMBuildZExt(emitter->builder, operand_scalar(emitter, value, WGMMA_ACCUMULATE), emitter->i32, "");
    Buf text = {0};
    write_mma(&text, value, sums, a.count);
    bool has_floats = a.count && a.types[0] == emitter->f32;
    for (uint32_t i = 0; has_floats && i < a.count; i++)
        a.values[i] = LLVMBuildBitCast(emitter->builder, a.values[i], emitter->i32, "");
    run(emitter, &c, buf_text(&text), a.count ? "r,r,r,r,l,r" : "l,l,r", given + 2, a.values);
    buf_free(&text);
}

void emit_wgmma_nvptx(Emitter *emitter, const IrValue *value)
{
    switch (value->intrinsic) {
    case INTRINSIC_WGMMA_WAIT: emit_wait(emitter, value); return;
    case INTRINSIC_WGMMA_FENCE: emit_fence(emitter, value); return;
    default: emit_mma(emitter, value);
    }
}
