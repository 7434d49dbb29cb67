/* Large angles in functions of libdevice: what reduces them there becomes a function of tools/libdevice_own.ll, which lies beside
 * them in their image and has the same values. Code that is not what is looked for here stays as it is: a test would say so. */
#include "codegen/libdevice_angles.h"

#include <stddef.h>

/* --- float32: a part of each function that needs it ---------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 64 };

typedef struct Region {
    LLVMBasicBlockRef blocks[MOST_BLOCKS];
    unsigned count;
} Region;

static bool is_in(const Region *region, LLVMBasicBlockRef block)
{
    for (unsigned i = 0; i < region->count; i++)
        if (region->blocks[i] == block)
            return true;
    return false;
}

/* All blocks between one and the end, without the end. False: they are too many. */
static bool find_region(Region *region, LLVMBasicBlockRef first, LLVMBasicBlockRef end)
{
    region->count = 0;
    region->blocks[region->count++] = first;
    for (unsigned i = 0; i < region->count; i++) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(region->blocks[i]);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(last); k++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(last, k);
            if (next == end || is_in(region, next))
                continue;
            if (region->count == MOST_BLOCKS)
                return false;
            region->blocks[region->count++] = next;
        }
    }
    return true;
}

/* The angle, if the block ends by asking whether it is large; NULL if not. */
static LLVMValueRef angle_asked_for(LLVMBasicBlockRef block)
{
    static const double SMALLEST = 105615;
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
    if (!LLVMIsABranchInst(last) || !LLVMIsConditional(last))
        return NULL;
    LLVMValueRef compared = LLVMGetCondition(last);
    if (!LLVMIsAFCmpInst(compared) || LLVMGetFCmpPredicate(compared) != LLVMRealOGE)
        return NULL;
    LLVMValueRef limit = LLVMGetOperand(compared, 1), absolute = LLVMGetOperand(compared, 0);
    LLVMBool is_inexact;
    if (!LLVMIsAConstantFP(limit) || LLVMConstRealGetDouble(limit, &is_inexact) != SMALLEST)
        return NULL;
    if (LLVMIsAPHINode(absolute)) /* of two, which differ in what they do with denormal numbers */
        absolute = LLVMGetIncomingValue(absolute, 0);
    return LLVMIsACallInst(absolute) ? LLVMGetOperand(absolute, 0) : NULL;
}

/* The values that a block takes from the region come from the call instead, by their types. */
static void take_from_call(LLVMBuilderRef builder, const Region *region, LLVMBasicBlockRef end, LLVMBasicBlockRef from,
                           LLVMValueRef results)
{
    for (LLVMValueRef phi = LLVMGetFirstInstruction(end), next; phi && LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        unsigned is_turns = LLVMGetTypeKind(LLVMTypeOf(phi)) == LLVMIntegerTypeKind;
        LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(from));
        LLVMValueRef result = LLVMBuildExtractValue(builder, results, is_turns, "");
        LLVMPositionBuilderBefore(builder, phi);
        LLVMValueRef made = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            if (!is_in(region, block))
                LLVMAddIncoming(made, &value, &block, 1);
        }
        LLVMAddIncoming(made, &result, &from, 1);
        LLVMReplaceAllUsesWith(phi, made);
        LLVMInstructionEraseFromParent(phi);
    }
}

/* Whether nothing behind the region has values of it but the phis where it ends. */
static bool is_used_inside(const Region *region, LLVMBasicBlockRef end)
{
    for (unsigned i = 0; i < region->count; i++)
        for (LLVMValueRef each = LLVMGetFirstInstruction(region->blocks[i]); each; each = LLVMGetNextInstruction(each))
            for (LLVMUseRef use = LLVMGetFirstUse(each); use; use = LLVMGetNextUse(use)) {
                LLVMValueRef user = LLVMGetUser(use);
                LLVMBasicBlockRef block = LLVMGetInstructionParent(user);
                if (!is_in(region, block) && !(block == end && LLVMIsAPHINode(user)))
                    return false;
            }
    return true;
}

