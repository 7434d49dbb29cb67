/* A loop around the threads runs a loop over them in each trip, and what a thread carries from trip to trip goes through a
 * slot: it is loaded and stored in each. So four trips become one,
 *
 *     for k in range(start, end):                    k = start
 *         for each thread t:                         while k + 3 < end:
 *             slot[t] += a[k] * b[k, t]                  for each thread t:
 *                                                            s = slot[t]
 *                                                            s += a[k] * b[k, t]
 *                                                            ... and of k + 1, k + 2, k + 3
 *                                                            slot[t] = s
 *                                                        k += 4
 *                                                    for k in range(k, end): as before
 *
 * Threads do not meet in such a loop, so that any order of their steps is right. What all threads have alike in these trips
 * comes first, checks included: where one fails, the loop as it was goes on, and comes to that in its turn. So no trip stores
 * to what the next one loads for all: arguments may be parts of one array. */
#include <string.h>

#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/regions.h"
#include "codegen/passes.h"
#include "codegen/unroll.h"
#include "core/ir/ir_graph.h"

enum {
    TRIPS = 4,
    MOST_CHAIN = 48, /* blocks of a trip outside of the loop over threads */
    MOST_WEIGHT = 256, /* of a trip */
    WEIGHT_OF_ACCESS = 16, /* for each access to what threads carry: more of it, and these cost little beside */
    LONGEST_STEP = 1 << 20,
    LONGEST_WAY = 3, /* operations from what a thread carries into a trip to what it carries out of it */
};

typedef struct Trips {
    IrFunc *function;
    Arena *arena;
    const IrGraph *graph;
    const IrLoop *loop;
    IrBlock *header, *before, *latch;
    IrInduction counts;
    IrBlock *chain[MOST_CHAIN]; /* what follows the header, up to the latch */
    uint32_t chain_count;
    bool has_exits, has_loads; /* the chain has */
    const IrValue *threads; /* the thread_loop in it */
    LoopBody body;
    IrBlock *first, *last; /* of what a thread does in a trip, behind the bounds */
    bool *is_bound; /* by IrBlock.id: a test of the loop's bounds */
    IrValue **stored; /* by IrValue.id, of a slot: what a trip stores there */
    /* what is made: */
    uint32_t value_count, block_count; /* of the function, before */
    IrValue **values[TRIPS]; /* by IrValue.id: what stands for it in this trip */
    IrBlock **blocks[TRIPS]; /* by IrBlock.id */
    IrBlock ***predecessors; /* by IrBlock.id: before */
    IrBlock *start, *decides, *together, *back; /* the new header and its test, the new thread_loop, and behind it */
} Trips;

/* --- whether ------------------------------------------------------------------------------------------------------------ */

/* One way in, one way back; it counts up to a bound, by a number. */
static bool is_counted(Trips *trips)
{
    IrBlock *header = trips->header;
    const IrInduction *counts = &trips->counts;
    if (trips->loop->latch_count != 1 || header->predecessor_count != 2 || header->last->op != IR_BRANCH ||
        !ir_induction(trips->graph, trips->loop, &trips->counts) || counts->comparison != IR_LT || counts->exit != 1 ||
        counts->saturates || counts->variable->type->kind != TYPE_INT || counts->variable->type->size < 4)
        return false;
    trips->latch = trips->loop->latches[0];
    trips->before = header->predecessors[header->predecessors[0] == trips->latch];
    return counts->step->op == IR_CONST && counts->step->integer > 0 && counts->step->integer <= LONGEST_STEP &&
           (counts->bound->op == IR_CONST || !ir_loop_has(trips->graph, trips->loop, counts->bound->block));
}

/* What can be done before what threads do in the trips before. Loads here are of arguments to which no store is by their own
 * names. */
static bool can_come_first(Trips *trips, const IrBlock *block)
{
    for (const IrValue *value = block->first; value != block->last; value = value->next) {
        trips->has_loads |= value->op == IR_LOAD;
        if (value->op != IR_PHI && !ir_is_repeatable(value) && (value->op != IR_LOAD || value->hint))
            return false;
    }
    return true;
}

