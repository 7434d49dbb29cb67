/* What LLVM 7 does not have, made of what it has: with constant operands LLVM's builder computes the result at once, and here
 * it is compared for all operands of 8 bits. */
#include "codegen_tests.h"

#include "codegen/emit_tools.h"
#include "codegen/module_emit.h"
#include "codegen/nvptx/nvvm/llvm7_rewrite.h"
#include "codegen/nvptx/nvvm/nvvm_text.h"
#include "core/base/memory.h"

static int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

static int smin(int a, int b) { return a < b ? a : b; }
static int smax(int a, int b) { return a > b ? a : b; }
static int umin(int a, int b) { return (a & 255) < (b & 255) ? a : b; }
static int umax(int a, int b) { return (a & 255) > (b & 255) ? a : b; }
static int scmp(int a, int b) { return (a > b) - (a < b); }
static int ucmp(int a, int b) { return scmp(a & 255, b & 255); }
static int sadd_sat(int a, int b) { return clamp(a + b, -128, 127); }
static int ssub_sat(int a, int b) { return clamp(a - b, -128, 127); }
static int uadd_sat(int a, int b) { return clamp((a & 255) + (b & 255), 0, 255); }
static int usub_sat(int a, int b) { return clamp((a & 255) - (b & 255), 0, 255); }
static int fshl(int a, int b) { return ((a & 255) << 8 | 0x5a) << (b & 7) >> 8; }
static int fshr(int a, int b) { return ((a & 255) << 8 | 0x5a) >> (b & 7); }
static int magnitude(int a, int b) { return b & 1 ? a : a < 0 ? -a : a; }

static const struct {
    const char *name;
    int (*expected)(int a, int b);
    unsigned operands; /* 3: a word of which 0x5a is the lower part, and the second is the shift; 1: the number alone */
} rows[] = {{"llvm.smin", smin, 2},         {"llvm.smax", smax, 2},         {"llvm.umin", umin, 2},
            {"llvm.umax", umax, 2},         {"llvm.scmp", scmp, 2},         {"llvm.ucmp", ucmp, 2},
            {"llvm.sadd.sat", sadd_sat, 2}, {"llvm.ssub.sat", ssub_sat, 2}, {"llvm.uadd.sat", uadd_sat, 2},
            {"llvm.usub.sat", usub_sat, 2}, {"llvm.fshl", fshl, 3},         {"llvm.fshr", fshr, 3}};

static const char empty_ir[] = "kernel empty(a: f32)\n"
                               "block 0:\n"
                               "  return\n";

/* A function of no parameters whose block the builder stands in. */
static LLVMBasicBlockRef begin_function(Emitter *emitter, const char *name, LLVMTypeRef result)
{
    LLVMValueRef function = LLVMAddFunction(emitter->llvm_module, name, LLVMFunctionType(result, NULL, 0, false));
    LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(emitter->context, function, "");
    LLVMPositionBuilderAtEnd(emitter->builder, block);
    return block;
}

static LLVMValueRef call_row(Emitter *emitter, size_t row, int a, int b)
{
    LLVMValueRef first = LLVMConstInt(emitter->i8, (unsigned)a & 255, false);
    LLVMValueRef second = LLVMConstInt(emitter->i8, (unsigned)b & 255, false);
    LLVMValueRef operands[3] = {first, second, second};
    LLVMTypeRef overloads[2] = {emitter->i8, emitter->i8};
    bool has_two = strstr(rows[row].name, "cmp") != NULL;
    if (rows[row].operands == 3)
        operands[1] = LLVMConstInt(emitter->i8, 0x5a, false);
    return call_llvm_overloaded(emitter, rows[row].name, overloads, has_two ? 2 : 1, rows[row].operands, operands);
}

static bool is_right(Emitter *emitter, size_t row, int a, int b)
{
    LLVMBasicBlockRef block = begin_function(emitter, "f", emitter->i8);
    LLVMValueRef returned = LLVMBuildRet(emitter->builder, call_row(emitter, row, a, b));
    bool ok = rewrite_for_llvm7(emitter, block);
    LLVMValueRef result = LLVMGetOperand(returned, 0);
    ok = ok && LLVMIsAConstantInt(result) &&
         LLVMConstIntGetZExtValue(result) == (unsigned)(rows[row].expected(a, b) & 255);
    LLVMDeleteFunction(LLVMGetBasicBlockParent(block));
    return ok;
}

