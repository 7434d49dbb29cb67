/* What code that is observed (option `observe`) counts for the host: a table for each function that has lines. Its rows are
 * the line that ran before, its columns the line that runs; the first of both is outside of the function. Tables follow each
 * other in one array, NAME.lines: bytes that are 1 where control came so (lines), or how often it did (accesses, 64 bits).
 *
 * What is observed beside lines has a site each, an ObservedSite in the array NAME.sites, which the runtime writes.
 *
 * The image's text says what they are of: words, a zero behind each. For each function "function", file, name, first line,
 * the number of its lines, and these lines (0: nothing is counted there). For each site "site", file, the function's name,
 * line, column, end line, end column, and the event's word (observed.def). */
#ifndef CUJIT_CODEGEN_OBSERVE_H
#define CUJIT_CODEGEN_OBSERVE_H

#include "codegen/emit.h"
#include "core/kernel/kernel_image.h"

typedef struct ObservedModule ObservedModule;

/* Lays out what the module counts; NULL: nothing. Needs the kernel's symbol. */
ObservedModule *host_observed_module(Emitter *emitter);
void host_describe_observed(const Emitter *emitter, KernelImage *image);

#endif
