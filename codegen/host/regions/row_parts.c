/* Tiles are often filled by the number of the thread in its block,
 *
 *     item = cuda.threadIdx.y * 16 + cuda.threadIdx.x
 *     tile[item // 36, item % 36] = x[row + item // 36, column + item % 36]
 *
 * of which a vector of threads would gather, though neighbours in it touch neighbouring elements but where a row of the tile
 * ends. So the loop over a row's threads becomes one over parts of it, in each of which all such quotients are alike:
 *
 *     for each row:  for (at = 0; at < threads; at += count):
 *                        quotient, rest = divmod(item of the thread `at`, 36)
 *                        count = min(threads - at, 36 - rest)
 *                        for (thread = at; thread < at + count; thread++):  item // 36 is quotient,
 *                                                                           item % 36 is rest + (thread - at)
 *
 * That is done where quotients and remainders by numbers of some size are in indices of accesses. Shifts and masks are such,
 * too. The dividend grows by 1 from thread to thread in the bits that it has, and a part ends before these wrap. */
#include "codegen/host/regions/row_parts.h"

#include "codegen/emit_tools.h"
#include "codegen/host/host_emitter.h"
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/row_bounds.h"
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/ir_to_llvm.h"
#include "codegen/op/value/parts.h"

enum {
    MOST_THREADS = 1 << 20, /* of a part */
    MOST_QUOTIENTS = 32,
};

typedef struct Quotient {
    const IrValue *value, *dividend;
    const IrValue *by; /* NULL: the divisor is a constant */
    int64_t divisor;
    bool is_rest;
    LLVMValueRef first; /* in the part's first thread */
} Quotient;

struct RowParts {
    LoopBody body;
    Quotient quotients[MOST_QUOTIENTS];
    uint32_t count;
    bool *is_made; /* by IrValue.id: for the part's first thread */
    LLVMValueRef behind;
};

/* --- which values ------------------------------------------------------------------------------------------------------- */

static bool is_divisor(int64_t number, const Type *type)
{
    return number >= LEAST_ROW_DIVISOR && number <= INT64_MAX >> (64 - type_bits(type)) >> 1;
}

static bool is_mask(int64_t number) { return number > 0 && number < INT64_MAX && !(number & (number + 1)); }

/* What the value is of which dividend, as far as its operation tells. */
static bool read_quotient(const IrValue *value, Quotient *out)
{
    if (value->operand_count != 2 || !type_is_integer(value->type) || value->type->size < 4)
        return false;
    const IrValue *by = value->operands[1];
    *out = (Quotient){.value = value, .dividend = value->operands[0], .is_rest = value->op == IR_MOD};
    if (by->op != IR_CONST) {
        out->by = by;
        return value->op == IR_FLOORDIV || value->op == IR_MOD;
    }
    int64_t number = by->integer;
    switch (value->op) {
    case IR_FLOORDIV:
    case IR_MOD: out->divisor = number; break;
    case IR_SHR: out->divisor = number > 0 && number < 62 ? (int64_t)1 << number : 0; break;
    case IR_AND: out->divisor = is_mask(number) ? number + 1 : 0; break;
    default: return false;
    }
    out->is_rest |= value->op == IR_AND;
    return is_divisor(out->divisor, value->type);
}

static bool is_of_row(const RowParts *parts, const IrValue *value, bool by_others, Quotient *out)
{
    const bool *is_inside = parts->body.is_inside;
    return read_quotient(value, out) && (!out->by || (by_others && slope_of_bits(is_inside, out->by) == 0)) &&
           slope_of_bits(is_inside, out->dividend) == 1;
}

/* Remainders alone, as (j + 1) % width, wrap at an array's border, which row_borders.c knows about. */
static bool has_quotient_by_other(const RowParts *parts)
{
    Quotient found;
    for (uint32_t i = 0; i < parts->body.count; i++)
        for (const IrValue *value = parts->body.blocks[i]->first; value; value = value->next)
            if (is_of_row(parts, value, true, &found) && found.by && !found.is_rest)
                return true;
    return false;
}

/* by_others: by divisors that are no constants, too. */
static void find_quotients(RowParts *parts, bool by_others)
{
    Quotient found;
    by_others = by_others && has_quotient_by_other(parts);
    for (uint32_t i = 0; i < parts->body.count; i++)
        for (const IrValue *value = parts->body.blocks[i]->first; value; value = value->next)
            if (parts->count < MOST_QUOTIENTS && is_of_row(parts, value, by_others, &found))
                parts->quotients[parts->count++] = found;
}

