/* What threads learn from each other when they meet (host_tensor.c: of matrices). */
#ifndef CUJIT_RUNTIME_HOST_EXCHANGE_H
#define CUJIT_RUNTIME_HOST_EXCHANGE_H

#include "runtime/host/threads/host_worker.h"

/* What the lanes learn that meet for this: operation an IntrinsicId. Arrays of HOST_WARP; results of other lanes mean nothing. */
void host_meet_lanes(int32_t operation, uint32_t lanes, const uint64_t *values, const uint32_t *places,
                     uint64_t *results);
/* What the threads of a block learn that vote. */
uint64_t host_vote(int32_t operation, uint32_t count, uint32_t true_count);
/* HostServices.exchange. */
void host_exchange(int32_t operation, int32_t threads, const uint64_t *values, const uint8_t *going, uint64_t *results);
/* Works out a matrix operation of lanes that have met for it; false when the operation is none. */
bool host_tensor_meet(const HostWarp *warp, int32_t operation, uint32_t lanes);

#endif
