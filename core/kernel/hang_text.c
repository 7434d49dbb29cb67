/* Threads that wait for the same are named together, as ranges. */
#include "core/kernel/hang_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/host_abi.h"
#include "core/intrinsic/intrinsic.h"

enum { MAX_GROUPS = 8, MAX_RANGES = 12 };

typedef struct Text {
    char *text;
    size_t size;
    const HangBlock *block;
} Text;

static void add(const Text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(const Text *out, const char *format, ...)
{
    size_t length = strlen(out->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->text + length, out->size - length, format, arguments);
    va_end(arguments);
}

/* NULL: the thread has returned. */
static const HangWait *wait_of(const Text *out, uint32_t thread)
{
    const HangWait *wait = &out->block->waits[thread];
    return wait->operation < 0 ? NULL : wait;
}

static bool wait_alike(const HangWait *a, const HangWait *b)
{
    return a && b ? a->operation == b->operation && a->mask == b->mask && a->line == b->line : a == b;
}

/* "0-15, 17": the threads that wait for the same as `thread`, which is the first of them. */
static void add_threads(const Text *out, uint32_t thread)
{
    const HangWait *wait = wait_of(out, thread);
    bool is_first = true;
    for (uint32_t i = thread, ranges = 0, end = out->block->end; i < end; i++) {
        uint32_t from = i;
        if (!wait_alike(wait, wait_of(out, i)))
            continue;
        while (i + 1 < end && wait_alike(wait, wait_of(out, i + 1)))
            i++;
        if (ranges++ == MAX_RANGES) {
            add(out, ", ...");
            return;
        }
        add(out, from == i ? "%s%u" : "%s%u-%u", is_first ? "" : ", ", from, i);
        is_first = false;
    }
}

/* "cuda.shfl_sync with mask 0x0000000f in line 7" */
static void add_call(const Text *out, const HangWait *wait)
{
    const char *paths = intrinsic_info[wait->operation].path;
    add(out, "%.*s", (int)strcspn(paths, " "), paths);
    if (wait->operation == INTRINSIC_CUDA_BARRIER_SYNC || wait->operation == INTRINSIC_CUDA_BARRIER_ARRIVE)
        add(out, " %u", wait->mask);
    else if (wait->operation == INTRINSIC_CLUSTER_MAP_SHARED)
        add(out, " for rank %d", (int)wait->place);
    else if (wait->operation == INTRINSIC_MBARRIER_TRY_WAIT)
        add(out, " for a phase of parity %u", wait->mask & 1);
    else if (!(intrinsic_info[wait->operation].effects & (EFFECT_BLOCK_SYNC | EFFECT_TILES)))
        add(out, " with mask 0x%08x", wait->mask);
    if (wait->line)
        add(out, " in line %d", wait->line);
}

/* "; threads 16-63 have returned" */
static void add_returned(const Text *out)
{
    uint32_t thread = out->block->first, end = out->block->end;
    while (thread < end && wait_of(out, thread))
        thread++;
    bool is_single = thread + 1 >= end || wait_of(out, thread + 1);
    add(out, "; thread%s ", is_single ? "" : "s");
    add_threads(out, thread);
    add(out, " %s returned", is_single ? "has" : "have");
}

static bool is_alone(const Text *out, uint32_t thread)
{
    for (uint32_t i = thread + 1; i < out->block->end; i++)
        if (wait_alike(wait_of(out, thread), wait_of(out, i)))
            return false;
    return true;
}

static bool is_first_of_group(const Text *out, uint32_t thread)
{
    const HangWait *wait = wait_of(out, thread);
    for (uint32_t i = out->block->first; i < thread; i++)
        if (wait_alike(wait, wait_of(out, i)))
            return false;
    return wait != NULL;
}

void hang_text(char *text, size_t size, const HangBlock *block, bool is_missed)
{
    const Text out = {text, size, block};
    uint32_t groups = 0;
    snprintf(text, size, "kernel '%.120s' hangs in block (%d, %d, %d):", block->kernel, block->index[0],
             block->index[1], block->index[2]);
    for (uint32_t thread = block->first; thread < block->end && groups < MAX_GROUPS; thread++)
        if (is_first_of_group(&out, thread)) {
            bool is_single = is_alone(&out, thread);
            add(&out, "%s thread%s ", groups++ ? ";" : "", is_single ? "" : "s");
            add_threads(&out, thread);
            add(&out, " %s at ", is_single ? "waits" : "wait");
            add_call(&out, wait_of(&out, thread));
        }
    if (groups == 1 && is_missed)
        add_returned(&out);
    else
        add(&out, groups == 1 ? "; the others that it names do not come" : "; none can go on");
}

void hang_text_call(char *text, size_t size, const HangBlock *block, uint32_t thread, const HangWait *wait)
{
    const Text out = {text, size, block};
    snprintf(text, size, "kernel '%.120s': thread %u of block (%d, %d, %d) calls ", block->kernel, thread,
             block->index[0], block->index[1], block->index[2]);
    add_call(&out, wait);
}

void hang_text_absent(char *text, size_t size, const HangBlock *block, uint32_t thread, const HangWait *wait,
                      uint32_t lanes)
{
    const Text out = {text, size, block};
    hang_text_call(text, size, block, thread, wait);
    add(&out, "; lane%s", lanes & (lanes - 1) ? "s" : "");
    for (uint32_t lane = 0, end; lane < HOST_WARP; lane = end + 1) {
        for (end = lane; end < HOST_WARP && lanes >> end & 1; end++)
            ;
        if (end > lane)
            add(&out, end - lane == 1 ? " %u" : " %u-%u", lane, end - 1);
    }
    add(&out, " that it names %s not there", lanes & (lanes - 1) ? "are" : "is");
}
