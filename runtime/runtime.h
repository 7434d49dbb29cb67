/* Devices, memory, streams, events, kernels, launch: one face, two devices behind it (GPU and CPU).
 * Every function that can fail returns false or NULL and fills diag. All are thread-safe and need no GIL. */
#ifndef CUJIT_RUNTIME_RUNTIME_H
#define CUJIT_RUNTIME_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diagnostic/diag.h"
#include "core/diagnostic/exception_record.h"
#include "core/foreign.h"
#include "core/kernel/kernel_image.h"
#include "core/tensor_map.h"

typedef enum RtKind { RT_CPU, RT_GPU } RtKind;
typedef struct RtDevice RtDevice;
typedef struct RtStream RtStream;   /* NULL is the default stream */
typedef struct RtEvent RtEvent;
typedef struct RtKernel RtKernel;
typedef uint64_t RtPointer;         /* a device address; on the CPU device a host address */

/* --- devices ----------------------------------------------------------------------------------------------------- */
/* The number of GPUs the driver reports. 0 with *why set to a static text when there is no driver or no device
 * (why may be NULL). False in *ok means the driver is there but failed: diag says how. */
int rt_gpu_count(const char **why, bool *ok, Diag *diag);
/* The number of CPU devices: one, or CUJIT_CPU_DEVICES. False with a diagnostic where that is no such number. */
bool rt_cpu_count(int *count, Diag *diag);
/* Device `ordinal` of that kind, with its primary context retained on first use. Devices live as long as the process. */
RtDevice *rt_device(RtKind kind, int ordinal, Diag *diag);
RtKind rt_device_kind(const RtDevice *device);
int rt_device_ordinal(const RtDevice *device);
const char *rt_device_name(const RtDevice *device);
int rt_device_sm(const RtDevice *device); /* 90 for compute capability 9.0; 0 for the CPU device */
/* A CUdevice_attribute by its number; the CPU device answers with values of its own where it has any, else 0. */
bool rt_device_attribute(RtDevice *device, int attribute, int *value, Diag *diag);
bool rt_device_uuid(RtDevice *device, uint8_t uuid[16], Diag *diag);
bool rt_driver_version(int *version, Diag *diag); /* 13000 for 13.0 */
bool rt_synchronize(RtDevice *device, Diag *diag);
/* The device, and all others of its kind that are open. */
bool rt_synchronize_all(RtDevice *device, Diag *diag);
bool rt_memory_info(RtDevice *device, size_t *free_bytes, size_t *total_bytes, Diag *diag);

/* --- several devices: a set of devices is a number with a bit for each ------------------------------------------------- */
uint64_t rt_device_bit(const RtDevice *device);
/* The first device of a set that is not empty. NULL with a diagnostic where it cannot be opened. */
RtDevice *rt_device_in(uint64_t set, Diag *diag);
/* Whether this process sees no other device of that kind. */
bool rt_device_is_alone(const RtDevice *device);
/* The devices whose memory kernels of this one can use: itself, and those of rt_enable_peer_access. */
uint64_t rt_device_reach(const RtDevice *device);
/* Makes the device's context the thread's, for other libraries that look at that; *former: what it was. Nothing on the CPU
 * device. */
bool rt_make_current(RtDevice *device, uint64_t *former, Diag *diag);
bool rt_restore_current(RtDevice *device, uint64_t former, Diag *diag);
uint64_t rt_device_context(const RtDevice *device); /* the CUcontext; 0 for the CPU device */
/* Whether the device can use the memory because it was made for it: its own, or the host's. Asks less of the driver than
 * rt_pointer_home, and costs less. */
bool rt_pointer_is_here(RtDevice *device, RtPointer pointer, bool *is_here, Diag *diag);
/* The device whose memory it is, as a set of one. Empty for what all devices reach (the host's memory that the driver
 * knows, managed memory), for memory that the driver does not know, and where the device is alone. */
bool rt_pointer_home(RtDevice *device, RtPointer pointer, uint64_t *home, Diag *diag);
/* Whether the hardware lets kernels of the device use the peer's memory; false for the device itself. */
bool rt_can_access_peer(RtDevice *device, RtDevice *peer, bool *can, Diag *diag);
/* Lets them, for the life of the process. No failure where it has been done already, here or by another library. */
bool rt_enable_peer_access(RtDevice *device, RtDevice *peer, Diag *diag);

