/* Code generators find out for each value in which blocks it lives: values times blocks in time and memory, four times as
 * much for a function of twice the size whose values live through half of it.
 *
 * On the CPU device most such values are in memory in the end, since there are not as many registers. Here they are put there
 * before anybody asks where they live: each has a place, is stored where it is made, and each block that uses it loads it
 * once. For a GPU the pass that joins registers is left out, which alone asks: ptxas would take far longer for memory. */
#include "codegen/optimize/long_lives.h"

#include "codegen/emit_tools.h"
#include "codegen/optimize/pass_builder.h"
#include "core/base/table.h"

/* Blocks times values that live through them, from which on this is done: where they begin to take half a second. On the CPU
 * device the register allocator looks for the best place to split each such value. Then values that live through more than
 * LONG_LIFE blocks are put into memory, so that what is left is proportional to the size. */
static const uint64_t most_lives[] = {[TARGET_NVPTX] = 4000000, [TARGET_HOST] = 300000};
enum { LONG_LIFE = 40, MOST_MEMORY_LIVES = 2000000 };

/* A block that needs a value at its beginning, or at its end for a phi of another. */
typedef struct Use {
    uint32_t block;
    const struct Use *next;
} Use;

/* A value that other blocks use than the one that makes it. */
typedef struct Value {
    LLVMValueRef llvm;
    uint32_t made; /* block */
    const Use *uses;
    struct Value *next;
    LLVMValueRef slot; /* its memory; NULL: it stays in a register */
    bool is_long;
} Value;

typedef struct Block {
    LLVMBasicBlockRef llvm;
    uint32_t first, count; /* its predecessors */
    const Value *seen_for; /* the last value that was followed through it */
} Block;

typedef struct LongLives {
    Emitter *emitter;
    Block *blocks;
    uint32_t count, *predecessors;
    uint32_t *waiting, waiting_count, waiting_capacity; /* blocks that a value may live in */
    Table *places; /* blocks to their places + 1 */
    Table *values; /* to Value */
    Value *first; /* the last one that was met */
    Table *loads; /* Load to what is loaded */
} LongLives;

/* A value in a block: for instructions in their order, or at the block's end for phis of others. */
typedef struct Load {
    LLVMValueRef value;
    LLVMBasicBlockRef block;
    uintptr_t at_end;
} Load;

static uint32_t place_of(const LongLives *l, LLVMBasicBlockRef block)
{
    return (uint32_t)(uintptr_t)table_get(l->places, &block, sizeof block) - 1;
}

/* Values that a register can hold; allocas are known by their place in the frame. */
static bool is_kept_in_register(LLVMValueRef value)
{
    if (!LLVMIsAInstruction(value) && !LLVMIsAArgument(value))
        return false;
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));
    return !LLVMIsAAllocaInst(value) && kind != LLVMTokenTypeKind && kind != LLVMVoidTypeKind;
}

static LLVMBasicBlockRef block_of(const LongLives *l, LLVMValueRef value)
{
    return LLVMIsAArgument(value) ? l->blocks[0].llvm : LLVMGetInstructionParent(value);
}

/* Where the operand has to be there: a phi's at the end of the block that it comes from. */
static LLVMBasicBlockRef block_of_use(LLVMValueRef user, unsigned operand)
{
    return LLVMIsAPHINode(user) ? LLVMGetIncomingBlock(user, operand) : LLVMGetInstructionParent(user);
}

/* --- measuring ---------------------------------------------------------------------------------------------------------- */

static void list_blocks(LongLives *l, LLVMValueRef function)
{
    l->blocks = ARENA_ARRAY(l->emitter->arena, Block, l->count);
    uint32_t i = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        l->blocks[i++].llvm = block;
        table_set(l->places, &block, sizeof block, (void *)(uintptr_t)i);
    }
}

static void each_edge(LongLives *l, void (*visit)(LongLives *l, uint32_t from, Block *to))
{
    for (uint32_t i = 0; i < l->count; i++) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(l->blocks[i].llvm);
        for (unsigned k = 0; k < LLVMGetNumSuccessors(last); k++)
            visit(l, i, &l->blocks[place_of(l, LLVMGetSuccessor(last, k))]);
    }
}

