/* A folder of files that are written under another name and renamed, so that a reader sees a whole one or none. Every file
 * carries a hash of its content: what is damaged is not there. What is loaded runs as this user: folder and file must
 * belong to this user or root, and nobody else may write to them. */
#include "jit/cache/disk_cache.h"

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

/* Whether only this user and root can have written there. */
static bool is_trusted(const struct stat *status)
{
    return (status->st_uid == geteuid() || status->st_uid == 0) && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

static _Atomic int refusal; /* 0; 1 since a folder was refused; 2 since that was told */

bool disk_cache_tell_refusal(char *text, size_t size)
{
    char path[PATH_BYTES];
    int refused = 1;
    if (!atomic_compare_exchange_strong(&refusal, &refused, 2) || !find_folder(path))
        return false;
    snprintf(text, size,
             "compiled kernels are not kept on disk: %s belongs to another user, or others may write to it, and what "
             "they put there would run as you; make it yours alone (chmod go-w), or set CUJIT_CACHE_DIR to a folder "
             "that is",
             path);
    return true;
}

/* The folder, open to be read; -1 where there is none that can be trusted. */
static int open_folder(const char *path)
{
    struct stat status;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || (fstat(folder, &status) == 0 && is_trusted(&status)))
        return folder;
    close(folder);
    int nothing = 0;
    atomic_compare_exchange_strong(&refusal, &nothing, 1);
    errno = EACCES;
    return -1;
}

enum { NAME_BYTES = 64 };

static void name_of(const Hash *key, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%016" PRIx64 "%016" PRIx64 "%s", key->words[0], key->words[1], SUFFIX);
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

/* The bytes behind the header, if they are what was written for this key; NULL: for any. */
static uint8_t *read_content(int file, const Hash *key, size_t *size)
{
    Header header;
    if (!read_all(file, &header, sizeof header) || memcmp(header.magic, MAGIC, sizeof MAGIC) ||
        (key && memcmp(&header.key, key, sizeof *key)) || header.size > MOST_BYTES)
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

/* A file that is a link, a pipe or somebody else's is not there. */
static int open_file(int folder, const char *name, struct stat *status)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 || (fstat(file, status) == 0 && S_ISREG(status->st_mode) && is_trusted(status)))
        return file;
    close(file);
    return -1;
}

bool disk_cache_load(const Hash *key, KernelImage *image)
{
    struct stat status;
    size_t size;
    char path[PATH_BYTES], name[NAME_BYTES];
    int folder = find_folder(path) ? open_folder(path) : -1;
    if (folder < 0)
        return false;
    name_of(key, name);
    int file = open_file(folder, name, &status);
    close(folder);
    if (file < 0)
        return false;
    MemoryCleanup cleanup;
    memory_defer(&cleanup, close_file, &file);
    uint8_t *bytes = read_content(file, key, &size);
    bool ok = bytes && kernel_image_read(bytes, size, image);
    if (ok)
        touch(file, &status);
    memory_free(bytes);
    memory_end(&cleanup);
    return ok;
}

