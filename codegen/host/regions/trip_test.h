/* The test of a loop that the threads of a block, or of a warp, have in common (common_loop.c): whether a thread has the trip,
 *
 *     threadIdx.x < bound - index       index: what the first thread has */
#ifndef CUJIT_CODEGEN_TRIP_TEST_H
#define CUJIT_CODEGEN_TRIP_TEST_H

#include "core/ir/ir_graph.h"

enum { OF_LANES = -1 }; /* in place of an axis: the place is one in a warp */

typedef struct TripTest {
    const IrValue *left; /* bound - index */
    int axis;
} TripTest;

/* Whether the value compares a thread's place with what is left of a range. */
bool read_trip_test(const IrValue *value, TripTest *out);
/* The block of the loop that asks for the trip, where threads take nothing from one trip to the next; else NULL. */
IrBlock *asks_for_trip(const IrLoop *loop);

#endif
