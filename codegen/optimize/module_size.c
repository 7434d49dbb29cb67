/* Many of LLVM's passes take time that grows with the square of a function's size, or worse. Kernels of ordinary size do
 * not feel it. Beyond the limits of size_limit.def such passes are left out, so that compile time stays proportional. Sizes
 * are those of the module as it was emitted. */
#include <stddef.h>
#include <string.h>

#include "codegen/optimize/module_size.h"
#include "codegen/emit_tools.h"
#include "core/base/table.h"

static const struct SizeLimit {
    size_t field;
    uint64_t largest[2]; /* by TargetKind */
    unsigned change;
} limits[] = {
#define NONE UINT64_MAX
#define LIMIT(size, nvptx, host, change) \
    {offsetof(ModuleSize, size), {[TARGET_NVPTX] = (nvptx), [TARGET_HOST] = (host)}, PIPELINE_##change},
#include "codegen/optimize/size_limit.def"
#undef LIMIT
#undef NONE
};

unsigned pipeline_for_size(const ModuleSize *size, TargetKind device)
{
    unsigned changes = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (*(const uint64_t *)((const char *)size + limits[i].field) > limits[i].largest[device])
            changes |= limits[i].change;
    return changes;
}

typedef struct Measurement {
    Arena *arena;
    Table *known; /* functions to the ModuleSize of each */
    Emitter *emitter;
    unsigned alwaysinline;
    bool is_host;
} Measurement;

static bool is_inlined(const Measurement *m, LLVMValueRef function)
{
    return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, m->alwaysinline);
}

/* Copies of copies can be more than can be counted. */
static uint64_t add(uint64_t a, uint64_t b)
{
    const uint64_t most = (uint64_t)1 << 40;
    return a + b < most ? a + b : most;
}

static void keep_larger(uint64_t *most, uint64_t value) { *most = value > *most ? value : *most; }

static const ModuleSize *size_of(Measurement *m, LLVMValueRef function);

/* Copies of these have nothing to do with each other, which is what the passes in question look at: 160 calls of tgamma
 * compile in 5 times the time of 40. */
static bool is_libdevice(LLVMValueRef function)
{
    size_t length;
    return !strncmp(LLVMGetValueName2(function, &length), "__nv_", 5);
}

static void add_call(Measurement *m, LLVMValueRef call, ModuleSize *size)
{
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    if (!callee || LLVMIsDeclaration(callee) || !is_inlined(m, callee) || is_libdevice(callee))
        return;
    const ModuleSize *body = size_of(m, callee);
    size->instructions = add(size->instructions, body->instructions);
    size->branches = add(size->branches, body->branches);
    size->loops = add(size->loops, body->loops);
    keep_larger(&size->chain, body->chain);
    keep_larger(&size->exits, body->exits);
    keep_larger(&size->guarded, body->guarded);
    keep_larger(&size->phis, body->phis);
    keep_larger(&size->copies, body->copies);
    size->addresses = add(size->addresses, body->addresses);
    size->members = add(size->members, body->members);
}

/* Whether a CPU has no instruction for it: the code generator makes a loop. Others are emitted with branches of their own. */
static bool becomes_loop(LLVMValueRef atomic) { return LLVMGetAtomicRMWBinOp(atomic) == LLVMAtomicRMWBinOpFAdd; }

static void add_instruction(Measurement *m, LLVMValueRef instruction, ModuleSize *size)
{
    size->instructions++;
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMBr: size->branches += LLVMIsConditional(instruction) ? 1 : 0; break;
    case LLVMAtomicRMW: size->branches += m->is_host && becomes_loop(instruction); break;
    case LLVMGetElementPtr: size->addresses++; break;
    case LLVMInsertValue:
    case LLVMExtractValue: size->members++; break;
    case LLVMCall: add_call(m, instruction, size); break;
    default: break;
    }
}

static void add_phis(LLVMBasicBlockRef block, ModuleSize *size)
{
    uint64_t phis = 0, copies = 0;
    for (LLVMValueRef each = LLVMGetFirstInstruction(block); each && LLVMIsAPHINode(each); phis++) {
        copies += LLVMCountIncoming(each);
        each = LLVMGetNextInstruction(each);
    }
    keep_larger(&size->phis, phis);
    keep_larger(&size->copies, copies);
}

/* Where a block lies in its function, from 1 on; 0: further on. */
static uint32_t place_of(const Table *places, LLVMBasicBlockRef block)
{
    return (uint32_t)(uintptr_t)table_get(places, &block, sizeof block);
}

/* The last block that the block leads to. */
static uint32_t furthest_from(const Table *places, LLVMBasicBlockRef block)
{
    uint32_t furthest = 0;
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(last); i++) {
        uint32_t place = place_of(places, LLVMGetSuccessor(last, i));
        furthest = place > furthest ? place : furthest;
    }
    return furthest;
}

/* What a function has up to the end of a block. */
typedef struct Counts {
    uint64_t branches, addresses;
} Counts;

