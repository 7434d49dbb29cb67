/* The least a C test needs: CHECK counts and says what failed; each room's executable has one CHECK_MAIN that runs its
 * groups, prints "N passed, N failed" and exits non-zero on failure. */
#ifndef CUJIT_TESTS_CHECK_H
#define CUJIT_TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern _Atomic int check_passed, check_failed; /* threads check, too */

static inline bool check_that(bool ok, const char *file, int line, const char *what)
{
    if (ok)
        check_passed++;
    else {
        check_failed++;
        fprintf(stderr, "%s:%d: %s\n", file, line, what);
    }
    return ok;
}

static inline bool check_text(const char *found, const char *expected, const char *file, int line)
{
    bool ok = found && !strcmp(found, expected);
    check_that(ok, file, line, "texts differ");
    if (!ok)
        fprintf(stderr, "--- found\n%s\n--- expected\n%s\n", found ? found : "(null)", expected);
    return ok;
}

#define CHECK(condition) check_that((condition), __FILE__, __LINE__, #condition)
#define CHECK_TEXT(found, expected) check_text((found), (expected), __FILE__, __LINE__)
#define CHECK_CONTAINS(found, part) check_that(strstr((found), (part)) != NULL, __FILE__, __LINE__, found)

#define CHECK_MAIN(...)                                               \
    _Atomic int check_passed, check_failed;                           \
    int main(void)                                                    \
    {                                                                 \
        void (*const groups[])(void) = {__VA_ARGS__};                 \
        for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) \
            groups[i]();                                              \
        printf("%d passed, %d failed\n", check_passed, check_failed); \
        return check_failed != 0;                                     \
    }

#endif
