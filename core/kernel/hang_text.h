/* The message about a block whose threads wait for each other for ever, or for lanes that are not there. */
#ifndef CUJIT_CORE_HANG_TEXT_H
#define CUJIT_CORE_HANG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thread waits for. operation: an IntrinsicId; -1: it has returned. line: 0: not known. place: of map_shared, a rank. */
typedef struct HangWait {
    int32_t operation, line;
    uint32_t mask, place;
} HangWait;

typedef struct HangBlock {
    const char *kernel;
    const int32_t *index; /* 3 */
    const HangWait *waits; /* of each thread of the block; what a single thread waits for is said beside it */
    uint32_t first, end; /* of the threads in question */
} HangBlock;

/* Which threads wait for what. is_missed: at a barrier of the block, which those that have returned have missed. */
void hang_text(char *text, size_t size, const HangBlock *block, bool is_missed);
/* A thread calls an operation whose mask names lanes that have returned, or that the block does not have. */
void hang_text_absent(char *text, size_t size, const HangBlock *block, uint32_t thread, const HangWait *wait,
                      uint32_t lanes);
/* "kernel 'k': thread 3 of block (0, 0, 0) calls cuda.shfl_sync with mask 0x0000000f in line 7; " */
void hang_text_call(char *text, size_t size, const HangBlock *block, uint32_t thread, const HangWait *wait);

#endif
