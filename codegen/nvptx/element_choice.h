/* Elements of a thread's small arrays that the program chooses while it runs. */
#ifndef CUJIT_CODEGEN_ELEMENT_CHOICE_H
#define CUJIT_CODEGEN_ELEMENT_CHOICE_H

#include "codegen/unroll.h"

/* Makes of each access with a choice, by IrValue.id, accesses of all elements on the axis, of which it takes or changes
 * one. */
void choose_elements(IrFunc *function, const ElementChoice *choices);

#endif
