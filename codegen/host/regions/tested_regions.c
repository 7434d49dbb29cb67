/* Chooses regions whose checks are made beforehand. A check that may end a thread is in the way of vectors, and of threads
 * that go through a loop together; one that only tells the host (NOTE) is in the way of vectors, too. So such a region becomes
 * three loops over the threads: one that only asks, in each thread, whether a check fails, without doing anything; where none
 * does, one without checks; else one that has them.
 *
 * That asks for the same twice, so it must get the same answer: what the checks depend on is not changed by the region
 * before it is asked for, nor by anyone else meanwhile. Arguments may be parts of one array: where an index is loaded from one
 * and another is written to, it is asked first whether they lie apart, and where they do not the third loop runs
 * (form_apart.c). */
#include "codegen/host/regions/regions.h"
#include "core/ir/ir_graph.h"

enum { MOST_VALUES = 600 };

typedef struct Search {
    const Regions *regions;
    const Region *region;
    bool *asks; /* by IrValue.id: checks, and who makes them, depend on it */
} Search;

/* --- what may be done twice --------------------------------------------------------------------------------------------- */

/* Where nobody is told of exceptions, nothing is known of them. */
static bool ends_by_check(const IrValue *value)
{
    const IrModule *module = value->block->function->module;
    return value->op == IR_RAISE && value->hint != IR_SILENT && value->index < module->exception_count &&
           module->exceptions[value->index].is_check;
}

bool fails_check(const IrBlock *block) { return ends_by_check(block->last); }

static bool is_check(const IrValue *value) { return value->op == IR_NOTE || ends_by_check(value); }

enum { MOST_SILENT_CALLS = 256 }; /* that are looked at: functions that call the next one twice have 2^n ways */

static bool is_silent(const IrFunc *function, int *left)
{
    if (function->lacks_body || function->is_recursive || --*left < 0)
        return false;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            bool is_pure = ir_op_info[value->op].flags & IR_FLAG_PURE;
            bool is_math = value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_MATH;
            bool goes_on = value->op == IR_JUMP || value->op == IR_BRANCH || value->op == IR_RETURN;
            bool is_loop = value->op == IR_JUMP && value->targets[0]->id <= block->id;
            bool calls = value->op == IR_CALL && is_silent(value->callee, left);
            if ((!is_pure && !is_math && !goes_on && !calls) || is_loop)
                return false;
        }
    return true;
}

bool is_silent_function(const IrFunc *function)
{
    int left = MOST_SILENT_CALLS;
    return is_silent(function, &left);
}

/* Whether the loop that asks can do it, or leave it out. */
static bool suits(const Search *search, const IrValue *value)
{
    switch (value->op) {
    case IR_LOAD:
    case IR_STORE: return !value->hint;
    case IR_ATOMIC: return !search->asks[value->id];
    case IR_CELL_LOAD:
    case IR_CELL_STORE:
    case IR_JUMP:
    case IR_BRANCH:
    case IR_RETURN:
    case IR_NOTE: return true;
    case IR_RAISE: return ends_by_check(value);
    case IR_CALL: return is_silent_function(value->callee);
    case IR_INTRINSIC: {
        IntrinsicKind kind = intrinsic_info[value->intrinsic].kind;
        return kind == INTRINSIC_KIND_REGISTER || kind == INTRINSIC_KIND_MATH;
    }
    default: return ir_op_info[value->op].flags & IR_FLAG_PURE && value->op != IR_CELL;
    }
}

/* --- what checks depend on ---------------------------------------------------------------------------------------------- */

/* Of a NOTE the condition: what belongs to it is looked at where the condition holds. */
static bool mark_operands(Search *search, const IrValue *value)
{
    bool changed = false;
    uint32_t count = value->op == IR_NOTE ? 1 : value->operand_count;
    for (uint32_t i = 0; i < count; i++) {
        bool *asks = &search->asks[value->operands[i]->id];
        changed |= !*asks;
        *asks = true;
    }
    return changed;
}

/* Branches and conditions of NOTEs, and all that they are made of; what the region makes last is looked at first. */
static void find_questions(Search *search)
{
    const Regions *regions = search->regions;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = search->region->piece_count; i-- > 0;) {
            const Piece *piece = &regions->pieces[search->region->pieces[i]];
            for (const IrValue *value = piece->first; value && value != piece->end; value = value->next)
                if (value->op == IR_BRANCH || value->op == IR_NOTE || search->asks[value->id])
                    changed |= mark_operands(search, value);
        }
    }
}

