/* Floats become integers by one instruction, which saturates by itself; NaN alone is chosen behind it, where the instruction
 * has another number for it than 0: that of the highest bit, so that it makes no difference where only lower bits are used.
 * LLVM's code generator tests for both ends of the type as well. Behind LLVM's passes, which know what llvm.fptosi.sat is. */
#include "codegen/nvptx/float_to_integer.h"

#include <string.h>

#include "codegen/emit_tools.h"

enum { DEEPEST = 3 }; /* of what is made of a number */

typedef struct Conversion {
    const char *called, *instruction;
    bool has_zero; /* the instruction makes 0 of NaN */
} Conversion;

static const Conversion conversions[] = {
    {"llvm.fptosi.sat.i32.f32", "llvm.nvvm.f2i.rz", true},   {"llvm.fptoui.sat.i32.f32", "llvm.nvvm.f2ui.rz", true},
    {"llvm.fptosi.sat.i64.f32", "llvm.nvvm.f2ll.rz", false}, {"llvm.fptoui.sat.i64.f32", "llvm.nvvm.f2ull.rz", false},
    {"llvm.fptosi.sat.i32.f64", "llvm.nvvm.d2i.rz", false},  {"llvm.fptoui.sat.i32.f64", "llvm.nvvm.d2ui.rz", false},
    {"llvm.fptosi.sat.i64.f64", "llvm.nvvm.d2ll.rz", false}, {"llvm.fptoui.sat.i64.f64", "llvm.nvvm.d2ull.rz", false},
};

/* The conversion that a function stands for; NULL: it is another function. */
static const Conversion *conversion_of(LLVMValueRef function)
{
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (strlen(conversions[i].called) == length && memcmp(conversions[i].called, name, length) == 0)
            return &conversions[i];
    return NULL;
}

static bool lacks_highest_bit(LLVMValueRef use, LLVMValueRef number)
{
    LLVMValueRef mask = LLVMGetOperand(use, LLVMGetOperand(use, 0) == number);
    bool is_mask = LLVMIsAConstantInt(mask) && LLVMGetIntTypeWidth(LLVMTypeOf(mask)) <= 64;
    return is_mask && !(LLVMConstIntGetZExtValue(mask) >> (LLVMGetIntTypeWidth(LLVMTypeOf(mask)) - 1) & 1);
}

/* Whether the highest bit of the number reaches nobody, and nothing is said of the numbers that have it. The lower ones of
 * sums and products are made of lower ones. */
static bool drops_highest_bit(LLVMValueRef number, int depth)
{
    for (LLVMUseRef use = LLVMGetFirstUse(number); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        LLVMOpcode opcode = LLVMIsAInstruction(user) ? LLVMGetInstructionOpcode(user) : LLVMCall;
        bool is_sum = opcode == LLVMAdd || opcode == LLVMSub || opcode == LLVMMul, is_cut = opcode == LLVMTrunc;
        if ((is_sum || is_cut) && (LLVMGetNSW(user) || LLVMGetNUW(user)))
            return false;
        if (is_cut || (opcode == LLVMAnd && lacks_highest_bit(user, number)))
            continue;
        if (!(is_sum || opcode == LLVMAnd || opcode == LLVMXor) || !depth || !drops_highest_bit(user, depth - 1))
            return false;
    }
    return true;
}

static void convert_by_instruction(Emitter *emitter, const Conversion *conversion, LLVMValueRef call)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef in = LLVMGetOperand(call, 0);
    LLVMTypeRef type = LLVMTypeOf(call);
    LLVMPositionBuilderBefore(builder, call);
    LLVMValueRef made = call_llvm_overloaded(emitter, conversion->instruction, NULL, 0, 1, &in);
    if (!conversion->has_zero && !drops_highest_bit(call, DEEPEST)) {
        LLVMValueRef is_number = LLVMBuildFCmp(builder, LLVMRealORD, in, in, "");
        made = LLVMBuildSelect(builder, is_number, made, LLVMConstNull(type), "");
    }
    LLVMReplaceAllUsesWith(call, made);
    LLVMInstructionEraseFromParent(call);
}

void saturate_by_instructions(Emitter *emitter)
{
    LLVMValueRef next;
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module); function; function = next) {
        next = LLVMGetNextFunction(function);
        const Conversion *conversion = conversion_of(function);
        LLVMUseRef use = conversion ? LLVMGetFirstUse(function) : NULL;
        while (use) {
            LLVMValueRef call = LLVMGetUser(use);
            use = LLVMGetNextUse(use);
            convert_by_instruction(emitter, conversion, call);
        }
        if (conversion)
            LLVMDeleteFunction(function);
    }
}
