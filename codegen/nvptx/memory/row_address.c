/* Addresses in arrays of more than one axis. LLVM makes each of its own index, two instructions: a product and a sum of
 * words, and the sum of the array's address and the wide product of the index with the size. Where several accesses have the
 * row, or the column, the address of that is made once, and each access is one instruction:
 *
 *     i1 = row * width + column1     mad.lo.u32            r = a + 4 * width * row     mad.wide.u32
 *     a1 = a + 4 * i1                mad.wide.u32    ->    a1 = r + 4 * column1        mad.wide.u32
 *     i2 = row * width + column2     mad.lo.u32            a2 = r + 4 * column2        mad.wide.u32
 *     a2 = a + 4 * i2                mad.wide.u32
 *
 * A part that does not change in a loop comes in front of it. Left as they are: sums that a loop counts on, of which LLVM
 * makes pointers; and places that are the same for all threads, to which one instruction adds a word already. */
#include "codegen/nvptx/memory/row_address.h"

#include "codegen/emit_tools.h"

enum {
    MOST_ACCESSES = 256, /* of a block: each is compared with all */
    MOST_BLOCKS = 128, /* of a function in which loops are looked for */
    MOST_UNIFORM = 8, /* operations one behind the other */
    MOST_OF_WORD = 4, /* bytes of an element whose rows' bytes are a word, by the limit of a launch */
};

/* An element's address: base + size * (parts[0] + parts[1]). */
typedef struct Access {
    LLVMValueRef address, base, parts[2];
    LLVMTypeRef element;
    bool is_signed;
    bool is_alone; /* no other access has the index */
    int shared; /* the part that is added to the base first; -1: none */
} Access;

typedef struct Rows {
    Emitter *emitter;
    LLVMValueRef function;
    LLVMBasicBlockRef block;
    Access accesses[MOST_ACCESSES];
    uint32_t count;
    bool is_loop; /* the block is in one */
    LLVMBasicBlockRef seen[MOST_BLOCKS]; /* by the search that is under way */
    uint32_t seen_count;
} Rows;

/* --- what there is --------------------------------------------------------------------------------------------------- */

static bool is_instruction(LLVMValueRef value, LLVMOpcode opcode)
{
    return value && LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
}

/* The launch's argument that a pointer is; NULL: it is none. */
static LLVMValueRef argument_of(LLVMValueRef pointer)
{
    while (is_instruction(pointer, LLVMAddrSpaceCast))
        pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAArgument(pointer) ? pointer : NULL;
}

static bool is_used_once(LLVMValueRef value)
{
    LLVMUseRef first = LLVMGetFirstUse(value);
    return first && !LLVMGetNextUse(first);
}

static uint64_t size_of(const Emitter *emitter, LLVMTypeRef type)
{
    return LLVMABISizeOfType(emitter->data_layout, type);
}

uint32_t field_of(const Emitter *emitter, LLVMValueRef value, AbiFieldKind kind)
{
    LLVMValueRef kernel = LLVMGetNamedFunction(emitter->llvm_module, emitter->entry);
    if (!value || !LLVMIsAArgument(value) || LLVMGetParamParent(value) != kernel)
        return UINT32_MAX;
    for (uint32_t i = 0; i < emitter->abi->field_count; i++)
        if (emitter->abi->fields[i].kind == kind && LLVMGetParam(kernel, i) == value)
            return i;
    return UINT32_MAX;
}

static bool is_field(const Emitter *emitter, LLVMValueRef value, AbiFieldKind kind)
{
    return field_of(emitter, value, kind) != UINT32_MAX;
}

static bool is_extent(const Emitter *emitter, LLVMValueRef word)
{
    return is_instruction(word, LLVMTrunc) && is_field(emitter, LLVMGetOperand(word, 0), ABI_EXTENT);
}

/* A product of words without a sign, one of them an extent. */
static bool is_product_of_extent(const Emitter *emitter, LLVMValueRef product)
{
    if (!emitter->ir->first->is_limited || !is_instruction(product, LLVMMul) || LLVMTypeOf(product) != emitter->i32 ||
        !LLVMGetNUW(product))
        return false;
    return is_extent(emitter, LLVMGetOperand(product, 0)) || is_extent(emitter, LLVMGetOperand(product, 1));
}

