/* Memory that nothing has written: that of a launch's own (shared and local arrays), and arrays of the device. */
#ifndef CUJIT_RUNTIME_INITIALIZED_H
#define CUJIT_RUNTIME_INITIALIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct UnwrittenPage UnwrittenPage;

/* A launch's own. Zeroed, it is empty: all counts as written. */
typedef struct Unwritten {
    UnwrittenPage **pages; /* open addressing */
    size_t count, capacity;
} Unwritten;

/* False without memory. */
bool unwritten_begin(Unwritten *unwritten, uint64_t address, uint64_t size);
void unwritten_write(Unwritten *unwritten, uint64_t address, uint64_t size);
bool unwritten_has(const Unwritten *unwritten, uint64_t address, uint64_t size);
void unwritten_free(Unwritten *unwritten);

/* Arrays of devices, of the whole process: no two devices have an address in common. Nothing is noted before
 * rt_tracks_writes(): what there is then counts as written, and so does what is not from host_allocate(). Where there is no
 * memory for notes, arrays count as written. */
void host_track_writes(void);
void host_note_allocation(uint64_t address, size_t size);
void host_note_release(uint64_t address);
void host_note_written(uint64_t address, uint64_t size);
/* All of the array in which the address lies: who writes it is not seen. */
void host_note_all_written(uint64_t address);
bool host_has_unwritten(uint64_t address, uint64_t size);

/* The first array in [from, to) that is not written in full: where it begins and ends. False: there is none. */
bool host_next_unwritten(uint64_t from, uint64_t to, uint64_t *begin, uint64_t *end);
/* A bit for each byte of the array that begins there, 1: it is written. What a GPU has written is added to that. */
void host_get_written_bits(uint64_t begin, uint64_t *words, size_t count);
void host_add_written_bits(uint64_t begin, const uint64_t *words, size_t count);

#endif