/* Whether a later trip's load for all threads may be of what the store changes. */
static bool may_change_argument(const IrValue *value)
{
    const IrValue *array = value->op == IR_STORE ? value->operands[0] : NULL;
    bool is_own = array && array->op == IR_SLOT_LOAD && array->operands[0]->op == IR_LOCAL;
    return array && !is_own && may_be_argument(array);
}

/* The target that stays in the loop; NULL: both do. */
static IrBlock *way_on(const Trips *trips, const IrValue *branch)
{
    bool stays[2];
    for (int i = 0; i < 2; i++)
        stays[i] = ir_loop_has(trips->graph, trips->loop, branch->targets[i]);
    return stays[0] == stays[1] ? NULL : branch->targets[!stays[0]];
}

/* From the header to the latch: what all threads have alike, ways out, and one loop over threads. */
static bool find_chain(Trips *trips)
{
    IrBlock *block = trips->header->last->targets[0];
    if (!can_come_first(trips, trips->header))
        return false;
    while (block != trips->header) {
        const IrValue *end = block->last;
        if (trips->chain_count == MOST_CHAIN || !can_come_first(trips, block))
            return false;
        trips->chain[trips->chain_count++] = block;
        if (end->op == IR_JUMP) {
            block = end->targets[0];
        } else if (end->op == IR_BRANCH) {
            block = way_on(trips, end);
            trips->has_exits = true;
        } else if (end->op == IR_THREAD_LOOP && !trips->threads && !end->operand_count) {
            trips->threads = end;
            block = end->targets[0];
        } else {
            return false;
        }
        if (!block)
            return false;
    }
    return trips->threads != NULL;
}

static bool is_allowed(const IrValue *value)
{
    bool is_access = value->op == IR_LOAD || value->op == IR_STORE;
    return suits_any_loop(value) && !(is_access && value->hint);
}

/* Loads slots at its beginning and stores to them at its end, if at all, each once. */
static bool uses_slots_plainly(Trips *trips, const IrValue *value)
{
    if (value->op == IR_SLOT_LOAD)
        return value->block == trips->first && !trips->stored[value->operands[0]->id];
    if (value->op != IR_SLOT_STORE)
        return true;
    IrValue **stored = &trips->stored[value->operands[0]->id];
    bool is_plain = value->block == trips->last && value->block->last->op == IR_JUMP && !*stored;
    *stored = value->operands[1];
    return is_plain;
}

/* Where the test leads that keeps threads out of all trips alike; NULL: the block is none. */
static IrBlock *way_behind_bound(const Trips *trips, const IrBlock *block)
{
    const IrBlock *loop = trips->threads->block;
    const IrValue *test = block->last;
    if (test->op != IR_BRANCH || (test->targets[0] == loop) == (test->targets[1] == loop))
        return NULL;
    for (const IrValue *value = block->first; value; value = value->next) {
        if (value != test && !ir_is_repeatable(value))
            return NULL;
        for (uint32_t i = 0; i < value->operand_count; i++) {
            const IrBlock *made = value->operands[i]->block;
            if (ir_loop_has(trips->graph, trips->loop, made) && !trips->body.is_inside[made->id])
                return NULL;
        }
    }
    return test->targets[test->targets[0] == loop];
}

/* What a thread does in a trip: from one block behind the bounds to one that ends it. */
static bool find_part(Trips *trips)
{
    IrBlock *targets[2], *loop = trips->threads->block, *next;
    trips->first = trips->threads->targets[1];
    for (; (next = way_behind_bound(trips, trips->first)) != NULL; trips->first = next)
        trips->is_bound[trips->first->id] = true;
    for (uint32_t i = 0; i < trips->body.count; i++) {
        IrBlock *block = trips->body.blocks[i];
        int count = ir_successors(block, targets);
        for (int k = 0; k < count && !trips->is_bound[block->id]; k++) {
            if (targets[k] != loop)
                continue;
            if (trips->last)
                return false;
            trips->last = block;
        }
    }
    if (!trips->last || trips->first->predecessor_count != 1)
        return false;
    for (uint32_t i = 0; i < trips->body.count; i++)
        for (const IrValue *value = trips->body.blocks[i]->first; value; value = value->next)
            if (!is_allowed(value) || !uses_slots_plainly(trips, value) ||
                (trips->has_loads && may_change_argument(value)))
                return false;
    return true;
}

