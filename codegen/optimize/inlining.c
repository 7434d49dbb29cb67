/* Which device functions are inlined. All, as CUDA C does, but where the copies would grow out of proportion: with
 * functions that call the next one from two places each, inlining all would double the code at every level. */
#include "codegen/optimize/inlining.h"

#include <assert.h>

#include "core/base/graph.h"
#include "core/base/table.h"

enum { MOST_OPERATIONS = 4096, MANY_COPIES = 1 << 30 }; /* in all copies of one function together */

typedef struct Node {
    uint64_t copies; /* how often the body is there when what is chosen is inlined */
    uint32_t call_count;
    uint32_t *callees; /* places in the module, one for each call */
} Node;

static uint32_t place_of(const Table *places, const IrFunc *function)
{
    return (uint32_t)(uintptr_t)table_get(places, &function, sizeof function) - 1;
}

static void find_calls(const IrFunc *function, const Table *places, Node *node, Arena *arena)
{
    node->callees = ARENA_ARRAY(arena, uint32_t, function->value_count);
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_CALL)
                node->callees[node->call_count++] = place_of(places, value->callee);
}

/* Callers before callees, but for calls back. A node behind the functions calls all of them, the last one last. */
static GraphOrder sort_by_calls(const Node *nodes, uint32_t count, Arena *arena)
{
    uint32_t edges = 0, calls = count;
    for (uint32_t i = 0; i < count; i++)
        calls += nodes[i].call_count;
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, count + 2), *callees = ARENA_ARRAY(arena, uint32_t, calls);
    for (uint32_t i = 0; i < count; i++) {
        first[i] = edges;
        for (uint32_t k = 0; k < nodes[i].call_count; k++)
            callees[edges++] = nodes[i].callees[k];
    }
    first[count] = edges;
    for (uint32_t i = 0; i < count; i++)
        callees[edges++] = i;
    first[count + 1] = edges;
    return graph_order(&(Graph){.node_count = count + 1, .first = first, .successors = callees}, count, arena);
}

static bool is_worth_it(const IrFunc *function, bool gives_memory, uint64_t copies)
{
    if (gives_memory && !function->is_recursive)
        return true;
    if (function->is_kernel || function->noinline || function->is_recursive)
        return false;
    return function->forceinline || copies <= 1 || copies * function->value_count <= MOST_OPERATIONS;
}

Inlining *choose_inlined(const IrModule *module, Arena *arena)
{
    uint32_t count = module->function_count, place = 0;
    Inlining *chosen = ARENA_ARRAY(arena, Inlining, count);
    const IrFunc **functions = ARENA_ARRAY(arena, const IrFunc *, count);
    Node *nodes = ARENA_ARRAY(arena, Node, count);
    Table *places = table_create();
    for (const IrFunc *function = module->first; function; function = function->next) {
        functions[place++] = function;
        table_set(places, &function, sizeof function, (void *)(uintptr_t)place);
    }
    for (uint32_t i = 0; i < count; i++)
        find_calls(functions[i], places, &nodes[i], arena);
    table_destroy(places);
    bool *gives_memory = ARENA_ARRAY(arena, bool, count);
    ir_memory_givers(module, gives_memory);
    GraphOrder order = sort_by_calls(nodes, count, arena);
    assert(order.count == count + 1 && order.nodes[0] == count);
    for (uint32_t i = 1; i < order.count; i++) {
        const Node *node = &nodes[order.nodes[i]];
        const IrFunc *function = functions[order.nodes[i]];
        Inlining *how = &chosen[order.nodes[i]];
        how->gives_memory = gives_memory[order.nodes[i]] && !function->is_kernel;
        how->copies = node->copies;
        how->is_inlined = is_worth_it(function, how->gives_memory, node->copies);
        uint64_t bodies = !how->is_inlined ? 1 : node->copies < MANY_COPIES ? node->copies : MANY_COPIES;
        for (uint32_t k = 0; k < node->call_count; k++)
            nodes[node->callees[k]].copies += bodies;
    }
    return chosen;
}
