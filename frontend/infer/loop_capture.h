/* Nested functions that outlive the trip of a loop they were made in: what they captured there is assigned again while
 * they live, so that they must share the variable and not keep its value. */
#ifndef CUJIT_FRONTEND_LOOP_CAPTURE_H
#define CUJIT_FRONTEND_LOOP_CAPTURE_H

#include "frontend/engine.h"

/* Shares the variables of functions that outlive the trip of a loop they were made in, if there are any (loop_capture.c). */
bool share_loop_captures(Frontend *frontend, Instance *instance);

#endif
