/* Growable text, always NUL-terminated. buf_free() releases it, or memory_free() the text. */
#ifndef CUJIT_CORE_BUF_H
#define CUJIT_CORE_BUF_H

#include <stdarg.h>
#include <stddef.h>

typedef struct Buf {
    char *text;      /* NULL until something is added */
    size_t length;   /* without the NUL */
    size_t capacity;
} Buf;

void buf_free(Buf *buf);
void buf_add(Buf *buf, const char *text);
void buf_add_bytes(Buf *buf, const void *bytes, size_t size);
void buf_printf(Buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text, "" when nothing was added. Borrowed: lives until the next change. */
const char *buf_text(const Buf *buf);

#endif
