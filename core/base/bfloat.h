/* bfloat16 numbers on the host: the upper half of a float32. */
#ifndef CUJIT_CORE_BFLOAT_H
#define CUJIT_CORE_BFLOAT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float bfloat_value(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Rounded once: a float32 that is not exact gets an odd last bit first. */
static inline uint16_t bfloat_bits(double number)
{
    float narrow = (float)number;
    uint32_t word;
    memcpy(&word, &narrow, sizeof word);
    if (number != number)
        return (uint16_t)(word >> 16 | 0x40);
    if ((double)narrow != number)
        word = (word - (fabs((double)narrow) > fabs(number))) | 1;
    return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

#endif
