/* The fake driver without one function that driver.def requires. */
#define cuMemAlloc_v2 withheld_mem_alloc
#include "fake_driver.c"
