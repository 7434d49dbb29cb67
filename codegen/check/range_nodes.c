/* Nodes of a launch's plan, each content once, and whether a launch bounds them. */
#include <assert.h>
#include <string.h>

#include "codegen/check/ranges.h"

static unsigned known_of(const Ranges *ranges, uint32_t node)
{
    return node == RANGE_NONE ? KNOWN : ranges->known[node];
}

/* Products, quotients and the like have bounds where all of their operands have. */
static unsigned known_of_all(const Ranges *ranges, const RangeNode *node)
{
    return known_of(ranges, node->a) == KNOWN && known_of(ranges, node->b) == KNOWN ? KNOWN : 0;
}

static unsigned swapped(unsigned known)
{
    return (known & KNOWN_BELOW ? KNOWN_ABOVE : 0) | (known & KNOWN_ABOVE ? KNOWN_BELOW : 0);
}

static unsigned known_of_new(const Ranges *ranges, const RangeNode *node)
{
    unsigned a = node->op >= RANGE_ADD ? known_of(ranges, node->a) : 0;
    unsigned b = node->op >= RANGE_ADD ? known_of(ranges, node->b) : 0;
    switch (node->op) {
    case RANGE_WHOLE: return node->bits <= 16 ? KNOWN : node->is_signed ? 0 : KNOWN_BELOW;
    case RANGE_ADD:
    case RANGE_UNION:
    case RANGE_WRAP: return a & b;
    case RANGE_SUB: return a & swapped(b);
    case RANGE_NEG: return swapped(a);
    case RANGE_CONVERT:
    case RANGE_DIVIDED:
    case RANGE_NE: return a;
    case RANGE_MIN: return (a & b & KNOWN_BELOW) | ((a | b) & KNOWN_ABOVE);
    case RANGE_MAX: return (a & b & KNOWN_ABOVE) | ((a | b) & KNOWN_BELOW);
    case RANGE_MOD: return b;
    case RANGE_AND: return a == KNOWN || b == KNOWN ? KNOWN : 0;
    case RANGE_LT:
    case RANGE_LE: return a | (b & KNOWN_ABOVE);
    case RANGE_GT:
    case RANGE_GE: return a | (b & KNOWN_BELOW);
    case RANGE_EQ: return a | b;
    case RANGE_RISING: return a & KNOWN_BELOW;
    case RANGE_FALLING: return a & KNOWN_ABOVE;
    case RANGE_SHRINKING: return a;
    case RANGE_LOOP: return a & known_of(ranges, node->c); /* where it starts, and what it is after a trip */
    default: return node->op < RANGE_ADD ? KNOWN : known_of_all(ranges, node);
    }
}

static uint32_t add_node(Ranges *ranges, const RangeNode *node)
{
    uintptr_t found = (uintptr_t)table_get(ranges->by_content, node, sizeof *node);
    if (found)
        return (uint32_t)found - 1;
    if (ranges->count == ranges->capacity) {
        ranges->is_full = true;
        return 0;
    }
    ranges->nodes[ranges->count] = *node;
    ranges->known[ranges->count] = (uint8_t)known_of_new(ranges, node);
    table_set(ranges->by_content, node, sizeof *node, (void *)(uintptr_t)(ranges->count + 1));
    return ranges->count++;
}

uint32_t range_node(Ranges *ranges, RangeOp op, const Type *type, uint32_t a, uint32_t b, uint32_t c, int64_t number,
                    int64_t limit)
{
    RangeNode node = {.op = (uint8_t)op,
                      .bits = type->kind == TYPE_BOOL ? 1 : (uint8_t)(8 * type->size),
                      .is_signed = type->kind == TYPE_INT,
                      .a = a,
                      .b = b,
                      .c = c,
                      .number = number,
                      .limit = limit};
    if (!type_is_integer(type) && type->kind != TYPE_BOOL) {
        node.bits = 64;
        node.is_signed = true;
    }
    if (ranges->is_full)
        return 0;
    return add_node(ranges, &node);
}

enum { BITS_OF_EXACT = 127 }; /* room for what is made of two numbers of 64 bits */

uint32_t range_exact(Ranges *ranges, RangeOp op, uint32_t a, uint32_t b)
{
    RangeNode node = {.op = (uint8_t)op, .bits = BITS_OF_EXACT, .is_signed = 1, .a = a, .b = b, .c = RANGE_NONE};
    return ranges->is_full ? 0 : add_node(ranges, &node);
}

uint32_t range_whole(Ranges *ranges, const Type *type)
{
    return range_node(ranges, RANGE_WHOLE, type, RANGE_NONE, RANGE_NONE, RANGE_NONE, 0, 0);
}

uint32_t range_between(Ranges *ranges, const Type *type, int64_t low, int64_t high)
{
    return range_node(ranges, RANGE_BETWEEN, type, RANGE_NONE, RANGE_NONE, RANGE_NONE, low, high);
}

enum { FROM_MEMORY = 1 }; /* RangeNode.unused, outside of launches' plans */

uint32_t range_from_memory(Ranges *ranges, const Type *type, int64_t low, int64_t high)
{
    RangeNode node = {.op = RANGE_BETWEEN,
                      .bits = (uint8_t)(8 * type->size),
                      .is_signed = type->kind == TYPE_INT,
                      .a = RANGE_NONE,
                      .b = RANGE_NONE,
                      .c = RANGE_NONE,
                      .unused = FROM_MEMORY,
                      .number = low,
                      .limit = high};
    return ranges->is_full ? 0 : add_node(ranges, &node);
}

bool *ranges_of_memory(const Ranges *ranges, Arena *arena)
{
    bool *are = ARENA_ARRAY(arena, bool, ranges->count + 1);
    for (uint32_t i = 0; i < ranges->count; i++) {
        const RangeNode *node = &ranges->nodes[i];
        const uint32_t parts[3] = {node->a, node->b, node->c};
        are[i] = node->unused == FROM_MEMORY;
        for (int k = 0; k < 3; k++)
            are[i] |= parts[k] != RANGE_NONE && are[parts[k]];
    }
    return are;
}