/* Blocks lie in an order in which only a loop's last ones lead to one that was there before. Of several that lead to the same
 * one the last one ends the loop. counts: by the block's place. */
static void add_loops(Measurement *m, LLVMValueRef function, const Counts *counts, ModuleSize *size)
{
    uint32_t count = LLVMCountBasicBlocks(function), place = 0;
    uint32_t *ends = ARENA_ARRAY(m->arena, uint32_t, count + 1), *furthest = ARENA_ARRAY(m->arena, uint32_t, count + 1);
    bool *is_of_host = ARENA_ARRAY(m->arena, bool, count + 1); /* it goes on with the next thread or block */
    memset(ends, 0, sizeof *ends * (count + 1));
    Table *places = table_create();
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        table_set(places, &block, sizeof block, (void *)(uintptr_t)++place);
        LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
        is_of_host[place] = take_host_loop_mark(m->emitter, last);
        for (unsigned i = 0; i < LLVMGetNumSuccessors(last); i++) {
            uint32_t head = place_of(places, LLVMGetSuccessor(last, i));
            size->loops += head != 0;
            ends[head] = place;
        }
    }
    place = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        furthest[++place] = furthest_from(places, block);
    table_destroy(places);
    for (uint32_t head = 1; head <= count; head++) {
        uint64_t exits = 0;
        for (uint32_t each = head; each <= ends[head]; each++)
            exits += furthest[each] > ends[head];
        keep_larger(&size->exits, exits);
        const Counts *before = &counts[head - 1], *all = &counts[ends[head]];
        if (ends[head] && !is_of_host[ends[head]] && !is_of_host[head])
            keep_larger(&size->guarded, (all->branches - before->branches) * (all->addresses - before->addresses));
    }
}

/* How many operations come one after the other up to this one; what comes from a loop's last trip is not counted. */
static uint64_t depth_of(const Measurement *m, const Table *depths, LLVMValueRef instruction)
{
    uint64_t deepest = 0;
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        keep_larger(&deepest, (uintptr_t)table_get(depths, &operand, sizeof operand));
    }
    LLVMValueRef callee = LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;
    const ModuleSize *body = callee ? table_get(m->known, &callee, sizeof callee) : NULL;
    return add(deepest, body ? body->chain + 1 : 1);
}

static void add_chains(const Measurement *m, LLVMValueRef function, ModuleSize *size)
{
    Table *depths = table_create();
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each; each = LLVMGetNextInstruction(each)) {
            uint64_t depth = depth_of(m, depths, each);
            table_set(depths, &each, sizeof each, (void *)(uintptr_t)depth);
            keep_larger(&size->chain, depth);
        }
    table_destroy(depths);
}

/* With what is inlined into it; such functions do not call themselves. */
static const ModuleSize *size_of(Measurement *m, LLVMValueRef function)
{
    ModuleSize *size = table_get(m->known, &function, sizeof function);
    if (size)
        return size;
    size = ARENA_NEW(m->arena, ModuleSize);
    table_set(m->known, &function, sizeof function, size);
    Counts *counts = ARENA_ARRAY(m->arena, Counts, LLVMCountBasicBlocks(function) + 1), *next = counts;
    *next = (Counts){0};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        add_phis(block, size);
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each; each = LLVMGetNextInstruction(each))
            add_instruction(m, each, size);
        *++next = (Counts){size->branches, size->addresses};
    }
    add_loops(m, function, counts, size);
    if (m->is_host)
        add_chains(m, function, size);
    return size;
}

static uint64_t parts_of(LLVMValueRef function)
{
    if (LLVMGetLinkage(function) != LLVMInternalLinkage)
        return 0;
    LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
    bool is_struct = LLVMGetTypeKind(result) == LLVMStructTypeKind;
    return (uint64_t)LLVMCountParams(function) + (is_struct ? LLVMCountStructElementTypes(result) : 1);
}

ModuleSize measure_module(Emitter *emitter)
{
    static const char name[] = "alwaysinline";
    Measurement m = {.arena = emitter->arena,
                     .known = table_create(),
                     .emitter = emitter,
                     .alwaysinline = LLVMGetEnumAttributeKindForName(name, sizeof name - 1),
                     .is_host = emitter->target->kind == TARGET_HOST};
    ModuleSize most = {0};
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each)) {
        if (LLVMIsDeclaration(each))
            continue;
        keep_larger(&most.parts, parts_of(each));
        if (is_inlined(&m, each))
            continue;
        const ModuleSize *size = size_of(&m, each);
        keep_larger(&most.instructions, size->instructions);
        keep_larger(&most.branches, size->branches);
        keep_larger(&most.loops, size->loops);
        keep_larger(&most.chain, size->chain);
        keep_larger(&most.exits, size->exits);
        keep_larger(&most.guarded, size->guarded);
        keep_larger(&most.phis, size->phis);
        keep_larger(&most.copies, size->copies);
        keep_larger(&most.addresses, size->addresses);
        keep_larger(&most.members, size->members);
    }
    table_destroy(m.known);
    return most;
}
