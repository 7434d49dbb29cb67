/* The lexical floor under type_text.c, ir_print.c and ir_parse.c. */
#include "core/base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_byte(unsigned char c)
{
    return isalnum(c) || c == '_' || c == '.' || c == '<' || c == '>' || c >= 0x80;
}

static bool is_plain_name(const char *name)
{
    if (!*name || isdigit((unsigned char)*name))
        return false;
    for (; *name; name++)
        if (!is_name_byte((unsigned char)*name))
            return false;
    return true;
}

void text_print_name(Buf *out, const char *name)
{
    if (name && is_plain_name(name)) {
        buf_add(out, name);
        return;
    }
    buf_add(out, "\"");
    for (; name && *name; name++) {
        unsigned char c = (unsigned char)*name;
        if (c < 0x20 || c == 0x7F || c == '"' || c == '\\')
            buf_printf(out, "\\x%02x", c);
        else
            buf_add_bytes(out, name, 1);
    }
    buf_add(out, "\"");
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static const uint64_t canonical_nan = 0x7FF8000000000000u;

void text_print_real(Buf *out, double value)
{
    if (isnan(value)) {
        if (bits_of(value) == canonical_nan)
            buf_add(out, "nan");
        else
            buf_printf(out, "nan:0x%llx", (unsigned long long)bits_of(value));
        return;
    }
    if (isinf(value)) {
        buf_add(out, value < 0 ? "-inf" : "inf");
        return;
    }
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    char *comma = strchr(text, ',');   /* the process's locale may write one */
    if (comma)
        *comma = '.';
    buf_add(out, text);
    if (!strpbrk(text, ".e"))
        buf_add(out, ".0");
}

void text_skip_space(const char **text)
{
    while (**text == ' ' || **text == '\t')
        ++*text;
}

bool text_accept(const char **text, const char *characters)
{
    const char *at = *text;
    text_skip_space(&at);
    size_t length = strlen(characters);
    if (strncmp(at, characters, length))
        return false;
    *text = at + length;
    return true;
}

bool text_accept_word(const char **text, const char *word)
{
    const char *at = *text;
    if (!text_accept(&at, word) || is_name_byte((unsigned char)*at))
        return false;
    *text = at;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* `at` is behind the opening quote. */
static const char *read_quoted(const char **text, const char *at, Arena *arena)
{
    size_t room = strcspn(at, "\"\n") + 1, length = 0;
    char *name = arena_alloc(arena, room);
    for (; *at != '"'; at++) {
        if (!*at || *at == '\n')
            return NULL;
        if (*at != '\\') {
            name[length++] = *at;
            continue;
        }
        int high, low;
        if (at[1] != 'x' || (high = hex_digit(at[2])) < 0 || (low = hex_digit(at[3])) < 0 || !(high | low))
            return NULL;
        name[length++] = (char)(high << 4 | low);
        at += 3;
    }
    *text = at + 1;
    return name;
}

const char *text_read_name(const char **text, Arena *arena)
{
    const char *at = *text;
    text_skip_space(&at);
    if (*at == '"')
        return read_quoted(text, at + 1, arena);
    if (isdigit((unsigned char)*at))
        return NULL;
    size_t length = 0;
    while (is_name_byte((unsigned char)at[length]))
        length++;
    if (!length)
        return NULL;
    char *name = arena_alloc(arena, length + 1);
    memcpy(name, at, length);
    *text = at + length;
    return name;
}

bool text_read_count(const char **text, uint64_t largest, uint64_t *value)
{
    const char *at = *text;
    text_skip_space(&at);
    if (!isdigit((unsigned char)*at))
        return false;
    uint64_t number = 0;
    for (; isdigit((unsigned char)*at); at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (digit > largest || number > (largest - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *value = number;
    *text = at;
    return true;
}

bool text_read_integer(const char **text, int64_t *value)
{
    const char *at = *text;
    bool negative = text_accept(&at, "-");
    uint64_t number;
    if (!text_read_count(&at, negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX, &number))
        return false;
    *value = (int64_t)(negative ? 0 - number : number);
    *text = at;
    return true;
}

bool text_read_hex(const char **text, uint64_t *value)
{
    const char *at = *text;
    if (!text_accept(&at, "0x") || hex_digit(*at) < 0)
        return false;
    uint64_t number = 0;
    for (int digits = 0; hex_digit(*at) >= 0; at++, digits++) {
        if (digits == 16)
            return false;
        number = number << 4 | (uint64_t)hex_digit(*at);
    }
    *value = number;
    *text = at;
    return true;
}

bool text_read_real(const char **text, double *value)
{
    const char *at = *text;
    if (text_accept(&at, "nan")) {
        uint64_t bits = canonical_nan;
        if (text_accept(&at, ":") && !text_read_hex(&at, &bits))
            return false;
        memcpy(value, &bits, sizeof bits);
        if (isnan(*value))
            *text = at;
        return isnan(*value);
    }
    text_skip_space(&at);
    if (!isdigit((unsigned char)*at) && strncmp(at, "inf", 3) &&
        !(*at == '-' && (isdigit((unsigned char)at[1]) || !strncmp(at + 1, "inf", 3))))
        return false;
    char *end;
    *value = strtod(at, &end);
    *text = end;
    return end != at;
}