/* --- memory: sizes in bytes ---------------------------------------------------------------------------------------- */
bool rt_allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag); /* size 0: pointer 0 */
bool rt_free(RtDevice *device, RtPointer pointer, Diag *diag);
/* The same from the driver's pool, a few microseconds cheaper: both take their place in the default stream, with which
 * all streams made here synchronize, so no one waits. For memory that nothing outside can use: what was handed to another
 * library is freed by rt_free, which takes any pointer. It waits for the whole device only where rt_allocate gave the memory;
 * other memory is kept, and waited for by the allocation that gets it next. */
bool rt_allocate_ordered(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag);
/* rt_allocate_ordered, for who holds a lock; false with *waits and no diagnostic: nothing was done, as it would have waited for
 * the device. */
bool rt_allocate_at_once(RtDevice *device, size_t size, RtPointer *pointer, bool *waits, Diag *diag);
bool rt_free_ordered(RtDevice *device, RtPointer pointer, Diag *diag); /* only what rt_allocate_ordered gave */

/* What rt_free_ordered and rt_free_host get back is kept for later allocations of as much: of a device's memory, and of
 * pinned memory. Sizes are multiples of 512. */
typedef enum RtPoolKind { RT_POOL_DEVICE, RT_POOL_PINNED } RtPoolKind;
typedef struct RtPoolUse {
    size_t used_bytes, kept_bytes, kept_blocks;
    size_t limit; /* of both together; 0: none */
    uint64_t allocations; /* that the driver has been asked for so far */
} RtPoolUse;
bool rt_pool_use(RtDevice *device, RtPoolKind kind, RtPoolUse *use, Diag *diag);
/* Gives the driver and the system all that is kept. */
bool rt_pool_empty(RtDevice *device, RtPoolKind kind, Diag *diag);
/* In the place of CUJIT_GPU_MEMORY_LIMIT. An allocation beyond it fails with DIAG_DEVICE_MEMORY. 0: none. */
bool rt_pool_limit(RtDevice *device, RtPoolKind kind, size_t limit, Diag *diag);
/* The memory there is: the device's, or the host's. */
bool rt_pool_total(RtDevice *device, RtPoolKind kind, size_t *total, Diag *diag);
/* Where an allocation was made, for the message of one that is too much; asked for while there is a limit. */
bool rt_pool_wants_place(const RtDevice *device, RtPoolKind kind);
void rt_pool_note_place(RtDevice *device, RtPoolKind kind, RtPointer pointer, const char *place);

/* Who gives memory in the driver's place: for rt_allocate_ordered, and for both ways of freeing it. */
typedef struct RtMemoryManager {
    bool (*allocate)(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag);
    bool (*release)(RtDevice *device, RtPointer pointer); /* false: it is not the manager's */
} RtMemoryManager;
/* For the life of the process; NULL ends what it allocates, not what it releases. */
void rt_set_memory_manager(const RtMemoryManager *manager);
/* The whole allocation that the address is in. Size 0 on the CPU device for memory that is not from here. */
bool rt_memory_range(RtDevice *device, RtPointer pointer, RtPointer *start, size_t *size, Diag *diag);

/* Memory for other processes: only what rt_allocate gave, by the address of its first byte. */
typedef struct RtExport {
    unsigned char bytes[64];
} RtExport;
bool rt_export_memory(RtDevice *device, RtPointer pointer, RtExport *handle, Diag *diag);
/* In another process, on the device that the memory is on, until rt_close_import. */
bool rt_import_memory(RtDevice *device, const RtExport *handle, RtPointer *pointer, Diag *diag);
bool rt_close_import(RtDevice *device, RtPointer pointer, Diag *diag);
/* Writes what tma.load and tma.store of the device take (core/tensor_map.h). */
bool rt_tensor_map(RtDevice *device, const TensorMap *map, TensorMapWords *words, Diag *diag);
/* Copies are ordered on the stream; host memory that is not pinned is copied before the call returns. */
bool rt_copy_to_device(RtDevice *device, RtPointer to, const void *from, size_t size, RtStream *stream, Diag *diag);
bool rt_copy_to_host(RtDevice *device, void *to, RtPointer from, size_t size, RtStream *stream, Diag *diag);
bool rt_copy_on_device(RtDevice *device, RtPointer to, RtPointer from, size_t size, RtStream *stream, Diag *diag);
/* From one device to another, with peer access or without. Ordered on the stream, which belongs to one of the two, and
 * with what both do in their default streams; without a stream, with all that they do. */
