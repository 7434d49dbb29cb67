/* Regions whose additions of floats are made behind their loop over threads. */
#ifndef CUJIT_CODEGEN_LATE_ADDITIONS_H
#define CUJIT_CODEGEN_LATE_ADDITIONS_H

#include "codegen/host/regions/loop_places.h"

/* Marks regions whose atomics are additions of floats and the last that threads do. Behind choose_tested_regions(). Returns the bytes
 * that a thread keeps for them; 0: there are none. */
uint32_t choose_late_additions(Regions *regions, const LoopPlaces *places, Arena *arena);
/* Whether at most one region has such additions: those of a thread then follow each other as they would where threads run one by
 * one. A loop around threads has none. */
bool adds_in_order_of_threads(const Regions *regions);

#endif
