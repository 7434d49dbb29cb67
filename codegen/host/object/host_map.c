/* A linker for what objects of kernels consist of: code, constants, a few variables, and calls of functions outside. LLVM's
 * JIT, which links whatever there is, takes ten times as long, which is most of a launch whose kernel comes from disk. */
#define _GNU_SOURCE
#include "codegen/host/object/host_map.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/host/object/host_relocation.h"

#if defined __x86_64__
enum { MACHINE = EM_X86_64 };
static const uint8_t jump[8] = {0xff, 0x25, 2, 0, 0, 0, 0x0f, 0x0b}; /* jmp *2(%rip); ud2: to the address behind it */
#elif defined __aarch64__
enum { MACHINE = EM_AARCH64 };
static const uint8_t jump[8] = {0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6}; /* ldr x16, .+8; br x16 */
#else
enum { MACHINE = EM_NONE }; /* nothing is known of its code */
static const uint8_t jump[8];
#endif

/* --- where sections lie ------------------------------------------------------------------------------------------------- */
typedef enum Segment { CODE, CONSTANTS, VARIABLES, SEGMENTS } Segment;

static const int protection[SEGMENTS] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};

enum { SLOTS = 64, LARGEST = 1 << 26, LARGEST_ALIGNMENT = 4096 };

/* For a function outside that is far away: code that jumps to it, and its address. */
typedef struct Slot {
    uint8_t jump[sizeof jump];
    uint64_t address;
} Slot;

typedef struct Linking {
    const HostObject *object;
    HostMap *map;
    FindHostFunction find;
    const void *context;
    Elf64_Shdr symbols;
    size_t ends[SEGMENTS], begins[SEGMENTS]; /* in the memory */
    Slot *slots;
    uint32_t slot_count;
    uint64_t slot_symbols[SLOTS];
} Linking;

static bool is_in_memory(const Elf64_Shdr *section) { return section->sh_flags & SHF_ALLOC && section->sh_size; }

static bool is_known(const HostObject *object, const Elf64_Shdr *section)
{
    const uint64_t known = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS;
    uint64_t alignment = section->sh_addralign;
    bool is_there = section->sh_type == SHT_PROGBITS && section->sh_size <= object->size;
    return (is_there || section->sh_type == SHT_NOBITS) && !(section->sh_flags & ~known) &&
           !(section->sh_flags & SHF_WRITE && section->sh_flags & SHF_EXECINSTR) && section->sh_size < LARGEST &&
           alignment <= LARGEST_ALIGNMENT && !(alignment & (alignment - 1));
}

static Segment segment_of(const Elf64_Shdr *section)
{
    return section->sh_flags & SHF_EXECINSTR ? CODE : section->sh_flags & SHF_WRITE ? VARIABLES : CONSTANTS;
}

static size_t round_up(size_t size, size_t to) { return (size + to - 1) & ~(to - 1); }

/* In the order of their numbers, so that both calls agree. */
static size_t take_place(Linking *linking, const Elf64_Shdr *section)
{
    size_t *end = &linking->ends[segment_of(section)];
    size_t at = round_up(*end, section->sh_addralign ? section->sh_addralign : 1);
    *end = at + section->sh_size;
    return at;
}

static bool measure(Linking *linking)
{
    Elf64_Shdr section;
    bool has_symbols = false;
    linking->ends[CODE] = SLOTS * sizeof(Slot);
    for (uint32_t i = 0; host_object_section(linking->object, i, &section); i++) {
        if (section.sh_type == SHT_SYMTAB) {
            if (has_symbols)
                return false;
            linking->symbols = section;
            has_symbols = true;
        }
        if (!is_in_memory(&section))
            continue;
        if (!is_known(linking->object, &section))
            return false;
        take_place(linking, &section);
        if (linking->ends[segment_of(&section)] > LARGEST)
            return false;
    }
    return has_symbols;
}

static bool reserve(Linking *linking)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    HostMap *map = linking->map;
    for (int i = 0; i < SEGMENTS; i++) {
        linking->begins[i] = map->size;
        map->size += round_up(linking->ends[i], page);
        linking->ends[i] = linking->begins[i];
    }
    void *memory = mmap(NULL, map->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    map->memory = memory;
    linking->slots = memory;
    linking->ends[CODE] += SLOTS * sizeof(Slot);
    return true;
}

static bool copy_sections(Linking *linking)
{
    Elf64_Shdr section;
    for (uint32_t i = 0; host_object_section(linking->object, i, &section); i++) {
        if (!is_in_memory(&section))
            continue;
        uint8_t *at = linking->map->memory + take_place(linking, &section);
        linking->map->places[i] = at;
        if (section.sh_type != SHT_NOBITS && !host_object_read(linking->object, section.sh_offset, at, section.sh_size))
            return false;
    }
    return true;
}

