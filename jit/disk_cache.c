/* A folder of files that are written under another name and renamed, so that a reader sees a whole one or none. Every file
 * carries a hash of its content: what is damaged is not there. */
#include "jit/disk_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/memory.h"

static const char MAGIC[8] = "CUJIT 2";
static const char SUFFIX[] = ".kernel";
static const uint64_t DEFAULT_MEGABYTES = 512;

enum { PATH_BYTES = 4096, MOST_BYTES = 1 << 30, STALE_SECONDS = 3600 };

typedef struct Header {
    char magic[8];
    Hash key, content;
    uint64_t size; /* of what follows */
} Header;

/* --- the folder ----------------------------------------------------------------------------------------------------------- */
static bool join(char *path, const char *folder, const char *name)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return length > 0 && length < PATH_BYTES;
}

static bool find_folder(char *path)
{
    const char *chosen = getenv("CUJIT_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (chosen && *chosen) {
        int length = snprintf(path, PATH_BYTES, "%s", chosen);
        return length < PATH_BYTES;
    }
    if (cache && *cache == '/')
        return join(path, cache, "cujit");
    return home && *home == '/' && join(path, home, ".cache/cujit");
}

bool disk_cache_is_on(void)
{
    char folder[PATH_BYTES];
    const char *wish = getenv("CUJIT_CACHE");
    return !(wish && !strcmp(wish, "0")) && find_folder(folder);
}

/* Makes the folder and those above it. */
static void make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

static bool path_of(const Hash *key, char *folder, char *path)
{
    char name[64];
    snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64 "%s", key->words[0], key->words[1], SUFFIX);
    return find_folder(folder) && join(path, folder, name);
}

