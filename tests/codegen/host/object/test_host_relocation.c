/* Instructions and words before and after, as an assembler writes them: of every processor, on any. */
#include <elf.h>
#include <string.h>

#include "codegen/host/object/host_relocation.h"
#include "codegen_tests.h"

static const struct Case {
    uint16_t machine;
    uint32_t type;
    uint64_t place, target;
    bool reaches;
    uint64_t before, after;
} cases[] = {
    {EM_X86_64, R_X86_64_64, 0x1000, 0x123456789abc, true, 0, 0x123456789abc},
    {EM_X86_64, R_X86_64_PC64, 0x2000, 0x1000, true, 0, (uint64_t)-0x1000},
    {EM_X86_64, R_X86_64_PC32, 0x2000, 0x1000, true, 0, 0xfffff000},
    {EM_X86_64, R_X86_64_PC32, 0x1000, 0x80000fff, true, 0, 0x7fffffff},
    {EM_X86_64, R_X86_64_PLT32, 0x1000, 0x80001000, false, 0, 0},
    {EM_X86_64, R_X86_64_GOTPCREL, 0x100000000, 0x7fffffff, false, 0, 0},
    {EM_X86_64, R_X86_64_REX_GOTPCRELX, 0x100000000, 0x80000000, true, 0, 0x80000000},
    {EM_AARCH64, R_AARCH64_ABS64, 0x1000, 0x123456789abc, true, 0, 0x123456789abc},
    {EM_AARCH64, R_AARCH64_PREL64, 0x2000, 0x1000, true, 0, (uint64_t)-0x1000},
    {EM_AARCH64, R_AARCH64_PREL32, 0x2000, 0x1000, true, 0, 0xfffff000},
    {EM_AARCH64, R_AARCH64_PREL32, 0, 0x80000000, false, 0, 0},
    {EM_AARCH64, R_AARCH64_CALL26, 0x1000, 0x2000, true, 0x94000000, 0x94000400},         /* bl .+0x1000 */
    {EM_AARCH64, R_AARCH64_CALL26, 0x2000, 0x1ffc, true, 0x94000000, 0x97ffffff},         /* bl .-4 */
    {EM_AARCH64, R_AARCH64_JUMP26, 0x1000, 0x8000ffc, true, 0x14000000, 0x15ffffff},      /* b .+0x7fffffc */
    {EM_AARCH64, R_AARCH64_JUMP26, 0x1000, 0x8001000, false, 0, 0},                       /* 128 MiB */
    {EM_AARCH64, R_AARCH64_CALL26, 0x9000000, 0x1000000, true, 0x94000000, 0x96000000},   /* 128 MiB back */
    {EM_AARCH64, R_AARCH64_CALL26, 0x1000, 0x2002, false, 0, 0},                          /* between instructions */
    {EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, 0x10123, 0x45678, true, 0x90000000, 0xb00001a0}, /* adrp x0, 0x35 pages */
    {EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, 0x10123, 0xf678, true, 0x90000001, 0xf0ffffe1}, /* adrp x1, -1 page */
    {EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, 0x1fff, 0x100001000, false, 0, 0}, /* 4 GiB */
    {EM_AARCH64, R_AARCH64_ADR_GOT_PAGE, 0x10000, 0x11fff, true, 0x90000010, 0xb0000010},
    {EM_AARCH64, R_AARCH64_ADD_ABS_LO12_NC, 0, 0x45678, true, 0x91000000, 0x9119e000}, /* add x0, x0, #0x678 */
    {EM_AARCH64, R_AARCH64_LDST8_ABS_LO12_NC, 0, 0x45679, true, 0x39400000, 0x3959e400}, /* ldrb w0, [x0, #0x679] */
    {EM_AARCH64, R_AARCH64_LDST16_ABS_LO12_NC, 0, 0x45678, true, 0x79400000, 0x794cf000}, /* ldrh w0, [x0, #0x678] */
    {EM_AARCH64, R_AARCH64_LDST32_ABS_LO12_NC, 0, 0x45678, true, 0xb9400000, 0xb9467800}, /* ldr w0, [x0, #0x678] */
    {EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, 0, 0x45678, true, 0xf9400000, 0xf9433c00}, /* ldr x0, [x0, #0x678] */
    {EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, 0, 0x4567c, false, 0, 0},
    {EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, 0, 0x45670, true, 0x3dc00000, 0x3dc19c00}, /* ldr q0, [x0, #0x670] */
    {EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, 0, 0x45678, false, 0, 0},
    {EM_AARCH64, R_AARCH64_LD64_GOT_LO12_NC, 0, 0x45678, true, 0xf9400210, 0xf9433e10}, /* ldr x16, [x16, #0x678] */
};

static void check_case(const struct Case *each)
{
    const Relocation *known = host_relocation(each->machine, each->type);
    if (!CHECK(known && host_relocation_reaches(known, each->place, each->target) == each->reaches) || !each->reaches)
        return;
    uint8_t bytes[9];
    uint8_t size = host_relocation_bytes(known);
    uint64_t after = 0;
    memcpy(bytes, &each->before, 8);
    bytes[size] = 0x5a;
    host_relocation_write(known, bytes, each->place, each->target);
    memcpy(&after, bytes, size);
    CHECK(after == each->after);
    CHECK(bytes[size] == 0x5a);
}

void test_host_relocation(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
    CHECK(!host_relocation(EM_X86_64, R_X86_64_TPOFF64));
    CHECK(!host_relocation(EM_AARCH64, R_X86_64_64));
    CHECK(!host_relocation(EM_NONE, 0));
}