bool rt_copy_between(RtDevice *to_device, RtPointer to, RtDevice *from_device, RtPointer from, size_t size,
                     RtStream *stream, Diag *diag);
/* On the CPU device: from now on it is known of new arrays what of them is written, for kernels with check="init". */
void rt_track_writes(void);
extern _Atomic bool rt_write_tracking;
static inline bool rt_tracks_writes(void) { return atomic_load_explicit(&rt_write_tracking, memory_order_relaxed); }
/* Somebody may write the array in which the address lies without being seen: all of it counts as written. */
void rt_note_all_written(RtPointer pointer);
/* For kernels that find out themselves what they write: the first array in [from, to) that is not written in full, and a
 * bit for each of its bytes, 1: it is written. What kernels have written is added to that. */
bool rt_next_unwritten(RtPointer from, RtPointer to, RtPointer *begin, RtPointer *end);
void rt_get_written_bits(RtPointer begin, uint64_t *words, size_t count);
void rt_add_written_bits(RtPointer begin, const uint64_t *words, size_t count);
bool rt_fill(RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream, Diag *diag);

/* Host memory that kernels reach. Pinned memory is page-locked: copies from and to it can be asynchronous and are fast;
 * write-combined, it is faster to write and very slow to read for the host. Managed memory moves to whoever uses it. */
typedef enum RtHostMemory {
    RT_HOST_PINNED,
    RT_HOST_WRITE_COMBINED,
    RT_HOST_MANAGED,
    RT_HOST_MANAGED_BY_HOST, /* where the device cannot share pages, streams reach it only once it is attached to them */
} RtHostMemory;
typedef struct RtHostBuffer {
    void *host; /* NULL: none, of size 0 */
    RtPointer device; /* the same memory for kernels */
    size_t size;
    RtHostMemory kind;
    bool is_idle; /* nobody is at work in it any more: who gets it next need not wait for the device */
} RtHostBuffer;
bool rt_allocate_host(RtDevice *device, RtHostMemory kind, size_t size, RtHostBuffer *buffer, Diag *diag);
bool rt_free_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag);
/* Copies from and to page-locked memory that come in the order of the stream (NULL: the default one) and wait for nothing. */
bool rt_send(RtDevice *device, RtPointer to, const void *locked, size_t size, RtStream *stream, Diag *diag);
bool rt_receive(RtDevice *device, void *locked, RtPointer from, size_t size, RtStream *stream, Diag *diag);
/* Page-locks memory that is there already; *pointer is its address for kernels. Undone before the memory goes. */
bool rt_register_host(RtDevice *device, void *host, size_t size, RtPointer *pointer, Diag *diag);
bool rt_unregister_host(RtDevice *device, void *host, Diag *diag);

/* --- streams and events ---------------------------------------------------------------------------------------------- */
RtStream *rt_stream_create(RtDevice *device, Diag *diag);
/* A stream made elsewhere (CUstream value, 0, 1 and 2 included); not destroyed with the object. The driver hears of it when
 * it is first used: what is no stream fails then, where its address can be seen to be none. */
RtStream *rt_stream_external(RtDevice *device, uint64_t handle, Diag *diag);
void rt_stream_destroy(RtStream *stream);
uint64_t rt_stream_handle(const RtStream *stream); /* NULL: 0 */
/* Whether it was made here, and so belongs to the device it was made for. */
bool rt_stream_is_own(const RtStream *stream);
bool rt_stream_synchronize(RtDevice *device, RtStream *stream, Diag *diag);
bool rt_stream_wait_event(RtDevice *device, RtStream *stream, RtEvent *event, Diag *diag);
bool rt_stream_query(RtDevice *device, RtStream *stream, bool *done, Diag *diag);
RtEvent *rt_event_create(RtDevice *device, bool timing, Diag *diag);
void rt_event_destroy(RtEvent *event);
bool rt_event_record(RtEvent *event, RtStream *stream, Diag *diag);
bool rt_event_synchronize(RtEvent *event, Diag *diag);
bool rt_event_query(RtEvent *event, bool *done, Diag *diag);
bool rt_event_elapsed(RtEvent *start, RtEvent *end, float *milliseconds, Diag *diag);

