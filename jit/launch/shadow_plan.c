/* Arrays that lie one over the other share their cells: what matters is the memory. What nobody writes has none. */
#include "jit/launch/shadow_plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

enum { CELL_ALIGNMENT = 16, RESERVED_SHARED = 1024 /* of the driver's, in front of a kernel's own */ };
/* Slabs are fewer than blocks where blocks are many, or where they would take more than that. */
enum { MOST_SLABS = 2048, FEWEST_SLABS = 64 };
#define MOST_SLAB_BYTES (UINT64_C(1) << 31)

typedef struct Span {
    uint64_t begin, end; /* addresses */
    bool is_written;
} Span;

/* --- arrays ------------------------------------------------------------------------------------------------------------- */

static int64_t number_at(const RtLaunch *launch, const AbiField *field)
{
    int64_t number;
    memcpy(&number, (const uint8_t *)launch->parameters + field->offset, sizeof number);
    return number;
}

/* The bytes of the array whose fields these are; none where an axis has no items. */
static Span span_of(const RtLaunch *launch, const AbiField *pointer)
{
    const Type *type = pointer->type;
    int64_t low = 0, high = type->element->size, items = 1;
    for (uint32_t axis = 0; axis < type->ndim; axis++) {
        int64_t extent = number_at(launch, pointer + 1 + axis);
        items *= extent;
        if (type->layout == LAYOUT_ANY && extent) {
            int64_t reach = (extent - 1) * number_at(launch, pointer + 1 + type->ndim + axis);
            *(reach < 0 ? &low : &high) += reach;
        }
    }
    if (type->layout != LAYOUT_ANY)
        high = items * type->element->size;
    uint64_t address = (uint64_t)number_at(launch, pointer);
    return items ? (Span){.begin = address + (uint64_t)low, .end = address + (uint64_t)high} : (Span){0};
}

static int by_address(const void *a, const void *b)
{
    uint64_t left = ((const Span *)a)->begin, right = ((const Span *)b)->begin;
    return (left > right) - (left < right);
}

/* Sorted, those that touch as one, those alone that are written. */
static uint32_t merge(Span *spans, uint32_t count)
{
    uint32_t kept = 0, written = 0;
    qsort(spans, count, sizeof *spans, by_address);
    for (uint32_t i = 0; i < count; i++) {
        Span *last = kept ? &spans[kept - 1] : NULL;
        if (!last || spans[i].begin > last->end) {
            spans[kept++] = spans[i];
            continue;
        }
        last->is_written |= spans[i].is_written;
        if (spans[i].end > last->end)
            last->end = spans[i].end;
    }
    for (uint32_t i = 0; i < kept; i++)
        if (spans[i].is_written)
            spans[written++] = spans[i];
    return written;
}

static uint32_t collect(const JitSpecialization *specialization, const RtLaunch *launch, Span *spans)
{
    const KernelAbi *abi = specialization->abi;
    uint32_t count = 0;
    for (uint32_t i = 0; i < abi->field_count; i++) {
        const AbiField *field = &abi->fields[i];
        if (field->kind != ABI_POINTER || field->parameter >= specialization->count)
            continue;
        Span span = span_of(launch, field);
        span.is_written = specialization->written[field->parameter];
        span.begin &= ~(uint64_t)(CELL_ALIGNMENT - 1);
        if (span.end > span.begin)
            spans[count++] = span;
    }
    return merge(spans, count);
}

/* --- the layout --------------------------------------------------------------------------------------------------------- */

static uint64_t block_count(const RtLaunch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

static uint64_t slab_count(uint64_t blocks, uint64_t slab_bytes)
{
    uint64_t count = blocks < MOST_SLABS ? blocks : MOST_SLABS;
    while (count > FEWEST_SLABS && count * slab_bytes > MOST_SLAB_BYTES)
        count /= 2;
    return count;
}

static uint32_t shift_of(uint32_t granule) { return (uint32_t)__builtin_ctz(granule); }

/* Ranges get the places of their cells, one behind the other. */
static void lay_out_ranges(ShadowPlan *plan, const Span *spans, uint32_t shift)
{
    for (uint32_t i = 0; i < plan->range_count; i++) {
        int64_t *range = plan->ranges + (size_t)i * RANGE_WORDS;
        range[RANGE_BEGIN] = (int64_t)spans[i].begin;
        range[RANGE_END] = (int64_t)spans[i].end;
        range[RANGE_CELLS_AT] = (int64_t)plan->count;
        plan->count += ((spans[i].end - spans[i].begin + (1u << shift) - 1) >> shift) * CELL_WORDS;
    }
}

static bool lay_out(ShadowPlan *plan, const Span *spans, uint32_t granule, uint64_t blocks, uint64_t shared, Diag *diag)
{
    int64_t *header = plan->header;
    uint32_t shift = shift_of(granule);
    uint64_t cells = shared ? (shared + RESERVED_SHARED + granule - 1) >> shift : 0;
    uint64_t slabs = slab_count(blocks, cells * CELL_WORDS * sizeof *header);
    plan->ranges = memory_new(((size_t)plan->range_count * RANGE_WORDS + 1) * sizeof *plan->ranges, diag);
    if (!plan->ranges)
        return false;
    header[STATE_SHIFT] = shift;
    header[STATE_RANGES] = plan->range_count;
    header[STATE_RANGES_AT] = (int64_t)plan->count;
    plan->count += (size_t)plan->range_count * RANGE_WORDS;
    header[STATE_BLOCKS_AT] = (int64_t)plan->count;
    plan->count += blocks * BLOCK_WORDS;
    header[STATE_SLABS] = (int64_t)slabs;
    header[STATE_SLAB_CELLS] = (int64_t)cells;
    header[STATE_SLABS_AT] = (int64_t)plan->count;
    plan->count += slabs * cells * CELL_WORDS;
    lay_out_ranges(plan, spans, shift);
    return true;
}

/* An error, where not all of it can be looked after. */
static bool has_room(const JitSpecialization *specialization, const ShadowPlan *plan, uint64_t blocks, Diag *diag)
{
    enum { MIB = 1 << 20 };
    size_t free_bytes, total_bytes, words = SIZE_MAX / sizeof(int64_t), needed = plan->count;
    if (blocks > MOST_SHADOWED_BLOCKS)
        return diag_fail(diag, NULL, DIAG_SHADOW_BLOCKS, MOST_SHADOWED_BLOCKS);
    if (!rt_memory_info(specialization->device, &free_bytes, &total_bytes, diag))
        return false;
    needed = (needed < words ? needed : words) * sizeof(int64_t);
    return needed < free_bytes || diag_fail(diag, NULL, DIAG_SHADOW, needed / MIB, free_bytes / MIB);
}

bool shadow_plan_make(const JitSpecialization *specialization, const RtLaunch *launch, uint64_t shared, size_t used,
                      ShadowPlan *plan, Diag *diag)
{
    Span *spans = memory_new((specialization->abi->field_count + 1) * sizeof *spans, diag);
    *plan = (ShadowPlan){.count = used};
    if (!spans)
        return false;
    plan->range_count = collect(specialization, launch, spans);
    bool ok = lay_out(plan, spans, specialization->granule, block_count(launch), shared, diag) &&
              has_room(specialization, plan, block_count(launch), diag);
    memory_free(spans);
    if (!ok)
        shadow_plan_free(plan);
    return ok;
}

void shadow_plan_free(ShadowPlan *plan)
{
    memory_free(plan->ranges);
    plan->ranges = NULL;
}
