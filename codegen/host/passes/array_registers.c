/* Arrays of a thread in registers. In slots an array's elements lie as far apart as the block has threads, a distance that
 * LLVM does not know: to it every store may change every other element, and what one trip of a loop that is written out
 * stores, the next one loads again. So a loop over threads that uses an array by numbers alone, once its loops are written
 * out, begins by loading all of it and ends by storing all of it,
 *
 *     for each thread t:                             for each thread t:
 *         for k in 0, 1, 2, 3:                           sum[0], sum[1] = slot[0][t], slot[1][t]
 *             for i in 0, 1:                             for k in 0, 1, 2, 3:
 *                 slot[i][t] += a[k, i] * b[k, t]            for i in 0, 1:
 *                                                                sum[i] += a[k, i] * b[k, t]
 *                                                        slot[0][t], slot[1][t] = sum[0], sum[1]
 *
 * and in between the elements are those of an array that all threads use in turn, which LLVM takes apart. That is done where
 * it does not add accesses. */
#include "codegen/host/regions/loop_body.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum { MOST_ELEMENTS = 64, DEEPEST = 8 };

typedef struct Search {
    IrFunc *function;
    const IrGraph *graph;
    const IrValue *loop; /* over threads */
    LoopBody body;
} Search;

/* --- indices ------------------------------------------------------------------------------------------------------------ */

/* Whether the index is a number once loops are written out. */
static bool becomes_number(const LoopBody *body, const IrValue *index, const IrWay *way, int depth)
{
    IrWay here = {way, index};
    if (index->op == IR_CONST)
        return true;
    if (index->op == IR_PHI) {
        if (ir_is_on_way(way, index))
            return true;
        if (index->block->loop != IR_LOOP_UNROLL || !body->is_inside[index->block->id])
            return false;
        way = &here;
    } else if (!(ir_op_info[index->op].flags & IR_FLAG_PURE) || index->op == IR_INTRINSIC || index->op == IR_CALL) {
        return false;
    }
    bool is_number = index->operand_count && depth && type_is_integer(index->type);
    for (uint32_t i = 0; i < index->operand_count && is_number; i++)
        is_number = becomes_number(body, index->operands[i], way, depth - 1);
    return is_number;
}

bool has_known_elements(const LoopBody *body, const IrValue *array)
{
    for (uint32_t i = 0; i < body->count; i++)
        for (const IrValue *value = body->blocks[i]->first; value; value = value->next) {
            bool is_access = value->op == IR_LOAD || value->op == IR_STORE;
            for (uint32_t k = 0; k < value->operand_count; k++)
                if (value->operands[k] == array && (!is_access || k || value->hint))
                    return false;
            for (uint32_t axis = 0; is_access && value->operands[0] == array && axis < array->type->ndim; axis++)
                if (!becomes_number(body, value->operands[1 + axis], NULL, DEEPEST))
                    return false;
        }
    return true;
}

/* --- how often ---------------------------------------------------------------------------------------------------------- */

static int64_t element_count(const IrValue *local)
{
    int64_t count = 1;
    for (uint32_t axis = 0; axis < local->type->ndim && count <= MOST_ELEMENTS; axis++)
        count *= local->storage->shape[axis];
    return count;
}

/* Whether the threads store to the array, by numbers alone, and access it no more seldom than by loading and storing all of
 * it. */
static bool gains(const Search *search, const IrValue *array)
{
    int64_t count = element_count(array->operands[0]), accesses = 0;
    bool has_store = false;
    if (!count || count > MOST_ELEMENTS || !has_known_elements(&search->body, array))
        return false;
    for (uint32_t i = 0; i < search->body.count; i++)
        for (const IrValue *value = search->body.blocks[i]->first; value; value = value->next) {
            if ((value->op != IR_LOAD && value->op != IR_STORE) || value->operands[0] != array)
                continue;
            accesses += copies_when_written_out(search->graph, value->block);
            has_store |= value->op == IR_STORE;
        }
    return has_store && accesses >= 2 * count;
}

/* --- all elements ------------------------------------------------------------------------------------------------------- */

/* Cuts the block behind the value; what came there is to be put back. */
static IrValue *cut_behind(IrBlock *block, IrValue *value)
{
    IrValue *rest = value->next;
    value->next = NULL;
    block->last = value;
    return rest;
}

static void put_back(IrBlock *block, IrValue *rest)
{
    block->last->next = rest;
    while (block->last->next)
        block->last = block->last->next;
}

