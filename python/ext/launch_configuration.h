/* What stands in kernel[...]. */
#ifndef CUJIT_EXT_LAUNCH_CONFIGURATION_H
#define CUJIT_EXT_LAUNCH_CONFIGURATION_H

#include "ext/ext.h"

typedef struct ExtConfiguration {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    PyObject *stream;          /* as given; borrowed */
} ExtConfiguration;

/* Reads (grid, block[, stream[, shared]]). False with LaunchConfigurationError, or TypeError for what is no integer. */
bool ext_read_configuration(PyObject *tuple, ExtConfiguration *configuration);

#endif
