/* Multiplication of matrices by four warps. Each warp has 16 of the 64 rows, and works them out when its lanes have met. Sums
 * stay aside until the thread waits for them: till then its accumulators are ones, not a number. */
#include "runtime/host/threads/host_tile.h"

#include <math.h>
#include <string.h>

#include "core/base/bfloat.h"
#include "core/base/memory.h"
#include "core/intrinsic/intrinsic.h"

__extension__ typedef _Float16 Half;

enum { ROWS = 16, DEPTH = 32, PIECE = 16, GROUP_ROWS = 8, FRAGMENT_BYTES = 16 };
#define NOT_A_NUMBER 0xffffffffu

/* --- elements --------------------------------------------------------------------------------------------------------------- */

/* Sign, exponent, fraction; the largest exponent of e5m2 is for infinity and NaN, of e4m3 only all ones are NaN. */
static double small_float(uint8_t bits, int fraction_bits)
{
    int exponent = bits >> fraction_bits & (fraction_bits == 3 ? 15 : 31), bias = fraction_bits == 3 ? 7 : 15;
    int fraction = bits & ((1 << fraction_bits) - 1);
    double sign = bits & 0x80 ? -1 : 1;
    if (fraction_bits == 3 && (bits & 0x7f) == 0x7f)
        return NAN;
    if (fraction_bits == 2 && exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

static double element(const uint8_t *at, uint32_t kind)
{
    Half half;
    uint16_t bits;
    uint32_t word;
    float single;
    switch (kind) {
    case WGMMA_KIND_F16: memcpy(&half, at, sizeof half); return (double)half;
    case WGMMA_KIND_BF16: memcpy(&bits, at, sizeof bits); return bfloat_value(bits);
    case WGMMA_KIND_TF32: /* the upper 19 bits */
        memcpy(&word, at, sizeof word);
        word &= 0xffffe000u;
        memcpy(&single, &word, sizeof single);
        return single;
    case WGMMA_KIND_E4M3: return small_float(*at, 3);
    case WGMMA_KIND_E5M2: return small_float(*at, 2);
    case WGMMA_KIND_S8: return *(const int8_t *)at;
    default: return *at;
    }
}

/* --- tiles in shared memory -------------------------------------------------------------------------------------------------- */

typedef struct Tile {
    const HostWorker *worker;
    const uint8_t *start;
    uint32_t step, swizzle, kind, size;
    bool is_transposed;
} Tile;

static const char *check_tile(const Tile *tile, uint32_t lines)
{
    uintptr_t offset = (uintptr_t)tile->start - (uintptr_t)tile->worker->shared;
    uint32_t rows = tile->is_transposed ? DEPTH / tile->size : lines;
    if (offset >= tile->worker->shared_size || offset + (size_t)rows * tile->swizzle > tile->worker->shared_size)
        return "a and b are in shared memory";
    if (offset / tile->swizzle % GROUP_ROWS)
        return "tiles of a and b begin at a row that is a multiple of 8";
    if (offset % tile->swizzle % (tile->is_transposed ? tile->swizzle : DEPTH))
        return tile->is_transposed ? "transposed, the last index is 0"
                                   : "tiles of a and b begin at a multiple of 32 bytes";
    return NULL;
}

/* Where the element in that line and that place along k lies. */
static const uint8_t *place_in_tile(const Tile *tile, uint32_t line, uint32_t k)
{
    uint32_t each = tile->swizzle / tile->size;
    size_t offset = tile->is_transposed ? (size_t)(line / each) * tile->step + (size_t)k * tile->swizzle +
                                              (size_t)(line % each) * tile->size
                                        : (size_t)line * tile->swizzle + (size_t)k * tile->size;
    uintptr_t bits = (uintptr_t)tile->start + offset;
    return (const uint8_t *)(bits ^ (bits >> 3 & type_swizzle_mask((uint8_t)tile->swizzle)));
}

static const char *gather_tile(const Tile *tile, uint32_t first, uint32_t lines, double *out)
{
    uint32_t depth = DEPTH / tile->size;
    for (uint32_t line = 0; line < lines; line++)
        for (uint32_t k = 0; k < depth; k++) {
            const uint8_t *at = place_in_tile(tile, first + line, k);
            if (!host_tile_sees(tile->worker, at, tile->size))
                return "shared memory was written, and no cuda.fence_proxy_async() has come since";
            out[line * depth + k] = element(at, tile->kind);
        }
    return NULL;
}

/* --- fragments: as the PTX ISA lays them out ---------------------------------------------------------------------------------- */

static const HostWgmma *call_of(const HostWarp *warp, int lane)
{
    return (const HostWgmma *)(uintptr_t)warp->fibers[lane]->wait.value;
}

static void gather_fragments(const HostWarp *warp, uint32_t kind, uint32_t size, double *a)
{
    uint32_t each = 4 / size, depth = DEPTH / size;
    for (uint32_t lane = 0; lane < HOST_WARP; lane++)
        for (uint32_t i = 0; i < 4 * each; i++) {
            uint32_t word = i / each, row = lane / 4 + GROUP_ROWS * (word % 2);
            uint32_t k = lane % 4 * each + i % each + 4 * each * (word / 2);
            a[row * depth + k] = element(call_of(warp, (int)lane)->a + (size_t)i * size, kind);
        }
}

/* --- accumulators -------------------------------------------------------------------------------------------------------------- */

static HostSums *sums_of(HostTileThread *thread, const void *c)
{
    HostSums *sums = thread->sums;
    while (sums && sums->c != c)
        sums = sums->next;
    return sums;
}

/* The sums that are under way for these accumulators; new ones are what the thread has there. */
static HostSums *need_sums(HostTileThread *thread, const HostWgmma *call, const char **wrong)
{
    HostSums *sums = sums_of(thread, call->c);
    uint32_t count = wgmma_sum_count(call->columns);
    if (call->c_bytes < count * sizeof *sums->words)
        *wrong = "c has fewer elements than its columns need";
    else if (sums && sums->count != count)
        *wrong = "the same accumulators have another number of columns";
    else if (!sums && !thread->is_fenced)
        *wrong = "accumulators were written or waited for, and no cuda.wgmma.fence() has come since";
    if (sums || *wrong)
        return sums;
    sums = memory_try(sizeof *sums);
    if (!sums) {
        *wrong = "memory is out";
        return NULL;
    }
    sums->c = call->c;
    sums->count = count;
    memcpy(sums->words, call->c, count * sizeof *sums->words);
    sums->next = thread->sums;
    thread->sums = sums;
    return sums;
}

static uint32_t sum(uint32_t word, bool is_whole, const double *a, const double *b, uint32_t depth, bool accumulates)
{
    float single = 0;
    int32_t whole = 0;
    double total = 0;
    if (accumulates && is_whole)
        total = (int32_t)word;
    else if (accumulates)
        total = (memcpy(&single, &word, sizeof single), single);
    for (uint32_t k = 0; k < depth; k++)
        total = fma(a[k], b[k], total);
    whole = (int32_t)(uint32_t)(int64_t)(is_whole ? total : 0);
    single = (float)total;
    memcpy(&word, is_whole ? (const void *)&whole : (const void *)&single, sizeof word);
    return word;
}

static const char *multiply_lane(HostFiber *fiber, const HostWgmma *call, const double *a, const double *b)
{
    const WgmmaKindInfo *kind = &wgmma_kinds[call->kind];
    const char *wrong = NULL;
    HostTileThread *thread = host_tile_thread(fiber);
    HostSums *sums = need_sums(thread, call, &wrong);
    uint32_t depth = wgmma_depth(kind), lane = (uint32_t)fiber->thread.lane;
    if (wrong)
        return wrong;
    for (uint32_t i = 0; i < sums->count; i++) {
        uint32_t row = lane / 4 + GROUP_ROWS * (i / 2 % 2), column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        sums->words[i] = sum(sums->words[i], kind->traits & WGMMA_WHOLE, a + row * depth, b + column * depth, depth,
                             call->accumulates);
    }
    sums->group = thread->groups;
    memset(call->c, 0xff, sums->count * sizeof *sums->words);
    return NULL;
}

const char *host_wgmma(const HostWarp *warp)
{
    double a[ROWS * DEPTH], *b;
    const HostWgmma *call = call_of(warp, 0);
    const HostThread *thread = &warp->fibers[0]->thread;
    uint32_t size = wgmma_kinds[call->kind].element->size,
             first = (uint32_t)thread->linear_thread / HOST_WARP % 4 * ROWS;
    const Tile of_a = {warp->fibers[0]->worker, call->a, call->a_step, call->a_swizzle, call->kind, size,
                       call->transposed & 1};
    const Tile of_b = {warp->fibers[0]->worker, call->b, call->b_step, call->b_swizzle, call->kind, size,
                       call->transposed & 2};
    const char *wrong = check_tile(&of_b, call->columns);
    if (!wrong && call->a_swizzle)
        wrong = check_tile(&of_a, WGMMA_ROWS);
    else if (!wrong && call->a_bytes < FRAGMENT_BYTES)
        wrong = "a has fewer elements than a fragment";
    b = wrong ? NULL : memory_try(sizeof *b * DEPTH * WGMMA_MOST_COLUMNS);
    if (!b)
        return wrong ? wrong : "memory is out";
    if (call->a_swizzle)
        wrong = gather_tile(&of_a, first, ROWS, a);
    else
        gather_fragments(warp, call->kind, size, a);
    if (!wrong)
        wrong = gather_tile(&of_b, 0, call->columns, b);
    for (int lane = 0; lane < HOST_WARP && !wrong; lane++)
        wrong = multiply_lane(warp->fibers[lane], call_of(warp, lane), a, b);
    memory_free(b);
    return wrong;
}

/* --- groups --------------------------------------------------------------------------------------------------------------------- */

/* Gives the thread the sums of groups before that one. */
static const char *finish(HostTileThread *thread, uint32_t end)
{
    const char *wrong = NULL;
    for (HostSums **each = &thread->sums; *each;) {
        HostSums *sums = *each;
        if (sums->group >= end) {
            each = &sums->next;
            continue;
        }
        for (uint32_t i = 0; i < sums->count; i++)
            if (((const uint32_t *)sums->c)[i] != NOT_A_NUMBER)
                wrong = "accumulators were written before a cuda.wgmma.wait() for them";
        memcpy(sums->c, sums->words, sums->count * sizeof *sums->words);
        thread->is_fenced = false;
        *each = sums->next;
        memory_free(sums);
    }
    return wrong;
}

const char *host_wgmma_order(HostFiber *fiber)
{
    HostTileThread *thread = host_tile_thread(fiber);
    uint32_t kept = fiber->wait.mask;
    switch (fiber->wait.operation) {
    case INTRINSIC_WGMMA_FENCE: thread->is_fenced = true; return NULL;
    case INTRINSIC_WGMMA_COMMIT: thread->groups++; return NULL;
    default: return finish(thread, thread->groups > kept ? thread->groups - kept : 0);
    }
}
