/* A bit for each byte that is not written: by pages for a launch's own memory, by arrays for the device's. */
#include "runtime/host/check/initialized.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/memory.h"
#include "runtime/runtime.h"

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, FIRST_CAPACITY = 64 };

/* --- bits ------------------------------------------------------------------------------------------------------------- */

static void set_bits(uint8_t *bits, uint64_t first, uint64_t count, bool to)
{
    for (; count && first % 8; first++, count--)
        bits[first / 8] = (uint8_t)(to ? bits[first / 8] | 1 << first % 8 : bits[first / 8] & ~(1 << first % 8));
    memset(bits + first / 8, to ? 255 : 0, count / 8);
    for (first += count / 8 * 8, count %= 8; count; first++, count--)
        bits[first / 8] = (uint8_t)(to ? bits[first / 8] | 1 << first % 8 : bits[first / 8] & ~(1 << first % 8));
}

static bool any_bit(const uint8_t *bits, uint64_t first, uint64_t count)
{
    for (; count; first++, count--)
        if (bits[first / 8] >> first % 8 & 1)
            return true;
    return false;
}

/* --- a launch's own ----------------------------------------------------------------------------------------------------- */

struct UnwrittenPage {
    uint64_t number;
    uint8_t bits[PAGE_BYTES / 8];
};

