/* Where a thread is in the grid, and how large the grid is, in threads. */
#ifndef CUJIT_FRONTEND_GRID_PLACE_H
#define CUJIT_FRONTEND_GRID_PLACE_H

#include "frontend/engine.h"

/* blockIdx * blockDim + threadIdx along one axis. */
Operand lower_grid_place(Lower *l, uint32_t axis);
/* gridDim * blockDim along one axis. */
Operand lower_grid_extent(Lower *l, uint32_t axis);

#endif
