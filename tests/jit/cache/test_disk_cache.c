/* Files of the disk cache: what is stored comes back whole or not at all, and the folder stays small. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "jit/cache/disk_cache.h"
#include "jit_tests.h"

static char folder[] = "/tmp/cujit-test-XXXXXX";

static const char *path_of(uint64_t number)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%016" PRIx64 "%016" PRIx64 ".kernel", folder, number, (uint64_t)7);
    return path;
}

static Hash key_of(uint64_t number) { return (Hash){{number, 7}}; }

static void store(uint64_t number, const char *code, size_t size)
{
    bool written[] = {true, false, true};
    Hash key = key_of(number);
    KernelImage image = {.kind = TARGET_NVPTX,
                         .name = "saxpy",
                         .name_size = 5,
                         .code = (char *)code,
                         .code_size = size,
                         .effects = 5,
                         .static_shared = 96,
                         .local_size = 8,
                         .max_registers = 40,
                         .parameter_count = 3,
                         .written = written};
    disk_cache_store(&key, &image);
}

static bool comes_back(uint64_t number, const char *code, size_t size)
{
    KernelImage image = {0};
    Hash key = key_of(number);
    if (!disk_cache_load(&key, &image))
        return false;
    bool ok = image.kind == TARGET_NVPTX && !strcmp(image.name, "saxpy") && image.code_size == size &&
              !memcmp(image.code, code, size) && image.code[size] == 0 && image.effects == 5 &&
              image.static_shared == 96 && image.local_size == 8 && image.max_registers == 40 &&
              image.parameter_count == 3 && image.written[0] && !image.written[1] && image.written[2];
    kernel_image_free(&image);
    return CHECK(ok);
}

static uint64_t bytes_in_folder(int *count)
{
    uint64_t bytes = 0;
    DIR *listing = opendir(folder);
    *count = 0;
    for (struct dirent *each; (each = readdir(listing));) {
        char path[512];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", folder, each->d_name);
        if (each->d_name[0] != '.' && !stat(path, &status)) {
            bytes += (uint64_t)status.st_size;
            ++*count;
        }
    }
    closedir(listing);
    return bytes;
}

static void check_damage(void)
{
    static const char code[] = "code with\0a zero";
    store(1, code, sizeof code);
    CHECK(comes_back(1, code, sizeof code));
    CHECK(!comes_back(2, code, sizeof code));
    struct stat status;
    CHECK(stat(path_of(1), &status) == 0);
    for (long place = 0; place < status.st_size; place++) {
        FILE *file = fopen(path_of(1), "r+");
        fseek(file, place, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, place, SEEK_SET);
        fputc(byte ^ 0x10, file);
        fclose(file);
        CHECK(!comes_back(1, code, sizeof code));
        store(1, code, sizeof code);
        CHECK(comes_back(1, code, sizeof code));
        CHECK(truncate(path_of(1), place) == 0);
        CHECK(!comes_back(1, code, sizeof code));
        store(1, code, sizeof code);
    }
}

static void check_size(void)
{
    static char code[100000];
    int count;
    setenv("CUJIT_CACHE_MEGABYTES", "1", 1);
    for (uint64_t number = 100; number < 160; number++)
        store(number, code, sizeof code);
    uint64_t bytes = bytes_in_folder(&count);
    CHECK(bytes < (1 << 20) + (1 << 18) + 2 * sizeof code && count > 3);
    CHECK(comes_back(159, code, sizeof code));
    CHECK(!comes_back(100, code, sizeof code));
    unsetenv("CUJIT_CACHE_MEGABYTES");
}

static void check_settings(void)
{
    static const char code[] = "x";
    setenv("CUJIT_CACHE", "0", 1);
    CHECK(!disk_cache_is_on());
    unsetenv("CUJIT_CACHE");
    CHECK(disk_cache_is_on());
    setenv("CUJIT_CACHE_DIR", "/dev/null/cujit", 1);
    store(3, code, sizeof code);
    CHECK(!comes_back(3, code, sizeof code));
    unsetenv("CUJIT_CACHE_DIR");
    setenv("XDG_CACHE_HOME", folder, 1);
    char below[256];
    store(4, code, sizeof code);
    CHECK(comes_back(4, code, sizeof code));
    snprintf(below, sizeof below, "rm -rf %s/cujit", folder);
    CHECK(system(below) == 0 && !comes_back(4, code, sizeof code));
    unsetenv("XDG_CACHE_HOME");
}

void test_disk_cache(void)
{
    if (!CHECK(mkdtemp(folder)))
        return;
    setenv("CUJIT_CACHE_DIR", folder, 1);
    check_damage();
    check_size();
    check_settings();
    char remove_all[256];
    snprintf(remove_all, sizeof remove_all, "rm -rf %s", folder);
    CHECK(system(remove_all) == 0);
    setenv("CUJIT_CACHE", "0", 1); /* the other tests compile */
}
