/* Where the value of each local variable changes: at the entry, where it is assigned to, behind a yield, and where paths
 * join of which one comes from such a block: the iterated dominance frontier (Cytron et al., "Efficiently Computing Static
 * Single Assignment Form and the Control Dependence Graph", TOPLAS 1991). Everywhere else it is what it was in the nearest
 * such block that dominates: a list of the ranks in the dominator tree from which on another block is the nearest says
 * which one that is, by a search. So variables and branches take room together, not one for each other. */
#include <assert.h>
#include <stdlib.h>

#include "frontend/ssa/ssa_build.h"

enum { NO_LOCAL = UINT32_MAX };

/* Lists of numbers, one behind the other: those of list i from first[i] to first[i + 1]. */
typedef struct Lists {
    uint32_t *first, *items;
} Lists;

typedef struct Finder {
    Builder *b;
    Lists frontiers; /* by block: where paths from blocks that it dominates meet others, itself included */
    Lists assigning; /* by local: the blocks that assign to it */
    uint32_t resumed_count;
    uint32_t *resumed; /* blocks behind a yield */
    uint32_t *block_of_rank;
    uint32_t *stamp; /* by block: the last local that has a place there, */
    uint32_t *join_stamp; /* that has paths joined there */
    uint32_t *found, found_count; /* blocks where the local at hand has a place */
} Finder;

/* --- lists -------------------------------------------------------------------------------------------------------- */

/* Counted first, and added in a second walk. first[i + 1] is where the next item of list i goes, and in the end where those of
 * list i + 1 begin. */
static void add_item(Lists *lists, uint32_t list, uint32_t item)
{
    if (lists->items)
        lists->items[lists->first[list + 1]++] = item;
    else
        lists->first[list + 2]++;
}

/* walk: adds all items of all lists, the same each time. */
static Lists make_lists(Builder *b, void (*walk)(Builder *b, Lists *lists), uint32_t count)
{
    uint32_t *first = ARENA_ARRAY(b->arena, uint32_t, count + 2);
    Lists lists = {.first = first};
    walk(b, &lists);
    for (uint32_t i = 1; i <= count; i++)
        first[i + 1] += first[i];
    ssa_spend(b, first[count + 1] * sizeof *first);
    if (b->failed)
        return lists;
    lists.items = ARENA_ARRAY(b->arena, uint32_t, first[count + 1]);
    walk(b, &lists);
    return lists;
}

/* --- frontiers ---------------------------------------------------------------------------------------------------- */

/* Blocks below the join's dominator from which control comes to it belong to the join's paths, and so do those that
 * dominate them. What has been seen for this join has been climbed from. */
static void climb_to_join(const Builder *b, uint32_t join, uint32_t *seen, Lists *frontiers)
{
    const CfgBlock *blocks = b->cfg->blocks;
    for (uint32_t p = 0; p < blocks[join].predecessor_count; p++)
        for (uint32_t at = blocks[join].predecessors[p]; at != blocks[join].dominator && seen[at] != join;
             at = blocks[at].dominator) {
            seen[at] = join;
            add_item(frontiers, at, join);
        }
}

static void list_frontiers(Builder *b, Lists *frontiers)
{
    uint32_t *seen = ARENA_ARRAY(b->arena, uint32_t, b->cfg->count); /* nothing joins at block 0 */
    for (uint32_t join = 1; join < b->cfg->count; join++)
        if (b->cfg->blocks[join].predecessor_count > 1)
            climb_to_join(b, join, seen, frontiers);
}

/* --- assignments -------------------------------------------------------------------------------------------------- */

static bool is_followed(const Builder *b, uint32_t local)
{
    return (!b->cell_kinds[local] || b->cell_kinds[local] >= CELL_FOLLOWED) && !is_free(b, local);
}

/* The local whose value the instruction changes. What lies in memory, since functions share it, is no value. */
static uint32_t assigned_local(const Builder *b, const Instruction *instruction)
{
    switch (instruction->op) {
    case BYTECODE_STORE_LOCAL:
    case BYTECODE_DELETE_LOCAL:
    case BYTECODE_LOAD_LOCAL_CLEAR: {
        uint32_t local = (uint32_t)instruction->argument;
        return is_followed(b, local) ? local : NO_LOCAL;
    }
    default: return NO_LOCAL;
    }
}

static void list_assigning(Builder *b, Lists *assigning)
{
    uint32_t *seen = ARENA_ARRAY(b->arena, uint32_t, b->code->local_count);
    for (uint32_t block = 0; block < b->cfg->count; block++)
        for (uint32_t i = b->cfg->blocks[block].first; i < b->cfg->blocks[block].end; i++) {
            uint32_t local = assigned_local(b, &b->instructions->items[i]);
            if (local == NO_LOCAL || seen[local] == block + 1)
                continue;
            seen[local] = block + 1;
            add_item(assigning, local, block);
        }
}

static void find_resumed(Finder *f)
{
    const Cfg *cfg = f->b->cfg;
    f->resumed = ARENA_ARRAY(f->b->arena, uint32_t, cfg->count);
    for (uint32_t block = 0; block < cfg->count; block++)
        if (ssa_is_resumed_block(f->b, &cfg->blocks[block]))
            f->resumed[f->resumed_count++] = block;
}

