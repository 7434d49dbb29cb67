/* Each cell of the shadow has the accesses that later ones may race with. One that is known to the thread of a new access
 * goes if the new one stands for it: whoever does not know the old one does not know the new one, either. */
#include "runtime/host/check/race.h"

#include <string.h>

#include "core/host_abi.h"

enum { LOOK_BACK = 96, MOST_GROUPS = 128 };

static bool is_strong(AccessKind kind) { return kind >= ACCESS_ATOMIC; }
static bool reads_only(AccessKind kind) { return kind == ACCESS_READ || kind == ACCESS_STRONG_READ; }

static bool may_race(AccessKind a, AccessKind b)
{
    return !(reads_only(a) && reads_only(b)) && !(is_strong(a) && is_strong(b));
}

/* Whether what races with the old access races with the new one, too, where the old one comes before it. */
static bool stands_for(AccessKind new, AccessKind old)
{
    return new == ACCESS_WRITE || new == old || (new == ACCESS_READ && old == ACCESS_STRONG_READ) ||
           (is_strong(old) && (new == ACCESS_ATOMIC || new == ACCESS_STRONG_WRITE));
}

/* --- order ------------------------------------------------------------------------------------------------------------ */

static bool knows_blocks(const BlockClock *block, uint32_t thread, const Group *group)
{
    Stamp stamp = {.thread = 0, .clock = UINT32_MAX, .epoch = group->epoch};
    for (uint32_t i = 0; i < group->blocks; i++) {
        stamp.block = group->block + i;
        if (!clocks_knows(block, thread, &stamp))
            return false;
    }
    return true;
}

/* The lanes of the group that the thread does not know, itself aside. */
static uint32_t unknown_lanes(const BlockClock *block, uint32_t thread, const Group *group)
{
    uint32_t unknown = 0;
    for (uint32_t left = group->mask; left; left &= left - 1) {
        Stamp stamp = {group->block, group->first + (uint32_t)__builtin_ctz(left), group->clock, group->epoch};
        bool is_own = stamp.block == block->block && stamp.thread == thread;
        if (!is_own && !clocks_knows(block, thread, &stamp))
            unknown |= left & -left;
        else if (!is_own && stamp.block == block->block && group->epoch < block->epoch)
            return 0;
    }
    return unknown;
}

static bool is_of(const Group *group, const BlockClock *block, uint32_t thread)
{
    return group->mask && group->block == block->block && group->first == thread / HOST_WARP * HOST_WARP &&
           group->mask >> thread % HOST_WARP & 1;
}

/* --- what makes no difference ----------------------------------------------------------------------------------------- */

/* Whether the thread has written the same itself, since. */
static bool wrote_it_too(Cell *cell, const BlockClock *block, uint32_t thread, const Group *other)
{
    for (uint32_t i = 0; i < cell->count; i++) {
        const Group *group = &cell_groups(cell)[i];
        if (is_of(group, block, thread) && group->kind == ACCESS_WRITE && group->has_value && other->has_value &&
            group->value == other->value)
            return true;
    }
    return false;
}

/* Threads may all write the same, and read it. memory: what the cell holds. */
static bool is_harmless(Cell *cell, const BlockClock *block, const Access *access, const Group *group, uint64_t value,
                        uint64_t memory)
{
    if (access->kind == ACCESS_WRITE && access->has_value)
        return group->kind == ACCESS_WRITE ? group->has_value && group->value == value
                                           : group->kind == ACCESS_READ && value == memory;
    return access->kind == ACCESS_READ && group->kind == ACCESS_WRITE &&
           wrote_it_too(cell, block, access->thread, group);
}

/* --- noting ----------------------------------------------------------------------------------------------------------- */

static void remove_group(Cell *cell, uint32_t place)
{
    Group *groups = cell_groups(cell);
    memmove(groups + place, groups + place + 1, (cell->count - place - 1) * sizeof *groups);
    cell->count--;
}

/* Blocks in a row, each of which has accessed the cell alike, become one group: who knows them all as blocks knows it. */
static void compress(Cell *cell, uint64_t running)
{
    Group *groups = cell_groups(cell);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cell->count; i++) {
        Group *last = kept ? &groups[kept - 1] : NULL, *group = &groups[i];
        bool is_past = group->block + (group->mask ? 1 : group->blocks) <= running && reads_only(group->kind);
        if (is_past && group->mask) {
            group->mask = 0;
            group->blocks = 1;
        }
        if (is_past && last && !last->mask && last->kind == group->kind && last->epoch == group->epoch &&
            group->block <= last->block + last->blocks && group->block >= last->block) {
            uint64_t end = group->block + group->blocks;
            if (end > last->block + last->blocks)
                last->blocks = (uint32_t)(end - last->block);
            continue;
        }
        groups[kept++] = *group;
    }
    cell->count = kept;
}

