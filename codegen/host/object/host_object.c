/* Reads headers, sections and symbols of an ELF object, within its bytes. */
#include "codegen/host/object/host_object.h"

#include <string.h>

bool host_object_read(const HostObject *object, uint64_t at, void *out, size_t size)
{
    if (at > object->size || object->size - at < size)
        return false;
    memcpy(out, object->bytes + at, size);
    return true;
}

bool host_object_open(HostObject *object, const void *bytes, size_t size)
{
    *object = (HostObject){.bytes = bytes, .size = size};
    return host_object_read(object, 0, &object->header, sizeof object->header) &&
           !memcmp(object->header.e_ident, ELFMAG, SELFMAG) && object->header.e_ident[EI_CLASS] == ELFCLASS64;
}

bool host_object_section(const HostObject *object, uint32_t number, Elf64_Shdr *section)
{
    return number < object->header.e_shnum &&
           host_object_read(object, object->header.e_shoff + (uint64_t)number * sizeof *section, section,
                            sizeof *section);
}

bool host_object_symbol(const HostObject *object, const Elf64_Shdr *table, uint64_t number, Elf64_Sym *symbol)
{
    return number < table->sh_size / sizeof *symbol &&
           host_object_read(object, table->sh_offset + number * sizeof *symbol, symbol, sizeof *symbol);
}

const char *host_object_name(const HostObject *object, const Elf64_Shdr *table, const Elf64_Sym *symbol)
{
    Elf64_Shdr names;
    if (!host_object_section(object, table->sh_link, &names) || symbol->st_name >= names.sh_size ||
        names.sh_offset > object->size || object->size - names.sh_offset < names.sh_size)
        return NULL;
    const char *name = (const char *)object->bytes + names.sh_offset + symbol->st_name;
    return memchr(name, 0, names.sh_size - symbol->st_name) ? name : NULL;
}

static bool find_in(const HostObject *object, const Elf64_Shdr *table, const char *name, Elf64_Sym *symbol)
{
    for (uint64_t i = 0; host_object_symbol(object, table, i, symbol); i++) {
        const char *each = host_object_name(object, table, symbol);
        if (each && !strcmp(each, name))
            return true;
    }
    return false;
}

bool host_object_find(const HostObject *object, const char *name, Elf64_Sym *symbol, Elf64_Shdr *section)
{
    for (uint32_t i = 0; host_object_section(object, i, section); i++)
        if (section->sh_type == SHT_SYMTAB && find_in(object, section, name, symbol))
            return host_object_section(object, symbol->st_shndx, section) && symbol->st_value <= section->sh_size;
    return false;
}