/* How many operations lie between what a thread carries into a trip and the value; -1: it is not made of that. One that is
 * asked of memory, or of a loop of the thread's own, is far. */
static int way_to(const Trips *trips, const int *ways, const IrValue *value)
{
    int way = -1;
    const IrLoop *loop = trips->graph->loop_of[value->block->id];
    if (value->op == IR_SLOT_LOAD)
        return value->operands[0]->op == IR_LOCAL ? -1 : 0;
    for (uint32_t i = 0; i < value->operand_count; i++)
        way = ways[value->operands[i]->id] > way ? ways[value->operands[i]->id] : way;
    bool is_far = value->op == IR_LOAD || value->op == IR_CALL || (loop && loop->header == value->block);
    return way < 0 ? -1 : way + (is_far ? LONGEST_WAY + 1 : (int)weight_in_loop(value));
}

/* Whether what a thread carries is soon made again. Four trips of a long way wait for each other, while those of several
 * threads do not. */
static bool has_short_ways(const Trips *trips)
{
    int *ways = ARENA_ARRAY(trips->arena, int, trips->value_count + 1);
    for (uint32_t i = 0; i < trips->value_count; i++)
        ways[i] = -1;
    for (uint32_t i = 0; i < trips->graph->count; i++) {
        const IrBlock *block = trips->graph->order[i];
        for (const IrValue *value = block->first; value && trips->body.is_inside[block->id]; value = value->next) {
            ways[value->id] = way_to(trips, ways, value);
            if (value->op == IR_SLOT_STORE && ways[value->operands[1]->id] > LONGEST_WAY)
                return false;
        }
    }
    return true;
}

/* Whether a trip is short beside what threads load and store of what they carry. */
static bool gains(const Trips *trips)
{
    int64_t weight = 0, carried = 0;
    for (uint32_t i = 0; i < trips->body.count; i++) {
        const IrBlock *block = trips->body.blocks[i];
        int64_t copies = trips->is_bound[block->id] ? 0 : copies_when_written_out(trips->graph, block);
        for (const IrValue *value = block->first; value; value = value->next) {
            bool is_element = (value->op == IR_LOAD || value->op == IR_STORE) && value->operands[0]->op == IR_SLOT_LOAD;
            if (is_element && !has_known_elements(&trips->body, value->operands[0]))
                return false;
            weight += copies * weight_in_loop(value);
            carried += value->op == IR_SLOT_STORE ? 2 : is_element ? copies : 0;
        }
    }
    return weight <= MOST_WEIGHT && weight <= WEIGHT_OF_ACCESS * carried && has_short_ways(trips);
}

static bool has_several_trips(const Trips *trips)
{
    int64_t count = ir_known_trips(&trips->counts);
    return count == 0 || count >= TRIPS;
}

static bool find_trips(Trips *trips)
{
    uint32_t values = trips->function->value_count, blocks = trips->function->block_count;
    trips->value_count = values;
    trips->block_count = blocks;
    if (!is_counted(trips) || !has_several_trips(trips) || !find_chain(trips))
        return false;
    trips->body = find_loop_body(trips->threads, trips->arena);
    trips->is_bound = ARENA_ARRAY(trips->arena, bool, blocks);
    trips->stored = ARENA_ARRAY(trips->arena, IrValue *, values);
    return find_part(trips) && gains(trips);
}

/* --- copies ------------------------------------------------------------------------------------------------------------- */

static IrValue *in_trip(const Trips *trips, uint32_t trip, IrValue *value)
{
    IrValue *copy = value->id < trips->value_count ? trips->values[trip][value->id] : NULL;
    return copy ? copy : value;
}

static IrValue *copy_value(const Trips *trips, IrBlock *to, uint32_t trip, const IrValue *value)
{
    IrValue **operands = ARENA_ARRAY(trips->arena, IrValue *, value->operand_count + 1);
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = value->op == IR_PHI ? value->operands[i] : in_trip(trips, trip, value->operands[i]);
    return trips->values[trip][value->id] = ir_copy_value(to, value, operands);
}

static void copy_until_end(const Trips *trips, IrBlock *to, uint32_t trip, const IrBlock *from)
{
    for (const IrValue *value = from->first; value != from->last; value = value->next)
        if (value->op != IR_PHI)
            copy_value(trips, to, trip, value);
}

