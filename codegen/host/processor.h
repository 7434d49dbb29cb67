/* The processor that this process runs on, by what it says of itself. */
#ifndef CUJIT_CODEGEN_HOST_PROCESSOR_H
#define CUJIT_CODEGEN_HOST_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

enum { PROCESSOR_WORDS = 32 };

/* From which LLVM's name of the processor and its features follow. Words that are not used are 0. False where it would have
 * to be asked all that LLVM asks: not x86-64, or a C library that does not tell what it knows. */
bool processor_words(uint32_t words[PROCESSOR_WORDS]);

#endif
