/* What a kernel tells the CPU device of itself where it is checked (races, memory that nothing has written): kinds of a
 * WATCH of the IR, and of the service that it calls. Accesses are told before they happen. */
#ifndef CUJIT_CORE_WATCH_KIND_H
#define CUJIT_CORE_WATCH_KIND_H

typedef enum WatchKind {
    WATCH_READ,
    WATCH_WRITE,
    WATCH_ATOMIC,
    /* volatile, or past the first cache: how a thread reads and writes what another one waits for */
    WATCH_STRONG_READ,
    WATCH_STRONG_WRITE,
    WATCH_COPY, /* a field of a record that is copied as a whole is read, be it written or not */
    WATCH_FENCE,
    WATCH_FRESH, /* an array of the thread's own begins: nothing of it is written */
    WATCH_TOUCH, /* somebody else may write the array, or so many bytes: that counts as written */
    WATCH_BEGIN, /* the kernel does: no more than that its threads have to be real */
    WATCH_COUNT
} WatchKind;

/* Places in the slots of an ExceptionRecord that such a check fills: its code is the site of the access. */
enum {
    FAULT_KIND, /* WatchFault */
    FAULT_ACCESS, /* WatchKind; then the same of the earlier access */
    FAULT_VALUE, /* bits */
    FAULT_FLAGS,
    FAULT_CALL_LINE, /* of the user's call of a library function */
    FAULT_EARLIER_SITE,
    FAULT_EARLIER_ACCESS,
    FAULT_EARLIER_VALUE,
    FAULT_EARLIER_BLOCK, /* 3 */
    FAULT_EARLIER_THREAD = FAULT_EARLIER_BLOCK + 3, /* 3 */
    FAULT_NDIM = FAULT_EARLIER_THREAD + 3,
    FAULT_INDICES /* 8 at most */
};
typedef enum WatchFault {
    FAULT_RACE,
    FAULT_UNINITIALIZED,
    FAULT_HANG, /* GPU: threads of the block wait for ever */
    FAULT_ABSENT, /* GPU: lanes that a mask names are not there, FAULT_VALUE has them */
} WatchFault;
enum {
    FAULT_HAS_VALUE = 1,
    FAULT_HAS_EARLIER_VALUE = 2,
    FAULT_SAME_BLOCK = 4,
    FAULT_SAME_WARP = 8,
    FAULT_NO_THREAD = 16
};

#endif
