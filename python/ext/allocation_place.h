/* Where in the program memory is allocated. */
#ifndef CUJIT_EXT_ALLOCATION_PLACE_H
#define CUJIT_EXT_ALLOCATION_PLACE_H

#include "ext/state.h"

/* Notes the program's line for memory that has just been allocated, where somebody may ask for it. Needs the GIL. */
void ext_note_place(RtDevice *device, RtPoolKind kind, RtPointer pointer);

#endif
