/* What is known of memory while a kernel runs, found by address: a cell for each element, or for each byte where accesses
 * of several sizes meet. */
#ifndef CUJIT_RUNTIME_SHADOW_H
#define CUJIT_RUNTIME_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads of a warp that have accessed the cell alike: in the same epoch, with the same clock. mask 0: all threads of
 * `blocks` blocks from this one on, of which no single one is remembered. */
typedef struct Group {
    uint64_t block;
    uint64_t value; /* of a write: the bits in the cell */
    uint32_t first; /* thread: lane 0 of the warp */
    uint32_t mask, clock, epoch, site;
    uint32_t blocks;
    uint8_t kind; /* WatchKind */
    bool has_value;
} Group;

typedef struct Cell {
    Group one; /* while there is no more */
    Group *groups;
    uint32_t count, capacity;
    uint32_t kinds; /* a bit for each kind of access that there is, or was */
} Cell;

typedef struct ShadowPage ShadowPage;

/* Zeroed, it is empty. */
typedef struct Shadow {
    ShadowPage **pages; /* open addressing */
    size_t count, capacity;
} Shadow;

/* The cells of [address, address + size), which lies in one page: *count of them, of *step bytes each. NULL without memory. */
Cell *shadow_cells(Shadow *shadow, uint64_t address, uint32_t size, uint32_t *count, uint32_t *step);
/* The bytes from address on that lie in its page. */
uint32_t shadow_bytes_in_page(uint64_t address);
/* The cells of these bytes know nothing any more. */
void shadow_forget(Shadow *shadow, uint64_t address, uint64_t size);
void shadow_clear(Shadow *shadow);

static inline Group *cell_groups(Cell *cell) { return cell->groups ? cell->groups : &cell->one; }
/* A copy of the group at the end. False without memory. */
bool cell_add(Cell *cell, const Group *group);
void cell_clear(Cell *cell);

#endif
