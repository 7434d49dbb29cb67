/* print on the CPU device: the whole text of one call in one write to the process's standard output, as a GPU's driver
 * does it, so that lines of different threads do not mix. */
#include "runtime/host/threads/host_thread.h"
#include "runtime/host/threads/host_interrupt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/ir/print_format.h"
#include "core/base/memory.h"

enum { LONGEST_DIRECTIVE = 64 };

/* Literal text: "%%" is one percent sign. */
static void add_literal(Buf *out, const char *from, const char *end)
{
    for (const char *at = from; at < end; at++) {
        buf_add_bytes(out, at, 1);
        at += at[0] == '%' && at + 1 < end && at[1] == '%';
    }
}

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void add_directive(Buf *out, const char *from, const char *end, uint64_t value)
{
    char format[LONGEST_DIRECTIVE];
    snprintf(format, sizeof format, "%.*s", (int)(end - from), from);
    switch (end[-1]) {
    case 's': buf_printf(out, format, (const char *)(uintptr_t)value); return;
    case 'c': buf_printf(out, format, (int)value); return;
    case 'd': buf_printf(out, format, (long long)value); return;
    case 'u':
    case 'x':
    case 'X':
    case 'o': buf_printf(out, format, (unsigned long long)value); return;
    default: buf_printf(out, format, as_double(value)); return;
    }
}
#pragma GCC diagnostic pop

static void write_all(const char *text, size_t length)
{
    while (length) {
        ssize_t written = write(STDOUT_FILENO, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* nobody reads; a kernel is no place to complain */
        text += written;
        length -= (size_t)written;
    }
}

typedef struct Printing {
    const char *format;
    const uint64_t *values;
} Printing;

static bool print(void *data)
{
    const Printing *printing = data;
    const uint64_t *values = printing->values;
    Buf out = {0};
    const char *at = printing->format, *end;
    for (const char *found; (found = print_directive(at, &end)); at = end) {
        add_literal(&out, at, found);
        add_directive(&out, found, end, *values++);
    }
    add_literal(&out, at, at + strlen(at));
    write_all(buf_text(&out), out.length);
    buf_free(&out);
    return true;
}

void host_print(HostThread *thread, const char *format, const uint64_t *values)
{
    static const char lost[] = "<a kernel's print: out of memory>\n";
    (void)thread;
    Printing printing = {format, values};
    Diag diag = {.id = DIAG_NONE};
    if (!memory_guard(print, &printing, &diag))
        write_all(lost, sizeof lost - 1);
    host_attend_here();
}
