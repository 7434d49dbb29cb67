/* Which addresses can be read. */
#include "check.h"
#include "core/base/address.h"
#include "core_tests.h"

void test_address(void)
{
    char byte = 0;
    CHECK(address_is_readable((uintptr_t)&byte) && address_is_readable((uintptr_t)test_address));
    CHECK(!address_is_readable(0) && !address_is_readable(0x1234) && !address_is_readable(UINT64_MAX));
    CHECK(!address_is_readable((uint64_t)1 << 62));
}