static IrValue *operand_from(const IrValue *phi, const IrBlock *from)
{
    return phi->operands[phi->block->predecessors[0] != from];
}

/* What all threads have alike in a trip. Returns where it goes on. */
static IrBlock *copy_chain(const Trips *trips, IrBlock *to, uint32_t trip)
{
    for (IrValue *phi = trips->header->first; trip && phi->op == IR_PHI; phi = phi->next)
        trips->values[trip][phi->id] = in_trip(trips, trip - 1, operand_from(phi, trips->latch));
    copy_until_end(trips, to, trip, trips->header);
    for (uint32_t i = 0; i < trips->chain_count; i++) {
        const IrValue *end = trips->chain[i]->last;
        copy_until_end(trips, to, trip, trips->chain[i]);
        if (end->op != IR_BRANCH)
            continue;
        IrBlock *next = ir_block(trips->function);
        bool stays = end->targets[0] == way_on(trips, end);
        ir_branch(to, in_trip(trips, trip, end->operands[0]), stays ? next : trips->header,
                  stays ? trips->header : next, &end->pos);
        to = next;
    }
    return to;
}

/* Returns where the loop over threads begins. */
static IrBlock *copy_bounds(const Trips *trips)
{
    IrBlock *part = trips->blocks[0][trips->first->id], *next = NULL;
    const IrBlock *block = trips->threads->targets[1];
    IrBlock *begin = block == trips->first ? part : ir_block(trips->function);
    for (IrBlock *to = begin; to != part; to = next) {
        const IrValue *test = block->last;
        bool is_in = test->targets[1] == trips->threads->block;
        block = test->targets[!is_in];
        next = block == trips->first ? part : ir_block(trips->function);
        copy_until_end(trips, to, 0, test->block);
        IrValue *branch = ir_branch(to, in_trip(trips, 0, test->operands[0]), is_in ? next : trips->together,
                                    is_in ? trips->together : next, &test->pos);
        branch->hint = test->hint;
    }
    return begin;
}

/* A later trip has what the one before would have stored, and so has the first one what was not. */
static bool takes_slot(const Trips *trips, uint32_t trip, const IrValue *value)
{
    if (value->op == IR_SLOT_STORE)
        return trip + 1 < TRIPS;
    if (value->op != IR_SLOT_LOAD || trip == 0)
        return false;
    IrValue *stored = trips->stored[value->operands[0]->id];
    trips->values[trip][value->id] =
        stored ? in_trip(trips, trip - 1, stored) : in_trip(trips, trip - 1, (IrValue *)value);
    return true;
}

static void copy_end(const Trips *trips, IrBlock *to, uint32_t trip, const IrValue *end)
{
    IrBlock *targets[2] = {NULL, NULL};
    for (int i = 0; i < 1 + (end->op == IR_BRANCH); i++) {
        bool is_end = end->targets[i] == trips->threads->block;
        targets[i] = !is_end            ? trips->blocks[trip][end->targets[i]->id]
                     : trip + 1 < TRIPS ? trips->blocks[trip + 1][trips->first->id]
                                        : trips->together;
    }
    if (end->op == IR_BRANCH)
        ir_branch(to, in_trip(trips, trip, end->operands[0]), targets[0], targets[1], &end->pos);
    else
        ir_jump(to, targets[0], &end->pos);
}

/* What a thread does in a trip. */
static void copy_part(const Trips *trips, uint32_t trip)
{
    for (uint32_t i = 0; i < trips->body.count; i++) {
        const IrBlock *block = trips->body.blocks[i];
        for (const IrValue *value = block->first; value; value = value->next)
            if (trips->is_bound[block->id] && trip)
                trips->values[trip][value->id] = trips->values[0][value->id];
    }
    for (uint32_t i = 0; i < trips->graph->count; i++) {
        const IrBlock *block = trips->graph->order[i];
        IrBlock *to = trips->blocks[trip][block->id];
        if (!to)
            continue;
        for (const IrValue *value = block->first; value != block->last; value = value->next)
            if (!takes_slot(trips, trip, value))
                copy_value(trips, to, trip, value);
        copy_end(trips, to, trip, block->last);
    }
}

