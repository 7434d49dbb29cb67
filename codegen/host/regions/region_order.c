/* Whether the loads and stores of a region may be declared independent. Between threads they are; but LLVM (22:
 * InterleavedAccessInfo) then takes those of one iteration for independent, too, where it makes one access of several that
 * have gaps between them: loads move up to the first of them, stores down to the last. A store must not pass what comes
 * behind it and may lie at the same place. */
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/thread_bounds.h"

enum { MOST_ACCESSES = 200, DEEPEST = 12 };

typedef struct Access {
    const IrValue *value, *root; /* root: what memory it is of; NULL: unknown */
    bool writes, reads;
    bool may_have_gaps; /* to that of the next thread, by a distance known to the compiler */
} Access;

/* --- one access ----------------------------------------------------------------------------------------------------------------- */

const IrValue *memory_of(const IrValue *array)
{
    for (int depth = 0; depth < DEEPEST && array->op == IR_SUBARRAY; depth++)
        array = array->operands[0];
    bool is_memory = array->op == IR_PARAM || array->op == IR_SHARED || array->op == IR_LOCAL || array->op == IR_CELL ||
                     array->op == IR_DATA;
    return is_memory ? array : NULL;
}

/* Whether it comes out of memory, so that no distance between threads is known. */
static bool is_opaque(const IrValue *index, int depth)
{
    if (index->op == IR_LOAD || index->op == IR_ATOMIC || index->op == IR_CELL_LOAD)
        return true;
    if (index->op == IR_PHI || depth > DEEPEST || !(ir_op_info[index->op].flags & IR_FLAG_PURE))
        return false;
    if (index->op == IR_SELECT) /* the compiler may come to know its condition, as away from borders (row_borders.c) */
        return is_opaque(index->operands[1], depth + 1) && is_opaque(index->operands[2], depth + 1);
    for (uint32_t i = 0; i < index->operand_count; i++)
        if (is_opaque(index->operands[i], depth + 1))
            return true;
    return false;
}

/* By how much the index grows from one thread of a loop's body to the next: 0 or 1; -1: neither, or not known. What is made
 * outside of the body all have alike. */
static int step_in(const LoopBody *body, const IrValue *index, int depth)
{
    if (body && !body->is_inside[index->block->id])
        return 0;
    int step = slope_in_thread(NULL, index);
    if (step >= 0 || !body || depth > DEEPEST)
        return step;
    bool is_exact = index->type->kind == TYPE_INT && (index->type->size == 8 || index->hint == IR_EXACT);
    if (index->op == IR_CONVERT && index->type->size == 8 && index->operands[0]->type->kind == TYPE_INT)
        return step_in(body, index->operands[0], depth + 1);
    if ((index->op != IR_ADD && index->op != IR_SUB) || !is_exact)
        return -1;
    int left = step_in(body, index->operands[0], depth + 1), right = step_in(body, index->operands[1], depth + 1);
    bool is_known = left >= 0 && right >= 0 && left + right <= 1 && (index->op == IR_ADD || right == 0);
    return is_known ? left + right : -1;
}

/* What is wrapped goes on by the same steps, or by an unknown one. */
static int step_of(const LoopBody *body, const IrValue *index)
{
    bool is_wrapped = index->op == IR_WRAP && step_in(body, index->operands[1], 0) == 0;
    return step_in(body, is_wrapped ? index->operands[0] : index, 0);
}

/* A thread's array whose elements lie beside those of the other threads. regions: NULL where there are loops over threads. */
static bool is_spread(const Regions *regions, const IrValue *array)
{
    if (!regions)
        return array->op == IR_SLOT_LOAD && array->type->layout == LAYOUT_ANY;
    return array->op == IR_LOCAL && regions->is_spread[array->id];
}

/* Neighbouring threads access neighbouring elements or one and the same, or the compiler knows of no distance. */
static bool has_no_gaps(const Regions *regions, const LoopBody *body, const IrValue *value, const Type *array)
{
    if (is_spread(regions, value->operands[0]))
        return true;
    bool is_whole = value->operands[0]->op == IR_PARAM || value->operands[0]->op == IR_SHARED;
    if (!is_whole || array->layout != LAYOUT_C || !type_is_real(array->element))
        return false;
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        if (is_opaque(value->operands[1 + axis], 0))
            return true;
    for (uint32_t axis = 0; axis < array->ndim; axis++) {
        int step = step_of(body, value->operands[1 + axis]);
        if (step != 0 && !(step == 1 && axis + 1 == array->ndim))
            return false;
    }
    return true;
}