/* --- keeping the folder small ------------------------------------------------------------------------------------------------- */
typedef struct KeptFile {
    char *name;
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
static void note_file(KeptFiles *kept, int folder, const char *name)
{
    struct stat status;
    bool is_kernel = ends_with(name, SUFFIX), is_unfinished = ends_with(name, ".unfinished");
    if ((!is_kernel && !is_unfinished) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(status.st_mode))
        return;
    if (is_unfinished) {
        if (time(NULL) - status.st_mtime > STALE_SECONDS)
            unlinkat(folder, name, 0);
        return;
    }
    if (kept->count == kept->capacity) {
        size_t capacity = kept->capacity ? 2 * kept->capacity : 64;
        kept->files = memory_resize(kept->files, capacity * sizeof *kept->files);
        kept->capacity = capacity;
    }
    kept->files[kept->count++] =
        (KeptFile){.name = copy_of(name, strlen(name)), .size = (uint64_t)status.st_size, .used = status.st_mtim};
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

static void list_files(KeptFiles *kept, int folder)
{
    int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = listed < 0 ? NULL : fdopendir(listed);
    if (!listing && listed >= 0)
        close(listed);
    MemoryCleanup cleanup;
    memory_defer(&cleanup, close_folder, listing);
    for (struct dirent *each; listing && (each = readdir(listing));)
        note_file(kept, folder, each->d_name);
    memory_end(&cleanup);
}

static void free_files(KeptFiles *kept)
{
    for (size_t i = 0; i < kept->count; i++)
        memory_free(kept->files[i].name);
    memory_free(kept->files);
}

/* Where there is too much, removes the files of the longest ago until a quarter of the room is free. */
static void sweep(int folder)
{
    KeptFiles kept = {0};
    list_files(&kept, folder);
    uint64_t most = most_bytes();
    if (kept.size > most) {
        qsort(kept.files, kept.count, sizeof *kept.files, by_use);
        for (size_t i = 0; i < kept.count && kept.size > most - most / 4; i++) {
            unlinkat(folder, kept.files[i].name, 0);
            kept.size -= kept.files[i].size;
        }
    }
    free_files(&kept);
}

/* --- looking inside ------------------------------------------------------------------------------------------------------- */
bool disk_cache_folder(char *path, size_t size)
{
    char folder[PATH_BYTES];
    if (!disk_cache_is_on() || !find_folder(folder) || strlen(folder) >= size)
        return false;
    strcpy(path, folder);
    return true;
}

static void list_file(Buf *out, int folder, const KeptFile *kept)
{
    struct stat status;
    size_t size;
    int file = open_file(folder, kept->name, &status);
    if (file < 0)
        return;
    MemoryCleanup cleanup;
    memory_defer(&cleanup, close_file, &file);
    uint8_t *bytes = read_content(file, NULL, &size);
    KernelImage image = {0};
    if (bytes && kernel_image_read(bytes, size, &image))
        buf_printf(out, "%s\t%" PRIu64 "\t%lld\t%s\t%s\n", kept->name, kept->size, (long long)kept->used.tv_sec,
                   image.kind == TARGET_HOST ? "cpu" : "gpu", image.name);
    kernel_image_free(&image);
    memory_free(bytes);
    memory_end(&cleanup);
}

static bool list(void *data)
{
    Buf *out = data;
    char path[PATH_BYTES];
    int folder = disk_cache_is_on() && find_folder(path) ? open_folder(path) : -1;
    buf_add(out, "");
    if (folder < 0)
        return true;
    MemoryCleanup cleanup;
    memory_defer(&cleanup, close_file, &folder);
    KeptFiles kept = {0};
    list_files(&kept, folder);
    for (size_t i = 0; i < kept.count; i++)
        list_file(out, folder, &kept.files[i]);
    free_files(&kept);
    memory_end(&cleanup);
    return true;
}

char *disk_cache_list(Diag *diag)
{
    Buf out = {0};
    return memory_guard(list, &out, diag) ? out.text : NULL;
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
static bool write_file(int folder, const char *name, const Hash *key, const Buf *content)
{
    Header header = {.key = *key, .content = hash_bytes(content->text, content->length), .size = content->length};
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool ok = write_all(file, &header, sizeof header) && write_all(file, content->text, content->length);
    ok &= close(file) == 0;
    if (!ok)
        unlinkat(folder, name, 0);
    return ok;
}

/* Sweeps at a process's first file, and after an eighth of the room has been written. */
static void count_written(int folder, uint64_t bytes)
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

/* The folder, which is made where there is none; -1 where it cannot be used. */
static int folder_to_write(void)
{
    char path[PATH_BYTES];
    if (!find_folder(path))
        return -1;
    int folder = open_folder(path);
    if (folder < 0 && errno == ENOENT) {
        make_folder(path);
        folder = open_folder(path);
    }
    return folder;
}

static bool store(void *data)
{
    static _Atomic unsigned stores;
    const Hash *key = ((Storing *)data)->key;
    char name[NAME_BYTES], unfinished[NAME_BYTES + 64];
    int folder = folder_to_write();
    if (folder < 0)
        return false;
    MemoryCleanup cleanup;
    memory_defer(&cleanup, close_file, &folder);
    name_of(key, name);
    snprintf(unfinished, sizeof unfinished, "%s.%ld.%u.unfinished", name, (long)getpid(), atomic_fetch_add(&stores, 1));
    Buf content = {0};
    kernel_image_write(&content, ((Storing *)data)->image);
    bool ok = write_file(folder, unfinished, key, &content);
    if (ok && renameat(folder, unfinished, folder, name) == 0)
        count_written(folder, content.length);
    else if (ok)
        unlinkat(folder, unfinished, 0);
    buf_free(&content);
    memory_end(&cleanup);
    return ok;
}

void disk_cache_store(const Hash *key, const KernelImage *image)
{
    Storing storing = {key, image};
    Diag ignored = {.id = DIAG_NONE};
    memory_guard(store, &storing, &ignored);
}
