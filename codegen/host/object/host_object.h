/* What an object file says of itself. The file is LLVM's, or comes from the disk cache: nothing in it is taken for true. */
#ifndef CUJIT_CODEGEN_HOST_OBJECT_H
#define CUJIT_CODEGEN_HOST_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HostObject {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr header;
} HostObject;

/* False where it is no ELF object of this machine's width. */
bool host_object_open(HostObject *object, const void *bytes, size_t size);
/* False where these bytes are not all there. */
bool host_object_read(const HostObject *object, uint64_t at, void *out, size_t size);
bool host_object_section(const HostObject *object, uint32_t number, Elf64_Shdr *section);
/* Of the table of symbols that the section is. */
bool host_object_symbol(const HostObject *object, const Elf64_Shdr *table, uint64_t number, Elf64_Sym *symbol);
/* NULL where there is none that ends. */
const char *host_object_name(const HostObject *object, const Elf64_Shdr *table, const Elf64_Sym *symbol);
/* The first symbol of that name, and the section that it is in. */
bool host_object_find(const HostObject *object, const char *name, Elf64_Sym *symbol, Elf64_Shdr *section);

#endif
