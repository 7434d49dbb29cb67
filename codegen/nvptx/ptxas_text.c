/* What only PTX's text has: instructions that LLVM chooses, and ptxas gets wrong (ptxas_fault.def, high_word_of_product). The text is
 * LLVM's, one instruction a line; assembly of the program's in it is not touched. */
#include <string.h>

#include "core/base/buf.h"

#include "codegen/nvptx/ptxas_fault.h"

/* "\tmul.hi.u32 \t%high, %a, b;" is found by its first bytes, which a line of another program's does not have. */
static const char high_word[] = "\n\tmul.hi.u32 \t";

static size_t length_of(const char *operands, const char *end) { return (size_t)(end - operands); }

/* The instruction whose operands these are, as the product of 64 bits that the high word is taken of. Where the operands
 * are not what they have to be, nothing is added. */
static const char *add_high_word(Buf *to, const char *operands)
{
    const char *end = strchr(operands, ';'), *factors = strstr(operands, ", ");
    if (!end || !factors || factors > end)
        return NULL;
    buf_add(to, "\n\t{ .reg .b32 %low; .reg .b64 %wide; mul.wide.u32 \t%wide");
    buf_add_bytes(to, factors, length_of(factors, end));
    buf_add(to, "; mov.b64 \t{%low, ");
    buf_add_bytes(to, operands, length_of(operands, factors));
    buf_add(to, "}, %wide; }");
    return end + 1;
}

char *ptxas_avoid_in_text(const char *text, size_t *size)
{
    Buf made = {0};
    const char *rest = text, *next;
    while ((next = strstr(rest, high_word))) {
        buf_add_bytes(&made, rest, length_of(rest, next));
        rest = add_high_word(&made, next + sizeof high_word - 1);
        if (!rest) {
            buf_add_bytes(&made, next, sizeof high_word - 1);
            rest = next + sizeof high_word - 1;
        }
    }
    buf_add(&made, rest);
    *size = made.length;
    return made.text;
}
