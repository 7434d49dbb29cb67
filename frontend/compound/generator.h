/* Generators and list comprehensions. A generator is a tuple of its arguments whose type leads to its instance. Each step
 * of a loop over it calls a function that goes on from one yield to the next: it takes the arguments and a frame, and
 * gives (whether there is an item, the item, the next frame). A frame is (which yield, the values of variables there);
 * frames are values like any other, so what becomes of them is the optimizer's choice. */
#ifndef CUJIT_FRONTEND_GENERATOR_H
#define CUJIT_FRONTEND_GENERATOR_H

#include "frontend/engine.h"

bool type_is_generator(const Type *type);
/* The type is a generator's, or has one inside. */
bool type_has_generator(const Type *type);
bool type_is_list(const Type *type);
bool type_has_list(const Type *type);
/* Whether the function takes lists at once, as its callers expect: those of cujit do. */
bool takes_lists(const Instance *instance);
/* The call of a generator function or of a comprehension. */
bool lower_make_generator(Lower *l, Instance *instance, const Operand *bound, uint32_t count, Operand *out);
/* The first frame, as position of an iteration, and the step from a frame. */
bool lower_generator_start(Lower *l, Operand generator, Operand *out);
bool lower_generator_step(Lower *l, Operand generator, Operand frame, Operand *out);
/* A generator's first `count` items, or all of one whose length is known while compiling (count -1), as a tuple. */
bool lower_generator_items(Lower *l, Operand generator, int64_t count, Operand *out);
/* How many items there are, where types and constants tell. */
bool generator_known_count(const Type *type, const Constant *constant, int64_t *count);
/* generator_items.c: the items of one that gives an item for each of the `count` that it runs over, where they have no
 * common type or each has variables of its own; given: an operand for each parameter. False without a diagnostic where
 * all can come from one function. */
bool lower_items_apart(Lower *l, const Instance *all, const Operand *given, int64_t count, Operand *out);
/* Whether what the call gives is used more than once, as far as the code tells. */
bool generator_is_shared(Lower *l, const SsaValue *call, const Type *type);
/* A generator is used up by its one use: false with a diagnostic where a program could see another. */
bool check_generator_use(Lower *l, const SsaValue *value, const Type *type);
/* Whether it is or has a list that nothing takes items of: they are made all the same, for what making them does. */
bool list_is_forgotten(Lower *l, const SsaValue *value, const Type *type);

/* --- emission of the step function (called by instance.c and emit_ir.c) ------------------------------------------- */
const Type *generator_frame_type(Frontend *frontend, Instance *instance);
const Type *generator_step_type(Frontend *frontend, Instance *instance);
/* Begins the function: chooses the block to go on with. */
void emit_generator_entry(Lower *l);
/* What a variable was at the yield. */
void emit_resumed(Lower *l, const SsaBlock *block, const SsaValue *phi);
bool emit_yield(Lower *l, const SsaBlock *block, const SsaValue *value);
/* The end of the generator: there is no item. */
bool emit_generator_end(Lower *l);

#endif