/* A launch within the limits has at most 2^30 elements in an array, so a row that is not the first lies behind fewer. */
bool is_rows_further(const Emitter *emitter, LLVMValueRef address, LLVMValueRef *row, LLVMValueRef *extent)
{
    LLVMValueRef index = LLVMGetNumOperands(address) == 2 ? LLVMGetOperand(address, 1) : NULL, array = address;
    while (is_instruction(array, LLVMGetElementPtr) || is_instruction(array, LLVMAddrSpaceCast))
        array = LLVMGetOperand(array, 0);
    if (!is_instruction(index, LLVMZExt) || !is_product_of_extent(emitter, LLVMGetOperand(index, 0)) ||
        size_of(emitter, LLVMGetGEPSourceElementType(address)) > MOST_OF_WORD ||
        !is_field(emitter, array, ABI_POINTER) || !is_used_once(LLVMGetOperand(index, 0)))
        return false;
    LLVMValueRef product = LLVMGetOperand(index, 0);
    unsigned place = is_extent(emitter, LLVMGetOperand(product, 1));
    *row = LLVMGetOperand(product, !place);
    *extent = LLVMGetOperand(LLVMGetOperand(product, place), 0);
    return true;
}

/* Whether what the index is widened by is the same for its parts. */
static bool is_sum(LLVMValueRef index, bool *is_signed)
{
    bool is_zext = is_instruction(index, LLVMZExt);
    if (!is_zext && !is_instruction(index, LLVMSExt))
        return false;
    LLVMValueRef sum = LLVMGetOperand(index, 0);
    if (!is_instruction(sum, LLVMAdd) || LLVMIsAConstant(LLVMGetOperand(sum, 1)))
        return false;
    *is_signed = !is_zext || !LLVMGetNUW(sum);
    return !*is_signed || (LLVMGetNSW(sum) && (!is_zext || LLVMGetNNeg(index)));
}

/* Of constants and arguments alone, as a constant row's place: ptxas computes it once for a warp, and adds it to a word in one
 * instruction. An address with it would take two registers of each thread. */
static bool is_uniform(LLVMValueRef value, unsigned depth)
{
    if (LLVMIsAConstant(value) || LLVMIsAArgument(value))
        return true;
    bool is_computed = LLVMIsACastInst(value) || LLVMIsABinaryOperator(value);
    if (!is_computed || depth == MOST_UNIFORM)
        return false;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(value); i++)
        if (!is_uniform(LLVMGetOperand(value, i), depth + 1))
            return false;
    return true;
}

static bool is_compared_with_constant(LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAICmpInst(user) && LLVMIsAConstant(LLVMGetOperand(user, 1)))
            return true;
    }
    return false;
}

/* What a loop of one block counts, or a constant further, as in the trips it does at a time: LLVM makes a pointer of the sum
 * and counts it on. It does not where the number of trips is known, as the counter remains then. */
static bool is_counted(const Rows *rows, LLVMValueRef value)
{
    bool is_further = is_instruction(value, LLVMAdd) || is_instruction(value, LLVMOr);
    if (is_further && LLVMIsAConstant(LLVMGetOperand(value, 1)))
        value = LLVMGetOperand(value, 0);
    if (!LLVMIsAPHINode(value) || LLVMGetInstructionParent(value) != rows->block)
        return false;
    for (unsigned i = 0; i < LLVMCountIncoming(value); i++) {
        LLVMValueRef next = LLVMGetIncomingValue(value, i);
        if (LLVMGetIncomingBlock(value, i) == rows->block && is_instruction(next, LLVMAdd) &&
            LLVMGetOperand(next, 0) == value)
            return !is_compared_with_constant(next);
    }
    return false;
}

