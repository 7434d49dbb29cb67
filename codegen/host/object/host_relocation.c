/* The kinds of relocations that kernels have. LLVM makes few: code of one section that calls others and reads constants. */
#include "codegen/host/object/host_relocation.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { PARTS = 2 };

/* Bits of a value, and where they go. */
typedef struct Part {
    uint8_t from, bits, to;
} Part;

struct RelocationField {
    uint8_t bytes;
    uint8_t range; /* bits of a signed value; 0: those of the parts are taken from any */
    uint8_t page; /* so many lower bits are 0 in the target and in the place */
    Part parts[PARTS]; /* below the first one's bits a value is 0 */
};

static const RelocationField word_64 = {8, 64, 0, {{0, 64, 0}}}, word_32 = {4, 32, 0, {{0, 32, 0}}},
                             branch = {4, 28, 0, {{2, 26, 0}}}, page = {4, 33, 12, {{12, 2, 29}, {14, 19, 5}}},
                             in_page = {4, 0, 0, {{0, 12, 10}}}, in_page_by_2 = {4, 0, 0, {{1, 11, 10}}},
                             in_page_by_4 = {4, 0, 0, {{2, 10, 10}}}, in_page_by_8 = {4, 0, 0, {{3, 9, 10}}},
                             in_page_by_16 = {4, 0, 0, {{4, 8, 10}}};

static const Relocation relocations[] = {
    {EM_X86_64, R_X86_64_64, &word_64, false, GOAL_SYMBOL},
    {EM_X86_64, R_X86_64_PC64, &word_64, true, GOAL_SYMBOL},
    {EM_X86_64, R_X86_64_PC32, &word_32, true, GOAL_SYMBOL},
    {EM_X86_64, R_X86_64_PLT32, &word_32, true, GOAL_CALL},
    {EM_X86_64, R_X86_64_GOTPCREL, &word_32, true, GOAL_SLOT},
    {EM_X86_64, R_X86_64_GOTPCRELX, &word_32, true, GOAL_SLOT},
    {EM_X86_64, R_X86_64_REX_GOTPCRELX, &word_32, true, GOAL_SLOT},
    {EM_AARCH64, R_AARCH64_ABS64, &word_64, false, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_PREL64, &word_64, true, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_PREL32, &word_32, true, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_CALL26, &branch, true, GOAL_CALL},
    {EM_AARCH64, R_AARCH64_JUMP26, &branch, true, GOAL_CALL},
    {EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, &page, true, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_ADD_ABS_LO12_NC, &in_page, false, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_LDST8_ABS_LO12_NC, &in_page, false, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_LDST16_ABS_LO12_NC, &in_page_by_2, false, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_LDST32_ABS_LO12_NC, &in_page_by_4, false, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, &in_page_by_8, false, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, &in_page_by_16, false, GOAL_SYMBOL},
    {EM_AARCH64, R_AARCH64_ADR_GOT_PAGE, &page, true, GOAL_SLOT},
    {EM_AARCH64, R_AARCH64_LD64_GOT_LO12_NC, &in_page_by_8, false, GOAL_SLOT},
};

static uint64_t mask(uint8_t bits) { return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX; }

static uint64_t value_of(const Relocation *relocation, uint64_t place, uint64_t target)
{
    uint64_t kept = ~mask(relocation->field->page);
    return (target & kept) - (relocation->is_relative ? place & kept : 0);
}

const Relocation *host_relocation(uint16_t machine, uint32_t type)
{
    for (size_t i = 0; i < sizeof relocations / sizeof *relocations; i++)
        if (relocations[i].machine == machine && relocations[i].type == type)
            return &relocations[i];
    return NULL;
}

uint8_t host_relocation_bytes(const Relocation *relocation) { return relocation->field->bytes; }

bool host_relocation_reaches(const Relocation *relocation, uint64_t place, uint64_t target)
{
    const RelocationField *field = relocation->field;
    uint64_t value = value_of(relocation, place, target), half = (mask(field->range) >> 1) + 1;
    return (!field->range || value + half <= mask(field->range)) && !(value & mask(field->parts[0].from));
}

void host_relocation_write(const Relocation *relocation, uint8_t *bytes, uint64_t place, uint64_t target)
{
    const RelocationField *field = relocation->field;
    uint64_t value = value_of(relocation, place, target), word = 0;
    memcpy(&word, bytes, field->bytes);
    for (int i = 0; i < PARTS; i++) {
        const Part *part = &field->parts[i];
        word = (word & ~(mask(part->bits) << part->to)) | ((value >> part->from & mask(part->bits)) << part->to);
    }
    memcpy(bytes, &word, field->bytes);
}
