/* Numbers that look like chance, from the one of CUJIT_SCHEDULE. */
#include "runtime/host/machine/host_order.h"

#include <stdlib.h>

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

HostOrder host_order_begin(int64_t blocks)
{
    const char *text = getenv("CUJIT_SCHEDULE");
    if (!text || !*text)
        return (HostOrder){0};
    HostOrder order = {.is_on = true, .state = strtoull(text, NULL, 10), .blocks = blocks, .factor = 1};
    order.offset = (int64_t)(next(&order.state) % (uint64_t)blocks);
    for (int tries = 0; tries < 64 && order.factor == 1; tries++) {
        int64_t factor = (int64_t)(next(&order.state) % (uint64_t)blocks);
        if (factor > 0 && common_divisor(factor, blocks) == 1)
            order.factor = factor;
    }
    return order;
}

int64_t host_order_block(const HostOrder *order, int64_t block)
{
    if (!order->is_on)
        return block;
    return (int64_t)(((unsigned __int128)order->factor * (uint64_t)block + (uint64_t)order->offset) %
                     (uint64_t)order->blocks);
}

uint32_t host_order_draw(HostOrder *order, uint32_t limit) { return (uint32_t)(next(&order->state) % limit); }
