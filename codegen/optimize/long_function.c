/* What is quadratic in code generators and has no pass of its own that could be left out.
 *
 * All loads of a block that no store separates hang on one node of its graph, which is hashed anew whenever one of them
 * changes: 18,000 `if`s that became selects took 4 s for a GPU, 0.7 s of it are left with blocks of a thousand. And constants
 * of floats are entries of a list that is searched from its start, on the CPU device. */
#include "codegen/optimize/long_function.h"

#include "codegen/emit_tools.h"
#include "codegen/optimize/pass_builder.h"
#include "core/base/table.h"

enum { LONGEST_SUM = 64 };

bool has_long_blocks(const Emitter *emitter)
{
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each))
        if (has_longer_block(each, LONGEST_BLOCK))
            return true;
    return false;
}

void part_long_blocks(Emitter *emitter)
{
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each))
        split_blocks(each, LONGEST_BLOCK);
}

/* --- constants ---------------------------------------------------------------------------------------------------------- */

/* Those of one type, in the order in which they are met. */
typedef struct Constants {
    LLVMTypeRef type;
    LLVMValueRef *values, table; /* what stands for the table until its length is known */
    uint32_t count, capacity;
    Table *places; /* value -> its place + 1 */
} Constants;

/* A zero is an instruction. */
static bool is_tabulated(const Constants *constants, LLVMValueRef value)
{
    return LLVMIsAConstantFP(value) && LLVMTypeOf(value) == constants->type && !LLVMIsNull(value);
}

static uint64_t place_of(Emitter *emitter, Constants *constants, LLVMValueRef value)
{
    uintptr_t place = (uintptr_t)table_get(constants->places, &value, sizeof value);
    if (place)
        return place - 1;
    constants->values = arena_grow(emitter->arena, constants->values, constants->count, &constants->capacity,
                                   sizeof *constants->values);
    constants->values[constants->count++] = value;
    table_set(constants->places, &value, sizeof value, (void *)(uintptr_t)constants->count);
    return constants->count - 1;
}

/* Where the operand is loaded; NULL: in no place. A phi has the same value for all ways from a block. */
static LLVMValueRef place_of_load(LLVMValueRef user, unsigned operand)
{
    if (!LLVMIsAPHINode(user))
        return user;
    LLVMValueRef last = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, operand));
    unsigned count = LLVMGetNumSuccessors(last);
    bool comes_once = count == 1 || (count == 2 && LLVMGetSuccessor(last, 0) != LLVMGetSuccessor(last, 1));
    return comes_once ? last : NULL;
}

static void tabulate_operand(Emitter *emitter, Constants *constants, LLVMValueRef user, unsigned operand)
{
    LLVMValueRef before = place_of_load(user, operand);
    if (!before)
        return;
    LLVMPositionBuilderBefore(emitter->builder, before);
    int64_t size = LLVMGetTypeKind(constants->type) == LLVMDoubleTypeKind ? 8 : 4;
    int64_t place = (int64_t)place_of(emitter, constants, LLVMGetOperand(user, operand));
    LLVMValueRef address = offset_address(emitter, constants->table, size * place);
    LLVMSetOperand(user, operand, LLVMBuildLoad2(emitter->builder, constants->type, address, ""));
}

static void tabulate_in_block(Emitter *emitter, Constants *constants, LLVMBasicBlockRef block)
{
    for (LLVMValueRef each = LLVMGetFirstInstruction(block); each; each = LLVMGetNextInstruction(each))
        for (int i = 0, count = LLVMGetNumOperands(each); i < count; i++)
            if (is_tabulated(constants, LLVMGetOperand(each, (unsigned)i)))
                tabulate_operand(emitter, constants, each, (unsigned)i);
}

static void make_table(Emitter *emitter, const Constants *constants)
{
    LLVMTypeRef type = LLVMArrayType2(constants->type, constants->count);
    LLVMValueRef table = LLVMAddGlobal(emitter->llvm_module, type, "constants");
    LLVMSetInitializer(table, LLVMConstArray2(constants->type, constants->values, constants->count));
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(table, true);
    LLVMReplaceAllUsesWith(constants->table, table);
}

static void tabulate_type(Emitter *emitter, LLVMTypeRef type)
{
    LLVMValueRef unknown = LLVMAddGlobal(emitter->llvm_module, type, "");
    Constants constants = {.type = type, .table = unknown, .places = table_create()};
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(each); block; block = LLVMGetNextBasicBlock(block))
            tabulate_in_block(emitter, &constants, block);
    table_destroy(constants.places);
    if (constants.count)
        make_table(emitter, &constants);
    LLVMDeleteGlobal(unknown);
}

void tabulate_constants(Emitter *emitter)
{
    tabulate_type(emitter, LLVMFloatTypeInContext(emitter->context));
    tabulate_type(emitter, LLVMDoubleTypeInContext(emitter->context));
}

/* --- sums --------------------------------------------------------------------------------------------------------------- */

/* How many sums and products lie on the longest way to the value; 0: it is something else. */
static uintptr_t steps_to(const Table *steps, LLVMValueRef value)
{
    return (uintptr_t)table_get(steps, &value, sizeof value);
}

static uintptr_t steps_of(const Table *steps, LLVMValueRef instruction)
{
    uintptr_t most = 0, own = 1;
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc: own = 0; break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl: break;
    default: return 0;
    }
    if (LLVMGetTypeKind(LLVMTypeOf(instruction)) != LLVMIntegerTypeKind)
        return 0;
    for (int i = 0, count = LLVMGetNumOperands(instruction); i < count; i++) {
        uintptr_t before = steps_to(steps, LLVMGetOperand(instruction, (unsigned)i));
        most = before > most ? before : most;
    }
    return most + own;
}

static bool has_long_sum(LLVMValueRef function)
{
    Table *steps = table_create();
    bool found = false;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block && !found;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each && !found; each = LLVMGetNextInstruction(each)) {
            uintptr_t count = steps_of(steps, each);
            if (count)
                table_set(steps, &each, sizeof each, (void *)count);
            found = count > LONGEST_SUM;
        }
    table_destroy(steps);
    return found;
}

bool has_long_sums(const Emitter *emitter)
{
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each))
        if (!LLVMIsDeclaration(each) && has_long_sum(each))
            return true;
    return false;
}
