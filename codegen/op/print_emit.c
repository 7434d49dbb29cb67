/* print: its operands in a buffer of 8 bytes each, and a format: what the CPU device takes, and vprintf of the GPU but for
 * characters, which are 4 bytes there. */
#include <stdio.h>
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/value/parts.h"
#include "core/ir/print_format.h"

/* A constant string as a generic pointer; the same text is there once. */
static LLVMValueRef text_constant(Emitter *emitter, const char *text, size_t length)
{
    LLVMValueRef bytes = LLVMConstStringInContext2(emitter->context, text, length, false);
    for (LLVMValueRef each = LLVMGetFirstGlobal(emitter->llvm_module); each; each = LLVMGetNextGlobal(each))
        if (LLVMIsGlobalConstant(each) && LLVMGetInitializer(each) == bytes)
            return LLVMConstAddrSpaceCast(each, emitter->pointer_type);
    char name[32];
    snprintf(name, sizeof name, "cujit.text.%u", emitter->text_count++);
    LLVMValueRef global =
        LLVMAddGlobalInAddressSpace(emitter->llvm_module, LLVMTypeOf(bytes), name, emitter->lowering->pointer_space);
    LLVMSetInitializer(global, bytes);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetAlignment(global, 1);
    return LLVMConstAddrSpaceCast(global, emitter->pointer_type);
}

static LLVMValueRef printed_value(Emitter *emitter, const IrValue *value, uint32_t index)
{
    LLVMValueRef operand = operand_scalar(emitter, value, index);
    if (value->operands[index]->type->kind != TYPE_BOOL)
        return operand;
    return LLVMBuildSelect(emitter->builder, operand, text_constant(emitter, "True", 4),
                           text_constant(emitter, "False", 5), "");
}

/* The format from `format` to `end`, with the operands from `first` on. */
static void print_part(Emitter *emitter, const IrValue *value, const char *format, const char *end, uint32_t first,
                       uint32_t count)
{
    LLVMValueRef buffer = prologue_alloca(emitter, 8 * (uint64_t)(count ? count : 1), 8);
    const char *at = format, *stop = format;
    int64_t offset = 0;
    for (uint32_t i = 0; i < count && print_directive(at, &stop); i++, at = stop) {
        LLVMValueRef printed = printed_value(emitter, value, first + i);
        bool is_character = emitter->target->kind == TARGET_NVPTX && stop[-1] == 'c';
        if (is_character)
            printed = LLVMBuildTrunc(emitter->builder, printed, emitter->i32, "");
        else
            offset = (offset + 7) / 8 * 8;
        LLVMBuildStore(emitter->builder, printed, offset_address(emitter, buffer, offset));
        offset += is_character ? 4 : 8;
    }
    emitter->lowering->print(emitter, text_constant(emitter, format, (size_t)(end - format)), buffer);
}

/* A device may take no more than some operands at once; what is longer is cut before a directive. */
void emit_op_PRINT(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    uint32_t most = emitter->lowering->print_operands, first = 0, count = 0;
    const char *start = value->text, *end = start;
    for (const char *at = start, *found; (found = print_directive(at, &end)); at = end, count++)
        if (count == most) {
            print_part(emitter, value, start, found, first, count);
            first += count;
            start = found;
            count = 0;
        }
    print_part(emitter, value, start, start + strlen(start), first, count);
}
