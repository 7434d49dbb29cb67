/* Addresses that others name, before anything is read there. */
#ifndef CUJIT_CORE_ADDRESS_H
#define CUJIT_CORE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this process can read the byte there, as it cannot in a GPU's memory; true where that cannot be known. */
bool address_is_readable(uint64_t address);

#endif