/* --- what they say of each other ---------------------------------------------------------------------------------------- */
static bool address_of(const Linking *linking, uint64_t number, uint64_t *address)
{
    Elf64_Sym symbol;
    if (!host_object_symbol(linking->object, &linking->symbols, number, &symbol))
        return false;
    unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_TLS || type == STT_GNU_IFUNC)
        return false;
    if (symbol.st_shndx == SHN_UNDEF) {
        const char *name = host_object_name(linking->object, &linking->symbols, &symbol);
        *address = name ? (uint64_t)(uintptr_t)linking->find(linking->context, name) : 0;
        return *address != 0;
    }
    const uint8_t *section = symbol.st_shndx < HOST_MAP_SECTIONS ? linking->map->places[symbol.st_shndx] : NULL;
    *address = (uint64_t)(uintptr_t)section + symbol.st_value;
    return section != NULL;
}

/* NULL where there are more than are expected. */
static Slot *slot_of(Linking *linking, uint64_t symbol, uint64_t address)
{
    for (uint32_t i = 0; i < linking->slot_count; i++)
        if (linking->slot_symbols[i] == symbol)
            return &linking->slots[i];
    if (linking->slot_count == SLOTS)
        return NULL;
    Slot *slot = &linking->slots[linking->slot_count];
    linking->slot_symbols[linking->slot_count++] = symbol;
    memcpy(slot->jump, jump, sizeof jump);
    slot->address = address;
    return slot;
}

static bool relocate(Linking *linking, uint8_t *section, const Elf64_Shdr *target, const Elf64_Rela *entry)
{
    const Relocation *known = host_relocation(MACHINE, ELF64_R_TYPE(entry->r_info));
    uint64_t symbol = ELF64_R_SYM(entry->r_info), address, addend = (uint64_t)entry->r_addend;
    if (!known || entry->r_offset > target->sh_size ||
        target->sh_size - entry->r_offset < host_relocation_bytes(known) || !address_of(linking, symbol, &address))
        return false;
    uint8_t *at = section + entry->r_offset;
    uint64_t place = (uint64_t)(uintptr_t)at;
    if (known->goal == GOAL_SLOT ||
        (known->goal == GOAL_CALL && !host_relocation_reaches(known, place, address + addend))) {
        Slot *slot = slot_of(linking, symbol, address);
        if (!slot)
            return false;
        address = (uint64_t)(uintptr_t)(known->goal == GOAL_SLOT ? (void *)&slot->address : slot->jump);
    }
    host_relocation_write(known, at, place, address + addend);
    return host_relocation_reaches(known, place, address + addend);
}

static bool relocate_section(Linking *linking, const Elf64_Shdr *list)
{
    Elf64_Shdr target;
    Elf64_Rela entry;
    if (!host_object_section(linking->object, list->sh_info, &target))
        return false;
    if (!is_in_memory(&target))
        return true; /* of lines and the like */
    if (target.sh_type == SHT_NOBITS)
        return false;
    for (uint64_t i = 0; i < list->sh_size / sizeof entry; i++)
        if (!host_object_read(linking->object, list->sh_offset + i * sizeof entry, &entry, sizeof entry) ||
            !relocate(linking, linking->map->places[list->sh_info], &target, &entry))
            return false;
    return true;
}

static bool relocate_all(Linking *linking)
{
    Elf64_Shdr section;
    for (uint32_t i = 0; host_object_section(linking->object, i, &section); i++)
        if (section.sh_type == SHT_REL || (section.sh_type == SHT_RELA && !relocate_section(linking, &section)))
            return false;
    return true;
}

static bool protect(const Linking *linking)
{
    for (int i = 0; i < SEGMENTS; i++) {
        size_t end = i + 1 < SEGMENTS ? linking->begins[i + 1] : linking->map->size;
        if (end > linking->begins[i] &&
            mprotect(linking->map->memory + linking->begins[i], end - linking->begins[i], protection[i]))
            return false;
    }
    char *code = (char *)linking->map->memory;
    __builtin___clear_cache(code + linking->begins[CODE],
                            code + linking->begins[CODE + 1]); /* where data are not code */
    return true;
}

bool host_map_object(HostMap *map, const HostObject *object, FindHostFunction find, const void *context)
{
    const Elf64_Ehdr *header = &object->header;
    Linking linking = {.object = object, .map = map, .find = find, .context = context};
    *map = (HostMap){0};
    if (MACHINE == EM_NONE || header->e_machine != MACHINE || header->e_type != ET_REL ||
        header->e_shnum > HOST_MAP_SECTIONS || !measure(&linking))
        return false;
    if (reserve(&linking) && copy_sections(&linking) && relocate_all(&linking) && protect(&linking))
        return true;
    host_unmap(map);
    return false;
}

void host_unmap(HostMap *map)
{
    if (map->memory)
        munmap(map->memory, map->size);
    *map = (HostMap){0};
}