static size_t place_of(const Unwritten *unwritten, uint64_t number)
{
    size_t place = (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (unwritten->capacity - 1);
    while (unwritten->pages[place] && unwritten->pages[place]->number != number)
        place = (place + 1) & (unwritten->capacity - 1);
    return place;
}

static bool grow(Unwritten *unwritten)
{
    Unwritten larger = {.count = unwritten->count,
                        .capacity = unwritten->capacity ? 2 * unwritten->capacity : FIRST_CAPACITY};
    larger.pages = memory_try(larger.capacity * sizeof *larger.pages);
    if (!larger.pages)
        return false;
    for (size_t i = 0; i < unwritten->capacity; i++)
        if (unwritten->pages[i])
            larger.pages[place_of(&larger, unwritten->pages[i]->number)] = unwritten->pages[i];
    memory_free(unwritten->pages);
    *unwritten = larger;
    return true;
}

static UnwrittenPage *find_page(const Unwritten *unwritten, uint64_t number)
{
    return unwritten->capacity ? unwritten->pages[place_of(unwritten, number)] : NULL;
}

static UnwrittenPage *make_page(Unwritten *unwritten, uint64_t number)
{
    UnwrittenPage *page = find_page(unwritten, number);
    if (page || (3 * (unwritten->count + 1) > 2 * unwritten->capacity && !grow(unwritten)))
        return page;
    page = memory_try(sizeof *page);
    if (!page)
        return NULL;
    page->number = number;
    unwritten->pages[place_of(unwritten, number)] = page;
    unwritten->count++;
    return page;
}

/* The bytes of the range in the page of its first one. */
static uint64_t part_in_page(uint64_t address, uint64_t end)
{
    uint64_t left = PAGE_BYTES - address % PAGE_BYTES;
    return left < end - address ? left : end - address;
}

bool unwritten_begin(Unwritten *unwritten, uint64_t address, uint64_t size)
{
    uint64_t part;
    for (uint64_t end = address + size; address < end; address += part) {
        UnwrittenPage *page = make_page(unwritten, address >> PAGE_BITS);
        if (!page)
            return false;
        part = part_in_page(address, end);
        set_bits(page->bits, address % PAGE_BYTES, part, true);
    }
    return true;
}

void unwritten_write(Unwritten *unwritten, uint64_t address, uint64_t size)
{
    uint64_t part;
    for (uint64_t end = address + size; address < end; address += part) {
        UnwrittenPage *page = find_page(unwritten, address >> PAGE_BITS);
        part = part_in_page(address, end);
        if (page)
            set_bits(page->bits, address % PAGE_BYTES, part, false);
    }
}

bool unwritten_has(const Unwritten *unwritten, uint64_t address, uint64_t size)
{
    uint64_t part;
    for (uint64_t end = address + size; address < end; address += part) {
        const UnwrittenPage *page = find_page(unwritten, address >> PAGE_BITS);
        part = part_in_page(address, end);
        if (page && any_bit(page->bits, address % PAGE_BYTES, part))
            return true;
    }
    return false;
}

void unwritten_free(Unwritten *unwritten)
{
    for (size_t i = 0; i < unwritten->capacity; i++)
        memory_free(unwritten->pages[i]);
    memory_free(unwritten->pages);
    *unwritten = (Unwritten){0};
}

/* --- arrays of devices ----------------------------------------------------------------------------------------------- */

typedef struct DeviceArray {
    uint64_t address, size;
    uint8_t *bits; /* NULL: nothing is written */
} DeviceArray;

static struct {
    pthread_mutex_t lock;
    DeviceArray *arrays; /* by address; those that are not written in full */
    size_t count, capacity;
} device = {.lock = PTHREAD_MUTEX_INITIALIZER};
_Atomic bool rt_write_tracking;

void host_track_writes(void) { atomic_store(&rt_write_tracking, true); }

/* The first array that ends behind the address. */
static size_t find_locked(uint64_t address)
{
    size_t low = 0, high = device.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (device.arrays[middle].address + device.arrays[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The array that has the address; NULL: it counts as written. */
static DeviceArray *array_locked(uint64_t address)
{
    size_t place = find_locked(address);
    return place < device.count && device.arrays[place].address <= address ? &device.arrays[place] : NULL;
}

static void remove_locked(DeviceArray *array)
{
    memory_free(array->bits);
    device.count--;
    memmove(array, array + 1, (size_t)(device.arrays + device.count - array) * sizeof *array);
}

static bool make_room_locked(void)
{
    if (device.count < device.capacity)
        return true;
    size_t capacity = device.capacity ? 2 * device.capacity : FIRST_CAPACITY;
    DeviceArray *arrays = memory_try(capacity * sizeof *arrays);
    if (!arrays)
        return false;
    if (device.count)
        memcpy(arrays, device.arrays, device.count * sizeof *arrays);
    memory_free(device.arrays);
    device.arrays = arrays;
    device.capacity = capacity;
    return true;
}

void host_note_allocation(uint64_t address, size_t size)
{
    if (!rt_tracks_writes() || !size)
        return;
    pthread_mutex_lock(&device.lock);
    if (make_room_locked()) {
        size_t place = find_locked(address);
        memmove(device.arrays + place + 1, device.arrays + place, (device.count - place) * sizeof *device.arrays);
        device.arrays[place] = (DeviceArray){.address = address, .size = size};
        device.count++;
    }
    pthread_mutex_unlock(&device.lock);
}

void host_note_all_written(uint64_t address)
{
    if (!rt_tracks_writes())
        return;
    pthread_mutex_lock(&device.lock);
    DeviceArray *array = array_locked(address);
    if (array)
        remove_locked(array);
    pthread_mutex_unlock(&device.lock);
}

void host_note_release(uint64_t address) { host_note_all_written(address); }

void host_note_written(uint64_t address, uint64_t size)
{
    if (!rt_tracks_writes() || !size)
        return;
    pthread_mutex_lock(&device.lock);
    DeviceArray *array = array_locked(address);
    uint64_t first = array ? address - array->address : 0;
    bool is_all = array && first == 0 && size >= array->size;
    if (array && !is_all && !array->bits) {
        array->bits = memory_try(array->size / 8 + 1);
        if (array->bits)
            set_bits(array->bits, 0, array->size, true);
        is_all = !array->bits;
    }
    if (is_all)
        remove_locked(array);
    else if (array)
        set_bits(array->bits, first, size < array->size - first ? size : array->size - first, false);
    pthread_mutex_unlock(&device.lock);
}

bool host_has_unwritten(uint64_t address, uint64_t size)
{
    if (!rt_tracks_writes())
        return false;
    pthread_mutex_lock(&device.lock);
    const DeviceArray *array = array_locked(address);
    uint64_t first = array ? address - array->address : 0;
    bool has =
        array && (!array->bits || any_bit(array->bits, first, size < array->size - first ? size : array->size - first));
    pthread_mutex_unlock(&device.lock);
    return has;
}

/* --- as bits ------------------------------------------------------------------------------------------------------------ */

bool host_next_unwritten(uint64_t from, uint64_t to, uint64_t *begin, uint64_t *end)
{
    pthread_mutex_lock(&device.lock);
    size_t place = rt_tracks_writes() ? find_locked(from) : device.count;
    bool has = place < device.count && device.arrays[place].address < to;
    if (has) {
        *begin = device.arrays[place].address;
        *end = *begin + device.arrays[place].size;
    }
    pthread_mutex_unlock(&device.lock);
    return has;
}

/* NULL: it is gone, or written by now. */
static DeviceArray *array_that_begins_locked(uint64_t begin)
{
    DeviceArray *array = array_locked(begin);
    return array && array->address == begin ? array : NULL;
}

void host_get_written_bits(uint64_t begin, uint64_t *words, size_t count)
{
    pthread_mutex_lock(&device.lock);
    const DeviceArray *array = array_that_begins_locked(begin);
    uint64_t size = array ? array->size : 0;
    for (size_t i = 0; i < count; i++)
        words[i] = array ? 0 : UINT64_MAX;
    for (uint64_t i = 0; array && array->bits && i < (size + 7) / 8 && i / 8 < count; i++)
        ((uint8_t *)words)[i] = (uint8_t)~array->bits[i]; /* the host's order of bytes is the GPU's */
    pthread_mutex_unlock(&device.lock);
}

void host_add_written_bits(uint64_t begin, const uint64_t *words, size_t count)
{
    pthread_mutex_lock(&device.lock);
    DeviceArray *array = array_that_begins_locked(begin);
    uint64_t size = array ? array->size : 0;
    uint8_t is_left = 0;
    bool is_told = false;
    for (size_t i = 0; array && i < count; i++)
        is_told |= words[i] != 0;
    if (is_told && !array->bits && (array->bits = memory_try(size / 8 + 1)))
        set_bits(array->bits, 0, size, true);
    for (uint64_t i = 0; is_told && array->bits && i < (size + 7) / 8 && i / 8 < count; i++)
        is_left |= array->bits[i] = (uint8_t)(array->bits[i] & ~((const uint8_t *)words)[i]);
    if (is_told && !is_left)
        remove_locked(array);
    pthread_mutex_unlock(&device.lock);
}
