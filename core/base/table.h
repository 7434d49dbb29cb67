/* Hash table from byte strings to pointers. Keys are copied. Not thread-safe. */
#ifndef CUJIT_CORE_TABLE_H
#define CUJIT_CORE_TABLE_H

#include <stddef.h>

typedef struct Table Table;

Table *table_create(void);
void table_destroy(Table *table);
/* The value stored under the key, or NULL. */
void *table_get(const Table *table, const void *key, size_t size);
/* Stores a value (not NULL) under the key, replacing an older one. */
void table_set(Table *table, const void *key, size_t size, void *value);
size_t table_count(const Table *table);

#endif