/* --- kernels ----------------------------------------------------------------------------------------------------------- */
/* Loads PTX on a GPU; on the CPU device, entries of code that is linked. */
RtKernel *rt_kernel_load(RtDevice *device, const KernelImage *image, Diag *diag);
const char *rt_kernel_name(const RtKernel *kernel);
void rt_kernel_unload(RtKernel *kernel);
/* A CUfunction_attribute by its number (registers, static shared bytes, max threads, local bytes, constant bytes). */
bool rt_kernel_attribute(RtKernel *kernel, int attribute, int *value, Diag *diag);
bool rt_kernel_occupancy(RtKernel *kernel, size_t dynamic_shared, int *blocks, int *threads, Diag *diag);
/* How many blocks of that many threads can be on the device at once: the largest cooperative grid. */
bool rt_kernel_resident_blocks(RtKernel *kernel, int threads, size_t dynamic_shared, int *blocks, Diag *diag);

typedef struct RtLaunch {
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0: none */
    uint32_t dynamic_shared; /* bytes */
    bool cooperative, starts_early;
    RtStream *stream;
    void *parameters; /* the buffer of kernel_abi.h */
    size_t parameters_size;
    /* While the CPU device runs the kernel, asked now and then on the launching thread: whether to end it. NULL: never. */
    bool (*interrupted)(void);
    OverflowRecord *overflows; /* the CPU device writes the kernel's NOTEs to them; NULL: it has none */
} RtLaunch;

/* Launches asynchronously on a GPU; the CPU device returns when the kernel is done. */
bool rt_launch(RtKernel *kernel, const RtLaunch *launch, Diag *diag);

/* --- graphs: work that is recorded, and then done as a whole -------------------------------------------------------------- */
/* Between begin and end, work of the thread on the device is not done but becomes nodes: launches, copies, fills, marks of
 * events and waits for them, on any stream. What waits for the device, and what asks for memory, fails with DIAG_CAPTURE.
 * Memory, kernels and host memory that the nodes use have to live as long as the graph. */
typedef struct RtGraph RtGraph;
/* owner: whatever the caller wants to find again. NULL with a diagnostic. */
RtGraph *rt_graph_create(RtDevice *device, void *owner, Diag *diag);
void rt_graph_destroy(RtGraph *graph); /* NULL is allowed; no thread uses it */
/* Waits for launches of other threads, unless `interrupted` (RtLaunch), and for the work; there are none behind it. */
bool rt_graph_close(RtGraph *graph, bool (*interrupted)(void), Diag *diag);
bool rt_graph_begin(RtGraph *graph, Diag *diag);
/* Makes it ready for launches. */
bool rt_graph_end(RtGraph *graph, Diag *diag);
/* Ends the recording of a graph that is to be destroyed. */
void rt_graph_leave(RtGraph *graph);
extern _Atomic uint32_t rt_recording_threads; /* of the process: without any, no thread looks for its own graph */
RtGraph *rt_graph_of_thread(void);
/* By this thread; NULL: none. */
static inline RtGraph *rt_graph_recorded(void)
{
    return atomic_load_explicit(&rt_recording_threads, memory_order_relaxed) ? rt_graph_of_thread() : NULL;
}
void *rt_graph_owner(const RtGraph *graph);
size_t rt_graph_size(const RtGraph *graph); /* nodes; the last one has the number below */
/* Lets the thread have memory while it records, for what the graph's owner keeps. */
void rt_graph_lend_memory(RtGraph *graph, bool lends);
/* What is recorded until rt_graph_end_body is done if the flag, 1 to 8 bytes of device memory, is not 0 by then, or again as
 * long as it is not. */
bool rt_graph_begin_body(RtGraph *graph, bool repeats, RtPointer flag, size_t size, RtStream *stream, Diag *diag);
bool rt_graph_end_body(RtGraph *graph, Diag *diag);
/* The next launch of this thread takes the place of that node, which has been a launch, until rt_graph_end_replacing, which
 * only follows success. Meanwhile other threads wait to launch, update or close the graph. interrupted, busy: as below. */
bool rt_graph_begin_replacing(RtGraph *graph, size_t node, bool (*interrupted)(void), bool *busy, Diag *diag);
void rt_graph_end_replacing(RtGraph *graph);
/* All of it, in the stream's order. On the CPU device it is done when this returns, unless `interrupted` (RtLaunch). busy: NULL,
 * or *busy becomes true, without a diagnostic, where another thread launches, updates or closes the graph, and nothing is
 * done. */
bool rt_graph_launch(RtGraph *graph, RtStream *stream, bool (*interrupted)(void), bool *busy, Diag *diag);

