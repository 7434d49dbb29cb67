/* What libdevice's code asks of a GPU's instructions, on the host: calls of llvm.nvvm.OPERATION[.ROUNDING][.ftz][.TYPE], and
 * PTX written inline, become what host_instruction.c has for them, so that a function of libdevice has the same values on
 * both devices. */
#include <string.h>

#include "codegen/emit.h"
#include "codegen/host/object/host_nvvm.h"

enum { MOST_OPERANDS = 4 };

/* The place of a sequence's first instruction that computes. */
static const char *first_instruction(const char *code)
{
    static const char space[] = " \t\n{;";
    code += strspn(code, space);
    while (*code == '.' || !strncmp(code, "mov.", 4)) {
        code += strcspn(code, ";");
        code += strspn(code, space);
    }
    return code;
}

static Leaf read_leaf(const char *operation, const InstructionRow *row, LLVMValueRef call)
{
    return (Leaf){.operation = operation,
                  .llvm = row->llvm,
                  .operand_count = LLVMGetNumArgOperands(call),
                  .rounding = has_word(operation, "rz")   ? ROUND_ZERO
                              : has_word(operation, "rm") ? ROUND_DOWN
                              : has_word(operation, "rp") ? ROUND_UP
                                                          : ROUND_NEAREST,
                  .flushes = has_word(operation, "ftz"),
                  .is_approximate = has_word(operation, "approx"),
                  .type = LLVMTypeOf(call)};
}

static void replace_call(Emitter *emitter, const char *operation, const InstructionRow *row, LLVMValueRef call)
{
    Leaf leaf = read_leaf(operation, row, call);
    LLVMValueRef arguments[MOST_OPERANDS];
    LLVMPositionBuilderBefore(emitter->builder, call);
    for (unsigned i = 0; i < leaf.operand_count && i < MOST_OPERANDS; i++) {
        arguments[i] = LLVMGetOperand(call, i);
        if (leaf.flushes)
            arguments[i] = flushed(emitter, arguments[i]);
    }
    LLVMValueRef result = row->lowering(emitter, &leaf, arguments);
    LLVMReplaceAllUsesWith(call, leaf.flushes ? flushed(emitter, result) : result);
    LLVMInstructionEraseFromParent(call);
}

static bool fail(Emitter *emitter, const char *operation)
{
    return diag_fail(emitter->diag, NULL, DIAG_LLVM,
                     arena_format(emitter->arena, "the CPU device has no '%s'", operation));
}

static bool lower_function_calls(Emitter *emitter, LLVMValueRef function, const char *operation)
{
    const InstructionRow *row = find_instruction(operation);
    if (!row)
        return fail(emitter, operation);
    const char *kept = arena_string(emitter->arena, operation);
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetFirstUse(function))
        replace_call(emitter, kept, row, LLVMGetUser(use));
    LLVMDeleteFunction(function);
    return true;
}

static bool lower_inline_ptx(Emitter *emitter, LLVMValueRef instruction)
{
    LLVMValueRef called = LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;
    if (!called || !LLVMIsAInlineAsm(called))
        return true;
    size_t length;
    const char *code = LLVMGetInlineAsmAsmString(called, &length);
    code = arena_format(emitter->arena, "%.*s", (int)length, code);
    bool is_sequence = code[strspn(code, " \t\n")] == '{';
    const char *first = is_sequence ? first_instruction(code) : code;
    const InstructionRow *row =
        is_sequence ? find_sequence(first, LLVMGetNumArgOperands(instruction)) : find_instruction(code);
    if (!row)
        return fail(emitter, code);
    replace_call(emitter, first, row, instruction);
    return true;
}

static bool lower_function_body(Emitter *emitter, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef instruction = LLVMGetFirstInstruction(block), next; instruction; instruction = next) {
            next = LLVMGetNextInstruction(instruction);
            if (!lower_inline_ptx(emitter, instruction))
                return false;
        }
    return true;
}

bool lower_nvvm_intrinsics(Emitter *emitter)
{
    static const char *const prefixes[] = {"llvm.nvvm.", "llvm.convert.from."};
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module), next; function; function = next) {
        next = LLVMGetNextFunction(function);
        size_t length;
        const char *name = LLVMGetValueName2(function, &length);
        bool is_nvvm = !strncmp(name, prefixes[0], strlen(prefixes[0]));
        if (!is_nvvm && strncmp(name, prefixes[1], strlen(prefixes[1])) != 0) {
            if (!lower_function_body(emitter, function))
                return false;
            continue;
        }
        if (!lower_function_calls(emitter, function, name + (is_nvvm ? strlen(prefixes[0]) : strlen("llvm."))))
            return false;
    }
    return true;
}
