/* Intrinsics of intrinsic.def, by their kind: registers and device operations as the target does them, mathematics as an
 * LLVM intrinsic or a symbol of the math library. */
#include <string.h>

#include "codegen/emit.h"

/* The type's own name for messages; in the arena. */
static const char *describe(Emitter *emitter, const Type *type)
{
    Buf text = {0};
    type_describe(&text, type);
    const char *copy = arena_string(emitter->arena, buf_text(&text));
    buf_free(&text);
    return copy;
}

static const char *target_name(Emitter *emitter)
{
    return emitter->target->kind == TARGET_NVPTX ? emitter->target->gpu->name : "the CPU device";
}

static const char *first_spelling(Emitter *emitter, IntrinsicId id)
{
    const IntrinsicInfo *info = &intrinsic_info[id];
    size_t length = strcspn(info->path, " ");
    return length ? arena_format(emitter->arena, "%.*s", (int)length, info->path) : info->id;
}

/* --- mathematics ------------------------------------------------------------------------------------------------------------ */

static LLVMValueRef call_math(Emitter *emitter, IntrinsicId id, LLVMTypeRef type, uint32_t count,
                              LLVMValueRef *arguments)
{
    const char *symbol = emitter->lowering->math_symbol(emitter, id, type == emitter->f64);
    LLVMValueRef result = !strncmp(symbol, "llvm.", 5) ? call_llvm(emitter, symbol, type, count, arguments)
                                                       : call_pure(emitter, symbol, type, count, arguments);
    return with_flags(result, emitter->division_flags);
}

LLVMValueRef emit_math(Emitter *emitter, IntrinsicId id, const Type *type, uint32_t count, LLVMValueRef *arguments)
{
    if (type->scalar != SCALAR_FLOAT16)
        return call_math(emitter, id, part_type(emitter, type), count, arguments);
    LLVMValueRef wide[4];
    for (uint32_t i = 0; i < count; i++)
        wide[i] = LLVMBuildFPExt(emitter->builder, arguments[i], emitter->f32, "");
    LLVMValueRef result = call_math(emitter, id, emitter->f32, count, wide);
    return LLVMBuildFPTrunc(emitter->builder, result, part_type(emitter, type), "");
}

static bool emit_math_intrinsic(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef arguments[4];
    if (value->type->kind != TYPE_FLOAT || value->operand_count > 4)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        arguments[i] = operand_scalar(emitter, value, i);
    out[0] = emit_math(emitter, value->intrinsic, value->type, value->operand_count, arguments);
    return true;
}

/* --- all kinds --------------------------------------------------------------------------------------------------------------- */

static bool emit_register(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef number = emitter->lowering->read_register(emitter, value->intrinsic);
    if (!number)
        return false;
    const Type *row = intrinsic_info[value->intrinsic].type;
    convert_parts(emitter, row, value->type, &number, out);
    return true;
}

void emit_op_INTRINSIC(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    bool done = false;
    switch (intrinsic_info[value->intrinsic].kind) {
    case INTRINSIC_KIND_REGISTER: done = emit_register(emitter, value, out); break;
    case INTRINSIC_KIND_MATH: done = emit_math_intrinsic(emitter, value, out); break;
    case INTRINSIC_KIND_DEVICE: done = emitter->lowering->device_intrinsic(emitter, value, out); break;
    case INTRINSIC_KIND_BUILTIN: case INTRINSIC_KIND_NONE: break;
    }
    if (!done)
        diag_fail(emitter->diag, &value->pos, DIAG_INTRINSIC_TARGET, first_spelling(emitter, value->intrinsic),
                  target_name(emitter),
                  value->type->kind == TYPE_NONE
                      ? "" : arena_format(emitter->arena, " (for %s)", describe(emitter, value->type)));
}