static void count_predecessor(LongLives *l, uint32_t from, Block *to)
{
    (void)l, (void)from;
    to->count++;
}

static void add_predecessor(LongLives *l, uint32_t from, Block *to) { l->predecessors[to->first + to->count++] = from; }

static void list_predecessors(LongLives *l)
{
    uint32_t total = 0;
    each_edge(l, count_predecessor);
    for (uint32_t i = 0; i < l->count; i++) {
        l->blocks[i].first = total;
        total += l->blocks[i].count;
        l->blocks[i].count = 0;
    }
    l->predecessors = ARENA_ARRAY(l->emitter->arena, uint32_t, total);
    each_edge(l, add_predecessor);
}

static void add_use(LongLives *l, LLVMValueRef llvm, LLVMBasicBlockRef block)
{
    Arena *arena = l->emitter->arena;
    Value *value = table_get(l->values, &llvm, sizeof llvm);
    if (!value) {
        value = ARENA_NEW(arena, Value);
        *value = (Value){.llvm = llvm, .made = place_of(l, block_of(l, llvm)), .next = l->first};
        l->first = value;
        table_set(l->values, &llvm, sizeof llvm, value);
    }
    uint32_t place = place_of(l, block);
    if (value->uses && value->uses->block == place)
        return;
    Use *use = ARENA_NEW(arena, Use);
    *use = (Use){place, value->uses};
    value->uses = use;
}

static void list_uses(LongLives *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        for (LLVMValueRef each = LLVMGetFirstInstruction(l->blocks[i].llvm); each; each = LLVMGetNextInstruction(each))
            for (int k = 0, count = LLVMGetNumOperands(each); k < count; k++) {
                LLVMValueRef operand = LLVMGetOperand(each, (unsigned)k);
                if (!is_kept_in_register(operand))
                    continue;
                LLVMBasicBlockRef block = block_of_use(each, (unsigned)k);
                if (block != block_of(l, operand))
                    add_use(l, operand, block);
            }
}

static void push(LongLives *l, uint32_t block)
{
    l->waiting = arena_grow(l->emitter->arena, l->waiting, l->waiting_count, &l->waiting_capacity, sizeof *l->waiting);
    l->waiting[l->waiting_count++] = block;
}

/* Blocks at whose beginning the value lives, found from its uses backwards; `most` where there are as many. */
static uint64_t lives_of(LongLives *l, const Value *value, uint64_t most)
{
    uint64_t found = 0;
    for (const Use *use = value->uses; use; use = use->next)
        push(l, use->block);
    while (l->waiting_count && found < most) {
        uint32_t place = l->waiting[--l->waiting_count];
        Block *block = &l->blocks[place];
        if (place == value->made || block->seen_for == value)
            continue;
        block->seen_for = value;
        found++;
        for (uint32_t k = 0; k < block->count; k++)
            push(l, l->predecessors[block->first + k]);
    }
    l->waiting_count = 0;
    return found;
}

/* Whether they are more than the most; then each value knows whether it lives long. */
static bool are_many(LongLives *l, uint64_t most)
{
    uint64_t left = most;
    for (Value *value = l->first; value; value = value->next) {
        uint64_t lives = lives_of(l, value, left > LONG_LIFE ? left : LONG_LIFE + 1);
        value->is_long = lives > LONG_LIFE;
        left -= lives < left ? lives : left;
    }
    return !left;
}

