/* Code objects for tests: real ones of every CPython version (bytecode_samples_pyXY.def), and any bytes. */
#ifndef CUJIT_TESTS_BYTECODE_SAMPLE_H
#define CUJIT_TESTS_BYTECODE_SAMPLE_H

#include "core/base/arena.h"
#include "frontend/bytecode/decode.h"

enum { SAMPLE_VERSIONS = 5, SAMPLE_FIRST_MINOR = 11 };

extern const int sample_count;
/* Sample `index` as the version's compiler made it, in the arena. Of its constants only None, numbers, slices and tuples
 * with slices are what they are; others are strings of their text. */
CodeSnapshot *sample_code(int index, int python_minor, Arena *arena);
/* Code of these bytes, with 4 constants, names and locals. */
CodeSnapshot *code_of_bytes(const unsigned char *bytes, size_t size, int python_minor, Arena *arena);

#endif
