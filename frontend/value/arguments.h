/* Arguments of a call, as every handler of calls asks for them. */
#ifndef CUJIT_FRONTEND_ARGUMENTS_H
#define CUJIT_FRONTEND_ARGUMENTS_H

#include "frontend/engine.h"

/* Arguments of a call. */
struct Call {
    IntrinsicId intrinsic;
    const char *name; /* for messages */
    const char *path; /* of a library function, as the source has it; else NULL */
    uint32_t count; /* positional */
    const Operand *arguments;
    uint32_t keyword_count;
    const char *const *keywords;
    const Operand *keyword_values;
};

/* The keyword's value if it was given. */
const Operand *call_keyword(const Call *call, const char *name);
/* Parameter `index`, called `name`: positional or by keyword; NULL when it was not given. */
const Operand *call_argument(const Call *call, uint32_t index, const char *name);
/* The argument types are none that the callee takes; hint: what to do, or "". Always false. */
bool call_refuse(Lower *l, const Call *call, const char *hint);
/* Whether so many arguments were given; else false with a diagnostic. */
bool call_arity(Lower *l, const Call *call, uint32_t least, uint32_t most);
/* The element type that an operand names (float32, np.int8, float, "f4"), or NULL. */
const Type *operand_dtype(Lower *l, Operand operand);
/* An operand as it is passed to a function: numbers and tuples lose what is known of their value. */
Operand operand_as_argument(Lower *l, Operand operand);

#endif
