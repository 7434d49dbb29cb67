/* The smallest pieces of type and IR text: names, words and numbers, written and read back. Readers advance *text only
 * when they succeed. Used by type_text.c, ir_print.c and ir_parse.c alone. */
#ifndef CUJIT_CORE_TEXT_H
#define CUJIT_CORE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/base/buf.h"

/* A name as it is where it looks like one (letters, digits, _ . < > and non-ASCII), else quoted. NULL prints as "". */
void text_print_name(Buf *out, const char *name);
/* Exactly what strtod reads back, with a point or exponent: "1.0", "-0.0", "inf", "nan", "nan:0x7ff8000000000001". */
void text_print_real(Buf *out, double value);

/* Spaces and tabs; never a line's end. */
void text_skip_space(const char **text);
/* After spaces, these characters. */
bool text_accept(const char **text, const char *characters);
/* After spaces, this word, and no letter, digit or underscore behind it. */
bool text_accept_word(const char **text, const char *word);
/* A name, in the arena; NULL when there is none. */
const char *text_read_name(const char **text, Arena *arena);
/* Decimal digits, at most `largest`. */
bool text_read_count(const char **text, uint64_t largest, uint64_t *value);
/* An optional sign and decimal digits that fit int64 or uint64; as bits. */
bool text_read_integer(const char **text, int64_t *value);
bool text_read_hex(const char **text, uint64_t *value);
bool text_read_real(const char **text, double *value);

#endif