static bool has_marked(const bool *is_marked, const IrValue *value, uint32_t first)
{
    for (uint32_t i = first; i < value->operand_count; i++)
        if (is_marked[value->operands[i]->id])
            return true;
    return false;
}

/* Whether a quotient by another number than a constant, which takes a division, decides where a thread goes. */
static bool are_in_tests(const RowParts *parts, Arena *arena)
{
    bool *is_marked = ARENA_ARRAY(arena, bool, parts->body.blocks[0]->function->value_count + 1);
    for (uint32_t i = 0; i < parts->count; i++)
        is_marked[parts->quotients[i].value->id] = parts->quotients[i].by;
    for (uint32_t i = 0; i < parts->body.count; i++)
        for (const IrValue *value = parts->body.blocks[i]->first; value; value = value->next) {
            if (value->op == IR_BRANCH && has_marked(is_marked, value, 0))
                return true;
            is_marked[value->id] |= ir_op_info[value->op].flags & IR_FLAG_PURE && has_marked(is_marked, value, 0);
        }
    return false;
}

/* Whether one of the values is in the index of an access. */
static bool are_in_indices(const RowParts *parts, Arena *arena)
{
    bool *is_marked = ARENA_ARRAY(arena, bool, parts->body.blocks[0]->function->value_count + 1);
    for (uint32_t i = 0; i < parts->count; i++)
        is_marked[parts->quotients[i].value->id] = true;
    for (uint32_t i = 0; i < parts->body.count; i++)
        for (const IrValue *value = parts->body.blocks[i]->first; value; value = value->next) {
            if ((value->op == IR_LOAD && has_marked(is_marked, value, 1)) ||
                (value->op == IR_STORE && has_marked(is_marked, value, 1)))
                return true;
            is_marked[value->id] |= type_is_integer(value->type) && ir_op_info[value->op].flags & IR_FLAG_PURE &&
                                    has_marked(is_marked, value, 0);
        }
    return false;
}

static bool is_worth_it(RowParts *parts, bool by_others, Arena *arena)
{
    find_quotients(parts, by_others);
    return parts->count && (are_in_indices(parts, arena) || are_in_tests(parts, arena));
}

bool has_row_parts(IrFunc *kernel)
{
    Arena *arena = arena_create();
    RowParts *parts = ARENA_NEW(arena, RowParts);
    uint32_t count = kernel->block_count;
    parts->body =
        (LoopBody){.blocks = ARENA_ARRAY(arena, IrBlock *, count), .is_inside = ARENA_ARRAY(arena, bool, count)};
    for (IrBlock *block = kernel->first; block; block = block->next) {
        parts->body.blocks[parts->body.count++] = block;
        parts->body.is_inside[block->id] = true;
    }
    bool has = is_worth_it(parts, true, arena);
    arena_destroy(arena);
    return has;
}

uint32_t find_row_divisors(const IrValue *thread_loop, const IrValue **out, uint32_t most, Arena *arena)
{
    uint32_t count = 0;
    RowParts *parts = ARENA_NEW(arena, RowParts);
    parts->body = find_loop_body(thread_loop, arena);
    if (!is_worth_it(parts, true, arena))
        return 0;
    for (uint32_t i = 0; i < parts->count; i++) {
        const IrValue *by = parts->quotients[i].by;
        uint32_t known = 0;
        while (known < count && out[known] != by)
            known++;
        if (by && known == most)
            return 0;
        if (by)
            out[known] = by;
        count += by && known == count;
    }
    return count;
}

RowParts *find_row_parts(Emitter *emitter, const IrValue *thread_loop)
{
    RowParts *parts = ARENA_NEW(emitter->arena, RowParts);
    parts->body = find_loop_body(thread_loop, emitter->arena);
    if (!is_worth_it(parts, thread_loop->hint & IR_THREADS_CUT, emitter->arena))
        return NULL;
    parts->is_made = ARENA_ARRAY(emitter->arena, bool, emitter->function->value_count + 1);
    return parts;
}

/* --- code --------------------------------------------------------------------------------------------------------------- */

static void make_for_first(Emitter *emitter, RowParts *parts, const IrValue *value)
{
    if (!parts->body.is_inside[value->block->id] || parts->is_made[value->id])
        return;
    for (uint32_t i = 0; i < value->operand_count; i++)
        make_for_first(emitter, parts, value->operands[i]);
    emit_for_any_thread(emitter, value);
    parts->is_made[value->id] = true;
}