/* What releases belongs to what it releases: who knows of the fence right before an atomic knows of the atomic, too. */
static uint32_t clock_of(const BlockClock *block, const Access *access)
{
    const ThreadClock *thread = &block->threads[access->thread];
    bool releases = (access->kind == ACCESS_ATOMIC || access->kind == ACCESS_STRONG_WRITE) && thread->fence_clock &&
                    thread->fence_epoch == block->epoch && thread->clock == thread->fence_clock + 1;
    return releases ? thread->fence_clock : thread->clock;
}

static bool note(Cell *cell, const BlockClock *block, const Access *access, uint64_t value)
{
    uint32_t lane = access->thread % HOST_WARP, clock = clock_of(block, access);
    Group group = {.block = block->block,
                   .value = value,
                   .first = access->thread - lane,
                   .mask = 1u << lane,
                   .clock = clock,
                   .epoch = block->epoch,
                   .site = access->site,
                   .kind = (uint8_t)access->kind,
                   .has_value = access->has_value};
    Group *groups = cell_groups(cell);
    uint32_t end = cell->count > LOOK_BACK ? cell->count - LOOK_BACK : 0;
    for (uint32_t i = cell->count; i-- > end;)
        if (groups[i].mask && groups[i].block == group.block && groups[i].first == group.first &&
            groups[i].clock == clock && groups[i].epoch == group.epoch && groups[i].kind == group.kind &&
            groups[i].value == value && groups[i].has_value == group.has_value) {
            groups[i].mask |= group.mask;
            return true;
        }
    if (cell->count >= MOST_GROUPS && cell->count % MOST_GROUPS == 0)
        compress(cell, block->block);
    return cell_add(cell, &group);
}

/* Whether the cell is long, and has only accesses of kinds that this one does not race with: nothing need be looked at. */
static bool is_quiet(const Cell *cell, AccessKind kind)
{
    bool may = cell->count < LOOK_BACK;
    for (AccessKind other = ACCESS_READ; other <= ACCESS_STRONG_WRITE; other++)
        may |= (cell->kinds >> other & 1) && may_race(kind, other);
    return !may;
}

static RaceResult access_cell(Cell *cell, const BlockClock *block, const Access *access, uint64_t value,
                              uint64_t memory, Group *earlier)
{
    for (uint32_t i = is_quiet(cell, access->kind) ? 0 : cell->count; i-- > 0;) {
        Group *group = &cell_groups(cell)[i];
        uint32_t unknown = unknown_lanes(block, access->thread, group);
        bool is_unknown = group->mask ? unknown != 0 : !knows_blocks(block, access->thread, group);
        if (is_unknown && may_race(access->kind, group->kind) &&
            !is_harmless(cell, block, access, group, value, memory)) {
            *earlier = *group;
            earlier->mask = unknown & -unknown;
            return RACE_FOUND;
        }
        if (stands_for(access->kind, group->kind)) {
            group->mask = unknown;
            if (!is_unknown)
                remove_group(cell, i);
        }
    }
    return note(cell, block, access, value) ? RACE_NONE : RACE_NO_MEMORY;
}

RaceResult race_access(Shadow *shadow, const BlockClock *block, const Access *access, Group *earlier)
{
    uint64_t address = access->address, end = address + access->size;
    while (address < end) {
        uint32_t count, step, bytes = shadow_bytes_in_page(address);
        bytes = bytes < end - address ? bytes : (uint32_t)(end - address);
        Cell *cells = shadow_cells(shadow, address, bytes, &count, &step);
        if (!cells)
            return RACE_NO_MEMORY;
        for (uint32_t i = 0; i < count; i++, address += step) {
            uint64_t memory = 0, place = address - access->address;
            uint64_t value = access->has_value ? access->value >> place * 8 : 0;
            if (step < 8)
                value &= (UINT64_C(1) << step * 8) - 1;
            memcpy(&memory, (const void *)(uintptr_t)address, step);
            RaceResult result = access_cell(&cells[i], block, access, value, memory, earlier);
            if (result != RACE_NONE)
                return result;
        }
    }
    return RACE_NONE;
}
