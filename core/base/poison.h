/* Tells AddressSanitizer, in builds with it, which memory may be touched. */
#ifndef CUJIT_CORE_POISON_H
#define CUJIT_CORE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define memory_poison(memory, size) ASAN_POISON_MEMORY_REGION((memory), (size))
#define memory_unpoison(memory, size) ASAN_UNPOISON_MEMORY_REGION((memory), (size))
#else
#define memory_poison(memory, size) ((void)(memory), (void)(size))
#define memory_unpoison(memory, size) ((void)(memory), (void)(size))
#endif

#endif
