/* Reads as much of an object file as the runtime has to know of code that it has linked: where all of it is. The file is
 * LLVM's, or comes from the disk cache: nothing in it is taken for true. */
#include "codegen/host/object/host_object.h"

#include <elf.h>
#include <string.h>

typedef struct Object {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr header;
} Object;

static bool read_at(const Object *object, uint64_t at, void *out, size_t size)
{
    if (at > object->size || object->size - at < size)
        return false;
    memcpy(out, object->bytes + at, size);
    return true;
}

static bool read_section(const Object *object, uint32_t number, Elf64_Shdr *section)
{
    return number < object->header.e_shnum &&
           read_at(object, object->header.e_shoff + (uint64_t)number * sizeof *section, section, sizeof *section);
}

static bool is_called(const Object *object, const Elf64_Shdr *names, const Elf64_Sym *symbol, const char *name)
{
    size_t length = strlen(name) + 1;
    return symbol->st_name < names->sh_size && names->sh_offset < object->size &&
           object->size - names->sh_offset > symbol->st_name &&
           object->size - names->sh_offset - symbol->st_name >= length &&
           !memcmp(object->bytes + names->sh_offset + symbol->st_name, name, length);
}

static bool find_symbol(const Object *object, const Elf64_Shdr *table, const char *name, Elf64_Sym *symbol)
{
    Elf64_Shdr names;
    if (!read_section(object, table->sh_link, &names))
        return false;
    for (uint64_t i = 0; i < table->sh_size / sizeof *symbol; i++)
        if (read_at(object, table->sh_offset + i * sizeof *symbol, symbol, sizeof *symbol) &&
            is_called(object, &names, symbol, name))
            return true;
    return false;
}

bool host_object_text(const void *bytes, size_t size, const char *name, uint64_t *offset, size_t *section_size)
{
    Object object = {.bytes = bytes, .size = size};
    Elf64_Shdr section;
    Elf64_Sym symbol;
    if (!read_at(&object, 0, &object.header, sizeof object.header) ||
        memcmp(object.header.e_ident, ELFMAG, SELFMAG) != 0 || object.header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    for (uint32_t i = 0; read_section(&object, i, &section); i++) {
        if (section.sh_type != SHT_SYMTAB || !find_symbol(&object, &section, name, &symbol))
            continue;
        if (!read_section(&object, symbol.st_shndx, &section) || symbol.st_value > section.sh_size)
            return false;
        *offset = symbol.st_value;
        *section_size = section.sh_size;
        return true;
    }
    return false;
}
