/* The range of an integer of a kernel as nodes of a launch's plan: what is known of it at a place in the code, whatever
 * thread computes it. */
#ifndef CUJIT_CODEGEN_RANGES_H
#define CUJIT_CODEGEN_RANGES_H

#include "core/base/table.h"
#include "core/ir/ir_graph.h"
#include "core/kernel/kernel_abi.h"
#include "core/kernel/launch_plan.h"

/* A function as it is called there. Calls of calls have contexts of their own. */
typedef struct Context Context;
struct Context {
    const IrFunc *function;
    const IrGraph *graph;
    const Context *caller; /* NULL: the kernel */
    const IrValue *call; /* in the caller's function */
    uint32_t id, depth;
    Context *next;
};

/* A place in the code: in the block, or where it goes on to `edge`, one of its successors. */
typedef struct Place {
    const IrBlock *block, *edge;
} Place;

/* What is taken for granted of a loop's variable until the plan proves it. */
typedef struct Assumption Assumption;
struct Assumption {
    const Context *context;
    const IrValue *phi;
    uint32_t node;
    Table *found; /* what was found out without it */
    Assumption *outer;
};

/* Whether the launch bounds a node, from below and from above. */
enum { KNOWN_BELOW = 1, KNOWN_ABOVE = 2, KNOWN = 3 };

typedef struct Ranges {
    Arena *arena;
    const IrModule *module;
    const KernelAbi *abi;
    RangeNode *nodes;
    uint8_t *known; /* by node */
    uint32_t count, capacity;
    bool is_full; /* there was no room for more: what is found out then is nothing */
    uint32_t depth, steps; /* of the values that are being looked at; how many have been */
    Assumption *assumption; /* the innermost */
    Table *by_content; /* node -> its number + 1 */
    Table *found; /* value at a place -> its node + 1; of the innermost loop that is being looked at */
    Table *graphs; /* function -> its graph */
    Table *contents; /* array -> LaunchRange of what it holds; NULL: nobody asked */
    Context *contexts;
    uint32_t context_count;
    bool lacks_contexts; /* there are too many, or functions call themselves: the kernel has all of its own */
} Ranges;

/* The contexts of a kernel and of what it calls; room for so many nodes. */
Ranges *ranges_begin(const IrModule *module, uint32_t capacity, Arena *arena);
void ranges_end(Ranges *ranges);
/* The context of a call; NULL: it has none. */
const Context *context_of_call(Ranges *ranges, const Context *caller, const IrValue *call);

/* The node of a value, an integer or a bool, at that place. */
uint32_t range_of(Ranges *ranges, const Context *context, const IrValue *value, Place place);
/* For what looks at values to look at others. True: the depth counts one more, and is to be counted down behind it. */
bool range_goes_deeper(Ranges *ranges);
/* The node of an array's extent there. */
uint32_t range_of_extent(Ranges *ranges, const Context *context, const IrValue *array, uint32_t axis, Place place);

/* From here on the assumption holds; what is found out with it is forgotten with it. */
void ranges_assume(Ranges *ranges, Assumption *assumption);
void ranges_forget(Ranges *ranges);

/* --- range_nodes.c ------------------------------------------------------------------------------------------------------ */
/* A node of the type, once for each content. */
uint32_t range_node(Ranges *ranges, RangeOp op, const Type *type, uint32_t a, uint32_t b, uint32_t c, int64_t number,
                    int64_t limit);
uint32_t range_whole(Ranges *ranges, const Type *type);
/* A sum, difference or product as it is without bounds of a type. */
uint32_t range_exact(Ranges *ranges, RangeOp op, uint32_t a, uint32_t b);
uint32_t range_between(Ranges *ranges, const Type *type, int64_t low, int64_t high);

/* Likewise of what lies in memory, if somebody has written it. */
uint32_t range_from_memory(Ranges *ranges, const Type *type, int64_t low, int64_t high);
/* Whether the node is made of such, by node; the nodes' count of them. */
bool *ranges_of_memory(const Ranges *ranges, Arena *arena);

/* --- range_contents.c --------------------------------------------------------------------------------------------------- */
/* Finds what arrays of a kernel's own hold in launches within the limits (NULL: in any), for loads that are looked at later. */
void ranges_find_contents(Ranges *ranges, const RangeLimits *limits);
/* The node of a load. */
uint32_t range_of_contents(Ranges *ranges, const IrValue *load);

/* --- range_facts.c ------------------------------------------------------------------------------------------------------ */
/* The node narrowed by the conditions under which control comes to that place. */
uint32_t narrow(Ranges *ranges, const Context *context, const IrValue *value, uint32_t node, Place place);
/* Likewise by one condition, which is known to be so. */
uint32_t narrow_by(Ranges *ranges, const Context *context, const IrValue *value, uint32_t node,
                   const IrValue *condition, bool holds, Place place);

/* --- range_loops.c ------------------------------------------------------------------------------------------------------ */
/* The node of a phi at the head of a loop. */
uint32_t range_of_loop(Ranges *ranges, const Context *context, const IrLoop *loop, const IrValue *phi);

#endif