/* --- code from elsewhere: GPUs -------------------------------------------------------------------------------------------- */
/* Folders in which NVIDIA's compiler libraries may lie, and folders of headers for CUDA C; added to those known. */
bool rt_toolkit_search(const char *const *libraries, uint32_t library_count, const char *const *includes,
                       uint32_t include_count, Diag *diag);

/* What was made, with a zero byte behind it. rt_code_free releases it. */
typedef struct RtCode {
    char *bytes;
    size_t size;
    char *log; /* what the linker had to say; NULL: nothing */
} RtCode;
void rt_code_free(RtCode *code);

typedef struct RtLinking {
    const LinkItem *const *items; /* the first names the whole in messages; those for other devices are passed over */
    uint32_t count;
    RtDevice *device; /* whose driver links; NULL: nvJitLink does */
    int sm;
    int max_registers; /* 0: no limit */
    bool lineinfo, debug;
    bool lto; /* link-time optimization by nvJitLink, which LTO-IR brings about anyway */
    bool want_ptx; /* instead of machine code: nvJitLink's */
    const char *const *options; /* more of nvJitLink's */
    uint32_t option_count;
} RtLinking;
/* Machine code of all items. False with DIAG_LINK, which has the linker's log, or with what is missing. */
bool rt_link(const RtLinking *linking, RtCode *code, Diag *diag);

typedef enum RtCodeKind { RT_CODE_PTX, RT_CODE_CUBIN, RT_CODE_LTOIR } RtCodeKind;
typedef struct RtSource {
    const char *text, *name;
    int sm;
    RtCodeKind output;
    bool is_relocatable, lineinfo, debug;
    const char *const *options; /* more of NVRTC's */
    uint32_t option_count;
    const char *const *expressions; /* C++ names, "twice<float>", that are asked for */
    uint32_t expression_count;
} RtSource;
/* CUDA C compiled by NVRTC. lowered: for each expression the symbol, to be released by memory_free (also after a failure);
 * zeroed by the caller. False with DIAG_SOURCE, which has NVRTC's log, or with what is missing. */
bool rt_compile_source(const RtSource *source, RtCode *code, char **lowered, Diag *diag);

/* LLVM IR, as codegen writes it for libNVVM, compiled to LTO-IR by that; of the source text, name and sm. False with
 * DIAG_SOURCE, which has libNVVM's log, or with what is missing. */
bool rt_compile_llvm(const RtSource *source, RtCode *code, Diag *diag);

/* Code with several kernels on a GPU. */
typedef struct RtModule RtModule;
/* PTX or machine code; name: for messages. NULL with a diagnostic. */
RtModule *rt_module_load(RtDevice *device, const void *code, const char *name, int max_registers, Diag *diag);
/* Nothing of it may be used any more. */
void rt_module_unload(RtModule *module);
/* A kernel of the module, which must outlive it. is_cooperative: every launch of it is. */
RtKernel *rt_module_kernel(RtModule *module, const char *name, bool is_cooperative, Diag *diag);
/* A variable of the module: where it lies, and its bytes. */
bool rt_module_global(RtModule *module, const char *name, RtPointer *pointer, size_t *size, Diag *diag);
/* The driver's handle of the module (of a kernel). 0 on the CPU device. */
uint64_t rt_module_handle(const RtModule *module);
uint64_t rt_kernel_module(RtKernel *kernel);
/* Where parameter `index` of a kernel lies and its bytes. *is_there: whether there is such a parameter; false in *is_known
 * where the driver cannot tell (before 12.4). */
bool rt_kernel_parameter(RtKernel *kernel, uint32_t index, size_t *offset, size_t *size, bool *is_there, bool *is_known,
                         Diag *diag);

/* --- exceptions of kernels ---------------------------------------------------------------------------------------------- */
/* An empty record for a launch that is waited for, given back when it is over. NULL with a diagnostic. Its address is the
 * device's and the host's. */
ExceptionRecord *rt_record_take(RtDevice *device, Diag *diag);
void rt_record_return(RtDevice *device, ExceptionRecord *record);
/* False with DIAG_KERNEL_EXCEPTION when a thread has completed the record; the record is empty then. */
bool rt_record_check(ExceptionRecord *record, Diag *diag);
/* The record of the launches on that stream that are not waited for; lives as long as the device. NULL with a diagnostic.
 * What it holds is found by the next launch on the stream, copy from it to the host, and synchronization with it: these
 * then fail with DIAG_KERNEL_EXCEPTION, and a launch does not happen. */
ExceptionRecord *rt_stream_record(RtDevice *device, const RtStream *stream, Diag *diag);

#endif
