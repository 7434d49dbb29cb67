/* Format strings of IR's print: literal text and printf's directives, one for each operand:
 *   %d %c  an i64;  %u %x %X %o  a u64;  %s  a bool, as True or False;  %e %E %f %F %g %G  an f64
 * with flags, width and precision; the length "ll" stands before the letter of integers. "%%" is a percent sign. */
#ifndef CUJIT_CORE_PRINT_FORMAT_H
#define CUJIT_CORE_PRINT_FORMAT_H

#include <stdint.h>

/* The next directive at or behind `at`, from its percent sign; *end: behind its letter. NULL when there is none, and for
 * text that ends within one. */
const char *print_directive(const char *at, const char **end);
uint32_t print_directive_count(const char *format);

#endif
