/* Growable text: capacity doubles, one byte is kept for the NUL. */
#include "core/base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"

void buf_free(Buf *buf)
{
    memory_free(buf->text);
    *buf = (Buf){0};
}

static void buf_reserve(Buf *buf, size_t more)
{
    assert(!buf->capacity || buf->length < buf->capacity);
    size_t needed = buf->length + more + 1;
    if (needed <= buf->capacity)
        return;
    size_t capacity = buf->capacity ? buf->capacity * 2 : 128;
    if (capacity < needed)
        capacity = needed;
    buf->text = memory_resize(buf->text, capacity);
    buf->capacity = capacity;
}

void buf_add_bytes(Buf *buf, const void *bytes, size_t size)
{
    assert(bytes || !size);
    buf_reserve(buf, size);
    if (size)
        memcpy(buf->text + buf->length, bytes, size);
    buf->length += size;
    buf->text[buf->length] = '\0';
}

void buf_add(Buf *buf, const char *text) { buf_add_bytes(buf, text, strlen(text)); }

void buf_printf(Buf *buf, const char *format, ...)
{
    buf_reserve(buf, 64);
    size_t room = buf->capacity - buf->length;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(buf->text + buf->length, room, format, arguments);
    va_end(arguments);
    if (length < 0) {
        buf->text[buf->length] = '\0';
        return;
    }
    if ((size_t)length >= room) {
        buf_reserve(buf, (size_t)length);
        va_start(arguments, format);
        vsnprintf(buf->text + buf->length, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    buf->length += (size_t)length;
    assert(buf->length < buf->capacity && !buf->text[buf->length]);
}

const char *buf_text(const Buf *buf) { return buf->text ? buf->text : ""; }
