/* What stands in kernel[...]. */
#ifndef CUJIT_EXT_LAUNCH_CONFIGURATION_H
#define CUJIT_EXT_LAUNCH_CONFIGURATION_H

#include <stdbool.h>

#include "ext/py.h"

typedef struct ExtConfiguration {
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0: none given */
    uint32_t dynamic_shared;
    PyObject *stream;          /* as given; borrowed */
} ExtConfiguration;

/* Reads (grid, block[, stream[, shared[, cluster]]]). False with LaunchConfigurationError, or TypeError for what is no integer. */
bool ext_read_configuration(PyObject *tuple, ExtConfiguration *configuration);

#endif
