/* Where threads of a launch leave what the first of them raised: memory that device and host both reach. Compiled code
 * writes the fields by their offsets, the host reads them once `state` is complete. */
#ifndef CUJIT_CORE_EXCEPTION_RECORD_H
#define CUJIT_CORE_EXCEPTION_RECORD_H

#include <stdint.h>

#include "core/type/type.h"

enum { EXCEPTION_SLOTS = 27 };

/* Values of ExceptionRecord.state: a thread takes an empty record, writes it, and completes it. */
enum { EXCEPTION_EMPTY = 0, EXCEPTION_TAKEN = 1, EXCEPTION_COMPLETE = 2 };

typedef struct ExceptionRecord {
    uint32_t state;
    uint32_t code;                     /* the number of the exception in its module */
    uint64_t tag;                      /* which module: what the launch gave */
    int32_t thread_index[3], block_index[3];
    uint64_t slots[EXCEPTION_SLOTS];   /* integers as int64 or uint64, floats as float64 */
} ExceptionRecord;

/* How many slots a scalar or a tuple of scalars takes. */
static inline uint32_t exception_slots(const Type *type)
{
    uint32_t count = type->kind == TYPE_COMPLEX ? 2 : type_is_scalar(type) ? 1 : 0;
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        count += exception_slots(type->items[i]);
    return count;
}

#endif
