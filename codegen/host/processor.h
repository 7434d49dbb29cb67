/* The processor that this process runs on, by what it says of itself. */
#ifndef CUJIT_CODEGEN_HOST_PROCESSOR_H
#define CUJIT_CODEGEN_HOST_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

enum { PROCESSOR_WORDS = 32, PROCESSOR_REGISTERS = 4 /* EAX to EDX */ };

/* From which LLVM's name of the processor and its features follow. Words that are not used are 0. False where it would have
 * to be asked all that LLVM asks: not x86-64, or a C library that does not tell what it knows. */
bool processor_words(uint32_t words[PROCESSOR_WORDS]);

/* glibc's struct cpuid_feature; its order of leaves is a part of its binary interface. */
typedef struct ProcessorLeaf {
    uint32_t said[PROCESSOR_REGISTERS], active[PROCESSOR_REGISTERS];
} ProcessorLeaf;

/* Whom x86 processors are known by. */
typedef struct ProcessorSource {
    const ProcessorLeaf *(*find)(
        unsigned number); /* what the C library has asked; past the last one, always the same */
    void (*ask)(uint32_t leaf, uint32_t part, uint32_t said[PROCESSOR_REGISTERS]);
    uint32_t (*saved_state)(void); /* XGETBV, where the processor has it */
} ProcessorSource;

bool processor_words_of(const ProcessorSource *source, uint32_t words[PROCESSOR_WORDS]);

#endif
