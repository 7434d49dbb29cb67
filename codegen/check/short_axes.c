/* Pixels and points lie in arrays whose last axis is short, and neighbouring threads take neighbouring ones,
 *
 *     out[i, j] = (77 * image[i, j, 0] + 151 * image[i, j, 1] + 28 * image[i, j, 2]) >> 8
 *
 * which are image.shape[2] elements apart: a number that only the launch knows, so that a vector of threads would gather them.
 * Where the indices along such an axis are numbers while compiling, and all from 0 to the largest of them, it nearly always has
 * as many elements. The kernel is made for launches in which it has, and a variant for others. */
#include "codegen/check/short_axes.h"

#include "core/ir/ir_graph.h"

enum {
    MOST_APART = 8, /* elements from one thread's to the next one's: LLVM takes no longer groups apart */
    DEEPEST = 8,
};

typedef struct ShortAxes {
    bool is_short, has_rows;
    uint32_t count; /* of the last axes, which have numbers for indices in all accesses */
    unsigned indices[TYPE_MAX_NDIM]; /* by axis, a bit each */
} ShortAxes;

/* What the index is, or will be when the loop that counts it is written out, a bit each; 0: that is not known. */
static unsigned known_indices(const IrGraph *graph, const IrValue *index)
{
    IrInduction counts;
    while (index->op == IR_CONVERT)
        index = index->operands[0];
    if (index->op == IR_CONST)
        return index->integer >= 0 && index->integer < MOST_APART ? 1u << index->integer : 0;
    const IrLoop *loop = index->op == IR_PHI ? graph->loop_of[index->block->id] : NULL;
    if (!loop || loop->header != index->block || !ir_induction(graph, loop, &counts) || counts.variable != index)
        return 0;
    int64_t trips = ir_known_trips(&counts),
            last = trips ? counts.start->integer + (trips - 1) * counts.step->integer : -1;
    unsigned found = 0;
    if (counts.start->integer < 0 || last < 0 || last >= MOST_APART)
        return 0;
    for (int64_t i = counts.start->integer; i <= last; i += counts.step->integer)
        found |= 1u << i;
    return found;
}

/* Whether the index grows with a thread's place in its block. */
static bool is_of_thread(const IrValue *index, int depth)
{
    if (index->op == IR_INTRINSIC)
        return intrinsic_axis(INTRINSIC_CUDA_THREAD_IDX, index->intrinsic) >= 0;
    bool is_sum = index->op == IR_ADD || index->op == IR_SUB || index->op == IR_CONVERT || index->op == IR_WRAP ||
                  index->op == IR_PHI;
    for (uint32_t i = 0; is_sum && depth && i < index->operand_count; i++)
        if (is_of_thread(index->operands[i], depth - 1))
            return true;
    return false;
}

static void note_access(ShortAxes *array, const IrGraph *graph, const IrValue *access)
{
    uint32_t ndim = access->operands[0]->type->ndim, count = 0;
    for (; count + 1 < ndim; count++) {
        uint32_t axis = ndim - 1 - count;
        unsigned indices = known_indices(graph, access->operands[1 + axis]);
        if (!indices)
            break;
        array->indices[axis] |= indices;
    }
    array->count = count < array->count ? count : array->count;
    array->has_rows |= is_of_thread(access->operands[ndim - count], DEEPEST);
}

/* An array that is handed on as a whole, to a function say, is used in ways that are not looked at. */
static void note_uses(ShortAxes *arrays, const IrGraph *graph, const IrValue *value)
{
    bool is_access = value->op == IR_LOAD || value->op == IR_STORE || value->op == IR_ATOMIC;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        const IrValue *operand = value->operands[i];
        if (operand->op != IR_PARAM || !arrays[operand->index].is_short)
            continue;
        if (i == 0 && is_access)
            note_access(&arrays[operand->index], graph, value);
        else
            arrays[operand->index].is_short = value->op == IR_EXTENT;
    }
}

/* Writes the extents of an array; false: it has no such axes, or threads are far apart. */
static bool tell(const ShortAxes *array, uint32_t ndim, uint8_t *extents)
{
    int64_t apart = 1;
    if (!array->is_short || !array->has_rows)
        return false;
    for (uint32_t i = 1; i <= array->count; i++) {
        unsigned indices = array->indices[ndim - i], extent = 0;
        while (indices >> extent & 1)
            extent++;
        if (indices >> extent)
            return false;
        apart *= extent;
        extents[ndim - i] = (uint8_t)extent;
    }
    return apart > 1 && apart <= MOST_APART;
}

static bool may_be_short(const Type *type)
{
    return type->kind == TYPE_ARRAY && type->layout == LAYOUT_C && type->ndim > 1;
}

const uint8_t *find_short_axes(const IrFunc *kernel, Arena *arena)
{
    uint32_t count = kernel->parameter_count, candidates = 0;
    ShortAxes *arrays = ARENA_ARRAY(arena, ShortAxes, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        arrays[i].is_short = may_be_short(kernel->parameter_types[i]);
        arrays[i].count = TYPE_MAX_NDIM;
        candidates += arrays[i].is_short;
    }
    if (!candidates)
        return NULL;
    const IrGraph *graph = ir_graph(kernel, arena);
    for (uint32_t i = 0; i < graph->count; i++)
        for (const IrValue *value = graph->order[i]->first; value; value = value->next)
            note_uses(arrays, graph, value);
    uint8_t *extents = ARENA_ARRAY(arena, uint8_t, count *TYPE_MAX_NDIM);
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t told[TYPE_MAX_NDIM] = {0};
        if (!tell(&arrays[i], kernel->parameter_types[i]->ndim, told))
            continue;
        for (uint32_t axis = 0; axis < TYPE_MAX_NDIM; axis++)
            extents[i * TYPE_MAX_NDIM + axis] = told[axis];
        found = true;
    }
    return found ? extents : NULL;
}