static void note(Rows *rows, LLVMValueRef address)
{
    if (!is_instruction(address, LLVMGetElementPtr) || LLVMGetNumOperands(address) != 2 || rows->count == MOST_ACCESSES)
        return;
    LLVMValueRef base = argument_of(LLVMGetOperand(address, 0)), index = LLVMGetOperand(address, 1);
    Access *access = &rows->accesses[rows->count];
    if (!base || !is_sum(index, &access->is_signed) || LLVMTypeOf(LLVMGetOperand(index, 0)) != rows->emitter->i32)
        return;
    LLVMValueRef sum = LLVMGetOperand(index, 0);
    for (unsigned i = 0; i < 2; i++)
        if (is_uniform(LLVMGetOperand(sum, i), 0) || is_counted(rows, LLVMGetOperand(sum, i)))
            return;
    access->address = address;
    access->base = base;
    access->parts[0] = LLVMGetOperand(sum, 0);
    access->parts[1] = LLVMGetOperand(sum, 1);
    access->element = LLVMGetGEPSourceElementType(address);
    access->is_alone = is_used_once(index) && is_used_once(sum);
    access->shared = -1;
    rows->count++;
}

/* --- loops ----------------------------------------------------------------------------------------------------------- */

/* Whether a way leads from a block to rows->block that does not go through `without`. */
static bool leads_back(Rows *rows, LLVMBasicBlockRef from, LLVMBasicBlockRef without)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(from);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(last); i++) {
        LLVMBasicBlockRef next = LLVMGetSuccessor(last, i);
        bool is_known = next == without;
        for (uint32_t k = 0; k < rows->seen_count && !is_known; k++)
            is_known = rows->seen[k] == next;
        if (next == rows->block)
            return true;
        if (is_known || rows->seen_count == MOST_BLOCKS)
            continue;
        rows->seen[rows->seen_count++] = next;
        if (leads_back(rows, next, without))
            return true;
    }
    return false;
}

static bool is_in_loop(Rows *rows, LLVMBasicBlockRef without)
{
    rows->seen_count = 0;
    return leads_back(rows, rows->block, without);
}

/* Whether the block is in a loop in which the value does not change. */
static bool is_invariant(Rows *rows, LLVMValueRef value)
{
    LLVMBasicBlockRef block = LLVMIsAInstruction(value) ? LLVMGetInstructionParent(value) : NULL;
    return rows->is_loop && block != rows->block && is_in_loop(rows, block);
}

/* --- what is worth it ------------------------------------------------------------------------------------------------ */

static bool has_part(const Access *access, const Access *like, int part)
{
    return access->base == like->base && access->element == like->element && access->is_signed == like->is_signed &&
           (access->parts[0] == like->parts[part] || access->parts[1] == like->parts[part]);
}

/* A product of rows and their length is of no negative numbers, whatever the sum is. In loops: elsewhere it was found to have
 * fewer instructions, but no shorter time. */
static bool is_wide_product(const Rows *rows, const Access *access, LLVMValueRef part)
{
    return rows->is_loop && is_product_of_extent(rows->emitter, part) && (!access->is_signed || LLVMGetNSW(part)) &&
           size_of(rows->emitter, access->element) <= MOST_OF_WORD;
}

/* Instructions by which a part comes to an address. */
static int cost_of(const Rows *rows, const Access *access, LLVMValueRef part, bool is_shared)
{
    bool is_product = is_instruction(part, LLVMMul) || is_instruction(part, LLVMShl);
    return is_product && !is_wide_product(rows, access, part) && (is_shared || is_used_once(part)) ? 2 : 1;
}

static LLVMValueRef other_part(const Access *access, LLVMValueRef part)
{
    return access->parts[access->parts[0] == part];
}

/* How many instructions fewer there are when all accesses that have the part share it. */
static int gain_of(Rows *rows, const Access *like, int part, bool only_chosen)
{
    LLVMValueRef shared = like->parts[part];
    int gain = is_invariant(rows, shared) ? 0 : -cost_of(rows, like, shared, true);
    for (uint32_t i = 0; i < rows->count; i++) {
        const Access *each = &rows->accesses[i];
        if (has_part(each, like, part) && (!only_chosen || (each->shared >= 0 && each->parts[each->shared] == shared)))
            gain += 1 + each->is_alone - cost_of(rows, each, other_part(each, shared), false);
    }
    return gain;
}