static void forget_questions(Search *search)
{
    for (uint32_t i = 0; i < search->region->piece_count; i++) {
        const Piece *piece = &search->regions->pieces[search->region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next)
            for (uint32_t k = 0; k < value->operand_count; k++)
                search->asks[value->operands[k]->id] = false;
    }
}

/* --- who changes it ----------------------------------------------------------------------------------------------------- */

/* A NOTE does where only the host looks. */
bool writes_memory(const IrValue *value)
{
    return ir_op_info[value->op].flags & IR_FLAG_WRITES && value->op != IR_NOTE;
}

/* Whether the value writes by that operand, an array. */
static bool writes_by(const IrValue *value, uint32_t operand)
{
    if (value->op == IR_INTRINSIC)
        return intrinsic_info[value->intrinsic].effects & EFFECT_WRITES &&
               value->operands[operand]->type->kind == TYPE_ARRAY;
    return !operand && (value->op == IR_STORE || value->op == IR_ATOMIC || value->op == IR_CELL_STORE);
}

/* Calls have arrays that may be anything. */
static bool may_write_to(const IrValue *value, const IrValue *memory)
{
    if (value->op == IR_CALL)
        return !is_silent_function(value->callee);
    if (value->op != IR_STORE && value->op != IR_ATOMIC && value->op != IR_CELL_STORE && value->op != IR_INTRINSIC)
        return writes_memory(value);
    for (uint32_t i = 0; i < value->operand_count; i++) {
        const IrValue *other = writes_by(value, i) ? memory_of(value->operands[i]) : NULL;
        bool are_dynamic = other && other->op == IR_SHARED && memory->op == IR_SHARED && other->storage->dynamic &&
                           memory->storage->dynamic;
        if (writes_by(value, i) && (!other || other == memory || are_dynamic))
            return true;
    }
    return false;
}

static void find_written(Regions *regions, Arena *arena)
{
    regions->is_written = ARENA_ARRAY(arena, bool, regions->kernel->parameter_count + 1);
    for (const IrBlock *block = regions->kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            for (uint32_t i = 0; i < value->operand_count; i++) {
                const IrValue *memory = writes_by(value, i) ? memory_of(value->operands[i]) : NULL;
                if (memory && memory->op == IR_PARAM)
                    regions->is_written[memory->index] = true;
            }
}

/* Arguments are written to while other threads of the grid run this region; a block's own memory is not, but by it. */
static bool is_written_by_others(const Search *search, const IrValue *memory)
{
    const Regions *regions = search->regions;
    for (const IrBlock *block = regions->kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            uint32_t piece = regions->piece_of[value->id];
            bool is_here = search->region->is_inside[piece] || piece == search->region->leader;
            if ((memory->op == IR_PARAM || (is_here && memory->op == IR_SHARED)) && may_write_to(value, memory))
                return true;
        }
    return false;
}

/* Arguments may be parts of one array. */
static bool may_meet(const IrValue *memory, const IrValue *written)
{
    return !written || written == memory || (memory->op == IR_PARAM && written->op == IR_PARAM);
}

static bool is_steady(const Search *search, const IrValue *load, const IrValue *const *stores, uint32_t store_count)
{
    const IrValue *memory = memory_of(load->operands[0]);
    if (!memory || is_written_by_others(search, memory))
        return false;
    for (uint32_t i = 0; i < store_count; i++)
        if (may_meet(memory, memory_of(stores[i]->operands[0])))
            return false;
    return true;
}

/* In the program's order; where the region has loops, any store may come before. */
static bool are_questions_steady(const Search *search, bool repeats, Arena *arena)
{
    const Region *region = search->region;
    const IrValue **stores = ARENA_ARRAY(arena, const IrValue *, MOST_VALUES + 1);
    uint32_t store_count = 0;
    for (int pass = repeats ? 0 : 1; pass < 2; pass++)
        for (uint32_t i = 0; i < region->piece_count; i++) {
            const Piece *piece = &search->regions->pieces[region->pieces[i]];
            for (const IrValue *value = piece->first; value && value != piece->end; value = value->next) {
                bool is_load = value->op == IR_LOAD || value->op == IR_CELL_LOAD;
                if (is_load && pass && search->asks[value->id] && !is_steady(search, value, stores, store_count))
                    return false;
                const IrValue *memory = is_load && search->asks[value->id] ? memory_of(value->operands[0]) : NULL;
                if (memory && memory->op == IR_PARAM)
                    region->asks_of[memory->index] = true;
                if (writes_memory(value) && value->op != IR_CALL && value->op != IR_INTRINSIC && !(repeats && pass))
                    stores[store_count++] = value;
            }
        }
    return true;
}

/* --- the region --------------------------------------------------------------------------------------------------------- */

/* *repeats: it has loops. False: one that is not written out. */
static bool has_short_loops(const Search *search, const bool *unrolled, bool *repeats, Arena *arena)
{
    const Regions *regions = search->regions;
    const Region *region = search->region;
    bool *is_passed = ARENA_ARRAY(arena, bool, regions->piece_count + 1);
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        is_passed[region->pieces[i]] = true;
        for (uint32_t k = 0; has_terminator(piece) && k < piece->successor_count; k++) {
            uint32_t next = piece->successors[k];
            if (!is_passed[next] || !region->is_inside[next])
                continue;
            *repeats = true;
            if (!unrolled[regions->pieces[next].block->id])
                return false;
        }
    }
    return true;
}

