/* Chooses regions whose atomic additions are made behind their loop over threads. Atomics are in the way of vectors, and each
 * locks a line of memory. Where additions of floats are the last that threads do in a region,
 *
 *     q = cuda.grid(1)                               for each thread:
 *     if q < n:                                          where[t] = 0
 *         v = values[q] * x[columns[q]]              for each thread with q < n:
 *         cuda.atomic.add(out, rows[q], v)               what[t] = values[q] * x[columns[q]]
 *                                                        where[t] = address of out[rows[q]]
 *                                                    additions where, what
 *
 * the loop over threads is one for vectors, and the runtime makes the additions, thread after thread (host_additions.c): those
 * that follow each other and go to one place, or to places side by side, are one locked operation. Nobody can tell: a thread
 * does nothing behind its first one but compute and add, so that its own accesses keep their order; between threads of a
 * region there is none; each addition is made once, upon what is there, and rounded by itself; and all are made where the
 * region ends, before any thread comes to a barrier or to the end of its block.
 *
 * Where threads do not meet, they add in the order of their numbers. That holds where one region has all additions, whatever
 * loops go around the threads in others. */
#include "codegen/host/regions/late_additions.h"

bool is_float_addition(const IrValue *value)
{
    if (value->op != IR_ATOMIC || value->order != IR_ORDER_RELAXED)
        return false;
    const IrValue *memory = memory_of(value->operands[0]);
    const Type *element = value->operands[0]->type->element;
    bool adds = value->atomic == IR_ATOMIC_ADD || value->atomic == IR_ATOMIC_SUB;
    return adds && memory && memory->op == IR_PARAM &&
           (type_equal(element, TYPE_OF(FLOAT32)) || type_equal(element, TYPE_OF(FLOAT64)));
}

/* Functions may have some. */
static bool may_add(const Regions *regions, const Region *region)
{
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next)
            if (is_float_addition(value) || (value->op == IR_CALL && !is_silent_function(value->callee)))
                return true;
    }
    return false;
}

bool adds_in_order_of_threads(const Regions *regions)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < regions->region_count; i++)
        count += may_add(regions, &regions->regions[i]);
    return count <= 1;
}

/* Whether nothing but additions that no other processor looks at, all of one type, is read or written behind the first one, and none is in a loop. */
static bool ends_with_additions(const LoopPlaces *places, const Regions *regions, const Region *region)
{
    const Type *type = NULL;
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next) {
            bool is_check = value->op == IR_NOTE || value->op == IR_RAISE;
            bool is_access = ir_op_info[value->op].flags & (IR_FLAG_READS | IR_FLAG_WRITES) && !is_check;
            bool is_addition = is_float_addition(value) && value->scope != IR_SCOPE_SYSTEM;
            if ((value->op == IR_ATOMIC && !is_addition) || (is_check && !region->is_tested) ||
                (type && is_access && !(is_addition && type_equal(value->type, type))) ||
                (is_addition && places->graph->loop_of[value->block->id]))
                return false;
            if (is_addition)
                type = value->type;
        }
    }
    return type;
}

static uint32_t bytes_of_additions(const Regions *regions, const Region *region)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const Piece *piece = &regions->pieces[region->pieces[i]];
        for (const IrValue *value = piece->first; value && value != piece->end; value = value->next)
            bytes += is_float_addition(value) ? 32 : 0;
    }
    return bytes;
}

uint32_t choose_late_additions(Regions *regions, const LoopPlaces *places, Arena *arena)
{
    uint32_t bytes = 0;
    bool *unrolled = ARENA_ARRAY(arena, bool, places->graph->function->block_count + 1);
    for (uint32_t i = 0; i < places->graph->loop_count && places->is_unrolled; i++)
        unrolled[places->graph->loops[i].header->id] = places->is_unrolled[i];
    for (uint32_t i = 0; i < regions->region_count && !regions->ends_threads; i++) {
        Region *region = &regions->regions[i];
        region->has_late_additions =
            ends_with_additions(places, regions, region) && is_plain_region(regions, region, unrolled, arena);
        bytes += region->has_late_additions ? bytes_of_additions(regions, region) : 0;
    }
    return bytes;
}
