/* Where threads of a launch leave what the first of them raised: memory that device and host both reach. Compiled code
 * writes the fields by their offsets, the host reads them once `state` is complete. */
#ifndef CUJIT_CORE_EXCEPTION_RECORD_H
#define CUJIT_CORE_EXCEPTION_RECORD_H

#include <stdint.h>

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

#endif
