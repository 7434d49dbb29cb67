/* A compiled kernel as bytes: every row comes back, and no part of the bytes is taken for the whole. */
#include "core/kernel/kernel_image.h"

#include <string.h>

#include "check.h"
#include "core/base/memory.h"
#include "core_tests.h"

static KernelImage sample(void)
{
    KernelImage image = {0};
    unsigned next = 1;
#define NUMBER(type, name) image.name = (type)next++;
#define BYTES(type, name, count)                           \
    image.count = next++;                                  \
    image.name = memory_alloc(image.count * sizeof(type)); \
    memset(image.name, 1, image.count * sizeof(type));
    KERNEL_IMAGE_FIELDS(NUMBER, BYTES)
#undef NUMBER
#undef BYTES
    return image;
}

void test_kernel_image(void)
{
    KernelImage image = sample(), read = {0};
    Buf text = {0};
    kernel_image_write(&text, &image);
    CHECK(kernel_image_read(text.text, text.length, &read));
#define NUMBER(type, name) CHECK(read.name == image.name && read.name != (type)0);
#define BYTES(type, name, count)                                                                   \
    CHECK(read.count == image.count && !memcmp(read.name, image.name, read.count * sizeof(type))); \
    CHECK(((const char *)read.name)[read.count * sizeof(type)] == 0);
    KERNEL_IMAGE_FIELDS(NUMBER, BYTES)
#undef NUMBER
#undef BYTES
    kernel_image_free(&read);
    for (size_t size = 0; size < text.length; size++)
        CHECK(!kernel_image_read(text.text, size, &read) && !read.name && !read.code && !read.written);
    buf_add(&text, "x");
    CHECK(!kernel_image_read(text.text, text.length, &read));
    buf_free(&text);
    kernel_image_free(&image);
}
