/* CUJIT_SCHEDULE: another order of blocks and threads, the same one for the same number. */
#ifndef CUJIT_RUNTIME_HOST_ORDER_H
#define CUJIT_RUNTIME_HOST_ORDER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct HostOrder {
    bool is_on; /* else all is as it comes */
    uint64_t state; /* of the numbers that are drawn */
    int64_t blocks, factor, offset; /* block i is the (factor * i + offset)-th, modulo `blocks` */
} HostOrder;

/* The order of a launch of so many blocks, by the environment's number; off where it has none. */
HostOrder host_order_begin(int64_t blocks);
int64_t host_order_block(const HostOrder *order, int64_t block);
/* A number below the limit. */
uint32_t host_order_draw(HostOrder *order, uint32_t limit);

#endif
