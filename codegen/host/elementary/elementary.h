/* The CPU device's elementary functions: one number or a vector of them at a time, with the same bits either way. They are
 * compiled for several sets of instructions; which one is taken depends on the processor. Where it has none of them, the C
 * library's functions are what there is. */
#ifndef CUJIT_CODEGEN_ELEMENTARY_H
#define CUJIT_CODEGEN_ELEMENTARY_H

#include <stdbool.h>
#include <stdint.h>

enum { ELEMENTARY_WIDTHS = 5 /* 1, 2, 4, 8, 16 lanes */ };

typedef void (*ElementaryCode)(void);

typedef struct ElementaryFunction {
    const char *name; /* in C */
    bool is_double;
    uint32_t operand_count;
    ElementaryCode code[ELEMENTARY_WIDTHS]; /* for 1 << place lanes, passed in vector registers; NULL: there is none */
} ElementaryFunction;

/* Those of this processor; *count may be 0. */
const ElementaryFunction *elementary_functions(uint32_t *count);
/* By its name in C; NULL: there is none. */
const ElementaryFunction *find_elementary_function(const char *name);

/* How code for the host names the function of so many lanes: this, the name in C, ".", the number. */
#define ELEMENTARY_PREFIX "cujit.vector."
/* The one whose name for one lane this is; NULL: none. */
const ElementaryFunction *find_elementary_symbol(const char *symbol);
/* The code of a function by its name in C or the name of so many lanes of it; NULL: there is none. */
ElementaryCode elementary_code(const char *symbol);

#endif