static void make_blocks(Trips *trips)
{
    IrFunc *function = trips->function;
    trips->predecessors = ARENA_ARRAY(trips->arena, IrBlock **, trips->block_count);
    for (IrBlock *block = function->first; block; block = block->next)
        trips->predecessors[block->id] = block->predecessors;
    trips->start = ir_block(function);
    trips->decides = ir_block(function);
    trips->together = ir_block(function);
    trips->back = ir_block(function);
    for (uint32_t trip = 0; trip < TRIPS; trip++) {
        trips->values[trip] = ARENA_ARRAY(trips->arena, IrValue *, trips->value_count);
        trips->blocks[trip] = ARENA_ARRAY(trips->arena, IrBlock *, trips->block_count);
        for (uint32_t i = 0; i < trips->body.count; i++) {
            const IrBlock *block = trips->body.blocks[i];
            if (trips->is_bound[block->id])
                continue;
            trips->blocks[trip][block->id] = ir_block(function);
            trips->blocks[trip][block->id]->loop = block->loop;
        }
    }
}

/* --- the loop around ---------------------------------------------------------------------------------------------------- */

static IrValue *binary(IrBlock *to, IrOp op, const Type *type, IrValue *a, IrValue *b)
{
    return ir_append(to, op, type, &a->pos, 2, (IrValue *[]){a, b});
}

/* Whether there are so many trips left: the distance to the bound is a number without sign where the bound is above. */
static IrValue *has_trips(const Trips *trips)
{
    IrBlock *to = trips->start;
    IrValue *variable = trips->values[0][trips->counts.variable->id], *bound = (IrValue *)trips->counts.bound;
    const Type *type = variable->type, *unsigned_type = type->size == 8 ? TYPE_OF(UINT64) : TYPE_OF(UINT32);
    const SourcePos *pos = &variable->pos;
    if (bound->op == IR_CONST)
        bound = ir_const_int(to, type, bound->integer, pos);
    IrValue *distance = binary(to, IR_SUB, type, bound, variable);
    distance = ir_append(to, IR_BITCAST, unsigned_type, pos, 1, &distance);
    IrValue *least = ir_const_int(to, unsigned_type, (TRIPS - 1) * trips->counts.step->integer, pos);
    IrValue *is_below = binary(to, IR_LT, TYPE_OF(BOOL), variable, bound);
    return binary(to, IR_AND, TYPE_OF(BOOL), is_below, binary(to, IR_GT, TYPE_OF(BOOL), distance, least));
}

/* Where no trip can be left over the loop as it was only ends. */
static void leave_out_rest(const Trips *trips)
{
    int64_t count = ir_known_trips(&trips->counts);
    IrValue *end = trips->header->last;
    if (trips->has_exits || count == 0 || count % TRIPS != 0)
        return;
    end->op = IR_JUMP;
    end->operand_count = 0;
    end->targets[0] = end->targets[1];
    end->targets[1] = NULL;
}

/* Operands follow the predecessors, which are others now. */
static void order_phi(const Trips *trips, IrValue *phi, const IrBlock *was, uint32_t trip)
{
    const IrBlock *block = phi->block;
    IrValue **operands = ARENA_ARRAY(trips->function->module->arena, IrValue *, block->predecessor_count + 1);
    bool *is_taken = ARENA_ARRAY(trips->arena, bool, phi->operand_count + 1);
    for (uint32_t i = 0; i < block->predecessor_count; i++)
        for (uint32_t k = 0; k < phi->operand_count && !operands[i]; k++) {
            IrBlock *from = trips->predecessors[was->id][k];
            if (is_taken[k] || (block == was ? from : trips->blocks[trip][from->id]) != block->predecessors[i])
                continue;
            operands[i] = block == was ? phi->operands[k] : in_trip(trips, trip, phi->operands[k]);
            is_taken[k] = true;
        }
    phi->operands = operands;
    phi->operand_count = block->predecessor_count;
}

/* The loop as it was goes on with what the last trips have left. */
static void order_header(const Trips *trips, IrValue *phi)
{
    IrBlock *header = trips->header;
    IrValue *back = phi->operands[trips->predecessors[header->id][0] != trips->latch];
    phi->operands = ARENA_ARRAY(trips->function->module->arena, IrValue *, header->predecessor_count);
    phi->operand_count = header->predecessor_count;
    for (uint32_t i = 0; i < header->predecessor_count; i++)
        phi->operands[i] = header->predecessors[i] == trips->latch ? back : trips->values[0][phi->id];
}

