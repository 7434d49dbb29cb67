/* What the static libraries of a newer Debian ask of glibc and an older one has not, for wheels (cmake/OldGlibc.cmake).
 * None of it is called where results or speed depend on it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

enum { NANOSECONDS = 1000000000 };

/* glibc 2.32: whether a reference count may do without atomic operations. Never. */
char __libc_single_threaded = 0;

/* glibc 2.33: LLVM's statistics of memory, which nobody asks for. */
struct mallinfo2 mallinfo2(void) { return (struct mallinfo2){0}; }

/* glibc 2.36: LLVM's names of temporary files. */
uint32_t arc4random(void)
{
    uint32_t number = 0;
    while (getrandom(&number, sizeof number, 0) != sizeof number)
        continue;
    return number;
}

/* glibc 2.38: strtol and its kin, which also read "0b101". The names behind them are those of all versions. */
#define OLD_NUMBER(name, type)                                              \
    type old_##name(const char *text, char **end, int base) __asm__(#name); \
    type __isoc23_##name(const char *text, char **end, int base);           \
    type __isoc23_##name(const char *text, char **end, int base) { return old_##name(text, end, base); }

OLD_NUMBER(strtol, long)
OLD_NUMBER(strtoul, unsigned long)
OLD_NUMBER(strtoll, long long)
OLD_NUMBER(strtoull, unsigned long long)

/* glibc 2.30. By the clock that older ones wait by: who sets that one while a thread waits moves the end of its wait. */
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until)
{
    struct timespec now, real;
    if (clock == CLOCK_REALTIME)
        return pthread_cond_timedwait(condition, mutex, until);
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &real);
    real.tv_sec += until->tv_sec - now.tv_sec;
    long nanoseconds = real.tv_nsec + until->tv_nsec - now.tv_nsec;
    if (nanoseconds < 0 || nanoseconds >= NANOSECONDS) {
        real.tv_sec += nanoseconds < 0 ? -1 : 1;
        nanoseconds += nanoseconds < 0 ? NANOSECONDS : -NANOSECONDS;
    }
    real.tv_nsec = nanoseconds;
    return pthread_cond_timedwait(condition, mutex, &real);
}

/* glibc 2.35: the object that has an address, for libgcc when an exception of C++ looks for who catches it. */

static bool holds(const struct dl_phdr_info *object, const ElfW(Phdr) * segment, const void *address)
{
    uintptr_t start = object->dlpi_addr + segment->p_vaddr;
    return segment->p_type == PT_LOAD && (uintptr_t)address - start < segment->p_memsz;
}

static int look_into(struct dl_phdr_info *object, size_t size, void *wanted)
{
    struct dl_find_object *result = wanted;
    bool is_here = false;
    void *frames = NULL;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        is_here |= holds(object, segment, result->dlfo_map_start);
        if (segment->p_type == PT_GNU_EH_FRAME)
            frames = (void *)(object->dlpi_addr + segment->p_vaddr);
    }
    result->dlfo_eh_frame = is_here ? frames : NULL;
    return is_here;
}

int _dl_find_object(void *address, struct dl_find_object *result)
{
    *result = (struct dl_find_object){.dlfo_map_start = address};
    return dl_iterate_phdr(look_into, result) && result->dlfo_eh_frame ? 0 : -1;
}