/* --- reading ---------------------------------------------------------------------------------------------------------------- */
static bool read_all(int file, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = read(file, (char *)bytes + done, size - done);
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

/* The bytes behind the header, if they are what was written for this key. */
static uint8_t *read_content(int file, const Hash *key, size_t *size)
{
    Header header;
    if (!read_all(file, &header, sizeof header) || memcmp(header.magic, MAGIC, sizeof MAGIC) ||
        memcmp(&header.key, key, sizeof *key) || header.size > MOST_BYTES)
        return NULL;
    uint8_t *bytes = memory_alloc(header.size);
    *size = header.size;
    if (read_all(file, bytes, header.size)) {
        Hash content = hash_bytes(bytes, header.size);
        if (!memcmp(&content, &header.content, sizeof content))
            return bytes;
    }
    memory_free(bytes);
    return NULL;
}

static void *copy_of(const void *bytes, size_t size)
{
    char *copy = memory_alloc(size + 1);
    memcpy(copy, bytes, size);
    copy[size] = 0;
    return copy;
}

/* Says that the file was used now, but not at every use. */
static void touch(int file, const struct stat *status)
{
    if (time(NULL) - status->st_mtime > STALE_SECONDS)
        futimens(file, NULL);
}

static void close_file(void *file) { close(*(int *)file); }

bool disk_cache_load(const Hash *key, KernelImage *image)
{
    char folder[PATH_BYTES], path[PATH_BYTES];
    struct stat status;
    size_t size;
    int file = path_of(key, folder, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return false;
    MemoryCleanup cleanup;
    memory_defer(&cleanup, close_file, &file);
    uint8_t *bytes = fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? read_content(file, key, &size) : NULL;
    bool ok = bytes && kernel_image_read(bytes, size, image);
    if (ok)
        touch(file, &status);
    memory_free(bytes);
    memory_end(&cleanup);
    return ok;
}

/* --- keeping the folder small ------------------------------------------------------------------------------------------------- */
typedef struct KeptFile {
    char *path;
    uint64_t size;
    struct timespec used;
} KeptFile;

typedef struct KeptFiles {
    KeptFile *files;
    size_t count, capacity;
    uint64_t size;
} KeptFiles;

static uint64_t most_bytes(void)
{
    const char *text = getenv("CUJIT_CACHE_MEGABYTES");
    char *end = NULL;
    unsigned long long megabytes = text && *text ? strtoull(text, &end, 10) : DEFAULT_MEGABYTES;
    return (end && *end ? DEFAULT_MEGABYTES : megabytes) << 20;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && !strcmp(text + length - wanted, end);
}

/* Notes a kernel; removes what a process that was killed did not finish. */
static void note_file(KeptFiles *kept, const char *folder, const char *name)
{
    char path[PATH_BYTES];
    struct stat status;
    bool is_kernel = ends_with(name, SUFFIX), is_unfinished = ends_with(name, ".unfinished");
    if ((!is_kernel && !is_unfinished) || !join(path, folder, name) || lstat(path, &status) || !S_ISREG(status.st_mode))
        return;
    if (is_unfinished) {
        if (time(NULL) - status.st_mtime > STALE_SECONDS)
            unlink(path);
        return;
    }
    if (kept->count == kept->capacity) {
        size_t capacity = kept->capacity ? 2 * kept->capacity : 64;
        kept->files = memory_resize(kept->files, capacity * sizeof *kept->files);
        kept->capacity = capacity;
    }
    kept->files[kept->count++] =
        (KeptFile){.path = copy_of(path, strlen(path)), .size = (uint64_t)status.st_size, .used = status.st_mtim};
    kept->size += (uint64_t)status.st_size;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *first = &((const KeptFile *)a)->used, *second = &((const KeptFile *)b)->used;
    if (first->tv_sec != second->tv_sec)
        return first->tv_sec < second->tv_sec ? -1 : 1;
    return (first->tv_nsec > second->tv_nsec) - (first->tv_nsec < second->tv_nsec);
}

static void close_folder(void *listing)
{
    if (listing)
        closedir(listing);
}

/* Where there is too much, removes the files of the longest ago until a quarter of the room is free. */
static void sweep(const char *folder)
{
    KeptFiles kept = {0};
    DIR *listing = opendir(folder);
    MemoryCleanup cleanup;
    memory_defer(&cleanup, close_folder, listing);
    for (struct dirent *each; listing && (each = readdir(listing));)
        note_file(&kept, folder, each->d_name);
    memory_end(&cleanup);
    uint64_t most = most_bytes();
    if (kept.size > most) {
        qsort(kept.files, kept.count, sizeof *kept.files, by_use);
        for (size_t i = 0; i < kept.count && kept.size > most - most / 4; i++) {
            unlink(kept.files[i].path);
            kept.size -= kept.files[i].size;
        }
    }
    for (size_t i = 0; i < kept.count; i++)
        memory_free(kept.files[i].path);
    memory_free(kept.files);
}

/* --- writing -------------------------------------------------------------------------------------------------------------------- */
static bool write_all(int file, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = write(file, (const char *)bytes + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

/* A new file; none is left where something fails. */
static bool write_file(const char *path, const Hash *key, const Buf *content)
{
    Header header = {.key = *key, .content = hash_bytes(content->text, content->length), .size = content->length};
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool ok = write_all(file, &header, sizeof header) && write_all(file, content->text, content->length);
    ok &= close(file) == 0;
    if (!ok)
        unlink(path);
    return ok;
}

/* Sweeps at a process's first file, and after an eighth of the room has been written. */
static void count_written(const char *folder, uint64_t bytes)
{
    static _Atomic uint64_t written = UINT64_MAX / 2;
    if (atomic_fetch_add(&written, bytes) + bytes <= most_bytes() / 8)
        return;
    atomic_store(&written, 0);
    sweep(folder);
}

typedef struct Storing {
    const Hash *key;
    const KernelImage *image;
} Storing;

static bool store(void *data)
{
    static _Atomic unsigned stores;
    const Hash *key = ((Storing *)data)->key;
    char folder[PATH_BYTES], path[PATH_BYTES], unfinished[PATH_BYTES + 64];
    if (!path_of(key, folder, path))
        return false;
    snprintf(unfinished, sizeof unfinished, "%s.%ld.%u.unfinished", path, (long)getpid(), atomic_fetch_add(&stores, 1));
    Buf content = {0};
    kernel_image_write(&content, ((Storing *)data)->image);
    bool ok = write_file(unfinished, key, &content);
    if (!ok && errno == ENOENT) {
        make_folder(folder);
        ok = write_file(unfinished, key, &content);
    }
    if (ok && rename(unfinished, path) == 0)
        count_written(folder, content.length);
    else if (ok)
        unlink(unfinished);
    buf_free(&content);
    return ok;
}

void disk_cache_store(const Hash *key, const KernelImage *image)
{
    Storing storing = {key, image};
    Diag ignored = {.id = DIAG_NONE};
    memory_guard(store, &storing, &ignored);
}
