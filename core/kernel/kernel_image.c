/* A compiled kernel as bytes: all numbers, all sizes, then what has these sizes. */
#include "core/kernel/kernel_image.h"

#include <string.h>

#include "core/base/memory.h"

#define NOTHING(...)

void kernel_image_free(KernelImage *image)
{
#define BYTES(type, name, count) memory_free(image->name);
    KERNEL_IMAGE_FIELDS(NOTHING, BYTES)
#undef BYTES
    memory_free(image->llvm);
    *image = (KernelImage){0};
}

static void write_number(Buf *out, uint64_t number) { buf_add_bytes(out, &number, sizeof number); }

void kernel_image_write(Buf *out, const KernelImage *image)
{
#define NUMBER(type, name) write_number(out, (uint64_t)image->name);
#define BYTES(type, name, count) write_number(out, image->count);
    KERNEL_IMAGE_FIELDS(NUMBER, BYTES)
#undef NUMBER
#undef BYTES
#define BYTES(type, name, count) buf_add_bytes(out, image->name, image->count * sizeof(type));
    KERNEL_IMAGE_FIELDS(NOTHING, BYTES)
#undef BYTES
}

typedef struct Reader {
    const char *at;
    size_t left;
    bool ok;
} Reader;

static const void *take(Reader *reader, size_t size)
{
    const char *taken = reader->at;
    reader->ok &= size <= reader->left;
    if (!reader->ok)
        return NULL;
    reader->at += size;
    reader->left -= size;
    return taken;
}

static uint64_t read_number(Reader *reader)
{
    uint64_t number = 0;
    const void *bytes = take(reader, sizeof number);
    if (bytes)
        memcpy(&number, bytes, sizeof number);
    return number;
}

static void *read_bytes(Reader *reader, size_t size)
{
    const void *bytes = take(reader, size);
    if (!bytes)
        return NULL;
    char *copy = memory_alloc(size + 1);
    memcpy(copy, bytes, size);
    copy[size] = 0;
    return copy;
}

bool kernel_image_read(const void *bytes, size_t size, KernelImage *image)
{
    Reader reader = {bytes, size, true};
#define NUMBER(type, name) image->name = (type)read_number(&reader);
#define BYTES(type, name, count) image->count = read_number(&reader);
    KERNEL_IMAGE_FIELDS(NUMBER, BYTES)
#undef NUMBER
#undef BYTES
#define BYTES(type, name, count) image->name = read_bytes(&reader, image->count * sizeof(type));
    KERNEL_IMAGE_FIELDS(NOTHING, BYTES)
#undef BYTES
    if (reader.ok && !reader.left)
        return true;
    kernel_image_free(image);
    return false;
}