static LLVMValueRef lesser(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    return call_llvm(emitter, "llvm.umin", LLVMTypeOf(a), 2, (LLVMValueRef[]){a, b});
}

/* How many threads behind the first one there are until the number wraps. */
static LLVMValueRef until_wrap(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef first = emitter->parts[value->id][0];
    uint64_t largest = UINT64_MAX >> (64 - type_bits(value->type)) >> (value->type->kind == TYPE_INT);
    return LLVMBuildSub(emitter->builder, LLVMConstInt(LLVMTypeOf(first), largest, false), first, "");
}

/* In i32, at most MOST_THREADS. */
static LLVMValueRef as_count(Emitter *emitter, LLVMValueRef left)
{
    LLVMTypeRef type = LLVMTypeOf(left);
    if (LLVMGetIntTypeWidth(type) >= 32)
        left = lesser(emitter, left, LLVMConstInt(type, MOST_THREADS, false));
    return LLVMBuildIntCast2(emitter->builder, left, emitter->i32, false, "");
}

/* A wider number no longer grows by 1 where the one that it is made of wraps. */
static LLVMValueRef until_parts_wrap(Emitter *emitter, const RowParts *parts, const IrValue *value, LLVMValueRef left)
{
    while (value->operand_count) {
        const IrValue *part = value->operands[slope_of_bits(parts->body.is_inside, value->operands[0]) != 1];
        if (value->op == IR_CONVERT && value->type->size > part->type->size)
            left = lesser(emitter, left, as_count(emitter, until_wrap(emitter, part)));
        value = part;
    }
    return left;
}

/* How many threads behind the first one have the same quotient. */
static LLVMValueRef threads_behind(Emitter *emitter, RowParts *parts, Quotient *quotient)
{
    LLVMBuilderRef builder = emitter->builder;
    make_for_first(emitter, parts, quotient->value);
    LLVMValueRef first = emitter->parts[quotient->value->id][0], dividend = emitter->parts[quotient->dividend->id][0];
    LLVMTypeRef type = LLVMTypeOf(first);
    LLVMValueRef divisor = LLVMConstInt(type, (uint64_t)quotient->divisor, false), rest = first;
    if (quotient->by)
        divisor = emitter->parts[quotient->by->id][0];
    if (!quotient->is_rest) {
        LLVMValueRef multiple = LLVMBuildMul(builder, first, divisor, "");
        rest = LLVMBuildSub(builder, dividend, multiple, "");
    }
    quotient->first = first;
    LLVMValueRef last = LLVMBuildSub(builder, divisor, LLVMConstInt(type, 1, false), "");
    LLVMValueRef left = LLVMBuildSub(builder, last, rest, "");
    left = as_count(emitter, lesser(emitter, left, until_wrap(emitter, quotient->dividend)));
    return until_parts_wrap(emitter, parts, quotient->dividend, left);
}

LLVMValueRef emit_row_part(Emitter *emitter, RowParts *parts)
{
    LLVMValueRef behind = threads_behind(emitter, parts, &parts->quotients[0]);
    for (uint32_t i = 1; i < parts->count; i++)
        behind = lesser(emitter, behind, threads_behind(emitter, parts, &parts->quotients[i]));
    return LLVMBuildNUWAdd(emitter->builder, behind, const_i32(emitter, 1), "");
}

void enter_row_part(Emitter *emitter, RowParts *parts, LLVMValueRef behind)
{
    struct HostEmitter *host = emitter->host;
    parts->behind = behind;
    if (!host->row_parts)
        host->row_parts = ARENA_ARRAY(emitter->arena, RowParts *, emitter->function->value_count + 1);
    for (uint32_t i = 0; i < parts->count; i++)
        host->row_parts[parts->quotients[i].value->id] = parts;
}

bool emit_in_row_part(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const RowParts *parts = emitter->host->row_parts ? emitter->host->row_parts[value->id] : NULL;
    const Quotient *quotient = parts ? parts->quotients : NULL;
    if (!parts)
        return false;
    while (quotient->value != value)
        quotient++;
    out[0] = quotient->first;
    if (!quotient->is_rest)
        return true;
    LLVMValueRef behind = LLVMBuildZExt(emitter->builder, parts->behind, LLVMTypeOf(out[0]), "");
    out[0] = LLVMBuildNUWAdd(emitter->builder, out[0], behind, "");
    LLVMSetNSW(out[0], true);
    return true;
}