/* Whether it has checks that some threads may pass, and is short: what follows goes through it again and again. Checks of
 * what threads may make anew say nothing of what they had before. */
static bool is_worth_a_look(const Search *search)
{
    if (search->region->remade_count || fails_check(search->regions->pieces[search->region->leader].block))
        return false;
    uint32_t count = 0;
    bool has_checks = false;
    for (uint32_t i = 0; i < search->region->piece_count; i++) {
        const Piece *piece = &search->regions->pieces[search->region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next) {
            if (++count > MOST_VALUES)
                return false;
            has_checks |= is_check(value);
        }
    }
    return has_checks;
}

static bool has_suitable_values(const Search *search)
{
    for (uint32_t i = 0; i < search->region->piece_count; i++) {
        const Piece *piece = &search->regions->pieces[search->region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next)
            if (!suits(search, value))
                return false;
    }
    return true;
}

/* --- indices that count from the end ----------------------------------------------------------------------------------------- */

/* The index that the check asks about, if it may count from the end; a negative one fails where nobody counts so. */
static void mark_wraps(Regions *regions, const Region *region, const IrValue *condition)
{
    if (condition->op == IR_AND) {
        mark_wraps(regions, region, condition->operands[0]);
        mark_wraps(regions, region, condition->operands[1]);
        return;
    }
    if (condition->op != IR_LT || condition->operands[0]->type->kind != TYPE_UINT)
        return;
    const IrValue *index = condition->operands[0];
    while (index->op == IR_BITCAST)
        index = index->operands[0];
    if (index->op == IR_WRAP && index->type->size == condition->operands[0]->type->size)
        regions->wrap_tests[index->id] = 1 + (uint32_t)(region - regions->regions);
}

static void find_tested_wraps(Regions *regions, const Region *region)
{
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        const IrValue *branch = has_terminator(piece) ? piece->block->last : NULL;
        if (branch && branch->op == IR_BRANCH && fails_check(branch->targets[1]))
            mark_wraps(regions, region, branch->operands[0]);
    }
}

void choose_tested_regions(Regions *regions, const bool *unrolled, Arena *arena)
{
    Search search = {.regions = regions, .asks = ARENA_ARRAY(arena, bool, regions->kernel->value_count + 1)};
    regions->wrap_tests = ARENA_ARRAY(arena, uint32_t, regions->kernel->value_count + 1);
    find_written(regions, arena);
    for (uint32_t i = 0; i < regions->region_count; i++) {
        Region *region = &regions->regions[i];
        bool repeats = false;
        search.region = region;
        if (!is_worth_a_look(&search))
            continue;
        find_questions(&search);
        region->asks_of = ARENA_ARRAY(arena, bool, regions->kernel->parameter_count + 1);
        region->is_tested = has_suitable_values(&search) && has_short_loops(&search, unrolled, &repeats, arena) &&
                            are_questions_steady(&search, repeats, arena);
        forget_questions(&search);
        if (region->is_tested)
            find_tested_wraps(regions, region);
    }
}

bool is_plain_region(const Regions *regions, const Region *region, const bool *unrolled, Arena *arena)
{
    bool *asks = ARENA_ARRAY(arena, bool, regions->kernel->value_count + 1), repeats = false;
    Search search = {.regions = regions, .region = region, .asks = asks};
    return has_suitable_values(&search) && has_short_loops(&search, unrolled, &repeats, arena);
}
