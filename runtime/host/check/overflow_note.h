/* What went wrong in a launch's arithmetic, counted. */
#ifndef CUJIT_RUNTIME_OVERFLOW_NOTE_H
#define CUJIT_RUNTIME_OVERFLOW_NOTE_H

#include "core/diagnostic/overflow_record.h"

/* HostServices.note. Threads of several workers may note the same thing. */
void host_note_overflow(OverflowRecord *record, const OverflowCase *occurrence);

#endif
