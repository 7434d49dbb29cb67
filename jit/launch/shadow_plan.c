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

/* Sorted, those that touch as one. */
static uint32_t merge(Span *spans, uint32_t count)
{
    uint32_t kept = 0;
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
    return kept;
}

static uint32_t keep_written(Span *spans, uint32_t count)
{
    uint32_t written = 0;
    for (uint32_t i = 0; i < count; i++)
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

/* Cells of races. */
static bool lay_out(ShadowPlan *plan, const Span *spans, uint32_t granule, uint64_t blocks, uint64_t shared, Diag *diag)
{
    int64_t *header = plan->header;
    if (!granule)
        return true;
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

/* --- what is written ----------------------------------------------------------------------------------------------------- */

static size_t words_of_bits(uint64_t bytes) { return (size_t)((bytes + 63) / 64); }

/* Counts the arrays in the spans that are not written in full, and their words; with `fresh`, fills these. */
static uint32_t visit_fresh(const Span *spans, uint32_t span_count, size_t place, uint32_t total, int64_t *fresh,
                            size_t *words)
{
    uint32_t count = 0;
    RtPointer begin, end = 0;
    *words = (size_t)total * FRESH_WORDS;
    for (uint32_t i = 0; i < span_count; i++)
        for (RtPointer from = spans[i].begin > end ? spans[i].begin : end;
             from < spans[i].end && rt_next_unwritten(from, spans[i].end, &begin, &end); from = end, count++) {
            if (fresh && count < total) {
                int64_t *array = fresh + (size_t)count * FRESH_WORDS;
                array[FRESH_BEGIN] = (int64_t)begin;
                array[FRESH_END] = (int64_t)end;
                array[FRESH_BITS_AT] = (int64_t)(place + *words);
                rt_get_written_bits(begin, (uint64_t *)fresh + *words, words_of_bits(end - begin));
            }
            *words += words_of_bits(end - begin);
        }
    return count;
}

static void lay_out_shared_bits(ShadowPlan *plan, uint64_t blocks, uint64_t shared)
{
    uint64_t words = shared ? words_of_bits(shared + RESERVED_SHARED) : 0;
    uint64_t most = words ? MOST_SLAB_BYTES / (words * sizeof(int64_t)) : 0;
    plan->header[STATE_SHARED_WORDS] = (int64_t)words;
    plan->header[STATE_SHARED_BLOCKS] = (int64_t)(blocks < most ? blocks : most);
    plan->header[STATE_SHARED_AT] = (int64_t)plan->count;
    plan->count += words * (uint64_t)plan->header[STATE_SHARED_BLOCKS];
}

/* Another thread of the process may write one of them in full meanwhile: then there are less. */
static bool lay_out_bits(ShadowPlan *plan, const Span *spans, uint32_t span_count, Diag *diag)
{
    size_t words, used;
    uint32_t count = visit_fresh(spans, span_count, 0, 0, NULL, &words);
    words += (size_t)count * FRESH_WORDS;
    if (!(plan->fresh = memory_new((words + 1) * sizeof *plan->fresh, diag)))
        return false;
    uint32_t found = visit_fresh(spans, span_count, plan->count, count, plan->fresh, &used);
    plan->fresh_count = found < count ? found : count;
    plan->fresh_words = words;
    plan->header[STATE_FRESH] = plan->fresh_count;
    plan->header[STATE_FRESH_AT] = (int64_t)plan->count;
    plan->count += words;
    return true;
}

void shadow_plan_add_written(const ShadowPlan *plan)
{
    size_t first = (size_t)plan->header[STATE_FRESH_AT];
    for (uint32_t i = 0; i < plan->fresh_count; i++) {
        const int64_t *array = plan->fresh + (size_t)i * FRESH_WORDS;
        RtPointer begin = (RtPointer)array[FRESH_BEGIN], end = (RtPointer)array[FRESH_END];
        const int64_t *bits = plan->fresh + ((size_t)array[FRESH_BITS_AT] - first);
        if (array[FRESH_IS_TOUCHED])
            rt_note_all_written(begin);
        else
            rt_add_written_bits(begin, (const uint64_t *)bits, words_of_bits(end - begin));
    }
}

/* --- threads that wait ---------------------------------------------------------------------------------------------------- */

static void lay_out_meetings(ShadowPlan *plan, const RtLaunch *launch, bool ends)
{
    uint64_t words = MEETING_WAITS + (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    plan->header[STATE_MEETINGS_AT] = (int64_t)plan->count;
    plan->header[STATE_MEETING_WORDS] = (int64_t)words;
    plan->header[STATE_ENDS] = ends;
    plan->count += block_count(launch) * words;
}

/* --- all of it ------------------------------------------------------------------------------------------------------------ */

/* An error, where not all of it can be looked after. */
static bool has_room(const JitSpecialization *specialization, const ShadowPlan *plan, uint64_t blocks, Diag *diag)
{
    enum { MIB = 1 << 20 };
    size_t free_bytes, total_bytes, words = SIZE_MAX / sizeof(int64_t), needed = plan->count;
    if (specialization->granule && blocks > MOST_SHADOWED_BLOCKS)
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
    *plan = (ShadowPlan){.count = used, .is_made = true};
    if (!spans)
        return false;
    uint32_t count = collect(specialization, launch, spans);
    bool ok = !specialization->has_bits || lay_out_bits(plan, spans, count, diag);
    if (specialization->has_bits)
        lay_out_shared_bits(plan, block_count(launch), specialization->has_far_shared ? 0 : shared);
    if (specialization->has_meetings)
        lay_out_meetings(plan, launch, !specialization->has_grid_meetings);
    plan->range_count = specialization->granule ? keep_written(spans, count) : 0;
    ok = ok && lay_out(plan, spans, specialization->granule, block_count(launch), shared, diag) &&
         has_room(specialization, plan, block_count(launch), diag);
    memory_free(spans);
    if (!ok)
        shadow_plan_free(plan);
    return ok;
}

void shadow_plan_free(ShadowPlan *plan)
{
    memory_free(plan->ranges);
    memory_free(plan->fresh);
    plan->ranges = plan->fresh = NULL;
}