static void order_start(const Trips *trips)
{
    const IrValue *was = trips->header->first;
    for (IrValue *phi = trips->start->first; phi->op == IR_PHI; phi = phi->next, was = was->next) {
        uint32_t back = trips->predecessors[trips->header->id][0] != trips->latch;
        IrValue *operands[2] = {was->operands[!back], in_trip(trips, TRIPS - 1, was->operands[back])};
        for (uint32_t i = 0; i < 2; i++)
            phi->operands[i] = operands[trips->start->predecessors[i] == trips->back];
    }
}

static void order_phis(const Trips *trips)
{
    order_start(trips);
    for (IrBlock *block = trips->function->first; block; block = block->next) {
        if (block->id >= trips->block_count)
            continue;
        for (IrValue *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next)
            if (block == trips->header)
                order_header(trips, phi);
            else
                order_phi(trips, phi, block, 0);
    }
    for (uint32_t trip = 0; trip < TRIPS; trip++)
        for (uint32_t i = 0; i < trips->body.count; i++) {
            const IrBlock *was = trips->body.blocks[i], *block = trips->blocks[trip][was->id];
            for (IrValue *phi = block ? block->first : NULL; phi && phi->op == IR_PHI; phi = phi->next)
                order_phi(trips, phi, was, trip);
        }
}

static void enter_at_start(const Trips *trips)
{
    IrValue *end = trips->before->last;
    for (int i = 0; i < 1 + (end->op == IR_BRANCH); i++)
        if (end->targets[i] == trips->header)
            end->targets[i] = trips->start;
}

static void make_together(const Trips *trips)
{
    IrValue *threads = ir_append(trips->together, IR_THREAD_LOOP, &type_none, &trips->threads->pos, 0, NULL);
    threads->targets[0] = trips->back;
    threads->targets[1] = copy_bounds(trips);
    bool is_independent =
        trips->threads->hint & IR_THREADS_INDEPENDENT && keeps_order_of_trips(&trips->body, trips->arena);
    threads->hint = is_independent ? IR_THREADS_INDEPENDENT : 0;
    ir_jump(trips->back, trips->start, &trips->threads->pos);
    for (uint32_t trip = 0; trip < TRIPS; trip++)
        copy_part(trips, trip);
}

static void take_trips(Trips *trips)
{
    make_blocks(trips);
    enter_at_start(trips);
    for (const IrValue *phi = trips->header->first; phi->op == IR_PHI; phi = phi->next)
        trips->values[0][phi->id] = ir_phi(trips->start, phi->type, &phi->pos, 2);
    ir_branch(trips->start, has_trips(trips), trips->decides, trips->header, &trips->header->last->pos);
    IrBlock *to = trips->decides;
    for (uint32_t trip = 0; trip < TRIPS; trip++)
        to = copy_chain(trips, to, trip);
    ir_jump(to, trips->together, &trips->threads->pos);
    make_together(trips);
    leave_out_rest(trips);
    ir_sort_blocks(trips->function, trips->arena);
    order_phis(trips);
    ir_renumber(trips->function);
}

/* --- the function ------------------------------------------------------------------------------------------------------- */

/* Blocks change: loops are looked for again after each, which is marked no more. */
static bool take_one(IrFunc *function)
{
    Arena *arena = arena_create();
    const IrGraph *graph = ir_graph(function, arena);
    bool is_found = false;
    for (uint32_t i = graph->loop_count; i-- > 0 && !is_found;) {
        IrBlock *header = graph->loops[i].header;
        if (header->loop != IR_LOOP_BATCH)
            continue;
        Trips trips = {
            .function = function, .arena = arena, .graph = graph, .loop = &graph->loops[i], .header = header};
        header->loop = IR_LOOP_PLAIN;
        is_found = find_trips(&trips);
        if (is_found)
            take_trips(&trips);
    }
    arena_destroy(arena);
    return is_found;
}

void take_several_trips(IrModule *module)
{
    IrFunc *kernel = module->first;
    if (!kernel->is_kernel || !has_thread_loops(kernel))
        return;
    while (take_one(kernel))
        ;
}