/* --- memory ------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef first_behind(LLVMBasicBlockRef block, LLVMValueRef value)
{
    LLVMValueRef each = LLVMIsAArgument(value) ? LLVMGetFirstInstruction(block) : LLVMGetNextInstruction(value);
    while (LLVMIsAPHINode(each) || LLVMIsAAllocaInst(each))
        each = LLVMGetNextInstruction(each);
    return each;
}

static void make_slot(LongLives *l, Value *value)
{
    LLVMBuilderRef builder = l->emitter->builder;
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(l->blocks[0].llvm));
    value->slot = LLVMBuildAlloca(builder, LLVMTypeOf(value->llvm), "");
    LLVMPositionBuilderBefore(builder, first_behind(l->blocks[value->made].llvm, value->llvm));
    LLVMBuildStore(builder, value->llvm, value->slot);
}

static LLVMValueRef load_of(LongLives *l, Value *value, LLVMBasicBlockRef block, LLVMValueRef user)
{
    Load key = {value->llvm, block, 0};
    LLVMValueRef load = table_get(l->loads, &key, sizeof key);
    if (!load && LLVMIsAPHINode(user)) {
        key.at_end = 1;
        load = table_get(l->loads, &key, sizeof key);
        user = LLVMGetBasicBlockTerminator(block);
    }
    if (load)
        return load;
    if (!value->slot)
        make_slot(l, value);
    LLVMPositionBuilderBefore(l->emitter->builder, user);
    load = LLVMBuildLoad2(l->emitter->builder, LLVMTypeOf(value->llvm), value->slot, "");
    table_set(l->loads, &key, sizeof key, load);
    return load;
}

static void load_operands(LongLives *l, LLVMValueRef user)
{
    for (int k = 0, count = LLVMGetNumOperands(user); k < count; k++) {
        LLVMValueRef operand = LLVMGetOperand(user, (unsigned)k);
        Value *value = is_kept_in_register(operand) ? table_get(l->values, &operand, sizeof operand) : NULL;
        if (!value || !value->is_long)
            continue;
        LLVMBasicBlockRef block = block_of_use(user, (unsigned)k);
        if (block != l->blocks[value->made].llvm)
            LLVMSetOperand(user, (unsigned)k, load_of(l, value, block, user));
    }
}

static void put_into_memory(LongLives *l)
{
    l->loads = table_create();
    for (uint32_t i = 0; i < l->count; i++)
        for (LLVMValueRef each = LLVMGetFirstInstruction(l->blocks[i].llvm); each; each = LLVMGetNextInstruction(each))
            load_operands(l, each);
    table_destroy(l->loads);
}

/* Without looking at what they are. */
static bool may_be_many(LLVMValueRef function, uint64_t most)
{
    uint64_t values = LLVMCountParams(function), blocks = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block), blocks++)
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each; each = LLVMGetNextInstruction(each))
            values++;
    return values * blocks > most;
}

static bool live_long(Emitter *emitter, LLVMValueRef function)
{
    TargetKind device = emitter->target->kind;
    if (!may_be_many(function, most_lives[device]))
        return false;
    LongLives l = {.emitter = emitter, .count = LLVMCountBasicBlocks(function)};
    l.places = table_create();
    l.values = table_create();
    list_blocks(&l, function);
    list_predecessors(&l);
    list_uses(&l);
    bool are_long = are_many(&l, most_lives[device]);
    if (are_long && device == TARGET_HOST)
        put_into_memory(&l);
    table_destroy(l.places);
    table_destroy(l.values);
    return are_long;
}

bool shorten_long_lives(Emitter *emitter)
{
    bool found = false;
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each))
        if (!LLVMIsDeclaration(each))
            found |= live_long(emitter, each);
    return found;
}

/* --- memory that there is ----------------------------------------------------------------------------------------------- */

/* Blocks that the promotion of memory looks at: for each that several blocks store to, all below the first one. */
static uint64_t memory_lives(LLVMValueRef function)
{
    static char counted;
    uint64_t lives = 0, left = LLVMCountBasicBlocks(function);
    Table *first = table_create(); /* alloca -> the block that stores to it */
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block), left--)
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each; each = LLVMGetNextInstruction(each)) {
            LLVMValueRef address = LLVMIsAStoreInst(each) ? LLVMGetOperand(each, 1) : NULL;
            if (!address || !LLVMIsAAllocaInst(address))
                continue;
            void *before = table_get(first, &address, sizeof address);
            if (before == &counted || before == block)
                continue;
            lives += before ? left : 0;
            table_set(first, &address, sizeof address, before ? (void *)&counted : (void *)block);
        }
    table_destroy(first);
    return lives;
}

void promote_long_memory(Emitter *emitter)
{
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each))
        if (!LLVMIsDeclaration(each) && memory_lives(each) > MOST_MEMORY_LIVES)
            promote_together(each);
}
