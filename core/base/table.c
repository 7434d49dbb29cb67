/* Entries lie in order of insertion; an open-addressed index of entry numbers finds them by hash. Nothing is ever
 * removed, so that the index needs no tombstones. */
#include "core/base/table.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "core/base/memory.h"

typedef struct Entry {
    uint64_t hash;
    size_t size;
    void *key;
    void *value;
} Entry;

struct Table {
    Entry *entries;
    size_t count, capacity;
    uint32_t *index;      /* entry number + 1; 0: free */
    size_t index_size;    /* a power of two, at least twice the entries */
};

static uint64_t hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

Table *table_create(void)
{
    Table *table = memory_alloc(sizeof *table);
    *table = (Table){0};
    return table;
}

void table_destroy(Table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++)
        memory_free(table->entries[i].key);
    memory_free(table->entries);
    memory_free(table->index);
    memory_free(table);
}

/* The index slot that holds the key, or the free one where it belongs. */
static size_t find_slot(const Table *table, uint64_t hash, const void *key, size_t size)
{
    size_t mask = table->index_size - 1;
    assert(table->index_size && !(table->index_size & mask)); /* else the search might not end */
    assert(table->count * 2 <= table->index_size);
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        if (!table->index[slot])
            return slot;
        const Entry *entry = &table->entries[table->index[slot] - 1];
        if (entry->hash == hash && entry->size == size && (!size || !memcmp(entry->key, key, size)))
            return slot;
    }
}

static void grow_entries(Table *table)
{
    if (table->count < table->capacity)
        return;
    size_t capacity = table->capacity ? table->capacity * 2 : 8;
    table->entries = memory_resize_part(table, table->entries, capacity * sizeof *table->entries);
    table->capacity = capacity;
}

static void grow_index(Table *table)
{
    if (table->index && (table->count + 1) * 2 <= table->index_size)
        return;
    size_t index_size = table->index_size ? table->index_size * 2 : 16;
    table->index = memory_resize_part(table, table->index, index_size * sizeof *table->index);
    table->index_size = index_size;
    memset(table->index, 0, table->index_size * sizeof *table->index);
    for (size_t i = 0; i < table->count; i++) {
        const Entry *entry = &table->entries[i];
        table->index[find_slot(table, entry->hash, entry->key, entry->size)] = (uint32_t)i + 1;
    }
}

void *table_get(const Table *table, const void *key, size_t size)
{
    if (!table->count)
        return NULL;
    uint32_t number = table->index[find_slot(table, hash_bytes(key, size), key, size)];
    assert(number <= table->count);
    return number ? table->entries[number - 1].value : NULL;
}

void table_set(Table *table, const void *key, size_t size, void *value)
{
    grow_index(table);
    uint64_t hash = hash_bytes(key, size);
    size_t slot = find_slot(table, hash, key, size);
    if (table->index[slot]) {
        table->entries[table->index[slot] - 1].value = value;
        return;
    }
    grow_entries(table);
    assert(table->count < table->capacity);
    void *copy = memory_resize_part(table, NULL, size);
    if (size)
        memcpy(copy, key, size);
    table->entries[table->count++] = (Entry){.hash = hash, .size = size, .key = copy, .value = value};
    table->index[slot] = (uint32_t)table->count;
}

size_t table_count(const Table *table) { return table->count; }
