/* Pages of cells. A page begins with cells as large as its first access and is split when a smaller one comes. */
#include "runtime/host/check/shadow.h"

#include <string.h>

#include "core/base/memory.h"

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, FIRST_CAPACITY = 64, LARGEST_CELL = 8 };

struct ShadowPage {
    uint64_t number; /* address >> PAGE_BITS */
    uint32_t cell_size;
    Cell *cells;
};

/* --- cells ------------------------------------------------------------------------------------------------------------ */

bool cell_add(Cell *cell, const Group *group)
{
    cell->kinds |= 1u << group->kind;
    if (!cell->count && !cell->groups) {
        cell->one = *group;
        cell->count = 1;
        return true;
    }
    if (!cell->groups || cell->count == cell->capacity) {
        uint32_t capacity = cell->groups ? 2 * cell->capacity : 4;
        Group *groups = memory_try(capacity * sizeof *groups);
        if (!groups)
            return false;
        memcpy(groups, cell_groups(cell), cell->count * sizeof *groups);
        memory_free(cell->groups);
        cell->groups = groups;
        cell->capacity = capacity;
    }
    cell->groups[cell->count++] = *group;
    return true;
}

void cell_clear(Cell *cell)
{
    memory_free(cell->groups);
    *cell = (Cell){0};
}

/* --- pages ------------------------------------------------------------------------------------------------------------ */

static size_t place_of(const Shadow *shadow, uint64_t number)
{
    size_t place = (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (shadow->capacity - 1);
    while (shadow->pages[place] && shadow->pages[place]->number != number)
        place = (place + 1) & (shadow->capacity - 1);
    return place;
}

static bool grow(Shadow *shadow)
{
    Shadow larger = {.count = shadow->count, .capacity = shadow->capacity ? 2 * shadow->capacity : FIRST_CAPACITY};
    larger.pages = memory_try(larger.capacity * sizeof *larger.pages);
    if (!larger.pages)
        return false;
    for (size_t i = 0; i < shadow->capacity; i++)
        if (shadow->pages[i])
            larger.pages[place_of(&larger, shadow->pages[i]->number)] = shadow->pages[i];
    memory_free(shadow->pages);
    *shadow = larger;
    return true;
}

static void clear_cells(ShadowPage *page)
{
    for (uint32_t i = 0; i < PAGE_BYTES / page->cell_size; i++)
        memory_free(page->cells[i].groups);
    memset(page->cells, 0, PAGE_BYTES / page->cell_size * sizeof *page->cells);
}

static ShadowPage *add_page(Shadow *shadow, uint64_t number, uint32_t cell_size)
{
    if (3 * (shadow->count + 1) > 2 * shadow->capacity && !grow(shadow))
        return NULL;
    ShadowPage *page = memory_try(sizeof *page);
    Cell *cells = memory_try(PAGE_BYTES / cell_size * sizeof *cells);
    if (!page || !cells) {
        memory_free(page);
        memory_free(cells);
        return NULL;
    }
    *page = (ShadowPage){.number = number, .cell_size = cell_size, .cells = cells};
    shadow->pages[place_of(shadow, number)] = page;
    shadow->count++;
    return page;
}

/* What a part of a cell knows is what the cell knew; of a written value its own bits. */
static bool copy_part(const Cell *from, Cell *to, uint32_t shift, uint64_t mask)
{
    for (uint32_t i = 0; i < from->count; i++) {
        Group group = cell_groups((Cell *)from)[i];
        group.value = group.value >> shift & mask;
        if (!cell_add(to, &group))
            return false;
    }
    return true;
}

static bool split(ShadowPage *page, uint32_t cell_size)
{
    uint32_t parts = page->cell_size / cell_size, count = PAGE_BYTES / page->cell_size;
    ShadowPage finer = {.cell_size = cell_size, .cells = memory_try((size_t)count * parts * sizeof(Cell))};
    bool ok = finer.cells != NULL;
    for (uint32_t i = 0; ok && i < count * parts; i++)
        ok = copy_part(&page->cells[i / parts], &finer.cells[i], i % parts * cell_size * 8,
                       (UINT64_C(1) << cell_size * 8) - 1);
    if (finer.cells)
        clear_cells(ok ? page : &finer);
    memory_free(ok ? page->cells : finer.cells);
    if (!ok)
        return false;
    page->cells = finer.cells;
    page->cell_size = cell_size;
    return true;
}

/* The largest power of two that divides both. */
static uint32_t common_size(uint64_t address, uint32_t size)
{
    uint64_t both = address | size | LARGEST_CELL;
    return (uint32_t)(both & -both);
}

uint32_t shadow_bytes_in_page(uint64_t address) { return PAGE_BYTES - (uint32_t)(address & (PAGE_BYTES - 1)); }

Cell *shadow_cells(Shadow *shadow, uint64_t address, uint32_t size, uint32_t *count, uint32_t *step)
{
    uint64_t number = address >> PAGE_BITS;
    uint32_t cell_size = common_size(address, size);
    ShadowPage *page = shadow->capacity ? shadow->pages[place_of(shadow, number)] : NULL;
    if (!page)
        page = add_page(shadow, number, cell_size);
    if (!page || (cell_size < page->cell_size && !split(page, cell_size)))
        return NULL;
    *step = page->cell_size;
    *count = size / page->cell_size;
    return &page->cells[(address & (PAGE_BYTES - 1)) / page->cell_size];
}

void shadow_forget(Shadow *shadow, uint64_t address, uint64_t size)
{
    for (uint64_t end = address + size; shadow->capacity && address < end;) {
        ShadowPage *page = shadow->pages[place_of(shadow, address >> PAGE_BITS)];
        uint32_t bytes = shadow_bytes_in_page(address);
        if (bytes > end - address)
            bytes = (uint32_t)(end - address);
        uint32_t first = (uint32_t)(address & (PAGE_BYTES - 1));
        for (uint32_t i = page ? first / page->cell_size : 1; page && i * page->cell_size < first + bytes; i++)
            cell_clear(&page->cells[i]);
        address += bytes;
    }
}

void shadow_clear(Shadow *shadow)
{
    for (size_t i = 0; i < shadow->capacity; i++) {
        if (!shadow->pages[i])
            continue;
        clear_cells(shadow->pages[i]);
        memory_free(shadow->pages[i]->cells);
        memory_free(shadow->pages[i]);
    }
    memory_free(shadow->pages);
    *shadow = (Shadow){0};
}