/* In a region, or in the body of a loop over threads. */
static bool read_access(const Regions *regions, const LoopBody *body, const IrValue *value, Access *out)
{
    unsigned flags = ir_op_info[value->op].flags;
    *out = (Access){
        .value = value, .reads = flags & IR_FLAG_READS, .writes = flags & IR_FLAG_WRITES, .may_have_gaps = true};
    if (value->op == IR_INTRINSIC) {
        const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
        bool is_known = row->kind == INTRINSIC_KIND_REGISTER || row->kind == INTRINSIC_KIND_MATH;
        out->reads = !is_known && row->effects != EFFECT_NONE;
        out->writes = out->reads && row->effects != EFFECT_READS;
    } else if (value->op == IR_LOAD || value->op == IR_STORE) {
        bool is_slot = value->operands[0]->op == IR_SLOT_LOAD;
        out->root = memory_of(is_slot ? value->operands[0]->operands[0] : value->operands[0]);
        out->may_have_gaps = !has_no_gaps(regions, body, value, value->operands[0]->type);
    } else if (value->op == IR_SLOT_LOAD || value->op == IR_SLOT_STORE) {
        out->root = value->operands[0];
        out->may_have_gaps = false;
    } else if (value->op == IR_CELL_LOAD || value->op == IR_CELL_STORE) {
        out->root = memory_of(value->operands[0]);
    }
    return out->reads || out->writes;
}

/* --- all of a region --------------------------------------------------------------------------------------------------------------- */

/* Parameters may be parts of one array; all else lies apart. */
static bool may_meet(const Access *a, const Access *b)
{
    if (!a->root || !b->root || a->root == b->root)
        return true;
    bool are_dynamic =
        a->root->op == IR_SHARED && b->root->op == IR_SHARED && a->root->storage->dynamic && b->root->storage->dynamic;
    return are_dynamic || (a->root->op == IR_PARAM && b->root->op == IR_PARAM);
}

static bool may_pass(const Access *store, const Access *later)
{
    return store->writes && (store->may_have_gaps || (later->reads && later->may_have_gaps)) && may_meet(store, later);
}

/* Fills in what the region accesses, in the program's order; false when that is too much to compare. */
static bool list_accesses(const Regions *regions, const Region *region, bool has_additions, Access *accesses,
                          uint32_t *count)
{
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next) {
            if (*count == MOST_ACCESSES)
                return false;
            if (has_additions || !is_float_addition(value))
                *count += read_access(regions, NULL, value, &accesses[*count]);
        }
    }
    return true;
}

/* Whether a thread runs a loop of its own in the region: LLVM may write it out, one round after the other. */
static bool has_loop(const Regions *regions, const Region *region, Arena *arena)
{
    bool *is_passed = ARENA_ARRAY(arena, bool, regions->piece_count + 1);
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        is_passed[region->pieces[i]] = true;
        for (uint32_t k = 0; k < piece->successor_count; k++)
            if (is_passed[piece->successors[k]] && region->is_inside[piece->successors[k]])
                return true;
    }
    return false;
}

static bool keeps_order_of(const Access *accesses, uint32_t count, bool repeats)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = repeats ? 0 : i + 1; k < count; k++)
            if (may_pass(&accesses[i], &accesses[k]))
                return false;
    return true;
}

bool keeps_order(const Regions *regions, const Region *region, bool has_additions, Arena *arena)
{
    Access *accesses = ARENA_ARRAY(arena, Access, MOST_ACCESSES + 1);
    uint32_t count = 0;
    return list_accesses(regions, region, has_additions, accesses, &count) &&
           keeps_order_of(accesses, count, has_loop(regions, region, arena));
}

bool keeps_order_of_trips(const LoopBody *body, Arena *arena)
{
    Access *accesses = ARENA_ARRAY(arena, Access, MOST_ACCESSES + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < body->count; i++)
        for (const IrValue *value = body->blocks[i]->first; value; value = value->next) {
            if (count == MOST_ACCESSES)
                return false;
            count += read_access(NULL, body, value, &accesses[count]);
        }
    return keeps_order_of(accesses, count, true);
}
