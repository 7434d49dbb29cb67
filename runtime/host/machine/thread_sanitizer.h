/* In builds with ThreadSanitizer: its interface, and HAS_THREAD_SANITIZER. */
#ifndef CUJIT_RUNTIME_THREAD_SANITIZER_H
#define CUJIT_RUNTIME_THREAD_SANITIZER_H

#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#endif
#endif

#ifdef HAS_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

#endif
