/* Objects of the CPU device in memory, where they can run. */
#ifndef CUJIT_CODEGEN_HOST_MAP_H
#define CUJIT_CODEGEN_HOST_MAP_H

#include "codegen/host/object/host_object.h"

typedef void (*HostFunction)(void);
/* NULL where there is none of that name. */
typedef HostFunction (*FindHostFunction)(const void *context, const char *name);

enum { HOST_MAP_SECTIONS = 64 };

typedef struct HostMap {
    uint8_t *memory;
    size_t size;
    uint8_t *places[HOST_MAP_SECTIONS]; /* of sections; NULL: not in memory */
} HostMap;

/* False, with nothing kept, where there is anything in the object that the tables here do not know, or a function that is
 * not found: that is for LLVM's JIT, and for its messages. */
bool host_map_object(HostMap *map, const HostObject *object, FindHostFunction find, const void *context);
void host_unmap(HostMap *map);

#endif
