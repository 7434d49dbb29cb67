/* What lanes of a warp learn from each other when they meet, and threads of a block that vote: worked out from arrays of what
 * each one brings. host_warp.c has them meet one by one; kernels in parallel regions bring a whole block at once. */
#include "runtime/host/threads/host_exchange.h"

#include "core/intrinsic/intrinsic.h"

static uint32_t lowest_lane(uint32_t lanes) { return (uint32_t)__builtin_ctz(lanes); }

static uint32_t lanes_with_value(uint32_t lanes, const uint64_t *values, uint64_t value)
{
    uint32_t found = 0;
    for (uint32_t lane = 0; lane < HOST_WARP; lane++)
        found |= (uint32_t)(values[lane] == value) << lane;
    return found & lanes;
}

/* The lane that a shuffle reads; its own where there is no such lane in its segment, or where that one takes no part. */
static inline uint32_t shuffle_source(int32_t operation, uint32_t asked, uint32_t lane, uint32_t lanes)
{
    uint32_t place = asked & 31, segment = asked >> 8 & 31, source;
    uint32_t first = lane & segment, last = first | (31 & ~segment);
    switch (operation) {
    case INTRINSIC_CUDA_SHFL_UP_SYNC: source = lane >= first + place ? lane - place : lane; break;
    case INTRINSIC_CUDA_SHFL_DOWN_SYNC: source = lane + place <= last ? lane + place : lane; break;
    case INTRINSIC_CUDA_SHFL_XOR_SYNC: source = (lane ^ place) <= last ? lane ^ place : lane; break;
    default: source = first | (place & ~segment); break;
    }
    return lanes >> source & 1 ? source : lane;
}

/* One loop for each kind of shuffle: the kind is a constant in it. Lanes that take no part get anything. */
static inline __attribute__((always_inline)) void shuffle_by(int32_t operation, uint32_t lanes, const uint64_t *values,
                                                             const uint32_t *places, uint64_t *results)
{
    for (uint32_t lane = 0; lane < HOST_WARP; lane++)
        results[lane] = values[shuffle_source(operation, places[lane], lane, lanes)];
}

static void shuffle(int32_t operation, uint32_t lanes, const uint64_t *values, const uint32_t *places,
                    uint64_t *results)
{
    switch (operation) {
    case INTRINSIC_CUDA_SHFL_UP_SYNC: shuffle_by(INTRINSIC_CUDA_SHFL_UP_SYNC, lanes, values, places, results); break;
    case INTRINSIC_CUDA_SHFL_DOWN_SYNC:
        shuffle_by(INTRINSIC_CUDA_SHFL_DOWN_SYNC, lanes, values, places, results);
        break;
    case INTRINSIC_CUDA_SHFL_XOR_SYNC: shuffle_by(INTRINSIC_CUDA_SHFL_XOR_SYNC, lanes, values, places, results); break;
    default: shuffle_by(INTRINSIC_CUDA_SHFL_SYNC, lanes, values, places, results);
    }
}

/* Over the values of the lanes, as 64-bit integers that hold what the lanes have of either sign. */
static uint64_t reduction(int32_t operation, uint32_t lanes, const uint64_t *values)
{
    int64_t result = (int64_t)values[lowest_lane(lanes)];
    for (uint32_t left = lanes & (lanes - 1); left; left &= left - 1) {
        int64_t value = (int64_t)values[lowest_lane(left)];
        switch (operation) {
        case INTRINSIC_REDUX_ADD: result += value; break;
        case INTRINSIC_REDUX_MIN: result = value < result ? value : result; break;
        case INTRINSIC_REDUX_MAX: result = value > result ? value : result; break;
        case INTRINSIC_REDUX_AND: result &= value; break;
        case INTRINSIC_REDUX_OR: result |= value; break;
        default: result ^= value; break;
        }
    }
    return (uint64_t)result;
}

/* What all lanes learn alike. */
static uint64_t common_result(int32_t operation, uint32_t lanes, const uint64_t *values)
{
    if (intrinsic_info[operation].family == FAMILY_WARP_REDUCTION)
        return reduction(operation, lanes, values);
    bool is_match = operation == INTRINSIC_CUDA_MATCH_ALL_SYNC;
    uint32_t same = lanes_with_value(lanes, values, is_match ? values[lowest_lane(lanes)] : 1);
    switch (operation) {
    case INTRINSIC_CUDA_ALL_SYNC: return same == lanes;
    case INTRINSIC_CUDA_ANY_SYNC: return same != 0;
    case INTRINSIC_CUDA_EQ_SYNC: return same == lanes || !same;
    case INTRINSIC_CUDA_MATCH_ALL_SYNC: return same == lanes ? lanes : 0;
    default: return same;
    }
}

void host_meet_lanes(int32_t operation, uint32_t lanes, const uint64_t *values, const uint32_t *places,
                     uint64_t *results)
{
    if (operation == INTRINSIC_CUDA_SYNCWARP || !lanes)
        return;
    if (intrinsic_info[operation].family == FAMILY_SHUFFLE) {
        shuffle(operation, lanes, values, places, results);
        return;
    }
    uint64_t common = operation == INTRINSIC_CUDA_MATCH_ANY_SYNC ? 0 : common_result(operation, lanes, values);
    for (uint32_t lane = 0; lane < HOST_WARP; lane++)
        results[lane] =
            operation == INTRINSIC_CUDA_MATCH_ANY_SYNC ? lanes_with_value(lanes, values, values[lane]) : common;
}

uint64_t host_vote(int32_t operation, uint32_t count, uint32_t true_count)
{
    switch (operation) {
    case INTRINSIC_CUDA_SYNCTHREADS_AND: return true_count == count;
    case INTRINSIC_CUDA_SYNCTHREADS_OR: return true_count > 0;
    default: return true_count;
    }
}

static void vote(int32_t operation, uint32_t threads, const uint64_t *values, const uint8_t *going, uint64_t *results)
{
    uint32_t count = 0, true_count = 0;
    for (uint32_t i = 0; i < threads; i++) {
        bool takes_part = !going || going[i];
        count += takes_part;
        true_count += takes_part && values[i];
    }
    results[0] = host_vote(operation, count, true_count);
}

/* Values of lanes beyond the block's end are not read: a warp's arrays are whole. */
void host_exchange(int32_t operation, int32_t threads, const uint64_t *values, const uint8_t *going, uint64_t *results)
{
    if (intrinsic_info[operation].effects & EFFECT_BLOCK_SYNC) {
        vote(operation, (uint32_t)threads, values, going, results);
        return;
    }
    for (uint32_t first = 0; first < (uint32_t)threads; first += HOST_WARP) {
        uint32_t left = (uint32_t)threads - first, lanes = left < HOST_WARP ? (1u << left) - 1 : UINT32_MAX;
        for (uint32_t lane = 0; going && lane < HOST_WARP && lane < left; lane++)
            lanes &= ~((uint32_t)!going[first + lane] << lane);
        host_meet_lanes(operation, lanes, values + first, NULL, results + first);
    }
}
