/* What an object file says of itself. */
#ifndef CUJIT_CODEGEN_HOST_OBJECT_H
#define CUJIT_CODEGEN_HOST_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The section that a symbol of an ELF object is in: its size, and how far in it the symbol lies. False where the object is
 * no ELF object of this machine's width, or has no such symbol. */
bool host_object_text(const void *object, size_t size, const char *symbol, uint64_t *offset, size_t *section_size);

#endif
