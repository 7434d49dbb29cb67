/* Whether the loads and stores of a region may be declared independent. Between threads they are; but LLVM (22:
 * InterleavedAccessInfo) then takes those of one iteration for independent, too, where it makes one access of several that
 * have gaps between them: loads move up to the first of them, stores down to the last. A store must not pass what comes
 * behind it and may lie at the same place. */
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

/* What is wrapped goes on by the same steps, or by an unknown one. */
static int step_of(const IrValue *index)
{
    bool is_wrapped = index->op == IR_WRAP && slope_in_thread(NULL, index->operands[1]) == 0;
    return slope_in_thread(NULL, is_wrapped ? index->operands[0] : index);
}

/* Neighbouring threads access neighbouring elements or one and the same, or the compiler knows of no distance. */
static bool has_no_gaps(const Regions *regions, const IrValue *value, const Type *array)
{
    if (value->operands[0]->op == IR_LOCAL && regions->is_spread[value->operands[0]->id])
        return true;
    bool is_whole = value->operands[0]->op == IR_PARAM || value->operands[0]->op == IR_SHARED;
    if (!is_whole || array->layout != LAYOUT_C || !type_is_real(array->element))
        return false;
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        if (is_opaque(value->operands[1 + axis], 0))
            return true;
    for (uint32_t axis = 0; axis < array->ndim; axis++) {
        int step = step_of(value->operands[1 + axis]);
        if (step != 0 && !(step == 1 && axis + 1 == array->ndim))
            return false;
    }
    return true;
}

static bool read_access(const Regions *regions, const IrValue *value, Access *out)
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
        out->root = memory_of(value->operands[0]);
        out->may_have_gaps = !has_no_gaps(regions, value, value->operands[0]->type);
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
static bool list_accesses(const Regions *regions, const Region *region, Access *accesses, uint32_t *count)
{
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next) {
            if (*count == MOST_ACCESSES)
                return false;
            *count += read_access(regions, value, &accesses[*count]);
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

bool keeps_order(const Regions *regions, const Region *region, Arena *arena)
{
    Access *accesses = ARENA_ARRAY(arena, Access, MOST_ACCESSES + 1);
    uint32_t count = 0;
    if (!list_accesses(regions, region, accesses, &count))
        return false;
    bool repeats = has_loop(regions, region, arena);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = repeats ? 0 : i + 1; k < count; k++)
            if (may_pass(&accesses[i], &accesses[k]))
                return false;
    return true;
}
