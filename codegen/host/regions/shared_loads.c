/* What all threads of a block, or of a row, load alike: from a place that they have alike, of an argument that the kernel does
 * not write to. So `for q in range(starts[row], starts[row + 1])`, where row counts along another axis than the rows, is a
 * loop that the threads of a row run alike.
 *
 * Such a load is made in front of its region's loop over threads. Arguments may be parts of one array, so a thread may not
 * write to one in that region before it loads. Nothing may be loaded that no thread would load: a region ends behind the
 * tests at the kernel's beginning, where it is asked whether they keep all threads out (form_regions.c); a check that all
 * threads fail or pass alike is a branch of all; and where checks that threads fail on their own come before, a load is one
 * that has been checked itself, and not proven right by what other checks say. */
#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/thread_bounds.h"
#include "core/ir/ir_graph.h"

bool may_be_argument(const IrValue *array)
{
    const IrValue *memory = memory_of(array);
    return !memory || memory->op == IR_PARAM;
}

bool may_write_to_argument(const IrValue *value)
{
    switch (value->op) {
    case IR_STORE:
    case IR_ATOMIC: return may_be_argument(value->operands[0]);
    case IR_CELL_STORE: return false;
    case IR_CALL: return !is_silent_function(value->callee);
    case IR_INTRINSIC: {
        const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
        bool is_known =
            row->kind == INTRINSIC_KIND_REGISTER || row->kind == INTRINSIC_KIND_MATH || is_collective(value);
        return !is_known && row->effects != EFFECT_NONE && row->effects != EFFECT_READS;
    }
    default: return writes_memory(value);
    }
}

/* Of a value that may write to an argument: which one; NULL: any. */
static const IrValue *written_memory(const IrValue *value)
{
    bool is_access = value->op == IR_STORE || value->op == IR_ATOMIC;
    return is_access ? memory_of(value->operands[0]) : NULL;
}

/* NULL: the value is no load of an argument. */
static const IrValue *loaded_argument(const IrValue *value)
{
    const IrValue *memory = value->op == IR_LOAD && !value->hint ? memory_of(value->operands[0]) : NULL;
    return memory && memory->op == IR_PARAM ? memory : NULL;
}

bool is_of_constant_argument(const IrValue *load)
{
    const IrValue *argument = loaded_argument(load);
    if (!argument)
        return false;
    for (const IrBlock *block = load->block->function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (may_write_to_argument(value)) {
                const IrValue *memory = written_memory(value);
                if (!memory || memory == argument)
                    return false;
            }
    return true;
}

const bool *find_changing_arguments(const IrFunc *kernel, Arena *arena)
{
    bool *changing = ARENA_ARRAY(arena, bool, kernel->parameter_count + 1);
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            if (!may_write_to_argument(value))
                continue;
            const IrValue *memory = written_memory(value);
            for (uint32_t i = 0; !memory && i < kernel->parameter_count; i++)
                changing[i] = true;
            if (!memory)
                return changing;
            if (memory->op == IR_PARAM)
                changing[memory->index] = true;
        }
    return changing;
}

bool is_shared_load(const Regions *regions, const IrValue *value)
{
    const IrValue *memory = regions->shares_loads ? loaded_argument(value) : NULL;
    return memory && !regions->is_changing[memory->index];
}

/* --- checks ------------------------------------------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 8 };

static const IrValue *without_casts(const IrValue *value)
{
    while (value->op == IR_BITCAST)
        value = value->operands[0];
    return value;
}

/* Whether the condition has `index < extent`, without signs, of the load's axis. */
static bool tests_index(const IrValue *condition, const IrValue *load, uint32_t axis)
{
    if (condition->op == IR_AND)
        return tests_index(condition->operands[0], load, axis) || tests_index(condition->operands[1], load, axis);
    if (condition->op != IR_LT || condition->operands[0]->type->kind != TYPE_UINT)
        return false;
    const IrValue *extent = without_casts(condition->operands[1]);
    return without_casts(condition->operands[0]) == without_casts(load->operands[1 + axis]) &&
           extent->op == IR_EXTENT && extent->operands[0] == load->operands[0] && extent->index == axis;
}

/* Whether the axis has been tested on the way to the load, by a check. */
static bool is_tested_before(const IrValue *load, uint32_t axis)
{
    const IrBlock *block = load->block;
    for (int i = 0; i < MOST_BLOCKS && block->predecessor_count == 1; i++) {
        const IrValue *branch = block->predecessors[0]->last;
        if (branch->op == IR_BRANCH && branch->targets[0] == block && fails_check(branch->targets[1]) &&
            tests_index(branch->operands[0], load, axis))
            return true;
        block = block->predecessors[0];
    }
    return false;
}

static bool is_checked_itself(const IrValue *load)
{
    for (uint32_t axis = 0; axis < load->operands[0]->type->ndim; axis++)
        if (!is_tested_before(load, axis))
            return false;
    return true;
}

bool is_condition_of_check(const IrValue *value)
{
    const IrValue *branch = value->block->last;
    return branch->op == IR_BRANCH && branch->operands[0] == value &&
           (fails_check(branch->targets[0]) || fails_check(branch->targets[1]));
}

/* Whether threads that come by the piece, in a region in which some end, may have parted there for that. */
static bool may_end_behind(const Regions *regions, const Piece *piece)
{
    for (const IrValue *value = piece->first; value && value != piece->end; value = value->next)
        if (value->op == IR_CALL)
            return true;
    return diverges(regions, piece);
}

/* Whether threads that come to the region may have passed one in which some end on their own. */
static bool comes_behind_ends(const Regions *regions, const bool *is_behind, const Region *region)
{
    return region->ends_threads || is_behind[region - regions->regions];
}

/* By region: whether some may have ended on the way to it. */
static const bool *find_regions_behind_ends(const Regions *regions, Arena *arena)
{
    bool *is_behind = ARENA_ARRAY(arena, bool, regions->region_count + 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < regions->region_count; i++) {
            const Piece *last = &regions->pieces[regions->regions[i].last];
            for (uint32_t k = 0; k < last->step_count && comes_behind_ends(regions, is_behind, &regions->regions[i]);
                 k++) {
                bool *next = &is_behind[regions->pieces[last->steps[k]].region];
                changed |= !*next;
                *next = true;
            }
        }
    }
    return is_behind;
}

/* --- regions ------------------------------------------------------------------------------------------------------------ */

static bool are_loads_right(const Regions *regions, const Region *region, bool may_have_ended)
{
    bool is_written = false;
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next) {
            if (value->op == IR_LOAD && regions->homes[value->id] == HOME_UNIFORM &&
                (is_written || (may_have_ended && !is_checked_itself(value))))
                return false;
            is_written |= may_write_to_argument(value);
        }
        may_have_ended |= region->ends_threads && may_end_behind(regions, piece);
    }
    return true;
}

bool are_shared_loads_right(const Regions *regions, Arena *arena)
{
    const bool *is_behind = find_regions_behind_ends(regions, arena);
    for (uint32_t i = 0; i < regions->region_count; i++) {
        const Region *region = &regions->regions[i];
        if (!are_loads_right(regions, region, is_behind[i]))
            return false;
    }
    return true;
}

uint32_t piece_behind_bounds(const Regions *regions)
{
    uint32_t behind = NO_PIECE, left = regions->kernel->block_count;
    for (const IrBlock *block = regions->kernel->first; block && left--; block = next_bounded_block(block))
        if (block->last->op == IR_BRANCH && block->last->hint && next_bounded_block(block))
            behind = regions->first_piece[next_bounded_block(block)->id];
    return behind;
}