static void remove_region(const Region *region)
{
    for (unsigned i = 0; i < region->count; i++)
        for (LLVMValueRef each = LLVMGetFirstInstruction(region->blocks[i]); each; each = LLVMGetNextInstruction(each))
            if (LLVMGetTypeKind(LLVMTypeOf(each)) != LLVMVoidTypeKind)
                LLVMReplaceAllUsesWith(each, LLVMGetPoison(LLVMTypeOf(each)));
    for (unsigned i = 0; i < region->count; i++)
        while (LLVMGetLastInstruction(region->blocks[i]))
            LLVMInstructionEraseFromParent(LLVMGetLastInstruction(region->blocks[i]));
    for (unsigned i = 0; i < region->count; i++)
        LLVMDeleteBasicBlock(region->blocks[i]);
}

/* Whether the region has the call's results, and no others. */
static bool has_results(LLVMBasicBlockRef end, LLVMTypeRef results)
{
    LLVMTypeRef types[2];
    LLVMGetStructElementTypes(results, types);
    bool found[2] = {false, false};
    for (LLVMValueRef phi = LLVMGetFirstInstruction(end); phi && LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        unsigned place = LLVMTypeOf(phi) == types[1];
        if (LLVMTypeOf(phi) != types[place] || found[place])
            return false;
        found[place] = true;
    }
    return found[0] && found[1];
}

/* What is between the question whether an angle is large and where both ways meet becomes a call. */
static void call_instead(LLVMValueRef reduce, LLVMBasicBlockRef asks, LLVMValueRef angle)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(asks);
    LLVMBasicBlockRef end = LLVMGetSuccessor(last, 1);
    LLVMTypeRef type = LLVMGlobalGetValueType(reduce);
    Region region;
    if (!has_results(end, LLVMGetReturnType(type)) || !find_region(&region, LLVMGetSuccessor(last, 0), end) ||
        !is_used_inside(&region, end))
        return;
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(reduce));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMBasicBlockRef calls = LLVMInsertBasicBlockInContext(context, end, "");
    LLVMPositionBuilderAtEnd(builder, calls);
    LLVMValueRef results = LLVMBuildCall2(builder, type, reduce, &angle, 1, "");
    LLVMBuildBr(builder, end);
    take_from_call(builder, &region, end, calls, results);
    LLVMSetSuccessor(last, 0, calls);
    remove_region(&region);
    LLVMDisposeBuilder(builder);
}

static void reduce_single(LLVMModuleRef library)
{
    LLVMValueRef reduce = LLVMGetNamedFunction(library, "__cujit_reduce_f");
    for (LLVMValueRef f = reduce ? LLVMGetFirstFunction(library) : NULL; f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            LLVMValueRef angle = angle_asked_for(block);
            if (angle)
                call_instead(reduce, block, angle);
        }
}

/* --- float64: a function, which keeps its name ------------------------------------------------------------------------------- */

static void reduce_double(LLVMModuleRef library)
{
    static const char name[] = "__internal_trig_reduction_slowpathd";
    LLVMValueRef own = LLVMGetNamedFunction(library, "__cujit_reduce_d"), theirs = LLVMGetNamedFunction(library, name);
    if (!own || !theirs || LLVMGlobalGetValueType(own) != LLVMGlobalGetValueType(theirs))
        return;
    LLVMReplaceAllUsesWith(theirs, own);
    LLVMDeleteFunction(theirs);
    LLVMSetValueName2(own, name, sizeof name - 1);
}

/* --- the tables, which several functions have ---------------------------------------------------------------------------------- */

/* Of tables with one name the linker keeps one. */
static void link_tables(LLVMModuleRef module, LLVMLinkage linkage)
{
    static const char *const names[] = {"__cujit_two_over_pi_f", "__cujit_two_over_pi_d"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        LLVMValueRef table = LLVMGetNamedGlobal(module, names[i]);
        if (table)
            LLVMSetLinkage(table, linkage);
    }
}

void hide_angle_tables(LLVMModuleRef module) { link_tables(module, LLVMInternalLinkage); }

void reduce_angles(LLVMModuleRef library)
{
    reduce_single(library);
    reduce_double(library);
    link_tables(library, LLVMLinkOnceODRLinkage);
}