/* --- places ------------------------------------------------------------------------------------------------------- */

static void add_place(Finder *f, uint32_t local, uint32_t block)
{
    if (f->stamp[block] == local + 1)
        return;
    f->stamp[block] = local + 1;
    f->found[f->found_count++] = block;
}

/* All blocks where the local has a place, each once; those where paths join have its stamp. */
static void find_blocks(Finder *f, uint32_t local)
{
    f->found_count = 0;
    add_place(f, local, 0);
    for (uint32_t i = f->assigning.first[local]; i < f->assigning.first[local + 1]; i++)
        add_place(f, local, f->assigning.items[i]);
    for (uint32_t i = 0; i < f->resumed_count; i++)
        add_place(f, local, f->resumed[i]);
    for (uint32_t next = 0; next < f->found_count; next++) {
        uint32_t block = f->found[next], end = f->frontiers.first[block + 1];
        ssa_spend(f->b, end - f->frontiers.first[block]); /* a look takes about the time that filling a byte does */
        for (uint32_t i = f->frontiers.first[block]; i < end; i++) {
            f->join_stamp[f->frontiers.items[i]] = local + 1;
            add_place(f, local, f->frontiers.items[i]);
        }
    }
    for (uint32_t i = 0; i < f->resumed_count; i++)
        f->join_stamp[f->resumed[i]] = local + 1;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* From a rank in the dominator tree on, the place is the nearest one. */
static void add_change(VariablePlaces *places, uint32_t rank, uint32_t place)
{
    if (!places->change_count || places->changes[places->change_count - 1].rank != rank)
        places->change_count++;
    places->changes[places->change_count - 1] = (PlaceChange){.rank = rank, .place = place};
}

/* A walk through the places in the order of the dominator tree, which leaves those that do not dominate the next one. */
static void order_places(Finder *f, VariablePlaces *places)
{
    const CfgBlock *blocks = f->b->cfg->blocks;
    for (uint32_t i = 0; i < f->found_count; i++)
        f->found[i] = blocks[f->found[i]].rank;
    qsort(f->found, f->found_count, sizeof *f->found, by_number);
    uint32_t nearest = 0;
    for (uint32_t i = 0; i <= f->found_count; i++) {
        uint32_t rank = i < f->found_count ? f->found[i] : f->b->cfg->count;
        for (; i && nearest && blocks[places->items[nearest].block].rank_end <= rank;
             nearest = places->items[nearest].above)
            add_change(places, blocks[places->items[nearest].block].rank_end, places->items[nearest].above);
        if (i == f->found_count)
            break;
        places->items[i] = (VariablePlace){.block = f->block_of_rank[rank], .above = nearest};
        add_change(places, rank, nearest = i);
    }
}

static void place_local(Finder *f, uint32_t local)
{
    VariablePlaces *places = &f->b->places[local];
    find_blocks(f, local);
    uint32_t count = f->found_count;
    ssa_spend(f->b, count * (sizeof *places->items + 2 * sizeof *places->changes));
    if (f->b->failed)
        return;
    places->items = ARENA_ARRAY(f->b->arena, VariablePlace, count);
    places->changes = ARENA_ARRAY(f->b->arena, PlaceChange, 2 * count);
    order_places(f, places);
    for (uint32_t i = 0; i < count; i++)
        places->items[i].joins = f->join_stamp[places->items[i].block] == local + 1;
}

void ssa_find_places(Builder *b)
{
    uint32_t count = b->cfg->count;
    Finder f = {.b = b,
                .frontiers = make_lists(b, list_frontiers, count),
                .assigning = make_lists(b, list_assigning, b->code->local_count)};
    find_resumed(&f);
    f.block_of_rank = ARENA_ARRAY(b->arena, uint32_t, count);
    for (uint32_t block = 0; block < count; block++)
        f.block_of_rank[b->cfg->blocks[block].rank] = block;
    f.stamp = ARENA_ARRAY(b->arena, uint32_t, count);
    f.join_stamp = ARENA_ARRAY(b->arena, uint32_t, count);
    f.found = ARENA_ARRAY(b->arena, uint32_t, count);
    b->places = ARENA_ARRAY(b->arena, VariablePlaces, b->code->local_count);
    for (uint32_t local = 0; local < b->code->local_count && !b->failed; local++)
        place_local(&f, local);
}

VariablePlace *ssa_place(const Builder *b, uint32_t local, uint32_t block)
{
    const VariablePlaces *places = &b->places[local];
    uint32_t rank = b->cfg->blocks[block].rank, low = 0, high = places->change_count;
    assert(high && !places->changes[0].rank);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (places->changes[middle].rank <= rank)
            low = middle;
        else
            high = middle;
    }
    return &places->items[places->changes[low].place];
}

VariablePlace *ssa_place_above(const Builder *b, uint32_t local, const VariablePlace *place)
{
    assert(place->block); /* nothing is above the entry */
    return &b->places[local].items[place->above];
}
