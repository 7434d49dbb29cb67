/* Launches whose blocks wait for each other. */
#ifndef CUJIT_RUNTIME_HOST_GRID_H
#define CUJIT_RUNTIME_HOST_GRID_H

#include "runtime/host/threads/host_worker.h"

/* Runs a cooperative launch: all blocks in turns on the calling thread, each as far as the next barrier of the grid. */
bool host_grid_run(HostJob *job, Diag *diag);
/* Runs the clusters one after the other on the calling thread, the blocks of each in turns. */
bool host_clusters_run(HostJob *job, Diag *diag);

#endif