static void choose_parts(Rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        Access *access = &rows->accesses[i];
        int gains[2] = {gain_of(rows, access, 0, false), gain_of(rows, access, 1, false)};
        int best = gains[1] > gains[0] || (gains[1] == gains[0] && is_instruction(access->parts[1], LLVMMul));
        access->shared = gains[best] > 0 ? best : -1;
    }
}

/* --- what becomes of it ---------------------------------------------------------------------------------------------- */

/* The address, its index and their sum, as far as nothing else has them. */
static void erase_unused(LLVMValueRef address)
{
    LLVMValueRef index = LLVMGetOperand(address, 1), sum = LLVMGetOperand(index, 0);
    LLVMInstructionEraseFromParent(address);
    if (LLVMGetFirstUse(index))
        return;
    LLVMInstructionEraseFromParent(index);
    if (!LLVMGetFirstUse(sum))
        LLVMInstructionEraseFromParent(sum);
}

static LLVMValueRef widened(const Rows *rows, const Access *access, LLVMValueRef part)
{
    bool is_signed = access->is_signed && !is_wide_product(rows, access, part);
    return (is_signed ? LLVMBuildSExt : LLVMBuildZExt)(rows->emitter->builder, part, rows->emitter->i64, "");
}

static LLVMValueRef sum_of(const Rows *rows, const Access *access, LLVMValueRef address, LLVMValueRef part)
{
    LLVMValueRef index = widened(rows, access, part);
    return LLVMBuildGEP2(rows->emitter->builder, access->element, address, &index, 1, "");
}

/* Behind the value, which is in a block that comes before. */
static void position_behind(const Rows *rows, LLVMValueRef value)
{
    LLVMBasicBlockRef block =
        LLVMIsAInstruction(value) ? LLVMGetInstructionParent(value) : LLVMGetEntryBasicBlock(rows->function);
    LLVMValueRef next = LLVMIsAInstruction(value) ? LLVMGetNextInstruction(value) : LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(next))
        next = LLVMGetNextInstruction(next);
    LLVMPositionBuilderBefore(rows->emitter->builder, next);
}

/* The accesses that share the first one's part; they are none's any more. */
static void share(Rows *rows, Access *first)
{
    LLVMBuilderRef builder = rows->emitter->builder;
    LLVMValueRef part = first->parts[first->shared], base = first->base;
    LLVMTypeRef pointer = LLVMTypeOf(first->address);
    if (is_invariant(rows, part))
        position_behind(rows, part);
    else
        LLVMPositionBuilderBefore(builder, first->address);
    if (LLVMTypeOf(base) != pointer)
        base = LLVMBuildAddrSpaceCast(builder, base, pointer, "");
    LLVMValueRef row = sum_of(rows, first, base, part);
    Access like = *first;
    for (Access *each = first; each < rows->accesses + rows->count; each++) {
        if (each->shared < 0 || each->parts[each->shared] != part || !has_part(each, &like, like.shared))
            continue;
        LLVMPositionBuilderBefore(builder, each->address);
        LLVMValueRef address = sum_of(rows, each, row, other_part(each, part));
        LLVMReplaceAllUsesWith(each->address, address);
        erase_unused(each->address);
        each->shared = -1;
    }
}

static void share_in_block(Rows *rows)
{
    rows->count = 0;
    for (LLVMValueRef each = LLVMGetFirstInstruction(rows->block); each; each = LLVMGetNextInstruction(each))
        note(rows, each);
    rows->is_loop = rows->count && is_in_loop(rows, NULL);
    choose_parts(rows);
    for (uint32_t i = 0; i < rows->count; i++) {
        Access *access = &rows->accesses[i];
        if (access->shared >= 0 && gain_of(rows, access, access->shared, true) > 0)
            share(rows, access);
    }
}

void share_row_addresses(Emitter *emitter)
{
    Rows *rows = ARENA_NEW(emitter->arena, Rows);
    rows->emitter = emitter;
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module); function;
         function = LLVMGetNextFunction(function)) {
        rows->function = function;
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
            rows->block = block;
            share_in_block(rows);
        }
    }
}