static void check_expansions(Emitter *emitter)
{
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        bool ok = true;
        for (int a = -128; a < 128 && ok; a += 3)
            for (int b = -128; b < 128 && ok; b++)
                ok = is_right(emitter, row, a, b);
        if (!CHECK(ok))
            fprintf(stderr, "%s\n", rows[row].name);
    }
}

static void check_magnitude(Emitter *emitter)
{
    for (int a = -128; a < 128; a++) {
        LLVMBasicBlockRef block = begin_function(emitter, "f", emitter->i8);
        LLVMValueRef operands[2] = {LLVMConstInt(emitter->i8, (unsigned)a & 255, false), LLVMConstNull(emitter->i1)};
        LLVMValueRef returned =
            LLVMBuildRet(emitter->builder, call_llvm(emitter, "llvm.abs", emitter->i8, 2, operands));
        CHECK(rewrite_for_llvm7(emitter, block));
        CHECK(LLVMConstIntGetZExtValue(LLVMGetOperand(returned, 0)) == (unsigned)(magnitude(a, 0) & 255));
        LLVMDeleteFunction(LLVMGetBasicBlockParent(block));
    }
}

/* The class of a float16 as LLVM numbers them. */
static int class_of_half(unsigned bits)
{
    unsigned size = bits & 0x7fff;
    if (size > 0x7c00)
        return size >= 0x7e00;
    int kind = size == 0 ? 0 : size < 0x400 ? 1 : size < 0x7c00 ? 2 : 3;
    return bits & 0x8000 ? 5 - kind : 6 + kind;
}

static void check_classes(Emitter *emitter)
{
    LLVMTypeRef half = LLVMHalfTypeInContext(emitter->context), word = LLVMInt16TypeInContext(emitter->context);
    static const unsigned values[] = {0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7dff, 0x7e00, 0x7fff};
    bool ok = true;
    for (unsigned i = 0; i < 2 * sizeof values / sizeof *values; i++)
        for (int mask = 0; mask < 0x400; mask++) {
            unsigned bits = values[i / 2] | i % 2 << 15;
            LLVMBasicBlockRef block = begin_function(emitter, "f", emitter->i1);
            LLVMValueRef number = LLVMConstBitCast(LLVMConstInt(word, bits, false), half);
            LLVMValueRef operands[2] = {number, const_i32(emitter, mask)};
            LLVMValueRef returned =
                LLVMBuildRet(emitter->builder, call_llvm(emitter, "llvm.is.fpclass", half, 2, operands));
            ok = ok && rewrite_for_llvm7(emitter, block) &&
                 LLVMConstIntGetZExtValue(LLVMGetOperand(returned, 0)) == (unsigned)(mask >> class_of_half(bits) & 1);
            LLVMDeleteFunction(LLVMGetBasicBlockParent(block));
        }
    CHECK(ok);
}

/* What there is no counterpart of is an error that names it and the function. */
static void check_unknown(Emitter *emitter)
{
    begin_function(emitter, "fences", emitter->void_type);
    call_llvm(emitter, "llvm.nvvm.fence.proxy.alias", NULL, 0, NULL);
    LLVMBuildRetVoid(emitter->builder);
    CHECK(!make_nvvm_text(emitter));
    CHECK(emitter->diag->id == DIAG_LLVM7);
    CHECK_CONTAINS(emitter->diag->message, "compute capability 7.5: llvm.nvvm.fence.proxy.alias (in fences) is not in");
}

static bool run(void *data)
{
    Arena *arena = data;
    Diag diag = {0};
    Target target = {TARGET_NVPTX, target_gpu(75)};
    IrModule *module = ir_parse(empty_ir, arena, &diag);
    Emitter emitter = {.ir = module,
                       .target = &target,
                       .options = &default_options,
                       .arena = arena,
                       .diag = &diag,
                       .for_llvm7 = nvvm_reads_llvm7(&target)};
    CHECK(emitter.for_llvm7);
    if (CHECK(emitter_open(&emitter))) {
        check_expansions(&emitter);
        check_magnitude(&emitter);
        check_classes(&emitter);
        check_unknown(&emitter);
    }
    emitter_close(&emitter);
    return true;
}

void test_llvm7_rewrite(void)
{
    Diag diag = {0};
    Arena *arena = arena_create();
    CHECK(memory_guard(run, arena, &diag));
    arena_destroy(arena);
}