static void copy_elements(IrBlock *at, const IrValue *local, IrValue *to, IrValue *from)
{
    int64_t count = element_count(local);
    uint32_t ndim = local->type->ndim;
    for (int64_t element = 0; element < count; element++) {
        IrValue *operands[2 + TYPE_MAX_NDIM] = {from};
        int64_t rest = element;
        for (uint32_t axis = ndim; axis-- > 0; rest /= local->storage->shape[axis])
            operands[1 + axis] = ir_const_int(at, TYPE_OF(INT64), rest % local->storage->shape[axis], &local->pos);
        IrValue *value = ir_append(at, IR_LOAD, local->type->element, &local->pos, 1 + ndim, operands);
        operands[0] = to;
        operands[1 + ndim] = value;
        ir_append(at, IR_STORE, &type_none, &local->pos, 2 + ndim, operands);
    }
}

/* Where each thread's part ends, but for those that the bounds keep out. */
static IrBlock *end_of_part(const Search *search)
{
    IrBlock *loop = search->loop->block, *first = first_behind_bounds(search->loop);
    IrBlock *end = ir_block(search->function);
    for (uint32_t i = 0; i < search->body.count; i++) {
        IrValue *last = search->body.blocks[i]->last;
        bool goes_on = last->op == IR_JUMP || last->op == IR_BRANCH;
        if (!goes_on || !ir_dominates(search->graph, first, last->block))
            continue;
        for (int k = 0; k < 1 + (last->op == IR_BRANCH); k++)
            if (last->targets[k] == loop)
                last->targets[k] = end;
    }
    return end;
}

static void use_registers(const Search *search, IrValue *array)
{
    IrBlock *entry = search->function->first, *block = array->block;
    IrValue *local = array->operands[0], *rest = cut_behind(entry, local);
    IrValue *registers = ir_copy_value(entry, local, NULL);
    registers->hint = IR_IN_TURN;
    put_back(entry, rest);
    for (uint32_t i = 0; i < search->body.count; i++)
        for (IrValue *value = search->body.blocks[i]->first; value; value = value->next)
            for (uint32_t k = 0; k < value->operand_count; k++)
                if (value->operands[k] == array)
                    value->operands[k] = registers;
    rest = cut_behind(block, array);
    copy_elements(block, local, registers, array);
    put_back(block, rest);
    IrBlock *end = end_of_part(search);
    copy_elements(end, local, array, registers);
    ir_jump(end, search->loop->block, &array->pos);
    ir_link_blocks(search->function);
    ir_renumber(search->function);
}

/* --- the function ------------------------------------------------------------------------------------------------------- */

/* Whether all of it has gone to registers already. */
static bool is_loaded(const IrValue *array)
{
    for (const IrValue *value = array; value; value = value->next)
        if (value->op == IR_STORE && value->operands[0]->op == IR_LOCAL && value->operands[0]->hint == IR_IN_TURN &&
            value->operands[0]->storage == array->operands[0]->storage)
            return true;
    return false;
}

/* An array with a place for each thread, at the beginning of what threads do in the loop. */
static IrValue *find_array(const Search *search)
{
    IrBlock *first = first_behind_bounds(search->loop);
    for (IrValue *value = first->first; value; value = value->next)
        if (value->op == IR_SLOT_LOAD && value->operands[0]->op == IR_LOCAL && value->type->layout == LAYOUT_ANY &&
            !is_loaded(value) && gains(search, value))
            return value;
    return NULL;
}

static bool is_plain(const Search *search)
{
    for (uint32_t i = 0; i < search->body.count; i++)
        if (search->body.blocks[i]->last->op != IR_JUMP && search->body.blocks[i]->last->op != IR_BRANCH)
            return false;
    return true;
}

static bool use_one(IrFunc *kernel)
{
    Arena *arena = arena_create();
    IrValue *found = NULL;
    const IrGraph *graph = ir_graph(kernel, arena);
    for (IrBlock *block = kernel->first; block && !found; block = block->next) {
        if (block->last->op != IR_THREAD_LOOP)
            continue;
        Search search = {kernel, graph, block->last, find_loop_body(block->last, arena)};
        found = is_plain(&search) ? find_array(&search) : NULL;
        if (found)
            use_registers(&search, found);
    }
    arena_destroy(arena);
    return found != NULL;
}

/* Blocks change: they are looked at again after each. */
void use_arrays_as_registers(IrModule *module)
{
    while (module->first->is_kernel && !module->first->by_warps && use_one(module->first))
        ;
}
